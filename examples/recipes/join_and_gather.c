/* join_and_gather.c: joins orders with deliveries by two key columns; makes the joined columns. */
#include "../check.h"
#include <inttypes.h>

#define ORDERS 4
#define DELIVERIES 5

/* result[i] = column[rows[i]] */
static void gather(const uint32_t *column, const uint64_t *rows, uint64_t n, uint32_t *result)
{
    for (uint64_t i = 0; i < n; i++) result[i] = column[rows[i]];
}

int main(void)
{
    const uint32_t order[ORDERS] = {7, 7, 8, 9}, line[ORDERS] = {1, 2, 1, 1};
    const uint32_t price[ORDERS] = {30, 5, 12, 99};
    const uint32_t of_order[DELIVERIES] = {8, 7, 7, 7, 6}, of_line[DELIVERIES] = {1, 2, 1, 2, 1};
    const uint32_t day[DELIVERIES] = {14, 15, 16, 17, 18};
    const heddle_column left[2] = {HEDDLE_COLUMN_OF(order), HEDDLE_COLUMN_OF(line)};
    const heddle_column right[2] = {HEDDLE_COLUMN_OF(of_order), HEDDLE_COLUMN_OF(of_line)};

    heddle_device *device;
    heddle_join *join;
    uint64_t count, fetched;
    check(heddle_device_open("auto", &device));
    check(heddle_join_create(device, left, right, 2, ORDERS, DELIVERIES, NULL, &join, NULL));
    check(heddle_join_count(join, &count, NULL)); /* two deliveries of one line are two rows */
    uint64_t *order_rows = malloc((count + 1) * sizeof *order_rows);
    uint64_t *delivery_rows = malloc((count + 1) * sizeof *delivery_rows);
    uint32_t *prices = malloc((count + 1) * sizeof *prices);
    uint32_t *days = malloc((count + 1) * sizeof *days);
    if (order_rows == NULL || delivery_rows == NULL || prices == NULL || days == NULL) return 1;
    check(heddle_join_fetch_rows(join, order_rows, delivery_rows, count, &fetched, NULL));
    gather(price, order_rows, fetched, prices);
    gather(day, delivery_rows, fetched, days);

    printf("%" PRIu64 " deliveries of known lines\n", fetched);
    for (uint32_t today = 14; today <= 18; today++) /* rows come in any order */
        for (uint64_t i = 0; i < fetched; i++)
            if (days[i] == today) printf("day %u: %u\n", today, prices[i]);

    free(days);
    free(prices);
    free(delivery_rows);
    free(order_rows);
    heddle_join_destroy(join);
    heddle_device_close(device);
    return 0;
}
