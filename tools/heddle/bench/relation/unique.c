/*
 * unique.c: `heddle bench unique`: the different keys of a column, and what --ask names of them: the key that every
 * row has (the inverse) and how many rows each has; or one of that, or the first row of each; or nothing more.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/relation/groups.h"
#include "progress.h"
#include "tool.h"

static const char *const bench_ask_names[] = {"rows", "keys", "sizes", "first"};

typedef struct unique_bench {
    bench_groups g;
    void *keys;      /* device memory, a group each */
    uint64_t *sizes; /* likewise */
    void *inverse;   /* a row each */
    void *firsts;    /* a group each */
    uint32_t ask;    /* BENCH_UNIQUE_* */
    uint64_t got;    /* groups of the last run */
} unique_bench;

static bool has_sizes(const unique_bench *s)
{
    return s->ask == BENCH_UNIQUE_ROWS || s->ask == BENCH_UNIQUE_SIZES;
}

static uint32_t flags_of(uint32_t ask)
{
    return ask == BENCH_UNIQUE_KEYS    ? HEDDLE_GROUPS_KEYS
           : ask == BENCH_UNIQUE_SIZES ? HEDDLE_GROUPS_KEYS | HEDDLE_GROUPS_SIZES
           : ask == BENCH_UNIQUE_FIRST ? HEDDLE_GROUPS_KEYS | HEDDLE_GROUPS_FIRST
                                       : HEDDLE_GROUPS_ANYTHING;
}

static heddle_status call_unique(void *context)
{
    unique_bench *s = (unique_bench *)context;
    heddle_groups *groups;
    heddle_status status = bench_groups_create(&s->g, &groups);
    if (status == HEDDLE_OK) status = heddle_groups_count(groups, &s->got);
    if (status == HEDDLE_OK && s->got <= s->g.expected) { /* else there is no room for them */
        status = heddle_groups_keys(groups, 0, s->keys, NULL, NULL);
        if (status == HEDDLE_OK && s->ask == BENCH_UNIQUE_ROWS)
            status = heddle_groups_of_rows(groups, s->inverse, NULL);
        if (status == HEDDLE_OK && has_sizes(s))
            status = heddle_groups_sizes(groups, s->sizes, NULL);
        if (status == HEDDLE_OK && s->ask == BENCH_UNIQUE_FIRST)
            status = heddle_groups_first(groups, s->firsts, NULL);
    }
    heddle_groups_destroy(groups);
    return status;
}

static int poison(void *context, bool last)
{
    unique_bench *s = (unique_bench *)context;
    heddle_device *device = s->g.b->device;
    const uint64_t groups = s->g.expected;
    if (!last) return TOOL_OK;
    heddle_status status = heddle_memory_fill(device, s->keys, BENCH_POISON,
                                              groups * s->g.b->options.key_bits / 8, NULL);
    if (status == HEDDLE_OK)
        status = heddle_memory_fill(device, s->sizes, BENCH_POISON, groups * 8, NULL);
    if (status == HEDDLE_OK)
        status = heddle_memory_fill(device, s->inverse, BENCH_POISON,
                                    s->g.rows.keys.n * s->g.row_bits / 8, NULL);
    if (status == HEDDLE_OK)
        status =
            heddle_memory_fill(device, s->firsts, BENCH_POISON, groups * s->g.row_bits / 8, NULL);
    return tool_try(status, "filling the results");
}

/* --------------------------------------------------------------------------------- verification */

/* Keys that are not among the rows, or are there twice. */
static uint64_t wrong_keys(const unique_bench *s, const void *keys)
{
    const bench_rows *rows = &s->g.rows;
    uint8_t *seen = (uint8_t *)calloc(rows->distinct, 1);
    uint64_t wrong = seen == NULL ? s->got : 0;
    for (uint64_t g = 0; g < s->got && seen != NULL; g++) {
        const uint64_t number =
            bench_key_number(&rows->keys, bench_at(keys, rows->keys.key_bits, g));
        const bool known = number < rows->distinct && s->g.counts[number] != 0;
        wrong += !known || seen[number] != 0;
        if (known) seen[number] = 1;
    }
    free(seen);
    return wrong;
}

