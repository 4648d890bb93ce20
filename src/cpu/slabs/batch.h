/*
 * batch.h: batches of operations on slab hashes by the threads of a CPU. A thread takes a chunk of them at a
 * time and sorts it by operation, so that each loop over them knows what it does. It has WAVE
 * operations on their way, takes a step of each in turn, and puts the next one in the place of one that is done:
 * memory always has something to do, and an operation that has to wait lets others go first.
 */
#ifndef HD_CPU_SLAB_BATCH_H
#define HD_CPU_SLAB_BATCH_H

#include <omp.h>
#include <sched.h>

#include "scheme/slab_whole.h"

#include "cpu/device/remembered.inl"

#define WAVE 16         /* operations, or walks, that a thread has in flight */
#define SLAB_CHUNK 1024 /* operations that a thread takes at a time */
#define SLAB_KINDS 3    /* INSERT, ERASE and FIND */
#define PATIENCE 64     /* turns in which nothing came to an end, before others get the core */

typedef struct slab_flight {
    hd_slab_walk walk;
    uint64_t i;
    uint32_t looks;
} slab_flight;

/* How often each kind of operation came to each of its ends, and how many slabs were looked at. */
typedef struct slab_sums {
    uint64_t ends[SLAB_KINDS][HD_SLAB_AGAIN];
    uint64_t looks;
} slab_sums;

/* Operations of one kind. */
typedef struct slab_share {
    uint64_t first;
    const uint16_t *numbers; /* which from `first` on; NULL: all of them */
    uint32_t count;
    uint32_t next; /* that is to be started */
} slab_share;

/* The operation is a constant wherever these are called: they are HD_FN, so that no compiler makes it a variable. */
HD_FN hd_slab_task slab_task(uint32_t operation, const hd_slab_batch *batch, uint64_t i)
{
    hd_slab_task task = {operation, batch->policy, batch->multi, 1,
                         batch->revived != NULL && batch->operations == NULL && !batch->multi};
    if (HD_VALUE_BITS != 0 && operation == HD_SLAB_INSERT && batch->values != NULL)
        task.value = ((const hd_value *)batch->values)[i];
    return task;
}

/* Both lines of a slab will be needed soon; `writes` is a constant. */
HD_FN void slab_prefetch(const char *slab, bool writes)
{
    for (uint32_t line = 0; line < HD_SLAB_BYTES; line += 64) {
        if (writes) __builtin_prefetch(slab + line, 1);
        else __builtin_prefetch(slab + line);
    }
}

/*
 * Searches of equal keys that have to go through a long list: the next one begins in the slab where one has ended, at its
 * pair or at the end of the list. `known` has the addresses of these slabs. That is right while nothing is inserted.
 */
static inline void walk_shorten(const remembered *known, hd_slab_walk *walk)
{
    uint64_t slab;
    if (remembered_get(known, walk->mixed, &slab)) walk->slab = (char *)(uintptr_t)slab;
}

static inline void walk_remember(remembered *known, const hd_slab_walk *walk, uint64_t looks)
{
    if (looks >= REMEMBERED_FROM)
        remembered_put(known, walk->mixed, (uint64_t)(uintptr_t)walk->slab);
}

/* The next operation of a share; false: there is none. */
HD_FN bool flight_start(uint32_t operation, slab_flight *f, const hd_slab_view *view,
                        const hd_slab_batch *batch, slab_share *share, const remembered *known)
{
    const uint32_t next = share->next;
    if (next == share->count) return false;
    share->next++;
    f->i = share->first + (share->numbers != NULL ? share->numbers[next] : next);
    f->walk = slab_walk_start(view, ((const hd_key *)batch->keys)[f->i]);
    f->looks = 0;
    if (operation != HD_SLAB_INSERT) walk_shorten(known, &f->walk);
    slab_prefetch(f->walk.slab, operation != HD_SLAB_FIND);
    return true;
}

