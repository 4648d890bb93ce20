/* ops.c: the operations of a graph, each as one call. */
#include "bench/graph/graph.h"
#include "tool.h"

static int clear(bench_graph *g)
{
    g->full = false;
    return tool_try(heddle_table_clear(g->table, NULL), "clear");
}

/* The share of the workspace that was asked for, for n rows. */
static heddle_insert_options with_workspace(const bench_graph *g, uint64_t n)
{
    heddle_insert_options options = HEDDLE_INSERT_OPTIONS_INIT;
    uint64_t bytes = 0;
    if (g->workspace == NULL || heddle_table_build_workspace(g->table, n, &bytes) != HEDDLE_OK)
        return options;
    bytes = (uint64_t)((double)bytes * g->share);
    options.workspace = g->workspace;
    options.workspace_bytes = bytes < g->workspace_bytes ? bytes : g->workspace_bytes;
    return options;
}

/* A build into the memory that the table was made with. */
static heddle_status call_build(bench_graph *g)
{
    const heddle_insert_options options = with_workspace(g, g->rows.keys.n);
    const heddle_status status =
        heddle_table_build(g->table, g->keys, g->values, g->rows.keys.n, &options, NULL, NULL);
    g->full = status == HEDDLE_OK;
    return status;
}

int bench_graph_fill(bench_graph *g)
{
    if (g->full) return TOOL_OK;
    const int status = clear(g);
    return status == TOOL_OK ? tool_try(call_build(g), "build") : status;
}

/* ------------------------------------------------------------------------------------ insertion */

static uint64_t first_half(const bench_graph *g) { return g->rows.keys.n / 2; }

static int fill_half(bench_graph *g)
{
    const int status = clear(g);
    if (status != TOOL_OK) return status;
    return tool_try(
        heddle_table_build(g->table, g->keys, g->values, first_half(g), NULL, NULL, NULL), "build");
}

/* The second half of the rows is merged into a graph of the first. */
static heddle_status call_insert(bench_graph *g)
{
    const bench_options *o = &g->b->options;
    const uint64_t first = first_half(g), n = g->rows.keys.n - first;
    const heddle_insert_options options = with_workspace(g, n);
    const heddle_status status = heddle_table_insert(
        g->table, (uint8_t *)g->keys + first * o->key_bits / 8,
        (uint8_t *)g->values + first * o->value_bits / 8, n, &options, NULL, NULL);
    g->full = status == HEDDLE_OK;
    return status;
}

/* All rows into the empty table. */
static heddle_status call_insert_all(bench_graph *g)
{
    const heddle_status status =
        heddle_table_insert(g->table, g->keys, g->values, g->rows.keys.n, NULL, NULL, NULL);
    g->full = status == HEDDLE_OK;
    return status;
}

/* --------------------------------------------------------------------------------------- probes */

static heddle_status call_find(bench_graph *g)
{
    return heddle_table_find(g->table, g->queries, g->asked.keys.n, g->answers, NULL, NULL, NULL);
}

static heddle_status call_contains(bench_graph *g)
{
    return heddle_table_contains(g->table, g->queries, g->asked.keys.n, g->found, NULL, NULL);
}

static heddle_status call_count(bench_graph *g)
{
    return heddle_table_count(g->table, g->queries, g->asked.keys.n, g->matches, NULL, NULL);
}

heddle_status bench_graph_retrieve(bench_graph *g)
{
    uint64_t count = 0;
    return heddle_table_retrieve(g->table, g->queries, g->asked.keys.n, g->matches, g->answers,
                                 g->rows.keys.n, &count, NULL);
}

static heddle_status call_erase(bench_graph *g)
{
    g->full = false;
    return heddle_table_erase(g->table, g->queries, g->asked.keys.n, g->found, NULL, NULL);
}

/* ----------------------------------------------------------------------------------- two graphs */

static int clear_other(bench_graph *g)
{
    const int status = bench_graph_other(g);
    return status == TOOL_OK ? tool_try(heddle_table_clear(g->other, NULL), "clear") : status;
}

static int clear_both(bench_graph *g)
{
    const int status = clear_other(g);
    return status == TOOL_OK ? clear(g) : status;
}

/* The queries become a graph, whose lists are intersected with those of the rows. */
static heddle_status call_query(bench_graph *g)
{
    heddle_join *join = NULL;
    heddle_status status =
        heddle_table_build(g->other, g->queries, g->values, g->asked.keys.n, NULL, NULL, NULL);
    if (status == HEDDLE_OK) status = heddle_join_tables(g->other, g->table, NULL, &join, NULL);
    if (status == HEDDLE_OK) status = heddle_join_count(join, &g->common, NULL);
    heddle_join_destroy(join);
    return status;
}

static heddle_status call_intersect(bench_graph *g)
{
    const heddle_status status = call_build(g);
    return status == HEDDLE_OK ? call_query(g) : status;
}

const bench_graph_op bench_graph_ops[BENCH_OPS] = {
    [BENCH_BUILD] = {BENCH_ASK_NOTHING, true, HD_ROOF_PARTITION, clear, call_build,
                     bench_graph_check_built},
    [BENCH_INSERT] = {BENCH_ASK_NOTHING, true, HD_ROOF_PARTITION, fill_half, call_insert,
                      bench_graph_check_built},
    [BENCH_FIND] = {BENCH_ASK_ROWS, false, HD_ROOF_GATHER, NULL, call_find,
                    bench_graph_check_found},
    [BENCH_CONTAINS] = {BENCH_ASK_ROWS, false, HD_ROOF_GATHER, NULL, call_contains,
                        bench_graph_check_contained},
    [BENCH_MISS] = {BENCH_ASK_MISSING, false, HD_ROOF_GATHER, NULL, call_find,
                    bench_graph_check_found},
    [BENCH_ERASE] = {BENCH_ASK_EACH, true, HD_ROOF_GATHER, bench_graph_fill, call_erase,
                     bench_graph_check_erased},
    [BENCH_COUNT] = {BENCH_ASK_LISTS, false, HD_ROOF_GATHER, NULL, call_count,
                     bench_graph_check_counted},
    [BENCH_RETRIEVE] = {BENCH_ASK_EACH, true, HD_ROOF_GATHER, NULL, bench_graph_retrieve,
                        bench_graph_check_retrieved},
    [BENCH_QUERY] = {BENCH_ASK_ROWS, false, HD_ROOF_PARTITION, clear_other, call_query,
                     bench_graph_check_common},
    [BENCH_INTERSECT] = {BENCH_ASK_ROWS, true, HD_ROOF_PARTITION, clear_both, call_intersect,
                         bench_graph_check_common},
    [BENCH_ADD] = {BENCH_ASK_NOTHING, true, HD_ROOF_PARTITION, fill_half, call_insert,
                   bench_graph_check_built},
    [BENCH_RANGE] = {BENCH_ASK_RANGE, false, HD_ROOF_GATHER, NULL, bench_graph_retrieve,
                     bench_graph_check_retrieved},
};

const bench_graph_op *bench_graph_op_of(const bench_graph *g, uint32_t op)
{
    static const bench_graph_op insert_all = {
        BENCH_ASK_NOTHING, true, HD_ROOF_CAS, clear, call_insert_all, bench_graph_check_built};
    const bool whole = g->b->options.subject == BENCH_MULTIMAP && op == BENCH_INSERT;
    return whole ? &insert_all : &bench_graph_ops[op];
}
