/*
 * slab_mixed.h: the device code of batches of any mixture on slab hashes.
 *
 * Tiles of a warp that are at different operations would wait for each other at every step. So a block takes many
 * operations, a chunk, and sorts them by their kind: lookups first, then erasures, then insertions. Nearly
 * all warps then have operations of one kind. It may: all operations of a batch are at the same time.
 */
#ifndef HD_CUDA_SLAB_MIXED_H
#define HD_CUDA_SLAB_MIXED_H

#include <cstddef>

#include "cuda/slab_batch.h"

#ifndef SLAB_CHUNK
#define SLAB_CHUNK 2048 /* at most */
#endif
#define BLOCK_WARPS (SLAB_BLOCK / WARP_LANES)
#define SLAB_SUM(name) (offsetof(slab_sums, name) / sizeof(uint32_t)) /* its place among the sums */

/* Something of each kind of operations: lanes, numbers, places. */
typedef struct slab_kinds {
    uint32_t finds, erases, inserts;
} slab_kinds;

/* A block's chunk in shared memory. */
typedef struct slab_desk {
    uint16_t order[SLAB_CHUNK]; /* rows of the chunk, those of a kind together */
    slab_kinds counts[BLOCK_WARPS];
    hd_slab_taker takers[SLAB_BLOCK / HD_SLAB_LANES];
    unsigned long long sums[sizeof(slab_sums) / sizeof(uint32_t)];
} slab_desk;

/* The operations of a warp's lanes, a bit each; those that are not to be done have none. */
HD_FN slab_kinds slab_look_at_kinds(const hd_slab_batch *batch, uint32_t i, bool on)
{
    uint32_t operation = batch->operation;
    on = on && (!batch->retry || batch->outcomes[i] == HEDDLE_OUTCOME_FAILED);
    if (on && batch->operations != NULL) operation = batch->operations[i];
    slab_kinds lanes;
    lanes.inserts = __ballot_sync(WHOLE_WARP, on && operation == HD_SLAB_INSERT);
    lanes.erases = __ballot_sync(WHOLE_WARP, on && operation == HD_SLAB_ERASE);
    lanes.finds = __ballot_sync(WHOLE_WARP, on) & ~lanes.inserts & ~lanes.erases;
    return lanes;
}

HD_FN void slab_kinds_add(slab_kinds *to, const slab_kinds *lanes)
{
    to->finds += hd_popcount32(lanes->finds);
    to->erases += hd_popcount32(lanes->erases);
    to->inserts += hd_popcount32(lanes->inserts);
}

/* Where a warp's operations of each kind go; *ends gets where each kind ends. */
HD_FN slab_kinds slab_places(const slab_desk *desk, slab_kinds *ends)
{
    slab_kinds all = {0, 0, 0}, before = {0, 0, 0};
    for (uint32_t i = 0; i < BLOCK_WARPS; i++) {
        if (i == threadIdx.x / WARP_LANES) before = all;
        all.finds += desk->counts[i].finds;
        all.erases += desk->counts[i].erases;
        all.inserts += desk->counts[i].inserts;
    }
    ends->finds = all.finds;
    ends->erases = ends->finds + all.erases;
    ends->inserts = ends->erases + all.inserts;
    before.erases += ends->finds;
    before.inserts += ends->erases;
    return before;
}

/* Sorts `length` operations from `first` on; where each kind ends. A warp has a stretch of them. */
HD_FN slab_kinds slab_sort(slab_desk *desk, const hd_slab_batch *batch, uint32_t first,
                           uint32_t length)
{
    const uint32_t lane = threadIdx.x % WARP_LANES, warp = threadIdx.x / WARP_LANES;
    const uint32_t before = bits_before(lane), mine = 1u << lane;
    const uint32_t rounds = (length + SLAB_BLOCK - 1) / SLAB_BLOCK;
    const uint32_t begin = warp * rounds * WARP_LANES;
    slab_kinds own = {0, 0, 0}, ends;
    for (uint32_t i = 0; i < rounds; i++) {
        const uint32_t row = begin + i * WARP_LANES + lane;
        const slab_kinds lanes = slab_look_at_kinds(batch, first + row, row < length);
        slab_kinds_add(&own, &lanes);
    }
    if (lane == 0) desk->counts[warp] = own;
    __syncthreads();
    slab_kinds at = slab_places(desk, &ends);
    for (uint32_t i = 0; i < rounds; i++) {
        const uint32_t row = begin + i * WARP_LANES + lane;
        const slab_kinds lanes = slab_look_at_kinds(batch, first + row, row < length);
        uint32_t place = at.finds + hd_popcount32(lanes.finds & before);
        if (lanes.erases & mine) place = at.erases + hd_popcount32(lanes.erases & before);
        if (lanes.inserts & mine) place = at.inserts + hd_popcount32(lanes.inserts & before);
        if ((lanes.finds | lanes.erases | lanes.inserts) & mine) desk->order[place] = (uint16_t)row;
        slab_kinds_add(&at, &lanes);
    }
    __syncthreads();
    return ends;
}

