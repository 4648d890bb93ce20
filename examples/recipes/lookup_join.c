/* lookup_join.c: adds a column to a table of sales, from a map, with a default for unknown keys. */
#include "../check.h"

#define RATES 3
#define SALES 5
#define STANDARD_RATE 21

int main(void)
{
    const uint32_t article[RATES] = {1001, 1002, 1003}, rate[RATES] = {6, 12, 21};
    const uint32_t sold[SALES] = {1002, 1001, 4444, 1001, 5555};
    uint32_t rates[SALES];
    uint8_t found[SALES];

    heddle_device *device;
    heddle_table *map;
    heddle_table_options options = HEDDLE_MAP_OPTIONS(uint32_t, uint32_t);
    check(heddle_device_open("auto", &device));
    check(heddle_table_create(device, &options, &map));
    check(heddle_map_build(map, article, rate, RATES, NULL, NULL, NULL));

    /* find leaves the answers of absent keys as they are: what stands there is the default. */
    for (int i = 0; i < SALES; i++) rates[i] = STANDARD_RATE;
    check(heddle_map_find(map, sold, SALES, rates, found, NULL, NULL));
    for (int i = 0; i < SALES; i++)
        printf("%u: %u%s\n", sold[i], rates[i], found[i] ? "" : " (default)");

    heddle_table_destroy(map);
    heddle_device_close(device);
    return 0;
}
