/*
 * typed.h: calls that know the types of their arrays. Included by heddle.h.
 *
 *     heddle_table_options options = HEDDLE_MAP_OPTIONS(uint64_t, uint32_t);
 *     heddle_map_insert(map, keys, values, n, NULL, NULL, NULL);
 *     heddle_map_find(map, queries, m, answers, found, NULL, NULL);
 *
 * A typed call takes the same arguments, in the same order, as the function with the same verb.
 * Keys are arrays of uint32_t, int32_t, uint64_t or int64_t; values may also be float and double.
 * Arrays of other types do not compile. Arrays of the wrong width give HEDDLE_ERROR_INVALID and a
 * sentence that names both widths, and nothing is done. Where an array may be NULL, give a null
 * pointer of its type: (uint32_t *)NULL.
 *
 *     this header       heddle_map_*, heddle_set_*                      tables
 *     typed_cluster.h   heddle_cluster_map_*, heddle_cluster_set_*      tables of clusters
 *     typed_shelf.h     heddle_shelf_map_*, heddle_shelf_set_*          shelves
 *     typed_filter.h    heddle_filter_*_keys                            filters
 *     typed_relations.h HEDDLE_COLUMN_OF, heddle_*_rows and others      joins, groups, sets of keys
 *
 * heddle_map_* is for all containers with values: maps, multimaps and counters. heddle_set_* is for
 * keys alone: those of sets, and those of other tables in calls that need no values (locate,
 * for_each, mixed; insert and build of a counter, which then counts every key once). contains,
 * erase and count have both names and take any container. All of them are macros, which evaluate
 * their first argument more than once and every other argument once.
 */
#include <heddle/heddle.h>

#ifndef HEDDLE_TYPED_H
#define HEDDLE_TYPED_H

/* The bits of what a pointer points to. No other type compiles. */
#ifdef __cplusplus
extern "C++" { /* overloads, also where the header is included inside extern "C"; never called */
char (&heddle_key_bits_(const uint32_t *))[32];
char (&heddle_key_bits_(const int32_t *))[32];
char (&heddle_key_bits_(const uint64_t *))[64];
char (&heddle_key_bits_(const int64_t *))[64];
char (&heddle_value_bits_(const uint32_t *))[32];
char (&heddle_value_bits_(const int32_t *))[32];
char (&heddle_value_bits_(const float *))[32];
char (&heddle_value_bits_(const uint64_t *))[64];
char (&heddle_value_bits_(const int64_t *))[64];
char (&heddle_value_bits_(const double *))[64];
}
#define HEDDLE_KEY_BITS_(keys) ((uint32_t)sizeof(heddle_key_bits_(keys)))
#define HEDDLE_VALUE_BITS_(values) ((uint32_t)sizeof(heddle_value_bits_(values)))
#else
#define HEDDLE_KEY_BITS_(keys) \
    _Generic((keys), \
        uint32_t *: 32u, const uint32_t *: 32u, int32_t *: 32u, const int32_t *: 32u, \
        uint64_t *: 64u, const uint64_t *: 64u, int64_t *: 64u, const int64_t *: 64u)
#define HEDDLE_VALUE_BITS_(values) \
    _Generic((values), \
        uint32_t *: 32u, const uint32_t *: 32u, int32_t *: 32u, const int32_t *: 32u, \
        uint64_t *: 64u, const uint64_t *: 64u, int64_t *: 64u, const int64_t *: 64u, \
        float *: 32u, const float *: 32u, double *: 64u, const double *: 64u)
#endif

/* The call, when `check` (a function) finds that the arrays have the widths of `object`. */
#define HEDDLE_CHECKED_(check, object, key_bits, value_bits, call) \
    (check((object), (key_bits), (value_bits)) == HEDDLE_OK ? (call) : HEDDLE_ERROR_INVALID)

/* ------------------------------------------------------------------------------------- options */

#define HEDDLE_OPTIONS_(container, key_bits, value_bits) \
    {sizeof(heddle_table_options), container, HEDDLE_SCHEME_AUTO, key_bits, value_bits, 0, 0, 0, \
     0, 0, 0.0, 0.0, 0.0, 0, 0.0}
/*
 * Options with the widths of these types, for tables, tables of clusters and shelves; all else is
 * as in HEDDLE_TABLE_OPTIONS_INIT.
 */
#define HEDDLE_MAP_OPTIONS(key, value) \
    HEDDLE_OPTIONS_(HEDDLE_CONTAINER_MAP, HEDDLE_KEY_BITS_((key *)0), \
                    HEDDLE_VALUE_BITS_((value *)0))
#define HEDDLE_SET_OPTIONS(key) \
    HEDDLE_OPTIONS_(HEDDLE_CONTAINER_SET, HEDDLE_KEY_BITS_((key *)0), 0)
#define HEDDLE_MULTIMAP_OPTIONS(key, value) \
    HEDDLE_OPTIONS_(HEDDLE_CONTAINER_MULTIMAP, HEDDLE_KEY_BITS_((key *)0), \
                    HEDDLE_VALUE_BITS_((value *)0))
/* The counts are of type `count`: unsigned numbers of 32 or 64 bits. */
#define HEDDLE_COUNTER_OPTIONS(key, count) \
    HEDDLE_OPTIONS_(HEDDLE_CONTAINER_COUNTER, HEDDLE_KEY_BITS_((key *)0), \
                    HEDDLE_KEY_BITS_((count *)0))

/* ----------------------------------------------------------------------------- maps and others */

#define HEDDLE_TYPED_(table, keys, values, call) \
    HEDDLE_CHECKED_(heddle_table_check_widths, table, HEDDLE_KEY_BITS_(keys), \
                    HEDDLE_VALUE_BITS_(values), call)