/* First rows that are not the first of their key. */
static uint64_t wrong_firsts(const unique_bench *s, const void *keys, const void *firsts)
{
    const bench_rows *rows = &s->g.rows;
    uint64_t *group = (uint64_t *)malloc(rows->distinct * sizeof *group), wrong = 0;
    if (group == NULL) return s->got;
    for (uint64_t g = 0; g < s->got; g++)
        group[bench_key_number(&rows->keys, bench_at(keys, rows->keys.key_bits, g))] = g;
    for (uint64_t row = 0; row < rows->keys.n; row++) {
        const uint64_t number = bench_row_number(rows, row);
        if (group[number] == UINT64_MAX) continue; /* met before */
        wrong += bench_at(firsts, s->g.row_bits, group[number]) != row;
        group[number] = UINT64_MAX;
    }
    free(group);
    return wrong;
}

/* Whether keys are in the order of first appearance. */
static uint64_t wrong_appearance(const unique_bench *s, const void *keys)
{
    const bench_rows *rows = &s->g.rows;
    uint8_t *seen = (uint8_t *)calloc(rows->distinct, 1);
    uint64_t next = 0, wrong = 0;
    if (seen == NULL) return s->got;
    for (uint64_t row = 0; row < rows->keys.n && next < s->got; row++) {
        const uint64_t number = bench_row_number(rows, row);
        if (seen[number] != 0) continue;
        seen[number] = 1;
        wrong += bench_at(keys, rows->keys.key_bits, next++) != bench_row_key(rows, row);
    }
    free(seen);
    return wrong;
}

/* Groups whose size is not that of their key; all sizes right means that no key is there twice. */
static uint64_t wrong_groups(const unique_bench *s, const void *keys, const void *sizes)
{
    const bench_rows *rows = &s->g.rows;
    uint64_t wrong = 0, sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : wrong, sum)
    for (uint64_t g = 0; g < s->got; g++) {
        const uint64_t number =
            bench_key_number(&rows->keys, bench_at(keys, rows->keys.key_bits, g));
        const uint64_t size = bench_at(sizes, 64, g);
        wrong += number >= rows->distinct || size == 0 || size != s->g.counts[number];
        sum += size;
    }
    return wrong + (sum != rows->keys.n);
}

/* Rows that are sent to another key than their own. */
static uint64_t wrong_rows(const unique_bench *s, const void *keys, const void *inverse)
{
    const bench_rows *rows = &s->g.rows;
    const uint64_t n = rows->keys.n;
    uint64_t wrong = 0;
#pragma omp parallel for schedule(static) reduction(+ : wrong)
    for (uint64_t row = 0; row < n; row++) {
        const uint64_t g = bench_at(inverse, s->g.row_bits, row);
        wrong += g >= s->got || bench_at(keys, rows->keys.key_bits, g) != bench_row_key(rows, row);
    }
    return wrong;
}

/* What was asked for, in host memory. */
typedef struct unique_answers {
    const void *keys, *sizes, *inverse, *firsts;
} unique_answers;

static uint64_t count_wrong(const unique_bench *s, const unique_answers *a)
{
    uint64_t wrong = wrong_keys(s, a->keys);
    if (wrong != 0) return wrong;
    if (a->sizes != NULL) wrong += wrong_groups(s, a->keys, a->sizes);
    if (a->inverse != NULL) wrong += wrong_rows(s, a->keys, a->inverse);
    if (a->firsts != NULL) wrong += wrong_firsts(s, a->keys, a->firsts);
    if (s->g.order == HEDDLE_GROUPS_BY_FIRST) wrong += wrong_appearance(s, a->keys);
    return wrong;
}

