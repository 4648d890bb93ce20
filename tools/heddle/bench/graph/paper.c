/* paper.c: the builds of the HashGraph paper beside the library's own. */
#include <stdlib.h>
#include <string.h>

#include "bench/graph/graph.h"
#include "papers/graph_paper.h"
#include "progress.h"
#include "table/slots/geometry.h"
#include "tool.h"

typedef struct paper_build {
    bench_graph *g;
    hd_paper_graph graph;
    hd_paper_work work;
    void *memory[4]; /* offsets, edges, counters, bins */
    uint32_t bins;   /* 0: V1 */
} paper_build;

static heddle_status call_build(void *context)
{
    const paper_build *p = (const paper_build *)context;
    return hd_paper_build(p->g->b->device, (const uint32_t *)p->g->keys, p->g->rows.keys.n, p->bins,
                          &p->graph, &p->work);
}

static int poison(void *context, bool last)
{
    const paper_build *p = (const paper_build *)context;
    const uint64_t bytes = p->g->rows.keys.n * sizeof *p->graph.edges;
    if (last && heddle_memory_fill(p->g->b->device, p->graph.edges, BENCH_POISON, bytes, NULL) != 0)
        return TOOL_FAILED;
    return TOOL_OK;
}

/* Edges that are not where they belong, or there twice, or not what the row has. */
static uint64_t count_wrong(const paper_build *p, const hd_paper_graph *graph, uint8_t *seen)
{
    const bench_rows *rows = &p->g->rows;
    const uint64_t n = rows->keys.n;
    uint64_t wrong = graph->offsets[0] != 0 || graph->offsets[graph->vertices] != n;
#pragma omp parallel for schedule(static) reduction(+ : wrong)
    for (uint32_t v = 0; v < graph->vertices; v++) {
        const uint64_t end = graph->offsets[v + 1];
        if (end > n || end < graph->offsets[v]) {
            wrong++;
            continue;
        }
        for (uint64_t i = graph->offsets[v]; i < end; i++) {
            const hd_paper_edge edge = graph->edges[i];
            wrong += edge.index >= n || bench_row_key(rows, edge.index) != edge.key ||
                     hd_paper_vertex(graph, edge.key) != v ||
                     __atomic_exchange_n(&seen[edge.index], 1, __ATOMIC_RELAXED) != 0;
        }
    }
    return wrong;
}

/* A copy of device memory, or NULL. */
static void *host_copy(const paper_build *p, const void *from, uint64_t bytes)
{
    void *to = malloc(bytes);
    if (to == NULL) return NULL;
    if (heddle_memory_copy(p->g->b->device, to, from, bytes, NULL) == HEDDLE_OK &&
        heddle_device_synchronize(p->g->b->device, NULL) == HEDDLE_OK)
        return to;
    free(to);
    return NULL;
}

static int verify(const paper_build *p, bool *right)
{
    const uint64_t n = p->g->rows.keys.n;
    hd_paper_graph host = p->graph;
    uint8_t *seen = (uint8_t *)calloc(n, 1);
    int status = TOOL_FAILED;
    host.offsets =
        (uint32_t *)host_copy(p, p->graph.offsets, (p->graph.vertices + UINT64_C(1)) * 4);
    host.edges = (hd_paper_edge *)host_copy(p, p->graph.edges, n * sizeof *host.edges);
    if (seen == NULL || host.offsets == NULL || host.edges == NULL) {
        tool_say("no host memory to verify a graph");
    } else {
        const uint64_t wrong = count_wrong(p, &host, seen);
        if (wrong != 0)
            tool_say("%s: %llu edges are wrong", p->g->b->op, (unsigned long long)wrong);
        *right &= wrong == 0;
        status = TOOL_OK;
    }
    free(seen);
    free(host.offsets);
    free(host.edges);
    return status;
}

static int take_memory(paper_build *p)
{
    const uint64_t n = p->g->rows.keys.n, vertices = p->graph.vertices;
    const uint64_t words[4] = {vertices + 1, 2 * n, vertices + 1, 2 * n};
    int status = TOOL_OK;
    for (int i = 0; i < 4 && status == TOOL_OK; i++)
        status = bench_array_take(p->g->b, 32, words[i], &p->memory[i]);
    p->graph.offsets = (uint32_t *)p->memory[0];
    p->graph.edges = (hd_paper_edge *)p->memory[1];
    p->work.counters = (uint32_t *)p->memory[2];
    p->work.hashes = (uint32_t *)p->memory[3];
    p->work.bins = (hd_paper_edge *)p->memory[3];
    return status;
}

int bench_graph_paper(bench_graph *g, const double *at)
{
    const double n = (double)g->rows.keys.n, vertices = n * at[BENCH_AXIS_VERTICES];
    bench_result result = {0, n, 0, true};
    paper_build p;
    const bench_timed timed = {poison, call_build, &p};
    memset(&p, 0, sizeof p);
    p.g = g;
    p.graph.vertices = vertices < 1 ? 1 : vertices > 4294967295.0 ? UINT32_MAX : (uint32_t)vertices;
    p.bins = (uint32_t)at[BENCH_AXIS_VARIANT] == BENCH_V2 ? (uint32_t)at[BENCH_AXIS_BINS] : 0;
    hd_mix_init(&p.graph.mix, g->b->options.seed);
    const uint64_t bytes = (p.graph.vertices + UINT64_C(1)) * 4 + g->rows.keys.n * 8;
    int status = take_memory(&p);
    if (status == TOOL_OK) status = bench_time(g->b, &timed, &result.seconds);
    progress_label("verifying %s", g->b->op);
    if (status == TOOL_OK && g->b->options.verify) status = verify(&p, &result.right);
    for (int i = 0; i < 4; i++) (void)heddle_memory_free(g->b->device, p.memory[i]);
    if (status == TOOL_OK) status = bench_graph_roof(g, HD_ROOF_PARTITION, bytes, &result.roof);
    if (status == TOOL_OK) bench_graph_report(g, at, 0, bytes, &result);
    return status;
}
