/*
 * join_model.h: joins in the plainest way, and the library's joins held against it.
 *
 * Both sides are rows of one table_model: the first `left` rows are the left table, the others the
 * right one.
 */
#ifndef TEST_JOIN_MODEL_H
#define TEST_JOIN_MODEL_H

#include "support/relate_model.h"

typedef struct join_tables {
    table_model both;
    uint64_t left; /* rows of the left table */
} join_tables;

#define NO_ROW UINT64_MAX

/* The rows of a result. Matches are first, then left rows alone, then right rows alone. */
typedef struct join_rows {
    uint64_t count;
    uint64_t *left, *right;
} join_rows;

void join_rows_free(join_rows *rows);
/* Brings the matches, which are the first rows, into ascending order. */
void join_rows_sort(join_rows *rows);

/* Whether the device of the case can join. */
bool join_can_run(const test_case *c);

/* What the result must be, matches ascending; right rows of semi and anti joins are NO_ROW. */
join_rows join_model(const join_tables *t, uint32_t kind);

typedef struct join_call {
    uint32_t kind, row_bits;
    uint64_t slice; /* rows that a fetch has room for; 0: all of them; 1: as few as possible */
} join_call;

/* What the library says; the matches are in its order. */
join_rows join_run(const test_case *c, const join_tables *t, const join_call *call);
/* Both, and they are the same. */
void join_check(const test_case *c, const join_tables *t, const join_call *call);
/* The same for all kinds. */
void join_check_kinds(const test_case *c, const join_tables *t, uint32_t row_bits, uint64_t slice);

/* The columns of one side where the case wants them, for calls that a test makes itself. */
typedef struct join_columns {
    uint32_t count;
    heddle_column columns[HEDDLE_KEY_COLUMNS_MAX];
    array data[HEDDLE_KEY_COLUMNS_MAX], valid[HEDDLE_KEY_COLUMNS_MAX];
} join_columns;

join_columns join_columns_make(const test_case *c, const table_model *t, uint64_t first,
                               uint64_t rows);
void join_columns_free(join_columns *columns);

#endif
