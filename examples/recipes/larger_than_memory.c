/*
 * larger_than_memory.c: a table that is allowed less memory than it needs, kept in a directory, and
 * built from arrays that are files.
 */
#include "../check.h"
#include <inttypes.h>

#define ROWS (UINT64_C(1) << 18)

/* Learns how far a call is. Another number than 0 would cancel it. */
static uint32_t show(void *context, uint32_t phase, uint64_t done, uint64_t total)
{
    uint64_t *finished = context;
    if (phase == HEDDLE_SHELF_WORK && done == total) ++*finished;
    return 0;
}

/* A file of numbers, as another program might have left it. */
static heddle_column_file *make_column(const char *path, uint64_t factor)
{
    heddle_column_file *column;
    check(heddle_column_file_create(path, 32, ROWS, &column));
    uint32_t *numbers = heddle_column_file_data(column);
    for (uint64_t i = 0; i < ROWS; i++) numbers[i] = (uint32_t)(i * factor);
    return column;
}

int main(void)
{
    heddle_column_file *keys = make_column("keys.npy", 2654435761u);
    heddle_column_file *values = make_column("values.npy", 3);
    heddle_column_file *answers = make_column("answers.npy", 0);
    uint64_t finished = 0, wrong = 0;
    heddle_device *device;
    heddle_shelf *shelf;
    heddle_table_options table = HEDDLE_MAP_OPTIONS(uint32_t, uint32_t);
    heddle_shelf_options options = HEDDLE_SHELF_OPTIONS_INIT;
    heddle_shelf_stats stats = HEDDLE_SHELF_STATS_INIT;
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    options.memory = 1 << 20; /* the table alone takes more than twice as much */
    options.progress = show;
    options.context = &finished;

    const uint32_t *key_array = heddle_column_file_data(keys);
    const uint32_t *value_array = heddle_column_file_data(values);
    uint32_t *got = heddle_column_file_data(answers);
    check(heddle_device_open("auto", &device));
    check(heddle_shelf_create(device, "table.shelf", &table, &options, &shelf));
    check(heddle_shelf_map_build(shelf, key_array, value_array, ROWS, NULL, NULL));
    check(heddle_shelf_map_find(shelf, key_array, ROWS, got, NULL, &totals));
    for (uint64_t i = 0; i < ROWS; i++) wrong += got[i] != (uint32_t)(i * 3);
    check(heddle_shelf_get_stats(shelf, &stats));
    printf("%" PRIu64 " of %" PRIu64 " keys found, %" PRIu64 " wrong, in several parts: %s\n",
           totals.found, ROWS, wrong, stats.parts > 1 ? "yes" : "no");
    printf("calls that came to their end: %" PRIu64 "\n", finished);

    heddle_shelf_close(shelf); /* table.shelf stays, for heddle_shelf_open */
    heddle_device_close(device);
    heddle_column_file_close(answers);
    heddle_column_file_close(values);
    heddle_column_file_close(keys);
    return 0;
}
