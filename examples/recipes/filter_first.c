/* filter_first.c: asks a Bloom filter before a map. One visitor in a hundred is a customer. */
#include "../check.h"
#include <inttypes.h>

#define CUSTOMERS 10000u
#define VISITORS 1000000u

int main(void)
{
    static uint32_t customers[CUSTOMERS], discounts[CUSTOMERS];
    static uint32_t visitors[VISITORS], asked[VISITORS], answers[VISITORS];
    static uint64_t rows[VISITORS];
    for (uint32_t i = 0; i < CUSTOMERS; i++) customers[i] = 100 * i, discounts[i] = i % 10;
    for (uint32_t i = 0; i < VISITORS; i++) visitors[i] = i;

    heddle_device *device;
    heddle_table *map;
    heddle_filter *filter;
    heddle_table_options options = HEDDLE_MAP_OPTIONS(uint32_t, uint32_t);
    heddle_filter_options filter_options = HEDDLE_FILTER_OPTIONS(uint32_t);
    filter_options.capacity = CUSTOMERS; /* a filter does not grow */
    check(heddle_device_open("auto", &device));
    check(heddle_table_create(device, &options, &map));
    check(heddle_map_build(map, customers, discounts, CUSTOMERS, NULL, NULL, NULL));
    check(heddle_filter_create(device, &filter_options, &filter));
    check(heddle_filter_add_keys(filter, customers, CUSTOMERS, NULL));

    /* asked[i] is visitors[rows[i]]: a customer, or now and then somebody else. */
    uint64_t asks;
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    check(heddle_filter_select_keys(filter, visitors, VISITORS, asked, rows, &asks, NULL));
    check(heddle_map_find(map, asked, asks, answers, NULL, &totals, NULL));
    printf("%u visitors, %" PRIu64 " customers\n", VISITORS, totals.found);
    printf("the filter answered for more than 98 in 100: %s\n",
           asks < VISITORS / 50 ? "yes" : "no");

    heddle_filter_destroy(filter);
    heddle_table_destroy(map);
    heddle_device_close(device);
    return 0;
}
