/*
 * graph_place.h: the device code that builds graphs (engine/graph.h) from pairs sorted by region.
 *
 * A block builds a region in shared memory and writes it once. A region with more pairs than that holds
 * is counted and placed by its block straight from and to the device's memory; one with more than 16-bit
 * offsets can tell apart gets a wide row, which all blocks of three further kernels fill together. So
 * no input makes one block work for long.
 */
#ifndef HD_GRAPH_PLACE_H
#define HD_GRAPH_PLACE_H

#include "cuda/load.h"
#include "cuda/vertex_sort.h"
#include "scheme/hashgraph.h"

#ifndef PLACE_ITEMS
#define PLACE_ITEMS (HD_PAIR_WORDS <= 2 ? 12 : 6) /* pairs of a thread */
#endif
#define PLACE_PAIRS (VERTEX_BLOCK * PLACE_ITEMS)
#ifndef WIDE_PART
#define WIDE_PART 8192 /* pairs of a wide region that a block works on at a time */
#endif

typedef struct graph_sources {
    hd_graph_source at[2];
    uint32_t count;
} graph_sources;

/* The pairs of a region, and where its edges are to begin. */
HD_FN pair_range region_range(const graph_sources &sources, uint32_t region, uint64_t *begin)
{
    pair_range range;
    range.first = (const uint32_t *)sources.at[0].pairs;
    range.first_begin = sources.at[0].starts[region];
    range.first_count = range.count = sources.at[0].starts[region + 1] - range.first_begin;
    range.second = range.first;
    range.second_begin = 0;
    *begin = range.first_begin;
    if (sources.count == 2) {
        range.second = (const uint32_t *)sources.at[1].pairs;
        range.second_begin = sources.at[1].starts[region];
        range.count += sources.at[1].starts[region + 1] - range.second_begin;
        *begin += range.second_begin;
    }
    return range;
}

/* Shared memory: the row, then the pairs. */
HD_BOTH size_t place_bytes(uint32_t region_row)
{
    return (size_t)row_words(region_row) * 4 + (size_t)PLACE_PAIRS * HD_PAIR_WORDS * 4;
}

HD_FN void row_write(const hd_graph &graph, uint32_t region, const uint32_t *row)
{
    uint4 *to = (uint4 *)(graph.offsets + (uint64_t)region * graph.region_row);
    for (uint32_t i = threadIdx.x; i < graph.region_row / 8; i += VERTEX_BLOCK)
        to[i] = ((const uint4 *)row)[i];
}

/* More pairs than fit shared memory, but narrow: counted there, placed in the device's memory. */
HD_FN void place_long(const hd_graph &graph, uint32_t region, const pair_range &range,
                      uint64_t begin, uint32_t *row, typename vertex_scan::TempStorage *scratch)
{
    const uint32_t words = row_words(graph.region_row);
    row_clear(row, words);
    for (uint64_t i = threadIdx.x; i < range.count; i += VERTEX_BLOCK)
        row_count(row, graph_vertex(&graph, sorted_key(range_load(range, i))));
    __syncthreads();
    row_scan(row, words, scratch);
    row_write(graph, region, row);
    __syncthreads();
    for (uint64_t i = threadIdx.x; i < range.count; i += VERTEX_BLOCK) {
        const hd_sorted_pair pair = range_load(range, i);
        sorted_store((uint32_t *)graph.edges,
                     begin + row_count(row, graph_vertex(&graph, sorted_key(pair))), pair);
    }
}

/* Gives a region a wide row, all 0; its number stands where the region looks, and the region's in the row. */
HD_FN void place_wide(const hd_graph &graph, uint32_t region)
{
    __shared__ uint32_t number;
    if (threadIdx.x == 0) {
        number = atomicAdd(graph.wide_used, 1);
        *(uint32_t *)(graph.offsets + (uint64_t)region * graph.region_row) = number;
    }
    __syncthreads();
    uint64_t *row = wide_row(&graph, number);
    for (uint32_t i = threadIdx.x; i <= graph.region_vertices; i += VERTEX_BLOCK)
        row[i] = i == 0 ? region : 0;
}

