/*
 * bench.h: one run of `heddle bench`, shared by its parts. The steps of a run:
 *
 *   options.c   reads the arguments, by way of axes.c: the lists of what is gone through
 *   settle.c    defaults, and what does not go together
 *   bench.c     opens the device, checks the memory, hands over to the subject, judges the result
 *   the subject goes through the combinations: makes data, measures, verifies, prints a line
 *
 * The subjects, a folder or a file each:
 *
 *   table/      maps and sets, and their sweeps (table/table.h)
 *   graph/      graphs and multimaps (graph/graph.h)
 *   relation/   joins, group-bys, unique (relation/relation.h)
 *   filter.c    Bloom filters
 *   counter.c   counters
 *   mixed.c     mixed batches on slab hashes
 *   dist/       clusters: a command of its own with options of its own (dist/dist.h)
 *   shelf/      shelves, likewise (shelf/shelf.h)
 *   skew.c      `heddle skew`: uneven input, likewise
 *
 * What they share:
 *
 *   keys.c      keys by number: bijections and permutations
 *   rows.c      columns of keys that repeat
 *   array.c     arrays in device memory
 *   time.c      the median of some runs
 *   roof.c      the machine's own rates
 *   line.c      a line of the result; titles.c: as a row of a table; head.c: what stands above (table/report.c)
 *   subjects.c  the commands and their help; operations.c: what the operations are
 *
 * Functions that return int return an exit status; when it is not TOOL_OK they have said why.
 */
#ifndef BENCH_H
#define BENCH_H

#include "bench/keys.h"
#include "bench/line.h"
#include "bench/options.h"
#include "engine/engine.h"
#include "roofs/roof.h"

/* Elements that are made or checked at a time, so that host memory stays bounded. */
#define BENCH_CHUNK ((uint64_t)1 << 22)
#define BENCH_POISON 0xa5
#define BENCH_ROOFS_MAX 128
typedef struct bench_roof {
    uint32_t kind, width, size_class;
    double rate;
} bench_roof;

/* A sweep and what it goes through; a plain benchmark has one part, of BENCH_SWEEP_NONE. */
typedef struct bench_part {
    uint32_t sweep; /* BENCH_SWEEP_* */
    bench_axes axes;
} bench_part;

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
    double copy_rate; /* bytes a second; 0 when it was not measured */
    bench_output output;
    uint32_t bad_rows; /* that make the whole run a failure, if answers are verified */
} bench;

/* time.c */
typedef struct bench_timed {
    int (*prepare)(void *context, bool last); /* before every run, not timed; or NULL */
    heddle_status (*call)(void *context);
    void *context;
} bench_timed;
/* The median of options.repeat calls after one to warm up, in seconds. b->op names the call. */
int bench_time(bench *b, const bench_timed *timed, double *median);

/* roof.c */
/* Accesses a second of one kind, over memory of that size, in batches of about `batch`. */
int bench_roof_measure(bench *b, uint32_t kind, uint32_t width, uint64_t bytes, uint64_t batch,
                       double *rate);
int bench_roof_copy(bench *b);

/* table/report.c */
void bench_report_head(bench *b, int argc, char **argv);
/* The lists that rows go through from here on. */
void bench_report_axes(bench *b, const bench_axes *axes);
/* How an operation went. */
typedef struct bench_result {
    double seconds;
    double amount; /* of what a rate counts */
    double roof;   /* the machine's own rate */
    bool right;    /* false when an answer was wrong */
} bench_result;
/* Device and benchmark. */
void bench_line_begin(const bench *b, bench_line *line);
/* Adds rate, time, roof and whether the answers were verified; prints the line; counts it among the bad ones if it is. */
void bench_line_end(bench *b, bench_line *line, const bench_result *result);

/* Subjects: refuse what does not fit; measure and report every combination. */
int bench_filter_check(bench *b);
int bench_filter_run(bench *b);
int bench_counter_check(bench *b);
int bench_counter_run(bench *b);
int bench_mixed_check(bench *b);
int bench_mixed_run(bench *b);

#endif
