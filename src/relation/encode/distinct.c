/*
 * distinct.c: groups of which only keys, sizes or first rows will be asked for (encode.h). Rows need not be
 * brought together then, nor numbered. Keys are first taken to be few; the engine notices when they are not.
 */
#include <string.h>

#include "base/error.h"
#include "base/tuning.h"
#include "engine/blocks.h"
#include "host/scratch.h"
#include "host/seed.h"
#include "relation/encode/encode.h"

/* Of rows numbered with 32 bits where that is enough: they are half as long on their way. */
static const hd_relate_ops *relate_of(const heddle_device *device, uint32_t key_bits, uint64_t n)
{
    return device->engine->relate(key_bits, hd_rows_fit(n, 32) ? 32 : 64);
}

/* One way; job->groups stays 0 where it does not take so many keys. */
static heddle_status try_way(heddle_device *device, const hd_relate_ops *relate,
                             hd_distinct_job *job, void *stream)
{
    HD_SCRATCH(scratch, device);
    void *kept = NULL;
    relate->distinct_plan(device, job);
    HD_TRY(hd_scratch_take(&scratch, job->kept_bytes, &kept));
    HD_TRY(hd_scratch_take(&scratch, job->work_bytes, &job->work));
    job->kept = kept;
    HD_TRY(relate->distinct(device, job, stream));
    HD_TRY(device->engine->synchronize(device, stream));
    if (job->groups != 0) (void)hd_scratch_keep(&scratch, kept);
    return HEDDLE_OK;
}

bool hd_values_go_along(const heddle_device *device, const hd_row_keys *keys, uint64_t rows,
                        uint32_t count)
{
    const uint32_t width = keys->first[0].width;
    const hd_relate_ops *relate;
    if (keys->columns != 1 || (width != 4 && width != 8) || keys->first[0].valid != NULL)
        return false;
    relate = relate_of(device, width * 8, rows);
    return relate != NULL && relate->distinct_plan != NULL && count <= relate->distinct_values;
}

heddle_status hd_group_distinct(const hd_row_source *from, const void *array, uint32_t key_bits,
                                hd_row_groups *made)
{
    heddle_device *device = from->device;
    const hd_relate_ops *relate = relate_of(device, key_bits, made->n);
    hd_distinct_job job;
    if ((from->asked & HEDDLE_GROUPS_ROWS) != 0 || relate == NULL || relate->distinct_plan == NULL)
        return HEDDLE_OK;
    if (from->values != NULL && from->values->n > relate->distinct_values) return HEDDLE_OK;
    memset(&job, 0, sizeof job);
    job.keys = array;
    job.n = made->n;
    hd_mix_init(&job.mix, from->seed);
    job.sizes = (from->asked & HEDDLE_GROUPS_SIZES) != 0;
    job.firsts = (from->asked & HEDDLE_GROUPS_FIRST) != 0;
    job.ordered = from->by_first;
    if (from->values != NULL) {
        job.values = from->values->list;
        job.value_count = from->values->n;
    }
    job.few = hd_tune.distinct_way != HD_TUNE_DISTINCT_MANY;
    if (job.few) HD_TRY(try_way(device, relate, &job, from->stream));
    job.few = job.groups != 0;
    if (job.groups == 0 && hd_tune.distinct_way != HD_TUNE_DISTINCT_FEW)
        HD_TRY(try_way(device, relate, &job, from->stream));
    if (job.groups == 0) return HEDDLE_OK;
    made->groups = job.groups;
    made->key_bits = key_bits;
    made->distinct = job;
    return HEDDLE_OK;
}

heddle_status hd_fetch_distinct(const hd_row_groups *made, uint32_t what, void *out, void *stream)
{
    const hd_relate_ops *relate = relate_of(made->device, made->key_bits, made->n);
    const hd_distinct_out to = {out, made->row_bits, NULL};
    return relate->distinct_fetch(made->device, &made->distinct, what, to, stream);
}

heddle_status hd_fetch_distinct_value(const hd_row_groups *made, uint32_t i, void *out,
                                      uint8_t *valid, void *stream)
{
    const hd_relate_ops *relate = relate_of(made->device, made->key_bits, made->n);
    const hd_distinct_out to = {out, made->row_bits, valid};
    return relate->distinct_fetch(made->device, &made->distinct, HD_DISTINCT_VALUES + i, to,
                                  stream);
}
