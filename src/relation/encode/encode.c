/*
 * encode.c: see encode.h.
 *
 * One column of 32 or 64 bits without nulls is its own key. Every other key is hashed to 64 bits, rows are
 * grouped by hash, and every row is compared with the first of its group. When rows differ, which 64 bits
 * let happen to one in some billions of keys, another seed is tried; and when that does not help either,
 * the columns are worked through one by one (exact.c).
 */
#include "relation/encode/encode.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/tuning.h"
#include "engine/blocks.h"
#include "host/scratch.h"
#include "host/seed.h"

#define SEEDS_TRIED 3

void hd_row_groups_free(hd_row_groups *made)
{
    if (made->rows != NULL) hd_block_give(made->device, made->rows);
    if (made->starts != NULL) hd_block_give(made->device, made->starts);
    if (made->numbers != NULL) hd_block_give(made->device, made->numbers);
    if (made->firsts != NULL) hd_block_give(made->device, made->firsts);
    if (made->distinct.kept != NULL) hd_block_give(made->device, made->distinct.kept);
    memset(made, 0, sizeof *made);
}

hd_grouped hd_row_groups_view(const hd_row_groups *made)
{
    const hd_grouped grouped = {made->rows,   made->row_bits, made->n,     made->starts,
                                made->groups, made->numbers,  made->firsts};
    return grouped;
}

static heddle_status read_word(heddle_device *device, const uint64_t *word, uint64_t *value,
                               void *stream)
{
    HD_TRY(device->engine->copy(device, value, word, sizeof *value, stream));
    return device->engine->synchronize(device, stream);
}

/* ----------------------------------------------------------------------------- one array of keys */

/* No rows, no groups: one start, 0. */
static heddle_status group_nothing(const hd_row_source *from, hd_row_groups *made)
{
    heddle_device *device = from->device;
    HD_TRY(hd_block_take(device, sizeof(uint64_t), (void **)&made->starts));
    HD_TRY(device->engine->fill(device, made->starts, 0, sizeof(uint64_t), from->stream));
    return device->engine->synchronize(device, from->stream);
}

/* Sets made->rows, and a flag in `heads` where a group begins. */
static heddle_status bring_together(const hd_row_source *from, const void *array,
                                    const hd_relate_ops *relate, uint8_t *heads,
                                    hd_row_groups *made)
{
    heddle_device *device = from->device;
    HD_SCRATCH(scratch, device);
    hd_group_job job;
    memset(&job, 0, sizeof job);
    job.keys = array;
    job.n = made->n;
    job.rows = made->rows;
    job.heads = heads;
    hd_mix_init(&job.mix, from->seed);
    HD_TRY(hd_scratch_take(&scratch, relate->group_work(device, made->n), &job.work));
    HD_TRY(relate->group(device, &job, from->stream));
    return device->engine->synchronize(device, from->stream);
}

/* Sets made->groups and made->starts from the flags. */
static heddle_status find_starts(const hd_row_source *from, const uint8_t *heads,
                                 hd_row_groups *made)
{
    heddle_device *device = from->device;
    const hd_column_ops *columns = device->engine->columns;
    const hd_flags first = hd_flags_of(heads, made->n, true);
    hd_site on = hd_on(device, NULL, from->stream);
    void *count = NULL;
    HD_SCRATCH(scratch, device);
    HD_TRY(hd_scratch_take(&scratch, columns->work(device, made->n), &on.work));
    HD_TRY(hd_scratch_take(&scratch, sizeof(uint64_t), &count));
    HD_TRY(columns->select(on, first, NULL, 64, (uint64_t *)count));
    HD_TRY(read_word(device, (const uint64_t *)count, &made->groups, from->stream));
    HD_TRY(hd_block_take(device, (made->groups + 1) * sizeof(uint64_t), (void **)&made->starts));
    HD_TRY(columns->select(on, first, made->starts, 64, (uint64_t *)count));
    HD_TRY(device->engine->copy(device, made->starts + made->groups, &made->n, sizeof made->n,
                                from->stream));
    return device->engine->synchronize(device, from->stream);
}

static heddle_status group_some(const hd_row_source *from, const void *array,
                                const hd_relate_ops *relate, hd_row_groups *made)
{
    HD_SCRATCH(scratch, from->device);
    void *heads = NULL;
    HD_TRY(hd_group_few(from, array, relate, made));
    if (made->groups != 0) return HEDDLE_OK;
    HD_TRY(hd_block_take(from->device, from->rows * (from->row_bits / 8), &made->rows));
    HD_TRY(hd_scratch_take(&scratch, from->rows, &heads));
    HD_TRY(bring_together(from, array, relate, (uint8_t *)heads, made));
    return find_starts(from, (const uint8_t *)heads, made);
}

heddle_status hd_group_array(const hd_row_source *from, const void *array, uint32_t key_bits,
                             hd_row_groups *made)
{
    const hd_engine *engine = from->device->engine;
    const hd_relate_ops *relate = engine->relate(key_bits, from->row_bits);
    heddle_status status;
    memset(made, 0, sizeof *made);
    if (relate == NULL || relate->group == NULL || engine->columns == NULL)
        return hd_fail(HEDDLE_ERROR_UNSUPPORTED, "this device cannot group rows");
    made->device = from->device;
    made->n = from->rows;
    made->row_bits = from->row_bits;
    status = from->rows == 0    ? group_nothing(from, made)
             : from->asked != 0 ? hd_group_distinct(from, array, key_bits, made)
                                : HEDDLE_OK;
    if (status == HEDDLE_OK && from->rows != 0 && made->distinct.kept == NULL)
        status = group_some(from, array, relate, made);
    if (status != HEDDLE_OK) hd_row_groups_free(made);
    return status;
}

