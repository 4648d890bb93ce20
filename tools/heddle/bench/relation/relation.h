/*
 * relation.h: joins, group-bys and unique under `heddle bench`, each of every combination of its lists.
 *
 *   join.c        `bench join`: joins that are counted, and with all their rows fetched
 *   join_check.c  the rows of a join held against the columns (join.h)
 *   group.c       `bench group`: group-by and its aggregates
 *   unique.c      `bench unique`: unique with inverse and counts
 *   groups.c      what group and unique share: a column that repeats (groups.h)
 */
#ifndef BENCH_RELATION_H
#define BENCH_RELATION_H

#include "bench/bench.h"

/* Refuse what does not fit; measure and report every combination. */
int bench_join_check(bench *b);
int bench_join_run(bench *b);
int bench_groups_check(bench *b); /* of group and unique */
int bench_group_run(bench *b);
int bench_unique_run(bench *b);

#endif
