/*
 * batch.h: the device code of batches on slab hashes in which all operations are of one kind; mixtures are in
 * mixed.h and select.h.
 *
 * Every lane of a warp has an operation and takes steps (steps.h) until it has come to its end. Then it takes
 * the next one of its warp, however long the others walk. Keys and values of that are loaded while the one before
 * is at work.
 */
#ifndef HD_CUDA_SLAB_BATCH_H
#define HD_CUDA_SLAB_BATCH_H

#include "cuda/count.h"
#include "cuda/slabs/steps.h"

#ifndef SLAB_BLOCK
#define SLAB_BLOCK 256
#endif
/*
 * That a processor holds, as many as registers allow without spilling: spilled registers go through the caches that
 * slabs are to go through. Kernels of more than one kind of work have fewer, and so have those that reuse slots.
 */
#define SLAB_BLOCKS 4
#define SLAB_BLOCKS_WIDE 3
#define SLAB_BLOCKS_OF(reuses) ((reuses) ? SLAB_BLOCKS_WIDE : SLAB_BLOCKS)

/* Lookups and erasures beside each other, as the number of each says. */
#define SLAB_ASK 3
#define NUMBER_ERASES                                                                              \
    (UINT32_C(1) << 31) /* of an operation: numbers of a launch are less than 2^30 */

/* What the operations of a block came to, in shared memory, since registers are short. */
typedef struct slab_tally {
    uint32_t placed, updated, spent, asked, found, erased;
    uint32_t revived; /* of those that were placed: into slots that were DEAD */
    unsigned long long looks;
} slab_tally;

/* All threads of a block: before its operations, and behind them. */
HD_FN void slab_tally_start(slab_tally *tally)
{
    if (threadIdx.x == 0) memset(tally, 0, sizeof *tally);
    __syncthreads();
}

/* The sum of insertions whose key was there. */
HD_FN uint64_t *slab_present_at(const hd_slab_batch *batch)
{
    return batch->counts->at + (batch->policy == HEDDLE_POLICY_KEEP ? HD_KEPT : HD_UPDATED);
}

HD_FN void slab_tally_add(uint64_t *to, uint64_t more)
{
    if (more != 0) add_relaxed_64(to, more);
}

HD_FN void slab_tally_end(const slab_tally *tally, const hd_slab_batch *batch)
{
    uint64_t *const at = batch->counts->at;
    __syncthreads();
    /* Threads of a warp: it waits once, not for each of them. */
    if (threadIdx.x == 0) slab_tally_add(at + HD_INSERTED, tally->placed);
    if (threadIdx.x == 1) slab_tally_add(batch->born, tally->placed);
    if (threadIdx.x == 2) slab_tally_add(slab_present_at(batch), tally->updated);
    if (threadIdx.x == 3) slab_tally_add(at + HD_FAILED, tally->spent);
    if (threadIdx.x == 4) slab_tally_add(at + HD_ASKED, tally->asked);
    if (threadIdx.x == 5) slab_tally_add(at + HD_FOUND, tally->found);
    if (threadIdx.x == 6) slab_tally_add(batch->died, tally->erased);
    if (threadIdx.x == 7) slab_tally_add(at + HD_PROBES, tally->looks);
    if (threadIdx.x == 8) slab_tally_add(batch->revived, tally->revived);
}

/* The operations of a warp from number `at` on, before `end`; the same in all lanes. */
typedef struct slab_stretch {
    uint32_t at, end;
} slab_stretch;

/* The part of `n` that one of `parts` has. */
HD_FN slab_stretch slab_part(uint32_t n, uint32_t part, uint32_t parts)
{
    const slab_stretch s = {(uint32_t)((uint64_t)n * part / parts),
                            (uint32_t)((uint64_t)n * (part + 1) / parts)};
    return s;
}

/* Gives a number of its own to each of `lanes`; whether this lane, one of them, got one. */
template <int OPERATION>
HD_FN bool slab_next_number(slab_stretch *source, const hd_slab_batch *batch, uint32_t lanes,
                            uint32_t *number)
{
    const uint32_t left = source->end - source->at, all = hd_popcount32(lanes);
    const uint32_t rank = hd_popcount32(lanes & bits_before(threadIdx.x % WARP_LANES));
    (void)batch;
    *number = source->at + rank;
    source->at += all < left ? all : left;
    return rank < left;
}

