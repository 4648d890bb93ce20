/*
 * lists_group.c: brings a batch into runs of equal keys for bucket lists: the engine groups the rows, and
 * every group is a run. Scratch memory: what the grouping needs (hd_relate_ops.group_work), a row number
 * and a byte for every pair, and a number and a key for every run.
 */
#include <string.h>

#include "api/lists_table.h"

/* Rows group by group, and a byte for each that says where groups begin. */
static heddle_status group_rows(hd_list_addition *a, const void *keys, uint64_t n, uint8_t **heads)
{
    heddle_device *device = a->table->device;
    const uint32_t row_bits = n < UINT32_MAX ? 32 : 64;
    const hd_relate_ops *ops = a->table->engine->relate(a->table->options.key_bits, row_bits);
    hd_group_job job;
    heddle_status status;
    memset(&job, 0, sizeof job);
    if (ops == NULL)
        return hd_fail(HEDDLE_ERROR_UNSUPPORTED, "no groups are compiled for this device");
    job.keys = keys;
    job.n = n;
    hd_mix_init(&job.mix, a->table->options.seed);
    status = hd_scratch_take(a->scratch, n * row_bits / 8, &job.rows);
    if (status == HEDDLE_OK) status = hd_scratch_take(a->scratch, n, (void **)&job.heads);
    if (status == HEDDLE_OK)
        status = hd_scratch_take(a->scratch, ops->group_work(device, n), &job.work);
    if (status == HEDDLE_OK) status = ops->group(device, &job, a->stream);
    a->rows.rows = job.rows;
    a->rows.row_bits = row_bits;
    *heads = job.heads;
    return status;
}

/* Where the runs begin, and at last where they end. */
static heddle_status find_starts(hd_list_addition *a, const uint8_t *heads)
{
    heddle_table *table = a->table;
    const hd_column_ops *columns = table->engine->columns;
    const uint64_t n = a->rows.n;
    uint64_t *count = NULL, *starts = NULL;
    void *work = NULL;
    heddle_status status = hd_scratch_take(a->scratch, sizeof *count, (void **)&count);
    if (status == HEDDLE_OK)
        status = hd_scratch_take(a->scratch, columns->work(table->device, n), &work);
    if (status == HEDDLE_OK)
        status = columns->select(table->device, heads, n, true, NULL, 64, count, work, a->stream);
    if (status == HEDDLE_OK)
        status = hd_read_back(table, &a->runs.count, count, sizeof *count, a->stream);
    if (status == HEDDLE_OK)
        status =
            hd_scratch_take(a->scratch, (a->runs.count + 1) * sizeof *starts, (void **)&starts);
    if (status == HEDDLE_OK)
        status = columns->select(table->device, heads, n, true, starts, 64, count, work, a->stream);
    if (status == HEDDLE_OK)
        status = table->engine->copy(table->device, starts + a->runs.count, &a->rows.n, sizeof n,
                                     a->stream);
    a->runs.starts = starts;
    return status;
}

/* The key of every run. */
static heddle_status find_keys(hd_list_addition *a, const void *keys)
{
    heddle_table *table = a->table;
    const hd_column_ops *columns = table->engine->columns;
    const hd_grouped grouped = {
        a->rows.rows, a->rows.row_bits, a->rows.n, a->runs.starts, a->runs.count, NULL, NULL};
    void *firsts = NULL, *run_keys = NULL;
    heddle_status status =
        hd_scratch_take(a->scratch, a->runs.count * a->rows.row_bits / 8, &firsts);
    if (status == HEDDLE_OK)
        status = hd_scratch_take(a->scratch, a->runs.count * hd_key_width(table), &run_keys);
    if (status == HEDDLE_OK)
        status = columns->describe(table->device, &grouped, firsts, NULL, NULL, a->stream);
    if (status == HEDDLE_OK)
        status = columns->gather(table->device, keys, hd_key_width(table), firsts, a->rows.row_bits,
                                 a->runs.count, run_keys, a->stream);
    a->keys = run_keys;
    return status;
}

heddle_status hd_lists_group(hd_list_addition *a, const void *keys, const void *values, uint64_t n)
{
    uint8_t *heads = NULL;
    heddle_status status;
    a->rows.values = values;
    a->rows.n = n;
    status = group_rows(a, keys, n, &heads);
    if (status == HEDDLE_OK) status = find_starts(a, heads);
    return status == HEDDLE_OK ? find_keys(a, keys) : status;
}
