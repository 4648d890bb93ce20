/*
 * place.inl: making a graph from pairs that are sorted by region, a core a region, which stays in
 * the core's second-level cache. Pairs of a vertex stay in the order of the sources, and the partition
 * before keeps the caller's order: the same pairs and seed give the same bytes, with any number of
 * threads. (Wide rows are the exception: which region gets which is a matter of time.)
 */
#ifndef HD_SYMBOL
#error "included by graph.c alone"
#endif
#ifndef HD_CPU_GRAPH_PLACE_H
#define HD_CPU_GRAPH_PLACE_H

#include <omp.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/error.h"
#include "cpu/write_in_order.h"

/* The pairs of one region in one source. */
typedef struct run {
    const char *pairs, *end;
} run;

static inline run run_of(const hd_graph_source *source, uint64_t region)
{
    const char *pairs = (const char *)source->pairs;
    const run r = {pairs + (source->starts[region] - source->base) * HD_EDGE_BYTES,
                   pairs + (source->starts[region + 1] - source->base) * HD_EDGE_BYTES};
    return r;
}

static inline uint32_t pair_vertex(const hd_graph *graph, const char *pair)
{
    return graph_vertex(graph, edge_key(pair, 0));
}

#define ROW(name) narrow_##name
#define ROW_NUMBER uint16_t
#include "cpu/graph/row.inl"
#define ROW(name) wide_##name
#define ROW_NUMBER uint64_t
#include "cpu/graph/row.inl"

/*
 * A region's edges are placed in scratch memory of the core's own, which stays in its cache, and then
 * written in order, past the caches: lines are not read first, and what is in the caches stays there.
 * Larger regions, and all of them where there is no scratch memory, are placed where they belong.
 */
#define SCRATCH_BYTES (2 * REGION_PAIRS * HD_EDGE_BYTES)

static void place_region(const hd_graph *graph, uint32_t region, const hd_graph_source *sources,
                         uint32_t count, char *scratch)
{
    const hd_graph_region r = region_get(graph, region);
    const uint64_t bytes = (r.end - r.begin) * HD_EDGE_BYTES;
    char *edges = (char *)graph->edges + r.begin * HD_EDGE_BYTES;
    run runs[2];
    for (uint32_t i = 0; i < count; i++) runs[i] = run_of(&sources[i], region);
    if (region_is_wide(&r)) {
        const uint32_t number = __atomic_fetch_add(graph->wide_used, 1, __ATOMIC_RELAXED);
        wide_number_set(&r, number);
        wide_make(graph, wide_row(graph, number), runs, count, edges);
    } else if (scratch == NULL || bytes > SCRATCH_BYTES) {
        narrow_make(graph, r.row, runs, count, edges);
    } else {
        narrow_make(graph, r.row, runs, count, scratch);
        write_in_order(edges, scratch, bytes);
    }
}

static heddle_status place(heddle_device *device, const hd_graph *graph,
                           const hd_graph_placing *placing, void *stream)
{
    const hd_graph_source *sources = placing->sources;
    const uint32_t count = placing->count;
    const uint32_t first = placing->stretch.first_region, end = placing->stretch.end_region;
    const int threads = hd_cpu_team(device, placing->stretch.edges);
    char *memory;
    (void)stream;
    for (uint32_t r = first; r <= end; r++) {
        uint64_t start = 0;
        for (uint32_t i = 0; i < count; i++) start += sources[i].starts[r];
        graph->starts[r] = start;
    }
    if (placing->wide_done == 0) *graph->wide_used = 0;
    memory = (char *)hd_allocate((size_t)threads * SCRATCH_BYTES);
#pragma omp parallel num_threads(threads)
    {
        char *scratch =
            memory != NULL ? memory + (size_t)omp_get_thread_num() * SCRATCH_BYTES : NULL;
#pragma omp for schedule(dynamic)
        for (uint32_t r = first; r < end; r++) place_region(graph, r, sources, count, scratch);
    }
    free(memory);
    return HEDDLE_OK;
}

#endif
