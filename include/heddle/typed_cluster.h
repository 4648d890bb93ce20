/*
 * typed_cluster.h: typed calls on tables of clusters. Included by typed.h, which has the rules and
 * the options.
 *
 *     heddle_table_options options = HEDDLE_MAP_OPTIONS(uint64_t, uint32_t);
 *     heddle_cluster_table_create(cluster, &options, NULL, &map);
 *     heddle_cluster_map_build(map, keys, values, n, NULL, NULL);
 *
 * A call that is refused asks no other process.
 */
#include <heddle/heddle.h>

#ifndef HEDDLE_TYPED_CLUSTER_H
#define HEDDLE_TYPED_CLUSTER_H

#define HEDDLE_TYPED_CLUSTER_(table, keys, values, call) \
    HEDDLE_CHECKED_(heddle_cluster_table_check_widths, table, HEDDLE_KEY_BITS_(keys), \
                    HEDDLE_VALUE_BITS_(values), call)
#define HEDDLE_TYPED_CLUSTER_KEYS_(table, keys, call) \
    HEDDLE_CHECKED_(heddle_cluster_table_check_widths, table, HEDDLE_KEY_BITS_(keys), 0, call)

/*
 * As heddle_cluster_table_insert, heddle_cluster_table_build, heddle_cluster_table_find,
 * heddle_cluster_table_retrieve and heddle_cluster_table_export, for maps, multimaps and counters.
 */
#define heddle_cluster_map_insert(map, keys, values, n, options, totals) \
    HEDDLE_TYPED_CLUSTER_(map, keys, values, \
                          heddle_cluster_table_insert(map, keys, values, n, options, totals))
#define heddle_cluster_map_build(map, keys, values, n, options, totals) \
    HEDDLE_TYPED_CLUSTER_(map, keys, values, \
                          heddle_cluster_table_build(map, keys, values, n, options, totals))
#define heddle_cluster_map_find(map, keys, n, values, found, totals) \
    HEDDLE_TYPED_CLUSTER_(map, keys, values, \
                          heddle_cluster_table_find(map, keys, n, values, found, totals))
#define heddle_cluster_map_retrieve(map, keys, n, offsets, values, capacity, count) \
    HEDDLE_TYPED_CLUSTER_(map, keys, values, \
                          heddle_cluster_table_retrieve(map, keys, n, offsets, values, capacity, \
                                                        count))
#define heddle_cluster_map_export(map, keys, values, capacity, size) \
    HEDDLE_TYPED_CLUSTER_(map, keys, values, \
                          heddle_cluster_table_export(map, keys, values, capacity, size))

/*
 * As heddle_cluster_table_insert, heddle_cluster_table_build, heddle_cluster_table_contains,
 * heddle_cluster_table_erase, heddle_cluster_table_count and heddle_cluster_table_export, with
 * keys alone. insert and build are for sets and counters; the others are for all containers.
 */
#define heddle_cluster_set_insert(set, keys, n, options, totals) \
    HEDDLE_TYPED_CLUSTER_KEYS_(set, keys, \
                               heddle_cluster_table_insert(set, keys, NULL, n, options, totals))
#define heddle_cluster_set_build(set, keys, n, options, totals) \
    HEDDLE_TYPED_CLUSTER_KEYS_(set, keys, \
                               heddle_cluster_table_build(set, keys, NULL, n, options, totals))
#define heddle_cluster_set_contains(set, keys, n, found, totals) \
    HEDDLE_TYPED_CLUSTER_KEYS_(set, keys, \
                               heddle_cluster_table_contains(set, keys, n, found, totals))
#define heddle_cluster_set_erase(set, keys, n, found, totals) \
    HEDDLE_TYPED_CLUSTER_KEYS_(set, keys, heddle_cluster_table_erase(set, keys, n, found, totals))
#define heddle_cluster_set_count(set, keys, n, matches, totals) \
    HEDDLE_TYPED_CLUSTER_KEYS_(set, keys, heddle_cluster_table_count(set, keys, n, matches, totals))
#define heddle_cluster_set_export(set, keys, capacity, size) \
    HEDDLE_TYPED_CLUSTER_KEYS_(set, keys, \
                               heddle_cluster_table_export(set, keys, NULL, capacity, size))
#define heddle_cluster_map_contains(map, keys, n, found, totals) \
    heddle_cluster_set_contains(map, keys, n, found, totals)
#define heddle_cluster_map_erase(map, keys, n, found, totals) \
    heddle_cluster_set_erase(map, keys, n, found, totals)
#define heddle_cluster_map_count(map, keys, n, matches, totals) \
    heddle_cluster_set_count(map, keys, n, matches, totals)

#endif
