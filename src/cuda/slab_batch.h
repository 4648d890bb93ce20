/*
 * slab_batch.h: the device code of batches on slab hashes in which all operations are of one kind; mixtures are in
 * slab_mixed.h.
 *
 * A warp takes up to 32 operations at a time, one a lane: each lane mixes its key and finds its list, so that
 * is done once for an operation and not by every lane of a tile. Then the tiles of the warp go through
 * them: a tile that has come to an end takes the next one, however long the others walk. All tiles take
 * their steps together. Keys and values of the next share are loaded while this one is at work.
 */
#ifndef HD_CUDA_SLAB_BATCH_H
#define HD_CUDA_SLAB_BATCH_H

#include "cuda/count.h"
#include "cuda/slab_steps.h"

#ifndef SLAB_BLOCK
#define SLAB_BLOCK 256
#endif
#define SLAB_ANY 3 /* every key has its own operation */
/* That a processor holds: all warps that it can, or as many as registers allow without much spilling. */
#define SLAB_NARROW (HD_KEY_BITS + HD_VALUE_BITS <= 64)
#define SLAB_BLOCKS(operation, reuses)                                                             \
    ((operation) == SLAB_ANY || (reuses) ? (SLAB_NARROW ? 5 : 4)                                   \
     : (operation) == HD_SLAB_INSERT     ? (SLAB_NARROW ? 8 : 6)                                   \
                                         : 8)
#define WARP_SLAB_TILES (WARP_LANES / HD_SLAB_LANES)
#define TILE_FIRSTS (WHOLE_WARP / ((1u << HD_SLAB_LANES) - 1)) /* the first lane of every tile */

/* The arrays' elements for one operation. */
typedef struct slab_given {
    hd_key key;
    hd_value value;
} slab_given;

/* An operation of a warp, as the lane has it. */
typedef struct slab_share {
    uint32_t number; /* in the batch: the next lane has the next one, but in mixtures */
    hd_key mixed;
    uint32_t bucket;
    hd_value value;
} slab_share;

/* What a tile is at. */
typedef struct slab_turn {
    bool busy;
    uint32_t at; /* the lane whose operation it is */
    hd_slab_walk walk;
} slab_turn;

/* A stretch of lanes whose operations are done. */
typedef struct slab_span {
    uint32_t at, end;
} slab_span;

/* Tiles with nothing to do take an operation each of the span. Whether any tile has something to do. */
HD_FN bool slab_turns(hd_slab_tile t, const hd_slab_view *view, const slab_share *share,
                      slab_span *span, slab_turn *turn)
{
    const uint32_t idle = __ballot_sync(WHOLE_WARP, !turn->busy) & TILE_FIRSTS;
    const uint32_t at = span->at + hd_popcount32(idle & bits_before(t.shift));
    const bool fresh = !turn->busy && at < span->end;
    if (idle == TILE_FIRSTS && span->at >= span->end) return false;
    span->at += hd_popcount32(idle);
    if (fresh) turn->at = at;
    turn->busy = turn->busy || fresh;
    turn->walk.mixed = __shfl_sync(WHOLE_WARP, share->mixed, (int)turn->at);
    const uint32_t bucket = __shfl_sync(WHOLE_WARP, share->bucket, (int)turn->at);
    if (fresh) turn->walk.slab = base_slab(&view->buckets, bucket);
    if (fresh) turn->walk.dead = HD_SLAB_DEAD_NONE;
    return true;
}

/* What one thread of a tile writes down when an operation has come to its end. */
HD_FN void slab_note(const hd_slab_batch *batch, uint32_t i, const hd_slab_task *task, int end)
{
    if (batch->outcomes != NULL) batch->outcomes[i] = slab_outcome(task, end);
    if (batch->found != NULL) batch->found[i] = end == HD_SLAB_PRESENT;
}

/* A step by scheme/slab.h alone, counted as those of slab_steps.h count themselves. */
HD_FN int slab_step_counted(hd_slab_tile t, const hd_slab_view *view, hd_slab_walk *walk,
                            const hd_slab_task *task, hd_value *to, bool active,
                            hd_slab_taker *taker, slab_sums *sums)
{
    const int end = slab_step(t, view, walk, task, to, active, taker);
    const bool inserts = task->operation == HD_SLAB_INSERT;
    if (!active || !slab_tile_acts(t)) return end;
    sums->placed += end == HD_SLAB_PLACED;
    sums->spent += end == HD_SLAB_SPENT;
    sums->updated += inserts && end == HD_SLAB_PRESENT;
    sums->found += !inserts && end == HD_SLAB_PRESENT;
    sums->erased += task->operation == HD_SLAB_ERASE && end == HD_SLAB_PRESENT;
    return end;
}

/*
 * Goes through the operations of a span, all of them OPERATION. MIXED: others of the batch are of other kinds. REUSES:
 * insertions may take DEAD slots.
 */
