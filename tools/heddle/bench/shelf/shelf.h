/*
 * shelf.h: `heddle bench shelf`: a shelf that is allowed the memory of the whole table, and shares of it, beside a plain
 * table on the same device, for every number of keys and of copies. A row says how fast the call was, what memory the process had at its peak beyond what it
 * had before (the arrays), and how many bytes went from and to files.
 *
 *   options.c  reads the options
 *   shelf.c    measures, and prints rows
 */
#ifndef BENCH_SHELF_H
#define BENCH_SHELF_H

#include <heddle/heddle.h>

#include "bench/keys.h"
#include "bench/line.h"
#include "command/command.h"

#define LIST_MAX 16
#define REPEAT_MAX 1000

typedef struct shelf_bench {
    const char *device_name, *directory;
    char device_shown[32]; /* what "auto" turned out to be */
    uint32_t container, scheme, key_bits, value_bits;
    uint64_t seed;
    uint64_t key_list[LIST_MAX], copy_list[LIST_MAX];
    uint64_t shares[LIST_MAX]; /* the table's bytes divided by these are the budgets */
    uint32_t key_count, copy_count, share_count;
    bool finds; /* build alone is measured otherwise */
    uint32_t format;
    uint64_t repeat;
    bool verify;
    const char *commit;
    bench_output output;
    heddle_device *device;
    uint64_t keys, copies; /* of the rows at hand */
    bench_keys numbers;
    void *key_array, *value_array, *answers;
    uint8_t *found;
    uint64_t table_bytes;
    double plain[2]; /* seconds of build and find of a plain table */
    bool wrong;
} shelf_bench;

/* An exit status; it has said why when that is not TOOL_OK. */
int shelf_bench_read(const tool_command *command, int argc, char **argv, shelf_bench *b);
int shelf_bench_command(const tool_command *command, int argc, char **argv);

#endif
