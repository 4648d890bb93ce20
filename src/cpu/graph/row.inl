/*
 * row.inl: making one region's row and edges, for rows of one kind of number. Included by
 * place.inl once for each kind, with ROW_NUMBER, the type, and ROW(name), the names of that kind.
 *
 * Vertices are counted in the row, the counts become places, and pairs go there. While pairs are placed
 * a number moves from where its list begins to where it ends, which is where the next list begins: so
 * the row is right again when every number has moved up by one. That takes no memory but the row.
 */
#ifndef ROW
#error "included by place.inl alone"
#endif
static void ROW(count)(const hd_graph *graph, ROW_NUMBER *row, run r)
{
    const hd_graph g = *graph;
    for (; r.pairs < r.end; r.pairs += HD_EDGE_BYTES) row[pair_vertex(&g, r.pairs)]++;
}

static void ROW(scan)(ROW_NUMBER *row, uint32_t vertices)
{
    uint64_t at = 0;
    for (uint32_t v = 0; v < vertices; v++) {
        const ROW_NUMBER count = row[v];
        row[v] = (ROW_NUMBER)at;
        at += count;
    }
}

static void ROW(place)(const hd_graph *graph, ROW_NUMBER *row, run r, char *edges)
{
    const hd_graph g = *graph;
    for (; r.pairs < r.end; r.pairs += HD_EDGE_BYTES) {
        const uint64_t to = row[pair_vertex(&g, r.pairs)]++;
        memcpy(edges + to * HD_EDGE_BYTES, r.pairs, HD_EDGE_BYTES);
    }
}

static void ROW(make)(const hd_graph *graph, ROW_NUMBER *row, const run *runs, uint32_t count,
                      char *edges)
{
    const uint32_t vertices = graph->region_vertices;
    memset(row, 0, vertices * sizeof *row);
    for (uint32_t i = 0; i < count; i++) ROW(count)(graph, row, runs[i]);
    ROW(scan)(row, vertices);
    for (uint32_t i = 0; i < count; i++) ROW(place)(graph, row, runs[i], edges);
    memmove(row + 1, row, vertices * sizeof *row);
    row[0] = 0;
}

#undef ROW
#undef ROW_NUMBER
