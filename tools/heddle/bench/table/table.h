/*
 * table.h: maps and sets under `heddle bench`. The steps:
 *
 *   sweep.c     what --sweep goes through: a plan of several parts; without it there is one part
 *   grid.c      goes through the tables and operations of a part
 *   data.c      the arrays in device memory, and the check of answers
 *   measure.c   one operation: prepared, timed, verified, counted
 *   report.c    its row: table, CSV, JSON
 *   success.c   instead of grid.c in the sweep "success": how full a table can be made
 */
#ifndef BENCH_TABLE_H
#define BENCH_TABLE_H

#include "bench/bench.h"

/* Steps of progress that making the arrays takes. */
#define BENCH_DATA_STEPS 2
/* The load that most seeds reach is searched in steps of 1 / BENCH_SUCCESS_GRID. */
#define BENCH_SUCCESS_GRID 200

/* What a table is made from; 0 as bucket, hashes or seed leaves that to the library. */
typedef struct bench_point {
    uint64_t keys;
    uint32_t bucket, hashes;
    double load;
    uint64_t seed;
} bench_point;

/* One line of the result. */
typedef struct bench_row {
    double mops, probes;
    double roof_mops; /* 0 when there is none */
    double bytes_per_entry;
    double filled;   /* share of the slots that the keys took */
    uint64_t failed; /* keys that did not fit */
    bool verified;
    bool wrong; /* an answer, or the table itself */
} bench_row;

/* A line about the seeds with which a table takes all keys. */
typedef struct bench_success {
    uint64_t keys;
    double load;
    uint32_t seeds, successes;
} bench_success;

/* grid.c */
/* Refuses axes with a table that does not exist or does not fit into memory. */
int bench_grid_check(bench *b, const bench_axes *axes);
/* The steps of progress it takes; *keys is the size of the arrays before and after. */
uint32_t bench_grid_steps(const bench_axes *axes, uint64_t *keys);
/* Measures and reports every combination. */
int bench_grid_run(bench *b, const bench_axes *axes);
/* Makes b->table, of fixed size; bench_table_drop destroys it. */
int bench_table_make(bench *b, const bench_point *point);
void bench_table_drop(bench *b);

/* sweep.c */
/* Fills b->parts for the sweeps asked for. */
int bench_sweep_plan(bench *b);

/* success.c */
/* Like the functions of grid.c. Loads that are named are tried; else the highest is searched.
 */
int bench_success_check(bench *b, const bench_axes *axes);
uint32_t bench_success_steps(const bench_axes *axes);
int bench_success_run(bench *b, const bench_axes *axes);

/* data.c */
/* The arrays for n keys, unless they are there already. */
int bench_data_make(bench *b, uint64_t n);
void bench_data_free(bench *b);
int bench_data_queries(bench *b, bench_query query);
/* Fills answers and flags with BENCH_POISON, so that what is not written shows. */
int bench_data_poison(bench *b);
/* Holds the answers (flags alone with `values` false) against what `query` must give. */
int bench_data_check(bench *b, bench_query query, bool none, bool values, uint64_t *wrong);

/* measure.c */
bool bench_op_takes_hits(uint32_t op);
int bench_measure(bench *b, uint32_t op, uint32_t hit, bench_row *row);

/* report.c */
/* Begins b->part. */
void bench_report_part(bench *b);
void bench_report_row(bench *b, const bench_row *row);
void bench_report_success(bench *b, const bench_success *success);

#endif
