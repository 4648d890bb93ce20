/*
 * bench_dist.h: `heddle bench dist`: tables, joins and group-bys of groups, beside a single device on the same
 * hardware, and the time of the four phases. bench_dist.c reads the options, bench_dist_run.c measures one group, also
 * for the program that runs under mpirun (tools/mpi/), bench_dist_relate.c has the joins and group-bys,
 * bench_dist_model.c says what more devices would do.
 */
#ifndef BENCH_DIST_H
#define BENCH_DIST_H

#include <stdbool.h>

#include "bench_keys.h"
#include "tool.h"

/* What is measured. */
enum { DIST_BUILD, DIST_FIND, DIST_JOIN, DIST_GROUP, DIST_OPS };

typedef struct dist_options {
    const char *group;  /* names of devices; NULL under mpirun */
    const char *single; /* device of the single table; NULL: none */
    uint32_t container, scheme, mode, key_bits, value_bits;
    uint64_t keys; /* of all members together, or of each with `weak` */
    bool weak;
    uint64_t duplicates; /* rows of every key; multimaps and counters */
    uint64_t hot;        /* percent of the rows that have one key */
    uint64_t repeat, slice, seed;
    bool verify, csv, model;
    bool ops[DIST_OPS];
} dist_options;

/* What was measured; a row of the output. */
typedef struct dist_row {
    const char *op;
    uint64_t rows;          /* of all members */
    double seconds, single; /* medians; 0: no single table */
    double phases[HEDDLE_PHASES];
    double imbalance, row_imbalance;
    bool verified;
} dist_row;

typedef struct dist_bench {
    const dist_options *o;
    heddle_group *group;
    heddle_group_info info;
    heddle_device *device; /* where the arrays are */
    heddle_device *alone;  /* the single device; NULL: none */
    uint64_t n, first;     /* rows of this process, the first one's number */
    uint64_t all;          /* rows of all processes */
    bench_keys numbers;
    void *keys, *values, *answers;
    uint8_t *found;
    heddle_group_table *table;
    heddle_table *single;
    struct dist_relate *relate; /* what joins and group-bys have besides */
} dist_bench;

/* bench_dist.c */
int dist_options_read(int argc, char **argv, dist_options *options);

/* bench_dist_run.c */
/* Measures build and find, and prints rows if this process has the first member. */
int dist_run(const dist_options *options, heddle_group *group);
/* The key of row i of all processes. */
uint64_t dist_key_of(const dist_bench *b, uint64_t i);
/* Fills an array of device memory with numbers of `bits` bits. */
heddle_status dist_fill(const dist_bench *b, void *array, uint32_t bits,
                        uint64_t (*number)(const dist_bench *b, uint64_t i));
/* The medians of some runs; the work is told whether it is the single device's turn. */
heddle_status dist_measure(dist_bench *b, heddle_status (*work)(dist_bench *, bool), dist_row *row);

/* bench_dist_relate.c */
/* Measures joins and group-bys that are asked for; the rows are those of DIST_JOIN and DIST_GROUP. */
heddle_status dist_relate_run(dist_bench *b, dist_row rows[DIST_OPS]);

/* bench_dist_model.c */
/* Prints what the rates of a single table, and of links, give for machines that are not here. */
void dist_model(const dist_options *options, const dist_row *build, uint32_t members);

#endif
