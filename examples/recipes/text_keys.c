/* text_keys.c: texts as keys. They are padded columns, so that every byte is compared. */
#include "../check.h"
#include <inttypes.h>
#include <string.h>

#define WIDTH 16 /* of the longest text; a column may have up to 64 bytes, a key up to 16 columns */
#define ROWS 5

/* Texts as a column: each is padded with zeros. */
static void pad(const char *const *texts, uint64_t n, char (*column)[WIDTH])
{
    memset(column, 0, n * WIDTH);
    for (uint64_t i = 0; i < n; i++) memcpy(column[i], texts[i], strnlen(texts[i], WIDTH));
}

int main(void)
{
    const char *const texts[ROWS] = {"Ghent", "Lyon", "Ghent", "Turin", "Lyon"};
    const uint32_t people[ROWS] = {3, 5, 1, 8, 2};
    char names[ROWS][WIDTH], cities[ROWS][WIDTH];
    uint64_t count, sums[ROWS], number_of[ROWS];
    pad(texts, ROWS, names);

    heddle_device *device;
    heddle_groups *groups;
    const heddle_column column = HEDDLE_COLUMN(names, WIDTH);
    heddle_groups_options options = HEDDLE_GROUPS_OPTIONS_INIT;
    options.order = HEDDLE_GROUPS_BY_FIRST;
    check(heddle_device_open("auto", &device));
    check(heddle_groups_create(device, &column, 1, ROWS, &options, &groups, NULL));
    check(heddle_groups_count(groups, &count));
    check(heddle_groups_keys(groups, 0, cities, NULL, NULL));
    check(heddle_groups_aggregate(groups, HEDDLE_AGGREGATE_SUM, HEDDLE_TYPE_U32, people, NULL, sums,
                                  NULL, NULL));
    for (uint64_t g = 0; g < count; g++) printf("%.*s: %" PRIu64 "\n", WIDTH, cities[g], sums[g]);

    /* The number of its group stands for a text from now on: a key that tables take. */
    check(heddle_groups_numbers_of_rows(groups, number_of, NULL));
    for (int i = 0; i < ROWS; i++) printf("%s is %" PRIu64 "\n", texts[i], number_of[i]);

    heddle_groups_destroy(groups);
    heddle_device_close(device);
    return 0;
}
