/*
 * line.h: a line of the result as a list of named fields, printed as a row of a table, as CSV
 * or as JSON. All lines of one run have the same fields.
 */
#ifndef BENCH_LINE_H
#define BENCH_LINE_H

#include "bench/bench.h"

#define BENCH_FIELDS_MAX 24

typedef struct bench_field {
    const char *name;
    char text[40];
    int width; /* in a table; words are negative and stand on the left */
} bench_field;

typedef struct bench_line {
    uint32_t count;
    bench_field fields[BENCH_FIELDS_MAX];
} bench_line;

/* How an operation went. */
typedef struct bench_result {
    double seconds;
    double amount; /* of what a rate counts */
    double roof;   /* the machine's own rate */
    bool right;    /* false when an answer was wrong */
} bench_result;

/* Device and benchmark, which a table has in its head. */
void bench_line_begin(const bench *b, bench_line *line);
void bench_line_word(bench_line *line, const char *name, int width, const char *word);
void bench_line_number(bench_line *line, const char *name, const char *format, double number);
/*
 * Adds rate, time, roof and whether the answers were verified; prints the line, and before the
 * first one the names; counts it among the bad ones if it is.
 */
void bench_line_end(bench *b, bench_line *line, const bench_result *result);

#endif