/* The arrays' elements for the next operation of a lane, if `on`. */
typedef struct slab_ahead {
    bool on;
    uint32_t number; /* with NUMBER_ERASES */
    hd_key key;
    hd_value value;
} slab_ahead;

/* Lanes that have none get one. All lanes load what is theirs, since a load upon a condition would be waited for. */
template <int OPERATION, class SOURCE>
HD_FN void slab_load_ahead(SOURCE *source, const hd_slab_batch *batch, bool takes_part,
                           slab_ahead *ahead)
{
    const bool wants = takes_part && !ahead->on;
    const uint32_t lanes = __ballot_sync(WHOLE_WARP, wants);
    uint32_t number;
    if (slab_next_number<OPERATION>(source, batch, lanes, &number) && wants) {
        ahead->on = true;
        ahead->number = number;
    }
    ahead->key = ((const hd_key *)batch->keys)[ahead->number & ~NUMBER_ERASES];
#if HD_VALUE_BITS != 0
    if (OPERATION == HD_SLAB_INSERT && batch->values != NULL)
        ahead->value = ((const hd_value *)batch->values)[ahead->number];
#endif
}

/* What a lane is at. */
typedef struct slab_job {
    bool busy;
    bool erases; /* where lookups are beside erasures */
    uint32_t number;
    hd_value value;
    hd_slab_walk walk;
} slab_job;

/* Begins the operation that was loaded ahead, where there is one and the lane has none. */
HD_FN void slab_begin(const hd_slab_view *view, slab_ahead *ahead, slab_job *job)
{
    if (job->busy || !ahead->on) return;
    job->busy = true;
    job->number = ahead->number & ~NUMBER_ERASES;
    job->erases = (ahead->number & NUMBER_ERASES) != 0;
    job->value = ahead->value;
    job->walk = slab_walk_start(view, ahead->key);
    ahead->on = false;
}

template <int OPERATION> HD_FN bool slab_erases(const slab_job *job)
{
    return OPERATION == HD_SLAB_ERASE || (OPERATION == SLAB_ASK && job->erases);
}

/* A value that was found goes to its place, if it has one. */
HD_FN void slab_hand_out(const hd_slab_batch *batch, const hd_slab_look *look, const slab_job *job)
{
#if HD_VALUE_BITS != 0
    hd_value *const values = (hd_value *)batch->values_out;
    if (values == NULL || look->live == 0) return;
#if HD_SLAB_IN_ONE
    values[job->number] = look->value;
#else
    slab_seen();
    values[job->number] = slab_value(job->walk.slab, slab_slot(hd_lowest_bit(look->live)));
#endif
#else
    (void)batch, (void)look, (void)job;
#endif
}

/* What a lane does after a look: HD_SLAB_*. */
template <int OPERATION, bool MULTI, bool REUSES>
HD_FN int slab_act(const hd_slab_view *view, const hd_slab_batch *batch, const hd_slab_look *look,
                   slab_job *job, hd_slab_taker *taker)
{
    const hd_slab_task task = {OPERATION, batch->policy, MULTI, job->value, REUSES};
    uint32_t next = look->next;
    int end;
    if (OPERATION == HD_SLAB_INSERT) end = slab_insert(view, &job->walk, look, &task, taker);
    else if (slab_erases<OPERATION>(job)) end = slab_erase(&job->walk, look);
    else {
        end = slab_find(look);
        slab_hand_out(batch, look, job);
    }
    if (end == HD_SLAB_ON) {
        if (MULTI && OPERATION == HD_SLAB_INSERT) next = slab_skip(view, &job->walk, next);
        job->walk.slab = pool_slab(&view->pool, next);
    } else if (end != HD_SLAB_AGAIN) {
        if (batch->outcomes != NULL) batch->outcomes[job->number] = slab_outcome(&task, end);
        if (batch->found != NULL) batch->found[job->number] = end == HD_SLAB_PRESENT;
        job->busy = false;
    }
    return end;
}

