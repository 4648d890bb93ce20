/*
 * instance.c: one compiled table for the CPU. Built once for every line of instances.def and every
 * vector tile, by a generated stub that defines HD_KEY_BITS, HD_VALUE_BITS, HD_BUCKET, HD_TILE_*,
 * HD_SCHEME_HEADER, HD_INSTANCE_NAME and HD_SYMBOL. Exports HD_SYMBOL alone.
 *
 * Memory is slow and wide: the batch loops keep many walks in flight. Insertions have two waves of
 * them: the first buckets of one wave are prefetched before the wave before it is looked at, and a
 * walk that goes on to a second bucket prefetches it and is looked at again after the rest of its wave.
 * Lookups (lookup.inl) are a stream, or go on with the next key whenever one is done. The files, all parts of this one:
 *
 *     lookup.inl       find, contains, locate, erase; lookup_stream.inl finds and tests as a stream
 *     fill.inl         a region filled from sorted pairs: in an image of it where it is fresh (fill_image.inl), else
 *                      where it is, without atomics (fill_alone.inl)
 *     read_slots.inl   pairs by the numbers of their slots
 *     multi.inl        the operations of a multimap
 */
#include <string.h>

#include "cpu/device/engine.h"
#include "scheme/marks.h"
#include "scheme/scheme.h"

#define WAVE 32 /* walks or keys that a thread has in flight */
#if defined(HD_ONLY_SCALAR)
#define CHUNK 64 /* as ITEMS_A_THREAD in cpu/device/engine.c */
#else
#define CHUNK 4096 /* keys a thread takes at a time */
#endif

typedef struct sums {
    uint32_t inserted, present, failed, probes,
        evictions; /* of a slice, which has at most 2^32 keys */
    uint64_t found, looks;
} sums;

typedef struct wave {
    hd_walk walks[WAVE];
    uint32_t count;
    uint64_t first; /* index of its first key in the batch */
} wave;

static inline void wave_start(wave *w, const hd_view *view, const hd_key *keys, uint64_t first,
                              uint64_t end)
{
    const uint64_t count = first < end ? end - first : 0;
    w->first = first;
    w->count = (uint32_t)(count < WAVE ? count : WAVE);
    for (uint32_t i = 0; i < w->count; i++) {
        w->walks[i] = walk_start(view, keys[first + i]);
        bucket_prefetch(view, walk_bucket(view, &w->walks[i]));
    }
}

static void sums_add(const sums *s, const hd_batch *batch)
{
    uint64_t *at = batch->counts->at;
    const int present = batch->policy == HEDDLE_POLICY_KEEP ? HD_KEPT : HD_UPDATED;
    __atomic_fetch_add(&at[HD_INSERTED], s->inserted, __ATOMIC_RELAXED);
    __atomic_fetch_add(&at[present], s->present, __ATOMIC_RELAXED);
    __atomic_fetch_add(&at[HD_FAILED], s->failed, __ATOMIC_RELAXED);
    __atomic_fetch_add(&at[HD_PROBES], s->probes, __ATOMIC_RELAXED);
    __atomic_fetch_add(&at[HD_EVICTIONS], s->evictions, __ATOMIC_RELAXED);
    if (batch->tally != NULL) __atomic_fetch_add(batch->tally, s->inserted, __ATOMIC_RELAXED);
}

static inline uint64_t chunk_end(uint64_t first, uint64_t n)
{
    return n - first < CHUNK ? n : first + CHUNK;
}

#include "cpu/device/remembered.inl"
#include "cpu/slots/lookup.inl"

static heddle_status locate(heddle_device *device, const hd_view *view, const hd_batch *batch,
                            void *stream)
{
    (void)stream;
    return lookup(LOCATE, device, view, batch);
}

#include "cpu/slots/read_slots.inl"

/* ------------------------------------------------------------------------------------ inserting */

static inline hd_value batch_value(const hd_batch *batch, uint64_t i)
{
#if HD_VALUE_BITS != 0
    return batch->values != NULL ? ((const hd_value *)batch->values)[i] : 1;
#else
    (void)batch, (void)i;
    return 0;
#endif
}

/* Counts and notes what became of the i-th key of a batch. */
static inline void insert_end(const hd_batch *batch, uint64_t i, int result, sums *s)
{
    s->inserted += result == HD_PLACED;
    s->present += result == HD_PRESENT;
    s->failed += result == HD_NO_ROOM;
    if (batch->outcomes != NULL) batch->outcomes[i] = outcome_of(result, batch->policy);
}

