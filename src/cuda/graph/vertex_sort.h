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

#include "cuda/partition/sorted_pair.h"
#include "scheme/hashgraph.h"

#ifndef VERTEX_BLOCK
#define VERTEX_BLOCK 512
#endif

typedef cub::BlockScan<uint32_t, VERTEX_BLOCK, cub::BLOCK_SCAN_WARP_SCANS> vertex_scan;

/* A row of 16-bit numbers in words of shared memory. */
HD_FN uint32_t row_get(const uint32_t *row, uint32_t i) { return ((const uint16_t *)row)[i]; }

/* Counts one more, and says how many there were before. */
HD_FN uint32_t row_count(uint32_t *row, uint32_t i)
{
    const uint32_t shift = 16 * (i & 1);
    return atomicAdd(&row[i >> 1], 1u << shift) >> shift & 0xffff;
}

/*
 * The same for all lanes of a warp, of which those that are not `active` count nothing. Lanes that all have
 * the same number, as those of a key with very many copies, count together.
 */
HD_FN uint32_t row_count_together(uint32_t *row, uint32_t i, bool active)
{
    const uint32_t all = 0xffffffffu, lane = threadIdx.x % 32;
    const uint32_t first = __shfl_sync(all, i, 0);
    if (__any_sync(all, !active || i != first)) return active ? row_count(row, i) : 0;
    uint32_t before = 0;
    if (lane == 0) {
        const uint32_t shift = 16 * (i & 1);
        before = atomicAdd(&row[i >> 1], 32u << shift) >> shift & 0xffff;
    }
    return __shfl_sync(all, before, 0) + lane;
}

/* How many words a row of n numbers takes: whole vectors of 16 bytes. */
HD_BOTH uint32_t row_words(uint32_t n) { return (n + 7) / 8 * 4; }

HD_FN void row_clear(uint32_t *row, uint32_t words)
{
    for (uint32_t i = threadIdx.x; i < words / 4; i += VERTEX_BLOCK)
        ((uint4 *)row)[i] = make_uint4(0, 0, 0, 0);
    __syncthreads();
}

/* The two numbers of each of a vector's words, summed up. */
HD_FN uint32_t vector_sum(const uint4 &v)
{
    const uint32_t low = (v.x & 0xffff) + (v.y & 0xffff) + (v.z & 0xffff) + (v.w & 0xffff);
    return low + (v.x >> 16) + (v.y >> 16) + (v.z >> 16) + (v.w >> 16);
}

/* A word of two counts becomes one of two exclusive sums. */
HD_FN uint32_t word_scan(uint32_t counts, uint32_t *before)
{
    const uint32_t first = *before, second = first + (counts & 0xffff);
    *before = second + (counts >> 16);
    return first | second << 16;
}

HD_FN uint4 vector_scan(const uint4 &counts, uint32_t *before)
{
    uint4 v;
    v.x = word_scan(counts.x, before), v.y = word_scan(counts.y, before);
    v.z = word_scan(counts.z, before), v.w = word_scan(counts.w, before);
    return v;
}

/*
 * Turns counts into exclusive sums, each thread a stretch of them. The block has synchronised before and
 * is synchronised after.
 */
HD_FN void row_scan(uint32_t *row, uint32_t words, typename vertex_scan::TempStorage *scratch)
{
    const uint32_t vectors = words / 4, stretch = (vectors + VERTEX_BLOCK - 1) / VERTEX_BLOCK;
    const uint32_t begin = threadIdx.x * stretch < vectors ? threadIdx.x * stretch : vectors;
    const uint32_t end = begin + stretch < vectors ? begin + stretch : vectors;
    uint4 *row4 = (uint4 *)row;
    uint32_t sum = 0;
    for (uint32_t i = begin; i < end; i++) sum += vector_sum(row4[i]);
    vertex_scan(*scratch).ExclusiveSum(sum, sum);
    for (uint32_t i = begin; i < end; i++) row4[i] = vector_scan(row4[i], &sum);
    __syncthreads();
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
 * of every vertex begins; vertices + 1 numbers. HOT is for regions most of whose pairs are copies of a key.
 */
template <int ITEMS, bool HOT>
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
    for (int i = 0; i < ITEMS; i++) {
        const bool active = i * VERTEX_BLOCK + threadIdx.x < count;
        const uint32_t vertex = active ? vertex_of(sorted_key(pairs[i]), region_bits, vertices) : 0;
        if (HOT) ranks[i / 2] |= row_count_together(row, vertex, active) << 16 * (i % 2);
        else if (active) ranks[i / 2] |= row_count(row, vertex) << 16 * (i % 2);
    }
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
