/*
 * axes.h: what a benchmark goes through: lists of sizes, loads, operations and so on. It
 * measures every combination of them.
 */
#ifndef BENCH_AXES_H
#define BENCH_AXES_H

#include <stdbool.h>
#include <stdint.h>

#define BENCH_LIST_MAX 64

/* The operations, in the order of bench_op_names: those of maps and sets, then more of graphs and filters. */
enum {
    BENCH_BUILD,
    BENCH_INSERT,
    BENCH_FIND,
    BENCH_CONTAINS,
    BENCH_MISS,
    BENCH_ERASE,
    BENCH_APPEND,
    BENCH_TABLE_OPS,
    BENCH_COUNT = BENCH_TABLE_OPS,
    BENCH_RETRIEVE,
    BENCH_QUERY,
    BENCH_INTERSECT,
    BENCH_GRAPH_OPS,
    BENCH_ADD = BENCH_GRAPH_OPS, /* of filters, multimaps and counters */
    BENCH_RANGE,                 /* of multimaps */
    BENCH_MIXED,                 /* these three of mixed */
    BENCH_GROW,
    BENCH_TAKE,
    BENCH_OPS
};
extern const char *const bench_op_names[BENCH_OPS];

/* "auto", "cuckoo", ... by HEDDLE_SCHEME_*. */
#define BENCH_SCHEMES 7
extern const char *const bench_scheme_names[BENCH_SCHEMES];

/*
 * The ways to build a graph: the library's own two, and the two of the HashGraph paper. The last one is for
 * multimaps of slots, of fixed size: pairs are placed in the order in which they come.
 */
enum { BENCH_REGIONS, BENCH_ORDERED, BENCH_V1, BENCH_V2, BENCH_DIRECT, BENCH_VARIANTS };
extern const char *const bench_variant_names[BENCH_VARIANTS];

/* As HEDDLE_JOIN_*, HEDDLE_AGGREGATE_* and HEDDLE_GROUPS_*; the first two begin with 1. */
#define BENCH_KINDS 6
#define BENCH_AGGREGATES 5
#define BENCH_ORDERS 2
extern const char *const bench_kind_names[BENCH_KINDS];
extern const char *const bench_aggregate_names[BENCH_AGGREGATES];
extern const char *const bench_order_names[BENCH_ORDERS];

/* A walk changes the last ones first. */
enum {
    BENCH_AXIS_KEYS,
    BENCH_AXIS_SCHEME, /* HEDDLE_SCHEME_* */
    BENCH_AXIS_BUCKET, /* slots; 0 lets the library choose */
    BENCH_AXIS_HASHES, /* likewise */
    BENCH_AXIS_LOAD,
    BENCH_AXIS_BITS,    /* of a filter, for every key */
    BENCH_AXIS_BATCH,   /* operations */
    BENCH_AXIS_UPDATES, /* percent of them that insert or erase */
    BENCH_AXIS_COPIES,  /* rows with the same key */
    BENCH_AXIS_GROUPS,  /* different keys */
    BENCH_AXIS_SKEW, /* the exponent of Zipf's law; 0 uniform, infinity all keys equal; or the next */
    BENCH_AXIS_HIT, /* percent of queries or left rows whose key is present */
    BENCH_AXIS_VARIANT,
    BENCH_AXIS_BINS,     /* of BENCH_V2 */
    BENCH_AXIS_VERTICES, /* lists for every key of a graph */
    BENCH_AXIS_WORKSPACE, /* the share of the scratch memory that a build in one go uses; 0: its own */
    BENCH_AXIS_KIND,      /* HEDDLE_JOIN_* */
    BENCH_AXIS_ORDER,     /* HEDDLE_GROUPS_* */
    BENCH_AXIS_AGGREGATE,
    BENCH_AXIS_OP,
    BENCH_AXES
};

/* In place of an exponent: the keys are 0, 1, 2, ... and ascend. */
#define BENCH_SEQUENCE (-1.0)

/* Whole numbers and shares alike: a double holds every number that an axis may have. */
typedef struct bench_list {
    uint32_t count; /* 0 while nothing is said */
    double at[BENCH_LIST_MAX];
} bench_list;

typedef struct bench_axes {
    bench_list list[BENCH_AXES];
} bench_axes;

/* Replaces the list of an axis; false when the text is no good list for it. */
bool bench_axes_read(bench_axes *axes, uint32_t axis, const char *text);
/* The same for an axis of which nothing is said; `text` must be good. */
void bench_axes_default(bench_axes *axes, uint32_t axis, const char *text);

/* One combination after the other; an axis without a list has the one value 0. */
typedef struct bench_walk {
    const bench_axes *axes;
    uint32_t index[BENCH_AXES];
    double at[BENCH_AXES];
} bench_walk;

bench_walk bench_walk_begin(const bench_axes *axes);
/* False when there are no more. */
bool bench_walk_next(bench_walk *walk);
uint32_t bench_walk_count(const bench_axes *axes);

double bench_list_least(const bench_list *list);
double bench_list_most(const bench_list *list);

#endif
