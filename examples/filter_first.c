/*
 * filter_first.c: a Bloom filter asked before a map. Of ten million visitors one million are customers;
 * the filter sends little more than these to the map.
 *
 *     cc filter_first.c $(pkg-config --cflags --libs heddle) && ./a.out
 */
#include <heddle/heddle.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define CUSTOMERS 1000000u
#define VISITORS 10000000u

static void check(heddle_status status, const char *what)
{
    if (status == HEDDLE_OK) return;
    fprintf(stderr, "%s: %s: %s\n", what, heddle_status_string(status), heddle_last_error());
    exit(EXIT_FAILURE);
}

static uint32_t *numbers(uint64_t n, uint32_t step)
{
    uint32_t *array = malloc(n * sizeof *array);
    if (array == NULL) exit(EXIT_FAILURE);
    for (uint64_t i = 0; i < n; i++) array[i] = (uint32_t)i * step;
    return array;
}

int main(void)
{
    /* Every tenth visitor is a customer. */
    uint32_t *customers = numbers(CUSTOMERS, 10), *rows_of = numbers(CUSTOMERS, 1);
    uint32_t *visitors = numbers(VISITORS, 1), *asked = numbers(VISITORS, 0);
    heddle_device *device = NULL;
    heddle_table *map = NULL;
    heddle_filter *filter = NULL;
    heddle_filter_options options = HEDDLE_FILTER_OPTIONS_INIT;
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    uint64_t asks = 0;

    options.capacity = CUSTOMERS;
    check(heddle_device_open("auto", &device), "open");
    check(heddle_table_create(device, NULL, &map), "create a map");
    check(heddle_table_build(map, customers, rows_of, CUSTOMERS, NULL, NULL, NULL), "build");
    check(heddle_filter_create(device, &options, &filter), "create a filter");
    check(heddle_filter_add(filter, customers, CUSTOMERS, NULL), "add");

    check(heddle_filter_select(filter, visitors, VISITORS, asked, NULL, &asks, NULL), "select");
    check(heddle_table_contains(map, asked, asks, NULL, &totals, NULL), "contains");
    printf("%u visitors, %" PRIu64 " worth a search, %" PRIu64 " customers\n", VISITORS, asks,
           totals.found);

    heddle_filter_destroy(filter);
    heddle_table_destroy(map);
    heddle_device_close(device);
    free(customers);
    free(rows_of);
    free(visitors);
    free(asked);
    return totals.found == CUSTOMERS ? EXIT_SUCCESS : EXIT_FAILURE;
}
