/* counter.c: how often each article was sold. */
#include "../check.h"
#include <inttypes.h>

int main(void)
{
    const uint32_t monday[6] = {1003, 1001, 1003, 1004, 1003, 1001};
    const uint32_t tuesday[4] = {1001, 1002, 1003, 1001};
    const uint32_t articles[5] = {1001, 1002, 1003, 1004, 1005};
    uint32_t sold[5] = {0, 0, 0, 0, 0}; /* 0 stays where an article was never sold */
    uint64_t different;

    heddle_device *device;
    heddle_table *counter;
    heddle_table_options options = HEDDLE_COUNTER_OPTIONS(uint32_t, uint32_t);
    options.capacity = 1000; /* articles that there are, not sales */
    check(heddle_device_open("auto", &device));
    check(heddle_table_create(device, &options, &counter));
    check(heddle_set_insert(counter, monday, 6, NULL, NULL, NULL));
    check(heddle_set_insert(counter, tuesday, 4, NULL, NULL, NULL));

    check(heddle_table_size(counter, &different, NULL));
    printf("%" PRIu64 " different articles were sold\n", different);
    check(heddle_map_find(counter, articles, 5, sold, NULL, NULL, NULL));
    for (int i = 0; i < 5; i++) printf("%u: %u\n", articles[i], sold[i]);

    heddle_table_destroy(counter);
    heddle_device_close(device);
    return 0;
}
