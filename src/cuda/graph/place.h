/*
 * place.h: the device code that builds graphs (engine/graph.h) from pairs sorted by region.
 *
 * A block builds a region in shared memory and writes it once. A region with more pairs than that holds
 * is counted and placed by its block straight from and to the device's memory; one with more than 16-bit
 * offsets can tell apart gets a wide row, which all blocks of further kernels fill together, part by
 * part. So no input makes one block work for long.
 */
#ifndef HD_GRAPH_PLACE_H
#define HD_GRAPH_PLACE_H

#include "cuda/graph/vertex_sort.h"
#include "scheme/hashgraph.h"
#include "tile/load_cuda.h"

#ifndef PLACE_ITEMS
#define PLACE_ITEMS (HD_PAIR_WORDS <= 2 ? 10 : 6) /* pairs of a thread */
#endif
#define PLACE_PAIRS (VERTEX_BLOCK * PLACE_ITEMS)

/* The pairs of a region, and where its edges are to begin. */
HD_FN pair_range region_range(const hd_graph_placing &placing, uint32_t region, uint64_t *begin)
{
    pair_range range;
    range.first = (const uint32_t *)placing.sources[0].pairs;
    *begin = placing.sources[0].starts[region];
    range.first_begin = *begin - placing.sources[0].base;
    range.first_count = range.count = placing.sources[0].starts[region + 1] - *begin;
    range.second = range.first;
    range.second_begin = 0;
    if (placing.count == 2) {
        range.second = (const uint32_t *)placing.sources[1].pairs;
        const uint64_t second = placing.sources[1].starts[region];
        range.second_begin = second - placing.sources[1].base;
        range.count += placing.sources[1].starts[region + 1] - second;
        *begin += second;
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

/* So many pairs of a long region a thread reads before it works on any. */
#define LONG_ITEMS 8

/* More pairs than fit shared memory, but narrow: counted there, placed in the device's memory. */
template <bool PLACE>
static __device__ __forceinline__ void long_walk(const hd_graph &graph, const pair_range &range,
                                                 uint64_t begin, uint32_t *row)
{
    for (uint64_t start = 0; start < range.count; start += VERTEX_BLOCK * LONG_ITEMS) {
        const uint64_t base = start + threadIdx.x;
        hd_sorted_pair pairs[LONG_ITEMS];
#pragma unroll
        for (int i = 0; i < LONG_ITEMS; i++)
            if (base + i * VERTEX_BLOCK < range.count)
                pairs[i] = range_load(range, base + i * VERTEX_BLOCK);
#pragma unroll
        for (int i = 0; i < LONG_ITEMS; i++) {
            const bool active = base + i * VERTEX_BLOCK < range.count;
            const uint32_t vertex = active ? graph_vertex(&graph, sorted_key(pairs[i])) : 0;
            const uint32_t at = row_count_together(row, vertex, active);
            if (PLACE && active) sorted_store((uint32_t *)graph.edges, begin + at, pairs[i]);
        }
    }
    __syncthreads();
}

HD_FN void place_long(const hd_graph &graph, uint32_t region, const pair_range &range,
                      uint64_t begin, uint32_t *row, typename vertex_scan::TempStorage *scratch)
{
    const uint32_t words = row_words(graph.region_row);
    row_clear(row, words);
    long_walk<false>(graph, range, begin, row);
    row_scan(row, words, scratch);
    row_write(graph, region, row);
    __syncthreads();
    long_walk<true>(graph, range, begin, row);
}

/* Gives a region a wide row, all 0; its number stands where the region looks, and the region's at its front. */
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
    graph_place(hd_graph graph, hd_graph_placing placing)
{
    __shared__ typename vertex_scan::TempStorage scratch;
    const uint32_t region = placing.stretch.first_region + blockIdx.x;
    const uint32_t words = row_words(graph.region_row);
    uint32_t *row = (uint32_t *)block_memory(), *sorted = row + words;
    uint64_t begin;
    const pair_range range = region_range(placing, region, &begin);
    if (threadIdx.x == 0) {
        graph.starts[region] = begin;
        if (blockIdx.x == gridDim.x - 1) graph.starts[region + 1] = begin + range.count;
    }
    if (range.count > HD_NARROW_MAX) {
        place_wide(graph, region);
    } else if (range.count > PLACE_PAIRS) {
        place_long(graph, region, range, begin, row, &scratch);
    } else {
        vertex_sort<PLACE_ITEMS, false>(range, graph.region_bits, graph.region_vertices, row, words,
                                        sorted, &scratch);
        row_write(graph, region, row);
        for (uint32_t i = threadIdx.x; i < (uint32_t)range.count; i += VERTEX_BLOCK)
            sorted_store((uint32_t *)graph.edges, begin + i, sorted_load(sorted, i));
    }
}

/* ------------------------------------------------------------------------------- wide regions */

/*
 * While it is filled, the front of a wide row names its region, and how many parts the regions of the rows
 * before it have. A part is what a block works on at a time.
 */
HD_FN uint32_t front_region(uint64_t front) { return (uint32_t)front & 0xffffff; }
HD_FN uint64_t front_parts(uint64_t front) { return front >> 24; }

HD_FN uint64_t parts_of(const hd_graph_placing &placing, uint32_t region)
{
    uint64_t begin;
    return (region_range(placing, region, &begin).count + PLACE_PAIRS - 1) / PLACE_PAIRS;
}

/* One block; adds to the front of every wide row where its parts begin among all. */
static __global__ void __launch_bounds__(VERTEX_BLOCK)
    graph_wide_plan(hd_graph graph, hd_graph_placing placing)
{
    typedef cub::BlockScan<uint64_t, VERTEX_BLOCK> part_scan;
    __shared__ typename part_scan::TempStorage scratch;
    const uint32_t used = *graph.wide_used;
    uint64_t before = 0;
    for (uint32_t base = placing.wide_done; base < used; base += VERTEX_BLOCK) {
        const uint32_t number = base + threadIdx.x;
        uint64_t *front = number < used ? wide_row(&graph, number) : NULL;
        uint64_t at = 0, all = 0;
        part_scan(scratch).ExclusiveSum(front != NULL ? parts_of(placing, front_region(*front)) : 0,
                                        at, all);
        if (front != NULL) *front |= (before + at) << 24;
        before += all;
        __syncthreads();
    }
}

/* One part after the other, of the share that this block has of all. The same for all threads. */
typedef struct wide_part {
    uint32_t number, used; /* the wide row, and how many there are */
    uint64_t *row;
    pair_range range;      /* of the region */
    uint64_t begin;        /* of the region's edges */
    uint64_t first, parts; /* of the region among all parts */
    uint64_t next, end;    /* of this block's share */
} wide_part;

HD_FN void wide_enter(const hd_graph &graph, const hd_graph_placing &placing, wide_part *p)
{
    p->row = wide_row(&graph, p->number);
    p->first = front_parts(p->row[0]);
    p->range = region_range(placing, front_region(p->row[0]), &p->begin);
    p->parts = (p->range.count + PLACE_PAIRS - 1) / PLACE_PAIRS;
}

HD_FN wide_part wide_begin(const hd_graph &graph, const hd_graph_placing &placing)
{
    wide_part p;
    p.used = *graph.wide_used;
    p.next = p.end = 0;
    if (p.used == placing.wide_done) return p;
    p.number = p.used - 1;
    wide_enter(graph, placing, &p);
    const uint64_t all = p.first + p.parts;
    p.next = all * blockIdx.x / gridDim.x;
    p.end = all * (blockIdx.x + 1) / gridDim.x;
    uint32_t low = placing.wide_done,
             high = p.used; /* the last row whose parts begin at or before `next` */
    while (high - low > 1) {
        const uint32_t middle = (low + high) / 2;
        if (front_parts(wide_row(&graph, middle)[0]) <= p.next) low = middle;
        else high = middle;
    }
    p.number = low;
    wide_enter(graph, placing, &p);
    return p;
}

/* The pairs [first, first + count) of a range. */
HD_FN pair_range range_cut(const pair_range &range, uint64_t first, uint64_t most)
{
    pair_range cut = range;
    const uint64_t from_first = first < range.first_count ? range.first_count - first : 0;
    cut.count = range.count - first < most ? range.count - first : most;
    cut.first_count = from_first < cut.count ? from_first : cut.count;
    cut.first_begin = range.first_begin + first;
    if (first > range.first_count) cut.second_begin += first - range.first_count;
    return cut;
}

/* The pairs of the next part; false when there is none. */
HD_FN bool wide_next(const hd_graph &graph, const hd_graph_placing &placing, wide_part *p,
                     pair_range *range)
{
    if (p->next >= p->end) return false;
    if (p->next >= p->first + p->parts) {
        p->number++;
        wide_enter(graph, placing, p);
    }
    *range = range_cut(p->range, (p->next - p->first) * PLACE_PAIRS, PLACE_PAIRS);
    p->next++;
    return true;
}

/* Adds the counts of all vertices to the row's: row[v + 1] counts vertex v. */
HD_FN void row_add(const hd_graph &graph, const uint32_t *own, uint64_t *row)
{
    for (uint32_t v = threadIdx.x; v < graph.region_vertices; v += VERTEX_BLOCK) {
        const uint32_t count = row_get(own, v);
        if (count != 0) atomicAdd((unsigned long long *)&row[v + 1], (unsigned long long)count);
    }
    __syncthreads();
}

/* Counts in shared memory, as many parts of a region as 16 bits can count. */
static __global__ void __launch_bounds__(VERTEX_BLOCK)
    graph_wide_count(hd_graph graph, hd_graph_placing placing)
{
    uint32_t *own = (uint32_t *)block_memory();
    uint64_t counted = 0, *row = NULL;
    wide_part p = wide_begin(graph, placing);
    pair_range range;
    while (wide_next(graph, placing, &p, &range)) {
        if (row != p.row || counted + range.count > UINT16_MAX) {
            if (row != NULL) row_add(graph, own, row);
            row_clear(own, row_words(graph.region_row));
            row = p.row;
            counted = 0;
        }
        long_walk<false>(graph, range, 0, own);
        counted += range.count;
    }
    if (row != NULL) row_add(graph, own, row);
}

/* Shared memory: as for graph_place, then a number for each vertex. */
HD_BOTH size_t wide_place_bytes(uint32_t region_row)
{
    return place_bytes(region_row) + (size_t)region_row * sizeof(uint32_t);
}

/* Puts the pairs of a part in their places one by one. */
HD_FN void part_place(const hd_graph &graph, const wide_part &p, const pair_range &range)
{
    for (uint64_t i = threadIdx.x; i < range.count; i += VERTEX_BLOCK) {
        const hd_sorted_pair pair = range_load(range, i);
        const uint32_t vertex = graph_vertex(&graph, sorted_key(pair));
        const uint64_t at = atomicAdd((unsigned long long *)&p.row[vertex + 1], 1ull);
        sorted_store((uint32_t *)graph.edges, p.begin + at, pair);
    }
}

/*
 * Sorts a part by vertex in shared memory and reserves room for each vertex's pairs at once: row[v + 1]
 * counts up from where vertex v's list begins to where it ends.
 */
static __global__ void __launch_bounds__(VERTEX_BLOCK, 2)
    graph_wide_place(hd_graph graph, hd_graph_placing placing)
{
    __shared__ typename vertex_scan::TempStorage scratch;
    const uint32_t words = row_words(graph.region_row);
    uint32_t *row = (uint32_t *)block_memory(), *sorted = row + words;
    uint32_t *ahead =
        sorted + PLACE_PAIRS * HD_PAIR_WORDS; /* place in the region, less that in the part */
    wide_part p = wide_begin(graph, placing);
    pair_range range;
    while (wide_next(graph, placing, &p, &range)) {
        if (p.range.count > UINT32_MAX) { /* `ahead` could not tell */
            part_place(graph, p, range);
            continue;
        }
        vertex_sort<PLACE_ITEMS, true>(range, graph.region_bits, graph.region_vertices, row, words,
                                       sorted, &scratch);
        for (uint32_t v = threadIdx.x; v < graph.region_vertices; v += VERTEX_BLOCK) {
            const uint32_t first = row_get(row, v), count = row_get(row, v + 1) - first;
            if (count != 0)
                ahead[v] = (uint32_t)atomicAdd((unsigned long long *)&p.row[v + 1],
                                               (unsigned long long)count) -
                           first;
        }
        __syncthreads();
        for (uint32_t i = threadIdx.x; i < (uint32_t)range.count; i += VERTEX_BLOCK) {
            const hd_sorted_pair pair = sorted_load(sorted, i);
            const uint32_t at = ahead[graph_vertex(&graph, sorted_key(pair))] + i;
            sorted_store((uint32_t *)graph.edges, p.begin + at, pair);
        }
        __syncthreads();
    }
}

/* The same where there is too little shared memory. */
static __global__ void __launch_bounds__(VERTEX_BLOCK)
    graph_wide_place_plain(hd_graph graph, hd_graph_placing placing)
{
    wide_part p = wide_begin(graph, placing);
    pair_range range;
    while (wide_next(graph, placing, &p, &range)) part_place(graph, p, range);
}

/* The counts of each wide row become where lists begin. */
static __global__ void __launch_bounds__(VERTEX_BLOCK)
    graph_wide_scan(hd_graph graph, uint32_t wide_done)
{
    typedef cub::BlockScan<uint64_t, VERTEX_BLOCK> wide_scan;
    __shared__ typename wide_scan::TempStorage scratch;
    const uint32_t used = *graph.wide_used;
    for (uint32_t number = wide_done + blockIdx.x; number < used; number += gridDim.x) {
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

/* One block: the wide rows' first numbers, which named their regions, become what they are in any row. */
static __global__ void __launch_bounds__(VERTEX_BLOCK)
    graph_wide_end(hd_graph graph, uint32_t wide_done)
{
    const uint32_t used = *graph.wide_used;
    for (uint32_t i = wide_done + threadIdx.x; i < used; i += VERTEX_BLOCK)
        wide_row(&graph, i)[0] = 0;
}

#endif