/* One look for the i-th key of a batch; whether its walk goes on. */
static inline bool place_look(const hd_view *view, const hd_batch *batch, hd_walk *walk,
                              hd_aim *aim, uint64_t i, hd_value value, sums *s)
{
    const hd_bucket b = bucket_load_shared(tile_here(), view, walk_bucket(view, walk));
    const int result = place_step(tile_here(), view, walk, aim, &b, value, batch->policy, true);
    s->probes++;
    if (result == HD_GOES_ON) {
        bucket_prefetch(view, walk_bucket(view, walk));
        return true;
    }
    if (result == HD_DEFERRED) {
        batch->next[i] = exchange_relaxed_32(&batch->heads[walk->region], (uint32_t)i);
    } else {
        insert_end(batch, i, result, s);
    }
    return false;
}

static inline void place_wave(wave *w, const hd_view *view, const hd_batch *batch, sums *s)
{
    uint32_t going[WAVE], count = 0;
    hd_aim aims[WAVE];
    for (uint32_t i = 0; i < w->count; i++) {
        aims[i] = aim_start();
        if (!batch->retry || batch->outcomes[w->first + i] == HEDDLE_OUTCOME_FAILED)
            going[count++] = i;
    }
    while (count != 0) {
        uint32_t still = 0;
        for (uint32_t j = 0; j < count; j++) {
            const uint32_t i = going[j];
            const hd_value value = batch_value(batch, w->first + i);
            if (place_look(view, batch, &w->walks[i], &aims[i], w->first + i, value, s))
                going[still++] = i;
        }
        count = still;
    }
}

static void place_chunk(const hd_view *view, const hd_batch *batch, uint64_t first, uint64_t end,
                        sums *s)
{
    const hd_key *keys = (const hd_key *)batch->keys;
    wave waves[2];
    wave_start(&waves[0], view, keys, first, end);
    for (uint64_t i = first, turn = 0; i < end; i += WAVE, turn ^= 1) {
        wave_start(&waves[turn ^ 1], view, keys, i + WAVE, end);
        place_wave(&waves[turn], view, batch, s);
    }
}

static heddle_status place(heddle_device *device, const hd_view *view, const hd_batch *batch,
                           void *stream)
{
    const hd_view v = *view;
    (void)stream;
#pragma omp parallel num_threads(hd_cpu_team(device, batch->n))
    {
        sums s = {0};
#pragma omp for schedule(dynamic) nowait
        for (uint64_t c = 0; c < batch->n; c += CHUNK)
            place_chunk(&v, batch, c, chunk_end(c, batch->n), &s);
        sums_add(&s, batch);
    }
    return HEDDLE_OK;
}

/* The i-th pair to insert, of the batch or of another table, as a walk in `view`; false when its slot holds none. */
static inline bool pair_of(const hd_batch *batch, const hd_view *view, uint64_t i, hd_walk *walk,
                           hd_value *value)
{
    const hd_view *from = batch->from;
    if (from == NULL) {
        *walk = walk_start(view, ((const hd_key *)batch->keys)[i]);
        *value = batch_value(batch, i);
    } else {
        const uint64_t slot = batch->first + i;
        const hd_word word = ((const hd_word *)from->slots)[slot];
        const uint32_t region = (uint32_t)(slot / HD_BUCKET / from->region_buckets);
        if (key_is_vacant(word_key(word))) return false;
        *walk = walk_start(view, key_from_lean(from, region, key_bare(from, word_key(word))));
        *value = word_value(from, slot, word);
    }
    return true;
}

static void settle_region(const hd_batch *batch, const hd_view *view, uint32_t region, sums *s)
{
    uint32_t path[HD_KICKS_MAX];
    uint32_t kicks = view->kicks;
    uint32_t i = batch->heads[region];
    batch->heads[region] = HD_NO_KEY;
    while (i != HD_NO_KEY) {
        hd_walk walk;
        hd_value value;
        if (pair_of(batch, view, i, &walk, &value)) {
            const int result = scheme_settle(tile_owner(), view, walk, value, batch->policy, kicks,
                                             path, &s->probes, &s->evictions);
            insert_end(batch, i, result, s);
            /* A full region stays full: long chains are not worth trying again and again. */
            if (result == HD_NO_ROOM && kicks > 4) kicks /= 2;
        }
        i = batch->next[i];
    }
}

static heddle_status settle(heddle_device *device, const hd_view *view, const hd_batch *batch,
                            void *stream)
{
    const uint32_t regions = UINT32_C(1) << view->region_bits;
    const hd_view v = *view;
    (void)stream;
#pragma omp parallel num_threads(hd_cpu_team(device, batch->n))
    {
        sums s = {0};
#pragma omp for schedule(dynamic, 64) nowait
        for (uint32_t r = 0; r < regions; r++)
            if (batch->heads[r] != HD_NO_KEY) settle_region(batch, &v, r, &s);
        sums_add(&s, batch);
    }
    return HEDDLE_OK;
}

