/* batch_groups.c: see batch_groups.h. */
#include "table/batch_groups.h"
#include "base/error.h"

#include <string.h>

/* Rows group by group, and a byte for each that says where groups begin. */
static heddle_status group_rows(heddle_table *table, const hd_mix *mix, const void *keys,
                                uint64_t n, hd_scratch *scratch, hd_grouped *grouped,
                                uint8_t **heads, void *stream)
{
    heddle_device *device = table->device;
    const uint32_t row_bits = n < UINT32_MAX ? 32 : 64;
    const hd_relate_ops *ops = table->engine->relate(table->options.key_bits, row_bits);
    hd_group_job job;
    heddle_status status;
    memset(&job, 0, sizeof job);
    if (ops == NULL)
        return hd_fail(HEDDLE_ERROR_UNSUPPORTED, "no groups are compiled for this device");
    job.keys = keys;
    job.n = n;
    job.mix = *mix;
    status = hd_scratch_take(scratch, n * row_bits / 8, &job.rows);
    if (status == HEDDLE_OK) status = hd_scratch_take(scratch, n, (void **)&job.heads);
    if (status == HEDDLE_OK)
        status = hd_scratch_take(scratch, ops->group_work(device, n), &job.work);
    if (status == HEDDLE_OK) status = ops->group(device, &job, stream);
    grouped->rows = job.rows;
    grouped->row_bits = row_bits;
    grouped->n = n;
    *heads = job.heads;
    return status;
}

/* Where the groups begin, and at last where they end. */
static heddle_status find_starts(heddle_table *table, const uint8_t *heads, hd_scratch *scratch,
                                 hd_grouped *grouped, void **work, void *stream)
{
    heddle_device *device = table->device;
    const hd_column_ops *columns = table->engine->columns;
    const uint64_t n = grouped->n;
    uint64_t *count = NULL, *starts = NULL;
    heddle_status status = hd_scratch_take(scratch, sizeof *count, (void **)&count);
    if (status == HEDDLE_OK) status = hd_scratch_take(scratch, columns->work(device, n), work);
    if (status == HEDDLE_OK)
        status = columns->select(device, heads, n, true, NULL, 64, count, *work, stream);
    if (status == HEDDLE_OK)
        status = hd_read_back(table, &grouped->groups, count, sizeof *count, stream);
    if (status == HEDDLE_OK)
        status = hd_scratch_take(scratch, (grouped->groups + 1) * sizeof *starts, (void **)&starts);
    if (status == HEDDLE_OK)
        status = columns->select(device, heads, n, true, starts, 64, count, *work, stream);
    if (status == HEDDLE_OK)
        status =
            table->engine->copy(device, starts + grouped->groups, &grouped->n, sizeof n, stream);
    grouped->starts = starts;
    return status;
}

heddle_status hd_batch_group(heddle_table *table, const hd_mix *mix, const void *keys, uint64_t n,
                             hd_scratch *scratch, hd_grouped *grouped, void **work, void *stream)
{
    uint8_t *heads = NULL;
    memset(grouped, 0, sizeof *grouped);
    HD_TRY(group_rows(table, mix, keys, n, scratch, grouped, &heads, stream));
    return find_starts(table, heads, scratch, grouped, work, stream);
}
