/*
 * bench_axes.h: what a benchmark goes through: a list for each of number of keys, bucket, hashes,
 * load, operation and share of hits. It measures every combination of them.
 */
#ifndef BENCH_AXES_H
#define BENCH_AXES_H

#include <stdbool.h>
#include <stdint.h>

#define BENCH_LIST_MAX 64

/* The operations, in the order of bench_op_names. */
enum { BENCH_BUILD, BENCH_INSERT, BENCH_FIND, BENCH_CONTAINS, BENCH_MISS, BENCH_ERASE, BENCH_OPS };
extern const char *const bench_op_names[BENCH_OPS];

enum {
    BENCH_AXIS_KEYS,
    BENCH_AXIS_BUCKET, /* slots; 0 lets the library choose */
    BENCH_AXIS_HASHES, /* likewise */
    BENCH_AXIS_LOAD,
    BENCH_AXIS_OP,
    BENCH_AXIS_HIT, /* percent of the queries of find and contains that are present */
    BENCH_AXES
};

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

double bench_list_least(const bench_list *list);
double bench_list_most(const bench_list *list);

#endif
