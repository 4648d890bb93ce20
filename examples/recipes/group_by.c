/* group_by.c: several aggregates of several columns, by a key of two columns, with nulls. */
#include "../check.h"
#include <inttypes.h>

#define ROWS 6

int main(void)
{
    /* The key: a shop, and an article that may be null. */
    const uint16_t shop[ROWS] = {1, 2, 1, 1, 2, 1};
    const uint32_t article[ROWS] = {50, 50, 50, 0, 50, 0};
    const uint8_t article_valid[ROWS] = {1, 1, 1, 0, 1, 0};
    /* The values: an amount that may be null, and a price. */
    const int64_t amount[ROWS] = {4, 7, -1, 9, 0, 2};
    const uint8_t amount_valid[ROWS] = {1, 0, 1, 1, 0, 1};
    const double price[ROWS] = {2.0, 2.5, 3.0, 1.0, 3.5, 1.0};

    const heddle_column key[2] = {{shop, NULL, 2, 0}, {article, article_valid, 4, 0}};
    heddle_groups_options options = HEDDLE_GROUPS_OPTIONS_INIT;
    heddle_device *device;
    heddle_groups *by;
    options.order = HEDDLE_GROUPS_BY_FIRST;
    check(heddle_device_open("auto", &device));
    check(heddle_groups_create(device, key, 2, ROWS, &options, &by, NULL));

    /* There are never more groups than rows. heddle_groups_count says how many there are. */
    uint16_t shops[ROWS];
    uint32_t articles[ROWS];
    uint8_t known[ROWS], any_amount[ROWS];
    uint64_t count, rows[ROWS];
    int64_t sums[ROWS], largest[ROWS];
    double means[ROWS];
    check(heddle_groups_count(by, &count));
    check(heddle_groups_keys(by, 0, shops, NULL, NULL));
    check(heddle_groups_keys(by, 1, articles, known, NULL));
    check(heddle_groups_sizes(by, rows, NULL));
    check(heddle_groups_aggregate(by, HEDDLE_AGGREGATE_SUM, HEDDLE_TYPE_I64, amount, amount_valid,
                                  sums, any_amount, NULL));
    check(heddle_groups_aggregate(by, HEDDLE_AGGREGATE_MAX, HEDDLE_TYPE_I64, amount, amount_valid,
                                  largest, NULL, NULL));
    check(heddle_groups_aggregate(by, HEDDLE_AGGREGATE_MEAN, HEDDLE_TYPE_F64, price, NULL, means,
                                  NULL, NULL));

    for (uint64_t g = 0; g < count; g++) {
        printf("shop %u, article ", shops[g]);
        if (known[g]) printf("%u: ", articles[g]);
        else printf("null: ");
        printf("%" PRIu64 " rows, ", rows[g]);
        if (any_amount[g]) printf("sum %" PRId64 ", max %" PRId64 ", ", sums[g], largest[g]);
        else printf("no amount, ");
        printf("mean price %.2f\n", means[g]);
    }

    heddle_groups_destroy(by);
    heddle_device_close(device);
    return 0;
}
