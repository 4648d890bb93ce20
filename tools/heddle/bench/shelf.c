/*
 * shelf.c: `heddle bench shelf`: a shelf that is allowed the memory of the whole table, and shares of it,
 * beside a plain table on the same device. A row says how fast the call was, what memory the process had at its
 * peak beyond what it had before (the arrays), and how many bytes went from and to files.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench/keys.h"
#include "progress.h"
#include "read.h"
#include "tool.h"

#define SHARES_MAX 16

typedef struct shelf_bench {
    const char *device_name, *directory;
    uint32_t container, scheme, key_bits, value_bits;
    uint64_t keys, copies, seed;
    uint64_t shares[SHARES_MAX]; /* the table's bytes divided by these are the budgets */
    uint32_t share_count;
    uint32_t format;
    heddle_device *device;
    bench_keys numbers;
    void *key_array, *value_array, *answers;
    uint8_t *found;
    uint64_t table_bytes;
    double plain[2]; /* seconds of build and find of a plain table */
    bool wrong;
} shelf_bench;

/* bench_read_list. */
static bool read_share(void *to, const char *item)
{
    shelf_bench *b = (shelf_bench *)to;
    return b->share_count < SHARES_MAX &&
           bench_read_whole(item, 1, UINT32_MAX, &b->shares[b->share_count++]);
}

static bool read_shares(void *to, const tool_option *option, const char *text)
{
    (void)option;
    ((shelf_bench *)to)->share_count = 0;
    return bench_read_list(text, read_share, to);
}

#define COUNTS "a count like 2^24, 16M or 1e6"
#define AT(FIELD) .at = offsetof(shelf_bench, FIELD)

static const tool_option options_known[] = {
    {"--device", .value = "NAME", .words = "auto cpu cpu:THREADS cuda cuda:N", .usual = "auto",
     .text = "where it runs", .read = option_text, AT(device_name)},
    {"--keys", .value = "COUNT", .wants = COUNTS, .usual = "2^24", .text = "rows",
     .read = option_count, AT(keys), .first = 1},
    {"--container", .value = "NAME", .words = "map set multimap counter", .usual = "map",
     .text = "what is built", .read = option_word, AT(container), .first = HEDDLE_CONTAINER_MAP},
    {"--scheme", .value = "NAME", .words = "auto cuckoo hashgraph open iceberg bucket_list slab",
     .usual = "auto", .text = "by which scheme", .read = option_word, AT(scheme)},
    {"--shares", .value = "LIST", .wants = "numbers from 1 on", .usual = "1,4,16",
     .text = "budgets: the table's bytes divided by these", .read = read_shares},
    {"--copies", .value = "COUNT", .wants = COUNTS, .usual = "1", .text = "rows of every key",
     .read = option_count, AT(copies), .first = 1},
    {"--key-bits", .value = "BITS", .words = "32 64", .usual = "32", .text = "width of keys",
     .read = option_bits, AT(key_bits)},
    {"--value-bits", .value = "BITS", .words = "32 64", .usual = "32", .text = "width of values",
     .read = option_bits, AT(value_bits)},
    {"--directory", .value = "DIR", .wants = "a directory", .usual = ".",
     .text = "where the shelf is made, and removed again", .read = option_text, AT(directory)},
    {"--seed", .value = "NUMBER", .wants = "a number below 10^19", .usual = "1",
     .text = "of the keys", .read = option_number, AT(seed)},
    {"--format", .value = "NAME", .words = "table csv", .usual = "table",
     .text = "how rows are printed", .read = option_word, AT(format)},
};

static int read_options(const tool_command *command, int argc, char **argv, shelf_bench *b)
{
    memset(b, 0, sizeof *b);
    b->device_name = "auto";
    b->directory = ".";
    b->container = HEDDLE_CONTAINER_MAP;
    b->key_bits = b->value_bits = 32;
    b->keys = UINT64_C(1) << 24;
    b->copies = b->seed = 1;
    (void)bench_read_list("1,4,16", read_share, b);
    const int status = command_read(command, argc, argv, b);
    if (status != TOOL_OK) return status;
    if (b->container == HEDDLE_CONTAINER_SET) b->value_bits = 0;
    if (b->keys > UINT64_C(1) << 31 && b->key_bits == 32)
        return tool_refuse("there are not so many keys of 32 bits; try --key-bits 64");
    return TOOL_OK;
}

