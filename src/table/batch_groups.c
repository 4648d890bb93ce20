/* batch_groups.c: see batch_groups.h. */
#include "table/batch_groups.h"
#include "base/error.h"

#include <string.h>

/* Rows group by group, and a byte for each that says where groups begin. */
static heddle_status group_rows(heddle_table *table, hd_group_job *job, hd_scratch *scratch,
                                hd_grouped *grouped, void *stream)
{
    const uint32_t row_bits = job->n < UINT32_MAX ? 32 : 64;
    const hd_relate_ops *ops = table->engine->relate(table->options.key_bits, row_bits);
    if (ops == NULL)
        return hd_fail(HEDDLE_ERROR_UNSUPPORTED, "no groups are compiled for this device");
    HD_TRY(hd_scratch_take(scratch, job->n * row_bits / 8, &job->rows));
    HD_TRY(hd_scratch_take(scratch, job->n, (void **)&job->heads));
    HD_TRY(hd_scratch_take(scratch, ops->group_work(table->device, job->n), &job->work));
    HD_TRY(ops->group(table->device, job, stream));
    grouped->rows = job->rows;
    grouped->row_bits = row_bits;
    grouped->n = job->n;
    return HEDDLE_OK;
}

heddle_status hd_batch_group(heddle_table *table, const hd_request *r, const hd_mix *mix,
                             hd_scratch *scratch, hd_batch_groups *groups)
{
    heddle_device *device = table->device;
    const hd_column_ops *columns = table->engine->columns;
    hd_grouped *grouped = &groups->grouped;
    const uint64_t n = r->n;
    uint64_t *count = NULL, *starts = NULL;
    void *stream = r->stream;
    hd_group_job job;
    memset(&job, 0, sizeof job);
    memset(groups, 0, sizeof *groups);
    job.keys = r->keys;
    job.n = n;
    job.mix = *mix;
    HD_TRY(group_rows(table, &job, scratch, grouped, stream));
    /* Where the groups begin, and at last where they end. */
    HD_TRY(hd_scratch_take(scratch, sizeof *count, (void **)&count));
    HD_TRY(hd_scratch_take(scratch, columns->work(device, n), &groups->work));
    const hd_site on = hd_on(device, groups->work, stream);
    const hd_flags heads = hd_flags_of((const uint8_t *)job.heads, n, true);
    HD_TRY(columns->select(on, heads, NULL, 64, count));
    HD_TRY(hd_read_back(table, &grouped->groups, count, sizeof *count, stream));
    HD_TRY(hd_scratch_take(scratch, (grouped->groups + 1) * sizeof *starts, (void **)&starts));
    grouped->starts = starts;
    HD_TRY(columns->select(on, heads, starts, 64, count));
    return table->engine->copy(device, starts + grouped->groups, &grouped->n, sizeof n, stream);
}
