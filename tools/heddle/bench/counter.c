/*
 * counter.c: `heddle bench counter`: keys that repeat are counted, by any scheme that has counters.
 * Tables of slots have a fixed size, with room for the different keys; a hashgraph is as large as it gets.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/array.h"
#include "bench/line.h"
#include "progress.h"
#include "tool.h"

#define GB 1e9
#define PROBE_BYTES 32 /* of a random read: no engine fetches less from memory */

typedef struct counter_bench {
    bench *b;
    bench_rows rows, more; /* what is counted, and the same keys in another order or drawn anew */
    double copies;         /* as asked for */
    uint64_t *counts, *counts_more;   /* host: how many rows of either each key number has */
    void *keys, *keys_more, *missing; /* device memory, a row each */
    void *answers;                    /* likewise */
    bool is_asked_missing;            /* which keys `answers` are those of */
    heddle_table *table;
    const double *at; /* the combination that the table was made for */
} counter_bench;

/* ---------------------------------------------------------------------------------- rows, table */

static void drop_rows(counter_bench *c)
{
    void *const arrays[] = {c->keys, c->keys_more, c->missing, c->answers};
    for (int i = 0; i < 4; i++) (void)heddle_memory_free(c->b->device, arrays[i]);
    free(c->counts);
    free(c->counts_more);
    c->keys = c->keys_more = c->missing = c->answers = NULL;
    c->counts = c->counts_more = NULL;
}

static int make_arrays(counter_bench *c)
{
    const bench_options *o = &c->b->options;
    const uint64_t n = c->rows.keys.n;
    bench_rows missing = c->more;
    missing.hit = 0;
    int status = bench_array_make(c->b, o->key_bits, n, bench_row_key_element, &c->rows, &c->keys);
    if (status == TOOL_OK)
        status =
            bench_array_make(c->b, o->key_bits, n, bench_row_key_element, &c->more, &c->keys_more);
    if (status == TOOL_OK)
        status =
            bench_array_make(c->b, o->key_bits, n, bench_row_key_element, &missing, &c->missing);
    return status == TOOL_OK ? bench_array_take(c->b, o->value_bits, n, &c->answers) : status;
}

/* The rows of a combination, unless they are there already. */
static int make_rows(counter_bench *c, const double *at)
{
    const uint64_t n = (uint64_t)at[BENCH_AXIS_KEYS];
    const double copies = at[BENCH_AXIS_COPIES], skew = at[BENCH_AXIS_SKEW];
    const uint64_t distinct = bench_rows_distinct((double)n, copies);
    if (c->counts != NULL && c->rows.keys.n == n && c->copies == copies && c->rows.skew == skew)
        return TOOL_OK;
    drop_rows(c);
    c->copies = copies;
    c->rows = bench_rows_of(&c->b->options, n, distinct, skew, 0);
    c->more = bench_rows_of(&c->b->options, n, distinct, skew, 1);
    progress_label("making %llu keys", (unsigned long long)n);
    c->counts = bench_rows_count(&c->rows);
    if (c->counts != NULL) c->counts_more = bench_rows_count(&c->more);
    return c->counts_more != NULL ? make_arrays(c) : TOOL_FAILED;
}

/* The empty table of a combination. */
static int make_table(counter_bench *c, const double *at, uint64_t keys)
{
    const bench_options *o = &c->b->options;
    heddle_table_options options = HEDDLE_TABLE_OPTIONS_INIT;
    heddle_table_destroy(c->table);
    c->table = NULL;
    options.container = HEDDLE_CONTAINER_COUNTER;
    options.scheme = (uint32_t)at[BENCH_AXIS_SCHEME];
    options.key_bits = o->key_bits;
    options.value_bits = o->value_bits;
    options.capacity = keys;
    options.seed = o->seed;
    if (options.scheme == HEDDLE_SCHEME_HASHGRAPH) {
        options.vertices = at[BENCH_AXIS_VERTICES];
    } else {
        options.load = at[BENCH_AXIS_LOAD];
        options.bucket = (uint32_t)at[BENCH_AXIS_BUCKET];
        options.flags = HEDDLE_FLAG_FIXED;
    }
    const heddle_status created = heddle_table_create(c->b->device, &options, &c->table);
    if (created == HEDDLE_ERROR_INVALID || created == HEDDLE_ERROR_UNSUPPORTED)
        return tool_refuse("bench: %s", heddle_last_error());
    return tool_try(created, "making the counter");
}

/* ---------------------------------------------------------------------------------- operations */

static int clear(void *context, bool last)
{
    counter_bench *c = (counter_bench *)context;
    (void)last;
    return tool_try(heddle_table_clear(c->table, NULL), "clear");
}

static heddle_status call_build(void *context)
{
    counter_bench *c = (counter_bench *)context;
    return heddle_table_build(c->table, c->keys, NULL, c->rows.keys.n, NULL, NULL, NULL);
}

static int fill(void *context, bool last)
{
    const int status = clear(context, last);
    return status == TOOL_OK ? tool_try(call_build(context), "build") : status;
}

