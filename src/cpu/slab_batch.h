/*
 * slab_batch.h: batches of operations on slab hashes by the threads of a CPU. A thread has WINDOW operations on
 * their way, takes a step of each in turn, and puts the next one in the place of one that is done: memory
 * always has something to do, and an operation that has to wait lets others go first.
 */
#ifndef HD_CPU_SLAB_BATCH_H
#define HD_CPU_SLAB_BATCH_H

#include <omp.h>
#include <sched.h>

#include "scheme/slab_whole.h"

#define WINDOW 16
#define SLAB_CHUNK 1024 /* operations that a thread takes at a time */
#define PATIENCE 64     /* turns in which nothing came to an end, before others get the core */

typedef struct slab_flight {
    hd_slab_walk walk;
    hd_slab_task task;
    uint64_t i;
} slab_flight;

typedef struct slab_sums {
    uint64_t placed, updated, spent, asked, found, erased, looks;
} slab_sums;

static inline hd_slab_task slab_task(const hd_slab_batch *batch, uint64_t i)
{
    hd_slab_task task = {batch->operations != NULL ? batch->operations[i] : batch->operation,
                         batch->policy, batch->multi, 1};
    if (HD_VALUE_BITS != 0 && batch->values != NULL && task.operation == HD_SLAB_INSERT)
        task.value = ((const hd_value *)batch->values)[i];
    return task;
}

static inline void slab_prefetch(const char *slab)
{
    __builtin_prefetch(slab);
    __builtin_prefetch(slab + 64);
}

/* The next operation from *next on that is to be done; false: there is none before `end`. */
static inline bool flight_start(slab_flight *f, const hd_slab_view *view,
                                const hd_slab_batch *batch, uint64_t *next, uint64_t end)
{
    while (batch->retry && *next < end && batch->outcomes[*next] != HEDDLE_OUTCOME_FAILED)
        (*next)++;
    if (*next == end) return false;
    f->i = (*next)++;
    f->task = slab_task(batch, f->i);
    f->walk = slab_walk_start(view, ((const hd_key *)batch->keys)[f->i]);
    slab_prefetch(f->walk.slab);
    return true;
}

static inline void slab_note(const hd_slab_batch *batch, const slab_flight *f, int end,
                             slab_sums *sums)
{
    const bool inserts = f->task.operation == HD_SLAB_INSERT, present = end == HD_SLAB_PRESENT;
    if (batch->outcomes != NULL) batch->outcomes[f->i] = slab_outcome(&f->task, end);
    if (batch->found != NULL) batch->found[f->i] = present;
    sums->placed += end == HD_SLAB_PLACED;
    sums->spent += end == HD_SLAB_SPENT;
    sums->updated += inserts && present;
    sums->asked += !inserts;
    sums->found += !inserts && present;
    sums->erased += f->task.operation == HD_SLAB_ERASE && present;
}

/* Operations [first, end) of a batch. */
static inline void slab_share(const hd_slab_view *view, const hd_slab_batch *batch, uint64_t first,
                              uint64_t end, hd_slab_taker *taker, slab_sums *sums)
{
    slab_flight flights[WINDOW];
    uint32_t count = 0, idle = 0;
    hd_value *const out = HD_VALUE_BITS != 0 ? (hd_value *)batch->values_out : NULL;
    while (count < WINDOW && flight_start(&flights[count], view, batch, &first, end)) count++;
    while (count != 0) {
        bool ended = false;
        for (uint32_t j = 0; j < count;) {
            slab_flight *f = &flights[j];
            const int came_to = slab_step(slab_tile_here(), view, &f->walk, &f->task,
                                          out != NULL ? out + f->i : NULL, true, taker);
            sums->looks++;
            if (came_to == HD_SLAB_ON) slab_prefetch(f->walk.slab);
            if (came_to == HD_SLAB_ON || came_to == HD_SLAB_AGAIN) {
                j++;
                continue;
            }
            ended = true;
            slab_note(batch, f, came_to, sums);
            if (!flight_start(f, view, batch, &first, end)) flights[j] = flights[--count];
            else j++;
        }
        idle = ended ? 0 : idle + 1;
        if (idle % PATIENCE == PATIENCE - 1)
            sched_yield(); /* who writes a value may not be running */
    }
}

static void slab_batch(int threads, const hd_slab_view *view, const hd_slab_batch *batch)
{
    uint64_t *const at = batch->counts->at;
    const int present = batch->policy == HEDDLE_POLICY_KEEP ? HD_KEPT : HD_UPDATED;
#pragma omp parallel num_threads(threads)
    {
        hd_slab_taker taker = taker_start(&view->pool, (uint32_t)omp_get_thread_num());
        slab_sums s = {0};
#pragma omp for schedule(dynamic) nowait
        for (uint64_t first = 0; first < batch->n; first += SLAB_CHUNK)
            slab_share(view, batch, first,
                       batch->n - first < SLAB_CHUNK ? batch->n : first + SLAB_CHUNK, &taker, &s);
        add_relaxed_64(&at[HD_INSERTED], s.placed);
        add_relaxed_64(&at[present], s.updated);
        add_relaxed_64(&at[HD_FAILED], s.spent);
        add_relaxed_64(&at[HD_ASKED], s.asked);
        add_relaxed_64(&at[HD_FOUND], s.found);
        add_relaxed_64(&at[HD_PROBES], s.looks);
        add_relaxed_64(batch->born, s.placed);
        add_relaxed_64(batch->died, s.erased);
    }
}

/* ------------------------------------------------------------------------------ all pairs of a key */

#define GROUP 16

typedef struct slab_all_sums {
    uint64_t found, pairs, looks;
} slab_all_sums;

/* Keys [first, first + count) of a batch, whose base slabs are on their way. */
static inline void slab_all_group(uint32_t operation, const hd_slab_view *view,
                                  const hd_slab_batch *batch, uint64_t first,
                                  const hd_slab_walk *walks, uint32_t count, slab_all_sums *s)
{
    for (uint32_t j = 0; j < count; j++) {
        const uint64_t i = first + j;
        hd_slab_walk walk = walks[j];
        if (operation == HD_SLAB_ERASE_ALL && !batch->found[i]) continue;
        hd_value *const to =
            operation == HD_SLAB_RETRIEVE ? (hd_value *)batch->values_out + batch->places[i] : NULL;
        uint64_t matches = 0;
        int end;
        do {
            s->looks++;
            end = operation == HD_SLAB_CLAIM
                      ? slab_claim_step(slab_tile_here(), view, &walk, true)
                      : slab_all_step(slab_tile_here(), view, &walk, operation, to, true, &matches);
        } while (end == HD_SLAB_ON || end == HD_SLAB_AGAIN);
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
    const uint32_t count = (uint32_t)(left < GROUP ? left : GROUP);
    for (uint32_t j = 0; j < count; j++) {
        walks[j] = slab_walk_start(view, keys[first + j]);
        slab_prefetch(walks[j].slab);
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
#pragma omp for schedule(dynamic) nowait
        for (uint64_t c = 0; c < batch->n; c += SLAB_CHUNK) {
            const uint64_t end = batch->n - c < SLAB_CHUNK ? batch->n : c + SLAB_CHUNK;
            hd_slab_walk walks[2][GROUP];
            uint32_t count = slab_all_start(view, keys, c, end, walks[0]);
            for (uint64_t i = c, turn = 0; i < end; i += GROUP, turn ^= 1) {
                const uint32_t next = slab_all_start(view, keys, i + GROUP, end, walks[turn ^ 1]);
                slab_all_group(operation, view, batch, i, walks[turn], count, &s);
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
