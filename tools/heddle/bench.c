/* bench.c: `heddle bench`: tables of every load asked for, every operation on each of them. */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "progress.h"
#include "tool.h"

#define GIB (1024.0 * 1024.0 * 1024.0)

/* What is called "auto" is shown as what it turned out to be. */
static void name_device(bench *b)
{
    if (b->info.kind == HEDDLE_DEVICE_CUDA)
        (void)snprintf(b->device_name, sizeof b->device_name, "cuda:%d", (int)b->info.index);
    else
        (void)snprintf(b->device_name, sizeof b->device_name, "%s",
                       strncmp(b->options.device, "cpu", 3) == 0 ? b->options.device : "cpu");
}

/* Refuses what cannot fit before anything large is allocated: a CPU would overcommit and be killed.
 */
static int check_memory(const bench *b)
{
    const bench_options *o = &b->options;
    const double n = (double)o->keys, key = o->key_bits / 8, value = o->value_bits / 8;
    double load = 1;
    for (uint32_t i = 0; i < o->load_count; i++)
        if (o->loads[i] < load) load = o->loads[i];
    const double links =
        n < (double)b->device->engine->slice_max ? n : (double)b->device->engine->slice_max;
    const double scratch = n * (key + value) * (key == value || value == 0 ? 1 : 2);
    const double need = n * (2 * key + 2 * value + 1) + 1.05 * n / load * (key + value) +
                        4 * links + scratch;
    if (need <= (double)b->info.memory_free) return TOOL_OK;
    return tool_refuse("bench: %llu keys at load %g need %.1f GiB, but %s has %.1f GiB free",
                       (unsigned long long)o->keys, load, need / GIB, b->device_name,
                       (double)b->info.memory_free / GIB);
}

static int open_device(bench *b)
{
    const heddle_status opened = heddle_device_open(b->options.device, &b->device);
    if (opened == HEDDLE_ERROR_INVALID || opened == HEDDLE_ERROR_NO_DEVICE)
        return tool_refuse("bench: %s", heddle_last_error());
    int status = tool_try(opened, "opening the device");
    if (status == TOOL_OK) status = tool_try(heddle_device_get_info(b->device, &b->info), "device");
    if (status != TOOL_OK) return status;
    name_device(b);
    const hd_engine *engine = b->device->engine;
    status = check_memory(b);
    if (status == TOOL_OK) status = tool_try(engine->event_create(b->device, &b->begin), "event");
    if (status == TOOL_OK) status = tool_try(engine->event_create(b->device, &b->end), "event");
    return status;
}

static void close_device(bench *b)
{
    if (b->device == NULL) return;
    bench_data_free(b);
    if (b->begin != NULL) b->device->engine->event_destroy(b->device, b->begin);
    if (b->end != NULL) b->device->engine->event_destroy(b->device, b->end);
    heddle_device_close(b->device);
}

/* The bytes of keys that one probe of the table reads, from the list of compiled tables. */
static uint32_t bucket_bytes(const bench *b)
{
    uint32_t count = 0;
    const hd_table_ops *const *tables = b->device->engine->tables(b->device, &count);
    const char *instance = heddle_table_instance(b->table);
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(tables[i]->name, instance) == 0)
            return tables[i]->bucket * tables[i]->slot_bytes;
    return 64;
}

/* Scratch memory for builds is made beforehand, as a caller does who builds more than once. */
static int take_workspace(bench *b)
{
    int status = tool_try(heddle_table_build_workspace(b->table, b->keys.n, &b->workspace_bytes),
                          "asking for the workspace");
    if (status == TOOL_OK && b->workspace_bytes != 0)
        status = tool_try(heddle_memory_allocate(b->device, b->workspace_bytes, &b->workspace),
                          "allocating the workspace");
    return status;
}

