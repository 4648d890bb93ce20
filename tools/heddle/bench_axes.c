/* bench_axes.c: the lists of a benchmark: one reader for the items of each axis. */
#include "bench_axes.h"

#include <stdlib.h>

#include "bench_read.h"

#define KEYS_MAX (UINT64_C(1) << 40)

const char *const bench_op_names[BENCH_OPS] = {"build",    "insert", "find",
                                               "contains", "miss",   "erase"};

static bool read_choice(const char *item, const uint32_t *choices, double *number)
{
    uint32_t chosen;
    if (!bench_read_choice(item, choices, &chosen)) return false;
    *number = chosen;
    return true;
}

static bool read_keys(const char *item, double *number)
{
    uint64_t keys;
    if (!bench_read_count(item, &keys)) return false;
    *number = (double)keys;
    return keys >= 1 && keys <= KEYS_MAX;
}

static bool read_bucket(const char *item, double *number)
{
    static const uint32_t choices[] = {0, 1, 4, 8, 16, 32, UINT32_MAX};
    return read_choice(item, choices, number);
}

static bool read_hashes(const char *item, double *number)
{
    static const uint32_t choices[] = {0, 2, 3, 4, UINT32_MAX};
    return read_choice(item, choices, number);
}

static bool read_load(const char *item, double *number)
{
    char *end;
    *number = strtod(item, &end);
    return *end == '\0' && *number >= 0.1 && *number <= 0.99;
}

static bool read_op(const char *item, double *number)
{
    const uint32_t op = bench_read_word(item, bench_op_names, BENCH_OPS);
    *number = op;
    return op < BENCH_OPS;
}

static bool read_hit(const char *item, double *number)
{
    uint64_t hit;
    if (!bench_read_whole(item, 0, 100, &hit)) return false;
    *number = (double)hit;
    return true;
}

/* In the order of BENCH_AXIS_KEYS, BENCH_AXIS_BUCKET, ... */
static bool (*const item_readers[BENCH_AXES])(const char *item, double *number) = {
    read_keys, read_bucket, read_hashes, read_load, read_op, read_hit,
};

typedef struct reading {
    bench_list *list;
    uint32_t axis;
} reading;

static bool append_item(void *to, const char *item)
{
    const reading *r = (const reading *)to;
    if (r->list->count == BENCH_LIST_MAX) return false;
    return item_readers[r->axis](item, &r->list->at[r->list->count++]);
}

bool bench_axes_read(bench_axes *axes, uint32_t axis, const char *text)
{
    reading r = {&axes->list[axis], axis};
    r.list->count = 0;
    return bench_read_list(text, append_item, &r);
}

void bench_axes_default(bench_axes *axes, uint32_t axis, const char *text)
{
    if (axes->list[axis].count == 0) (void)bench_axes_read(axes, axis, text);
}

double bench_list_least(const bench_list *list)
{
    double least = list->at[0];
    for (uint32_t i = 1; i < list->count; i++)
        if (list->at[i] < least) least = list->at[i];
    return least;
}

double bench_list_most(const bench_list *list)
{
    double most = list->at[0];
    for (uint32_t i = 1; i < list->count; i++)
        if (list->at[i] > most) most = list->at[i];
    return most;
}
