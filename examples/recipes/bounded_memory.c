/* bounded_memory.c: builds maps in scratch memory of the program's own, and gives memory back. */
#include "../check.h"
#include <inttypes.h>

#define N 1000000

int main(void)
{
    uint32_t *keys = malloc(N * sizeof *keys), *values = malloc(N * sizeof *values);
    if (keys == NULL || values == NULL) return 1;
    for (uint32_t i = 0; i < N; i++) values[i] = i;

    heddle_device *device;
    heddle_table *map;
    heddle_table_options options = HEDDLE_MAP_OPTIONS(uint32_t, uint32_t);
    heddle_insert_options insert = HEDDLE_INSERT_OPTIONS_INIT;
    heddle_table_stats stats = HEDDLE_TABLE_STATS_INIT;
    options.capacity = N;
    options.flags = HEDDLE_FLAG_FIXED; /* it never takes more memory than now */
    check(heddle_device_open("auto", &device));
    check(heddle_table_create(device, &options, &map));

    /* Asked once, allocated once, used by every build. With less a build is slower, not wrong. */
    check(heddle_table_build_workspace(map, N, &insert.workspace_bytes));
    check(heddle_memory_allocate(device, insert.workspace_bytes, &insert.workspace));
    for (uint32_t day = 1; day <= 3; day++) {
        for (uint32_t i = 0; i < N; i++) keys[i] = i * 2 * day + 1;
        heddle_totals totals = HEDDLE_TOTALS_INIT;
        check(heddle_map_build(map, keys, values, N, &insert, &totals, NULL));
        printf("day %u: %" PRIu64 " inserted\n", day, totals.inserted);
    }
    check(heddle_memory_free(device, insert.workspace));

    check(heddle_table_get_stats(map, &stats, NULL));
    printf("the table takes less than 12 bytes a pair: %s\n",
           stats.bytes_total < UINT64_C(12) * N ? "yes" : "no");
    check(heddle_device_trim(device)); /* frees the scratch memory that the device keeps */

    heddle_table_destroy(map);
    heddle_device_close(device);
    free(values);
    free(keys);
    return 0;
}
