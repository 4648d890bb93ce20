/*
 * relation.h: the room of relations. A relation is rows in columns; the calls here are about whole
 * relations and keep no table of slots: rows are partitioned by the hash of their keys, and rows of
 * one region meet in fast memory. What a device must offer for that is in engine/relate.h and
 * engine/columns.h. Clusters have the same calls in cluster/relation, which bring rows to the members
 * that own their keys and then call these.
 *
 *     columns.c         the key columns of a call: they are checked, and lent to the device
 *     encode/           rows of any key columns brought together by key, or numbered by it
 *     join/             the pairs of rows of two relations that have equal keys
 *     groups/           group-by: which rows have one key, and sums and the like over them
 *     row_bits.c        the width of row numbers, for typed calls
 *     set_operation.c   union, intersection and difference of two arrays of keys
 *
 * Read encode/encode.h first: everything else either gives it columns and uses the groups that it
 * makes, or has one plain column and needs it no more. This header declares columns.c and row_bits.c.
 *
 * Words. A group is rows with one key, nothing else. To fold is to make one pair of several with one
 * key, by a policy. To merge is to make one container of two of a kind. See docs/design/decisions.md.
 */
#ifndef HD_RELATIONS_H
#define HD_RELATIONS_H

#include "host/scratch.h"

#define HD_RELATION_ROWS_MAX (UINT64_C(1) << 48) /* beyond any memory; bytes can still be counted */

/* The key columns of one relation, as a call was given them. */
typedef struct hd_key_columns {
    const char *call; /* its name, for errors */
    const char *side; /* "left", "right"; NULL where there is one relation */
    const heddle_column *columns;
    uint32_t count;
    uint64_t rows;
} hd_key_columns;

/* Refuses columns that no call can work on. */
heddle_status hd_key_columns_check(const hd_key_columns *keys);
/* Refuses two sides whose columns have other widths; both were checked, and have as many columns. */
heddle_status hd_key_columns_match(const hd_key_columns *left, const hd_key_columns *right);
/* Where the device can read the columns: HEDDLE_KEY_COLUMNS_MAX in `to`, copies in the scratch. */
heddle_status hd_key_columns_lend(const hd_key_columns *keys, hd_scratch *scratch, hd_column *to,
                                  void *stream);

/* Refuses arrays of row numbers of `row_bits` bits where a join or a group-by (`what`) has others. */
heddle_status hd_check_row_bits(const char *what, uint32_t has, uint32_t row_bits);

/* The device is there and knows the stream. */
heddle_status hd_check_stream(const heddle_device *device, const void *stream, const char *call);

#endif
