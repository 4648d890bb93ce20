/* growth.c: a table that grows, and one that must not. */
#include "../check.h"
#include <inttypes.h>

#define N 100000

static heddle_table *make_set(heddle_device *device, uint64_t capacity, uint32_t flags)
{
    heddle_table *set;
    heddle_table_options options = HEDDLE_SET_OPTIONS(uint64_t);
    options.capacity = capacity;
    options.flags = flags;
    check(heddle_table_create(device, &options, &set));
    return set;
}

int main(void)
{
    static uint64_t keys[N];
    for (uint64_t i = 0; i < N; i++) keys[i] = i * i;

    heddle_device *device;
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    check(heddle_device_open("auto", &device));

    heddle_table *growing = make_set(device, 1000, 0);
    check(heddle_set_insert(growing, keys, N, NULL, &totals, NULL));
    printf("growing: %" PRIu64 " inserted, %" PRIu64 " failed\n", totals.inserted, totals.failed);

    heddle_table *fixed = make_set(device, 1000, HEDDLE_FLAG_FIXED);
    const heddle_status status = heddle_set_insert(fixed, keys, N, NULL, &totals, NULL);
    if (status != HEDDLE_ERROR_FULL) check(status);
    printf("fixed: %s\n", heddle_status_string(status));
    printf("fixed: inserted and failed are %" PRIu64 " together\n",
           totals.inserted + totals.failed);

    heddle_table_destroy(fixed);
    heddle_table_destroy(growing);
    heddle_device_close(device);
    return 0;
}
