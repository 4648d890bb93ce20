/*
 * bench.h: one run of `heddle bench`, shared by its parts.
 *
 * bench.c        opens the device and shares out the work
 * bench_grid.c   goes through tables and operations
 * bench_sweep.c  what --sweep goes through
 * bench_success.c  how full a table can be made
 * bench_data.c   the arrays in device memory, and the check of answers
 * bench_measure.c  one operation: prepared, timed, verified, counted
 * bench_time.c   the median of some runs
 * bench_roof.c   the machine's own rates
 * bench_report.c table, CSV, JSON
 *
 * Those were for maps and sets. Graphs and relations share the device, the roofs and the clock;
 * their keys come from bench_rows.c, their arrays from bench_array.c, and bench_line.c prints them:
 *
 * bench_graph*.c  hashgraphs
 * bench_join*.c   joins
 * bench_group.c   group-by and its aggregates
 * bench_unique.c  unique with inverse and counts
 * bench_filter.c  Bloom filters
 * bench_counter.c  counters
 * bench_mixed.c   mixed batches on slab hashes
 *
 * Functions that return int return an exit status; when it is not TOOL_OK they have said why.
 */
#ifndef BENCH_H
#define BENCH_H

#include "bench_keys.h"
#include "bench_options.h"
#include "engine/engine.h"
#include "roofs/roof.h"

/* Elements that are made or checked at a time, so that host memory stays bounded. */
#define BENCH_CHUNK ((uint64_t)1 << 22)
#define BENCH_POISON 0xa5
#define BENCH_ROOFS_MAX 128
/* Steps of progress that making the arrays takes. */
#define BENCH_DATA_STEPS 2
/* The load that most seeds reach is searched in steps of 1 / BENCH_SUCCESS_GRID. */
#define BENCH_SUCCESS_GRID 200

typedef struct bench_roof {
    uint32_t kind, width, size_class;
    double rate;
} bench_roof;

/* A sweep and what it goes through; a plain benchmark has one part, of BENCH_SWEEP_NONE. */
typedef struct bench_part {
    uint32_t sweep; /* BENCH_SWEEP_* */
    bench_axes axes;
} bench_part;

/* What a table is made from; 0 as bucket, hashes or seed leaves that to the library. */
typedef struct bench_point {
    uint64_t keys;
    uint32_t bucket, hashes;
    double load;
    uint64_t seed;
} bench_point;

typedef struct bench {
    bench_options options;
    heddle_device *device;
    heddle_device_info info;
    char device_name[32];
    void *begin, *end; /* events */

    bench_part parts[BENCH_SWEEPS];
    uint32_t part_count;
    const bench_part *part; /* the one being run */

    bench_keys keys;
    void *table_keys, *table_values; /* device memory, n each; values NULL in a set */
    void *queries, *answers;         /* device memory, n each; answers NULL in a set */
    uint8_t *found;                  /* device memory, n */
    void *staging;                   /* host memory, a chunk of 64-bit elements */
    uint8_t *staging_found;          /* host memory, a chunk of flags */
    bench_query query;               /* what `queries` holds */
    bool query_made;

    heddle_table *table;
    void *workspace; /* device memory that builds use as scratch, as much as they can use */
    uint64_t workspace_bytes;
    uint32_t bucket, hashes; /* of the table, as the library settled them */
    double load;             /* as it was asked for */
    char op[32];             /* the operation being measured, as its row names it */
    uint32_t bucket_bytes;   /* that a probe reads */
    bool full;               /* the table holds all keys, but for `unplaced` of them */
    uint64_t unplaced;

    bench_roof roofs[BENCH_ROOFS_MAX];
    uint32_t roof_count;
    double copy_rate;   /* bytes a second; 0 when it was not measured */
    bool columns_named; /* the names of the columns of bench_line.h are printed */
    uint32_t bad_rows;  /* that make the whole run a failure, if answers are verified */
} bench;

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

/* bench_grid.c */
/* Refuses axes with a table that does not exist or does not fit into memory. */
int bench_grid_check(bench *b, const bench_axes *axes);
/* The steps of progress it takes; *keys is the size of the arrays before and after. */
uint32_t bench_grid_steps(const bench_axes *axes, uint64_t *keys);
/* Measures and reports every combination. */
int bench_grid_run(bench *b, const bench_axes *axes);
/* Makes b->table, of fixed size; bench_table_drop destroys it. */
int bench_table_make(bench *b, const bench_point *point);
void bench_table_drop(bench *b);

/* bench_sweep.c */
/* Fills b->parts for the sweeps asked for. */
int bench_sweep_plan(bench *b);

/* bench_success.c */
/* Like the functions of bench_grid.c. Loads that are named are tried; else the highest is searched.
 */
int bench_success_check(bench *b, const bench_axes *axes);
uint32_t bench_success_steps(const bench_axes *axes);
int bench_success_run(bench *b, const bench_axes *axes);

/* bench_data.c */
/* The arrays for n keys, unless they are there already. */
int bench_data_make(bench *b, uint64_t n);
void bench_data_free(bench *b);
int bench_data_queries(bench *b, bench_query query);
/* Fills answers and flags with BENCH_POISON, so that what is not written shows. */
int bench_data_poison(bench *b);
/* Holds the answers (flags alone with `values` false) against what `query` must give. */
int bench_data_check(bench *b, bench_query query, bool none, bool values, uint64_t *wrong);

/* bench_measure.c */
bool bench_op_takes_hits(uint32_t op);
int bench_measure(bench *b, uint32_t op, uint32_t hit, bench_row *row);

/* bench_time.c */
typedef struct bench_timed {
    int (*prepare)(void *context, bool last); /* before every run, not timed; or NULL */
    heddle_status (*call)(void *context);
    void *context;
} bench_timed;
/* The median of options.repeat calls after one to warm up, in seconds. b->op names the call. */
int bench_time(bench *b, const bench_timed *timed, double *median);

/* bench_roof.c */
/* Accesses a second of one kind, over memory of that size, in batches of about `batch`. */
int bench_roof_measure(bench *b, uint32_t kind, uint32_t width, uint64_t bytes, uint64_t batch,
                       double *rate);
int bench_roof_copy(bench *b);

/* bench_report.c */
void bench_report_head(const bench *b, int argc, char **argv);
/* Begins b->part. */
void bench_report_part(const bench *b);
void bench_report_row(const bench *b, const bench_row *row);
void bench_report_success(const bench *b, const bench_success *success);

/* Graphs and relations: refuses what does not fit, and measures and reports every combination. */
int bench_graph_check(bench *b);
int bench_graph_run(bench *b);
int bench_join_check(bench *b);
int bench_join_run(bench *b);
int bench_groups_check(bench *b); /* of group and unique */
int bench_group_run(bench *b);
int bench_unique_run(bench *b);
int bench_filter_check(bench *b);
int bench_filter_run(bench *b);
int bench_counter_check(bench *b);
int bench_counter_run(bench *b);
int bench_mixed_check(bench *b);
int bench_mixed_run(bench *b);

#endif
