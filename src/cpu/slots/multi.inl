/*
 * multi.inl: the operations of a compiled table as a multimap (scheme/multi.inl) on the CPU: the same slots,
 * another set of operations. Included by instance.c, whose waves of walks in flight it has for trails.
 */
#ifndef HD_INSTANCE_NAME
#error "included by instance.c alone"
#endif
#ifndef HD_CPU_MULTI_H
#define HD_CPU_MULTI_H

enum { COUNT = ERASE + 1, RETRIEVE };

/* ------------------------------------------------------------------------------ looking keys up */

/* A search in flight. */
typedef struct search {
    hd_trail trail;
    uint64_t matches; /* so far */
    hd_hit first;     /* erase: the first pair, which goes last */
    bool has_first;
} search;

typedef struct searches {
    search at[WAVE];
    uint32_t count;
    uint64_t first; /* index of its first key in the batch */
} searches;

static inline void searches_start(searches *g, const hd_view *view, const hd_key *keys,
                                  uint64_t first, uint64_t end)
{
    const uint64_t count = first < end ? end - first : 0;
    g->first = first;
    g->count = (uint32_t)(count < WAVE ? count : WAVE);
    for (uint32_t i = 0; i < g->count; i++) {
        search *s = &g->at[i];
        s->trail = trail_start(view, keys[first + i]);
        s->matches = 0;
        s->has_first = false;
        bucket_prefetch(view, trail_bucket(view, &s->trail));
    }
}

/* One look for the i-th key of a batch; whether its search goes on. */
static inline bool search_look(int op, const hd_view *view, const hd_batch *batch, uint64_t i,
                               search *s, uint64_t *erased)
{
    const uint64_t at = trail_bucket(view, &s->trail);
    const hd_bucket b = op == ERASE ? bucket_load_shared(tile_here(), view, at)
                                    : bucket_load(tile_here(), view, at);
    const hd_key lean = s->trail.lean;
    uint32_t met;
    if (op == FIND || op == CONTAINS) {
        hd_hit hit;
        met = bucket_lookup(tile_here(), view, &b, lean, &hit);
        s->matches = met;
        if (met && op == FIND)
            hit_deliver(tile_here(), view, hit, (hd_value *)batch->values_out + i);
        if (met) return false;
    } else if (op == RETRIEVE) {
        met = bucket_deliver(tile_here(), view, &b, lean,
                             (hd_value *)batch->values_out + batch->places[i] + s->matches, true);
        s->matches += met;
    } else {
        met = bucket_matches(tile_here(), view, &b, lean);
        if (op == ERASE && met != 0)
            *erased += bucket_vacate(tile_here(), view, &b, lean, &s->first, &s->has_first, true);
        s->matches += met;
    }
    if (op == ERASE) met = s->has_first; /* others may be erasing it too: on, as far as marks go */
    return search_pass(view, &s->trail, bucket_is_passed(tile_here(), view, &b, lean), met != 0);
}

/*
 * Of several searches that erase the same key one is said to have found it: the one that erases the first
 * pair. All others are gone by then, so whoever does not meet the first one any more finds nothing.
 */
static inline bool search_end(int op, const hd_view *view, const hd_batch *batch, uint64_t i,
                              search *s, uint64_t *erased)
{
    bool found = s->matches != 0;
    if (op == ERASE) {
        found = s->has_first && hit_erase(tile_here(), view, s->first);
        *erased += found;
    }
    if (op == COUNT && batch->matches != NULL) batch->matches[i] = s->matches;
    if (batch->found != NULL) batch->found[i] = found;
    return found;
}

/*
 * Keys that were counted before need no search; of those that were erased before there is nothing left; and those that
 * were not there before are not there now. The first is what COUNT remembers, the others remember that it is nothing.
 */
static inline bool search_is_known(const hd_view *view, const hd_batch *batch, uint64_t i,
                                   const remembered *known, search *s)
{
    return known->any &&
           remembered_get(known, mix_key(&view->mix, ((const hd_key *)batch->keys)[i]),
                          &s->matches);
}

/* After a long search. A pair that was found, or delivered, has to be looked at again. */
static inline void search_remember(int op, const hd_view *view, const hd_batch *batch, uint64_t i,
                                   const search *s, remembered *known)
{
    if (s->trail.number < REMEMBERED_FROM || (s->matches != 0 && op != COUNT && op != ERASE))
        return;
    remembered_put(known, mix_key(&view->mix, ((const hd_key *)batch->keys)[i]),
                   op == COUNT ? s->matches : 0);
}