static int verify(unique_bench *s, bool *right)
{
    bench *b = s->g.b;
    unique_answers a = {NULL, NULL, NULL, NULL};
    if (s->got != s->g.expected) {
        bench_groups_judge(&s->g, s->g.expected, right);
        return TOOL_OK;
    }
    int status = bench_array_view(b, b->options.key_bits, s->got, s->keys, &a.keys);
    if (status == TOOL_OK && has_sizes(s))
        status = bench_array_view(b, 64, s->got, s->sizes, &a.sizes);
    if (status == TOOL_OK && s->ask == BENCH_UNIQUE_ROWS)
        status = bench_array_view(b, s->g.row_bits, s->g.rows.keys.n, s->inverse, &a.inverse);
    if (status == TOOL_OK && s->ask == BENCH_UNIQUE_FIRST)
        status = bench_array_view(b, s->g.row_bits, s->got, s->firsts, &a.firsts);
    if (status == TOOL_OK) bench_groups_judge(&s->g, count_wrong(s, &a), right);
    bench_array_leave(b, a.keys);
    bench_array_leave(b, a.sizes);
    bench_array_leave(b, a.inverse);
    bench_array_leave(b, a.firsts);
    return status;
}

/* ---------------------------------------------------------------------------------- measurement */

static void drop_results(unique_bench *s)
{
    heddle_device *device = s->g.b->device;
    (void)heddle_memory_free(device, s->keys);
    (void)heddle_memory_free(device, s->sizes);
    (void)heddle_memory_free(device, s->inverse);
    (void)heddle_memory_free(device, s->firsts);
    s->keys = s->inverse = s->firsts = NULL;
    s->sizes = NULL;
}

static int make_arrays(unique_bench *s, const double *at)
{
    bench *b = s->g.b;
    void *sizes = NULL;
    bool fresh;
    int status = bench_groups_rows(&s->g, at, &fresh);
    if (status != TOOL_OK || !fresh) return status;
    drop_results(s);
    status = bench_array_take(b, b->options.key_bits, s->g.expected, &s->keys);
    if (status == TOOL_OK) status = bench_array_take(b, 64, s->g.expected, &sizes);
    if (status == TOOL_OK)
        status = bench_array_take(b, s->g.row_bits, s->g.rows.keys.n, &s->inverse);
    if (status == TOOL_OK) status = bench_array_take(b, s->g.row_bits, s->g.expected, &s->firsts);
    s->sizes = (uint64_t *)sizes;
    return status;
}

static int measure_point(unique_bench *s, const double *at)
{
    bench *b = s->g.b;
    const bench_timed timed = {poison, call_unique, s};
    bench_result result = {0, at[BENCH_AXIS_KEYS], 0, true};
    bench_line line;
    (void)snprintf(b->op, sizeof b->op, "unique");
    progress_step("unique");
    if (!bench_groups_possible(at)) return TOOL_OK;
    int status = make_arrays(s, at);
    progress_label("unique of %.0f groups", at[BENCH_AXIS_GROUPS]);
    if (status == TOOL_OK) status = bench_time(b, &timed, &result.seconds);
    if (status == TOOL_OK && b->options.verify) status = verify(s, &result.right);
    if (status == TOOL_OK) status = bench_groups_roof(&s->g, &result.roof);
    if (status != TOOL_OK) return status;
    bench_line_begin(b, &line);
    bench_line_word(&line, "order", bench_order_names[s->g.order]);
    bench_line_word(&line, "ask", bench_ask_names[s->ask]);
    bench_groups_line(&s->g, &line);
    bench_line_end(b, &line, &result);
    return TOOL_OK;
}

int bench_unique_run(bench *b)
{
    bench_walk walk = bench_walk_begin(&b->options.axes);
    unique_bench s;
    int status = TOOL_OK;
    memset(&s, 0, sizeof s);
    s.g.b = b;
    s.ask = b->options.ask;
    s.g.flags = flags_of(s.ask);
    do status = measure_point(&s, walk.at);
    while (status == TOOL_OK && bench_walk_next(&walk));
    drop_results(&s);
    bench_groups_drop(&s.g);
    return status;
}
