/* mixed_batch.c: insertions, erasures and lookups in one batch, all at the same time. */
#include "../check.h"

int main(void)
{
    static const char *const words[] = {"",       "inserted", "updated", "kept",
                                        "failed", "found",    "absent"};
    const uint32_t there[3] = {1, 2, 3}, counts[3] = {10, 20, 30};
    const uint8_t operations[5] = {HEDDLE_OPERATION_FIND, HEDDLE_OPERATION_ERASE,
                                   HEDDLE_OPERATION_INSERT, HEDDLE_OPERATION_INSERT,
                                   HEDDLE_OPERATION_FIND};
    const uint32_t keys[5] = {1, 2, 3, 4, 5}, values[5] = {0, 0, 5, 40, 0};
    uint32_t answers[5] = {0};
    uint8_t outcomes[5];

    heddle_device *device;
    heddle_table *map;
    heddle_table_options options = HEDDLE_MAP_OPTIONS(uint32_t, uint32_t);
    heddle_insert_options how = HEDDLE_INSERT_OPTIONS_INIT;
    options.scheme = HEDDLE_SCHEME_SLAB; /* the scheme that takes mixed batches */
    how.policy = HEDDLE_POLICY_ADD;
    how.outcomes = outcomes;
    check(heddle_device_open("auto", &device));
    check(heddle_table_create(device, &options, &map));
    check(heddle_map_build(map, there, counts, 3, NULL, NULL, NULL));

    /* The operations have no order. Here every key has one operation, so none is needed. */
    check(heddle_map_mixed(map, operations, keys, values, 5, answers, &how, NULL, NULL));
    for (int i = 0; i < 5; i++) printf("%u: %s\n", keys[i], words[outcomes[i]]);
    printf("the value of 1 is %u\n", answers[0]);

    heddle_table_destroy(map);
    heddle_device_close(device);
    return 0;
}