static heddle_status call_insert(void *context)
{
    counter_bench *c = (counter_bench *)context;
    heddle_totals totals = HEDDLE_TOTALS_INIT; /* a call that waits */
    return heddle_table_insert(c->table, c->keys, NULL, c->rows.keys.n, NULL, &totals, NULL);
}

static heddle_status call_add(void *context)
{
    counter_bench *c = (counter_bench *)context;
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    return heddle_table_insert(c->table, c->keys_more, NULL, c->rows.keys.n, NULL, &totals, NULL);
}

static int poison(void *context, bool last)
{
    counter_bench *c = (counter_bench *)context;
    if (!last) return TOOL_OK;
    return tool_try(heddle_memory_fill(c->b->device, c->answers, BENCH_POISON,
                                       c->rows.keys.n * c->b->options.value_bits / 8, NULL),
                    "filling the answers");
}

static heddle_status call_find(void *context)
{
    counter_bench *c = (counter_bench *)context;
    return heddle_table_find(c->table, c->is_asked_missing ? c->missing : c->keys_more,
                             c->rows.keys.n, c->answers, NULL, NULL, NULL);
}

/* -------------------------------------------------------------------------------- verification */

/* A count that is in the table, after both batches if `added`; 0 for a key that is not there. */
static uint64_t expected(const counter_bench *c, uint64_t number, bool added)
{
    return c->counts[number] + (added ? c->counts_more[number] : 0);
}

/* Holds the answers against the counts; those of absent keys are as they were. */
static int check_answers(counter_bench *c, bool added, bool *right)
{
    const uint32_t bits = c->b->options.value_bits;
    const uint64_t pattern = UINT64_C(0x0101010101010101) * BENCH_POISON;
    const uint64_t n = c->rows.keys.n, poisoned = bits == 64 ? pattern : (uint32_t)pattern;
    const void *answers;
    uint64_t wrong = 0;
    const int status = bench_array_view(c->b, bits, n, c->answers, &answers);
    if (status == TOOL_OK) {
#pragma omp parallel for schedule(static) reduction(+ : wrong)
        for (uint64_t i = 0; i < n; i++) {
            const uint64_t count =
                c->is_asked_missing ? 0 : expected(c, bench_row_number(&c->more, i), added);
            wrong += bench_at(answers, bits, i) != (count != 0 ? count : poisoned);
        }
        if (wrong != 0)
            tool_say("%s: %llu of %llu answers are wrong", c->b->op, (unsigned long long)wrong,
                     (unsigned long long)n);
        *right &= wrong == 0;
    }
    bench_array_leave(c->b, answers);
    return status;
}

/* After what changes the table: its size, its invariants, and all counts. */
static int check_table(counter_bench *c, bool added, bool *right)
{
    uint64_t size = 0, wanted = 0;
    for (uint64_t i = 0; i < c->rows.distinct; i++) wanted += expected(c, i, added) != 0;
    int status = tool_try(heddle_table_size(c->table, &size, NULL), "size");
    if (status != TOOL_OK) return status;
    if (size != wanted)
        tool_say("%s: the table then has %llu keys, not %llu", c->b->op, (unsigned long long)size,
                 (unsigned long long)wanted);
    *right &= size == wanted;
    const heddle_status valid = heddle_table_validate(c->table, NULL);
    if (valid != HEDDLE_OK) {
        *right = false;
        status = tool_try(valid, "validate");
        if (valid != HEDDLE_ERROR_CORRUPT) return status;
    }
    c->is_asked_missing = false;
    status = poison(c, true);
    if (status == TOOL_OK) status = tool_try(call_find(c), "find");
    return status == TOOL_OK ? check_answers(c, added, right) : status;
}

/* --------------------------------------------------------------------------------- measurement */

/* What is given are keys alone, so builds are held against a partition of these. */
static int measure_roof(counter_bench *c, uint32_t op, uint64_t bytes, double *roof)
{
    const bool slab = c->at[BENCH_AXIS_SCHEME] == HEDDLE_SCHEME_SLAB;
    const bool asks = op == BENCH_FIND || op == BENCH_MISS;
    const uint32_t kind = asks                        ? HD_ROOF_GATHER
                          : slab && op != BENCH_BUILD ? HD_ROOF_CAS
                                                      : HD_ROOF_PARTITION;
    const uint32_t width = asks                  ? PROBE_BYTES
                           : kind == HD_ROOF_CAS ? 8
                                                 : c->b->options.key_bits / 8;
    return bench_roof_measure(c->b, kind, width, bytes, c->rows.keys.n, roof);
}

