/*
 * filter.c: `heddle bench filter`: keys added to a Bloom filter and looked for in it, and the rate
 * of false positives beside what theory says.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/array.h"
#include "bench/line.h"
#include "progress.h"
#include "tool.h"

#define BLOCK_BYTES 32 /* that a look reads */

typedef struct filter_bench {
    bench *b;
    bench_keys keys;
    uint64_t n; /* keys of the arrays; 0 when there are none */
    void *added, *asked,
        *absent;    /* device memory: keys, the same in another order, keys not added */
    uint8_t *found; /* device memory */
    heddle_filter *filter;
    heddle_filter_options options;
    const void *queries; /* of the operation that is measured */
} filter_bench;

/* --------------------------------------------------------------------------------------- arrays */

static uint64_t added_element(const void *context, uint64_t at)
{
    return bench_key_at((const bench_keys *)context, at, false);
}
static uint64_t asked_element(const void *context, uint64_t at)
{
    const bench_keys *keys = (const bench_keys *)context;
    return bench_key_at(keys, bench_shuffled(keys, at), false);
}
static uint64_t absent_element(const void *context, uint64_t at)
{
    return bench_key_at((const bench_keys *)context, at, true);
}

static void drop_arrays(filter_bench *s)
{
    void *const arrays[] = {s->added, s->asked, s->absent, s->found};
    for (int i = 0; i < 4; i++) (void)heddle_memory_free(s->b->device, arrays[i]);
    s->added = s->asked = s->absent = NULL;
    s->found = NULL;
    s->n = 0;
}

static int make_arrays(filter_bench *s, uint64_t n)
{
    const uint32_t bits = s->b->options.key_bits;
    void *found = NULL;
    if (s->n == n) return TOOL_OK;
    drop_arrays(s);
    progress_label("making %llu keys", (unsigned long long)n);
    s->keys = bench_keys_of(n, s->b->options.seed, bits, 0);
    int status = bench_array_make(s->b, bits, n, added_element, &s->keys, &s->added);
    if (status == TOOL_OK)
        status = bench_array_make(s->b, bits, n, asked_element, &s->keys, &s->asked);
    if (status == TOOL_OK)
        status = bench_array_make(s->b, bits, n, absent_element, &s->keys, &s->absent);
    if (status == TOOL_OK) status = bench_array_take(s->b, 32, (n + 3) / 4, &found);
    s->found = (uint8_t *)found;
    if (status == TOOL_OK) s->n = n;
    return status;
}

/* The filter of a combination, with all keys in it. */
static int make_filter(filter_bench *s, const double *at)
{
    heddle_filter_options options = HEDDLE_FILTER_OPTIONS_INIT;
    heddle_filter_destroy(s->filter);
    s->filter = NULL;
    options.key_bits = s->b->options.key_bits;
    options.capacity = s->n;
    options.bits_per_key = at[BENCH_AXIS_BITS];
    options.hashes = (uint32_t)at[BENCH_AXIS_HASHES];
    options.seed = s->b->options.seed;
    heddle_status status = heddle_filter_create(s->b->device, &options, &s->filter);
    if (status == HEDDLE_OK) status = heddle_filter_get_options(s->filter, &s->options);
    if (status == HEDDLE_OK) status = heddle_filter_add(s->filter, s->added, s->n, NULL);
    return tool_try(status, "making a filter");
}

/* ---------------------------------------------------------------------------------- operations */

static int prepare_add(void *context, bool last)
{
    filter_bench *s = (filter_bench *)context;
    (void)last;
    return tool_try(heddle_filter_clear(s->filter, NULL), "clearing the filter");
}

static heddle_status call_add(void *context)
{
    filter_bench *s = (filter_bench *)context;
    return heddle_filter_add(s->filter, s->added, s->n, NULL);
}

static int prepare_look(void *context, bool last)
{
    filter_bench *s = (filter_bench *)context;
    if (!last) return TOOL_OK;
    return tool_try(heddle_memory_fill(s->b->device, s->found, BENCH_POISON, s->n, NULL),
                    "filling the flags");
}

static heddle_status call_look(void *context)
{
    filter_bench *s = (filter_bench *)context;
    return heddle_filter_contains(s->filter, s->queries, s->n, s->found, NULL, NULL);
}

/* -------------------------------------------------------------------------------- verification */

/* Flags that are 1; *bad counts those that are neither 0 nor 1. */
static int count_found(filter_bench *s, uint64_t *ones, uint64_t *bad)
{
    const void *view = NULL;
    const int status = bench_array_view(s->b, 32, (s->n + 3) / 4, s->found, &view);
    const uint8_t *flags = (const uint8_t *)view;
    uint64_t sum = 0, other = 0;
    if (status != TOOL_OK) return status;
#pragma omp parallel for schedule(static) reduction(+ : sum, other)
    for (uint64_t i = 0; i < s->n; i++) {
        sum += flags[i] == 1;
        other += flags[i] > 1;
    }
    *ones = sum;
    *bad = other;
    bench_array_leave(s->b, view);
    return TOOL_OK;
}