HD_FN void slab_note(const hd_slab_batch *batch, const hd_slab_task *task, uint64_t i, int end,
                     slab_sums *sums)
{
    if (batch->outcomes != NULL) batch->outcomes[i] = slab_outcome(task, end);
    if (batch->found != NULL) batch->found[i] = end == HD_SLAB_PRESENT;
    sums->ends[task->operation][end]++;
}

/* One step; whether the operation has come to its end. Where insertions may run beside it nothing is remembered. */
HD_FN bool flight_turn(uint32_t operation, slab_flight *f, const hd_slab_view *view,
                       const hd_slab_batch *batch, hd_slab_taker *taker, remembered *known,
                       slab_sums *sums)
{
    const hd_slab_task task = slab_task(operation, batch, f->i);
    hd_value *const out = HD_VALUE_BITS != 0 ? (hd_value *)batch->values_out : NULL;
    const int end = slab_step(slab_tile_here(), view, &f->walk, &task,
                              out != NULL ? out + f->i : NULL, true, taker);
    if (end == HD_SLAB_ON) slab_prefetch(f->walk.slab, operation != HD_SLAB_FIND);
    f->looks++;
    if (end == HD_SLAB_ON || end == HD_SLAB_AGAIN) return false;
    if (operation != HD_SLAB_INSERT && batch->operations == NULL)
        walk_remember(known, &f->walk, f->looks);
    slab_note(batch, &task, f->i, end, sums);
    return true;
}

HD_FN void share_run(uint32_t operation, const hd_slab_view *view, const hd_slab_batch *batch,
                     slab_share share, hd_slab_taker *taker, remembered *known, slab_sums *sums)
{
    slab_flight flights[WAVE];
    uint32_t count = 0, idle = 0;
    uint64_t looks = 0;
    while (count < WAVE && flight_start(operation, &flights[count], view, batch, &share, known))
        count++;
    while (count != 0) {
        bool ended = false;
        for (uint32_t j = 0; j < count;) {
            slab_flight *f = &flights[j];
            looks++;
            if (!flight_turn(operation, f, view, batch, taker, known, sums)) {
                j++;
                continue;
            }
            ended = true;
            if (!flight_start(operation, f, view, batch, &share, known)) *f = flights[--count];
            else j++;
        }
        idle = ended ? 0 : idle + 1;
        if (idle % PATIENCE == PATIENCE - 1)
            sched_yield(); /* who writes a value may not be running */
    }
    sums->looks += looks;
}

/* The operations of a chunk, sorted by kind; without those that are done. */
typedef struct slab_sorted {
    uint16_t numbers[SLAB_KINDS][SLAB_CHUNK];
    uint32_t counts[SLAB_KINDS];
} slab_sorted;

static inline void chunk_sort(const hd_slab_batch *batch, uint64_t first, uint32_t n,
                              slab_sorted *sorted)
{
    memset(sorted->counts, 0, sizeof sorted->counts);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t asked =
            batch->operations != NULL ? batch->operations[first + i] : batch->operation;
        const uint32_t kind = asked < SLAB_KINDS ? asked : HD_SLAB_FIND;
        const bool due = !batch->retry || batch->outcomes[first + i] == HEDDLE_OUTCOME_FAILED;
        sorted->numbers[kind][sorted->counts[kind]] = (uint16_t)i;
        sorted->counts[kind] += due;
    }
}

/* Operations [first, first + n) of a batch. */
static inline void slab_chunk(const hd_slab_view *view, const hd_slab_batch *batch, uint64_t first,
                              uint32_t n, hd_slab_taker *taker, remembered *known, slab_sums *sums)
{
    const bool sort = batch->operations != NULL || batch->retry;
    slab_sorted sorted;
    if (sort) chunk_sort(batch, first, n, &sorted);
    for (uint32_t kind = 0; kind < SLAB_KINDS; kind++) {
        const slab_share share = {first, sort ? sorted.numbers[kind] : NULL,
                                  sort                       ? sorted.counts[kind]
                                  : kind == batch->operation ? n
                                                             : 0,
                                  0};
        if (share.count == 0) continue;
        if (kind == HD_SLAB_INSERT)
            share_run(HD_SLAB_INSERT, view, batch, share, taker, known, sums);
        else if (kind == HD_SLAB_ERASE)
            share_run(HD_SLAB_ERASE, view, batch, share, taker, known, sums);
        else share_run(HD_SLAB_FIND, view, batch, share, taker, known, sums);
    }
}

