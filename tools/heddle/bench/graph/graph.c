/* graph.c: every combination of rows, graph and operation, measured and reported. */
#include "bench/graph/graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "progress.h"
#include "table/graph/graph.h"
#include "tool.h"

#define GB 1e9
#define PROBE_BYTES 32 /* of a random read: no engine fetches less from memory */

/* ---------------------------------------------------------------------------------- rows, table */

static void drop_table(bench_graph *g)
{
    heddle_table_destroy(g->table);
    heddle_table_destroy(g->other);
    (void)heddle_memory_free(g->b->device, g->workspace);
    g->table = g->other = NULL;
    g->workspace = NULL;
    g->share = 0;
    g->full = false;
}

static void drop_rows(bench_graph *g)
{
    void *const arrays[] = {g->keys, g->values, g->queries, g->answers, g->found, g->matches};
    drop_table(g);
    for (uint32_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        (void)heddle_memory_free(g->b->device, arrays[i]);
    free(g->counts);
    g->keys = g->values = g->queries = g->answers = NULL;
    g->found = NULL;
    g->matches = g->counts = NULL;
    g->ask = BENCH_ASK_NOTHING;
}

static int take_arrays(bench_graph *g)
{
    bench *b = g->b;
    const uint32_t key_bits = b->options.key_bits, value_bits = b->options.value_bits;
    const uint64_t n = g->rows.keys.n;
    void *found = NULL, *matches = NULL;
    int status = bench_array_make(b, key_bits, n, bench_row_key_element, &g->rows, &g->keys);
    if (status == TOOL_OK)
        status = bench_array_make(b, value_bits, n, bench_index_element, NULL, &g->values);
    if (status == TOOL_OK) status = bench_array_take(b, key_bits, n, &g->queries);
    if (status == TOOL_OK) status = bench_array_take(b, value_bits, n, &g->answers);
    if (status == TOOL_OK) status = bench_array_take(b, 8, n, &found);
    if (status == TOOL_OK) status = bench_array_take(b, 64, n + 1, &matches);
    g->found = (uint8_t *)found;
    g->matches = (uint64_t *)matches;
    return status;
}

/* The rows of a combination, unless they are there already. */
static int make_rows(bench_graph *g, const double *at)
{
    const uint64_t n = (uint64_t)at[BENCH_AXIS_KEYS];
    const double copies = at[BENCH_AXIS_COPIES], skew = at[BENCH_AXIS_SKEW];
    if (g->counts != NULL && g->rows.keys.n == n && g->copies == copies && g->rows.skew == skew)
        return TOOL_OK;
    drop_rows(g);
    g->copies = copies;
    g->rows = bench_rows_of(&g->b->options, n, bench_rows_distinct((double)n, copies), skew, 0);
    progress_label("making %llu keys", (unsigned long long)n);
    g->counts = bench_rows_count(&g->rows);
    return g->counts != NULL ? take_arrays(g) : TOOL_FAILED;
}

static int create(const bench_graph *g, uint64_t capacity, uint64_t seed, heddle_table **table)
{
    const bench_options *o = &g->b->options;
    heddle_table_options options = HEDDLE_TABLE_OPTIONS_INIT;
    options.container = HEDDLE_CONTAINER_MULTIMAP;
    options.scheme = g->scheme;
    options.key_bits = o->key_bits;
    options.value_bits = o->value_bits;
    options.capacity = capacity;
    options.seed = seed;
    if (options.scheme == HEDDLE_SCHEME_HASHGRAPH) {
        options.vertices = g->vertices;
    } else {
        options.load = g->load;
        options.bucket = g->bucket;
    }
    options.flags = g->variant == BENCH_ORDERED  ? HEDDLE_FLAG_ORDERED
                    : g->variant == BENCH_DIRECT ? HEDDLE_FLAG_FIXED
                                                 : 0;
    const heddle_status created = heddle_table_create(g->b->device, &options, table);
    if (created == HEDDLE_ERROR_INVALID || created == HEDDLE_ERROR_UNSUPPORTED)
        return tool_refuse("bench: %s", heddle_last_error());
    return tool_try(created, "making the graph");
}

static int make_table(bench_graph *g, uint64_t capacity, const double *at)
{
    const double vertices = at[BENCH_AXIS_VERTICES];
    const uint32_t variant = (uint32_t)at[BENCH_AXIS_VARIANT];
    const uint32_t bucket = (uint32_t)at[BENCH_AXIS_BUCKET];
    const uint32_t scheme = (uint32_t)at[BENCH_AXIS_SCHEME];
    const double load = at[BENCH_AXIS_LOAD];
    if (g->table != NULL && g->vertices == vertices && g->variant == variant && g->load == load &&
        g->bucket == bucket && g->scheme == scheme)
        return TOOL_OK;
    drop_table(g);
    g->load = load;
    g->bucket = bucket;
    g->scheme = scheme;
    g->vertices = vertices;
    g->variant = variant;
    return create(g, capacity, g->b->options.seed, &g->table);
}

/* A workspace for builds, unless it is there. */
static int make_workspace(bench_graph *g, const double *at)
{
    const double share = at[BENCH_AXIS_WORKSPACE];
    uint64_t bytes = 0;
    if (g->share == share) return TOOL_OK;
    (void)heddle_memory_free(g->b->device, g->workspace);
    g->workspace = NULL;
    g->share = share;
    int status = tool_try(heddle_table_build_workspace(g->table, g->rows.keys.n, &bytes),
                          "asking for the workspace");
    g->workspace_bytes = (uint64_t)((double)bytes * share);
    if (status == TOOL_OK)
        status = tool_try(heddle_memory_allocate(g->b->device, g->workspace_bytes, &g->workspace),
                          "allocating the workspace");
    return status;
}

int bench_graph_other(bench_graph *g)
{
    heddle_table_options made = HEDDLE_TABLE_OPTIONS_INIT;
    if (g->other != NULL) return TOOL_OK;
    const int status = tool_try(heddle_table_get_options(g->table, &made), "asking for the seed");
    return status == TOOL_OK ? create(g, g->rows.keys.n, made.seed, &g->other) : status;
}

/* -------------------------------------------------------------------------------------- queries */

int bench_graph_ask(bench_graph *g, uint32_t ask)
{
    const bench_rows *rows = &g->rows;
    const bench_options *o = &g->b->options;
    if (ask == BENCH_ASK_LISTS) ask = rows->skew > 0 ? BENCH_ASK_EACH : BENCH_ASK_ROWS;
    if (g->ask == ask) return TOOL_OK;
    g->ask = ask;
    const double even = rows->skew == BENCH_SEQUENCE ? BENCH_SEQUENCE : 0;
    if (ask == BENCH_ASK_EACH) g->asked = bench_rows_of(o, rows->distinct, rows->distinct, even, 1);
    else if (ask == BENCH_ASK_RANGE)
        g->asked = bench_rows_of(o, rows->keys.n, rows->keys.n, even, 1);
    else g->asked = bench_rows_of(o, rows->keys.n, rows->distinct, rows->skew, 1);
    if (ask == BENCH_ASK_MISSING) g->asked.hit = 0;
    return bench_array_fill(g->b, o->key_bits, g->asked.keys.n, bench_row_key_element, &g->asked,
                            g->queries);
}

int bench_graph_poison(bench_graph *g)
{
    heddle_device *device = g->b->device;
    const uint64_t n = g->rows.keys.n;
    heddle_status status = heddle_memory_fill(device, g->found, BENCH_POISON, n, NULL);
    if (status == HEDDLE_OK)
        status = heddle_memory_fill(device, g->answers, BENCH_POISON,
                                    n * g->b->options.value_bits / 8, NULL);
    if (status == HEDDLE_OK)
        status = heddle_memory_fill(device, g->matches, BENCH_POISON, (n + 1) * 8, NULL);
    return tool_try(status, "filling the answers");
}

/* ---------------------------------------------------------------------------------- measurement */

typedef struct timing {
    bench_graph *g;
    const bench_graph_op *op;
} timing;

static int prepare_run(void *context, bool last)
{
    const timing *t = (const timing *)context;
    const int status = t->op->prepare != NULL ? t->op->prepare(t->g) : TOOL_OK;
    return status == TOOL_OK && last ? bench_graph_poison(t->g) : status;
}

static heddle_status call_run(void *context)
{
    const timing *t = (const timing *)context;
    return t->op->call(t->g);
}

int bench_graph_roof(bench_graph *g, uint32_t kind, uint64_t bytes, double *roof)
{
    const bench_options *o = &g->b->options;
    const uint32_t width = kind == HD_ROOF_PARTITION ? (o->key_bits + o->value_bits) / 8
                           : kind == HD_ROOF_CAS     ? 8
                                                     : PROBE_BYTES;
    return bench_roof_measure(g->b, kind, width, bytes, g->rows.keys.n, roof);
}

void bench_graph_report(bench_graph *g, const double *at, uint64_t asked, uint64_t bytes,
                        const bench_result *result)
{
    const bench_options *o = &g->b->options;
    const uint32_t variant = (uint32_t)at[BENCH_AXIS_VARIANT];
    char skew[BENCH_SKEW_NAME];
    bench_line line;
    heddle_table_options made = HEDDLE_TABLE_OPTIONS_INIT;
    (void)heddle_table_get_options(g->table, &made);
    const bool in_passes = made.scheme == HEDDLE_SCHEME_HASHGRAPH && variant < BENCH_V1;
    bench_skew_name(at[BENCH_AXIS_SKEW], skew);
    bench_line_begin(g->b, &line);
    if (o->subject == BENCH_MULTIMAP) {
        bench_line_word(&line, "scheme", bench_scheme_names[made.scheme]);
        bench_line_number(&line, "bucket", "%.0f", made.bucket);
        bench_line_number(&line, "load", "%g", made.load);
    }
    bench_line_word(&line, "variant", bench_variant_names[variant]);
    bench_line_word(&line, "op", g->b->op);
    bench_line_number(&line, "n", "%.0f", (double)g->rows.keys.n);
    bench_line_number(&line, "copies", "%.0f", g->copies);
    bench_line_word(&line, "distribution", skew);
    bench_line_number(&line, "vertices", "%g", at[BENCH_AXIS_VERTICES]);
    bench_line_number(&line, "bins", "%.0f", variant == BENCH_V2 ? at[BENCH_AXIS_BINS] : 0);
    bench_line_number(&line, "workspace", "%g", at[BENCH_AXIS_WORKSPACE]);
    bench_line_number(&line, "passes", "%.0f",
                      in_passes ? (double)hd_graph_of(g->table)->passes : 0);
    bench_line_number(&line, "key_bits", "%.0f", o->key_bits);
    bench_line_number(&line, "value_bits", "%.0f", o->value_bits);
    bench_line_number(&line, "asked", "%.0f", (double)asked);
    bench_line_number(&line, "bytes_per_entry", "%.3f", (double)bytes / (double)g->rows.keys.n);
    bench_line_end(g->b, &line, result);
}

/* Pairs that an operation handles, or queries. */
static double amount(const bench_graph *g, uint32_t op)
{
    const uint64_t n = g->rows.keys.n;
    if (op == BENCH_INTERSECT) return 2 * (double)n;
    if (op == BENCH_ADD || (op == BENCH_INSERT && g->b->options.subject == BENCH_GRAPH))
        return (double)(n - n / 2);
    return (double)(bench_graph_ops[op].pairs ? n : g->asked.keys.n);
}

static int measure_op(bench_graph *g, const double *at)
{
    bench *b = g->b;
    const uint32_t number = (uint32_t)at[BENCH_AXIS_OP];
    const bench_graph_op *op = bench_graph_op_of(g, number);
    const bool asks = op->ask != BENCH_ASK_NOTHING;
    heddle_table_stats stats = HEDDLE_TABLE_STATS_INIT;
    bench_result result = {0, 0, 0, true};
    timing t = {g, op};
    const bench_timed timed = {prepare_run, call_run, &t};
    int status = asks ? bench_graph_fill(g) : TOOL_OK;
    if (status == TOOL_OK && asks) status = bench_graph_ask(g, op->ask);
    if (status == TOOL_OK) status = bench_time(b, &timed, &result.seconds);
    result.amount = amount(g, number);
    progress_label("verifying %s", b->op);
    if (status == TOOL_OK)
        status = tool_try(heddle_table_get_stats(g->table, &stats, NULL), "statistics");
    if (status == TOOL_OK && b->options.verify) status = op->verify(g, &result.right);
    if (status == TOOL_OK) status = bench_graph_roof(g, op->roof, stats.bytes_total, &result.roof);
    if (status == TOOL_OK)
        bench_graph_report(g, at, asks ? g->asked.keys.n : 0, stats.bytes_total, &result);
    return status;
}

/* Whether a combination differs from those before only in what its scheme or variant does not have. */
static bool is_repeated(const bench_walk *walk)
{
    const double *at = walk->at;
    const uint32_t *index = walk->index;
    const uint32_t op = (uint32_t)at[BENCH_AXIS_OP], variant = (uint32_t)at[BENCH_AXIS_VARIANT];
    const bool paper = variant == BENCH_V1 || variant == BENCH_V2;
    if (at[BENCH_AXIS_SCHEME] == HEDDLE_SCHEME_HASHGRAPH) {
        if (index[BENCH_AXIS_LOAD] + index[BENCH_AXIS_BUCKET] != 0 || variant == BENCH_DIRECT)
            return true;
    } else if (index[BENCH_AXIS_VERTICES] != 0) return true;
    if (variant != BENCH_V2 && index[BENCH_AXIS_BINS] != 0) return true;
    if (paper && op != BENCH_BUILD) return true;
    return (paper || (op != BENCH_BUILD && op != BENCH_INSERT)) && index[BENCH_AXIS_WORKSPACE] != 0;
}

static int measure_point(bench_graph *g, const bench_walk *walk)
{
    const double *at = walk->at;
    const uint32_t op = (uint32_t)at[BENCH_AXIS_OP], variant = (uint32_t)at[BENCH_AXIS_VARIANT];
    const bool paper = variant == BENCH_V1 || variant == BENCH_V2;
    (void)snprintf(g->b->op, sizeof g->b->op, "%s", bench_op_names[op]);
    progress_step("%s", g->b->op);
    if (is_repeated(walk)) return TOOL_OK;
    int status = make_rows(g, at);
    if (status == TOOL_OK && !paper) status = make_table(g, g->rows.keys.n, at);
    if (status == TOOL_OK && !paper) status = make_workspace(g, at);
    progress_label("%s", g->b->op);
    if (status != TOOL_OK) return status;
    return paper ? bench_graph_paper(g, at) : measure_op(g, at);
}

int bench_graph_run(bench *b)
{
    bench_walk walk = bench_walk_begin(&b->options.axes);
    bench_graph g;
    int status = TOOL_OK;
    memset(&g, 0, sizeof g);
    g.b = b;
    do status = measure_point(&g, &walk);
    while (status == TOOL_OK && bench_walk_next(&walk));
    drop_rows(&g);
    return status;
}

/* Every kind of table that is asked for can be made. */
static int check_tables(bench *b)
{
    bench_axes axes = b->options.axes;
    bench_graph g;
    int status = TOOL_OK;
    memset(&g, 0, sizeof g);
    g.b = b;
    for (uint32_t i = 0; i < BENCH_AXES; i++)
        if (i != BENCH_AXIS_VARIANT && i != BENCH_AXIS_SCHEME && axes.list[i].count > 1)
            axes.list[i].count = 1;
    bench_walk walk = bench_walk_begin(&axes);
    do
        if (walk.at[BENCH_AXIS_VARIANT] != BENCH_V1 && walk.at[BENCH_AXIS_VARIANT] != BENCH_V2 &&
            !is_repeated(&walk))
            status = make_table(&g, 1, walk.at);
    while (status == TOOL_OK && bench_walk_next(&walk));
    drop_table(&g);
    return status;
}

/* Arrays, a graph, and a second one beside it with its pairs while rows are merged into it. */
int bench_graph_check(bench *b)
{
    const bench_options *o = &b->options;
    const double n = bench_list_most(&o->axes.list[BENCH_AXIS_KEYS]);
    const double vertices = bench_list_most(&o->axes.list[BENCH_AXIS_VERTICES]);
    const double pair = (o->key_bits + o->value_bits) / 8;
    const double need = n * (2 * pair + 9 + 4 * pair + 8 * vertices);
    if (need <= (double)b->info.memory_free) return check_tables(b);
    return tool_refuse("bench: graphs of %.0f keys need %.1f GB, but %s has %.1f GB free", n,
                       need / GB, b->device_name, (double)b->info.memory_free / GB);
}
