/* groups.c: see groups.h. */
#include "bench/relation/groups.h"

#include <stdlib.h>

#include "progress.h"
#include "tool.h"

#define GB 1e9

void bench_groups_drop(bench_groups *g)
{
    (void)heddle_memory_free(g->b->device, g->keys);
    free(g->counts);
    g->keys = NULL;
    g->counts = NULL;
}

static uint64_t count_present(const bench_groups *g)
{
    uint64_t present = 0;
    for (uint64_t i = 0; i < g->rows.distinct; i++) present += g->counts[i] != 0;
    return present;
}

int bench_groups_rows(bench_groups *g, const double *at, bool *fresh)
{
    const bench_options *o = &g->b->options;
    const double skew = at[BENCH_AXIS_SKEW];
    const uint64_t n = (uint64_t)at[BENCH_AXIS_KEYS], groups = (uint64_t)at[BENCH_AXIS_GROUPS];
    const bench_rows wanted = bench_rows_of(o, n, groups, skew, 0);
    *fresh = g->counts == NULL || g->rows.keys.n != n || g->rows.distinct != wanted.distinct ||
             g->rows.skew != skew;
    g->order = (uint32_t)at[BENCH_AXIS_ORDER];
    if (!*fresh) return TOOL_OK;
    bench_groups_drop(g);
    progress_label("making %llu keys", (unsigned long long)n);
    g->rows = wanted;
    g->row_bits = o->row_bits != 0 ? o->row_bits : n < UINT32_MAX ? 32 : 64;
    g->counts = bench_rows_count(&g->rows);
    if (g->counts == NULL) return TOOL_FAILED;
    g->expected = count_present(g);
    return bench_array_make(g->b, o->key_bits, n, bench_row_key_element, &g->rows, &g->keys);
}

heddle_status bench_groups_create(const bench_groups *g, heddle_groups **groups)
{
    const heddle_column key = HEDDLE_COLUMN(g->keys, g->b->options.key_bits / 8);
    heddle_groups_options options = HEDDLE_GROUPS_OPTIONS_INIT;
    options.order = g->order;
    options.row_bits = g->row_bits;
    options.flags = g->flags;
    options.aggregates = g->aggregate;
    options.aggregate_count = g->aggregate != NULL;
    options.seed = g->b->options.seed != 0 ? g->b->options.seed : 1;
    *groups = NULL;
    return heddle_groups_create(g->b->device, &key, 1, g->rows.keys.n, &options, groups, NULL);
}

bool bench_groups_possible(const double *at)
{
    return at[BENCH_AXIS_GROUPS] <= at[BENCH_AXIS_KEYS];
}

int bench_groups_roof(bench_groups *g, double *roof)
{
    const uint32_t width = (g->b->options.key_bits + g->row_bits) / 8;
    const uint64_t n = g->rows.keys.n;
    return bench_roof_measure(g->b, HD_ROOF_PARTITION, width, n * width, n, roof);
}

void bench_groups_line(const bench_groups *g, bench_line *line)
{
    char skew[BENCH_SKEW_NAME];
    bench_skew_name(g->rows.skew, skew);
    bench_line_number(line, "n", "%.0f", (double)g->rows.keys.n);
    bench_line_number(line, "groups", "%.0f", (double)g->expected);
    bench_line_word(line, "distribution", skew);
    bench_line_number(line, "key_bits", "%.0f", g->b->options.key_bits);
    bench_line_number(line, "row_bits", "%.0f", g->row_bits);
}

void bench_groups_judge(const bench_groups *g, uint64_t wrong, bool *right)
{
    if (wrong != 0)
        tool_say("%s of %llu groups: %llu answers are wrong", g->b->op,
                 (unsigned long long)g->expected, (unsigned long long)wrong);
    *right &= wrong == 0;
}

/* Columns, keys and row numbers twice while rows are sorted, and the answers. */
int bench_groups_check(bench *b)
{
    const bench_options *o = &b->options;
    const double n = bench_list_most(&o->axes.list[BENCH_AXIS_KEYS]);
    const double key = o->key_bits / 8, row = o->row_bits == 32 || n < UINT32_MAX ? 4 : 8;
    const double need = n * (key + 8 + 2 * (key + row) + row + 16);
    if (o->row_bits == 32 && n >= UINT32_MAX)
        return tool_refuse("bench: so many rows cannot be numbered with 32 bits");
    if (need <= (double)b->info.memory_free) return TOOL_OK;
    return tool_refuse("bench: groups of %.0f rows need %.1f GB, but %s has %.1f GB free", n,
                       need / GB, b->device_name, (double)b->info.memory_free / GB);
}