static inline void search_group(int op, searches *g, const hd_view *view, const hd_batch *batch,
                                remembered *known, sums *s, uint64_t *erased)
{
    uint32_t going[WAVE], count = 0;
    for (uint32_t i = 0; i < g->count; i++) {
        if (search_is_known(view, batch, g->first + i, known, &g->at[i]))
            s->found += search_end(op, view, batch, g->first + i, &g->at[i], erased);
        else going[count++] = i;
    }
    while (count != 0) {
        uint32_t still = 0;
        s->looks += count;
        for (uint32_t j = 0; j < count; j++) {
            const uint32_t i = going[j];
            if (search_look(op, view, batch, g->first + i, &g->at[i], erased)) {
                bucket_prefetch(view, trail_bucket(view, &g->at[i].trail));
                going[still++] = i;
            } else {
                search_remember(op, view, batch, g->first + i, &g->at[i], known);
                s->found += search_end(op, view, batch, g->first + i, &g->at[i], erased);
            }
        }
        count = still;
    }
}

static inline heddle_status search_all(int op, heddle_device *device, const hd_view *view,
                                       const hd_batch *batch)
{
    const hd_key *keys = (const hd_key *)batch->keys;
    const hd_view v = *view;
    __atomic_fetch_add(&batch->counts->at[HD_ASKED], batch->n, __ATOMIC_RELAXED);
#pragma omp parallel num_threads(hd_cpu_team(device, batch->n))
    {
        sums s = {0};
        uint64_t erased = 0;
        remembered known;
        known.any = false;
#pragma omp for schedule(dynamic) nowait
        for (uint64_t c = 0; c < batch->n; c += CHUNK) {
            const uint64_t end = chunk_end(c, batch->n);
            searches fleet[2];
            searches_start(&fleet[0], &v, keys, c, end);
            for (uint64_t i = c, turn = 0; i < end; i += WAVE, turn ^= 1) {
                searches_start(&fleet[turn ^ 1], &v, keys, i + WAVE, end);
                search_group(op, &fleet[turn], &v, batch, &known, &s, &erased);
            }
        }
        __atomic_fetch_add(&batch->counts->at[HD_FOUND], s.found, __ATOMIC_RELAXED);
        __atomic_fetch_add(&batch->counts->at[HD_PROBES], s.looks, __ATOMIC_RELAXED);
        if (op == ERASE) __atomic_fetch_add(batch->tally, erased, __ATOMIC_RELAXED);
    }
    return HEDDLE_OK;
}

#define MULTI_SEARCH(name, op)                                                                     \
    static heddle_status name(heddle_device *device, const hd_view *view, const hd_batch *batch,   \
                              void *stream)                                                        \
    {                                                                                              \
        (void)stream;                                                                              \
        return search_all(op, device, view, batch);                                                \
    }
MULTI_SEARCH(multi_find, FIND)
MULTI_SEARCH(multi_contains, CONTAINS)
MULTI_SEARCH(multi_erase, ERASE)
MULTI_SEARCH(multi_count, COUNT)
MULTI_SEARCH(multi_retrieve, RETRIEVE)

/* ------------------------------------------------------------------------------------ inserting */

/* Where pairs come from: the batch, sorted pairs, or the slots of another table. */
typedef struct pair_source {
    const hd_batch *batch;
    const char *sorted;
    const hd_sorted *lists; /* where sorted pairs without room go, if anybody asks */
} pair_source;

/* The i-th pair of a source as a trail in `view`; false when there is none, or it is not its turn. */
static inline bool pair_get(const pair_source *src, const hd_view *view, uint64_t i,
                            hd_trail *trail, hd_value *value)
{
    if (src->sorted != NULL) {
        const char *pair = src->sorted + i * PAIR_BYTES;
        hd_key mixed;
        memcpy(&mixed, pair, sizeof mixed);
        *trail = trail_start_mixed(view, mixed);
        *value = sorted_value(pair);
    } else if (src->batch->from != NULL) {
        const hd_view *from = src->batch->from;
        const uint64_t slot = src->batch->first + i;
        const hd_word word = ((const hd_word *)from->slots)[slot];
        const uint32_t region = (uint32_t)(slot / HD_BUCKET / from->region_buckets);
        if (key_is_vacant(word_key(word))) return false;
        *trail = trail_start(view, key_from_lean(from, region, key_bare(from, word_key(word))));
        *value = word_value(from, slot, word);
    } else {
        if (src->batch->retry && src->batch->outcomes[i] != HEDDLE_OUTCOME_FAILED) return false;
        *trail = trail_start(view, ((const hd_key *)src->batch->keys)[i]);
        *value = batch_value(src->batch, i);
    }
    return true;
}

