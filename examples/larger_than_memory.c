/*
 * larger_than_memory.c: a table that is allowed less memory than it needs, kept in a directory, built from arrays
 * that are files.
 *
 *     larger_than_memory [DIRECTORY]
 */
#include <heddle/heddle.h>
#include <stdio.h>
#include <stdlib.h>

#define ROWS (UINT64_C(1) << 20)

static void check(heddle_status status, const char *what)
{
    if (status == HEDDLE_OK) return;
    fprintf(stderr, "%s: %s\n", what, heddle_last_error());
    exit(1);
}

/* Told how far a call is; another number than 0 would cancel it. */
static uint32_t show(void *context, uint32_t phase, uint64_t done, uint64_t total)
{
    static const char *const names[] = {"count", "sort", "work", "deliver", "commit"};
    (void)context;
    if (done == total) printf("%s: %llu done\n", names[phase], (unsigned long long)total);
    return 0;
}

/* A file of numbers, as another program might have left it. */
static heddle_column_file *make_column(const char *directory, const char *name, uint64_t factor)
{
    char path[4096];
    heddle_column_file *column;
    snprintf(path, sizeof path, "%s/%s", directory, name);
    check(heddle_column_file_create(path, 32, ROWS, &column), path);
    uint32_t *numbers = heddle_column_file_data(column);
    for (uint64_t i = 0; i < ROWS; i++) numbers[i] = (uint32_t)(i * factor);
    return column;
}

int main(int argc, char **argv)
{
    char made[] = "/tmp/heddle_example_XXXXXX";
    const char *directory = argc > 1 ? argv[1] : mkdtemp(made);
    heddle_table_options table = HEDDLE_TABLE_OPTIONS_INIT;
    heddle_shelf_options options = HEDDLE_SHELF_OPTIONS_INIT;
    heddle_shelf_stats stats = HEDDLE_SHELF_STATS_INIT;
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    heddle_device *device;
    heddle_shelf *shelf;
    char path[4096];
    if (directory == NULL) return 1;
    heddle_column_file *keys = make_column(directory, "keys.npy", 2654435761u);
    heddle_column_file *values = make_column(directory, "values.npy", 3);
    heddle_column_file *answers = make_column(directory, "answers.npy", 0);

    check(heddle_device_open("auto", &device), "device");
    options.memory = 2 << 20; /* the table takes about ten */
    options.progress = show;
    snprintf(path, sizeof path, "%s/shelf", directory);
    check(heddle_shelf_create(device, path, &table, &options, &shelf), "create");
    check(heddle_shelf_build(shelf, heddle_column_file_data(keys), heddle_column_file_data(values),
                             ROWS, NULL, NULL),
          "build");
    check(heddle_shelf_find(shelf, heddle_column_file_data(keys), ROWS,
                            heddle_column_file_data(answers), NULL, &totals),
          "find");
    check(heddle_shelf_get_stats(shelf, &stats), "stats");
    printf("%llu of %llu keys found, in %u parts with %.1f MiB\n", (unsigned long long)totals.found,
           (unsigned long long)ROWS, stats.parts, (double)stats.bytes_files / 1048576);
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < ROWS; i++)
        wrong += ((uint32_t *)heddle_column_file_data(answers))[i] != (uint32_t)(i * 3);
    check(heddle_shelf_clear(shelf), "clear");
    heddle_shelf_close(shelf);
    heddle_device_close(device);
    heddle_column_file_close(keys);
    heddle_column_file_close(values);
    heddle_column_file_close(answers);
    if (argc <= 1) { /* what is left: three columns, and an empty shelf */
        static const char *const names[] = {
            "keys.npy", "values.npy", "answers.npy", "shelf/manifest.heddle", "shelf/lock", "shelf",
            ""};
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
            snprintf(path, sizeof path, "%s/%s", directory, names[i]);
            remove(path);
        }
    }
    return wrong != 0 || totals.found != ROWS;
}
