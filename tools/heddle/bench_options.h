/* bench_options.h: what `heddle bench` was asked for. */
#ifndef BENCH_OPTIONS_H
#define BENCH_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#define BENCH_LIST_MAX 64
#define BENCH_REPEAT_MAX 1000

/* The operations, in the order of bench_op_names. */
enum { BENCH_BUILD, BENCH_INSERT, BENCH_FIND, BENCH_CONTAINS, BENCH_MISS, BENCH_ERASE, BENCH_OPS };
extern const char *const bench_op_names[BENCH_OPS];

enum { BENCH_TABLE, BENCH_CSV, BENCH_JSON };

typedef struct bench_options {
    uint32_t container; /* HEDDLE_CONTAINER_*; 0 until it is named */
    uint32_t scheme; /* HEDDLE_SCHEME_* */
    const char *device;
    const char *commit; /* NULL when not told */
    uint32_t bucket, hashes;
    uint32_t key_bits, value_bits; /* value_bits is UINT32_MAX until it is named */
    uint32_t repeat;
    uint32_t format; /* BENCH_TABLE, BENCH_CSV or BENCH_JSON */
    uint64_t keys, seed;
    bool verify, help;
    uint32_t load_count, op_count, hit_count;
    double loads[BENCH_LIST_MAX];
    uint32_t ops[BENCH_LIST_MAX];
    uint32_t
        hits[BENCH_LIST_MAX]; /* percent of the queries of find and contains that are present */
} bench_options;

/* Reads the arguments after "bench". An exit status: TOOL_OK, or TOOL_REFUSED when it has said why.
 */
int bench_options_read(int argc, char **argv, bench_options *options);

/* A count as people write it: 1000000, 1e6, 16M, 4Mi, 2^24. False when it is none. */
bool bench_read_count(const char *text, uint64_t *count);

#endif
