/* axes.c: the lists of a benchmark: one reader for the items of each axis. */
#include "bench/axes.h"

#include <heddle/heddle.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "read.h"

#define KEYS_MAX (UINT64_C(1) << 40)

const char *const bench_op_names[BENCH_OPS] = {
    "build",    "insert", "find",      "contains", "miss",  "erase", "append", "count",
    "retrieve", "query",  "intersect", "add",      "range", "mixed", "grow",   "take"};
const char *const bench_scheme_names[BENCH_SCHEMES] = {
    "auto", "cuckoo", "hashgraph", "open", "iceberg", "bucket_list", "slab"};
const char *const bench_variant_names[BENCH_VARIANTS] = {"regions", "ordered", "v1", "v2",
                                                         "direct"};
const char *const bench_kind_names[BENCH_KINDS] = {"inner", "left", "right",
                                                   "full",  "semi", "anti"};
const char *const bench_aggregate_names[BENCH_AGGREGATES] = {"count", "sum", "min", "max", "mean"};
const char *const bench_order_names[BENCH_ORDERS] = {"unordered", "first"};

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
    uint64_t hashes; /* of tables fewer: settle.c */
    if (!bench_read_whole(item, 0, 16, &hashes)) return false;
    *number = (double)hashes;
    return true;
}

static bool read_share(const char *item, double least, double most, double *number)
{
    char *end;
    *number = strtod(item, &end);
    return *end == '\0' && *number >= least && *number <= most;
}

static bool read_load(const char *item, double *number)
{
    return read_share(item, 0.1, 0.99, number);
}

static bool read_bits(const char *item, double *number) { return read_share(item, 1, 512, number); }

static bool read_vertices(const char *item, double *number)
{
    return read_share(item, 0.125, 4, number);
}

static bool read_workspace(const char *item, double *number)
{
    return read_share(item, 0.001, 1, number);
}

static bool read_skew(const char *item, double *number)
{
    *number = strcmp(item, "equal") == 0      ? (double)INFINITY
              : strcmp(item, "sequence") == 0 ? BENCH_SEQUENCE
                                              : 0;
    if (strncmp(item, "zipf:", 5) == 0) return read_share(item + 5, 0.01, 10, number);
    return *number != 0 || strcmp(item, "uniform") == 0;
}

static bool read_bins(const char *item, double *number)
{
    return read_keys(item, number) && *number <= 65536;
}

/* The place of a word in a list, counted from `first`. */
static bool read_name(const char *item, const char *const *names, uint32_t count, uint32_t first,
                      double *number)
{
    const uint32_t place = bench_read_word(item, names, count);
    *number = place + first;
    return place < count;
}

static bool read_scheme(const char *item, double *number)
{
    return read_name(item, bench_scheme_names, BENCH_SCHEMES, HEDDLE_SCHEME_AUTO, number);
}

static bool read_op(const char *item, double *number)
{
    return read_name(item, bench_op_names, BENCH_OPS, 0, number);
}

static bool read_variant(const char *item, double *number)
{
    return read_name(item, bench_variant_names, BENCH_VARIANTS, 0, number);
}

static bool read_kind(const char *item, double *number)
{
    return read_name(item, bench_kind_names, BENCH_KINDS, 1, number);
}

static bool read_order(const char *item, double *number)
{
    return read_name(item, bench_order_names, BENCH_ORDERS, 0, number);
}

static bool read_aggregate(const char *item, double *number)
{
    return read_name(item, bench_aggregate_names, BENCH_AGGREGATES, 1, number);
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
    read_keys,      read_scheme, read_bucket,  read_hashes,    read_load,
    read_bits,      read_keys,   read_hit,     read_keys,      read_keys,
    read_skew,      read_hit,    read_variant, read_bins,      read_vertices,
    read_workspace, read_kind,   read_order,   read_aggregate, read_op,
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

static uint32_t choices(const bench_list *list) { return list->count == 0 ? 1 : list->count; }

bench_walk bench_walk_begin(const bench_axes *axes)
{
    bench_walk walk;
    memset(&walk, 0, sizeof walk);
    walk.axes = axes;
    for (uint32_t i = 0; i < BENCH_AXES; i++)
        if (axes->list[i].count != 0) walk.at[i] = axes->list[i].at[0];
    return walk;
}

bool bench_walk_next(bench_walk *walk)
{
    for (uint32_t i = BENCH_AXES; i-- > 0;) {
        const bench_list *list = &walk->axes->list[i];
        walk->index[i] = (walk->index[i] + 1) % choices(list);
        if (list->count != 0) walk->at[i] = list->at[walk->index[i]];
        if (walk->index[i] != 0) return true;
    }
    return false;
}

uint32_t bench_walk_count(const bench_axes *axes)
{
    uint32_t count = 1;
    for (uint32_t i = 0; i < BENCH_AXES; i++) count *= choices(&axes->list[i]);
    return count;
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
