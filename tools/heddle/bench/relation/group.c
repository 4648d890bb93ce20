/*
 * group.c: `heddle bench group`: rows are brought together by key and a column of values is
 * aggregated. Values are small whole numbers of any type, so every sum is exact in every order.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/relation/groups.h"
#include "progress.h"
#include "tool.h"

#define VALUES 1000 /* different values; signed and floating ones go down to minus half of that */

typedef struct group_bench {
    bench_groups g;
    uint32_t aggregate; /* HEDDLE_AGGREGATE_* */
    uint32_t type;      /* HEDDLE_TYPE_* */
    void *values;       /* device memory, a row each */
    void *out;          /* a group each, 64 bits */
    void *out_keys;
    uint64_t got; /* groups of the last run */
} group_bench;

/* --------------------------------------------------------------------------------------- values */

static uint32_t type_bits(uint32_t type) { return type <= HEDDLE_TYPE_F32 ? 32 : 64; }

static bool is_unsigned(uint32_t type)
{
    return type == HEDDLE_TYPE_U32 || type == HEDDLE_TYPE_U64;
}

static int64_t row_value(uint32_t type, uint64_t row)
{
    const int64_t value = (int64_t)(bench_random(~row) % VALUES);
    return is_unsigned(type) ? value : value - VALUES / 2;
}

/* The bits of a row's value; context: the type. */
static uint64_t value_element(const void *context, uint64_t row)
{
    const uint32_t type = *(const uint32_t *)context;
    const int64_t value = row_value(type, row);
    uint64_t bits = (uint64_t)value;
    if (type == HEDDLE_TYPE_F32) {
        const float number = (float)value;
        uint32_t half;
        memcpy(&half, &number, sizeof half);
        bits = half;
    } else if (type == HEDDLE_TYPE_F64) {
        const double number = (double)value;
        memcpy(&bits, &number, sizeof bits);
    }
    return bits;
}

/* Result g as a number. */
static double result_at(const group_bench *s, const void *out, uint64_t g)
{
    const bool same = s->aggregate == HEDDLE_AGGREGATE_MIN || s->aggregate == HEDDLE_AGGREGATE_MAX;
    const bool floats = s->type == HEDDLE_TYPE_F32 || s->type == HEDDLE_TYPE_F64;
    if (s->aggregate == HEDDLE_AGGREGATE_COUNT) return (double)((const uint64_t *)out)[g];
    if (s->aggregate == HEDDLE_AGGREGATE_MEAN) return ((const double *)out)[g];
    if (same && s->type == HEDDLE_TYPE_F32) return (double)((const float *)out)[g];
    if (same && s->type == HEDDLE_TYPE_I32) return ((const int32_t *)out)[g];
    if (same && s->type == HEDDLE_TYPE_U32) return ((const uint32_t *)out)[g];
    if (floats) return ((const double *)out)[g];
    return (double)((const int64_t *)out)[g]; /* no sum of these is large */
}

/* ---------------------------------------------------------------------------------------- calls */

/* With the aggregate that is wanted, where it is to be named: groups come in another order without. */
static heddle_status create(group_bench *s, heddle_groups **groups)
{
    heddle_aggregate named = HEDDLE_AGGREGATE_INIT;
    named.aggregate = s->aggregate;
    named.type = s->type;
    named.values = s->values;
    s->g.aggregate = s->g.b->options.at_once ? &named : NULL;
    const heddle_status status = bench_groups_create(&s->g, groups);
    s->g.aggregate = NULL;
    return status;
}

static heddle_status call_group(void *context)
{
    group_bench *s = (group_bench *)context;
    heddle_groups *groups;
    heddle_status status = create(s, &groups);
    if (status == HEDDLE_OK) status = heddle_groups_count(groups, &s->got);
    if (status == HEDDLE_OK && s->got > s->g.expected) s->got = UINT64_MAX; /* no room for them */
    else {
        if (status == HEDDLE_OK && s->g.b->options.at_once)
            status = heddle_groups_aggregated(groups, 0, s->out, NULL, NULL);
        else if (status == HEDDLE_OK)
            status = heddle_groups_aggregate(groups, s->aggregate, s->type, s->values, NULL, s->out,
                                             NULL, NULL);
        if (status == HEDDLE_OK && s->g.b->options.with_keys)
            status = heddle_groups_keys(groups, 0, s->out_keys, NULL, NULL);
    }
    heddle_groups_destroy(groups);
    return status;
}

