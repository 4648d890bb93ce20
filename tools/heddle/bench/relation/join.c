/* join.c: joins of every combination: counted, and with all their rows fetched. */
#include "bench/relation/join.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/line.h"
#include "progress.h"
#include "tool.h"

#define GB 1e9
#define PAIRS_MAX (UINT64_C(1) << 33) /* of a result that is fetched: more would take hours */

enum { COUNT, PAIRS };

/* ---------------------------------------------------------------------------------------- rows */

static void drop_result(bench_join *j)
{
    (void)heddle_memory_free(j->b->device, j->left_rows);
    (void)heddle_memory_free(j->b->device, j->right_rows);
    j->left_rows = j->right_rows = NULL;
}

static void drop_rows(bench_join *j)
{
    drop_result(j);
    (void)heddle_memory_free(j->b->device, j->left_keys);
    (void)heddle_memory_free(j->b->device, j->right_keys);
    free(j->left_counts);
    free(j->right_counts);
    j->left_keys = j->right_keys = NULL;
    j->left_counts = j->right_counts = NULL;
}

static void sizes(const bench *b, const double *at, uint64_t *left, uint64_t *right)
{
    *left = b->options.left != 0 ? b->options.left : (uint64_t)at[BENCH_AXIS_KEYS];
    *right = b->options.right != 0 ? b->options.right : *left;
}

static bool has_rows(const bench_join *j, const double *at)
{
    uint64_t left, right;
    sizes(j->b, at, &left, &right);
    return j->right_counts != NULL && j->left.keys.n == left && j->right.keys.n == right &&
           j->copies == at[BENCH_AXIS_COPIES] && j->left.skew == at[BENCH_AXIS_SKEW] &&
           j->left.hit == (uint32_t)at[BENCH_AXIS_HIT];
}

/* The columns of a combination, unless they are there already. */
static int make_rows(bench_join *j, const double *at)
{
    const bench_options *o = &j->b->options;
    const double copies = at[BENCH_AXIS_COPIES], skew = at[BENCH_AXIS_SKEW];
    uint64_t left, right;
    if (has_rows(j, at)) return TOOL_OK;
    drop_rows(j);
    sizes(j->b, at, &left, &right);
    progress_label("making %llu keys", (unsigned long long)(left + right));
    const uint64_t distinct = bench_rows_distinct((double)right, copies);
    j->copies = copies;
    j->right = bench_rows_of(o, right, distinct, skew, 0);
    j->left = bench_rows_of(o, left, distinct, skew, 1);
    j->left.hit = (uint32_t)at[BENCH_AXIS_HIT];
    j->left_counts = bench_rows_count(&j->left);
    if (j->left_counts != NULL) j->right_counts = bench_rows_count(&j->right);
    if (j->right_counts == NULL) return TOOL_FAILED;
    const int status =
        bench_array_make(j->b, o->key_bits, left, bench_row_key_element, &j->left, &j->left_keys);
    return status == TOOL_OK ? bench_array_make(j->b, o->key_bits, right, bench_row_key_element,
                                                &j->right, &j->right_keys)
                             : status;
}

/* ---------------------------------------------------------------------------------------- joins */

static heddle_status create(bench_join *j, heddle_join **join)
{
    const bench_options *o = &j->b->options;
    const heddle_column left = HEDDLE_COLUMN(j->left_keys, o->key_bits / 8);
    const heddle_column right = HEDDLE_COLUMN(j->right_keys, o->key_bits / 8);
    heddle_join_options options = HEDDLE_JOIN_OPTIONS_INIT;
    options.kind = j->kind;
    options.row_bits = j->row_bits;
    options.seed = o->seed;
    *join = NULL;
    return heddle_join_create(j->b->device, &left, &right, 1, j->left.keys.n, j->right.keys.n,
                              &options, join, NULL);
}

static heddle_status call_count(void *context)
{
    bench_join *j = (bench_join *)context;
    heddle_join *join;
    heddle_status status = create(j, &join);
    if (status == HEDDLE_OK) status = heddle_join_count(join, &j->got, NULL);
    heddle_join_destroy(join);
    return status;
}

