/*
 * columns.h: columns, groups of rows and what is asked of them, for the steps of engine/columns.h. All memory is
 * the device's; row numbers have 32 or 64 bits.
 */
#ifndef HD_MODEL_COLUMNS_H
#define HD_MODEL_COLUMNS_H

#include <heddle/heddle.h>
#include <stdbool.h>

#include "model/few.h"
#include "model/site.h"

#define HD_COLUMNS_MAX 16
#define HD_COLUMN_WIDTH_MAX 64

/* Elements of any width, one after the other. */
typedef struct hd_elements {
    const void *data;
    uint32_t width; /* bytes of an element */
} hd_elements;

static inline hd_elements hd_elements_of(const void *data, uint32_t width)
{
    const hd_elements elements = {data, width};
    return elements;
}

/* The rows that a step works on, in any order. */
typedef struct hd_row_numbers {
    const void *numbers;
    uint32_t bits; /* of a number, 32 or 64 */
    uint64_t n;
} hd_row_numbers;

static inline hd_row_numbers hd_at_rows(const void *numbers, uint32_t bits, uint64_t n)
{
    const hd_row_numbers rows = {numbers, bits, n};
    return rows;
}

/* A flag for every row; those are wanted that are set (any value but 0), or those that are not. */
typedef struct hd_flags {
    const uint8_t *flags;
    uint64_t n;
    bool wanted;
} hd_flags;

static inline hd_flags hd_flags_of(const uint8_t *flags, uint64_t n, bool wanted)
{
    const hd_flags of = {flags, n, wanted};
    return of;
}

/* What rows are called elsewhere: base + names[row], or base + row where names is NULL. */
typedef struct hd_names {
    const void *names;
    uint64_t base;
    uint32_t bits; /* of a name, 32 or 64 */
} hd_names;

static inline hd_names hd_names_of(const void *names, uint64_t base, uint32_t bits)
{
    const hd_names of = {names, base, bits};
    return of;
}

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
