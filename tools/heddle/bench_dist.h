/*
 * bench_dist.h: `heddle bench dist`: tables of groups, beside a single table on the same hardware, and the
 * time of the four phases. bench_dist.c reads the options, bench_dist_run.c measures one group, also for
 * the program that runs under mpirun (tools/mpi/), bench_dist_model.c says what more devices would do.
 */
#ifndef BENCH_DIST_H
#define BENCH_DIST_H

#include <stdbool.h>

#include "tool.h"

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
} dist_options;

/* What was measured. */
typedef struct dist_row {
    const char *op;
    uint64_t rows;          /* of all members */
    double seconds, single; /* medians; 0: no single table */
    double phases[HEDDLE_PHASES];
    double imbalance, row_imbalance;
    bool verified;
} dist_row;

/* bench_dist.c */
int dist_options_read(int argc, char **argv, dist_options *options);

/* bench_dist_run.c */
/* Measures build and find, and prints rows if this process has the first member. */
int dist_run(const dist_options *options, heddle_group *group);

/* bench_dist_model.c */
/* Prints what the rates of a single table, and of links, give for machines that are not here. */
void dist_model(const dist_options *options, const dist_row *build, uint32_t members);

#endif