static inline void slab_add_sums(const hd_slab_batch *batch, const slab_sums *s)
{
    uint64_t *const at = batch->counts->at;
    const uint64_t *const inserted = s->ends[HD_SLAB_INSERT],
                          *const erased = s->ends[HD_SLAB_ERASE],
                          *const looked_up = s->ends[HD_SLAB_FIND];
    const uint64_t found = erased[HD_SLAB_PRESENT] + looked_up[HD_SLAB_PRESENT];
    const uint64_t absent = erased[HD_SLAB_ABSENT] + looked_up[HD_SLAB_ABSENT];
    const uint64_t placed = inserted[HD_SLAB_PLACED] + inserted[HD_SLAB_REVIVED];
    add_relaxed_64(&at[HD_INSERTED], placed);
    add_relaxed_64(&at[batch->policy == HEDDLE_POLICY_KEEP ? HD_KEPT : HD_UPDATED],
                   inserted[HD_SLAB_PRESENT]);
    add_relaxed_64(&at[HD_FAILED], inserted[HD_SLAB_SPENT]);
    add_relaxed_64(&at[HD_ASKED], found + absent);
    add_relaxed_64(&at[HD_FOUND], found);
    add_relaxed_64(&at[HD_PROBES], s->looks);
    add_relaxed_64(batch->born, placed);
    add_relaxed_64(batch->died, erased[HD_SLAB_PRESENT]);
    if (inserted[HD_SLAB_REVIVED] != 0) add_relaxed_64(batch->revived, inserted[HD_SLAB_REVIVED]);
}

static inline void slab_batch(int threads, const hd_slab_view *of_table, const hd_slab_batch *given)
{
#pragma omp parallel num_threads(threads)
    {
        /* Copies of its own: nothing that a thread writes can be part of them. */
        const hd_slab_view view = *of_table;
        const hd_slab_batch batch = *given;
        hd_slab_taker taker = taker_start(&view.pool, (uint32_t)omp_get_thread_num());
        remembered known;
        slab_sums sums;
        known.any = false;
        memset(&sums, 0, sizeof sums);
#pragma omp for schedule(dynamic) nowait
        for (uint64_t first = 0; first < batch.n; first += SLAB_CHUNK) {
            const uint64_t left = batch.n - first;
            slab_chunk(&view, &batch, first, (uint32_t)(left < SLAB_CHUNK ? left : SLAB_CHUNK),
                       &taker, &known, &sums);
        }
        slab_add_sums(&batch, &sums);
    }
}

/* ------------------------------------------------------------------------------ all pairs of a key */

typedef struct slab_all_sums {
    uint64_t found, pairs, looks;
} slab_all_sums;

/*
 * What equal keys need not do again. A claim ends at the pair that is claimed, by this key or another, or at the end of
 * the list; who retrieves nothing has come to the end. Pairs that were retrieved are so for every key.
 */
static inline void slab_all_remember(uint32_t operation, const hd_slab_walk *walk, uint64_t looks,
                                     uint64_t matches, remembered *known)
{
    if (operation == HD_SLAB_CLAIM || (operation == HD_SLAB_RETRIEVE && matches == 0))
        walk_remember(known, walk, looks);
    if (operation == HD_SLAB_COUNT && looks >= REMEMBERED_FROM)
        remembered_put(known, walk->mixed, matches);
}

