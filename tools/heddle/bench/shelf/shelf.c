/* shelf.c: measures shelves and prints their rows; see shelf.h. */
#include "bench/shelf/shelf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench/head.h"
#include "progress.h"
#include "tool.h"

#define DIRECTORY_MAX 3000

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

static void free_arrays(shelf_bench *b)
{
    free(b->key_array);
    free(b->value_array);
    free(b->answers);
    free(b->found);
    b->key_array = b->value_array = b->answers = NULL;
    b->found = NULL;
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

static const char about_columns[] =
    "time vs 1 table: divided by that of a plain table, which stays in memory\n"
    "peak: the process's memory during the call, beyond the arrays\n"
    "read, written: parts of the shelf; spilled: batches that were sorted in files";

static void print_head(shelf_bench *b, int argc, char **argv)
{
    heddle_device_info info = HEDDLE_DEVICE_INFO_INIT;
    uint32_t count = 0;
    char about[400], measured[BENCH_MEASURED_MAX];
    const bench_head head = {"shelf", b->device_shown, &info, 0, b->commit, about, argc, argv};
    (void)heddle_device_get_info(b->device, &info);
    bench_device_name(b->device_name, &info, b->device_shown);
    bench_head_measured(measured, b->key_bits, b->value_bits, b->seed, b->repeat);
    (void)snprintf(about, sizeof about, "%s\n%s", measured, about_columns);
    bench_head_print(b->format, &head);
    b->output.format = b->format;
    b->output.things = "rows";
    if (b->key_count > 1) b->output.varying[count++] = "n";
    if (b->copy_count > 1) b->output.varying[count++] = "copies";
    b->output.varying[count++] = "share";
    b->output.varying[count] = "budget";
}

/* One call, as it was measured. */
typedef struct shelf_call {
    uint64_t share;
    int op; /* 0: build, 1: find */
    double seconds;
    uint64_t peak;
    heddle_shelf_stats before, after;
} shelf_call;

static const char *const op_names[] = {"build", "find"};

static void print_row(shelf_bench *b, const shelf_call *call)
{
    const double mb = 1e6;
    const heddle_shelf_stats *s = &call->after, *before = &call->before;
    bench_line line;
    line.count = 0;
    bench_line_word(&line, "device", b->device_shown);
    bench_line_word(&line, "bench", "shelf");
    bench_line_number(&line, "share", "%.0f", (double)call->share);
    bench_line_number(&line, "budget", "%.3f", (double)s->memory / mb);
    bench_line_word(&line, "op", op_names[call->op]);
    bench_line_number(&line, "n", "%.0f", (double)b->keys);
    bench_line_number(&line, "copies", "%.0f", (double)b->copies);
    bench_line_number(&line, "key_bits", "%.0f", b->key_bits);
    bench_line_number(&line, "value_bits", "%.0f", b->value_bits);
    bench_line_number(&line, "ratio", "%.4f", call->seconds / b->plain[call->op]);
    bench_line_number(&line, "parts", "%.0f", s->parts);
    bench_line_number(&line, "peak", "%.3f", (double)call->peak / mb);
    bench_line_number(&line, "read", "%.3f", (double)(s->bytes_read - before->bytes_read) / mb);
    bench_line_number(&line, "written", "%.3f",
                      (double)(s->bytes_written - before->bytes_written) / mb);
    bench_line_number(&line, "spilled", "%.3f",
                      (double)(s->bytes_spilled - before->bytes_spilled) / mb);
    bench_line_number(&line, "sort_ms", "%.3f",
                      1e3 * (s->seconds[HEDDLE_SHELF_COUNT] + s->seconds[HEDDLE_SHELF_SORT]));
    bench_line_number(&line, "work_ms", "%.3f", 1e3 * s->seconds[HEDDLE_SHELF_WORK]);
    bench_line_number(&line, "deliver_ms", "%.3f", 1e3 * s->seconds[HEDDLE_SHELF_DELIVER]);
    bench_line_number(&line, "mops", "%.3f", 1e-6 * (double)b->keys / call->seconds);
    if (b->format != BENCH_TABLE) bench_line_number(&line, "ms", "%.3f", 1e3 * call->seconds);
    bench_line_verified(&line, b->verify, !b->wrong);
    bench_line_print(&b->output, &line);
}

static heddle_status call_once(shelf_bench *b, heddle_shelf *shelf, int op)
{
    if (op == 0)
        return heddle_shelf_build(shelf, b->key_array, b->value_array, b->keys, NULL, NULL);
    if (b->value_bits != 0)
        return heddle_shelf_find(shelf, b->key_array, b->keys, b->answers, b->found, NULL);
    return heddle_shelf_contains(shelf, b->key_array, b->keys, b->found, NULL);
}

static int compare_calls(const void *a, const void *b)
{
    const double x = ((const shelf_call *)a)->seconds, y = ((const shelf_call *)b)->seconds;
    return (x > y) - (x < y);
}

/* Calls as often as asked; the row is that of the median. */
static heddle_status measure_calls(shelf_bench *b, heddle_shelf *shelf, uint64_t share, int op)
{
    static shelf_call calls[REPEAT_MAX];
    heddle_status status = HEDDLE_OK;
    for (uint64_t i = 0; i < b->repeat && status == HEDDLE_OK; i++) {
        shelf_call *call = &calls[i];
        call->share = share;
        call->op = op;
        call->before.size = call->after.size = sizeof call->after;
        status = heddle_shelf_get_stats(shelf, &call->before);
        if (op == 1) forget_answers(b);
        const uint64_t memory = reset_peak();
        const double begin = now();
        if (status == HEDDLE_OK) status = call_once(b, shelf, op);
        call->seconds = now() - begin;
        const uint64_t peak = process_bytes("VmHWM");
        call->peak = peak > memory ? peak - memory : 0;
        if (status == HEDDLE_OK) status = heddle_shelf_get_stats(shelf, &call->after);
        if (status == HEDDLE_OK && op == 1 && b->verify) b->wrong |= count_wrong(b) != 0;
    }
    if (status != HEDDLE_OK) return status;
    qsort(calls, b->repeat, sizeof calls[0], compare_calls);
    print_row(b, &calls[b->repeat / 2]);
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

static heddle_status make_shelf(shelf_bench *b, uint64_t bytes, char directory[DIRECTORY_MAX],
                                heddle_shelf **shelf)
{
    const heddle_table_options table = table_options(b);
    heddle_shelf_options options = HEDDLE_SHELF_OPTIONS_INIT;
    (void)snprintf(directory, DIRECTORY_MAX, "%s/heddle_bench_%ld", b->directory, (long)getpid());
    options.memory = bytes < 4096 ? 4096 : bytes;
    options.seed = b->seed + 1;
    return heddle_shelf_create(b->device, directory, &table, &options, shelf);
}

static heddle_status measure_share(shelf_bench *b, uint64_t share)
{
    heddle_shelf *shelf = NULL;
    char directory[DIRECTORY_MAX];
    heddle_status status = make_shelf(b, b->table_bytes / share, directory, &shelf);
    progress_step("build with 1/%llu", (unsigned long long)share);
    if (status == HEDDLE_OK) status = measure_calls(b, shelf, share, 0);
    if (b->finds) progress_step("find with 1/%llu", (unsigned long long)share);
    if (status == HEDDLE_OK && b->finds) status = measure_calls(b, shelf, share, 1);
    progress_hide();
    remove_shelf(shelf, directory);
    return status;
}

/* A table and a shelf like those that are measured: what cannot be made is refused before anything is printed. */
static int check_kind(shelf_bench *b)
{
    heddle_table_options options = table_options(b);
    heddle_table *table = NULL;
    heddle_shelf *shelf = NULL;
    char directory[DIRECTORY_MAX] = "";
    options.capacity = 1;
    heddle_status status = heddle_table_create(b->device, &options, &table);
    heddle_table_destroy(table);
    if (status == HEDDLE_OK) status = make_shelf(b, 0, directory, &shelf);
    const int result =
        status == HEDDLE_OK ? TOOL_OK : tool_refuse("bench: %s", heddle_last_error());
    if (shelf != NULL) remove_shelf(shelf, directory);
    return result;
}

/* The plain table, then all shares, of b->keys rows. */
static heddle_status measure_rows(shelf_bench *b)
{
    progress_step("a plain table");
    forget_answers(b);
    heddle_status status = measure_plain(b);
    b->wrong |= status == HEDDLE_OK && b->verify && count_wrong(b) != 0;
    progress_hide();
    for (uint32_t i = 0; i < b->share_count && status == HEDDLE_OK; i++)
        status = measure_share(b, b->shares[i]);
    return status;
}

/* Every number of keys with every number of copies. */
static int measure_all(shelf_bench *b)
{
    const uint32_t cases = b->key_count * b->copy_count;
    int result = TOOL_OK;
    progress_start(cases * (1 + (b->finds ? 2 : 1) * b->share_count));
    for (uint32_t i = 0; i < cases && result == TOOL_OK; i++) {
        b->keys = b->key_list[i / b->copy_count];
        b->copies = b->copy_list[i % b->copy_count];
        result = make_arrays(b);
        if (result == TOOL_OK) result = tool_try(measure_rows(b), "bench shelf");
        free_arrays(b);
    }
    if (result == TOOL_OK) progress_done();
    progress_hide();
    return result;
}

int shelf_bench_command(const tool_command *command, int argc, char **argv)
{
    shelf_bench b;
    int result = shelf_bench_read(command, argc, argv, &b);
    if (result != TOOL_OK) return result;
    if (heddle_device_open(b.device_name, &b.device) != HEDDLE_OK)
        return tool_refuse("bench: %s", heddle_last_error());
    result = check_kind(&b);
    if (result == TOOL_OK) {
        print_head(&b, argc, argv);
        result = measure_all(&b);
    }
    heddle_device_close(b.device);
    return result == TOOL_OK && b.wrong ? TOOL_FAILED : result;
}