/* All keys are found, and of the others as many as theory says, give or take 6 deviations and 3 %. */
static int verify(filter_bench *s, const heddle_filter_stats *stats, double *rate, bool *right)
{
    uint64_t ones = 0, bad = 0;
    s->queries = s->asked;
    int status = prepare_look(s, true);
    if (status == TOOL_OK) status = tool_try(call_look(s), "contains");
    if (status == TOOL_OK) status = count_found(s, &ones, &bad);
    if (status != TOOL_OK) return status;
    *right = ones == s->n && bad == 0;
    if (!*right)
        tool_say("%llu of %llu keys are not found", (unsigned long long)(s->n - ones),
                 (unsigned long long)s->n);
    s->queries = s->absent;
    status = prepare_look(s, true);
    if (status == TOOL_OK) status = tool_try(call_look(s), "contains");
    if (status == TOOL_OK) status = count_found(s, &ones, &bad);
    if (status != TOOL_OK) return status;
    const double expected = stats->rate_expected * (double)s->n;
    const bool likely = fabs((double)ones - expected) <= 6 * sqrt(expected) + 0.03 * expected + 3;
    *rate = (double)ones / (double)s->n;
    if (!likely)
        tool_say("%llu absent keys are found, but theory has %.0f", (unsigned long long)ones,
                 expected);
    *right = *right && likely && bad == 0;
    return status;
}

/* --------------------------------------------------------------------------------- measurement */

/* Adding is held against a partition of the keys, looking against random reads of a block. */
static int measure_roof(filter_bench *s, uint32_t op, uint64_t bytes, double *roof)
{
    const uint32_t width = s->b->options.key_bits / 8;
    if (op == BENCH_ADD)
        return bench_roof_measure(s->b, HD_ROOF_PARTITION, width, bytes, s->n, roof);
    return bench_roof_measure(s->b, HD_ROOF_GATHER, BLOCK_BYTES, bytes, s->n, roof);
}

static void print_line(filter_bench *s, const heddle_filter_stats *stats, double rate,
                       const bench_result *result)
{
    bench_line line;
    bench_line_begin(s->b, &line);
    bench_line_word(&line, "op", s->b->op);
    bench_line_number(&line, "n", "%.0f", (double)s->n);
    bench_line_number(&line, "key_bits", "%.0f", s->options.key_bits);
    bench_line_number(&line, "bits_per_key", "%g", s->options.bits_per_key);
    bench_line_number(&line, "hashes", "%.0f", s->options.hashes);
    bench_line_number(&line, "megabytes", "%.1f", (double)stats->bits / 8e6);
    bench_line_number(&line, "rate_expected", "%.4g", stats->rate_expected);
    bench_line_number(&line, "rate_found", "%.4g", stats->rate_found);
    bench_line_number(&line, "rate_measured", "%.4g", rate);
    bench_line_end(s->b, &line, result);
}

static int measure_point(filter_bench *s, const double *at)
{
    const uint32_t op = (uint32_t)at[BENCH_AXIS_OP];
    const bench_timed add = {prepare_add, call_add, s}, look = {prepare_look, call_look, s};
    bench_result result = {0, at[BENCH_AXIS_KEYS], 0, true};
    heddle_filter_stats stats = HEDDLE_FILTER_STATS_INIT;
    double rate = 0;
    (void)snprintf(s->b->op, sizeof s->b->op, "%s", bench_op_names[op]);
    progress_step("%s", bench_op_names[op]);
    int status = make_arrays(s, (uint64_t)at[BENCH_AXIS_KEYS]);
    if (status == TOOL_OK) status = make_filter(s, at);
    s->queries = op == BENCH_MISS ? s->absent : s->asked;
    if (status == TOOL_OK)
        status = bench_time(s->b, op == BENCH_ADD ? &add : &look, &result.seconds);
    if (status == TOOL_OK)
        status = tool_try(heddle_filter_get_stats(s->filter, &stats, NULL), "statistics");
    if (status == TOOL_OK && s->b->options.verify) status = verify(s, &stats, &rate, &result.right);
    if (status == TOOL_OK) status = measure_roof(s, op, stats.bits / 8, &result.roof);
    if (status == TOOL_OK) print_line(s, &stats, rate, &result);
    return status;
}

int bench_filter_check(bench *b)
{
    const double keys = bench_list_most(&b->options.axes.list[BENCH_AXIS_KEYS]);
    const double bits = bench_list_most(&b->options.axes.list[BENCH_AXIS_BITS]);
    /* The arrays, the filter, and what sorting takes. */
    const double bytes = keys * (5.0 * b->options.key_bits / 8 + 1 + bits / 8);
    if (bytes <= (double)b->info.memory_free) return TOOL_OK;
    return tool_refuse("bench: %.0f keys take %.1f GB, more than is free", keys, bytes / 1e9);
}

int bench_filter_run(bench *b)
{
    bench_walk walk = bench_walk_begin(&b->options.axes);
    filter_bench s;
    int status = TOOL_OK;
    memset(&s, 0, sizeof s);
    s.b = b;
    s.options.size = sizeof s.options;
    do status = measure_point(&s, walk.at);
    while (status == TOOL_OK && bench_walk_next(&walk));
    heddle_filter_destroy(s.filter);
    drop_arrays(&s);
    return status;
}
