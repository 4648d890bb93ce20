/*
 * typed_shelf.h: typed calls on shelves. Included by typed.h, which has the rules and the options.
 *
 *     heddle_table_options options = HEDDLE_MAP_OPTIONS(uint64_t, uint32_t);
 *     heddle_shelf_create(device, "people.shelf", &options, NULL, &shelf);
 *     heddle_shelf_map_build(shelf, keys, values, n, NULL, NULL);
 */
#include <heddle/heddle.h>

#ifndef HEDDLE_TYPED_SHELF_H
#define HEDDLE_TYPED_SHELF_H

#define HEDDLE_TYPED_SHELF_(table, keys, values, call) \
    HEDDLE_CHECKED_(heddle_shelf_check_widths, table, HEDDLE_KEY_BITS_(keys), \
                    HEDDLE_VALUE_BITS_(values), call)
#define HEDDLE_TYPED_SHELF_KEYS_(table, keys, call) \
    HEDDLE_CHECKED_(heddle_shelf_check_widths, table, HEDDLE_KEY_BITS_(keys), 0, call)

/*
 * As heddle_shelf_insert, heddle_shelf_build, heddle_shelf_find, heddle_shelf_retrieve and
 * heddle_shelf_export, for maps, multimaps and counters.
 */
#define heddle_shelf_map_insert(map, keys, values, n, options, totals) \
    HEDDLE_TYPED_SHELF_(map, keys, values, \
                        heddle_shelf_insert(map, keys, values, n, options, totals))
#define heddle_shelf_map_build(map, keys, values, n, options, totals) \
    HEDDLE_TYPED_SHELF_(map, keys, values, \
                        heddle_shelf_build(map, keys, values, n, options, totals))
#define heddle_shelf_map_find(map, keys, n, values, found, totals) \
    HEDDLE_TYPED_SHELF_(map, keys, values, heddle_shelf_find(map, keys, n, values, found, totals))
#define heddle_shelf_map_retrieve(map, keys, n, offsets, values, capacity, count) \
    HEDDLE_TYPED_SHELF_(map, keys, values, \
                        heddle_shelf_retrieve(map, keys, n, offsets, values, capacity, count))
#define heddle_shelf_map_export(map, keys, values, capacity, size) \
    HEDDLE_TYPED_SHELF_(map, keys, values, heddle_shelf_export(map, keys, values, capacity, size))

/*
 * As heddle_shelf_insert, heddle_shelf_build, heddle_shelf_contains, heddle_shelf_erase,
 * heddle_shelf_count and heddle_shelf_export, with keys alone. insert and build are for sets and
 * counters; the others are for all containers.
 */
#define heddle_shelf_set_insert(set, keys, n, options, totals) \
    HEDDLE_TYPED_SHELF_KEYS_(set, keys, heddle_shelf_insert(set, keys, NULL, n, options, totals))
#define heddle_shelf_set_build(set, keys, n, options, totals) \
    HEDDLE_TYPED_SHELF_KEYS_(set, keys, heddle_shelf_build(set, keys, NULL, n, options, totals))
#define heddle_shelf_set_contains(set, keys, n, found, totals) \
    HEDDLE_TYPED_SHELF_KEYS_(set, keys, heddle_shelf_contains(set, keys, n, found, totals))
#define heddle_shelf_set_erase(set, keys, n, found, totals) \
    HEDDLE_TYPED_SHELF_KEYS_(set, keys, heddle_shelf_erase(set, keys, n, found, totals))
#define heddle_shelf_set_count(set, keys, n, matches, totals) \
    HEDDLE_TYPED_SHELF_KEYS_(set, keys, heddle_shelf_count(set, keys, n, matches, totals))
#define heddle_shelf_set_export(set, keys, capacity, size) \
    HEDDLE_TYPED_SHELF_KEYS_(set, keys, heddle_shelf_export(set, keys, NULL, capacity, size))
#define heddle_shelf_map_contains(map, keys, n, found, totals) \
    heddle_shelf_set_contains(map, keys, n, found, totals)
#define heddle_shelf_map_erase(map, keys, n, found, totals) \
    heddle_shelf_set_erase(map, keys, n, found, totals)
#define heddle_shelf_map_count(map, keys, n, matches, totals) \
    heddle_shelf_set_count(map, keys, n, matches, totals)

#endif
