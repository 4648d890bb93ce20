/*
 * rows.h: a column of keys that may repeat, computed from the row, and how often each key is
 * there. Keys are numbered: key number k is a bijective mix of k (keys.h), or in a sequence k.
 */
#ifndef BENCH_ROWS_H
#define BENCH_ROWS_H

#include "bench/keys.h"
#include "bench/options.h"

typedef struct bench_rows {
    bench_keys keys;   /* keys.n rows */
    uint64_t distinct; /* key numbers are less than this */
    /* 0: every number as often as the others, give or take one. Infinity: number 0 alone. Else
       number k is drawn with a frequency as (k + 1)^-skew. BENCH_SEQUENCE: as 0, but ascending. */
    double skew;
    uint32_t hit; /* percent of the rows whose key has a number; the others have missing keys */
} bench_rows;

/* The same options and another `order` give the same keys in another order. All rows hit. */
bench_rows bench_rows_of(const bench_options *options, uint64_t n, uint64_t distinct, double skew,
                         uint32_t order);
/* How many different keys n rows have with so many copies of each. */
uint64_t bench_rows_distinct(double n, double copies);

/* Whether a row's key is one that has a number, that number (of a missing key too), and the key. */
bool bench_row_hits(const bench_rows *rows, uint64_t row);
uint64_t bench_row_number(const bench_rows *rows, uint64_t row);
uint64_t bench_row_key(const bench_rows *rows, uint64_t row);

/* How many rows have each key number: `distinct` counts, to be freed; NULL after saying why. */
uint64_t *bench_rows_count(const bench_rows *rows);

/* "uniform", "zipf:1.2", "equal" or "sequence". */
#define BENCH_SKEW_NAME 24
void bench_skew_name(double skew, char name[BENCH_SKEW_NAME]);

#endif
