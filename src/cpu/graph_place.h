/*
 * graph_place.h: making a graph from pairs that are sorted by region, a core a region, which stays in
 * the core's second-level cache. Pairs of a vertex stay in the order of the sources, and the partition
 * before keeps the caller's order: the same pairs and seed give the same bytes, with any number of
 * threads. (Wide rows are the exception: which region gets which is a matter of time.)
 */
#ifndef HD_CPU_GRAPH_PLACE_H
#define HD_CPU_GRAPH_PLACE_H

/* The pairs of one region in one source. */
typedef struct run {
    const char *pairs, *end;
} run;

static inline run run_of(const hd_graph_source *source, uint64_t region)
{
    const char *pairs = (const char *)source->pairs;
    const run r = {pairs + source->starts[region] * HD_EDGE_BYTES,
                   pairs + source->starts[region + 1] * HD_EDGE_BYTES};
    return r;
}

static inline uint32_t pair_vertex(const hd_graph *graph, const char *pair)
{
    return graph_vertex(graph, edge_key(pair, 0));
}

#define ROW(name) narrow_##name
#define ROW_NUMBER uint16_t
#include "cpu/graph_row.h"
#define ROW(name) wide_##name
#define ROW_NUMBER uint64_t
#include "cpu/graph_row.h"

static void place_region(const hd_graph *graph, uint32_t region, const hd_graph_source *sources,
                         uint32_t count)
{
    const hd_graph_region r = region_get(graph, region);
    char *edges = (char *)graph->edges + r.begin * HD_EDGE_BYTES;
    run runs[2];
    for (uint32_t i = 0; i < count; i++) runs[i] = run_of(&sources[i], region);
    if (region_is_wide(&r)) {
        const uint32_t number = __atomic_fetch_add(graph->wide_used, 1, __ATOMIC_RELAXED);
        wide_number_set(&r, number);
        wide_make(graph, wide_row(graph, number), runs, count, edges);
    } else {
        narrow_make(graph, r.row, runs, count, edges);
    }
}

static heddle_status place(heddle_device *device, const hd_graph *graph,
                           const hd_graph_source *sources, uint32_t count, void *stream)
{
    const uint32_t regions = (uint32_t)hd_graph_regions(graph);
    (void)stream;
    for (uint32_t r = 0; r <= regions; r++) {
        uint64_t start = 0;
        for (uint32_t i = 0; i < count; i++) start += sources[i].starts[r];
        graph->starts[r] = start;
    }
    *graph->wide_used = 0;
#pragma omp parallel for schedule(dynamic)                                                         \
    num_threads(hd_cpu_threads(device, graph->starts[regions]))
    for (uint32_t r = 0; r < regions; r++) place_region(graph, r, sources, count);
    return HEDDLE_OK;
}

#endif