/* How many of the `width` places from `at` on come before `end`. */
HD_FN uint32_t places_before(uint32_t at, uint32_t end, uint32_t width)
{
    return end <= at ? 0 : end - at < width ? end - at : width;
}

/* Adds what the threads of a warp have counted, to the desk, since registers are short. */
HD_FN void desk_add(unsigned long long *sum, uint32_t mine)
{
    const uint32_t all = warp_sum(mine);
    if (threadIdx.x % WARP_LANES == 0 && all != 0) atomicAdd(sum, (unsigned long long)all);
}

/* The operations of a span, all of them OPERATION. */
template <int OPERATION, bool MULTI>
HD_FN void slab_mixed_phase(hd_slab_tile t, const hd_slab_view *view, const hd_slab_batch *batch,
                            const slab_share *share, slab_span span, slab_desk *desk)
{
    const uint32_t one = threadIdx.x % WARP_LANES < span.end - span.at; /* of so many lanes */
    slab_sums sums = {0, 0, 0, 0, 0, 0, 0, 0};
    if (span.at == span.end) return;
    slab_phase<OPERATION, MULTI, true, false>(t, view, batch, share, span,
                                              desk->takers + threadIdx.x / HD_SLAB_LANES, &sums);
    desk_add(&desk->sums[SLAB_SUM(looks)], one + sums.looks);
    if (OPERATION == HD_SLAB_INSERT) {
        desk_add(&desk->sums[SLAB_SUM(placed)], sums.placed);
        desk_add(&desk->sums[SLAB_SUM(updated)], sums.updated);
        desk_add(&desk->sums[SLAB_SUM(spent)], sums.spent);
    } else {
        desk_add(&desk->sums[SLAB_SUM(asked)], one);
        desk_add(&desk->sums[SLAB_SUM(found)], sums.found);
        if (OPERATION == HD_SLAB_ERASE) desk_add(&desk->sums[SLAB_SUM(erased)], sums.erased);
    }
}

/* The chunk on the desk, from `first` on. A warp takes every BLOCK_WARPS-th share of `width` operations. */
template <bool MULTI>
HD_FN void slab_work_off(hd_slab_tile t, const hd_slab_view *view, const hd_slab_batch *batch,
                         slab_desk *desk, uint32_t first, const slab_kinds *ends, uint32_t width)
{
    const uint32_t lane = threadIdx.x % WARP_LANES, stride = BLOCK_WARPS * width;
    const uint32_t last = ends->inserts - 1;
    uint32_t at = threadIdx.x / WARP_LANES * width;
    uint32_t number = first + desk->order[at + lane < last ? at + lane : last];
    slab_given next = slab_load<SLAB_ANY>(batch, number);
    for (; at < ends->inserts; at += stride) {
        const uint32_t finds = places_before(at, ends->finds, width);
        const uint32_t asked = places_before(at, ends->erases, width);
        const uint32_t all = places_before(at, ends->inserts, width);
        const slab_share share = slab_take_share(view, next, number);
        const uint32_t after = at + stride + lane;
        number = first + desk->order[after < last ? after : last];
        next = slab_load<SLAB_ANY>(batch, number);
        slab_mixed_phase<HD_SLAB_FIND, MULTI>(t, view, batch, &share, {0, finds}, desk);
        slab_mixed_phase<HD_SLAB_ERASE, MULTI>(t, view, batch, &share, {finds, asked}, desk);
        slab_mixed_phase<HD_SLAB_INSERT, MULTI>(t, view, batch, &share, {asked, all}, desk);
    }
}

/* `chunk` operations of a block at a time, at most SLAB_CHUNK. Also for batches of which not all is to be done. */
template <bool MULTI>
static __global__ void __launch_bounds__(SLAB_BLOCK, SLAB_BLOCKS(SLAB_ANY, false))
    slab_mixed(const hd_slab_view view, const hd_slab_batch batch, uint32_t chunk, uint32_t width)
{
    __shared__ slab_desk desk;
    const hd_slab_tile t = slab_tile_here();
    const uint32_t n = (uint32_t)batch.n, stride = gridDim.x * chunk;
    if (threadIdx.x < sizeof(slab_sums) / sizeof(uint32_t)) desk.sums[threadIdx.x] = 0;
    if (slab_tile_acts(t))
        desk.takers[threadIdx.x / HD_SLAB_LANES] =
            taker_start(&view.pool, (blockIdx.x * blockDim.x + threadIdx.x) / HD_SLAB_LANES);
    for (uint32_t first = blockIdx.x * chunk; first < n; first += stride) {
        const uint32_t length = n - first < chunk ? n - first : chunk;
        const slab_kinds ends = slab_sort(&desk, &batch, first, length);
        if (ends.inserts != 0) slab_work_off<MULTI>(t, &view, &batch, &desk, first, &ends, width);
        __syncthreads(); /* before the desk is used again */
    }
    if (threadIdx.x < sizeof(slab_sums) / sizeof(uint32_t) && desk.sums[threadIdx.x] != 0) {
        add_relaxed_64(slab_sum_at(&batch, (int)threadIdx.x), desk.sums[threadIdx.x]);
        if (threadIdx.x == 0) add_relaxed_64(batch.born, desk.sums[0]);
    }
}

#endif