/* --------------------------------------------------------------------------------------- memory */

/* A number of bytes from /proc/self/status; 0 where there is none. */
static uint64_t process_bytes(const char *name)
{
    char line[256];
    unsigned long long kilobytes = 0;
    FILE *file = fopen("/proc/self/status", "r");
    if (file == NULL) return 0;
    while (fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, name, strlen(name)) == 0)
            (void)sscanf(line + strlen(name), ": %llu", &kilobytes);
    (void)fclose(file);
    return kilobytes * 1024;
}

/* The peak is counted anew from here on. */
static uint64_t reset_peak(void)
{
    FILE *file = fopen("/proc/self/clear_refs", "w");
    if (file != NULL) {
        (void)fputs("5", file);
        (void)fclose(file);
    }
    return process_bytes("VmRSS");
}

static double now(void)
{
    struct timespec at;
    (void)clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

/* --------------------------------------------------------------------------------------- arrays */

static uint64_t key_at(const shelf_bench *b, uint64_t i)
{
    return bench_key_at(&b->numbers, i % ((b->keys + b->copies - 1) / b->copies), false);
}

static void put(void *array, uint64_t i, uint32_t bits, uint64_t number)
{
    if (bits == 32) ((uint32_t *)array)[i] = (uint32_t)number;
    else ((uint64_t *)array)[i] = number;
}

static int make_arrays(shelf_bench *b)
{
    b->numbers = bench_keys_of(b->keys, b->seed, b->key_bits, b->value_bits);
    b->key_array = malloc(b->keys * b->key_bits / 8);
    b->value_array = b->value_bits != 0 ? malloc(b->keys * b->value_bits / 8) : NULL;
    b->answers = b->value_bits != 0 ? malloc(b->keys * b->value_bits / 8) : NULL;
    b->found = malloc(b->keys);
    if (b->key_array == NULL || b->found == NULL ||
        (b->value_bits != 0 && (b->value_array == NULL || b->answers == NULL))) {
        tool_say("out of memory");
        return TOOL_FAILED;
    }
    for (uint64_t i = 0; i < b->keys; i++) {
        const uint64_t key = key_at(b, i);
        put(b->key_array, i, b->key_bits, key);
        if (b->value_bits != 0) put(b->value_array, i, b->value_bits, ~key);
    }
    return TOOL_OK;
}

/* As answers are before a call: touched, and nothing that is right. */
static void forget_answers(shelf_bench *b)
{
    memset(b->found, 7, b->keys);
    if (b->answers != NULL) memset(b->answers, 7, b->keys * b->value_bits / 8);
}

/* How many answers are wrong. A counter's are sums. */
static uint64_t count_wrong(const shelf_bench *b)
{
    const bool values = b->value_bits != 0 && b->container != HEDDLE_CONTAINER_COUNTER;
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < b->keys; i++) {
        bool right = b->found[i] == 1;
        if (values && b->value_bits == 32)
            right &= ((uint32_t *)b->answers)[i] == (uint32_t)~key_at(b, i);
        else if (values) right &= ((uint64_t *)b->answers)[i] == ~key_at(b, i);
        wrong += !right;
    }
    return wrong;
}

static heddle_table_options table_options(const shelf_bench *b)
{
    heddle_table_options options = HEDDLE_TABLE_OPTIONS_INIT;
    options.container = b->container;
    options.scheme = b->scheme;
    options.key_bits = b->key_bits;
    options.value_bits = b->value_bits;
    return options;
}

/* ------------------------------------------------------------------------------------- measuring */

