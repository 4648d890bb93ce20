/* count_keys.c: counts how often each key occurs in batches that arrive one after the other. */
#include "../check.h"
#include <inttypes.h>

#define BATCH 100000
#define VISITORS 1000 /* about how many different ones there will be */

int main(void)
{
    static uint32_t visits[BATCH];
    uint32_t visitors[VISITORS], counts[VISITORS], most = 0;
    uint64_t different;

    heddle_device *device;
    heddle_table *counter;
    heddle_table_options options = HEDDLE_COUNTER_OPTIONS(uint32_t, uint32_t);
    options.capacity = VISITORS; /* it grows where that is too little; counting is then slower */
    check(heddle_device_open("auto", &device));
    check(heddle_table_create(device, &options, &counter));
    for (uint32_t day = 0; day < 7; day++) {
        for (uint32_t i = 0; i < BATCH; i++) visits[i] = i % 4 == 0 ? 7 : i * (day + 1) % VISITORS;
        check(heddle_set_insert(counter, visits, BATCH, NULL, NULL, NULL));
    }

    /* All visitors with their counts, in any order. */
    check(heddle_map_export(counter, visitors, counts, VISITORS, &different, NULL));
    for (uint64_t i = 1; i < different; i++)
        if (counts[i] > counts[most]) most = (uint32_t)i;
    printf("%" PRIu64 " different visitors\n", different);
    printf("visitor %u came most often: %u times\n", visitors[most], counts[most]);

    heddle_table_destroy(counter);
    heddle_device_close(device);
    return 0;
}
