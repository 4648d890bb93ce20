/*
 * slab_select.h: the device code of large mixtures on slab hashes that have no key twice: a launch for each kind, all
 * lookups first, then all erasures, then all insertions. It may: all operations of a batch are at the same time. A kernel
 * of one kind needs fewer registers than one of all (slab_mixed.h), so that a processor has more operations under way,
 * and insertions that nothing else goes beside take the slots of the keys that were erased before them.
 *
 * A warp goes through its part of the operations and keeps the numbers of those of its kind until it has one for every
 * lane. No block waits for another warp. Keys and values are loaded a share ahead, as in slab_batch.h.
 */
#ifndef HD_CUDA_SLAB_SELECT_H
#define HD_CUDA_SLAB_SELECT_H

#include "cuda/slab_batch.h"

#define SELECT_BLOCKS(operation) SLAB_BLOCKS(operation, (operation) == HD_SLAB_INSERT)

/* The numbers that a warp has collected: fewer than two shares. */
typedef struct slab_collected {
    uint32_t *numbers; /* in shared memory */
    uint32_t count;
} slab_collected;

/* A share of them, whose keys are on their way. */
typedef struct slab_due {
    slab_given given;
    uint32_t number, count;
} slab_due;

template <int OPERATION> HD_FN bool slab_is_of_kind(uint32_t operation)
{
    return OPERATION == HD_SLAB_FIND ? operation != HD_SLAB_INSERT && operation != HD_SLAB_ERASE
                                     : operation == OPERATION;
}

/* Adds those of a warp's rows that are of the kind: `operation` is this lane's, if it is `on`. */
template <int OPERATION>
HD_FN void slab_collect(slab_collected *c, uint32_t row, uint32_t operation, bool on)
{
    const uint32_t lane = threadIdx.x % WARP_LANES;
    const bool mine = on && slab_is_of_kind<OPERATION>(operation);
    const uint32_t lanes = __ballot_sync(WHOLE_WARP, mine);
    if (mine) c->numbers[c->count + hd_popcount32(lanes & bits_before(lane))] = row;
    c->count += hd_popcount32(lanes);
    __syncwarp();
}

/* Takes a share out, or what there is, and lets its keys be loaded. */
template <int OPERATION> HD_FN slab_due slab_take_due(slab_collected *c, const hd_slab_batch *batch)
{
    const uint32_t lane = threadIdx.x % WARP_LANES;
    slab_due due;
    due.count = c->count < WARP_LANES ? c->count : WARP_LANES;
    due.number = c->numbers[due.count == 0 ? 0 : lane < due.count ? lane : due.count - 1];
    if (due.count == 0) due.number = 0;
    due.given = slab_load<OPERATION>(batch, due.number);
    c->count -= due.count;
    const uint32_t left = lane < c->count ? c->numbers[WARP_LANES + lane] : 0;
    __syncwarp(); /* all have read */
    if (lane < c->count) c->numbers[lane] = left;
    __syncwarp();
    return due;
}

template <int OPERATION>
HD_FN void slab_do(hd_slab_tile t, const hd_slab_view *view, const hd_slab_batch *batch,
                   const slab_share *share, uint32_t count, hd_slab_taker *taker, slab_sums *sums)
{
    const bool one = threadIdx.x % WARP_LANES < count;
    slab_phase<OPERATION, false, true, true>(t, view, batch, share, {0, count}, taker, sums);
    sums->looks += one;
    if (OPERATION != HD_SLAB_INSERT) sums->asked += one;
}

/* The operations of a batch that are of one kind. */
template <int OPERATION>
static __global__ void __launch_bounds__(SLAB_BLOCK, SELECT_BLOCKS(OPERATION))
    slab_select(const hd_slab_view view, const hd_slab_batch batch)
{
    __shared__ hd_slab_taker takers[SLAB_BLOCK / HD_SLAB_LANES];
    __shared__ uint32_t numbers[SLAB_BLOCK / WARP_LANES][2 * WARP_LANES];
    const hd_slab_tile t = slab_tile_here();
    const uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x, n = (uint32_t)batch.n;
    const uint32_t lane = threadIdx.x % WARP_LANES, stride = gridDim.x * blockDim.x;
    hd_slab_taker *const taker = takers + threadIdx.x / HD_SLAB_LANES; /* of the one that acts */
    slab_collected collected = {numbers[threadIdx.x / WARP_LANES], 0};
    slab_sums sums = {0, 0, 0, 0, 0, 0, 0, 0};
    slab_due due = {{0, 0}, 0, 0};
    if (slab_tile_acts(t)) *taker = taker_start(&view.pool, thread / HD_SLAB_LANES);
    for (uint32_t first = thread - lane; first < n; first += stride) {
        const uint32_t row = first + lane;
        slab_collect<OPERATION>(&collected, row, batch.operations[row < n ? row : n - 1], row < n);
        if (collected.count < WARP_LANES) continue;
        const slab_share share = slab_take_share(&view, due.given, due.number);
        const uint32_t count = due.count; /* of the share before */
        due = slab_take_due<OPERATION>(&collected, &batch);
        slab_do<OPERATION>(t, &view, &batch, &share, count, taker, &sums);
    }
    while (due.count != 0 || collected.count != 0) {
        const slab_share share = slab_take_share(&view, due.given, due.number);
        const uint32_t count = due.count;
        due = slab_take_due<OPERATION>(&collected, &batch);
        slab_do<OPERATION>(t, &view, &batch, &share, count, taker, &sums);
    }
    slab_sums_add(&batch, &sums);
}

#endif
