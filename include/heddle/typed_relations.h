/*
 * typed_relations.h: typed calls on joins, groups and set operations. Included by typed.h, which
 * has the rules.
 *
 *     heddle_column left = HEDDLE_COLUMN_OF(orders), right = HEDDLE_COLUMN_OF(customers);
 *     heddle_join_create(device, &left, &right, 1, n, m, NULL, &join, NULL);
 *     heddle_join_fetch_rows(join, left_rows, right_rows, capacity, &count, NULL);
 *
 * Arrays of row numbers are arrays of uint32_t, int32_t, uint64_t or int64_t. Those whose width is
 * not row_bits of the options give HEDDLE_ERROR_INVALID, and nothing is done.
 */
#include <heddle/heddle.h>

#ifndef HEDDLE_TYPED_RELATIONS_H
#define HEDDLE_TYPED_RELATIONS_H

#ifdef __cplusplus
extern "C" {
#endif

/* Asked by the typed calls: HEDDLE_ERROR_INVALID unless row numbers have `row_bits` bits. */
HEDDLE_API heddle_status heddle_join_check_row_bits(const heddle_join *join, uint32_t row_bits);
HEDDLE_API heddle_status heddle_groups_check_row_bits(const heddle_groups *groups,
                                                      uint32_t row_bits);
HEDDLE_API heddle_status heddle_cluster_join_check_row_bits(const heddle_cluster_join *join,
                                                            uint32_t row_bits);
HEDDLE_API heddle_status heddle_cluster_groups_check_row_bits(const heddle_cluster_groups *groups,
                                                              uint32_t row_bits);

#ifdef __cplusplus
}
#endif

/* ------------------------------------------------------------------------------------- columns */

#ifdef __cplusplus
#define HEDDLE_ELEMENT_(array) (*(array))
#else
/* An array of void becomes one of unknown length, which has no size and does not compile. */
#define HEDDLE_ELEMENT_(array) \
    (*_Generic((array), void *: (char(*)[])0, const void *: (char(*)[])0, default: (array)))
#endif
/*
 * A column without nulls that has the width of the array's elements, of any type up to 64 bytes:
 * as HEDDLE_COLUMN. A pointer to void does not compile.
 */
#define HEDDLE_COLUMN_OF(array) \
    {(array), NULL, (uint32_t)sizeof(HEDDLE_ELEMENT_(array)), 0}

/* --------------------------------------------------------------------------------- row numbers */

#define HEDDLE_TYPED_ROWS_(check, object, rows, call) \
    (check((object), HEDDLE_KEY_BITS_(rows)) == HEDDLE_OK ? (call) : HEDDLE_ERROR_INVALID)
/*
 * As heddle_join_fetch. `left` and `right` have the same width; where one is not wanted, give a
 * null pointer of its type. The values of joined tables that are floating-point numbers are fetched
 * by heddle_join_fetch.
 */
#define heddle_join_fetch_rows(join, left, right, capacity, count, stream) \
    HEDDLE_TYPED_ROWS_(heddle_join_check_row_bits, join, left, \
                       HEDDLE_TYPED_ROWS_(heddle_join_check_row_bits, join, right, \
                                          heddle_join_fetch(join, left, right, capacity, count, \
                                                            stream)))
/* As heddle_groups_first, heddle_groups_of_rows and heddle_groups_rows. */
#define heddle_groups_first_rows(groups, rows, stream) \
    HEDDLE_TYPED_ROWS_(heddle_groups_check_row_bits, groups, rows, \
                       heddle_groups_first(groups, rows, stream))
#define heddle_groups_numbers_of_rows(groups, numbers, stream) \
    HEDDLE_TYPED_ROWS_(heddle_groups_check_row_bits, groups, numbers, \
                       heddle_groups_of_rows(groups, numbers, stream))
#define heddle_groups_all_rows(groups, begins, rows, stream) \
    HEDDLE_TYPED_ROWS_(heddle_groups_check_row_bits, groups, rows, \
                       heddle_groups_rows(groups, begins, rows, stream))
/*
 * As heddle_cluster_join_fetch, heddle_cluster_groups_first and heddle_cluster_groups_of_rows. A
 * call that is refused asks no other process.
 */
#define heddle_cluster_join_fetch_rows(join, left, right, capacity, count) \
    HEDDLE_TYPED_ROWS_(heddle_cluster_join_check_row_bits, join, left, \
                       HEDDLE_TYPED_ROWS_(heddle_cluster_join_check_row_bits, join, right, \
                                          heddle_cluster_join_fetch(join, left, right, capacity, \
                                                                    count)))
#define heddle_cluster_groups_first_rows(groups, rows) \
    HEDDLE_TYPED_ROWS_(heddle_cluster_groups_check_row_bits, groups, rows, \
                       heddle_cluster_groups_first(groups, rows))
#define heddle_cluster_groups_numbers_of_rows(groups, numbers) \
    HEDDLE_TYPED_ROWS_(heddle_cluster_groups_check_row_bits, groups, numbers, \
                       heddle_cluster_groups_of_rows(groups, numbers))

/* ------------------------------------------------------------------------------ set operations */

/* 0; does not compile unless the three arrays have keys of one width. */
#define HEDDLE_SAME_WIDTH_(a, b, keys) \
    (0 * (uint32_t)sizeof(char[HEDDLE_KEY_BITS_(a) == HEDDLE_KEY_BITS_(keys) && \
                                       HEDDLE_KEY_BITS_(b) == HEDDLE_KEY_BITS_(keys) \
                                   ? 1 \
                                   : -1]))
/*
 * As heddle_set_operation and heddle_cluster_set_operation, without key_bits: the arrays say it.
 * Arrays of different widths do not compile.
 */
#define heddle_set_operation_keys(device, operation, a, a_count, b, b_count, keys, capacity, \
                                  count, stream) \
    heddle_set_operation(device, operation, \
                         HEDDLE_KEY_BITS_(keys) + HEDDLE_SAME_WIDTH_(a, b, keys), a, a_count, b, \
                         b_count, keys, capacity, count, stream)
#define heddle_cluster_set_operation_keys(cluster, operation, a, a_count, b, b_count, keys, \
                                          capacity, count) \
    heddle_cluster_set_operation(cluster, operation, \
                                 HEDDLE_KEY_BITS_(keys) + HEDDLE_SAME_WIDTH_(a, b, keys), a, \
                                 a_count, b, b_count, keys, capacity, count)

#endif