static heddle_status call_pairs(void *context)
{
    bench_join *j = (bench_join *)context;
    heddle_join *join;
    uint64_t total = 0, count = 1;
    heddle_status status = create(j, &join);
    if (status == HEDDLE_OK) status = heddle_join_count(join, &total, NULL);
    for (j->got = 0; status == HEDDLE_OK && j->got < total && count != 0; j->got += count)
        status = heddle_join_fetch(join, j->left_rows, j->right_rows, j->capacity, &count, NULL);
    heddle_join_destroy(join);
    return status;
}

/* What the arrays of the result have room for: all of it, or what half of the free memory holds. */
static int make_result(bench_join *j)
{
    const uint64_t width = (uint64_t)j->row_bits / 8 * (bench_join_has_right(j) ? 2 : 1);
    heddle_device_info info = HEDDLE_DEVICE_INFO_INIT;
    uint64_t least = 0;
    heddle_join *join;
    heddle_status found = create(j, &join);
    if (found == HEDDLE_OK) found = heddle_join_count(join, &j->got, &least);
    if (found == HEDDLE_OK) found = heddle_device_get_info(j->b->device, &info);
    heddle_join_destroy(join);
    int status = tool_try(found, "join");
    if (status != TOOL_OK) return status;
    j->capacity = j->total;
    if (j->capacity > info.memory_free / 2 / width) j->capacity = info.memory_free / 2 / width;
    if (j->capacity < least) j->capacity = least;
    if (j->capacity == 0) j->capacity = 1;
    status = bench_array_take(j->b, j->row_bits, j->capacity, &j->left_rows);
    if (status == TOOL_OK && bench_join_has_right(j))
        status = bench_array_take(j->b, j->row_bits, j->capacity, &j->right_rows);
    return status;
}

/* --------------------------------------------------------------------------------- verification */

static int prepare_pairs(void *context, bool last)
{
    bench_join *j = (bench_join *)context;
    const uint64_t bytes = j->capacity * j->row_bits / 8;
    if (!last) return TOOL_OK;
    heddle_status status =
        heddle_memory_fill(j->b->device, j->left_rows, BENCH_POISON, bytes, NULL);
    if (status == HEDDLE_OK && j->right_rows != NULL)
        status = heddle_memory_fill(j->b->device, j->right_rows, BENCH_POISON, bytes, NULL);
    return tool_try(status, "filling the result");
}

/* A result in slices is gone by now, all but the last: it is fetched once more. */
static int check_slices(bench_join *j)
{
    heddle_join *join;
    uint64_t count = 1;
    int status = tool_try(create(j, &join), "join");
    while (status == TOOL_OK && count != 0) {
        status = tool_try(
            heddle_join_fetch(join, j->left_rows, j->right_rows, j->capacity, &count, NULL),
            "fetch");
        if (status == TOOL_OK) status = bench_join_check_slice(j, count);
    }
    heddle_join_destroy(join);
    return status;
}

static int verify(bench_join *j, uint32_t op, bool *right)
{
    if (j->got != j->total) {
        tool_say("%s: %llu rows, not %llu", j->b->op, (unsigned long long)j->got,
                 (unsigned long long)j->total);
        *right = false;
        return TOOL_OK;
    }
    if (op == COUNT) return TOOL_OK;
    int status = bench_join_check_begin(j);
    if (status != TOOL_OK) return status;
    status = j->got <= j->capacity ? bench_join_check_slice(j, j->got) : check_slices(j);
    bench_join_check_end(j, right);
    return status;
}

/* ---------------------------------------------------------------------------------- measurement */

static void report(bench_join *j, uint32_t op, const bench_result *result)
{
    char skew[BENCH_SKEW_NAME];
    bench_line line;
    bench_skew_name(j->left.skew, skew);
    bench_line_begin(j->b, &line);
    bench_line_word(&line, "kind", bench_kind_names[j->kind - 1]);
    bench_line_word(&line, "op", op == COUNT ? "count" : "pairs");
    bench_line_number(&line, "left", "%.0f", (double)j->left.keys.n);
    bench_line_number(&line, "right", "%.0f", (double)j->right.keys.n);
    bench_line_number(&line, "copies", "%.0f", j->copies);
    bench_line_word(&line, "distribution", skew);
    bench_line_number(&line, "hit", "%.0f", j->left.hit);
    bench_line_number(&line, "key_bits", "%.0f", j->b->options.key_bits);
    bench_line_number(&line, "row_bits", "%.0f", j->row_bits);
    bench_line_number(&line, "rows", "%.0f", (double)j->total);
    bench_line_number(&line, "capacity", "%.0f", op == COUNT ? 0 : (double)j->capacity);
    bench_line_end(j->b, &line, result);
}

