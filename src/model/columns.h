/*
 * columns.h: columns, groups of rows and what is asked of them, for the steps of engine/columns.h. All memory is
 * the device's; row numbers have 32 or 64 bits.
 */
#ifndef HD_MODEL_COLUMNS_H
#define HD_MODEL_COLUMNS_H

#include <heddle/heddle.h>
#include <stdbool.h>

#include "model/few.h"

#define HD_COLUMNS_MAX 16
#define HD_COLUMN_WIDTH_MAX 64

/* A column of a key: elements of any width, compared by their bytes, and which of them are there. */
typedef struct hd_column {
    const void *data;
    uint32_t width;       /* bytes of an element, 1 to HD_COLUMN_WIDTH_MAX */
    const uint8_t *valid; /* NULL: all are; else 0 marks a null. All nulls are equal here. */
} hd_column;

/* One or two tables of the same columns, one after the other: row n of the first is row 0 of the second. */
typedef struct hd_row_keys {
    uint32_t columns;
    uint64_t n; /* rows of the first */
    hd_column first[HD_COLUMNS_MAX], second[HD_COLUMNS_MAX];
} hd_row_keys;

/*
 * Rows in groups: rows [starts[g], starts[g + 1]) of `rows` are the rows of group g. An engine whose
 * hd_relate_ops have `few` also takes groups that are known by number: `numbers` and `firsts` are set, and
 * `rows` and `starts` may be NULL where a step does not say that it needs them.
 */
typedef struct hd_grouped {
    const void *rows;
    uint32_t row_bits;
    uint64_t n;
    const uint64_t *starts;
    uint64_t groups;
    const uint32_t *numbers; /* NULL, or the group of every row */
    const void *firsts;      /* with numbers: the first row of every group */
} hd_grouped;

/* Types of columns that are aggregated, and what is made of them. */
typedef struct hd_reduce {
    uint32_t aggregate; /* HEDDLE_AGGREGATE_* */
    uint32_t type;      /* HEDDLE_TYPE_* */
    const void *column;
    const uint8_t *valid; /* NULL, or 0 marks a null, which takes no part */
    void *out;          /* one a group: SUM uint64_t, int64_t or double; MIN, MAX the column's type;
                             COUNT uint64_t; MEAN double. 0 for a group without values. */
    uint8_t *out_valid; /* NULL, or one a group: whether any value took part */
} hd_reduce;

/* Lists of values in another order than that of the questions that they answer. */
typedef struct hd_answer_lists {
    uint64_t n;             /* lists */
    uint64_t elements;      /* starts[n] */
    const uint64_t *starts; /* n + 1 */
    const void *from;
    uint32_t width;         /* bytes of an element, 4 or 8 */
    const uint64_t *places; /* of every list */
    uint64_t base;
    void *out;
} hd_answer_lists;

#endif