template <int OPERATION, bool MULTI, bool MIXED, bool REUSES>
HD_FN void slab_phase(hd_slab_tile t, const hd_slab_view *view, const hd_slab_batch *batch,
                      const slab_share *share, slab_span span, hd_slab_taker *taker,
                      slab_sums *sums)
{
    slab_turn turn = {false, 0, {0, (char *)view->buckets.slots, HD_SLAB_DEAD_NONE}};
    hd_slab_task task = {OPERATION, batch->policy, MULTI, 1, false};
    hd_value *const values =
        OPERATION == HD_SLAB_FIND && HD_VALUE_BITS != 0 ? (hd_value *)batch->values_out : NULL;
    const bool notes = batch->outcomes != NULL || batch->found != NULL;
    while (slab_turns(t, view, share, &span, &turn)) {
        const uint32_t number = MIXED ? __shfl_sync(WHOLE_WARP, share->number, (int)turn.at)
                                      : share->number + turn.at - threadIdx.x % WARP_LANES;
        int end;
        if (OPERATION == HD_SLAB_INSERT)
            task.value = __shfl_sync(WHOLE_WARP, share->value, (int)turn.at);
        if (MULTI)
            end =
                slab_step_counted(t, view, &turn.walk, &task,
                                  values != NULL ? values + number : NULL, turn.busy, taker, sums);
        else if (OPERATION == HD_SLAB_FIND)
            end = slab_seek(t, view, &turn.walk, values, number, turn.busy, sums);
        else if (OPERATION == HD_SLAB_ERASE)
            end = slab_remove(t, view, &turn.walk, turn.busy, sums);
        else end = slab_put<REUSES>(t, view, &turn.walk, &task, turn.busy, taker, sums);
        if (end == HD_SLAB_AGAIN || end == HD_SLAB_ON) {
            sums->looks += turn.busy && slab_tile_acts(t); /* beyond the first */
        } else {
            if (notes && turn.busy && slab_tile_acts(t)) slab_note(batch, number, &task, end);
            turn.busy = false;
        }
    }
}

/* The i-th operation of a batch, or the last one: so that nothing has to be known of it when it is loaded. */
template <int OPERATION> HD_FN slab_given slab_load(const hd_slab_batch *batch, uint32_t i)
{
    const uint32_t n = (uint32_t)batch->n, at = i < n ? i : n - 1;
    slab_given given = {((const hd_key *)batch->keys)[at], 1};
#if HD_VALUE_BITS != 0
    if ((OPERATION == HD_SLAB_INSERT || OPERATION == SLAB_ANY) && batch->values != NULL)
        given.value = ((const hd_value *)batch->values)[at];
#endif
    return given;
}

HD_FN slab_share slab_take_share(const hd_slab_view *view, slab_given given, uint32_t number)
{
    slab_share share;
    share.number = number;
    share.value = given.value;
    share.mixed = mix_key(&view->buckets.mix, given.key);
    share.bucket = (uint32_t)slab_bucket(&view->buckets, share.mixed);
    return share;
}

/* Where the sums of a batch go, in the order of slab_sums: insertions are born too, and erasures died. */
HD_FN uint64_t *slab_sum_at(const hd_slab_batch *batch, int i)
{
    uint64_t *const at = batch->counts->at;
    const int present = batch->policy == HEDDLE_POLICY_KEEP ? HD_KEPT : HD_UPDATED;
    uint64_t *const to[] = {at + HD_INSERTED, at + present, at + HD_FAILED, at + HD_ASKED,
                            at + HD_FOUND,    batch->died,  at + HD_PROBES, batch->revived};
    return to[i];
}

HD_FN void slab_sums_add(const hd_slab_batch *batch, const slab_sums *sums)
{
    uint64_t *const to[] = {slab_sum_at(batch, 0), slab_sum_at(batch, 1), slab_sum_at(batch, 2),
                            slab_sum_at(batch, 3), slab_sum_at(batch, 4), slab_sum_at(batch, 5),
                            slab_sum_at(batch, 6), slab_sum_at(batch, 7), batch->born};
    const uint32_t mine[] = {sums->placed, sums->updated, sums->spent,   sums->asked, sums->found,
                             sums->erased, sums->looks,   sums->revived, sums->placed};
    block_add(to, mine);
}

/*
 * `width` operations of a warp at a time, at most 32: few, where a batch has few for every warp. MULTI: a key may have
 * several pairs. REUSES: insertions may take DEAD slots. Lists are fewer than 2^32.
 */
template <int OPERATION, bool MULTI, bool REUSES>
static __global__ void __launch_bounds__(SLAB_BLOCK, SLAB_BLOCKS(OPERATION, REUSES))
    slab_batch(const hd_slab_view view, const hd_slab_batch batch, uint32_t width)
{
    __shared__ hd_slab_taker takers[SLAB_BLOCK / HD_SLAB_LANES];
    const hd_slab_tile t = slab_tile_here();
    const uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x, n = (uint32_t)batch.n;
    const uint32_t lane = threadIdx.x % WARP_LANES;
    const uint32_t stride = gridDim.x * blockDim.x / WARP_LANES * width;
    slab_sums sums = {0, 0, 0, 0, 0, 0, 0, 0};
    hd_slab_taker *const taker = takers + threadIdx.x / HD_SLAB_LANES; /* of the one that acts */
    uint32_t first = thread / WARP_LANES * width;
    slab_given next = slab_load<OPERATION>(&batch, first + lane);
    if (slab_tile_acts(t)) *taker = taker_start(&view.pool, thread / HD_SLAB_LANES);
    for (; first < n; first += stride) {
        const uint32_t all = n - first < width ? n - first : width;
        const slab_share share = slab_take_share(&view, next, first + lane);
        next = slab_load<OPERATION>(&batch, first + stride + lane);
        slab_phase<OPERATION, MULTI, false, REUSES>(t, &view, &batch, &share, {0, all}, taker,
                                                    &sums);
        sums.looks += lane < all;
        if (OPERATION != HD_SLAB_INSERT) sums.asked += lane < all;
    }
    slab_sums_add(&batch, &sums);
}

#endif