static int measure_op(bench_join *j, uint32_t op)
{
    bench *b = j->b;
    const uint64_t rows = j->left.keys.n + j->right.keys.n;
    const uint32_t width = (b->options.key_bits + j->row_bits) / 8;
    const bench_timed timed = {op == PAIRS ? prepare_pairs : NULL,
                               op == PAIRS ? call_pairs : call_count, j};
    bench_result result = {0, (double)rows, 0, true};
    (void)snprintf(b->op, sizeof b->op, "%s join, %s", bench_kind_names[j->kind - 1],
                   op == PAIRS ? "pairs" : "count");
    progress_label("%s", b->op);
    int status = op == PAIRS ? make_result(j) : TOOL_OK;
    if (status == TOOL_OK) status = bench_time(b, &timed, &result.seconds);
    progress_label("verifying the %s", b->op);
    if (status == TOOL_OK && b->options.verify) status = verify(j, op, &result.right);
    if (op == PAIRS) drop_result(j);
    if (status == TOOL_OK)
        status = bench_roof_measure(b, HD_ROOF_PARTITION, width, rows * width, rows, &result.roof);
    if (status == TOOL_OK) report(j, op, &result);
    return status;
}

static uint32_t row_bits(const bench_options *o, uint64_t left, uint64_t right)
{
    if (o->row_bits != 0) return o->row_bits;
    return left < UINT32_MAX && right < UINT32_MAX ? 32 : 64;
}

static int measure_point(bench_join *j, const double *at)
{
    progress_step("join");
    int status = make_rows(j, at);
    if (status != TOOL_OK) return status;
    j->kind = (uint32_t)at[BENCH_AXIS_KIND];
    j->row_bits = row_bits(&j->b->options, j->left.keys.n, j->right.keys.n);
    j->total = bench_join_total(j);
    status = measure_op(j, COUNT);
    if (status != TOOL_OK || j->b->options.count_only) return status;
    if (j->total <= PAIRS_MAX) return measure_op(j, PAIRS);
    tool_say("the %llu rows of this join are not fetched", (unsigned long long)j->total);
    return TOOL_OK;
}

int bench_join_run(bench *b)
{
    bench_walk walk = bench_walk_begin(&b->options.axes);
    bench_join j;
    int status = TOOL_OK;
    memset(&j, 0, sizeof j);
    j.b = b;
    do status = measure_point(&j, walk.at);
    while (status == TOOL_OK && bench_walk_next(&walk));
    drop_rows(&j);
    return status;
}

/* Columns, and both sides' keys and row numbers twice; the result takes what is left. */
int bench_join_check(bench *b)
{
    const bench_options *o = &b->options;
    double at[BENCH_AXES] = {0};
    uint64_t left, right;
    at[BENCH_AXIS_KEYS] = bench_list_most(&o->axes.list[BENCH_AXIS_KEYS]);
    sizes(b, at, &left, &right);
    const double key = o->key_bits / 8, row = row_bits(o, left, right) / 8;
    const double need = ((double)left + (double)right) * (key + 2 * (key + row) + row);
    if (o->row_bits == 32 && (left >= UINT32_MAX || right >= UINT32_MAX))
        return tool_refuse("bench: so many rows cannot be numbered with 32 bits");
    if (need <= (double)b->info.memory_free) return TOOL_OK;
    return tool_refuse("bench: a join of %llu and %llu rows needs %.1f GB, but %s has %.1f GB free",
                       (unsigned long long)left, (unsigned long long)right, need / GB,
                       b->device_name, (double)b->info.memory_free / GB);
}
