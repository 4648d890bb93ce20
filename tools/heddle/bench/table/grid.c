/*
 * grid.c: every combination of what the axes list: a table for each size, bucket, number of
 * hashes and load, and on it every operation with every share of hits.
 */
#include <string.h>

#include "bench/table/table.h"
#include "progress.h"
#include "tool.h"

#define GB 1e9

/* ---------------------------------------------------------------------------------- one table */

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
static int take_workspace(bench *b, uint64_t keys)
{
    int status = tool_try(heddle_table_build_workspace(b->table, keys, &b->workspace_bytes),
                          "asking for the workspace");
    if (status == TOOL_OK && b->workspace_bytes != 0)
        status = tool_try(heddle_memory_allocate(b->device, b->workspace_bytes, &b->workspace),
                          "allocating the workspace");
    return status;
}

int bench_table_make(bench *b, const bench_point *point)
{
    const bench_options *o = &b->options;
    heddle_table_options options = HEDDLE_TABLE_OPTIONS_INIT;
    options.container = o->container;
    options.scheme = o->scheme;
    options.key_bits = o->key_bits;
    options.value_bits = o->value_bits;
    options.bucket = point->bucket;
    options.hashes = point->hashes;
    options.flags = HEDDLE_FLAG_FIXED;
    options.capacity = point->keys;
    options.seed = point->seed;
    options.load = point->load;
    options.threshold = o->threshold;
    const heddle_status created = heddle_table_create(b->device, &options, &b->table);
    if (created == HEDDLE_ERROR_INVALID || created == HEDDLE_ERROR_UNSUPPORTED)
        return tool_refuse("bench: %s", heddle_last_error());
    if (created != HEDDLE_OK) return tool_try(created, "making the table");
    const int status =
        tool_try(heddle_table_get_options(b->table, &options), "asking for the table's options");
    b->bucket = options.bucket;
    b->hashes = options.hashes;
    b->load = point->load;
    b->full = false;
    b->unplaced = 0;
    b->bucket_bytes = bucket_bytes(b);
    return status == TOOL_OK ? take_workspace(b, point->keys) : status;
}

void bench_table_drop(bench *b)
{
    heddle_table_destroy(b->table);
    (void)heddle_memory_free(b->device, b->workspace);
    b->table = NULL;
    b->workspace = NULL;
}

/* ------------------------------------------------------------------------- measuring the grid */

/* All rows of one operation. */
static int run_operation(bench *b, uint32_t op, const bench_list *hits)
{
    const bool takes_hits = bench_op_takes_hits(op);
    for (uint32_t i = 0; i < (takes_hits ? hits->count : 1); i++) {
        bench_row row;
        memset(&row, 0, sizeof row);
        const int status = bench_measure(b, op, takes_hits ? (uint32_t)hits->at[i] : 100, &row);
        if (status != TOOL_OK) return status;
        progress_hide();
        bench_report_row(b, &row);
        /* A sweep is meant to go past what fits; wrong answers are never meant. */
        b->bad_rows += b->part->sweep == BENCH_SWEEP_NONE ? !row.verified : row.wrong;
    }
    return TOOL_OK;
}

static int run_table(bench *b, const bench_axes *axes, const bench_point *point)
{
    const bench_list *ops = &axes->list[BENCH_AXIS_OP];
    int status = bench_table_make(b, point);
    for (uint32_t i = 0; i < ops->count && status == TOOL_OK; i++)
        status = run_operation(b, (uint32_t)ops->at[i], &axes->list[BENCH_AXIS_HIT]);
    bench_table_drop(b);
    return status;
}

typedef int (*point_visitor)(bench *b, const bench_axes *axes, const bench_point *point);

/* All tables for one number of keys. */
static int visit_tables(bench *b, const bench_axes *axes, uint64_t keys, point_visitor visit)
{
    const bench_list *buckets = &axes->list[BENCH_AXIS_BUCKET];
    const bench_list *hashes = &axes->list[BENCH_AXIS_HASHES];
    const bench_list *loads = &axes->list[BENCH_AXIS_LOAD];
    int status = TOOL_OK;
    for (uint32_t i = 0; i < buckets->count; i++)
        for (uint32_t j = 0; j < hashes->count; j++)
            for (uint32_t k = 0; k < loads->count && status == TOOL_OK; k++) {
                const bench_point point = {keys, (uint32_t)buckets->at[i], (uint32_t)hashes->at[j],
                                           loads->at[k], b->options.seed};
                status = visit(b, axes, &point);
            }
    return status;
}

int bench_grid_run(bench *b, const bench_axes *axes)
{
    const bench_list *sizes = &axes->list[BENCH_AXIS_KEYS];
    int status = TOOL_OK;
    for (uint32_t i = 0; i < sizes->count && status == TOOL_OK; i++) {
        const uint64_t keys = (uint64_t)sizes->at[i];
        status = bench_data_make(b, keys);
        if (status == TOOL_OK) status = visit_tables(b, axes, keys, run_table);
    }
    return status;
}

uint32_t bench_grid_steps(const bench_axes *axes, uint64_t *keys)
{
    const bench_list *sizes = &axes->list[BENCH_AXIS_KEYS], *ops = &axes->list[BENCH_AXIS_OP];
    uint32_t steps = 0, rows = 0;
    for (uint32_t i = 0; i < ops->count; i++)
        rows += bench_op_takes_hits((uint32_t)ops->at[i]) ? axes->list[BENCH_AXIS_HIT].count : 1;
    for (uint32_t i = 0; i < sizes->count; i++) {
        steps += *keys != (uint64_t)sizes->at[i] ? BENCH_DATA_STEPS : 0;
        steps += rows * axes->list[BENCH_AXIS_BUCKET].count * axes->list[BENCH_AXIS_HASHES].count *
                 axes->list[BENCH_AXIS_LOAD].count;
        *keys = (uint64_t)sizes->at[i];
    }
    return steps;
}

/* ------------------------------------------------------------------------- checking beforehand */

/* Refuses what cannot fit before anything large is allocated: a CPU would overcommit and be killed.
 */
static int check_memory(const bench *b, const bench_axes *axes)
{
    const bench_options *o = &b->options;
    const double n = bench_list_most(&axes->list[BENCH_AXIS_KEYS]);
    const double load = bench_list_least(&axes->list[BENCH_AXIS_LOAD]);
    const double key = o->key_bits / 8, value = o->value_bits / 8;
    const double links =
        n < (double)b->device->engine->slice_max ? n : (double)b->device->engine->slice_max;
    const double scratch = n * (key + value) * (key == value || value == 0 ? 1 : 2);
    const double need =
        n * (2 * key + 2 * value + 1) + 1.05 * n / load * (key + value) + 4 * links + scratch;
    if (need <= (double)b->info.memory_free) return TOOL_OK;
    return tool_refuse("bench: %.0f keys at load %g need %.1f GB, but %s has %.1f GB free", n, load,
                       need / GB, b->device_name, (double)b->info.memory_free / GB);
}

static int try_table(bench *b, const bench_axes *axes, const bench_point *point)
{
    (void)axes;
    const int status = bench_table_make(b, point);
    bench_table_drop(b);
    return status;
}

int bench_grid_check(bench *b, const bench_axes *axes)
{
    const int status = check_memory(b, axes);
    /* The smallest table of each kind, so that what does not exist is refused at once. */
    return status == TOOL_OK ? visit_tables(b, axes, 1, try_table) : status;
}