static int poison(void *context, bool last)
{
    group_bench *s = (group_bench *)context;
    heddle_device *device = s->g.b->device;
    if (!last) return TOOL_OK;
    heddle_status status =
        heddle_memory_fill(device, s->out, BENCH_POISON, s->g.expected * 8, NULL);
    if (status == HEDDLE_OK)
        status = heddle_memory_fill(device, s->out_keys, BENCH_POISON,
                                    s->g.expected * s->g.b->options.key_bits / 8, NULL);
    return tool_try(status, "filling the results");
}

/* --------------------------------------------------------------------------------- verification */

static void fold(uint32_t aggregate, int64_t *to, int64_t value)
{
    int64_t there = __atomic_load_n(to, __ATOMIC_RELAXED);
    if (aggregate == HEDDLE_AGGREGATE_SUM || aggregate == HEDDLE_AGGREGATE_MEAN) {
        (void)__atomic_fetch_add(to, value, __ATOMIC_RELAXED);
        return;
    }
    while (
        (aggregate == HEDDLE_AGGREGATE_MIN ? value < there : value > there) &&
        !__atomic_compare_exchange_n(to, &there, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}

/* What the aggregate of every key number must be, before a mean is divided; to be freed. */
static int64_t *make_model(const group_bench *s)
{
    const bench_rows *rows = &s->g.rows;
    const uint32_t aggregate = s->aggregate;
    const uint64_t n = rows->keys.n;
    int64_t *model = (int64_t *)calloc(rows->distinct, sizeof *model);
    if (model == NULL) {
        tool_say("no host memory for %llu results", (unsigned long long)rows->distinct);
        return NULL;
    }
    for (uint64_t i = 0; i < rows->distinct; i++) {
        if (aggregate == HEDDLE_AGGREGATE_COUNT) model[i] = (int64_t)s->g.counts[i];
        if (aggregate == HEDDLE_AGGREGATE_MIN) model[i] = INT64_MAX;
        if (aggregate == HEDDLE_AGGREGATE_MAX) model[i] = INT64_MIN;
    }
    if (aggregate == HEDDLE_AGGREGATE_COUNT) return model;
#pragma omp parallel for schedule(static)
    for (uint64_t row = 0; row < n; row++)
        fold(aggregate, &model[bench_row_number(rows, row)], row_value(s->type, row));
    return model;
}

/* Every group has a key of its own, and the result of that key. */
static uint64_t count_wrong(const group_bench *s, const int64_t *model, const void *keys,
                            const void *out, uint8_t *seen)
{
    const bench_rows *rows = &s->g.rows;
    uint64_t wrong = 0;
#pragma omp parallel for schedule(static) reduction(+ : wrong)
    for (uint64_t g = 0; g < s->got; g++) {
        const uint64_t number =
            bench_key_number(&rows->keys, bench_at(keys, rows->keys.key_bits, g));
        bool good = number < rows->distinct && s->g.counts[number] != 0 &&
                    __atomic_exchange_n(&seen[number], 1, __ATOMIC_RELAXED) == 0;
        if (good) {
            const double result = result_at(s, out, g);
            const bool mean = s->aggregate == HEDDLE_AGGREGATE_MEAN;
            const double want =
                mean ? (double)model[number] / (double)s->g.counts[number] : (double)model[number];
            good = mean ? fabs(result - want) <= 1e-12 * VALUES : result == want;
        }
        wrong += !good;
    }
    return wrong;
}

/* The keys, where the timed run did not ask for them. */
static int fetch_keys(group_bench *s)
{
    heddle_groups *groups;
    if (s->g.b->options.with_keys) return TOOL_OK;
    heddle_status status = create(s, &groups);
    if (status == HEDDLE_OK) status = heddle_groups_keys(groups, 0, s->out_keys, NULL, NULL);
    heddle_groups_destroy(groups);
    return tool_try(status, "asking for the keys");
}

static int verify(group_bench *s, bool *right)
{
    bench *b = s->g.b;
    const void *keys = NULL, *out = NULL;
    if (s->got != s->g.expected) {
        bench_groups_judge(&s->g, s->g.expected, right);
        return TOOL_OK;
    }
    int64_t *model = make_model(s);
    uint8_t *seen = (uint8_t *)calloc(s->g.rows.distinct, 1);
    int status = model != NULL && seen != NULL ? fetch_keys(s) : TOOL_FAILED;
    if (status == TOOL_OK)
        status = bench_array_view(b, b->options.key_bits, s->got, s->out_keys, &keys);
    if (status == TOOL_OK) status = bench_array_view(b, 64, s->got, s->out, &out);
    if (status == TOOL_OK) bench_groups_judge(&s->g, count_wrong(s, model, keys, out, seen), right);
    bench_array_leave(b, keys);
    bench_array_leave(b, out);
    free(model);
    free(seen);
    return status;
}

/* ---------------------------------------------------------------------------------- measurement */

static void drop_arrays(group_bench *s)
{
    heddle_device *device = s->g.b->device;
    (void)heddle_memory_free(device, s->values);
    (void)heddle_memory_free(device, s->out);
    (void)heddle_memory_free(device, s->out_keys);
    s->values = s->out = s->out_keys = NULL;
}

static int make_arrays(group_bench *s, const double *at)
{
    bench *b = s->g.b;
    bool fresh;
    int status = bench_groups_rows(&s->g, at, &fresh);
    if (status != TOOL_OK || !fresh) return status;
    drop_arrays(s);
    status = bench_array_make(b, type_bits(s->type), s->g.rows.keys.n, value_element, &s->type,
                              &s->values);
    if (status == TOOL_OK) status = bench_array_take(b, 64, s->g.expected, &s->out);
    if (status == TOOL_OK)
        status = bench_array_take(b, b->options.key_bits, s->g.expected, &s->out_keys);
    return status;
}

static int measure_point(group_bench *s, const double *at)
{
    bench *b = s->g.b;
    const bench_timed timed = {poison, call_group, s};
    bench_result result = {0, at[BENCH_AXIS_KEYS], 0, true};
    bench_line line;
    s->aggregate = (uint32_t)at[BENCH_AXIS_AGGREGATE];
    (void)snprintf(b->op, sizeof b->op, "%s", bench_aggregate_names[s->aggregate - 1]);
    progress_step("%s", b->op);
    if (!bench_groups_possible(at)) return TOOL_OK;
    int status = make_arrays(s, at);
    progress_label("%s of %.0f groups", b->op, at[BENCH_AXIS_GROUPS]);
    if (status == TOOL_OK) status = bench_time(b, &timed, &result.seconds);
    if (status == TOOL_OK && b->options.verify) status = verify(s, &result.right);
    if (status == TOOL_OK) status = bench_groups_roof(&s->g, &result.roof);
    if (status != TOOL_OK) return status;
    bench_line_begin(b, &line);
    bench_line_word(&line, "op", b->op);
    bench_line_word(&line, "type", bench_type_names[s->type - 1]);
    bench_groups_line(&s->g, &line);
    bench_line_word(&line, "with_keys", b->options.with_keys ? "yes" : "no");
    bench_line_word(&line, "at_once", b->options.at_once ? "yes" : "no");
    bench_line_end(b, &line, &result);
    return TOOL_OK;
}

int bench_group_run(bench *b)
{
    bench_walk walk = bench_walk_begin(&b->options.axes);
    group_bench s;
    int status = TOOL_OK;
    memset(&s, 0, sizeof s);
    s.g.b = b;
    s.type = b->options.type;
    s.g.flags = b->options.at_once ? HEDDLE_GROUPS_KEYS : HEDDLE_GROUPS_ANYTHING;
    do status = measure_point(&s, walk.at);
    while (status == TOOL_OK && bench_walk_next(&walk));
    drop_arrays(&s);
    bench_groups_drop(&s.g);
    return status;
}
