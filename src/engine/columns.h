/*
 * columns.h: plain steps over arrays that relational operations are put together from. All memory is
 * the device's; row numbers have 32 or 64 bits; nothing waits unless it says so.
 */
#ifndef HD_COLUMNS_H
#define HD_COLUMNS_H

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

typedef struct hd_column_ops {
    /* Bytes of `work` that suffice for any of these steps over n elements. */
    uint64_t (*work)(heddle_device *device, uint64_t n);
    /* Exclusive sums in place; the total goes to numbers[n]. */
    heddle_status (*scan)(heddle_device *device, uint64_t *numbers, uint64_t n, void *work,
                          void *stream);
    /* The indices i, ascending, with (flags[i] != 0) == wanted, and their number. `rows` may be NULL. */
    heddle_status (*select)(heddle_device *device, const uint8_t *flags, uint64_t n, bool wanted,
                            void *rows, uint32_t row_bits, uint64_t *count, void *work,
                            void *stream);
    /* ranks[i]: how many flags before i are set. */
    heddle_status (*rank)(heddle_device *device, const uint8_t *flags, uint64_t n, void *ranks,
                          uint32_t row_bits, void *work, void *stream);
    /* out[i] = column[rows[i]], elements of `width` bytes. */
    heddle_status (*gather)(heddle_device *device, const void *column, uint32_t width,
                            const void *rows, uint32_t row_bits, uint64_t n, void *out,
                            void *stream);
    /* out[rows[i]] = from[i]; from NULL: every one becomes all zero bits but the first byte, which is 1. */
    heddle_status (*scatter)(heddle_device *device, const void *from, uint32_t width,
                             const void *rows, uint32_t row_bits, uint64_t n, void *out,
                             void *stream);
    /*
     * out[row] = g for every row of every group, or names[g] where names are given; of row_bits. Every
     * row is in one group. May wait, for memory of its own.
     */
    heddle_status (*number)(heddle_device *device, const hd_grouped *grouped, const void *names,
                            void *out, void *stream);
    /* For every group: its first row, its last row, its number of rows; each may be NULL. Last rows
       need `rows`, numbers of rows need `starts`. */
    heddle_status (*describe)(heddle_device *device, const hd_grouped *grouped, void *firsts,
                              void *lasts, uint64_t *counts, void *stream);
    heddle_status (*reduce)(heddle_device *device, const hd_grouped *grouped,
                            const hd_reduce *reduce, void *work, void *stream);
    /* A 64-bit hash of every row's key, nulls included; n rows from `first` on. All engines have the same one:
       members of a group send equal keys to the same place by it. */
    heddle_status (*hash)(heddle_device *device, const hd_row_keys *keys, uint64_t first,
                          uint64_t n, uint64_t seed, uint64_t *out, void *stream);
    /* *count is added to: rows whose key is not that of the first row of their group. */
    heddle_status (*differ)(heddle_device *device, const hd_row_keys *keys,
                            const hd_grouped *grouped, uint64_t *count, void *stream);
    /* The indices of the k largest numbers, largest first, the lower index first among equals. May wait. */
    heddle_status (*top)(heddle_device *device, const uint64_t *numbers, uint64_t n, uint64_t k,
                         uint64_t *indices, void *work, void *stream);
    /* Groups known by number: the rows in the order of groups, ascending in each, and where groups begin,
       groups + 1 numbers. NULL where there are no such groups. */
    heddle_status (*order)(heddle_device *device, const hd_grouped *grouped, uint64_t *starts,
                           void *rows, void *work, void *stream);
    /* Lists in the order of the questions: elements [starts[i], starts[i + 1]) of `from` go to
       out + places[i] - base. */
    heddle_status (*deliver_lists)(heddle_device *device, const hd_answer_lists *lists,
                                   void *stream);
    /* out[i] = base + names[rows[i]], or base + rows[i] where names is NULL; a row that is all ones (none) stays
       all ones. Rows have row_bits, names and out have out_bits. */
    heddle_status (*renumber)(heddle_device *device, const void *rows, uint32_t row_bits,
                              uint64_t n, const void *names, uint64_t base, void *out,
                              uint32_t out_bits, void *stream);
    /* flags[i]: keys[i] is one of the few; *count is how many rows have such keys. */
    heddle_status (*mark)(heddle_device *device, const hd_few *few, const void *keys, uint64_t n,
                          uint8_t *flags, uint64_t *count, void *stream);
} hd_column_ops;

#endif
