/* full_table.c: a table of fixed size is full. Keys that did not fit are listed and go in later. */
#include "../check.h"
#include <inttypes.h>

#define N 10000

int main(void)
{
    static uint32_t keys[N], values[N], late_keys[N], late_values[N];
    static uint64_t failed[N];
    for (uint32_t i = 0; i < N; i++) keys[i] = 11 * i, values[i] = i;

    heddle_device *device;
    heddle_table *map;
    heddle_table_options options = HEDDLE_MAP_OPTIONS(uint32_t, uint32_t);
    heddle_insert_options insert = HEDDLE_INSERT_OPTIONS_INIT;
    heddle_totals totals = HEDDLE_TOTALS_INIT, late = HEDDLE_TOTALS_INIT;
    options.capacity = N / 2;
    options.flags = HEDDLE_FLAG_FIXED;
    insert.failed = failed; /* in host memory */
    insert.failed_capacity = N;
    check(heddle_device_open("auto", &device));
    check(heddle_table_create(device, &options, &map));

    const heddle_status status = heddle_map_insert(map, keys, values, N, &insert, &totals, NULL);
    if (status != HEDDLE_ERROR_FULL) check(status);
    printf("%s; all keys accounted for: %s\n", heddle_status_string(status),
           totals.inserted + totals.failed == N ? "yes" : "no");

    /* Make room, and insert what is in the list. */
    check(heddle_table_reserve(map, N, NULL));
    for (uint64_t i = 0; i < totals.failed; i++) {
        late_keys[i] = keys[failed[i]];
        late_values[i] = values[failed[i]];
    }
    check(heddle_map_insert(map, late_keys, late_values, totals.failed, NULL, &late, NULL));
    printf("%" PRIu64 " in the table\n", totals.inserted + late.inserted);

    heddle_table_destroy(map);
    heddle_device_close(device);
    return 0;
}
