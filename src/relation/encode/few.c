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
#include "relation/encode/encode.h"
#include "table/slots/geometry.h"

#define ROWS_A_GROUP 4 /* at least, on average */

static uint64_t most_groups(const hd_relate_ops *relate, uint64_t n)
{
    uint64_t most = hd_tuned(hd_tune.few_groups_limit, n / ROWS_A_GROUP);
    if (most > n) most = n;
    return most < relate->few_most ? most : relate->few_most;
}

static heddle_status number_rows(heddle_device *device, const hd_relate_ops *relate,
                                 hd_few_job *job, void *stream)
{
    hd_scratch scratch = {device, 0, {NULL}};
    heddle_status status =
        hd_scratch_take(&scratch, relate->few_work(device, job->n, job->limit), &job->work);
    if (status == HEDDLE_OK) status = relate->few(device, job, stream);
    hd_scratch_free(&scratch);
    return status;
}

heddle_status hd_group_few(heddle_device *device, const void *array, const hd_relate_ops *relate,
                           uint64_t seed, hd_row_groups *made, void *stream)
{
    hd_few_job job;
    heddle_status status;
    memset(&job, 0, sizeof job);
    job.keys = array;
    job.n = made->n;
    job.limit = most_groups(relate, made->n);
    if (job.limit == 0) return HEDDLE_OK;
    hd_mix_init(&job.mix, seed);
    status = hd_block_take(device, made->n * sizeof *made->numbers, (void **)&made->numbers);
    if (status == HEDDLE_OK)
        status = hd_block_take(device, job.limit * (made->row_bits / 8), &made->firsts);
    job.numbers = made->numbers;
    job.firsts = made->firsts;
    if (status == HEDDLE_OK) status = number_rows(device, relate, &job, stream);
    if (status == HEDDLE_OK && job.groups != 0) {
        made->groups = job.groups;
        return HEDDLE_OK;
    }
    if (made->numbers != NULL) hd_block_give(device, made->numbers);
    if (made->firsts != NULL) hd_block_give(device, made->firsts);
    made->numbers = NULL;
    made->firsts = NULL;
    return status;
}

/* Sizes, and then starts, in made->starts. */
static heddle_status find_starts(heddle_device *device, hd_row_groups *made, void *work,
                                 void *stream)
{
    const hd_column_ops *columns = device->engine->columns;
    const hd_grouped grouped = hd_row_groups_view(made);
    const hd_reduce sizes = {
        HEDDLE_AGGREGATE_COUNT, HEDDLE_TYPE_U64, NULL, NULL, made->starts, NULL};
    HD_TRY(columns->reduce(device, &grouped, &sizes, work, stream));
    HD_TRY(columns->scan(device, made->starts, made->groups, work, stream));
    return device->engine->synchronize(device, stream);
}

heddle_status hd_row_groups_count(heddle_device *device, hd_row_groups *made, void *stream)
{
    hd_scratch scratch = {device, 0, {NULL}};
    void *work = NULL;
    heddle_status status;
    if (made->starts != NULL) return HEDDLE_OK;
    status = hd_scratch_take(&scratch, device->engine->columns->work(device, made->n), &work);
    if (status == HEDDLE_OK)
        status =
            hd_block_take(device, (made->groups + 1) * sizeof(uint64_t), (void **)&made->starts);
    if (status == HEDDLE_OK) status = find_starts(device, made, work, stream);
    hd_scratch_free(&scratch);
    if (status != HEDDLE_OK && made->starts != NULL) {
        hd_block_give(device, made->starts);
        made->starts = NULL;
    }
    return status;
}

heddle_status hd_row_groups_order(heddle_device *device, hd_row_groups *made, void *stream)
{
    const hd_column_ops *columns = device->engine->columns;
    const hd_grouped grouped = hd_row_groups_view(made);
    hd_scratch scratch = {device, 0, {NULL}};
    void *work = NULL, *rows = NULL, *starts = NULL;
    heddle_status status;
    if (made->rows != NULL || made->n == 0) return HEDDLE_OK;
    status = hd_scratch_take(&scratch, columns->work(device, made->n), &work);
    if (status == HEDDLE_OK)
        status = hd_block_take(device, (made->groups + 1) * sizeof(uint64_t), &starts);
    if (status == HEDDLE_OK) status = hd_block_take(device, made->n * (made->row_bits / 8), &rows);
    if (status == HEDDLE_OK)
        status = columns->order(device, &grouped, (uint64_t *)starts, rows, work, stream);
    if (status == HEDDLE_OK) status = device->engine->synchronize(device, stream);
    hd_scratch_free(&scratch);
    if (status == HEDDLE_OK) {
        void *before = made->starts;
        made->starts = (uint64_t *)starts;
        made->rows = rows;
        starts = before;
        rows = NULL;
    }
    if (starts != NULL) hd_block_give(device, starts);
    if (rows != NULL) hd_block_give(device, rows);
    return status;
}
