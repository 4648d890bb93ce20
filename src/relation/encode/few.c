/*
 * few.c: groups that are known by number (encode.h): rows numbered by key, and their sizes and rows
 * in order when somebody asks for them. Rows that are in groups of a few each are better brought together at
 * once, so there is a limit, which depends on the number of rows.
 */
#include <string.h>

#include "base/error.h"
#include "base/tuning.h"
#include "engine/blocks.h"
#include "host/scratch.h"
#include "host/seed.h"
#include "relation/encode/encode.h"

#define ROWS_A_GROUP 4 /* at least, on average */

static uint64_t most_groups(const hd_relate_ops *relate, uint64_t n)
{
    uint64_t most = hd_tuned(hd_tune.few_groups_limit, n / ROWS_A_GROUP);
    if (most > n) most = n;
    return most < relate->few_most ? most : relate->few_most;
}

heddle_status hd_group_few(const hd_row_source *from, const void *array,
                           const hd_relate_ops *relate, hd_row_groups *made)
{
    heddle_device *device = from->device;
    HD_SCRATCH(scratch, device);
    void *numbers = NULL;
    hd_few_job job;
    memset(&job, 0, sizeof job);
    job.keys = array;
    job.n = made->n;
    job.limit = most_groups(relate, made->n);
    if (job.limit == 0) return HEDDLE_OK;
    hd_mix_init(&job.mix, from->seed);
    HD_TRY(hd_scratch_take(&scratch, made->n * sizeof *made->numbers, &numbers));
    HD_TRY(hd_scratch_take(&scratch, job.limit * (made->row_bits / 8), &job.firsts));
    HD_TRY(hd_scratch_take(&scratch, relate->few_work(device, job.n, job.limit), &job.work));
    job.numbers = (uint32_t *)numbers;
    HD_TRY(relate->few(device, &job, from->stream));
    if (job.groups == 0) return HEDDLE_OK;
    made->groups = job.groups;
    made->numbers = (uint32_t *)hd_scratch_keep(&scratch, job.numbers);
    made->firsts = hd_scratch_keep(&scratch, job.firsts);
    return HEDDLE_OK;
}

/* -------------------------------------------------------------------------- sizes, rows in order */

heddle_status hd_row_groups_count(hd_row_groups *made, void *stream)
{
    heddle_device *device = made->device;
    const hd_engine *engine = device->engine;
    hd_site on = hd_on(device, NULL, stream);
    const hd_grouped grouped = hd_row_groups_view(made);
    HD_SCRATCH(scratch, device);
    void *starts = NULL;
    hd_reduce sizes = {HEDDLE_AGGREGATE_COUNT, HEDDLE_TYPE_U64, NULL, NULL, NULL, NULL};
    if (made->starts != NULL) return HEDDLE_OK;
    HD_TRY(hd_scratch_take(&scratch, engine->columns->work(device, made->n), &on.work));
    HD_TRY(hd_scratch_take(&scratch, (made->groups + 1) * sizeof(uint64_t), &starts));
    sizes.out = starts;
    HD_TRY(engine->columns->reduce(on, &grouped, &sizes));
    HD_TRY(engine->columns->scan(on, (uint64_t *)starts, made->groups));
    HD_TRY(engine->synchronize(device, stream));
    made->starts = (uint64_t *)hd_scratch_keep(&scratch, starts);
    return HEDDLE_OK;
}

heddle_status hd_row_groups_order(hd_row_groups *made, void *stream)
{
    heddle_device *device = made->device;
    const hd_engine *engine = device->engine;
    const hd_grouped grouped = hd_row_groups_view(made);
    HD_SCRATCH(scratch, device);
    void *work = NULL, *rows = NULL, *starts = NULL;
    if (made->rows != NULL || made->n == 0) return HEDDLE_OK;
    HD_TRY(hd_scratch_take(&scratch, engine->columns->work(device, made->n), &work));
    HD_TRY(hd_scratch_take(&scratch, (made->groups + 1) * sizeof(uint64_t), &starts));
    HD_TRY(hd_scratch_take(&scratch, made->n * (made->row_bits / 8), &rows));
    HD_TRY(engine->columns->order(hd_on(device, work, stream), &grouped, (uint64_t *)starts, rows));
    HD_TRY(engine->synchronize(device, stream));
    hd_block_give(device, made->starts);
    made->starts = (uint64_t *)hd_scratch_keep(&scratch, starts);
    made->rows = hd_scratch_keep(&scratch, rows);
    return HEDDLE_OK;
}
