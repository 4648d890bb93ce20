/* unique_in_order.c: removes duplicates and keeps the order in which keys appear first. */
#include "../check.h"
#include <inttypes.h>

#define ROWS 8

int main(void)
{
    const uint64_t keys[ROWS] = {30, 10, 20, 10, 30, 40, 30, 10};
    uint64_t distinct[ROWS], times[ROWS], first[ROWS], group_of[ROWS], count;

    heddle_device *device;
    heddle_groups *groups;
    const heddle_column column = HEDDLE_COLUMN_OF(keys);
    heddle_groups_options options = HEDDLE_GROUPS_OPTIONS_INIT;
    options.order = HEDDLE_GROUPS_BY_FIRST;
    check(heddle_device_open("auto", &device));
    check(heddle_groups_create(device, &column, 1, ROWS, &options, &groups, NULL));
    check(heddle_groups_count(groups, &count));
    check(heddle_groups_keys(groups, 0, distinct, NULL, NULL));
    check(heddle_groups_sizes(groups, times, NULL));
    check(heddle_groups_first_rows(groups, first, NULL));
    /* keys[i] == distinct[group_of[i]] */
    check(heddle_groups_numbers_of_rows(groups, group_of, NULL));

    for (uint64_t g = 0; g < count; g++)
        printf("%" PRIu64 ", %" PRIu64 " times, first in row %" PRIu64 "\n", distinct[g], times[g],
               first[g]);
    printf("row 4 is in group %" PRIu64 "\n", group_of[4]);

    heddle_groups_destroy(groups);
    heddle_device_close(device);
    return 0;
}