/* A plain table: its time, and the bytes that budgets are shares of. */
static heddle_status measure_plain(shelf_bench *b)
{
    heddle_table_options options = table_options(b);
    heddle_table_stats stats = HEDDLE_TABLE_STATS_INIT;
    heddle_table *table = NULL;
    heddle_status status;
    double begin;
    options.capacity =
        b->container == HEDDLE_CONTAINER_MULTIMAP ? b->keys : (b->keys + b->copies - 1) / b->copies;
    status = heddle_table_create(b->device, &options, &table);
    begin = now();
    if (status == HEDDLE_OK)
        status = heddle_table_build(table, b->key_array, b->value_array, b->keys, NULL, NULL, NULL);
    b->plain[0] = now() - begin;
    begin = now();
    if (status == HEDDLE_OK)
        status =
            b->value_bits != 0
                ? heddle_table_find(table, b->key_array, b->keys, b->answers, b->found, NULL, NULL)
                : heddle_table_contains(table, b->key_array, b->keys, b->found, NULL, NULL);
    if (status == HEDDLE_OK) status = heddle_device_synchronize(b->device, NULL);
    b->plain[1] = now() - begin;
    if (status == HEDDLE_OK) status = heddle_table_get_stats(table, &stats, NULL);
    b->table_bytes = stats.bytes_total;
    heddle_table_destroy(table);
    if (status == HEDDLE_OK) status = heddle_device_trim(b->device);
    return status;
}

