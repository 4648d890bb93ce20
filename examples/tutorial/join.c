/* join.c: finds the customer of every order, then sums up the orders of every city. */
#include "../check.h"
#include <inttypes.h>

#define CUSTOMERS 3
#define ORDERS 5

int main(void)
{
    const uint32_t customer[CUSTOMERS] = {11, 12, 13};
    const uint32_t postcode[CUSTOMERS] = {9000, 69001, 9000};
    const uint32_t buyer[ORDERS] = {12, 11, 13, 99, 11};
    const uint32_t amount[ORDERS] = {30, 5, 8, 7, 1};
    heddle_device *device;
    check(heddle_device_open("auto", &device));

    /* Every pair of an order and a customer with the same number: their rows. */
    const heddle_column left = HEDDLE_COLUMN_OF(buyer), right = HEDDLE_COLUMN_OF(customer);
    uint64_t order_rows[ORDERS], customer_rows[ORDERS], matches;
    heddle_join *join;
    check(heddle_join_create(device, &left, &right, 1, ORDERS, CUSTOMERS, NULL, &join, NULL));
    check(heddle_join_fetch_rows(join, order_rows, customer_rows, ORDERS, &matches, NULL));
    heddle_join_destroy(join);
    printf("%" PRIu64 " of %d orders have a customer\n", matches, ORDERS);

    /* Where each order goes. Matches come in any order, so each is put where its order is. */
    uint32_t goes_to[ORDERS] = {0};
    for (uint64_t i = 0; i < matches; i++) goes_to[order_rows[i]] = postcode[customer_rows[i]];

    /* The orders by city, in the order in which the cities appear first. */
    const heddle_column key = HEDDLE_COLUMN_OF(goes_to);
    heddle_groups_options options = HEDDLE_GROUPS_OPTIONS_INIT;
    uint32_t cities[ORDERS];
    uint64_t sums[ORDERS], count;
    heddle_groups *groups;
    options.order = HEDDLE_GROUPS_BY_FIRST;
    check(heddle_groups_create(device, &key, 1, ORDERS, &options, &groups, NULL));
    check(heddle_groups_count(groups, &count));
    check(heddle_groups_keys(groups, 0, cities, NULL, NULL));
    check(heddle_groups_aggregate(groups, HEDDLE_AGGREGATE_SUM, HEDDLE_TYPE_U32, amount, NULL, sums,
                                  NULL, NULL));
    for (uint64_t g = 0; g < count; g++) printf("%5u: %" PRIu64 "\n", cities[g], sums[g]);

    heddle_groups_destroy(groups);
    heddle_device_close(device);
    return 0;
}