static int create_table(bench *b, double load, uint64_t capacity)
{
    const bench_options *o = &b->options;
    heddle_table_options options = HEDDLE_TABLE_OPTIONS_INIT;
    options.container = o->container;
    options.scheme = o->scheme;
    options.key_bits = o->key_bits;
    options.value_bits = o->value_bits;
    options.bucket = o->bucket;
    options.hashes = o->hashes;
    options.flags = HEDDLE_FLAG_FIXED;
    options.capacity = capacity;
    options.seed = o->seed;
    options.load = load;
    const heddle_status created = heddle_table_create(b->device, &options, &b->table);
    if (created == HEDDLE_ERROR_INVALID || created == HEDDLE_ERROR_UNSUPPORTED)
        return tool_refuse("bench: %s", heddle_last_error());
    if (created != HEDDLE_OK) return tool_try(created, "making the table");
    b->load = load;
    b->full = false;
    b->unplaced = 0;
    b->bucket_bytes = bucket_bytes(b);
    return take_workspace(b);
}

static void destroy_table(bench *b)
{
    heddle_table_destroy(b->table);
    heddle_memory_free(b->device, b->workspace);
    b->table = NULL;
    b->workspace = NULL;
}

/* All rows of one operation; *unverified counts those that are not right. */
static int run_operation(bench *b, uint32_t op, uint32_t *unverified)
{
    const uint32_t rows = bench_op_takes_hits(op) ? b->options.hit_count : 1;
    for (uint32_t i = 0; i < rows; i++) {
        bench_row row;
        memset(&row, 0, sizeof row);
        const int status =
            bench_measure(b, op, bench_op_takes_hits(op) ? b->options.hits[i] : 100, &row);
        if (status != TOOL_OK) return status;
        progress_hide();
        bench_report_row(b, &row);
        *unverified += !row.verified;
    }
    return TOOL_OK;
}

static int run_loads(bench *b, uint32_t *unverified)
{
    int status = TOOL_OK;
    for (uint32_t l = 0; l < b->options.load_count && status == TOOL_OK; l++) {
        status = create_table(b, b->options.loads[l], b->options.keys);
        for (uint32_t i = 0; i < b->options.op_count && status == TOOL_OK; i++)
            status = run_operation(b, b->options.ops[i], unverified);
        destroy_table(b);
    }
    return status;
}

static void start_progress(const bench *b)
{
    uint32_t rows = 0;
    for (uint32_t i = 0; i < b->options.op_count; i++)
        rows += bench_op_takes_hits(b->options.ops[i]) ? b->options.hit_count : 1;
    progress_start(3 + rows * b->options.load_count);
}

/* Makes the smallest table of this kind, so that what does not exist is refused at once. */
static int try_table(bench *b)
{
    const uint64_t keys = b->keys.n;
    b->keys.n = 1;
    const int status = create_table(b, b->options.loads[0], 1);
    destroy_table(b);
    b->keys.n = keys;
    return status;
}

static int run_bench(bench *b, int argc, char **argv)
{
    uint32_t unverified = 0;
    int status = open_device(b);
    if (status == TOOL_OK) status = try_table(b);
    if (status != TOOL_OK) return status;
    start_progress(b);
    progress_step("copy roof of %s", b->device_name);
    if (b->options.format != BENCH_JSON) status = bench_roof_copy(b); /* JSON has no place for it */
    progress_step("making %llu keys", (unsigned long long)b->keys.n);
    if (status == TOOL_OK) status = bench_data_make(b);
    if (status != TOOL_OK) return status;
    progress_hide();
    bench_report_head(b, argc, argv);
    status = run_loads(b, &unverified);
    if (status == TOOL_OK && b->options.verify && unverified != 0) return TOOL_FAILED;
    return status;
}

int bench_command(int argc, char **argv)
{
    bench *b = (bench *)calloc(1, sizeof *b);
    if (b == NULL) {
        tool_say("out of memory");
        return TOOL_FAILED;
    }
    int status = bench_options_read(argc, argv, &b->options);
    if (status == TOOL_OK && b->options.help) {
        bench_help();
    } else if (status == TOOL_OK) {
        b->info.size = sizeof b->info;
        b->keys = bench_keys_of(b->options.keys, b->options.seed, b->options.key_bits,
                                b->options.value_bits);
        status = run_bench(b, argc, argv);
        close_device(b);
    }
    free(b);
    return status;
}