static void print_head(const shelf_bench *b)
{
    static const char *const names[] = {"share",   "budget", "op",   "rows",    "mops",
                                        "ratio",   "parts",  "peak", "read",    "written",
                                        "spilled", "sort",   "work", "deliver", "verified"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        (void)printf((b->format == 1) ? "%s%s" : "%s%10s", i != 0 && (b->format == 1) ? "," : "",
                     names[i]);
    (void)printf("\n");
}

static void print_row(const shelf_bench *b, uint64_t share, int op, double seconds, uint64_t peak,
                      const heddle_shelf_stats *before, const heddle_shelf_stats *s)
{
    const double mib = 1024.0 * 1024.0;
    const char *text =
        (b->format == 1)
            ? "%s%llu,%.1f,%s,%llu,%.2f,%.2f,%u,%.1f,%.1f,%.1f,%.1f,%.3f,%.3f,%.3f,%s\n"
            : "%s%10llu%10.1f%10s%10llu%10.2f%10.2f%10u%10.1f%10.1f%10.1f%10.1f%10.3f%"
              "10.3f%10.3f%10s\n";
    (void)printf(text, "", (unsigned long long)share, (double)s->memory / mib,
                 op == 0 ? "build" : "find", (unsigned long long)b->keys,
                 1e-6 * (double)b->keys / seconds, seconds / b->plain[op], s->parts,
                 (double)peak / mib, (double)(s->bytes_read - before->bytes_read) / mib,
                 (double)(s->bytes_written - before->bytes_written) / mib,
                 (double)(s->bytes_spilled - before->bytes_spilled) / mib,
                 s->seconds[HEDDLE_SHELF_COUNT] + s->seconds[HEDDLE_SHELF_SORT],
                 s->seconds[HEDDLE_SHELF_WORK], s->seconds[HEDDLE_SHELF_DELIVER],
                 b->wrong ? "WRONG" : "yes");
}

/* One call, and its row. */
static heddle_status measure_call(shelf_bench *b, heddle_shelf *shelf, uint64_t share, int op)
{
    heddle_shelf_stats before = HEDDLE_SHELF_STATS_INIT, after = HEDDLE_SHELF_STATS_INIT;
    heddle_status status = heddle_shelf_get_stats(shelf, &before);
    if (op == 1) forget_answers(b);
    const uint64_t memory = reset_peak();
    const double begin = now();
    if (status == HEDDLE_OK && op == 0)
        status = heddle_shelf_build(shelf, b->key_array, b->value_array, b->keys, NULL, NULL);
    else if (status == HEDDLE_OK && b->value_bits != 0)
        status = heddle_shelf_find(shelf, b->key_array, b->keys, b->answers, b->found, NULL);
    else if (status == HEDDLE_OK)
        status = heddle_shelf_contains(shelf, b->key_array, b->keys, b->found, NULL);
    const double seconds = now() - begin;
    const uint64_t peak = process_bytes("VmHWM");
    if (status == HEDDLE_OK) status = heddle_shelf_get_stats(shelf, &after);
    if (status != HEDDLE_OK) return status;
    if (op == 1) b->wrong |= count_wrong(b) != 0;
    progress_hide();
    print_row(b, share, op, seconds, peak > memory ? peak - memory : 0, &before, &after);
    (void)fflush(stdout);
    return HEDDLE_OK;
}

/* Empties the shelf, closes it and removes what is left of it. */
static void remove_shelf(heddle_shelf *shelf, const char *directory)
{
    static const char *const names[] = {"manifest.heddle", "lock"};
    char path[4096];
    if (shelf != NULL) (void)heddle_shelf_clear(shelf);
    heddle_shelf_close(shelf);
    for (size_t i = 0; i < 2; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", directory, names[i]);
        (void)unlink(path);
    }
    (void)rmdir(directory);
}

static heddle_status measure_share(shelf_bench *b, uint64_t share)
{
    heddle_table_options table = table_options(b);
    heddle_shelf_options options = HEDDLE_SHELF_OPTIONS_INIT;
    heddle_shelf *shelf = NULL;
    char directory[3000];
    heddle_status status;
    (void)snprintf(directory, sizeof directory, "%s/heddle_bench_%ld", b->directory,
                   (long)getpid());
    options.memory = b->table_bytes / share;
    options.seed = b->seed + 1;
    if (options.memory < 4096) options.memory = 4096;
    status = heddle_shelf_create(b->device, directory, &table, &options, &shelf);
    progress_step("build with 1/%llu", (unsigned long long)share);
    if (status == HEDDLE_OK) status = measure_call(b, shelf, share, 0);
    progress_step("find with 1/%llu", (unsigned long long)share);
    if (status == HEDDLE_OK) status = measure_call(b, shelf, share, 1);
    remove_shelf(shelf, directory);
    return status;
}

static int shelf_bench_command(const tool_command *command, int argc, char **argv)
{
    shelf_bench b;
    int result = read_options(command, argc, argv, &b);
    if (result != TOOL_OK) return result;
    if (heddle_device_open(b.device_name, &b.device) != HEDDLE_OK)
        return tool_refuse("%s", heddle_last_error());
    result = make_arrays(&b);
    progress_start(1 + 2 * b.share_count);
    if (result == TOOL_OK) {
        progress_step("a plain table");
        forget_answers(&b);
        heddle_status status = measure_plain(&b);
        b.wrong = status == HEDDLE_OK && count_wrong(&b) != 0;
        progress_hide();
        if (status == HEDDLE_OK) print_head(&b);
        for (uint32_t i = 0; i < b.share_count && status == HEDDLE_OK; i++)
            status = measure_share(&b, b.shares[i]);
        result = tool_try(status, "bench shelf");
    }
    free(b.key_array);
    free(b.value_array);
    free(b.answers);
    free(b.found);
    heddle_device_close(b.device);
    return result == TOOL_OK && b.wrong ? TOOL_FAILED : result;
}

const tool_command shelf_bench_page = {
    .name = "bench shelf",
    .summary = "tables larger than the memory they are allowed",
    .text = "Builds a shelf from arrays in memory, and finds all keys, with budgets that are "
            "shares of what a plain table "
            "takes. A row gives the rate, the time beside that of the plain table (which stays in "
            "memory), the parts, "
            "the peak of the process's memory beyond the arrays and the bytes that were read from "
            "parts, written to "
            "them, and spilled for sorting.",
    .options = options_known,
    .option_count = sizeof options_known / sizeof options_known[0],
    .run = shelf_bench_command,
    .examples = "  heddle bench shelf --keys 2^26 --directory /dev/shm --shares 1,4,16\n",
};
