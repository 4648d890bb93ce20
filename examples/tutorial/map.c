/* map.c: builds a map from article numbers to prices, and asks it. */
#include "../check.h"

int main(void)
{
    const uint32_t articles[4] = {1001, 1002, 1003, 1004};
    const uint32_t prices[4] = {250, 1999, 75, 120};
    const uint32_t asked[3] = {1003, 7777, 1001};
    uint32_t answers[3] = {0, 0, 0};
    uint8_t found[3];

    heddle_device *device;
    heddle_table *map;
    heddle_table_options options = HEDDLE_MAP_OPTIONS(uint32_t, uint32_t);
    check(heddle_device_open("auto", &device));
    check(heddle_table_create(device, &options, &map));
    check(heddle_map_build(map, articles, prices, 4, NULL, NULL, NULL));

    check(heddle_map_find(map, asked, 3, answers, found, NULL, NULL));
    for (int i = 0; i < 3; i++) {
        if (found[i]) printf("%u costs %u\n", asked[i], answers[i]);
        else printf("%u is not in the map\n", asked[i]);
    }

    heddle_table_destroy(map);
    heddle_device_close(device);
    return 0;
}
