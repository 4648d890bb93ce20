/*
 * typed.h: calls on tables that know the types of their arrays. Included by heddle.h.
 *
 *     heddle_table_options options = HEDDLE_MAP_OPTIONS(uint64_t, uint32_t);
 *     heddle_map_insert(map, keys, values, n, NULL, NULL, NULL);
 *     heddle_map_find(map, queries, m, answers, found, NULL, NULL);
 *
 * A typed call takes the same arguments, in the same order, as the function of heddle.h with the
 * same verb. Keys are arrays of uint32_t, int32_t, uint64_t or int64_t; values may also be float
 * and double. Arrays of other types do not compile. Arrays of the wrong width for the table give
 * HEDDLE_ERROR_INVALID and a sentence that names both widths, and nothing is done.
 *
 * heddle_map_* is for all containers with values: maps, multimaps and counters. heddle_set_* is for
 * keys alone: those of sets, and those of other tables in calls that need no values (contains,
 * erase, count; insert and build of a counter, which then counts every key once). All of them are
 * macros, which evaluate the table twice and every other argument once.
 */
#include <heddle/heddle.h>

#ifndef HEDDLE_TYPED_H
#define HEDDLE_TYPED_H

/* The bits of what a pointer points to. No other type compiles. */
#ifdef __cplusplus
extern "C++" { /* overloads, also where the header is included inside extern "C" */
static inline constexpr uint32_t heddle_key_bits_(const uint32_t *) { return 32; }
static inline constexpr uint32_t heddle_key_bits_(const int32_t *) { return 32; }
static inline constexpr uint32_t heddle_key_bits_(const uint64_t *) { return 64; }
static inline constexpr uint32_t heddle_key_bits_(const int64_t *) { return 64; }
static inline constexpr uint32_t heddle_value_bits_(const uint32_t *) { return 32; }
static inline constexpr uint32_t heddle_value_bits_(const int32_t *) { return 32; }
static inline constexpr uint32_t heddle_value_bits_(const float *) { return 32; }
static inline constexpr uint32_t heddle_value_bits_(const uint64_t *) { return 64; }
static inline constexpr uint32_t heddle_value_bits_(const int64_t *) { return 64; }
static inline constexpr uint32_t heddle_value_bits_(const double *) { return 64; }
}
#define HEDDLE_KEY_BITS_(keys) heddle_key_bits_(keys)
#define HEDDLE_VALUE_BITS_(values) heddle_value_bits_(values)
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

/* ------------------------------------------------------------------------------------- options */

#define HEDDLE_OPTIONS_(container, key_bits, value_bits) \
    {sizeof(heddle_table_options), container, HEDDLE_SCHEME_AUTO, key_bits, value_bits, 0, 0, 0, \
     0, 0, 0.0, 0.0, 0.0, 0, 0.0}
/* Options with the widths of these types; all else is as in HEDDLE_TABLE_OPTIONS_INIT. */
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

/* --------------------------------------------------------------------------------------- calls */

/* The call, when the arrays have the table's widths. */
#define HEDDLE_TYPED_(table, key_bits, value_bits, call) \
    (heddle_table_check_widths((table), (key_bits), (value_bits)) == HEDDLE_OK \
         ? (call) \
         : HEDDLE_ERROR_INVALID)

/*
 * As heddle_table_insert, heddle_table_build, heddle_table_find, heddle_table_retrieve and
 * heddle_table_export, for maps, multimaps and counters.
 */
#define heddle_map_insert(map, keys, values, n, options, totals, stream) \
    HEDDLE_TYPED_(map, HEDDLE_KEY_BITS_(keys), HEDDLE_VALUE_BITS_(values), \
                  heddle_table_insert(map, keys, values, n, options, totals, stream))
#define heddle_map_build(map, keys, values, n, options, totals, stream) \
    HEDDLE_TYPED_(map, HEDDLE_KEY_BITS_(keys), HEDDLE_VALUE_BITS_(values), \
                  heddle_table_build(map, keys, values, n, options, totals, stream))
#define heddle_map_find(map, keys, n, values, found, totals, stream) \
    HEDDLE_TYPED_(map, HEDDLE_KEY_BITS_(keys), HEDDLE_VALUE_BITS_(values), \
                  heddle_table_find(map, keys, n, values, found, totals, stream))
#define heddle_map_retrieve(map, keys, n, offsets, values, capacity, count, stream) \
    HEDDLE_TYPED_(map, HEDDLE_KEY_BITS_(keys), HEDDLE_VALUE_BITS_(values), \
                  heddle_table_retrieve(map, keys, n, offsets, values, capacity, count, stream))
#define heddle_map_export(map, keys, values, capacity, size, stream) \
    HEDDLE_TYPED_(map, HEDDLE_KEY_BITS_(keys), HEDDLE_VALUE_BITS_(values), \
                  heddle_table_export(map, keys, values, capacity, size, stream))

/*
 * As heddle_table_insert, heddle_table_build, heddle_table_contains, heddle_table_erase,
 * heddle_table_count and heddle_table_export, with keys alone. insert and build are for sets and
 * counters; the others are for all containers.
 */
#define heddle_set_insert(set, keys, n, options, totals, stream) \
    HEDDLE_TYPED_(set, HEDDLE_KEY_BITS_(keys), 0, \
                  heddle_table_insert(set, keys, NULL, n, options, totals, stream))
#define heddle_set_build(set, keys, n, options, totals, stream) \
    HEDDLE_TYPED_(set, HEDDLE_KEY_BITS_(keys), 0, \
                  heddle_table_build(set, keys, NULL, n, options, totals, stream))
#define heddle_set_contains(set, keys, n, found, totals, stream) \
    HEDDLE_TYPED_(set, HEDDLE_KEY_BITS_(keys), 0, \
                  heddle_table_contains(set, keys, n, found, totals, stream))
#define heddle_set_erase(set, keys, n, found, totals, stream) \
    HEDDLE_TYPED_(set, HEDDLE_KEY_BITS_(keys), 0, \
                  heddle_table_erase(set, keys, n, found, totals, stream))
#define heddle_set_count(set, keys, n, matches, totals, stream) \
    HEDDLE_TYPED_(set, HEDDLE_KEY_BITS_(keys), 0, \
                  heddle_table_count(set, keys, n, matches, totals, stream))
#define heddle_set_export(set, keys, capacity, size, stream) \
    HEDDLE_TYPED_(set, HEDDLE_KEY_BITS_(keys), 0, \
                  heddle_table_export(set, keys, NULL, capacity, size, stream))

#endif
