/*
 * first_map.c: a million pairs into a map, and out again.
 *
 *     cc first_map.c $(pkg-config --cflags --libs heddle) && ./a.out
 */
#include <heddle/heddle.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define N 1000000u

static void check(heddle_status status, const char *what)
{
    if (status == HEDDLE_OK) return;
    fprintf(stderr, "%s: %s: %s\n", what, heddle_status_string(status), heddle_last_error());
    exit(EXIT_FAILURE);
}

int main(void)
{
    static uint32_t keys[N], values[N], queries[N], answers[N];
    for (uint32_t i = 0; i < N; i++) {
        keys[i] = 3 * i;
        values[i] = i;
        queries[i] = 2 * i; /* every third of them is a multiple of 3 */
    }

    heddle_device *device = NULL;
    heddle_table *map = NULL;
    heddle_table_options options = HEDDLE_MAP_OPTIONS(uint32_t, uint32_t);
    heddle_totals in = HEDDLE_TOTALS_INIT, out = HEDDLE_TOTALS_INIT;
    options.capacity = N;
    check(heddle_device_open("auto", &device), "open");
    check(heddle_table_create(device, &options, &map), "create");
    check(heddle_map_insert(map, keys, values, N, NULL, &in, NULL), "insert");
    check(heddle_map_find(map, queries, N, answers, NULL, &out, NULL), "find");
    printf("%s: %" PRIu64 " pairs inserted, %" PRIu64 " keys found, %" PRIu64 " absent\n",
           heddle_table_instance(map), in.inserted, out.found, out.absent);

    heddle_table_destroy(map);
    heddle_device_close(device);
    return in.inserted == N && out.found == (N + 2) / 3 ? EXIT_SUCCESS : EXIT_FAILURE;
}