/* Adds 1 for every lane where it happened: one step of a warp. */
HD_FN void slab_count_if(uint32_t *count, bool happened)
{
    if (happened) atomicAdd(count, 1u);
}

template <int OPERATION> HD_FN void slab_count(const slab_job *job, int end, slab_tally *tally)
{
    const bool present = end == HD_SLAB_PRESENT;
    if (OPERATION == HD_SLAB_INSERT) {
        slab_count_if(&tally->placed, end == HD_SLAB_PLACED || end == HD_SLAB_REVIVED);
        slab_count_if(&tally->revived, end == HD_SLAB_REVIVED);
        slab_count_if(&tally->updated, present);
        slab_count_if(&tally->spent, end == HD_SLAB_SPENT);
    } else {
        slab_count_if(&tally->asked, present || end == HD_SLAB_ABSENT);
        slab_count_if(&tally->found, present);
        slab_count_if(&tally->erased, present && slab_erases<OPERATION>(job));
    }
}

/*
 * All operations of a source, by one warp. MULTI: a key may have several pairs. REUSES: nothing but insertions is
 * under way, and they may take DEAD slots. Lanes that do not take part have no operations of their own.
 */
template <int OPERATION, bool MULTI, bool REUSES, class SOURCE>
HD_FN void slab_work_off(const hd_slab_view *view, const hd_slab_batch *batch, SOURCE *source,
                         bool takes_part, hd_slab_taker *taker, slab_tally *tally)
{
    const hd_slab_tile t = slab_tile_here();
    slab_ahead ahead = {false, 0, 0, 1};
    slab_job job = {false, false, 0, 1, {0, (char *)view->buckets.slots, {NULL, 0, 0}}};
    uint32_t looks = 0; /* of the warp */
    slab_load_ahead<OPERATION>(source, batch, takes_part, &ahead);
    for (;;) {
        slab_begin(view, &ahead, &job);
        const uint32_t busy = __ballot_sync(WHOLE_WARP, job.busy);
        if (busy == 0) break;
        slab_load_ahead<OPERATION>(source, batch, takes_part, &ahead);
        const hd_slab_look look = slab_look_each<OPERATION, MULTI, REUSES>(t, &job.walk, busy);
        looks += hd_popcount32(busy);
        if (job.busy) {
            const int end = slab_act<OPERATION, MULTI, REUSES>(view, batch, &look, &job, taker);
            slab_count<OPERATION>(&job, end, tally);
        }
        __syncwarp();
    }
    if (threadIdx.x % WARP_LANES == 0) atomicAdd(&tally->looks, (unsigned long long)looks);
}

/* Whether this lane has operations where a warp has `width` at a time: its tiles have equally many each. */
HD_FN bool slab_takes_part(uint32_t width)
{
    return threadIdx.x % HD_SLAB_LANES < width / WARP_SLAB_TILES;
}

/* `width` operations of a warp at a time, 8 to 32: few, where a batch has few for every warp. Lists are fewer than 2^32. */
template <int OPERATION, bool MULTI, bool REUSES>
static __global__ void __launch_bounds__(SLAB_BLOCK, SLAB_BLOCKS_OF(REUSES))
    slab_batch(const hd_slab_view view, const hd_slab_batch batch, uint32_t width)
{
    __shared__ hd_slab_taker takers[SLAB_BLOCK];
    __shared__ slab_tally tally;
    const uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
    slab_stretch stretch =
        slab_part((uint32_t)batch.n, thread / WARP_LANES, gridDim.x * blockDim.x / WARP_LANES);
    if (OPERATION == HD_SLAB_INSERT) takers[threadIdx.x] = taker_start(&view.pool, thread);
    slab_tally_start(&tally);
    slab_work_off<OPERATION, MULTI, REUSES>(&view, &batch, &stretch, slab_takes_part(width),
                                            takers + threadIdx.x, &tally);
    slab_tally_end(&tally, &batch);
}

#endif
