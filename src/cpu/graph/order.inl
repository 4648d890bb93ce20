/*
 * order.inl: brings the lists of a graph into the order of mixed keys and, where these are equal, of
 * values, for one kind of pair. Included by graph.c.
 */
#ifndef HD_SYMBOL
#error "included by graph.c alone"
#endif
#define ORDER_SHORT 32 /* lists up to this length are sorted by insertion */

typedef struct edge_bytes {
    char at[HD_EDGE_BYTES];
} edge_bytes;

static int edge_compare(const void *a, const void *b)
{
    const hd_key x = edge_key(a, 0), y = edge_key(b, 0);
    const hd_value v = edge_value(a, 0), w = edge_value(b, 0);
    if (x != y) return x < y ? -1 : 1;
    return v < w ? -1 : v > w;
}

static void order_short(edge_bytes *list, uint64_t n)
{
    for (uint64_t i = 1; i < n; i++) {
        const edge_bytes edge = list[i];
        uint64_t at = i;
        for (; at > 0 && edge_compare(&edge, &list[at - 1]) < 0; at--) list[at] = list[at - 1];
        list[at] = edge;
    }
}

static void order_region(const hd_graph *graph, uint32_t region)
{
    const hd_graph_region r = region_get(graph, region);
    edge_bytes *edges = (edge_bytes *)graph->edges;
    for (uint32_t v = 0; v < graph->region_vertices; v++) {
        const hd_list list = list_room(graph, &r, v);
        const uint64_t length = list.end - list.begin;
        if (length <= ORDER_SHORT) order_short(edges + list.begin, length);
        else qsort(edges + list.begin, length, sizeof *edges, edge_compare);
    }
}

static uint64_t order_work(heddle_device *device, uint64_t edges)
{
    (void)device, (void)edges;
    return 0;
}

static heddle_status order(heddle_device *device, const hd_graph *graph,
                           const hd_graph_stretch *stretch, void *work, void *stream)
{
    (void)work, (void)stream;
#pragma omp parallel for schedule(dynamic, 16) num_threads(hd_cpu_team(device, stretch->edges))
    for (uint32_t r = stretch->first_region; r < stretch->end_region; r++) order_region(graph, r);
    return HEDDLE_OK;
}