/* ----------------------------------------------------------------------------------- plain keys */

static bool is_plain(const hd_row_source *from)
{
    const hd_row_keys *keys = from->keys;
    const uint32_t width = keys->first[0].width;
    return keys->columns == 1 && (width == 4 || width == 8) && keys->first[0].valid == NULL &&
           (keys->n >= from->rows || keys->second[0].valid == NULL);
}

/* A plain column of one table, or of two, one after the other. */
static heddle_status group_plain(const hd_row_source *from, hd_row_groups *made)
{
    const hd_engine *engine = from->device->engine;
    const hd_row_keys *keys = from->keys;
    const uint32_t width = keys->first[0].width;
    const uint64_t first = keys->n * width, second = (from->rows - keys->n) * width;
    HD_SCRATCH(scratch, from->device);
    void *both = NULL;
    if (keys->n >= from->rows) return hd_group_array(from, keys->first[0].data, width * 8, made);
    if (keys->n == 0) return hd_group_array(from, keys->second[0].data, width * 8, made);
    HD_TRY(hd_scratch_take(&scratch, first + second, &both));
    HD_TRY(engine->copy(from->device, both, keys->first[0].data, first, from->stream));
    HD_TRY(engine->copy(from->device, (char *)both + first, keys->second[0].data, second,
                        from->stream));
    return hd_group_array(from, both, width * 8, made);
}

/* ---------------------------------------------------------------------------------- hashed keys */

/* Takes bits away from hashes, as a test asks for it. */
static heddle_status weaken(const hd_row_source *from, uint64_t *hashes)
{
    heddle_device *device = from->device;
    const uint64_t bytes = from->rows * sizeof *hashes;
    uint64_t *host HD_FREED = (uint64_t *)hd_allocate(bytes);
    if (host == NULL) return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory to weaken hashes");
    HD_TRY(device->engine->copy(device, host, hashes, bytes, from->stream));
    HD_TRY(device->engine->synchronize(device, from->stream));
    for (uint64_t i = 0; i < from->rows; i++) host[i] &= hd_tune.row_hash_mask;
    HD_TRY(device->engine->copy(device, hashes, host, bytes, from->stream));
    return device->engine->synchronize(device, from->stream);
}

static heddle_status group_hashes(const hd_row_source *from, hd_row_groups *made)
{
    const hd_column_ops *columns = from->device->engine->columns;
    HD_SCRATCH(scratch, from->device);
    void *hashes = NULL;
    HD_TRY(hd_scratch_take(&scratch, from->rows * sizeof(uint64_t), &hashes));
    HD_TRY(columns->hash(hd_on(from->device, NULL, from->stream), from->keys, from->rows,
                         from->seed, (uint64_t *)hashes));
    if (hd_tune.row_hash_mask != UINT64_MAX) HD_TRY(weaken(from, (uint64_t *)hashes));
    return hd_group_array(from, hashes, 64, made);
}

/* How many rows are in a group that is not theirs. */
static heddle_status count_strays(const hd_row_source *from, const hd_row_groups *made,
                                  uint64_t *strays)
{
    const hd_engine *engine = from->device->engine;
    const hd_grouped grouped = hd_row_groups_view(made);
    HD_SCRATCH(scratch, from->device);
    void *count = NULL;
    HD_TRY(hd_scratch_take(&scratch, sizeof(uint64_t), &count));
    HD_TRY(engine->fill(from->device, count, 0, sizeof(uint64_t), from->stream));
    HD_TRY(engine->columns->differ(hd_on(from->device, NULL, from->stream), from->keys, &grouped,
                                   (uint64_t *)count));
    return read_word(from->device, (const uint64_t *)count, strays, from->stream);
}

/* --------------------------------------------------------------------------------------- any keys */

heddle_status hd_group_rows(const hd_row_source *from, hd_row_groups *made)
{
    hd_row_source with = *from;
    with.asked = 0; /* where keys are hashed, rows are compared */
    memset(made, 0, sizeof *made);
    if (from->device->engine->columns == NULL)
        return hd_fail(HEDDLE_ERROR_UNSUPPORTED, "this device cannot group rows");
    if (from->rows == 0) return hd_group_array(from, NULL, 64, made);
    if (is_plain(from)) return group_plain(from, made);
    for (uint64_t i = 0; i < SEEDS_TRIED; i++) {
        uint64_t strays = 0;
        heddle_status status;
        with.seed = from->seed + i;
        HD_TRY(group_hashes(&with, made));
        status = count_strays(&with, made, &strays);
        if (status == HEDDLE_OK && strays == 0) return HEDDLE_OK;
        hd_row_groups_free(made);
        HD_TRY(status);
    }
    with.seed = from->seed;
    return hd_group_exactly(&with, made);
}

heddle_status hd_encode_rows(const hd_row_source *from, void *numbers, uint64_t *count)
{
    const hd_engine *engine = from->device->engine;
    HD_ROW_GROUPS(made);
    hd_grouped grouped;
    HD_TRY(hd_group_rows(from, &made));
    grouped = hd_row_groups_view(&made);
    *count = made.groups;
    if (from->rows != 0)
        HD_TRY(engine->columns->number(hd_on(from->device, NULL, from->stream), &grouped, NULL,
                                       numbers));
    return engine->synchronize(from->device, from->stream);
}