static __global__ void __launch_bounds__(VERTEX_BLOCK, HD_PAIR_WORDS <= 2 ? 3 : 2)
    graph_place(hd_graph graph, graph_sources sources)
{
    __shared__ typename vertex_scan::TempStorage scratch;
    const uint32_t region = blockIdx.x, words = row_words(graph.region_row);
    uint32_t *row = (uint32_t *)block_memory(), *sorted = row + words;
    uint64_t begin;
    const pair_range range = region_range(sources, region, &begin);
    if (threadIdx.x == 0) {
        graph.starts[region] = begin;
        if (region == gridDim.x - 1) graph.starts[gridDim.x] = begin + range.count;
    }
    if (range.count > HD_NARROW_MAX) {
        place_wide(graph, region);
    } else if (range.count > PLACE_PAIRS) {
        place_long(graph, region, range, begin, row, &scratch);
    } else {
        vertex_sort<PLACE_ITEMS>(range, graph.region_bits, graph.region_vertices, row, words,
                                 sorted, &scratch);
        row_write(graph, region, row);
        for (uint32_t i = threadIdx.x; i < (uint32_t)range.count; i += VERTEX_BLOCK)
            sorted_store((uint32_t *)graph.edges, begin + i, sorted_load(sorted, i));
    }
}

/* ------------------------------------------------------------------------------- wide regions */

/*
 * The lanes of a warp that have the same vertex add together. Returns what was there before, and this
 * lane's place among them.
 */
HD_FN uint64_t wide_add(uint64_t *row, uint32_t vertex, bool mine)
{
    const uint32_t group = __match_any_sync(0xffffffffu, mine ? vertex : UINT32_MAX);
    const uint32_t lane = threadIdx.x % 32, leader = hd_lowest_bit(group);
    uint64_t before = 0;
    if (mine && lane == leader)
        before = atomicAdd((unsigned long long *)&row[vertex], (unsigned long long)__popc(group));
    before = __shfl_sync(0xffffffffu, (unsigned long long)before, leader);
    return before + (uint64_t)__popc(group & ((1u << lane) - 1));
}

/*
 * All pairs of all wide regions, shared out among the blocks. With PLACE the pairs go to their places,
 * which row[v + 1] counts up from the beginning of vertex v's list to its end; else they are counted there.
 */
template <bool PLACE>
static __device__ __forceinline__ void wide_walk(const hd_graph &graph,
                                                 const graph_sources &sources)
{
    const uint32_t used = *graph.wide_used;
    uint64_t parts = 0; /* of the regions before: so that the next one begins with another block */
    for (uint32_t number = 0; number < used; number++) {
        uint64_t *row = wide_row(&graph, number), begin;
        const pair_range range = region_range(sources, (uint32_t)row[0], &begin);
        const uint64_t count = (range.count + WIDE_PART - 1) / WIDE_PART;
        uint64_t part = (blockIdx.x + gridDim.x - parts % gridDim.x) % gridDim.x;
        for (parts += count; part < count; part += gridDim.x)
            for (uint32_t i = threadIdx.x; i < WIDE_PART; i += VERTEX_BLOCK) {
                const uint64_t from = part * WIDE_PART + i;
                const bool mine = from < range.count;
                hd_sorted_pair pair = {{0}};
                if (mine) pair = range_load(range, from);
                const uint64_t at = wide_add(row + 1, graph_vertex(&graph, sorted_key(pair)), mine);
                if (PLACE && mine) sorted_store((uint32_t *)graph.edges, begin + at, pair);
            }
    }
}

static __global__ void __launch_bounds__(VERTEX_BLOCK)
    graph_wide_count(hd_graph graph, graph_sources sources)
{
    wide_walk<false>(graph, sources);
}

static __global__ void __launch_bounds__(VERTEX_BLOCK)
    graph_wide_place(hd_graph graph, graph_sources sources)
{
    wide_walk<true>(graph, sources);
}

/* The counts of each wide row become where lists begin. */
static __global__ void __launch_bounds__(VERTEX_BLOCK) graph_wide_scan(hd_graph graph)
{
    typedef cub::BlockScan<uint64_t, VERTEX_BLOCK> wide_scan;
    __shared__ typename wide_scan::TempStorage scratch;
    const uint32_t used = *graph.wide_used;
    for (uint32_t number = blockIdx.x; number < used; number += gridDim.x) {
        uint64_t *row = wide_row(&graph, number) + 1, before = 0;
        for (uint32_t base = 0; base < graph.region_vertices; base += VERTEX_BLOCK) {
            const uint32_t i = base + threadIdx.x;
            uint64_t at = 0, all = 0;
            wide_scan(scratch).ExclusiveSum(i < graph.region_vertices ? row[i] : 0, at, all);
            if (i < graph.region_vertices) row[i] = before + at;
            before += all;
            __syncthreads();
        }
    }
}

/* The wide rows' first numbers, which named their regions, become what they are in any row. */
static __global__ void graph_wide_end(hd_graph graph)
{
    const uint32_t used = *graph.wide_used;
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < used; i += gridDim.x * blockDim.x)
        wide_row(&graph, i)[0] = 0;
}

#endif
