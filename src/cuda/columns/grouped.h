/*
 * grouped.h: rows in groups (engine/columns.h), worked on in tiles of equally many rows, so that it
 * does not matter how large the groups are. A block finds out which groups its tile touches and keeps
 * where they begin in shared memory, where each row's group is then searched.
 */
#ifndef HD_CUDA_GROUPED_H
#define HD_CUDA_GROUPED_H

#include "cuda/count.h"
#include "engine/columns.h"

#ifndef GROUPED_BLOCK
#define GROUPED_BLOCK 256
#define GROUPED_ITEMS 8 /* rows of a thread */
#endif
#define GROUPED_TILE (GROUPED_BLOCK * GROUPED_ITEMS)

typedef struct grouped_scratch {
    uint16_t starts[GROUPED_TILE +
                    1];   /* where the groups after the first begin, from the tile's begin */
    uint64_t first, last; /* groups of the tile */
} grouped_scratch;

typedef struct grouped_tile {
    uint64_t begin; /* of its rows */
    uint32_t count; /* rows */
    uint64_t group; /* the first row's */
    uint32_t more;  /* groups that begin within the tile, after its first row */
} grouped_tile;

static inline unsigned grouped_tiles(const hd_grouped *grouped)
{
    return (unsigned)((grouped->n + GROUPED_TILE - 1) / GROUPED_TILE);
}

/* The last group that begins at or before `at`; no group is empty. */
HD_FN uint64_t group_at(const hd_grouped &grouped, uint64_t at)
{
    uint64_t low = 0, high = grouped.groups;
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        if (grouped.starts[middle] <= at) low = middle;
        else high = middle;
    }
    return low;
}

/* The tile of this block. Every thread calls it; the block is synchronised after. */
HD_FN grouped_tile grouped_tile_of(const hd_grouped &grouped, grouped_scratch *scratch)
{
    grouped_tile tile;
    tile.begin = (uint64_t)blockIdx.x * GROUPED_TILE;
    tile.count =
        (uint32_t)(grouped.n - tile.begin < GROUPED_TILE ? grouped.n - tile.begin : GROUPED_TILE);
    if (threadIdx.x == 0) scratch->first = group_at(grouped, tile.begin);
    if (threadIdx.x == 32) scratch->last = group_at(grouped, tile.begin + tile.count - 1);
    __syncthreads();
    tile.group = scratch->first;
    tile.more = (uint32_t)(scratch->last - scratch->first);
    for (uint32_t i = threadIdx.x; i < tile.more; i += GROUPED_BLOCK)
        scratch->starts[i] = (uint16_t)(grouped.starts[tile.group + 1 + i] - tile.begin);
    __syncthreads();
    return tile;
}

/* How many groups after the tile's first begin at or before its i-th row: the number of the row's group. */
HD_FN uint32_t grouped_find(const grouped_scratch *scratch, const grouped_tile &tile, uint32_t i)
{
    uint32_t low = 0, high = tile.more;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (scratch->starts[middle] <= i) low = middle + 1;
        else high = middle;
    }
    return low;
}

#endif
