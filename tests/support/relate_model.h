/*
 * relate_model.h: tables of random columns, and their rows grouped by key in the plainest way: rows are
 * sorted by their bytes.
 */
#ifndef TEST_RELATE_MODEL_H
#define TEST_RELATE_MODEL_H

#include "support/arrays.h"
#include "support/keys.h"

typedef struct column_model {
    uint32_t width;
    uint8_t *data;
    uint8_t *valid; /* NULL: no nulls */
} column_model;

typedef struct table_model {
    uint32_t columns;
    uint64_t rows;
    column_model column[HEDDLE_KEY_COLUMNS_MAX];
} table_model;

/* Shapes of keys: which widths, with nulls or without. 0 and 1 are one plain column of 4 and 8 bytes. */
#define TABLE_SHAPES 8
/* Random rows with about `distinct` different keys; nulls have bytes of their own, which do not count. */
table_model table_make(uint32_t shape, uint64_t rows, uint64_t distinct, uint64_t seed);
/* A table of one plain column. */
table_model table_of_keys(const uint64_t *keys, uint64_t rows, uint32_t key_bits);
void table_free(table_model *t);
/* Orders two rows by key: < 0, 0 or > 0. */
int table_compare(const table_model *t, uint64_t a, uint64_t b);

/* Rows in groups, which are in the order in which their first rows appear. */
typedef struct grouping {
    uint64_t groups;
    uint64_t *of_row; /* the group of every row */
    uint64_t *rows;   /* group by group, ascending in each */
    uint64_t *begins; /* groups + 1 */
} grouping;

grouping table_group(const table_model *t);
void grouping_free(const grouping *g);

#endif
