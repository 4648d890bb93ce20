/*
 * mixed.h: the device code of batches of any mixture on slab hashes.
 *
 * Lanes of a warp that are at different operations would wait for each other at every step. So a block takes many
 * operations, a chunk, and sorts them: lookups and erasures first, then insertions. Nearly all warps then have
 * operations of one kind. It may: all operations of a batch are at the same time.
 */
#ifndef HD_CUDA_SLAB_MIXED_H
#define HD_CUDA_SLAB_MIXED_H

#include "cuda/slabs/batch.h"

#ifndef SLAB_CHUNK
#define SLAB_CHUNK 2048 /* at most */
#endif
#define BLOCK_WARPS (SLAB_BLOCK / WARP_LANES)

/* Something of each kind of operations: lanes, numbers, places. */
typedef struct slab_kinds {
    uint32_t asks, inserts;
} slab_kinds;

#define ORDER_ERASES 0x8000u /* beside a row in the scratch memory */

/* A block's chunk in shared memory. */
typedef struct slab_scratch {
    uint16_t order[SLAB_CHUNK]; /* rows of the chunk, those of a kind together, with ORDER_ERASES */
    slab_kinds counts[BLOCK_WARPS];
    hd_slab_taker takers[SLAB_BLOCK];
    slab_tally tally;
} slab_scratch;

/* The operations of a warp's lanes, a bit each; those that are not to be done have none. *erases: this lane's does. */
HD_FN slab_kinds slab_look_at_kinds(const hd_slab_batch *batch, uint32_t i, bool on, bool *erases)
{
    uint32_t operation = batch->operation;
    on = on && (!batch->retry || batch->outcomes[i] == HEDDLE_OUTCOME_FAILED);
    if (on && batch->operations != NULL) operation = batch->operations[i];
    slab_kinds lanes;
    lanes.inserts = __ballot_sync(WHOLE_WARP, on && operation == HD_SLAB_INSERT);
    lanes.asks = __ballot_sync(WHOLE_WARP, on) & ~lanes.inserts;
    *erases = operation == HD_SLAB_ERASE;
    return lanes;
}

HD_FN void slab_kinds_add(slab_kinds *to, const slab_kinds *lanes)
{
    to->asks += hd_popcount32(lanes->asks);
    to->inserts += hd_popcount32(lanes->inserts);
}

/* Where a warp's operations of each kind go; *ends gets where each kind ends. */
HD_FN slab_kinds slab_places(const slab_scratch *scratch, slab_kinds *ends)
{
    slab_kinds all = {0, 0}, before = {0, 0};
    for (uint32_t i = 0; i < BLOCK_WARPS; i++) {
        if (i == threadIdx.x / WARP_LANES) before = all;
        all.asks += scratch->counts[i].asks;
        all.inserts += scratch->counts[i].inserts;
    }
    ends->asks = all.asks;
    ends->inserts = all.asks + all.inserts;
    before.inserts += ends->asks;
    return before;
}

/* Sorts `length` operations from `first` on; where each kind ends. A warp has a stretch of them. */
HD_FN slab_kinds slab_sort(slab_scratch *scratch, const hd_slab_batch *batch, uint32_t first,
                           uint32_t length)
{
    const uint32_t lane = threadIdx.x % WARP_LANES, warp = threadIdx.x / WARP_LANES;
    const uint32_t before = bits_before(lane), mine = 1u << lane;
    const uint32_t rounds = (length + SLAB_BLOCK - 1) / SLAB_BLOCK;
    const uint32_t begin = warp * rounds * WARP_LANES;
    slab_kinds own = {0, 0}, ends;
    bool erases;
    for (uint32_t i = 0; i < rounds; i++) {
        const uint32_t row = begin + i * WARP_LANES + lane;
        const slab_kinds lanes = slab_look_at_kinds(batch, first + row, row < length, &erases);
        slab_kinds_add(&own, &lanes);
    }
    if (lane == 0) scratch->counts[warp] = own;
    __syncthreads();
    slab_kinds at = slab_places(scratch, &ends);
    for (uint32_t i = 0; i < rounds; i++) {
        const uint32_t row = begin + i * WARP_LANES + lane;
        const slab_kinds lanes = slab_look_at_kinds(batch, first + row, row < length, &erases);
        uint32_t place = at.asks + hd_popcount32(lanes.asks & before);
        if (lanes.inserts & mine) place = at.inserts + hd_popcount32(lanes.inserts & before);
        if ((lanes.asks | lanes.inserts) & mine)
            scratch->order[place] = (uint16_t)(erases ? row | ORDER_ERASES : row);
        slab_kinds_add(&at, &lanes);
    }
    __syncthreads();
    return ends;
}

/* The places in the scratch memory that a warp works through, and the chunk's first operation. */
typedef struct slab_places_left {
    slab_stretch places;
    const uint16_t *order;
    uint32_t first;
} slab_places_left;

/* As for a stretch: a number for each of `lanes`. */
template <int OPERATION>
HD_FN bool slab_next_number(slab_places_left *left, const hd_slab_batch *batch, uint32_t lanes,
                            uint32_t *number)
{
    const bool got = slab_next_number<OPERATION>(&left->places, batch, lanes, number);
    const uint32_t row = left->order[got ? *number : 0];
    *number = left->first + (row & ~ORDER_ERASES);
    if ((row & ORDER_ERASES) != 0) *number |= NUMBER_ERASES;
    return got;
}

/* A warp's part of the places from `begin` on, all of them OPERATION. */
template <int OPERATION, bool MULTI>
HD_FN void slab_mixed_kind(const hd_slab_view *view, const hd_slab_batch *batch,
                           slab_scratch *scratch, uint32_t first, uint32_t begin, uint32_t end,
                           uint32_t width)
{
    slab_stretch part = slab_part(end - begin, threadIdx.x / WARP_LANES, BLOCK_WARPS);
    slab_places_left left = {{begin + part.at, begin + part.end}, scratch->order, first};
    if (part.at == part.end) return;
    slab_work_off<OPERATION, MULTI, false>(view, batch, &left, slab_takes_part(width),
                                           scratch->takers + threadIdx.x, &scratch->tally);
}

/* `chunk` operations of a block at a time, at most SLAB_CHUNK. Also for batches of which not all is to be done. */
template <bool MULTI>
static __global__ void __launch_bounds__(SLAB_BLOCK, SLAB_BLOCKS_WIDE)
    slab_mixed(const hd_slab_view view, const hd_slab_batch batch, uint32_t chunk, uint32_t width)
{
    __shared__ slab_scratch scratch;
    const uint32_t n = (uint32_t)batch.n, stride = gridDim.x * chunk;
    scratch.takers[threadIdx.x] = taker_start(&view.pool, blockIdx.x * blockDim.x + threadIdx.x);
    slab_tally_start(&scratch.tally);
    for (uint32_t first = blockIdx.x * chunk; first < n; first += stride) {
        const uint32_t length = n - first < chunk ? n - first : chunk;
        const slab_kinds ends = slab_sort(&scratch, &batch, first, length);
        slab_mixed_kind<SLAB_ASK, MULTI>(&view, &batch, &scratch, first, 0, ends.asks, width);
        slab_mixed_kind<HD_SLAB_INSERT, MULTI>(&view, &batch, &scratch, first, ends.asks,
                                               ends.inserts, width);
        __syncthreads(); /* before the scratch is used again */
    }
    slab_tally_end(&scratch.tally, &batch);
}

#endif
