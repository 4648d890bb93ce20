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

#include "base/error.h"
#include "base/tuning.h"
#include "engine/blocks.h"
#include "host/scratch.h"
#include "table/slots/geometry.h"

#define SEEDS_TRIED 3

void hd_row_groups_free(heddle_device *device, hd_row_groups *made)
{
    if (made->rows != NULL) hd_block_give(device, made->rows);
    if (made->starts != NULL) hd_block_give(device, made->starts);
    if (made->numbers != NULL) hd_block_give(device, made->numbers);
    if (made->firsts != NULL) hd_block_give(device, made->firsts);
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

/* Sets made->rows, and a flag in `heads` where a group begins. */
static heddle_status bring_together(heddle_device *device, const void *array,
                                    const hd_relate_ops *relate, uint64_t seed, uint8_t *heads,
                                    hd_row_groups *made, void *stream)
{
    hd_scratch scratch = {device, 0, {NULL}};
    hd_group_job job;
    heddle_status status;
    memset(&job, 0, sizeof job);
    job.keys = array;
    job.n = made->n;
    job.rows = made->rows;
    job.heads = heads;
    hd_mix_init(&job.mix, seed);
    status = hd_scratch_take(&scratch, relate->group_work(device, made->n), &job.work);
    if (status == HEDDLE_OK) status = relate->group(device, &job, stream);
    if (status == HEDDLE_OK) status = device->engine->synchronize(device, stream);
    hd_scratch_free(&scratch);
    return status;
}

/* Sets made->groups and made->starts from the flags. */
static heddle_status find_starts(heddle_device *device, const uint8_t *heads, hd_scratch *scratch,
                                 hd_row_groups *made, void *stream)
{
    const hd_engine *engine = device->engine;
    const hd_column_ops *columns = engine->columns;
    void *work = NULL, *count = NULL;
    HD_TRY(hd_scratch_take(scratch, columns->work(device, made->n), &work));
    HD_TRY(hd_scratch_take(scratch, sizeof(uint64_t), &count));
    HD_TRY(
        columns->select(device, heads, made->n, true, NULL, 64, (uint64_t *)count, work, stream));
    HD_TRY(read_word(device, (const uint64_t *)count, &made->groups, stream));
    HD_TRY(hd_block_take(device, (made->groups + 1) * sizeof(uint64_t), (void **)&made->starts));
    HD_TRY(columns->select(device, heads, made->n, true, made->starts, 64, (uint64_t *)count, work,
                           stream));
    HD_TRY(engine->copy(device, made->starts + made->groups, &made->n, sizeof made->n, stream));
    return engine->synchronize(device, stream);
}

/* No rows, no groups: one start, 0. */
static heddle_status group_nothing(heddle_device *device, hd_row_groups *made, void *stream)
{
    HD_TRY(hd_block_take(device, sizeof(uint64_t), (void **)&made->starts));
    HD_TRY(device->engine->fill(device, made->starts, 0, sizeof(uint64_t), stream));
    return device->engine->synchronize(device, stream);
}

heddle_status hd_group_array(heddle_device *device, const void *array, uint32_t key_bits,
                             uint64_t rows, uint32_t row_bits, uint64_t seed, hd_row_groups *made,
                             void *stream)
{
    const hd_relate_ops *relate = device->engine->relate(key_bits, row_bits);
    hd_scratch scratch = {device, 0, {NULL}};
    void *heads = NULL;
    heddle_status status = HEDDLE_OK;
    memset(made, 0, sizeof *made);
    if (relate == NULL || relate->group == NULL || device->engine->columns == NULL)
        return hd_fail(HEDDLE_ERROR_UNSUPPORTED, "this device cannot group rows");
    made->n = rows;
    made->row_bits = row_bits;
    if (rows == 0) status = group_nothing(device, made, stream);
    else status = hd_group_few(device, array, relate, seed, made, stream);
    if (status == HEDDLE_OK && rows != 0 && made->groups == 0) {
        status = hd_block_take(device, rows * (row_bits / 8), &made->rows);
        if (status == HEDDLE_OK) status = hd_scratch_take(&scratch, rows, &heads);
        if (status == HEDDLE_OK)
            status = bring_together(device, array, relate, seed, (uint8_t *)heads, made, stream);
        if (status == HEDDLE_OK)
            status = find_starts(device, (const uint8_t *)heads, &scratch, made, stream);
    }
    hd_scratch_free(&scratch);
    if (status != HEDDLE_OK) hd_row_groups_free(device, made);
    return status;
}

/* --------------------------------------------------------------------------------- other keys */

static bool is_plain(const hd_row_keys *keys, uint64_t rows)
{
    const uint32_t width = keys->first[0].width;
    return keys->columns == 1 && (width == 4 || width == 8) && keys->first[0].valid == NULL &&
           (keys->n >= rows || keys->second[0].valid == NULL);
}

/* A plain column of two tables, one after the other. */
static heddle_status group_plain(heddle_device *device, const hd_row_keys *keys, uint64_t rows,
                                 uint32_t row_bits, uint64_t seed, hd_row_groups *made,
                                 void *stream)
{
    const uint32_t width = keys->first[0].width;
    hd_scratch scratch = {device, 0, {NULL}};
    const void *array = keys->n == 0 ? keys->second[0].data : keys->first[0].data;
    void *both = NULL;
    heddle_status status = HEDDLE_OK;
    if (keys->n != 0 && keys->n < rows) {
        status = hd_scratch_take(&scratch, rows * width, &both);
        if (status == HEDDLE_OK)
            status = device->engine->copy(device, both, array, keys->n * width, stream);
        if (status == HEDDLE_OK)
            status = device->engine->copy(device, (char *)both + keys->n * width,
                                          keys->second[0].data, (rows - keys->n) * width, stream);
        array = both;
    }
    if (status == HEDDLE_OK)
        status = hd_group_array(device, array, width * 8, rows, row_bits, seed, made, stream);
    hd_scratch_free(&scratch);
    return status;
}

/* Takes bits away from hashes, as a test wants it. */
static heddle_status weaken(heddle_device *device, uint64_t *hashes, uint64_t n, void *stream)
{
    uint64_t *host = (uint64_t *)malloc(n * sizeof *host);
    heddle_status status = HEDDLE_OK;
    if (host == NULL) return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory to weaken hashes");
    status = device->engine->copy(device, host, hashes, n * sizeof *host, stream);
    if (status == HEDDLE_OK) status = device->engine->synchronize(device, stream);
    for (uint64_t i = 0; i < n && status == HEDDLE_OK; i++) host[i] &= hd_tune.row_hash_mask;
    if (status == HEDDLE_OK)
        status = device->engine->copy(device, hashes, host, n * sizeof *host, stream);
    if (status == HEDDLE_OK) status = device->engine->synchronize(device, stream);
    free(host);
    return status;
}

static heddle_status group_hashes(heddle_device *device, const hd_row_keys *keys, uint64_t rows,
                                  uint32_t row_bits, uint64_t seed, hd_row_groups *made,
                                  void *stream)
{
    hd_scratch scratch = {device, 0, {NULL}};
    void *hashes = NULL;
    heddle_status status = hd_scratch_take(&scratch, rows * sizeof(uint64_t), &hashes);
    if (status == HEDDLE_OK)
        status =
            device->engine->columns->hash(device, keys, 0, rows, seed, (uint64_t *)hashes, stream);
    if (status == HEDDLE_OK && hd_tune.row_hash_mask != UINT64_MAX)
        status = weaken(device, (uint64_t *)hashes, rows, stream);
    if (status == HEDDLE_OK)
        status = hd_group_array(device, hashes, 64, rows, row_bits, seed, made, stream);
    hd_scratch_free(&scratch);
    return status;
}

/* How many rows are in a group that is not theirs. */
static heddle_status count_strays(heddle_device *device, const hd_row_keys *keys,
                                  const hd_row_groups *made, uint64_t *strays, void *stream)
{
    const hd_grouped grouped = hd_row_groups_view(made);
    hd_scratch scratch = {device, 0, {NULL}};
    void *count = NULL;
    heddle_status status = hd_scratch_take(&scratch, sizeof(uint64_t), &count);
    if (status == HEDDLE_OK)
        status = device->engine->fill(device, count, 0, sizeof(uint64_t), stream);
    if (status == HEDDLE_OK)
        status = device->engine->columns->differ(device, keys, &grouped, (uint64_t *)count, stream);
    if (status == HEDDLE_OK) status = read_word(device, (const uint64_t *)count, strays, stream);
    hd_scratch_free(&scratch);
    return status;
}

heddle_status hd_group_rows(heddle_device *device, const hd_row_keys *keys, uint64_t rows,
                            uint32_t row_bits, uint64_t seed, hd_row_groups *made, void *stream)
{
    memset(made, 0, sizeof *made);
    if (device->engine->columns == NULL)
        return hd_fail(HEDDLE_ERROR_UNSUPPORTED, "this device cannot group rows");
    if (rows == 0 || is_plain(keys, rows))
        return rows == 0 ? hd_group_array(device, NULL, 64, 0, row_bits, seed, made, stream)
                         : group_plain(device, keys, rows, row_bits, seed, made, stream);
    for (uint64_t i = 0; i < SEEDS_TRIED; i++) {
        uint64_t strays = 0;
        heddle_status status = group_hashes(device, keys, rows, row_bits, seed + i, made, stream);
        if (status == HEDDLE_OK) status = count_strays(device, keys, made, &strays, stream);
        if (status == HEDDLE_OK && strays == 0) return HEDDLE_OK;
        hd_row_groups_free(device, made);
        if (status != HEDDLE_OK) return status;
    }
    return hd_group_exactly(device, keys, rows, row_bits, seed, made, stream);
}

heddle_status hd_encode_rows(heddle_device *device, const hd_row_keys *keys, uint64_t rows,
                             uint32_t number_bits, uint64_t seed, void *numbers, uint64_t *count,
                             void *stream)
{
    hd_row_groups made;
    hd_grouped grouped;
    heddle_status status = hd_group_rows(device, keys, rows, number_bits, seed, &made, stream);
    if (status != HEDDLE_OK) return status;
    grouped = hd_row_groups_view(&made);
    *count = made.groups;
    if (rows != 0)
        status = device->engine->columns->number(device, &grouped, NULL, numbers, stream);
    if (status == HEDDLE_OK) status = device->engine->synchronize(device, stream);
    hd_row_groups_free(device, &made);
    return status;
}
