/*
 * erase.inl: taking edges out of their lists. All threads mark the edges of the batch's keys in a
 * bit field; whoever marks the first edge of a key has erased it. Then a core takes a region and moves
 * the edges that are left to the front of their lists, in order.
 */
#ifndef HD_SYMBOL
#error "included by graph.c alone"
#endif
#ifndef HD_CPU_GRAPH_ERASE_H
#define HD_CPU_GRAPH_ERASE_H

#include "cpu/graph/look.inl"

static void lengths_init(const hd_graph *graph, uint32_t region)
{
    const hd_graph_region r = region_get(graph, region);
    for (uint32_t v = 0; v < graph->region_vertices; v++) {
        const hd_list room = list_room(graph, &r, v);
        list_length_set(graph, &r, v, room.end - room.begin);
    }
}

static inline bool is_dead(const uint32_t *dead, uint64_t edge)
{
    return (dead[edge / 32] >> edge % 32 & 1) != 0;
}

/* Whether this call was the one to mark the edge. */
static inline bool mark_dead(uint32_t *dead, uint64_t edge)
{
    const uint32_t bit = UINT32_C(1) << edge % 32;
    return (__atomic_fetch_or(&dead[edge / 32], bit, __ATOMIC_RELAXED) & bit) == 0;
}

/* Marks all edges of a key; whether it was there and no other element of the batch had it first. */
static inline bool mark_key(const hd_graph *graph, const question *q, uint32_t *dead, sums *s)
{
    uint64_t at = list_next(graph, &q->list, q->list.begin, q->mixed);
    s->looks += at - q->list.begin;
    if (at == q->list.end || !mark_dead(dead, at)) return false;
    s->looks += q->list.end - at;
    while (++at < q->list.end)
        if (edge_key(graph->edges, at) == q->mixed) mark_dead(dead, at);
    return true;
}

static void mark_chunk(const hd_graph *graph, const hd_graph_batch *batch, uint32_t *dead,
                       uint64_t begin, uint64_t end, sums *s)
{
    wave w;
    for (uint64_t first = begin; first < end; first += WAVE) {
        wave_start(&w, graph, (const hd_key *)batch->keys, first, end);
        wave_open(&w, graph);
        for (uint32_t i = 0; i < w.count; i++) {
            const bool found = mark_key(graph, &w.at[i], dead, s);
            s->found += found;
            if (batch->found != NULL) batch->found[first + i] = found;
        }
    }
}

/* Whether any of the edges [begin, end) is marked. */
static bool any_dead(const uint32_t *dead, uint64_t begin, uint64_t end)
{
    for (; begin < end && begin % 32 != 0; begin++)
        if (is_dead(dead, begin)) return true;
    for (; begin + 32 <= end; begin += 32)
        if (dead[begin / 32] != 0) return true;
    for (; begin < end; begin++)
        if (is_dead(dead, begin)) return true;
    return false;
}

/* Closes the gaps in the lists of a region; how many edges were taken out. */
static uint64_t sweep_region(const hd_graph *graph, uint32_t region, const uint32_t *dead)
{
    const hd_graph_region r = region_get(graph, region);
    char *edges = (char *)graph->edges;
    uint64_t erased = 0;
    if (!any_dead(dead, r.begin, r.end)) return 0;
    for (uint32_t v = 0; v < graph->region_vertices; v++) {
        const hd_list list = list_in(graph, &r, v);
        uint64_t to = list.begin;
        for (uint64_t at = list.begin; at < list.end; at++) {
            if (is_dead(dead, at)) continue;
            if (to != at)
                memcpy(edges + to * HD_EDGE_BYTES, edges + at * HD_EDGE_BYTES, HD_EDGE_BYTES);
            to++;
        }
        if (to != list.end) list_length_set(graph, &r, v, to - list.begin);
        erased += list.end - to;
    }
    return erased;
}

static heddle_status erase(heddle_device *device, const hd_graph *graph,
                           const hd_graph_batch *batch, uint32_t *dead, bool fresh,
                           uint64_t *erased, void *stream)
{
    const uint32_t regions = (uint32_t)hd_graph_regions(graph);
    const uint64_t n = batch->n, edges = graph->starts[regions];
    (void)stream;
    if (fresh) {
#pragma omp parallel for schedule(dynamic, 16) num_threads(hd_cpu_team(device, edges))
        for (uint32_t r = 0; r < regions; r++) lengths_init(graph, r);
    }
    __atomic_fetch_add(&batch->counts->at[HD_ASKED], n, __ATOMIC_RELAXED);
#pragma omp parallel num_threads(hd_cpu_team(device, n))
    {
        sums s = {0, 0};
#pragma omp for schedule(dynamic) nowait
        for (uint64_t c = 0; c < n; c += CHUNK)
            mark_chunk(graph, batch, dead, c, chunk_end(c, n), &s);
        __atomic_fetch_add(&batch->counts->at[HD_FOUND], s.found, __ATOMIC_RELAXED);
        __atomic_fetch_add(&batch->counts->at[HD_PROBES], s.looks, __ATOMIC_RELAXED);
    }
#pragma omp parallel for schedule(dynamic, 16) num_threads(hd_cpu_team(device, edges / 32))
    for (uint32_t r = 0; r < regions; r++)
        __atomic_fetch_add(erased, sweep_region(graph, r, dead), __ATOMIC_RELAXED);
    return HEDDLE_OK;
}

#endif
