/*
 * vertex_sort.h: sorting the pairs of one block by vertex in shared memory: count, scan, place. Graphs
 * are built so, and joins hash their left side so.
 *
 * Counters and offsets are 16-bit numbers, two in a word, because shared memory decides how many blocks
 * a processor holds: a block sorts fewer pairs than they can count.
 */
#ifndef HD_VERTEX_SORT_H
#define HD_VERTEX_SORT_H

#include <cub/block/block_scan.cuh>

#include "cuda/sorted_pair.h"

#ifndef VERTEX_BLOCK
#define VERTEX_BLOCK 512
#endif

typedef cub::BlockScan<uint32_t, VERTEX_BLOCK, cub::BLOCK_SCAN_WARP_SCANS> vertex_scan;

/* The vertex of a mixed key in its region. */
HD_FN uint32_t vertex_of(hd_key mixed, uint32_t region_bits, uint32_t vertices)
{
    const hd_key rest = (hd_key)(mixed << region_bits);
    return hd_mulhi32((uint32_t)(rest >> (HD_KEY_BITS - 32)), vertices);
}

/* A row of 16-bit numbers in words of shared memory. */
HD_FN uint32_t row_get(const uint32_t *row, uint32_t i) { return ((const uint16_t *)row)[i]; }

/* Counts one more, and says how many there were before. */
HD_FN uint32_t row_count(uint32_t *row, uint32_t i)
{
    const uint32_t shift = 16 * (i & 1);
    return atomicAdd(&row[i >> 1], 1u << shift) >> shift & 0xffff;
}

/* How many words a row of n numbers takes: whole vectors of 16 bytes. */
HD_BOTH uint32_t row_words(uint32_t n) { return (n + 7) / 8 * 4; }

HD_FN void row_clear(uint32_t *row, uint32_t words)
{
    for (uint32_t i = threadIdx.x; i < words / 4; i += VERTEX_BLOCK)
        ((uint4 *)row)[i] = make_uint4(0, 0, 0, 0);
    __syncthreads();
}

/* Turns counts into exclusive sums. The block has synchronised before and is synchronised after. */
HD_FN void row_scan(uint32_t *row, uint32_t words, typename vertex_scan::TempStorage *scratch)
{
    uint32_t before = 0;
    for (uint32_t base = 0; base < words / 4; base += VERTEX_BLOCK) {
        const uint32_t at = base + threadIdx.x;
        uint32_t sum = 0, all = 0, mine[4] = {0, 0, 0, 0};
        if (at < words / 4) {
            const uint4 four = ((const uint4 *)row)[at];
            mine[0] = four.x, mine[1] = four.y, mine[2] = four.z, mine[3] = four.w;
        }
#pragma unroll
        for (int w = 0; w < 4; w++) sum += (mine[w] & 0xffff) + (mine[w] >> 16);
        vertex_scan(*scratch).ExclusiveSum(sum, sum, all);
        sum += before;
        before += all;
#pragma unroll
        for (int w = 0; w < 4; w++) {
            const uint32_t low = mine[w] & 0xffff, high = mine[w] >> 16;
            mine[w] = sum | (sum + low) << 16;
            sum += low + high;
        }
        if (at < words / 4) ((uint4 *)row)[at] = make_uint4(mine[0], mine[1], mine[2], mine[3]);
        __syncthreads();
    }
}

/* The i-th of the pairs of one or two sources, one after the other. */
typedef struct pair_range {
    const uint32_t *first, *second;
    uint64_t first_begin, second_begin;
    uint64_t first_count, count; /* of the first, of both */
} pair_range;

HD_FN hd_sorted_pair range_load(const pair_range &range, uint64_t i)
{
    return i < range.first_count
               ? sorted_load(range.first, range.first_begin + i)
               : sorted_load(range.second, range.second_begin + (i - range.first_count));
}

/*
 * Sorts at most VERTEX_BLOCK * ITEMS pairs of a region into `sorted`, and leaves in `row` where the list
 * of every vertex begins; vertices + 1 numbers.
 */
template <int ITEMS>
static __device__ __forceinline__ void
vertex_sort(const pair_range &range, uint32_t region_bits, uint32_t vertices, uint32_t *row,
            uint32_t words, uint32_t *sorted, typename vertex_scan::TempStorage *scratch)
{
    hd_sorted_pair pairs[ITEMS];
    uint32_t ranks[(ITEMS + 1) / 2] = {0}; /* two in a word */
    const uint32_t count = (uint32_t)range.count;
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        const uint32_t at = i * VERTEX_BLOCK + threadIdx.x;
        if (at < count) pairs[i] = range_load(range, at);
    }
    row_clear(row, words);
#pragma unroll
    for (int i = 0; i < ITEMS; i++)
        if (i * VERTEX_BLOCK + threadIdx.x < count)
            ranks[i / 2] |= row_count(row, vertex_of(sorted_key(pairs[i]), region_bits, vertices))
                            << 16 * (i % 2);
    __syncthreads();
    row_scan(row, words, scratch);
#pragma unroll
    for (int i = 0; i < ITEMS; i++)
        if (i * VERTEX_BLOCK + threadIdx.x < count)
            sorted_store(sorted,
                         row_get(row, vertex_of(sorted_key(pairs[i]), region_bits, vertices)) +
                             (ranks[i / 2] >> 16 * (i % 2) & 0xffff),
                         pairs[i]);
    __syncthreads();
}

#endif
