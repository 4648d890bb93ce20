/*
 * line.h: a line of the result as a list of named fields, printed as a row of a table, as CSV or as JSON. CSV and
 * JSON have all fields. A table is at most 100 columns wide and has the results: what was asked for is a column when
 * it changes from row to row, and stands above the rows else (titles.c).
 */
#ifndef BENCH_LINE_H
#define BENCH_LINE_H

#include <stdbool.h>
#include <stdint.h>

#define BENCH_FIELDS_MAX 32
#define BENCH_VARYING_MAX 24
#define BENCH_TABLE_WIDTH 100
#define BENCH_HEAD_MAX 512

enum { BENCH_TABLE, BENCH_CSV, BENCH_JSON };

typedef struct bench_field {
    const char *name;
    char text[40];
    bool is_word; /* else a number */
    double number;
} bench_field;

typedef struct bench_line {
    uint32_t count;
    bench_field fields[BENCH_FIELDS_MAX];
    char note[64]; /* the last column of a table: whether answers were verified */
} bench_line;

/* Where lines go. All lines of a CSV file have the same fields. */
typedef struct bench_output {
    uint32_t format;    /* BENCH_TABLE, ... */
    const char *things; /* what `n` counts: "keys", "rows" */
    const char *varying
        [BENCH_VARYING_MAX]; /* fields that change from row to row, the slowest first; ends with NULL */
    bool named;              /* the head of CSV is printed */
    char head[BENCH_HEAD_MAX]; /* what stands above the last row of a table */
} bench_output;

void bench_line_word(bench_line *line, const char *name, const char *word);
void bench_line_number(bench_line *line, const char *name, const char *format, double number);
/* "true" or "false". */
void bench_line_truth(bench_line *line, const char *name, bool truth);
/* Nothing in CSV, and no field of JSON. */
void bench_line_empty(bench_line *line, const char *name);
/* What a table says of answers: "yes", "no", "NO: wrong". */
void bench_line_verified(bench_line *line, bool verified, bool right);

/* Prints the line, and what has to stand above it. */
void bench_line_print(bench_output *output, const bench_line *line);

/* titles.c: likewise, as a row of a table. */
void bench_titles_print(bench_output *output, const bench_line *line);

#endif
