/*
 * check.c: answers of a graph held against the rows it was made from. A value is right
 * when the row of that number has the key that was asked for.
 */
#include <stdlib.h>

#include "bench/graph/graph.h"
#include "tool.h"

/* How many rows have the key of a query. */
static uint64_t expected(const bench_graph *g, uint64_t query)
{
    const uint64_t number = bench_row_number(&g->asked, query);
    return bench_row_hits(&g->asked, query) && number < g->rows.distinct ? g->counts[number] : 0;
}

static int judge(const bench_graph *g, uint64_t wrong, bool *right)
{
    if (wrong != 0)
        tool_say("%s: %llu of %llu answers are wrong", g->b->op, (unsigned long long)wrong,
                 (unsigned long long)g->asked.keys.n);
    *right &= wrong == 0;
    return TOOL_OK;
}

/* Whether `value` is a row with the key of a query. */
static bool is_match(const bench_graph *g, uint64_t query, uint64_t value)
{
    return value < g->rows.keys.n &&
           bench_row_number(&g->rows, value) == bench_row_number(&g->asked, query);
}

int bench_graph_check_found(bench_graph *g, bool *right)
{
    const uint32_t bits = g->b->options.value_bits;
    const uint64_t pattern = UINT64_C(0x0101010101010101) * BENCH_POISON;
    const uint64_t n = g->asked.keys.n, poison = bits == 64 ? pattern : (uint32_t)pattern;
    const void *values;
    uint64_t wrong = 0;
    const int status = bench_array_view(g->b, bits, n, g->answers, &values);
    if (status == TOOL_OK) {
#pragma omp parallel for schedule(static) reduction(+ : wrong)
        for (uint64_t i = 0; i < n; i++) {
            const uint64_t value = bench_at(values, bits, i);
            wrong += expected(g, i) == 0 ? value != poison : !is_match(g, i, value);
        }
    }
    bench_array_leave(g->b, values);
    return status == TOOL_OK ? judge(g, wrong, right) : status;
}

int bench_graph_check_contained(bench_graph *g, bool *right)
{
    const uint64_t n = g->asked.keys.n;
    const void *view;
    uint64_t wrong = 0;
    const int status = bench_array_view(g->b, 8, n, g->found, &view);
    if (status == TOOL_OK) {
        const uint8_t *found = (const uint8_t *)view;
#pragma omp parallel for schedule(static) reduction(+ : wrong)
        for (uint64_t i = 0; i < n; i++) wrong += found[i] != (expected(g, i) != 0);
    }
    bench_array_leave(g->b, view);
    return status == TOOL_OK ? judge(g, wrong, right) : status;
}

static int check_counts(bench_graph *g, bool none, bool *right)
{
    const uint64_t n = g->asked.keys.n;
    const void *matches;
    uint64_t wrong = 0;
    const int status = bench_array_view(g->b, 64, n, g->matches, &matches);
    if (status == TOOL_OK) {
#pragma omp parallel for schedule(static) reduction(+ : wrong)
        for (uint64_t i = 0; i < n; i++)
            wrong += bench_at(matches, 64, i) != (none ? 0 : expected(g, i));
    }
    bench_array_leave(g->b, matches);
    return status == TOOL_OK ? judge(g, wrong, right) : status;
}

int bench_graph_check_counted(bench_graph *g, bool *right) { return check_counts(g, false, right); }

/* Every list as long as it must be, with matching values, none of which was seen before. */
static uint64_t wrong_lists(const bench_graph *g, const uint64_t *offsets, const void *values,
                            uint8_t *seen)
{
    const uint32_t bits = g->b->options.value_bits;
    const uint64_t n = g->asked.keys.n, rows = g->rows.keys.n;
    uint64_t wrong = offsets[0] != 0;
#pragma omp parallel for schedule(dynamic, 4096) reduction(+ : wrong)
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t begin = offsets[i], end = offsets[i + 1];
        bool good = begin <= end && end <= rows && end - begin == expected(g, i);
        for (uint64_t j = begin; j < end && good; j++) {
            const uint64_t value = bench_at(values, bits, j);
            good = is_match(g, i, value) &&
                   __atomic_exchange_n(&seen[value], 1, __ATOMIC_RELAXED) == 0;
        }
        wrong += !good;
    }
    return wrong;
}

int bench_graph_check_retrieved(bench_graph *g, bool *right)
{
    const bench_options *o = &g->b->options;
    const uint64_t rows = g->rows.keys.n;
    const void *offsets = NULL, *values = NULL;
    uint8_t *seen = (uint8_t *)calloc(rows, 1);
    uint64_t wrong = 0;
    int status = TOOL_OK;
    if (seen == NULL) {
        tool_say("no host memory for %llu flags", (unsigned long long)rows);
        status = TOOL_FAILED;
    }
    if (status == TOOL_OK)
        status = bench_array_view(g->b, 64, g->asked.keys.n + 1, g->matches, &offsets);
    if (status == TOOL_OK)
        status = bench_array_view(g->b, o->value_bits, rows, g->answers, &values);
    if (status == TOOL_OK) wrong = wrong_lists(g, (const uint64_t *)offsets, values, seen);
    bench_array_leave(g->b, offsets);
    bench_array_leave(g->b, values);
    free(seen);
    return status == TOOL_OK ? judge(g, wrong, right) : status;
}

static int check_size(bench_graph *g, uint64_t wanted, bool *right)
{
    uint64_t size = 0;
    const int status = tool_try(heddle_table_size(g->table, &size, NULL), "size");
    if (status == TOOL_OK && size != wanted) {
        tool_say("%s: the graph then holds %llu pairs, not %llu", g->b->op,
                 (unsigned long long)size, (unsigned long long)wanted);
        *right = false;
    }
    return status;
}

int bench_graph_check_built(bench_graph *g, bool *right)
{
    int status = check_size(g, g->rows.keys.n, right);
    if (status != TOOL_OK) return status;
    const heddle_status valid = heddle_table_validate(g->table, NULL);
    if (valid != HEDDLE_OK) {
        *right = false;
        status = tool_try(valid, "validate");
        if (valid != HEDDLE_ERROR_CORRUPT) return status;
    }
    status = bench_graph_ask(g, BENCH_ASK_EACH);
    if (status == TOOL_OK) status = bench_graph_poison(g);
    if (status == TOOL_OK) status = tool_try(bench_graph_retrieve(g), "retrieve");
    return status == TOOL_OK ? bench_graph_check_retrieved(g, right) : status;
}

/* Each key was there and is erased: afterwards no key has a value. */
int bench_graph_check_erased(bench_graph *g, bool *right)
{
    int status = bench_graph_check_contained(g, right);
    if (status == TOOL_OK) status = check_size(g, 0, right);
    if (status == TOOL_OK)
        status = tool_try(
            heddle_table_count(g->table, g->queries, g->asked.keys.n, g->matches, NULL, NULL),
            "count");
    return status == TOOL_OK ? check_counts(g, true, right) : status;
}

/* Every query has as many pairs as the rows have its key. */
int bench_graph_check_common(bench_graph *g, bool *right)
{
    const uint64_t n = g->asked.keys.n;
    uint64_t sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (uint64_t i = 0; i < n; i++) sum += expected(g, i);
    if (g->common != sum)
        tool_say("%s: %llu pairs in common, not %llu", g->b->op, (unsigned long long)g->common,
                 (unsigned long long)sum);
    *right &= g->common == sum;
    return TOOL_OK;
}
