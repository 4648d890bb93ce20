/*
 * groups.h: what `heddle bench group` and `heddle bench unique` share: a column of keys that
 * repeat, brought together by the library, and on the host how often each key is there.
 */
#ifndef BENCH_GROUPS_H
#define BENCH_GROUPS_H

#include "bench/array.h"
#include "bench/line.h"
#include "bench/relation/relation.h"

typedef struct bench_groups {
    bench *b;
    bench_rows rows;
    uint64_t *counts;  /* host: how many rows each key number has */
    uint64_t expected; /* groups that there must be */
    void *keys;        /* device memory */
    uint32_t order;    /* HEDDLE_GROUPS_* */
    uint32_t row_bits;
    uint32_t flags;                    /* HEDDLE_GROUPS_* that are asked for; 0: anything */
    const heddle_aggregate *aggregate; /* named when groups are made; NULL: none */
} bench_groups;

/* The rows of a combination, unless they are there already; *fresh tells. */
int bench_groups_rows(bench_groups *g, const double *at, bool *fresh);
void bench_groups_drop(bench_groups *g);
/* The same seed every time, so that the groups of two calls have the same order. */
heddle_status bench_groups_create(const bench_groups *g, heddle_groups **groups);
/* Whether a combination has no more groups than rows. */
bool bench_groups_possible(const double *at);
int bench_groups_roof(bench_groups *g, double *roof);
/* Rows, groups, distribution and widths. */
void bench_groups_line(const bench_groups *g, bench_line *line);
/* Says how many answers are wrong, if any. */
void bench_groups_judge(const bench_groups *g, uint64_t wrong, bool *right);

#endif