static void print_line(counter_bench *c, const heddle_table_stats *stats,
                       const bench_result *result)
{
    heddle_table_options made = HEDDLE_TABLE_OPTIONS_INIT;
    char skew[BENCH_SKEW_NAME];
    bench_line line;
    (void)heddle_table_get_options(c->table, &made);
    bench_skew_name(c->rows.skew, skew);
    bench_line_begin(c->b, &line);
    bench_line_word(&line, "scheme", bench_scheme_names[made.scheme]);
    bench_line_number(&line, "bucket", "%.0f", made.bucket);
    bench_line_number(&line, "load", "%g", made.load);
    bench_line_number(&line, "vertices", "%g", made.vertices);
    bench_line_word(&line, "op", c->b->op);
    bench_line_number(&line, "n", "%.0f", (double)c->rows.keys.n);
    bench_line_number(&line, "copies", "%.0f", c->copies);
    bench_line_word(&line, "distribution", skew);
    bench_line_number(&line, "key_bits", "%.0f", c->b->options.key_bits);
    bench_line_number(&line, "value_bits", "%.0f", c->b->options.value_bits);
    bench_line_number(&line, "keys", "%.0f", (double)stats->keys);
    bench_line_number(&line, "bytes_per_key", "%.3f",
                      (double)stats->bytes_total / (double)stats->keys);
    bench_line_end(c->b, &line, result);
}

static int measure_op(counter_bench *c, uint32_t op)
{
    static const struct {
        uint32_t op;
        int (*prepare)(void *context, bool last);
        heddle_status (*call)(void *context);
    } ways[] = {{BENCH_BUILD, clear, call_build},
                {BENCH_INSERT, clear, call_insert},
                {BENCH_ADD, fill, call_add},
                {BENCH_FIND, poison, call_find},
                {BENCH_MISS, poison, call_find}};
    bench_timed timed = {NULL, NULL, c};
    heddle_table_stats stats = HEDDLE_TABLE_STATS_INIT;
    bench_result result = {0, (double)c->rows.keys.n, 0, true};
    const bool asks = op == BENCH_FIND || op == BENCH_MISS;
    for (uint32_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
        if (ways[i].op == op) {
            timed.prepare = ways[i].prepare;
            timed.call = ways[i].call;
        }
    c->is_asked_missing = op == BENCH_MISS;
    int status = asks ? fill(c, false) : TOOL_OK;
    if (status == TOOL_OK) status = bench_time(c->b, &timed, &result.seconds);
    progress_label("verifying %s", c->b->op);
    if (status == TOOL_OK)
        status = tool_try(heddle_table_get_stats(c->table, &stats, NULL), "statistics");
    if (status == TOOL_OK && c->b->options.verify)
        status = asks ? check_answers(c, false, &result.right)
                      : check_table(c, op == BENCH_ADD, &result.right);
    if (status == TOOL_OK) status = measure_roof(c, op, stats.bytes_total, &result.roof);
    if (status == TOOL_OK) print_line(c, &stats, &result);
    return status;
}

/* Whether a combination differs from those before only in what its scheme does not have. */
static bool is_repeated(const bench_walk *walk)
{
    if (walk->at[BENCH_AXIS_SCHEME] == HEDDLE_SCHEME_HASHGRAPH)
        return walk->index[BENCH_AXIS_LOAD] + walk->index[BENCH_AXIS_BUCKET] != 0;
    return walk->index[BENCH_AXIS_VERTICES] != 0;
}

static int measure_point(counter_bench *c, const bench_walk *walk)
{
    const uint32_t op = (uint32_t)walk->at[BENCH_AXIS_OP];
    (void)snprintf(c->b->op, sizeof c->b->op, "%s", bench_op_names[op]);
    progress_step("%s", c->b->op);
    if (is_repeated(walk)) return TOOL_OK;
    c->at = walk->at;
    int status = make_rows(c, walk->at);
    if (status == TOOL_OK) status = make_table(c, walk->at, c->rows.distinct);
    progress_label("%s", c->b->op);
    return status == TOOL_OK ? measure_op(c, op) : status;
}

int bench_counter_run(bench *b)
{
    bench_walk walk = bench_walk_begin(&b->options.axes);
    counter_bench c;
    int status = TOOL_OK;
    memset(&c, 0, sizeof c);
    c.b = b;
    do status = measure_point(&c, &walk);
    while (status == TOOL_OK && bench_walk_next(&walk));
    heddle_table_destroy(c.table);
    drop_rows(&c);
    return status;
}

/* Arrays, the table, and a second one beside it where it is a hashgraph. */
int bench_counter_check(bench *b)
{
    const bench_options *o = &b->options;
    const bench_list *schemes = &o->axes.list[BENCH_AXIS_SCHEME];
    bench_walk walk = bench_walk_begin(&o->axes);
    const double n = bench_list_most(&o->axes.list[BENCH_AXIS_KEYS]);
    const double pair = (o->key_bits + o->value_bits) / 8;
    const double need = n * (3.0 * o->key_bits / 8 + o->value_bits / 8 + 6 * pair);
    counter_bench c;
    int status = TOOL_OK;
    if (need > (double)b->info.memory_free)
        return tool_refuse("bench: counters of %.0f keys need %.1f GB, but %s has %.1f GB free", n,
                           need / GB, b->device_name, (double)b->info.memory_free / GB);
    memset(&c, 0, sizeof c);
    c.b = b;
    for (uint32_t i = 0; i < schemes->count && status == TOOL_OK; i++) {
        walk.at[BENCH_AXIS_SCHEME] = schemes->at[i];
        status = make_table(&c, walk.at, 1);
    }
    heddle_table_destroy(c.table);
    return status;
}
