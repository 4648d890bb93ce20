/*
 * queued_calls.c: calls that a GPU queues and that return at once. On a CPU they are done when they
 * return.
 */
#include "../check.h"
#include <inttypes.h>

#define N 10000

static void *on_device(heddle_device *device, const void *host, uint64_t bytes)
{
    void *memory;
    check(heddle_memory_allocate(device, bytes, &memory));
    if (host != NULL) check(heddle_memory_copy(device, memory, host, bytes, NULL));
    return memory;
}

int main(void)
{
    static uint32_t keys[N], values[N], answers[N];
    for (uint32_t i = 0; i < N; i++) keys[i] = 5 * i, values[i] = i;

    heddle_device *device;
    heddle_table *map;
    heddle_table_options options = HEDDLE_MAP_OPTIONS(uint32_t, uint32_t);
    options.capacity = N;
    options.flags = HEDDLE_FLAG_FIXED; /* a table that may grow has to wait */
    check(heddle_device_open("auto", &device));
    check(heddle_table_create(device, &options, &map));

    /* Arrays on the device, no totals, no list of failed keys: all of it is queued. */
    uint32_t *d_keys = on_device(device, keys, sizeof keys);
    uint32_t *d_values = on_device(device, values, sizeof values);
    uint32_t *d_answers = on_device(device, NULL, sizeof answers);
    check(heddle_memory_fill(device, d_answers, 0, sizeof answers, NULL));
    check(heddle_map_insert(map, d_keys, d_values, N, NULL, NULL, NULL));
    check(heddle_map_find(map, d_keys, N, d_answers, NULL, NULL, NULL));
    check(heddle_memory_copy(device, answers, d_answers, sizeof answers, NULL));
    check(heddle_device_synchronize(device, NULL)); /* the answers are here only now */

    uint64_t wrong = 0;
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    for (uint32_t i = 0; i < N; i++) wrong += answers[i] != i;
    check(heddle_table_take_totals(map, &totals, NULL)); /* what the calls did, added up */
    printf("%" PRIu64 " inserted, %" PRIu64 " failed, %" PRIu64 " found, %" PRIu64 " wrong\n",
           totals.inserted, totals.failed, totals.found, wrong);

    check(heddle_memory_free(device, d_answers));
    check(heddle_memory_free(device, d_values));
    check(heddle_memory_free(device, d_keys));
    heddle_table_destroy(map);
    heddle_device_close(device);
    return 0;
}
