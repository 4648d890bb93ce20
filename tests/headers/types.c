/*
 * types.c: what typed.h takes, in C and in C++; and, with WRONG_KEYS, WRONG_VALUES or WRONG_OPTIONS, what
 * it must not take: then this file does not compile.
 */
#include <heddle/heddle.h>

heddle_table_options map_options = HEDDLE_MAP_OPTIONS(uint64_t, uint32_t);
heddle_table_options set_options = HEDDLE_SET_OPTIONS(int32_t);
heddle_table_options multimap_options = HEDDLE_MULTIMAP_OPTIONS(uint32_t, double);
heddle_table_options counter_options = HEDDLE_COUNTER_OPTIONS(int64_t, uint64_t);

#ifdef WRONG_KEYS
typedef uint16_t key;
#else
typedef uint64_t key;
#endif
#ifdef WRONG_VALUES
typedef uint8_t value;
#else
typedef float value;
#endif
#ifdef WRONG_OPTIONS
heddle_table_options wrong_options = HEDDLE_SET_OPTIONS(char *);
#endif

heddle_status use(heddle_table *map, heddle_table *set, const key *keys, value *values, uint8_t *found);
heddle_status use(heddle_table *map, heddle_table *set, const key *keys, value *values, uint8_t *found)
{
    key some[4] = {0, 1, 2, 3};
    uint64_t offsets[5], count = 0;
    heddle_status status = heddle_map_insert(map, keys, values, 4, NULL, NULL, NULL);
    if (status == HEDDLE_OK) status = heddle_map_build(map, some, values, 4, NULL, NULL, NULL);
    if (status == HEDDLE_OK) status = heddle_map_find(map, keys, 4, values, found, NULL, NULL);
    if (status == HEDDLE_OK)
        status = heddle_map_retrieve(map, keys, 4, offsets, values, 4, &count, NULL);
    if (status == HEDDLE_OK) status = heddle_map_export(map, some, values, 4, &count, NULL);
    if (status == HEDDLE_OK) status = heddle_set_insert(set, keys, 4, NULL, NULL, NULL);
    if (status == HEDDLE_OK) status = heddle_set_build(set, keys, 4, NULL, NULL, NULL);
    if (status == HEDDLE_OK) status = heddle_set_contains(set, keys, 4, found, NULL, NULL);
    if (status == HEDDLE_OK) status = heddle_set_erase(set, keys, 4, found, NULL, NULL);
    if (status == HEDDLE_OK) status = heddle_set_count(set, keys, 4, offsets, NULL, NULL);
    if (status == HEDDLE_OK) status = heddle_set_export(set, some, 4, &count, NULL);
    return status;
}
