/* duplicates.c: what happens to keys that are already there. */
#include "../check.h"
#include <inttypes.h>

/* Inserts two prices and says what became of them. */
static void set_prices(heddle_table *map, uint32_t policy, const char *name)
{
    const uint32_t articles[2] = {1001, 1005};
    const uint32_t prices[2] = {260, 500};
    uint32_t answers[2] = {0, 0};
    heddle_insert_options options = HEDDLE_INSERT_OPTIONS_INIT;
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    options.policy = policy;
    check(heddle_map_insert(map, articles, prices, 2, &options, &totals, NULL));
    check(heddle_map_find(map, articles, 2, answers, NULL, NULL, NULL));
    printf("%-8s%" PRIu64 " inserted, %" PRIu64 " kept, %" PRIu64 " updated: %u, %u\n", name,
           totals.inserted, totals.kept, totals.updated, answers[0], answers[1]);
}

int main(void)
{
    const uint32_t article = 1001, price = 250;
    heddle_device *device;
    heddle_table *map;
    heddle_table_options options = HEDDLE_MAP_OPTIONS(uint32_t, uint32_t);
    check(heddle_device_open("auto", &device));
    check(heddle_table_create(device, &options, &map));
    check(heddle_map_insert(map, &article, &price, 1, NULL, NULL, NULL));

    set_prices(map, HEDDLE_POLICY_KEEP, "keep");
    set_prices(map, HEDDLE_POLICY_REPLACE, "replace");
    set_prices(map, HEDDLE_POLICY_ADD, "add");

    heddle_table_destroy(map);
    heddle_device_close(device);
    return 0;
}