/*
 * As heddle_table_insert, heddle_table_build, heddle_table_find, heddle_table_retrieve,
 * heddle_table_retrieve_all and heddle_table_export, for maps, multimaps and counters.
 */
#define heddle_map_insert(map, keys, values, n, options, totals, stream) \
    HEDDLE_TYPED_(map, keys, values, \
                  heddle_table_insert(map, keys, values, n, options, totals, stream))
#define heddle_map_build(map, keys, values, n, options, totals, stream) \
    HEDDLE_TYPED_(map, keys, values, \
                  heddle_table_build(map, keys, values, n, options, totals, stream))
#define heddle_map_find(map, keys, n, values, found, totals, stream) \
    HEDDLE_TYPED_(map, keys, values, \
                  heddle_table_find(map, keys, n, values, found, totals, stream))
#define heddle_map_retrieve(map, keys, n, offsets, values, capacity, count, stream) \
    HEDDLE_TYPED_(map, keys, values, \
                  heddle_table_retrieve(map, keys, n, offsets, values, capacity, count, stream))
#define heddle_map_retrieve_all(map, keys, offsets, values, key_capacity, value_capacity, \
                                key_count, value_count, stream) \
    HEDDLE_TYPED_(map, keys, values, \
                  heddle_table_retrieve_all(map, keys, offsets, values, key_capacity, \
                                            value_capacity, key_count, value_count, stream))
#define heddle_map_export(map, keys, values, capacity, size, stream) \
    HEDDLE_TYPED_(map, keys, values, \
                  heddle_table_export(map, keys, values, capacity, size, stream))
/*
 * As heddle_table_mixed and heddle_table_at, for maps, multimaps and counters. `values` and
 * `values_out` have the same width.
 */
#define heddle_map_mixed(map, operations, keys, values, n, values_out, options, totals, stream) \
    HEDDLE_TYPED_(map, keys, values, \
                  HEDDLE_TYPED_(map, keys, values_out, \
                                heddle_table_mixed(map, operations, keys, values, n, values_out, \
                                                   options, totals, stream)))
#define heddle_map_at(map, slots, n, keys, values, found, stream) \
    HEDDLE_TYPED_(map, keys, values, \
                  heddle_table_at(map, slots, n, keys, values, found, stream))

/* ---------------------------------------------------------------------------------- keys alone */

#define HEDDLE_TYPED_KEYS_(table, keys, call) \
    HEDDLE_CHECKED_(heddle_table_check_widths, table, HEDDLE_KEY_BITS_(keys), 0, call)
/*
 * As heddle_table_insert, heddle_table_build, heddle_table_contains, heddle_table_erase,
 * heddle_table_count and heddle_table_export, with keys alone. insert and build are for sets and
 * counters; the others are for all containers.
 */
#define heddle_set_insert(set, keys, n, options, totals, stream) \
    HEDDLE_TYPED_KEYS_(set, keys, \
                       heddle_table_insert(set, keys, NULL, n, options, totals, stream))
#define heddle_set_build(set, keys, n, options, totals, stream) \
    HEDDLE_TYPED_KEYS_(set, keys, heddle_table_build(set, keys, NULL, n, options, totals, stream))
#define heddle_set_contains(set, keys, n, found, totals, stream) \
    HEDDLE_TYPED_KEYS_(set, keys, heddle_table_contains(set, keys, n, found, totals, stream))
#define heddle_set_erase(set, keys, n, found, totals, stream) \
    HEDDLE_TYPED_KEYS_(set, keys, heddle_table_erase(set, keys, n, found, totals, stream))
#define heddle_set_count(set, keys, n, matches, totals, stream) \
    HEDDLE_TYPED_KEYS_(set, keys, heddle_table_count(set, keys, n, matches, totals, stream))
#define heddle_set_export(set, keys, capacity, size, stream) \
    HEDDLE_TYPED_KEYS_(set, keys, heddle_table_export(set, keys, NULL, capacity, size, stream))
#define heddle_map_contains(map, keys, n, found, totals, stream) \
    heddle_set_contains(map, keys, n, found, totals, stream)
#define heddle_map_erase(map, keys, n, found, totals, stream) \
    heddle_set_erase(map, keys, n, found, totals, stream)
#define heddle_map_count(map, keys, n, matches, totals, stream) \
    heddle_set_count(map, keys, n, matches, totals, stream)
/*
 * As heddle_table_mixed, heddle_table_locate, heddle_table_at and heddle_table_for_each, with keys
 * alone. mixed inserts into sets and counters, and looks up and erases in all containers.
 */
#define heddle_set_mixed(set, operations, keys, n, options, totals, stream) \
    HEDDLE_TYPED_KEYS_(set, keys, \
                       heddle_table_mixed(set, operations, keys, NULL, n, NULL, options, totals, \
                                          stream))
#define heddle_set_locate(set, keys, n, slots, totals, stream) \
    HEDDLE_TYPED_KEYS_(set, keys, heddle_table_locate(set, keys, n, slots, totals, stream))
#define heddle_set_at(set, slots, n, keys, found, stream) \
    HEDDLE_TYPED_KEYS_(set, keys, heddle_table_at(set, slots, n, keys, NULL, found, stream))
#define heddle_set_for_each(set, keys, n, visit, context, stream) \
    HEDDLE_TYPED_KEYS_(set, keys, heddle_table_for_each(set, keys, n, visit, context, stream))

#include <heddle/typed_cluster.h>
#include <heddle/typed_filter.h>
#include <heddle/typed_relations.h>
#include <heddle/typed_shelf.h>

#endif
