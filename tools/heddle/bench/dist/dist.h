/*
 * dist.h: `heddle bench dist`: tables, joins and group-bys of clusters, beside a single device on the same
 * hardware, and the time of the four phases.
 *
 *   options.c  reads the options
 *   local.c    the command; clusters of one process
 *   sweep.c    the combinations of the lists, one after the other; prints their rows
 *   run.c      measures one combination
 *   relate.c   its joins and group-bys
 *   check.c    holds a model against what was measured, and says what other machines would do
 *   model.c    the arithmetic of that
 *
 * The program that runs under mpirun (tools/mpi/) has the same files, and clusters of its own (dist_place).
 */
#ifndef BENCH_DIST_H
#define BENCH_DIST_H

#include <stdbool.h>

#include "bench/dist/model.h"
#include "bench/head.h"
#include "bench/keys.h"
#include "tool.h"

/* What is measured. */
enum { DIST_BUILD, DIST_FIND, DIST_JOIN, DIST_GROUP, DIST_OPS };

#define DIST_LIST_MAX 16
#define DIST_HOT 50 /* percent of the rows that have one key, when nothing else is said */

/* How often keys are there. */
typedef struct dist_skew {
    double zipf;  /* 0: every key as often; else number k with a frequency as (k + 1)^-zipf */
    uint64_t hot; /* percent of the rows that have one key, the others every key as often */
} dist_skew;

typedef struct dist_options {
    const char *cluster; /* names of devices; under mpirun that of a rank */
    const char *single;  /* device of the single table; "": the same hardware; NULL: none */
    uint32_t container, scheme, mode, key_bits, value_bits;
    uint64_t repeat, slice, seed;
    bool verify, model;
    uint32_t format;    /* BENCH_TABLE, ... */
    const char *commit; /* NULL: not told */
    uint32_t arrays;    /* 1: in host memory, else in that of the first member's device */
    bool ops[DIST_OPS];
    /* Lists: a row for every combination. */
    bool strong, weak;
    dist_skew skews[DIST_LIST_MAX];
    uint64_t keys[DIST_LIST_MAX];   /* of all members together, with weak scaling of each */
    uint64_t copies[DIST_LIST_MAX]; /* rows of every key */
    uint64_t members[DIST_LIST_MAX];
    uint32_t key_count, skew_count, copies_count;
    uint32_t member_count; /* 0: one cluster of all that there are */
} dist_options;

/* One combination. */
typedef struct dist_case {
    uint32_t members; /* 0: as many as there are */
    bool weak;
    dist_skew skew;
    uint64_t keys, copies;
} dist_case;

/* A cluster, and the device of the single table beside it. */
typedef struct dist_team {
    heddle_cluster *cluster; /* NULL in a process that is not in it */
    char single[64];         /* "": none */
} dist_team;

/* Where clusters come from: devices of one process, or ranks of MPI. */
typedef struct dist_place {
    int (*open)(const dist_options *options, uint32_t members, dist_team *team);
    /* The worst exit status of all processes, whether in the cluster or not. */
    int (*agree)(int status);
    /* How many different devices the members have. */
    uint32_t (*devices)(const dist_team *team);
    /* A rate of the single device of this process, made that of all devices together. */
    double (*total)(double mine, uint32_t devices);
    /* How many ends of links there are, and the bytes a second from one to the others; 0 after saying why. */
    double (*link)(const dist_team *team, uint32_t devices, uint32_t *ends);
} dist_place;

/* What was measured; a row of the output. */
typedef struct dist_row {
    const char *op;
    uint64_t rows;                /* of all members */
    double seconds, single;       /* medians; 0: no single table */
    double phases[HEDDLE_PHASES]; /* medians of each */
    double imbalance, row_imbalance;
    bool verified;
} dist_row;

typedef struct dist_bench {
    const dist_options *o;
    const dist_case *c;
    heddle_cluster *cluster;
    heddle_cluster_info info;
    heddle_device *device; /* where the arrays are */
    heddle_device *host;   /* the same, if that is not a member's; else NULL */
    heddle_device *alone;  /* the single device; NULL: none */
    uint64_t n, first;     /* rows of this process, the first one's number */
    uint64_t all;          /* rows of all processes */
    bench_keys numbers;
    void *keys, *values, *answers;
    uint8_t *found;
    heddle_cluster_table *table;
    heddle_table *single;       /* of the rows of this process */
    struct dist_relate *relate; /* what joins and group-bys have besides */
} dist_bench;

/* options.c */
#define DIST_OPTION_COUNT 23
extern const tool_option dist_option_list[];
extern const char dist_text[];
int dist_options_read(const tool_command *command, int argc, char **argv, dist_options *options);

/* sweep.c */
/* Measures all combinations, and prints rows if this process has the first member. */
int dist_sweep(const dist_options *options, const dist_place *place, int argc, char **argv);
/* "uniform", "zipf:1.2" or "hot:50". */
#define DIST_SKEW_NAME 32
void dist_skew_name(const dist_skew *skew, char name[DIST_SKEW_NAME]);

/* run.c */
/* Measures what is asked for; *wrong when an answer of this process was. */
int dist_run(const dist_options *options, const dist_case *c, const dist_team *team,
             dist_row rows[DIST_OPS], bool *wrong);
/* Whether the table, and the single one, can be made at all: TOOL_OK, or TOOL_REFUSED when it has said why. */
int dist_run_check(const dist_options *options, const dist_team *team);
/* The key of row i of all processes. */
uint64_t dist_key_of(const dist_bench *b, uint64_t i);
/* Fills an array of device memory with numbers of `bits` bits. */
heddle_status dist_fill(const dist_bench *b, void *array, uint32_t bits,
                        uint64_t (*number)(const dist_bench *b, uint64_t i));
/*
 * The medians of some runs; the work is told whether it is the single device's turn. `note` puts into the row what a
 * run of the cluster leaves behind, its phases above all.
 */
heddle_status dist_measure(dist_bench *b, heddle_status (*work)(dist_bench *, bool),
                           heddle_status (*note)(dist_bench *, dist_row *), dist_row *row);
/* The median; sorts the numbers. */
double dist_median(double *numbers, uint64_t n);
double dist_now(void);

/* relate.c */
/* Measures joins and group-bys that are asked for; the rows are those of DIST_JOIN and DIST_GROUP. */
heddle_status dist_relate_run(dist_bench *b, dist_row rows[DIST_OPS]);

/* check.c */
/* A build that was measured, and what the model takes it for. */
typedef struct dist_check {
    dist_case c;
    uint32_t members;
    uint64_t rows;
    model_row row;
    model_machine machine;
    model_times predicted;
    double measured[MODEL_PHASES], measured_all;
} dist_check;

/* Measures what the model needs of the machine, by all processes of the cluster, and predicts the build. */
int dist_check_make(const dist_options *options, const dist_place *place, const dist_team *team,
                    const dist_row *build, dist_check *check);
/* Prints predictions beside what was measured, and what other machines would do by the last of them. */
void dist_check_print(const dist_options *options, const dist_check *checks, uint32_t count);

#endif
