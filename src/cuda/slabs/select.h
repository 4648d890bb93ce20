/*
 * select.h: the device code of large mixtures on slab hashes that have no key twice: a launch for lookups and
 * erasures, then one for insertions. It may: all operations of a batch are at the same time. Insertions that nothing else
 * goes beside take the slots of the keys that were erased before them.
 *
 * The warps of a block go through its part of the operations, a piece at a time, and keep the numbers of those of the
 * kind until their lanes take them. Who is faster takes more pieces.
 */
#ifndef HD_CUDA_SLAB_SELECT_H
#define HD_CUDA_SLAB_SELECT_H

#include "cuda/slabs/batch.h"

#define SELECT_EACH 4                          /* operations that a lane looks at, at a time */
#define SELECT_ROWS (SELECT_EACH * WARP_LANES) /* and its warp */
#define SELECT_RING (2 * SELECT_ROWS)          /* numbers that a warp keeps, at most */

/* The numbers that a warp has collected, and where it goes on. */
typedef struct slab_chosen {
    uint32_t *ring; /* in shared memory: numbers `at` to `filled` of all that it has collected */
    uint32_t at, filled;
    uint32_t *cursor;  /* in shared memory: where the next piece of the block's rows begins */
    slab_stretch rows; /* from the piece that is looked at next on */
    uint8_t operations[SELECT_EACH]; /* of the first of them, every WARP_LANES-th for a lane */
} slab_chosen;

/* HD_SLAB_INSERT, or SLAB_ASK for all others. */
template <int OPERATION> HD_FN bool slab_is_of_kind(uint32_t operation)
{
    return (operation == HD_SLAB_INSERT) == (OPERATION == HD_SLAB_INSERT);
}

/* A number, with what is to be known of its operation. */
HD_FN uint32_t slab_number(uint32_t row, uint32_t operation)
{
    return operation == HD_SLAB_ERASE ? row | NUMBER_ERASES : row;
}

/* Takes a piece and loads its operations. Rows behind the end are those of others, or the last one. */
HD_FN void slab_choose_ahead(slab_chosen *c, const hd_slab_batch *batch)
{
    const uint32_t last = (uint32_t)batch->n - 1;
    uint32_t first = 0;
    if (threadIdx.x % WARP_LANES == 0) first = atomicAdd(c->cursor, SELECT_ROWS);
    c->rows.at = __shfl_sync(WHOLE_WARP, first, 0);
    HD_UNROLL
    for (uint32_t i = 0; i < SELECT_EACH; i++) {
        const uint32_t row = c->rows.at + i * WARP_LANES + threadIdx.x % WARP_LANES;
        c->operations[i] = batch->operations[row < last ? row : last];
    }
}

/* Adds those of the next rows that are of the kind. */
template <int OPERATION> HD_FN void slab_choose(slab_chosen *c, const hd_slab_batch *batch)
{
    const uint32_t lane = threadIdx.x % WARP_LANES;
    __syncwarp(); /* all have read what is overwritten */
    HD_UNROLL
    for (uint32_t i = 0; i < SELECT_EACH; i++) {
        const uint32_t row = c->rows.at + i * WARP_LANES + lane;
        const bool mine = row < c->rows.end && slab_is_of_kind<OPERATION>(c->operations[i]);
        const uint32_t lanes = __ballot_sync(WHOLE_WARP, mine);
        if (mine)
            c->ring[(c->filled + hd_popcount32(lanes & bits_before(lane))) % SELECT_RING] =
                slab_number(row, c->operations[i]);
        c->filled += hd_popcount32(lanes);
    }
    slab_choose_ahead(c, batch);
    __syncwarp();
}

/* As for a stretch: a number for each of `lanes`. */
template <int OPERATION>
HD_FN bool slab_next_number(slab_chosen *c, const hd_slab_batch *batch, uint32_t lanes,
                            uint32_t *number)
{
    while (c->filled - c->at < WARP_LANES && c->rows.at < c->rows.end)
        slab_choose<OPERATION>(c, batch);
    slab_stretch kept = {c->at, c->filled};
    const bool got = slab_next_number<OPERATION>(&kept, batch, lanes, number);
    *number = c->ring[*number % SELECT_RING];
    c->at = kept.at;
    return got;
}

/* The operations of a batch that are of one kind. */
template <int OPERATION>
static __global__ void __launch_bounds__(SLAB_BLOCK, SLAB_BLOCKS_WIDE)
    slab_select(const hd_slab_view view, const hd_slab_batch batch)
{
    __shared__ hd_slab_taker takers[SLAB_BLOCK];
    __shared__ slab_tally tally;
    __shared__ uint32_t rings[SLAB_BLOCK / WARP_LANES][SELECT_RING];
    __shared__ uint32_t cursor;
    const slab_stretch part = slab_part((uint32_t)batch.n, blockIdx.x, gridDim.x);
    slab_chosen chosen = {rings[threadIdx.x / WARP_LANES], 0, 0, &cursor, part, {0}};
    if (OPERATION == HD_SLAB_INSERT)
        takers[threadIdx.x] = taker_start(&view.pool, blockIdx.x * blockDim.x + threadIdx.x);
    if (threadIdx.x == 0) cursor = part.at;
    slab_tally_start(&tally);
    slab_choose_ahead(&chosen, &batch);
    slab_work_off<OPERATION, false, OPERATION == HD_SLAB_INSERT>(&view, &batch, &chosen, true,
                                                                 takers + threadIdx.x, &tally);
    slab_tally_end(&tally, &batch);
}

#endif
