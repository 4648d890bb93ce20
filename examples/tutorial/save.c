/* save.c: saves a map, and loads it on another device. */
#include "../check.h"
#include <inttypes.h>

int main(void)
{
    const char *path = "prices.heddle";
    const uint32_t articles[3] = {1001, 1002, 1003}, prices[3] = {250, 1999, 75};
    uint32_t answers[3] = {0, 0, 0};
    uint64_t size;

    heddle_device *best, *one_thread;
    heddle_table *map, *loaded;
    heddle_table_options options = HEDDLE_MAP_OPTIONS(uint32_t, uint32_t);
    check(heddle_device_open("auto", &best));
    check(heddle_table_create(best, &options, &map));
    check(heddle_map_build(map, articles, prices, 3, NULL, NULL, NULL));
    check(heddle_table_save(map, path, NULL));
    heddle_table_destroy(map);
    heddle_device_close(best);

    check(heddle_device_open("cpu:1", &one_thread));
    check(heddle_table_load(one_thread, path, NULL, &loaded));
    check(heddle_table_size(loaded, &size, NULL));
    check(heddle_map_find(loaded, articles, 3, answers, NULL, NULL, NULL));
    printf("%" PRIu64 " articles: %u, %u, %u\n", size, answers[0], answers[1], answers[2]);

    heddle_table_destroy(loaded);
    heddle_device_close(one_thread);
    remove(path);
    return 0;
}