/*
 * Where this thread last placed a pair of a key that has many: the windows before are full, so the next
 * pair of the key need not look at them again. Without this, k pairs of one key would take k * k looks.
 */
#define HINTS 1024  /* as many as a region has keys of some copies each */
#define HINT_FROM 2 /* looks that make a hint worth while */
typedef struct hint {
    hd_trail trail; /* number 0: none */
    bool full;      /* there is no room for this key at all */
} hint;

/* What a thread has learnt of the table in a call. */
typedef struct learnt {
    hint hints[HINTS];
    uint32_t full_zones;
} learnt;

static inline hint *hint_of(hint *hints, const hd_trail *trail)
{
    return &hints[(chain_start(trail->lean) ^ trail->region * UINT32_C(0x9e3779b1)) >> 22];
}

static inline bool hint_fits(const hint *h, const hd_trail *trail)
{
    return h->trail.number != 0 && h->trail.lean == trail->lean && h->trail.region == trail->region;
}

/* Takes a trail that has left its first window forward; false: there is no room. */
static inline bool hint_follow(hint *hints, hd_trail *trail)
{
    const hint *h = hint_of(hints, trail);
    if (!hint_fits(h, trail)) return true;
    if (h->trail.number > trail->number) *trail = h->trail;
    return !h->full;
}

static inline void hint_leave(hint *hints, const hd_trail *trail, bool full)
{
    hint *h = hint_of(hints, trail);
    if (trail->number < HINT_FROM || (hint_fits(h, trail) && h->trail.number > trail->number))
        return;
    h->trail = *trail;
    h->full = full;
}

/* One look for a pair, at the window that its trail is at. */
static inline int append_look(const hd_view *view, hd_trail *trail, uint64_t at, hd_value value,
                              learnt *known, sums *s)
{
    const hd_bucket b = bucket_load_shared(tile_here(), view, at);
    int result = append_step(tile_here(), view, trail, &b, value, true, &known->full_zones);
    s->probes++;
    if (result == HD_GOES_ON && trail->number == 1 && !hint_follow(known->hints, trail))
        return HD_NO_ROOM;
    if (result != HD_GOES_ON) hint_leave(known->hints, trail, result == HD_NO_ROOM);
    return result;
}

/* Keeps a pair that found no room, as a sorted one again. */
static void note_failed(const hd_sorted *lists, const hd_view *view, const hd_trail *trail,
                        hd_value value)
{
    const hd_key mixed = mixed_from_lean(view, trail->region, trail->lean);
    const uint64_t at = __atomic_fetch_add(lists->failed_count, 1, __ATOMIC_RELAXED);
    char *to = (char *)lists->failed + at * PAIR_BYTES;
    memcpy(to, &mixed, sizeof mixed);
    memcpy(to + sizeof mixed, &value, sizeof value);
}

/* Pairs in flight. */
typedef struct appends {
    hd_trail trails[WAVE];
    uint64_t at[WAVE]; /* the windows that they are at */
    hd_value values[WAVE];
    uint64_t index[WAVE]; /* in the source */
    uint32_t count;
} appends;

static inline void appends_start(appends *g, const pair_source *src, const hd_view *view,
                                 uint64_t first, uint64_t end)
{
    g->count = 0;
    for (uint64_t i = first; i < end && i < first + WAVE; i++) {
        const uint32_t k = g->count;
        if (!pair_get(src, view, i, &g->trails[k], &g->values[k])) continue;
        g->at[k] = trail_bucket(view, &g->trails[k]);
        bucket_prefetch(view, g->at[k]);
        g->index[k] = i;
        g->count++;
    }
}