static heddle_status rehome(heddle_device *device, const hd_view *view, const hd_batch *batch,
                            void *stream)
{
    const hd_view v = *view;
    (void)stream;
#pragma omp parallel num_threads(hd_cpu_team(device, batch->n))
    {
        sums s = {0};
#pragma omp for schedule(dynamic, CHUNK) nowait
        for (uint64_t i = 0; i < batch->n; i++) {
            hd_walk walk;
            hd_value value;
            hd_aim aim = aim_start();
            bool going = pair_of(batch, &v, i, &walk, &value);
            while (going) going = place_look(&v, batch, &walk, &aim, i, value, &s);
        }
        sums_add(&s, batch);
    }
    return HEDDLE_OK;
}

#include "cpu/slots/fill.inl"

/* ------------------------------------------------------------------------------- whole tables */

static heddle_status clear(heddle_device *device, const hd_view *view, void *stream)
{
    const uint64_t bytes = slots_of(view) * sizeof(hd_word);
    const uint64_t step = UINT64_C(1) << 21;
    char *slots = (char *)view->slots;
    (void)stream;
#pragma omp parallel for num_threads(hd_cpu_team(device, bytes / 64)) schedule(static)
    for (uint64_t at = 0; at < bytes; at += step)
        memset(slots + at, 0xff, bytes - at < step ? bytes - at : step);
    return HEDDLE_OK;
}

static void collect_chunk(const hd_view *view, const hd_export *to, uint64_t first, uint64_t end)
{
    const hd_word *slots = (const hd_word *)view->slots;
    hd_key *keys = (hd_key *)to->keys;
    uint64_t count = 0, at;
    for (uint64_t i = first; i < end; i++) count += !key_is_vacant(word_key(slots[i]));
    at = __atomic_fetch_add(to->cursor, count, __ATOMIC_RELAXED);
    for (uint64_t i = first; i < end; i++) {
        const hd_key lean = word_key(slots[i]);
        if (key_is_vacant(lean)) continue;
        keys[at] = key_from_lean(view, (uint32_t)(i / HD_BUCKET / view->region_buckets),
                                 key_bare(view, lean));
#if HD_VALUE_BITS != 0
        if (to->values != NULL) ((hd_value *)to->values)[at] = word_value(view, i, slots[i]);
#endif
        at++;
    }
}

static heddle_status collect(heddle_device *device, const hd_view *view, const hd_export *to,
                             void *stream)
{
    (void)stream;
#pragma omp parallel for num_threads(hd_cpu_team(device, to->n)) schedule(dynamic)
    for (uint64_t c = 0; c < to->n; c += CHUNK)
        collect_chunk(view, to, to->first + c, to->first + chunk_end(c, to->n));
    return HEDDLE_OK;
}

static heddle_status inspect(heddle_device *device, const hd_view *view, hd_census *census,
                             void *stream)
{
    const uint64_t slots = slots_of(view);
    const hd_view v = *view;
    (void)stream;
#pragma omp parallel num_threads(hd_cpu_team(device, slots))
    {
        hd_census own;
        memset(&own, 0, sizeof own);
#pragma omp for schedule(static) nowait
        for (uint64_t i = 0; i < slots; i++) census_slot(&v, i, &own);
        for (size_t i = 0; i < sizeof own / sizeof(uint64_t); i++)
            __atomic_fetch_add((uint64_t *)census + i, ((uint64_t *)&own)[i], __ATOMIC_RELAXED);
    }
    return HEDDLE_OK;
}

/* A thread does a region, which stays in its core's cache. */
static heddle_status renew_marks(heddle_device *device, const hd_view *view, void *stream)
{
    const uint64_t regions = UINT64_C(1) << view->region_bits, slots = slots_of(view) / regions;
    const hd_view v = *view;
    (void)stream;
#pragma omp parallel for num_threads(hd_cpu_team(device, slots_of(view))) schedule(static)
    for (uint64_t region = 0; region < regions; region++) {
        const uint64_t first = region * slots;
        for (uint64_t i = 0; i < slots; i++) marks_set(&v, first + i);
        for (uint64_t i = 0; i < slots; i++) marks_clear_before(&v, (uint32_t)region, first + i);
    }
    return HEDDLE_OK;
}

#if defined(HD_MULTI) && HD_MULTI
#include "cpu/slots/multi.inl"
#define MULTI_OPS &multi_ops
#else
#define MULTI_OPS NULL
#endif

extern const hd_table_ops HD_SYMBOL;
const hd_table_ops HD_SYMBOL = {
    HD_INSTANCE_NAME,
    HD_SCHEME_ID,
    HD_KEY_BITS,
    HD_VALUE_BITS,
    HD_BUCKET,
    sizeof(hd_word),
    HD_APART ? sizeof(hd_value) : 0,
    clear,
    place,
    settle,
    rehome,
    fill,
    NULL, /* fold: a core takes a crowded region as it is */
    can_fill,
    true, /* fills_gaps */
    find,
    contains,
    erase,
    locate,
    at,
    collect,
    inspect,
    renew_marks,
    NULL, /* count, retrieve: find says it all */
    NULL,
    MULTI_OPS,
};