/* Keys [first, first + count) of a batch, whose base slabs are on their way. */
static inline void slab_all_wave(uint32_t operation, const hd_slab_view *view,
                                 const hd_slab_batch *batch, uint64_t first,
                                 const hd_slab_walk *walks, uint32_t count, remembered *known,
                                 slab_all_sums *s)
{
    for (uint32_t j = 0; j < count; j++) {
        const uint64_t i = first + j, looks = s->looks;
        hd_slab_walk walk = walks[j];
        if (operation == HD_SLAB_ERASE_ALL && !batch->found[i]) continue;
        hd_value *const to =
            operation == HD_SLAB_RETRIEVE ? (hd_value *)batch->values_out + batch->places[i] : NULL;
        uint64_t matches = 0;
        int end = HD_SLAB_ON;
        if (operation != HD_SLAB_COUNT) walk_shorten(known, &walk);
        else if (remembered_get(known, walk.mixed, &matches)) end = HD_SLAB_ABSENT;
        while (end == HD_SLAB_ON || end == HD_SLAB_AGAIN) {
            s->looks++;
            end = operation == HD_SLAB_CLAIM
                      ? slab_claim_step(slab_tile_here(), view, &walk, true)
                      : slab_all_step(slab_tile_here(), view, &walk, operation, to, true, &matches);
        }
        slab_all_remember(operation, &walk, s->looks - looks, matches, known);
        if (operation == HD_SLAB_CLAIM) {
            batch->found[i] = end == HD_SLAB_PRESENT;
            continue;
        }
        if (batch->matches != NULL) batch->matches[i] = matches;
        s->found += matches != 0;
        s->pairs += matches;
    }
}

static inline uint32_t slab_all_start(const hd_slab_view *view, const hd_key *keys, uint64_t first,
                                      uint64_t end, hd_slab_walk *walks)
{
    const uint64_t left = first < end ? end - first : 0;
    const uint32_t count = (uint32_t)(left < WAVE ? left : WAVE);
    for (uint32_t j = 0; j < count; j++) {
        walks[j] = slab_walk_start(view, keys[first + j]);
        slab_prefetch(walks[j].slab, false);
    }
    return count;
}

/* COUNT, RETRIEVE, CLAIM or ERASE_ALL for every key of a batch. A claim counts nothing: erasing does. */
static inline void slab_batch_all(uint32_t operation, int threads, const hd_slab_view *view,
                                  const hd_slab_batch *batch)
{
    const hd_key *keys = (const hd_key *)batch->keys;
    uint64_t *const at = batch->counts->at;
#pragma omp parallel num_threads(threads)
    {
        slab_all_sums s = {0, 0, 0};
        remembered known;
        known.any = false;
#pragma omp for schedule(dynamic) nowait
        for (uint64_t c = 0; c < batch->n; c += SLAB_CHUNK) {
            const uint64_t end = batch->n - c < SLAB_CHUNK ? batch->n : c + SLAB_CHUNK;
            hd_slab_walk walks[2][WAVE];
            uint32_t count = slab_all_start(view, keys, c, end, walks[0]);
            for (uint64_t i = c, turn = 0; i < end; i += WAVE, turn ^= 1) {
                const uint32_t next = slab_all_start(view, keys, i + WAVE, end, walks[turn ^ 1]);
                slab_all_wave(operation, view, batch, i, walks[turn], count, &known, &s);
                count = next;
            }
        }
        add_relaxed_64(&at[HD_FOUND], s.found);
        add_relaxed_64(&at[HD_PROBES], s.looks);
        if (operation == HD_SLAB_ERASE_ALL) add_relaxed_64(batch->died, s.pairs);
    }
    if (operation != HD_SLAB_CLAIM) add_relaxed_64(&at[HD_ASKED], batch->n);
}

/* The pairs of one slab; how many they are. */
static inline uint32_t slab_pairs(const hd_slab_view *view, uint64_t number, hd_key *keys,
                                  hd_value *values)
{
    const hd_slab_at at = slab_by_number(view, number);
    uint32_t count = 0;
    for (uint32_t i = 0; at.slab != NULL && i < HD_SLAB_SLOTS; i++) {
        const hd_key word = *slab_key_at(at.slab, i);
        if ((word & HD_STATE_MASK) != HD_STATE_LIVE) continue;
        keys[count] = key_from_lean(&view->buckets, at.region, word & ~HD_STATE_MASK);
        values[count++] = slab_value(at.slab, i);
    }
    return count;
}

#endif
