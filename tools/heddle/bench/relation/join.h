/*
 * join.h: `heddle bench join`: two columns of keys that are joined.
 *
 * Both sides draw from the same key numbers, in orders of their own; some rows of the left side may
 * have keys that the right side does not know. join.c measures, join_check.c holds the
 * pairs against the columns.
 */
#ifndef BENCH_JOIN_H
#define BENCH_JOIN_H

#include "bench/array.h"
#include "bench/relation/relation.h"

typedef struct bench_join {
    bench *b;
    bench_rows left, right;
    double copies;         /* as asked for */
    uint64_t *left_counts; /* host: rows of each key number */
    uint64_t *right_counts;
    void *left_keys, *right_keys; /* device memory */

    uint32_t kind;     /* HEDDLE_JOIN_* */
    uint32_t row_bits; /* of the two arrays of pairs */
    uint64_t total;    /* rows that the result must have */
    uint64_t capacity; /* rows that the arrays have room for; the result is fetched in slices */
    void *left_rows, *right_rows; /* device memory; right_rows NULL in semi and anti joins */
    uint64_t got;                 /* rows of the last result */

    uint32_t *left_seen,
        *right_seen; /* host, while pairs are checked: how often a row was in them */
    uint64_t last;   /* semi, anti: the last row seen, and one */
    uint64_t wrong;
} bench_join;

/* Matches of a row on the other side. */
uint64_t bench_join_left_matches(const bench_join *j, uint64_t row);
uint64_t bench_join_right_matches(const bench_join *j, uint64_t row);
/* The rows that a join of j->kind must have. */
uint64_t bench_join_total(const bench_join *j);
bool bench_join_has_right(const bench_join *j);

/* Checks what is in the arrays: begin, every slice, end. */
int bench_join_check_begin(bench_join *j);
int bench_join_check_slice(bench_join *j, uint64_t count);
void bench_join_check_end(bench_join *j, bool *right);

#endif
