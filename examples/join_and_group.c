/*
 * join_and_group.c: orders are joined with customers, and the amounts are summed up by city.
 *
 *     cc join_and_group.c $(pkg-config --cflags --libs heddle) && ./a.out
 */
#include <heddle/heddle.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define CUSTOMERS 4
#define ORDERS 6

static void check(heddle_status status, const char *what)
{
    if (status == HEDDLE_OK) return;
    fprintf(stderr, "%s: %s: %s\n", what, heddle_status_string(status), heddle_last_error());
    exit(EXIT_FAILURE);
}

int main(void)
{
    static const uint32_t customer[CUSTOMERS] = {11, 12, 13, 14};
    static const char city[CUSTOMERS][12] = {"Ghent", "Lyon", "Ghent", "Turin"};
    static const uint32_t buyer[ORDERS] = {12, 11, 13, 12, 99, 11};
    static const uint32_t amount[ORDERS] = {30, 5, 8, 4, 7, 1};
    const heddle_column left = HEDDLE_COLUMN(buyer, 4), right = HEDDLE_COLUMN(customer, 4);

    /* Every order with its customer: row numbers of both. Nobody knows customer 99. */
    heddle_device *device = NULL;
    heddle_join *join = NULL;
    uint64_t order_rows[ORDERS], customer_rows[ORDERS], matches = 0;
    check(heddle_device_open("auto", &device), "open");
    check(heddle_join_create(device, &left, &right, 1, ORDERS, CUSTOMERS, NULL, &join, NULL),
          "join");
    check(heddle_join_fetch(join, order_rows, customer_rows, ORDERS, &matches, NULL), "fetch");
    heddle_join_destroy(join);

    char where[ORDERS][12] = {{0}};
    uint32_t paid[ORDERS] = {0};
    for (uint64_t i = 0; i < matches; i++) {
        for (int k = 0; k < 12; k++) where[i][k] = city[customer_rows[i]][k];
        paid[i] = amount[order_rows[i]];
    }

    /* The matches by city, a key of twelve bytes, and what was paid in each. */
    const heddle_column cities = HEDDLE_COLUMN(where, 12);
    heddle_groups *groups = NULL;
    char names[ORDERS][12];
    uint64_t count = 0, sums[ORDERS], all = 0;
    check(heddle_groups_create(device, &cities, 1, matches, NULL, &groups, NULL), "group");
    check(heddle_groups_count(groups, &count), "count");
    check(heddle_groups_keys(groups, 0, names, NULL, NULL), "keys");
    check(heddle_groups_aggregate(groups, HEDDLE_AGGREGATE_SUM, HEDDLE_TYPE_U32, paid, NULL, sums,
                                  NULL, NULL),
          "sum");
    for (uint64_t g = 0; g < count; g++) {
        printf("%-12.12s%" PRIu64 "\n", names[g], sums[g]);
        all += sums[g];
    }
    heddle_groups_destroy(groups);
    heddle_device_close(device);
    return matches == 5 && count == 2 && all == 48 ? EXIT_SUCCESS : EXIT_FAILURE;
}
