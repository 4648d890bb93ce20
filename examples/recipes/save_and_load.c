/* save_and_load.c: a table is saved on one device, and loaded on another with another scheme. */
#include "../check.h"
#include <inttypes.h>

#define N 10000

int main(void)
{
    static uint32_t keys[N], values[N], answers[N];
    uint64_t size, wrong = 0;
    for (uint32_t i = 0; i < N; i++) keys[i] = i * i, values[i] = i;

    heddle_device *first, *second;
    heddle_table *map, *copy;
    heddle_table_options options = HEDDLE_MAP_OPTIONS(uint32_t, uint32_t);
    options.capacity = N;
    check(heddle_device_open("auto", &first)); /* a GPU, where there is one */
    check(heddle_table_create(first, &options, &map));
    check(heddle_map_build(map, keys, values, N, NULL, NULL, NULL));
    check(heddle_table_save(map, "squares.heddle", NULL));
    heddle_table_destroy(map);
    heddle_device_close(first);

    /* Container and widths are those of the file. NULL options take all else from it, too. */
    options.scheme = HEDDLE_SCHEME_OPEN;
    check(heddle_device_open("cpu:1", &second));
    check(heddle_table_load(second, "squares.heddle", &options, &copy));
    check(heddle_table_size(copy, &size, NULL));
    check(heddle_map_find(copy, keys, N, answers, NULL, NULL, NULL));
    for (uint32_t i = 0; i < N; i++) wrong += answers[i] != values[i];
    printf("%" PRIu64 " pairs, %" PRIu64 " wrong\n", size, wrong);

    /* A file that is cut off or damaged gives no table. */
    FILE *file = fopen("squares.heddle", "r+b");
    if (file == NULL) return 1;
    fseek(file, 200, SEEK_SET);
    fputc(fgetc(file) ^ 1, file);
    fclose(file);
    heddle_table *damaged;
    printf("damaged: %s\n",
           heddle_status_string(heddle_table_load(second, "squares.heddle", NULL, &damaged)));

    remove("squares.heddle");
    heddle_table_destroy(copy);
    heddle_device_close(second);
    return 0;
}
