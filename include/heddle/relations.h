/*
 * relations.h: joins, group-by, unique and set operations on columns. Included by heddle.h; its
 * rules hold here too.
 *
 * A key is a row of one or more columns. Two keys are equal when all their bytes are: no hash is
 * ever trusted alone. Floating-point columns are compared by their bits, so 0.0 and -0.0 are two
 * keys and a NaN equals itself.
 *
 * Nulls. A column may have an array of flags, one byte a row, 0 where the row has no value. In a
 * join a key with a null in any column matches nothing. In a grouping nulls are equal to each other
 * and different from every value.
 *
 * Rows are numbered from 0. Arrays of row numbers have row_bits bits a number: 64, or 32 where all
 * row numbers are less than 2^32 - 1.
 *
 * Arrays may lie in host memory or in memory of the device. All these calls allocate memory of the
 * device and synchronise; the text of a call says how much it needs.
 */
#include <heddle/heddle.h>

#ifndef HEDDLE_RELATIONS_H
#define HEDDLE_RELATIONS_H

#ifdef __cplusplus
extern "C" {
#endif

/* One column of a table: an array, and which of its elements are null. */
typedef struct heddle_column {
    const void *data;     /* n elements, aligned to the width where that is 2, 4 or 8 */
    const uint8_t *valid; /* NULL: no nulls; else one byte an element, 0 where it is null */
    uint32_t width;       /* bytes of an element, 1 to 64 */
    uint32_t reserved;    /* 0 */
} heddle_column;

#define HEDDLE_KEY_COLUMNS_MAX 16 /* key columns of a join or a group-by */

/* A key column of 32 or 64 bits without nulls is the fast case. */
#define HEDDLE_COLUMN(data, width) {(data), NULL, (width), 0}

/* In place of the row of the side that has no match. */
#define HEDDLE_ROW_NONE_32 UINT32_MAX
#define HEDDLE_ROW_NONE_64 UINT64_MAX

/* --------------------------------------------------------------------------------------- joins */

/* A join, and how much of its result has been fetched. */
typedef struct heddle_join heddle_join;

#define HEDDLE_JOIN_INNER 1 /* every pair of rows with equal keys */
#define HEDDLE_JOIN_LEFT 2  /* and every left row without a match, with NONE on the right */
#define HEDDLE_JOIN_RIGHT 3 /* inner, and every right row without a match, with NONE on the left */
#define HEDDLE_JOIN_FULL 4  /* inner, and both */
#define HEDDLE_JOIN_SEMI 5  /* every left row that has a match, once */
#define HEDDLE_JOIN_ANTI 6  /* every left row that has none; a key with a null has none */

/* Which rows a join has, and how it numbers them. */
typedef struct heddle_join_options {
    uint32_t size;     /* sizeof(heddle_join_options) */
    uint32_t kind;     /* HEDDLE_JOIN_*; INNER by default */
    uint32_t row_bits; /* 32 or 64; 64 by default */
    uint32_t flags;    /* 0 */
    uint64_t seed;     /* of the hash; 0 draws one */
} heddle_join_options;
#define HEDDLE_JOIN_OPTIONS_INIT {sizeof(heddle_join_options), HEDDLE_JOIN_INNER, 64, 0, 0}

/*
 * Joins two tables by their `columns` key columns, which have the same widths on both sides, and
 * finds out how many rows the result has. The result is then fetched. The columns must stay as they
 * are until then. Memory: both sides' keys and row numbers until the join is destroyed, and those
 * of the larger side once more while the call lasts.
 */
HEDDLE_API heddle_status heddle_join_create(heddle_device *device, const heddle_column *left,
                                            const heddle_column *right, uint32_t columns,
                                            uint64_t left_rows, uint64_t right_rows,
                                            const heddle_join_options *options, heddle_join **join,
                                            void *stream);
/*
 * The inner join of two multimaps by HEDDLE_SCHEME_HASHGRAPH. Their values stand in place of row
 * numbers: every pair of a left and a right value that have a key in common. Neither table is
 * partitioned again, so a table built once can be joined with many. Both are on one device and have
 * the same widths and the same seed (give one in their options). Neither may be changed until the
 * join is destroyed. `options` may be NULL; else kind is INNER and row_bits are the bits of the
 * values.
 */
HEDDLE_API heddle_status heddle_join_tables(heddle_table *left, heddle_table *right,
                                            const heddle_join_options *options, heddle_join **join,
                                            void *stream);
/*
 * *count becomes the number of rows of the result. *slice_min, where not NULL, becomes the number
 * of rows that the arrays of heddle_join_fetch must at least have room for.
 */
HEDDLE_API heddle_status heddle_join_count(const heddle_join *join, uint64_t *count,
                                           uint64_t *slice_min);
/*
 * Writes the next rows of the result, at most `capacity`, and their number to *count (host memory),
 * 0 when all have been fetched. `right` is NULL in semi and anti joins; elsewhere either may be
 * NULL. The matches come first, in no particular order; then left rows without match, then right
 * rows without match, ascending. Rows of semi and anti joins ascend. With room for less than
 * slice_min rows the call returns HEDDLE_ERROR_TOO_SMALL and nothing is lost.
 */
HEDDLE_API heddle_status heddle_join_fetch(heddle_join *join, void *left, void *right,
                                           uint64_t capacity, uint64_t *count, void *stream);
/* Begins to fetch from the beginning again. */
HEDDLE_API heddle_status heddle_join_rewind(heddle_join *join);
/* Frees the join. NULL is accepted. */
HEDDLE_API void heddle_join_destroy(heddle_join *join);

/* -------------------------------------------------------------------------- group-by and unique */

/* The groups of rows with equal keys. */
typedef struct heddle_groups heddle_groups;

#define HEDDLE_GROUPS_UNORDERED 0 /* in no particular order */
#define HEDDLE_GROUPS_BY_FIRST 1  /* groups in the order in which their first rows appear */

/*
 * What will be asked of groups. Their number and their keys are always known. Without ROWS the
 * single rows are forgotten at once: that takes a fraction of the time and the memory.
 */
#define HEDDLE_GROUPS_ANYTHING 0 /* all that there is */
#define HEDDLE_GROUPS_KEYS 1     /* number and keys */
#define HEDDLE_GROUPS_SIZES 2    /* and the number of rows of every group, and the largest groups */
#define HEDDLE_GROUPS_FIRST 4    /* and the first row of every group */
#define HEDDLE_GROUPS_ROWS 8     /* and which rows are in which group, and aggregates */

/* The types of values that can be aggregated. */
#define HEDDLE_TYPE_U32 1
#define HEDDLE_TYPE_I32 2
#define HEDDLE_TYPE_F32 3
#define HEDDLE_TYPE_U64 4
#define HEDDLE_TYPE_I64 5
#define HEDDLE_TYPE_F64 6

#define HEDDLE_AGGREGATE_COUNT 1 /* values that are not null: uint64_t */
#define HEDDLE_AGGREGATE_SUM 2   /* uint64_t, int64_t (both wrapping) or double, after the type */
#define HEDDLE_AGGREGATE_MIN 3   /* the type itself */
#define HEDDLE_AGGREGATE_MAX 4  /* the type itself */
#define HEDDLE_AGGREGATE_MEAN 5 /* double */

/*
 * A column that is aggregated by group while groups are made. `values` and `valid` must stay as
 * they are until the groups are destroyed.
 */
typedef struct heddle_aggregate {
    uint32_t size;      /* sizeof(heddle_aggregate) */
    uint32_t aggregate; /* HEDDLE_AGGREGATE_* */
    uint32_t type;      /* HEDDLE_TYPE_* */
    uint32_t flags;     /* 0 */
    const void *values; /* one a row; NULL for COUNT, if you like */
    const uint8_t *valid; /* 0 marks a null, which takes no part; NULL: there are none */
} heddle_aggregate;
#define HEDDLE_AGGREGATE_INIT \
    {sizeof(heddle_aggregate), HEDDLE_AGGREGATE_COUNT, HEDDLE_TYPE_U64, 0, NULL, NULL}
#define HEDDLE_AGGREGATES_MAX 16

/* In which order groups are numbered, and how rows are. */
typedef struct heddle_groups_options {
    uint32_t size;     /* sizeof(heddle_groups_options) */
    uint32_t order;    /* HEDDLE_GROUPS_*; UNORDERED by default */
    uint32_t row_bits; /* 32 or 64; 64 by default */
    uint32_t flags;    /* HEDDLE_GROUPS_* that will be asked for, added up; ANYTHING by default */
    uint64_t seed;     /* of the hash; 0 draws one. The same options give the same order. */
    const heddle_aggregate *aggregates; /* for heddle_groups_aggregated; NULL by default */
    uint32_t aggregate_count;           /* of them, HEDDLE_AGGREGATES_MAX at most */
    uint32_t reserved;                  /* 0 */
} heddle_groups_options;
#define HEDDLE_GROUPS_OPTIONS_INIT \
    {sizeof(heddle_groups_options), HEDDLE_GROUPS_UNORDERED, 64, 0, 0, NULL, 0, 0}

/*
 * Brings the rows with equal keys together. Groups are numbered from 0. The key columns must stay
 * as they are until the groups are destroyed. Memory: a number a row (row_bits, or 32 bits while
 * groups are few), and 8 to 16 bytes a group; twice the numbers once rows are asked for.
 * Groups keep what they find out, so one thread at a time may ask. A question that the options have
 * not named fails with HEDDLE_ERROR_INVALID.
 */
HEDDLE_API heddle_status heddle_groups_create(heddle_device *device, const heddle_column *keys,
                                              uint32_t columns, uint64_t rows,
                                              const heddle_groups_options *options,
                                              heddle_groups **groups, void *stream);
/* Frees the groups. NULL is accepted. */
HEDDLE_API void heddle_groups_destroy(heddle_groups *groups);
/* The number of groups. */
HEDDLE_API heddle_status heddle_groups_count(const heddle_groups *groups, uint64_t *count);
/* The first row of every group: row numbers, one a group. */
HEDDLE_API heddle_status heddle_groups_first(heddle_groups *groups, void *rows, void *stream);
/* The key of every group in one of the key columns: elements of that column's width, and, where not
   NULL, flags that say which are not null. */
HEDDLE_API heddle_status heddle_groups_keys(heddle_groups *groups, uint32_t column, void *keys,
                                            uint8_t *valid, void *stream);
/* The number of rows of every group. */
HEDDLE_API heddle_status heddle_groups_sizes(heddle_groups *groups, uint64_t *sizes, void *stream);
/* The group of every row ("inverse"): numbers of row_bits bits, one a row. */
HEDDLE_API heddle_status heddle_groups_of_rows(heddle_groups *groups, void *numbers, void *stream);
/* The rows of all groups, ascending in each, and where each group begins: groups + 1 numbers. */
HEDDLE_API heddle_status heddle_groups_rows(heddle_groups *groups, uint64_t *begins, void *rows,
                                            void *stream);
/*
 * The numbers of the `k` largest groups, largest first, the lower number first among equals. *count
 * becomes how many were written: k, or the number of groups if that is smaller.
 */
HEDDLE_API heddle_status heddle_groups_top(heddle_groups *groups, uint64_t k, uint64_t *numbers,
                                           uint64_t *count, void *stream);

/*
 * Aggregates a column of values, one a row, by group: out[g] for group g. `valid` marks nulls among
 * the values, which take no part. For COUNT `values` may be NULL. When all values of a group are
 * null, out[g] is 0, and so is out_valid[g] where `out_valid` is not NULL. The order in which
 * floating-point numbers are summed up is open; MIN and MAX take no NaN where there is a number.
 */
HEDDLE_API heddle_status heddle_groups_aggregate(heddle_groups *groups, uint32_t aggregate,
                                                 uint32_t type, const void *values,
                                                 const uint8_t *valid, void *out,
                                                 uint8_t *out_valid, void *stream);
/*
 * The i-th of the aggregates that the options named; `out` and `out_valid` as above. A GPU works
 * out up to eight of them in the pass that finds the groups, if the flags are neither ANYTHING nor
 * contain ROWS, and if keys are one column of 4 or 8 bytes without nulls, two million at most. All
 * else is worked out here, as by heddle_groups_aggregate, without the flag ROWS.
 */
HEDDLE_API heddle_status heddle_groups_aggregated(heddle_groups *groups, uint32_t i, void *out,
                                                  uint8_t *out_valid, void *stream);

/*
 * -------------------------------------------------------------------------------- set operations
 */

#define HEDDLE_SET_UNION 1        /* keys of a or b */
#define HEDDLE_SET_INTERSECTION 2 /* keys of both */
#define HEDDLE_SET_DIFFERENCE 3   /* keys of a that are not in b */

/*
 * Works on the distinct keys of two arrays of key_bits (32 or 64) bits and writes the distinct keys
 * of the result, in the order in which they first appear in a and then b, to an array with room for
 * `capacity`. *count (host memory) becomes their number. When the array is too small nothing is
 * written and the call returns HEDDLE_ERROR_TOO_SMALL with *count set.
 */
HEDDLE_API heddle_status heddle_set_operation(heddle_device *device, uint32_t operation,
                                              uint32_t key_bits, const void *a, uint64_t a_count,
                                              const void *b, uint64_t b_count, void *keys,
                                              uint64_t capacity, uint64_t *count, void *stream);

#ifdef __cplusplus
}
#endif

#endif
