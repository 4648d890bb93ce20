/*
 * graph_census.h: counts and checks the regions and lists of a graph. For one thread at a time with
 * plain loads, since it runs while nobody writes. A damaged graph is never followed out of its bounds:
 * lists are looked at only where the region's rows are sound.
 */
#ifndef HD_GRAPH_CENSUS_H
#define HD_GRAPH_CENSUS_H

#include "scheme/hashgraph.h"

/* Whether the row of a narrow or wide region ascends from 0 to its number of edges, and lengths fit in. */
HD_FN bool census_row_is_sound(const hd_graph *graph, const hd_graph_region *r)
{
    const uint64_t edges = r->end - r->begin;
    hd_list list;
    uint64_t at = r->begin;
    for (uint32_t v = 0; v < graph->region_vertices; v++) {
        list = list_room(graph, r, v);
        if (list.begin != at || list.end < at || list.end > r->end) return false;
        if (r->lengths != NULL && list_length(graph, r, v) > list.end - list.begin) return false;
        at = list.end;
    }
    return at == r->begin + edges;
}

/* Whether the lists of a region can be looked at; else it is counted as disordered. */
HD_FN bool census_region(const hd_graph *graph, uint32_t region, hd_graph_census *census)
{
    const hd_graph_region r = region_get(graph, region);
    bool sound = r.begin <= r.end && r.end <= graph->starts[hd_graph_regions(graph)];
    if (sound && region_is_wide(&r))
        sound = wide_number(&r) < *graph->wide_used && *graph->wide_used <= graph->wide_rows;
    sound = sound && census_row_is_sound(graph, &r);
    census->disordered += !sound;
    return sound;
}

/* How many of a list's edges before `at` have this key, counted no further than the first. */
HD_FN bool census_is_repeated(const hd_graph *graph, const hd_list *list, uint64_t at, hd_key mixed)
{
    return list_next(graph, list, list->begin, mixed) < at;
}

HD_FN void census_list(const hd_graph *graph, uint32_t region, uint32_t vertex, bool unique,
                       hd_graph_census *census)
{
    const hd_graph_region r = region_get(graph, region);
    const hd_list list = list_in(graph, &r, vertex);
    const uint64_t length = list.end - list.begin;
    census->edges += length;
    census->used += length != 0;
    if (length > census->longest) census->longest = length;
    census->lists[list_kind(length)]++;
    for (uint64_t at = list.begin; at < list.end; at++) {
        const hd_key mixed = edge_key(graph->edges, at);
        census->misplaced +=
            graph_region(graph, mixed) != region || graph_vertex(graph, mixed) != vertex;
        if (unique) census->twice += census_is_repeated(graph, &list, at, mixed);
    }
}

#endif
