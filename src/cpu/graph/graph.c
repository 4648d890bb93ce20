/*
 * graph.c: graphs in compressed rows on the CPU, for one kind of pair. Built once for every pair of key
 * and value widths, by a generated stub that defines HD_KEY_BITS, HD_VALUE_BITS and HD_SYMBOL. Exports
 * HD_SYMBOL alone. The files:
 *
 *     graph.c     the table of functions, and what is a loop over regions
 *     place.inl   making a graph from pairs sorted by region; row.inl makes the row of one region
 *     look.inl    finding, counting and retrieving keys
 *     erase.inl   taking edges out
 *     order.inl   lists brought into one order
 */
#include <stdlib.h>
#include <string.h>

#include "cpu/device/engine.h"
#include "scheme/graph_census.h"

/* A region's pairs and its row are to lie in the second-level cache together, and pairs should need
   one pass of the partition as long as that is so. */
#define REGION_PAIRS 16384
#define REGION_VERTICES_MAX 65536

#include "cpu/columns/columns.h"
#include "cpu/device/remembered.inl"
#include "cpu/graph/erase.inl"
#include "cpu/graph/look.inl"
#include "cpu/graph/order.inl"
#include "cpu/graph/place.inl"

/* -------------------------------------------------------------------------------- whole graphs */

static uint64_t region_live(const hd_graph *graph, uint32_t region)
{
    const hd_graph_region r = region_get(graph, region);
    uint64_t live = 0;
    if (r.lengths == NULL) return r.end - r.begin;
    for (uint32_t v = 0; v < graph->region_vertices; v++) live += list_length(graph, &r, v);
    return live;
}

static void compact_region(const hd_graph *graph, uint32_t region, char *to)
{
    const hd_graph_region r = region_get(graph, region);
    const char *edges = (const char *)graph->edges;
    for (uint32_t v = 0; v < graph->region_vertices; v++) {
        const hd_list list = list_in(graph, &r, v);
        const uint64_t bytes = (list.end - list.begin) * HD_EDGE_BYTES;
        memcpy(to, edges + list.begin * HD_EDGE_BYTES, bytes);
        to += bytes;
    }
}

static heddle_status live_starts(heddle_device *device, const hd_graph *graph, uint64_t *starts,
                                 void *stream)
{
    const uint32_t regions = (uint32_t)hd_graph_regions(graph);
    const int threads = hd_cpu_team(device, graph->starts[regions]);
    uint64_t at = 0;
    (void)stream;
#pragma omp parallel for schedule(dynamic, 16) num_threads(threads)
    for (uint32_t r = 0; r < regions; r++) starts[r] = region_live(graph, r);
    for (uint32_t r = 0; r < regions; r++) {
        const uint64_t live = starts[r];
        starts[r] = at;
        at += live;
    }
    starts[regions] = at;
    return HEDDLE_OK;
}

static heddle_status compact(heddle_device *device, const hd_graph *graph, uint32_t first,
                             uint32_t end, const uint64_t *starts, uint64_t base, void *pairs,
                             void *stream)
{
    const int threads = hd_cpu_team(device, starts[end] - starts[first]);
    (void)stream;
#pragma omp parallel for schedule(dynamic, 16) num_threads(threads)
    for (uint32_t r = first; r < end; r++)
        compact_region(graph, r, (char *)pairs + (starts[r] - base) * HD_EDGE_BYTES);
    return HEDDLE_OK;
}

static heddle_status split(heddle_device *device, const hd_mix *mix, const void *pairs, uint64_t n,
                           void *keys, void *values, void *stream)
{
    const hd_mix m = *mix;
    (void)stream, (void)values;
#pragma omp parallel for schedule(static) num_threads(hd_cpu_team(device, n))
    for (uint64_t i = 0; i < n; i++) {
        if (keys != NULL) ((hd_key *)keys)[i] = unmix_key(&m, edge_key(pairs, i));
#if HD_VALUE_BITS != 0
        if (values != NULL) ((hd_value *)values)[i] = edge_value(pairs, i);
#endif
    }
    return HEDDLE_OK;
}

/* The longest list is the longest of both; all else is summed. */
static void census_add(hd_graph_census *to, const hd_graph_census *from)
{
    const uint64_t longest = to->longest > from->longest ? to->longest : from->longest;
    for (size_t i = 0; i < sizeof *to / sizeof(uint64_t); i++)
        ((uint64_t *)to)[i] += ((const uint64_t *)from)[i];
    to->longest = longest;
}

static heddle_status inspect(heddle_device *device, const hd_graph *graph, bool unique,
                             hd_graph_census *census, void *stream)
{
    const uint32_t regions = (uint32_t)hd_graph_regions(graph);
    (void)stream;
#pragma omp parallel num_threads(hd_cpu_team(device, graph->starts[regions]))
    {
        hd_graph_census own;
        memset(&own, 0, sizeof own);
#pragma omp for schedule(dynamic, 16) nowait
        for (uint32_t r = 0; r < regions; r++) {
            if (!census_region(graph, r, &own)) continue;
            for (uint32_t v = 0; v < graph->region_vertices; v++)
                census_list(graph, r, v, unique, &own);
        }
#pragma omp critical(hd_graph_census)
        census_add(census, &own);
    }
    return HEDDLE_OK;
}

extern const hd_graph_ops HD_SYMBOL;
const hd_graph_ops HD_SYMBOL = {
    HD_KEY_BITS, HD_VALUE_BITS, REGION_PAIRS, REGION_VERTICES_MAX, place,   order_work,
    order,       look,          erase,        live_starts,         compact, split,
    inspect,
};
