/*
 * hashgraph.h: finding the list of a key in a graph in compressed rows (model/graph.h). After
 * HashGraph (Green, 2021): nothing is probed; a key's vertex names its list, and the list is walked.
 *
 *     mixed:  | region (region_bits, at least 1) | 32 bits, scaled to the region's vertices | ... |
 *
 * Because the scaling keeps order, the vertices of a graph are in the order of mixed keys, and graphs
 * of one mix with equally many regions can be merged region by region, whatever their vertices.
 *
 * A list that something was erased from is shorter than the room it has: its length says how much of
 * it counts. The edges behind that are dead and stay until the graph is made anew.
 */
#ifndef HD_HASHGRAPH_H
#define HD_HASHGRAPH_H

#include <heddle/heddle.h>

#include "model/graph.h"
#include "model/hash.h"

#define HD_EDGE_BYTES ((HD_KEY_BITS + HD_VALUE_BITS) / 8)
#define HD_EDGE_WORDS ((HD_KEY_BITS + HD_VALUE_BITS) / 32)

/* --------------------------------------------------------------------------------------- edges */

/* Edges of 12 bytes are aligned to 4 only, so their 64-bit halves are read as two words. */
#define HD_EDGE_IS_UNEVEN (HD_EDGE_BYTES == 12)

HD_FN hd_key edge_key(const void *edges, uint64_t i)
{
#if HD_KEY_BITS == 64 && HD_EDGE_IS_UNEVEN
    const uint32_t *words = (const uint32_t *)edges + i * HD_EDGE_WORDS;
    return (hd_key)words[1] << 32 | words[0];
#else
    return ((const hd_key *)edges)[i * (HD_EDGE_BYTES / sizeof(hd_key))];
#endif
}

/* 0 without values. */
HD_FN hd_value edge_value(const void *edges, uint64_t i)
{
#if HD_VALUE_BITS == 0
    (void)edges, (void)i;
    return 0;
#elif HD_VALUE_BITS == 64 && HD_EDGE_IS_UNEVEN
    const uint32_t *words = (const uint32_t *)edges + i * HD_EDGE_WORDS;
    return (hd_value)words[2] << 32 | words[1];
#else
    return ((const hd_value *)
                edges)[i * (HD_EDGE_BYTES / sizeof(hd_value)) + sizeof(hd_key) / sizeof(hd_value)];
#endif
}

/* -------------------------------------------------------------------------- regions and vertices */

HD_FN uint32_t graph_region(const hd_graph *graph, hd_key mixed)
{
    return (uint32_t)(mixed >> (HD_KEY_BITS - graph->region_bits));
}

/* The vertex of a mixed key among those of its region. */
HD_FN uint32_t vertex_of(hd_key mixed, uint32_t region_bits, uint32_t vertices)
{
    const hd_key rest = (hd_key)(mixed << region_bits);
    return hd_mulhi32((uint32_t)(rest >> (HD_KEY_BITS - 32)), vertices);
}

HD_FN uint32_t graph_vertex(const hd_graph *graph, hd_key mixed)
{
    return vertex_of(mixed, graph->region_bits, graph->region_vertices);
}

/* A region: where its edges lie, and where its rows are. */
typedef struct hd_graph_region {
    uint64_t begin, end;
    uint16_t *row;
    uint16_t *lengths; /* NULL where nothing was erased; also in a wide region's place */
} hd_graph_region;

HD_FN hd_graph_region region_get(const hd_graph *graph, uint32_t region)
{
    const uint64_t row = (uint64_t)region * graph->region_row;
    hd_graph_region r;
    r.begin = graph->starts[region];
    r.end = graph->starts[region + 1];
    r.row = graph->offsets + row;
    r.lengths = graph->lengths != NULL ? graph->lengths + row : NULL;
    return r;
}

HD_FN bool region_is_wide(const hd_graph_region *r) { return r->end - r->begin > HD_NARROW_MAX; }

/* The number of a wide region's wide row stands at the beginning of its narrow row. */
HD_FN uint32_t wide_number(const hd_graph_region *r) { return *(const uint32_t *)(void *)r->row; }
HD_FN void wide_number_set(const hd_graph_region *r, uint32_t number)
{
    *(uint32_t *)(void *)r->row = number;
}
HD_FN uint64_t *wide_row(const hd_graph *graph, uint32_t number)
{
    return graph->wide + (uint64_t)number * (graph->region_vertices + 1);
}
HD_FN uint64_t *wide_length_row(const hd_graph *graph, uint32_t number)
{
    return graph->wide_lengths + (uint64_t)number * graph->region_vertices;
}

/* --------------------------------------------------------------------------------------- lists */

/* Edges [begin, end). */
typedef struct hd_list {
    uint64_t begin, end;
} hd_list;

/* The room that a vertex has: its list, and what was erased from it. */
HD_FN hd_list list_room(const hd_graph *graph, const hd_graph_region *r, uint32_t vertex)
{
    hd_list list;
    if (region_is_wide(r)) {
        const uint64_t *row = wide_row(graph, wide_number(r));
        list.begin = r->begin + row[vertex];
        list.end = r->begin + row[vertex + 1];
    } else {
        list.begin = r->begin + r->row[vertex];
        list.end = r->begin + r->row[vertex + 1];
    }
    return list;
}

/* How many edges of its room a vertex still has; lengths are there. */
HD_FN uint64_t list_length(const hd_graph *graph, const hd_graph_region *r, uint32_t vertex)
{
    return region_is_wide(r) ? wide_length_row(graph, wide_number(r))[vertex] : r->lengths[vertex];
}

HD_FN void list_length_set(const hd_graph *graph, const hd_graph_region *r, uint32_t vertex,
                           uint64_t length)
{
    if (region_is_wide(r)) wide_length_row(graph, wide_number(r))[vertex] = length;
    else r->lengths[vertex] = (uint16_t)length;
}

HD_FN hd_list list_in(const hd_graph *graph, const hd_graph_region *r, uint32_t vertex)
{
    hd_list list = list_room(graph, r, vertex);
    if (r->lengths != NULL) list.end = list.begin + list_length(graph, r, vertex);
    return list;
}

/* The list that all edges of a mixed key are in. */
HD_FN hd_list list_of(const hd_graph *graph, hd_key mixed)
{
    const hd_graph_region r = region_get(graph, graph_region(graph, mixed));
    return list_in(graph, &r, graph_vertex(graph, mixed));
}

/* The first edge of a list from `at` on that has this key, or the list's end. */
HD_FN uint64_t list_next(const hd_graph *graph, const hd_list *list, uint64_t at, hd_key mixed)
{
    while (at < list->end && edge_key(graph->edges, at) != mixed) at++;
    return at;
}

/* Which of the kinds of hd_graph_census.lists a list is. */
HD_FN uint32_t list_kind(uint64_t length)
{
    if (length < 4) return (uint32_t)length;
    if (length < 8) return 4;
    if (length < 16) return 5;
    return length < 256 ? 6 : 7;
}

#endif
