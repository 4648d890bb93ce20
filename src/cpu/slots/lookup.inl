/*
 * lookup.inl: finding, testing, locating and erasing the keys of a batch. Finds and tests are a stream
 * (lookup_stream.inl). For the others a thread has WAVE walks on their way, looks at them in turn, and puts the next
 * key in the place of one that is done: so a prefetch goes out with every look, and memory always has the same to
 * do.
 */
#ifndef HD_INSTANCE_NAME
#error "included by instance.c alone"
#endif
#ifndef HD_CPU_LOOKUP_H
#define HD_CPU_LOOKUP_H

enum { FIND, CONTAINS, ERASE, LOCATE };

#include "cpu/slots/lookup_stream.inl"

/* What to do with the i-th key of a batch once its walk has ended. */
static inline uint64_t lookup_end(int op, const hd_view *view, const hd_batch *batch, uint64_t i,
                                  int step, hd_hit hit)
{
    bool found = step == HD_STEP_FOUND;
    if (op == ERASE && found) found = hit_erase(tile_here(), view, hit);
    if (op == LOCATE && found) hit_locate(tile_here(), hit, batch->slots + i);
    if (op == LOCATE && !found) batch->slots[i] = HEDDLE_NO_SLOT;
    if (batch->found != NULL) batch->found[i] = found;
    return found;
}

/* A walk on its way, and the number of its key in the batch. */
typedef struct flight {
    hd_walk walk;
    uint64_t i;
} flight;

static inline void flight_start(flight *f, const hd_view *view, const hd_key *keys, uint64_t i)
{
    f->i = i;
    f->walk = walk_start(view, keys[i]);
    bucket_prefetch(view, walk_bucket(view, &f->walk));
}

/* One look; whether the walk goes on, its next bucket being on its way. */
static inline bool flight_look(int op, flight *f, const hd_view *view, const hd_batch *batch,
                               sums *s)
{
    const uint64_t bucket = walk_bucket(view, &f->walk);
    const hd_bucket b = op == ERASE ? bucket_load_shared(tile_here(), view, bucket)
                                    : bucket_load(tile_here(), view, bucket);
    hd_hit hit;
    int step;
    step = find_step(tile_here(), view, &f->walk, &b, &hit);
    s->looks++;
    if (step == HD_STEP_ON) {
        bucket_prefetch(view, walk_bucket(view, &f->walk));
        return true;
    }
    s->found += lookup_end(op, view, batch, f->i, step, hit);
    return false;
}

static inline void lookup_chunk(int op, const hd_view *view, const hd_batch *batch, uint64_t first,
                                uint64_t end, sums *s)
{
    const hd_key *keys = (const hd_key *)batch->keys;
    flight flights[WAVE];
    uint32_t count = 0;
    while (count < WAVE && first < end) flight_start(&flights[count++], view, keys, first++);
    while (count != 0) {
        for (uint32_t f = 0; f < count;) {
            if (flight_look(op, &flights[f], view, batch, s)) f++;
            else if (first < end) flight_start(&flights[f++], view, keys, first++);
            else flights[f] = flights[--count];
        }
    }
}

static inline bool streams(int op) { return op == FIND || op == CONTAINS; }

static inline heddle_status lookup(int op, heddle_device *device, const hd_view *view,
                                   const hd_batch *batch)
{
    const hd_view v = *view;
    __atomic_fetch_add(&batch->counts->at[HD_ASKED], batch->n, __ATOMIC_RELAXED);
#pragma omp parallel num_threads(hd_cpu_team(device, batch->n))
    {
        sums s = {0};
#pragma omp for schedule(dynamic) nowait
        for (uint64_t c = 0; c < batch->n; c += CHUNK)
            if (streams(op)) stream_chunk(op, &v, batch, c, chunk_end(c, batch->n), &s);
            else lookup_chunk(op, &v, batch, c, chunk_end(c, batch->n), &s);
        __atomic_fetch_add(&batch->counts->at[HD_FOUND], s.found, __ATOMIC_RELAXED);
        __atomic_fetch_add(&batch->counts->at[HD_PROBES], s.looks, __ATOMIC_RELAXED);
        if (op == ERASE) __atomic_fetch_add(batch->tally, s.found, __ATOMIC_RELAXED);
    }
    return HEDDLE_OK;
}

static heddle_status find(heddle_device *device, const hd_view *view, const hd_batch *batch,
                          void *stream)
{
    (void)stream;
    return lookup(FIND, device, view, batch);
}

static heddle_status contains(heddle_device *device, const hd_view *view, const hd_batch *batch,
                              void *stream)
{
    (void)stream;
    return lookup(CONTAINS, device, view, batch);
}

static heddle_status erase(heddle_device *device, const hd_view *view, const hd_batch *batch,
                           void *stream)
{
    (void)stream;
    return lookup(ERASE, device, view, batch);
}

#endif