static inline void append_group(appends *g, const pair_source *src, const hd_view *view,
                                learnt *known, sums *s)
{
    uint32_t going[WAVE], count = g->count;
    for (uint32_t i = 0; i < count; i++) going[i] = i;
    while (count != 0) {
        uint32_t still = 0;
        for (uint32_t j = 0; j < count; j++) {
            const uint32_t i = going[j];
            const int result = append_look(view, &g->trails[i], g->at[i], g->values[i], known, s);
            if (result == HD_GOES_ON) {
                g->at[i] = trail_bucket(view, &g->trails[i]);
                bucket_prefetch(view, g->at[i]);
                going[still++] = i;
                continue;
            }
            insert_end(src->batch, g->index[i], result, s);
            if (result == HD_NO_ROOM && src->lists != NULL && src->lists->failed != NULL)
                note_failed(src->lists, view, &g->trails[i], g->values[i]);
        }
        count = still;
    }
}

static void append_chunk(const pair_source *src, const hd_view *view, uint64_t first, uint64_t end,
                         learnt *known, sums *s)
{
    appends fleet[2];
    appends_start(&fleet[0], src, view, first, end);
    for (uint64_t i = first, turn = 0; i < end; i += WAVE, turn ^= 1) {
        appends_start(&fleet[turn ^ 1], src, view, i + WAVE, end);
        append_group(&fleet[turn], src, view, known, s);
    }
}

/* Sorted pairs are taken in long rows, so that two threads seldom meet in a region. */
static heddle_status append_all(heddle_device *device, const hd_view *view, const pair_source *src,
                                uint64_t n)
{
    const hd_view v = *view;
    const uint64_t row = src->sorted != NULL ? 16 * CHUNK : CHUNK;
#pragma omp parallel num_threads(hd_cpu_team(device, n))
    {
        sums s = {0};
        learnt known;
        memset(&known, 0, sizeof known);
#pragma omp for schedule(dynamic) nowait
        for (uint64_t c = 0; c < n; c += row)
            append_chunk(src, &v, c, n - c < row ? n : c + row, &known, &s);
        sums_add(&s, src->batch);
    }
    return HEDDLE_OK;
}

/* From the batch or from another table. */
static heddle_status multi_append(heddle_device *device, const hd_view *view, const hd_batch *batch,
                                  void *stream)
{
    const pair_source src = {batch, NULL, NULL};
    (void)stream;
    return append_all(device, view, &src, batch->n);
}

/* Nothing is ever deferred. */
static heddle_status multi_settle(heddle_device *device, const hd_view *view, const hd_batch *batch,
                                  void *stream)
{
    (void)device, (void)view, (void)batch, (void)stream;
    return HEDDLE_OK;
}

/* Regions one after the other: the windows at work stay in the second-level cache. */
static heddle_status multi_fill(heddle_device *device, const hd_view *view, const hd_batch *batch,
                                const hd_sorted *sorted, bool fresh, void *stream)
{
    const uint32_t regions = UINT32_C(1) << view->region_bits;
    const pair_source src = {batch, (const char *)sorted->pairs, sorted};
    if (fresh) clear(device, view, stream);
    return append_all(device, view, &src, sorted->ends[regions - 1]);
}

/* ------------------------------------------------------------------------------- whole tables */

static heddle_status multi_inspect(heddle_device *device, const hd_view *view, hd_census *census,
                                   void *stream)
{
    const uint64_t slots = slots_of(view);
    const hd_view v = *view;
    (void)stream;
#pragma omp parallel num_threads(hd_cpu_team(device, slots))
    {
        hd_census own;
        memset(&own, 0, sizeof own);
#pragma omp for schedule(dynamic, CHUNK) nowait
        for (uint64_t i = 0; i < slots; i++) multi_census(&v, i, &own);
        for (size_t i = 0; i < sizeof own / sizeof(uint64_t); i++)
            __atomic_fetch_add((uint64_t *)census + i, ((uint64_t *)&own)[i], __ATOMIC_RELAXED);
    }
    return HEDDLE_OK;
}

static const hd_table_ops multi_ops = {
    HD_INSTANCE_NAME,
    HD_SCHEME_ID,
    HD_KEY_BITS,
    HD_VALUE_BITS,
    HD_BUCKET,
    sizeof(hd_word),
    HD_APART ? sizeof(hd_value) : 0,
    clear,
    multi_append,
    multi_settle,
    multi_append, /* rehome */
    multi_fill,
    NULL,
    can_fill,
    true,
    multi_find,
    multi_contains,
    multi_erase,
    NULL, /* locate, at: a key has more than one place */
    NULL,
    collect,
    multi_inspect,
    NULL, /* renew_marks: a pair does not know how far on its trail it is */
    multi_count,
    multi_retrieve,
    NULL,
};

#endif
