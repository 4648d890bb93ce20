/*
 * sides.c: from the caller's columns to pairs sorted by region, on both sides alike; see join.h. The
 * steps of hd_join_sort:
 *
 *     read_side      columns are lent to the device, and rows left out whose key has a null
 *     number_keys    every key becomes one number: itself, or one that encode/ gives
 *     take_left      keys and names of the rows that are left
 *     choose_regions
 *     sort_side      the engine's `partition`
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "engine/blocks.h"
#include "relation/encode/encode.h"
#include "relation/join/join.h"
#include "relation/relation.h"

/* A side's keys on their way: device memory that lives until they are sorted. */
typedef struct side_keys {
    hd_column columns[HD_COLUMNS_MAX]; /* where the device can read them */
    const void *keys;                  /* of key_bits, one a row, or one for each of `rows` */
    void *rows;                        /* the rows whose key has no null, owned; NULL: all rows */
    uint64_t count;                    /* keys */
    const void *names;                 /* of these rows; NULL: the rows themselves */
} side_keys;

/* A creation in progress. */
typedef struct sorting {
    heddle_join *join;
    const hd_join_keys *given;
    side_keys sides[2];
    uint32_t key_bits;
    uint64_t seed;
    hd_scratch scratch;
    void *spare, *starts, *work; /* of partitions, one after the other */
    void *stream;
} sorting;

/* ----------------------------------------------------------------------------------------- nulls */

/* Device memory for looking at the flags of one column after the other. */
typedef struct null_search {
    void *work, *flags, *kept, *count;
} null_search;

static heddle_status null_search_begin(const sorting *s, uint64_t rows, hd_scratch *scratch,
                                       null_search *search)
{
    const heddle_join *join = s->join;
    HD_TRY(
        hd_scratch_take(scratch, join->engine->columns->work(join->device, rows), &search->work));
    HD_TRY(hd_scratch_take(scratch, rows, &search->flags));
    HD_TRY(hd_scratch_take(scratch, rows * hd_join_row_bytes(join), &search->kept));
    return hd_scratch_take(scratch, sizeof(uint64_t), &search->count);
}

/* The rows of keys->rows[kept[i]], or kept[i] themselves, become keys->rows. */
static heddle_status replace_rows(const sorting *s, side_keys *keys, const void *kept,
                                  uint64_t count)
{
    const heddle_join *join = s->join;
    const uint32_t width = hd_join_row_bytes(join);
    HD_SCRATCH(scratch, join->device);
    void *rows = NULL;
    HD_TRY(hd_scratch_take(&scratch, (count + 1) * width, &rows));
    if (keys->rows == NULL)
        HD_TRY(join->engine->copy(join->device, rows, kept, count * width, s->stream));
    else
        HD_TRY(join->engine->columns->gather(hd_on(join->device, NULL, s->stream),
                                             hd_elements_of(keys->rows, width),
                                             hd_at_rows(kept, join->row_bits, count), rows));
    HD_TRY(join->engine->synchronize(join->device, s->stream));
    hd_block_give(join->device, keys->rows);
    keys->rows = hd_scratch_keep(&scratch, rows);
    keys->count = count;
    return HEDDLE_OK;
}

/* Takes the rows out of keys->rows whose flag, one a row of the table, is 0. */
static heddle_status keep_valid(const sorting *s, side_keys *keys, const uint8_t *valid,
                                const null_search *search)
{
    const heddle_join *join = s->join;
    const hd_column_ops *columns = join->engine->columns;
    const hd_site on = hd_on(join->device, search->work, s->stream);
    uint64_t count = 0;
    if (keys->rows != NULL) {
        HD_TRY(columns->gather(on, hd_elements_of(valid, 1),
                               hd_at_rows(keys->rows, join->row_bits, keys->count), search->flags));
        valid = (const uint8_t *)search->flags;
    }
    HD_TRY(columns->select(on, hd_flags_of(valid, keys->count, true), search->kept, join->row_bits,
                           (uint64_t *)search->count));
    HD_TRY(join->engine->copy(join->device, &count, search->count, sizeof count, s->stream));
    HD_TRY(join->engine->synchronize(join->device, s->stream));
    return replace_rows(s, keys, search->kept, count);
}

/* Leaves the rows out whose key has a null: column by column, each among the rows that the others left. */
static heddle_status leave_nulls_out(const sorting *s, side_keys *keys)
{
    HD_SCRATCH(scratch, s->join->device);
    null_search search;
    bool begun = false;
    for (uint32_t i = 0; i < s->given->count; i++) {
        if (keys->columns[i].valid == NULL || keys->count == 0) continue;
        if (!begun) HD_TRY(null_search_begin(s, keys->count, &scratch, &search));
        begun = true;
        HD_TRY(keep_valid(s, keys, keys->columns[i].valid, &search));
    }
    return HEDDLE_OK;
}

static heddle_status read_side(sorting *s, uint32_t side)
{
    const hd_key_columns columns = {"join_create", NULL, s->given->columns[side], s->given->count,
                                    s->given->rows[side]};
    side_keys *keys = &s->sides[side];
    keys->count = columns.rows;
    HD_TRY(hd_key_columns_lend(&columns, &s->scratch, keys->columns, s->stream));
    return leave_nulls_out(s, keys);
}

/* ------------------------------------------------------------------------------------------ keys */

static bool is_plain(const hd_join_keys *given)
{
    const uint32_t width = given->columns[0][0].width;
    return given->count == 1 && (width == 4 || width == 8);
}

/* Numbers the different keys of both sides together and lets every row's number stand for its key. */
static heddle_status encode_keys(sorting *s)
{
    const uint64_t left = s->given->rows[HD_LEFT], rows = left + s->given->rows[HD_RIGHT];
    hd_row_keys both;
    hd_row_source from = {s->join->device, &both, rows, 0, s->seed, s->stream, 0, false, NULL};
    void *numbers;
    uint64_t distinct;
    memset(&both, 0, sizeof both);
    both.columns = s->given->count;
    both.n = left;
    memcpy(both.first, s->sides[HD_LEFT].columns, sizeof both.first);
    memcpy(both.second, s->sides[HD_RIGHT].columns, sizeof both.second);
    from.row_bits = s->key_bits = hd_rows_fit(rows, 32) ? 32 : 64;
    HD_TRY(hd_scratch_take(&s->scratch, rows * s->key_bits / 8, &numbers));
    HD_TRY(hd_encode_rows(&from, numbers, &distinct));
    s->sides[HD_LEFT].keys = numbers;
    s->sides[HD_RIGHT].keys = (const char *)numbers + left * s->key_bits / 8;
    return HEDDLE_OK;
}

/* One number of 32 or 64 bits a row: the key itself, or for other keys one that stands for it. */
static heddle_status number_keys(sorting *s)
{
    if (is_plain(s->given)) {
        s->key_bits = s->given->columns[0][0].width * 8;
        for (uint32_t side = HD_LEFT; side <= HD_RIGHT; side++)
            s->sides[side].keys = s->sides[side].columns[0].data;
        return HEDDLE_OK;
    }
    return encode_keys(s);
}

/* What *column has at the rows that are left, in scratch; where all are left it stays as it is. */
static heddle_status gather_left(sorting *s, const side_keys *keys, uint32_t width,
                                 const void **column)
{
    const heddle_join *join = s->join;
    void *gathered;
    if (*column == NULL || keys->rows == NULL) return HEDDLE_OK;
    HD_TRY(hd_scratch_take(&s->scratch, keys->count * width, &gathered));
    HD_TRY(join->engine->columns->gather(
        hd_on(join->device, NULL, s->stream), hd_elements_of(*column, width),
        hd_at_rows(keys->rows, join->row_bits, keys->count), gathered));
    *column = gathered;
    return HEDDLE_OK;
}

static heddle_status take_left(sorting *s, uint32_t side)
{
    side_keys *keys = &s->sides[side];
    keys->names = s->given->names[side];
    s->join->sides[side].keys = keys->count;
    HD_TRY(gather_left(s, keys, s->key_bits / 8, &keys->keys));
    return gather_left(s, keys, hd_join_row_bytes(s->join), &keys->names);
}

/* -------------------------------------------------------------------------------------- sorting */

/* Hashed rows of a region fit fast memory; the regions are also what several cores share. */
#define PASSING_A_HASHED 64

static heddle_status choose_regions(sorting *s)
{
    heddle_join *join = s->join;
    const uint64_t left = join->sides[HD_LEFT].keys, right = join->sides[HD_RIGHT].keys;
    const uint64_t hashed = left <= right ? left : right, passing = left + right - hashed;
    uint64_t most;
    join->ops = join->engine->relate(s->key_bits, join->row_bits);
    if (join->ops == NULL || join->ops->join_count == NULL)
        return hd_fail(HEDDLE_ERROR_UNSUPPORTED, "this device has no joins");
    most = join->ops->region_rows;
    join->hashed = left <= right ? HD_LEFT : HD_RIGHT;
    join->region_bits = 2;
    while ((hashed >> join->region_bits > most ||
            passing >> join->region_bits > most * PASSING_A_HASHED) &&
           join->region_bits < HD_PARTITION_BITS_MAX)
        join->region_bits++;
    return HEDDLE_OK;
}

static hd_partition partition_job(const sorting *s, uint32_t side)
{
    hd_partition job;
    memset(&job, 0, sizeof job);
    job.key_bits = s->key_bits;
    job.value_bits = s->join->row_bits;
    job.region_bits = s->join->region_bits;
    job.mix = s->join->mix;
    job.keys = s->sides[side].keys;
    job.values = s->sides[side].names != NULL ? s->sides[side].names : s->sides[side].rows;
    job.n = s->sides[side].count;
    return job;
}

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

static uint64_t starts_bytes(const heddle_join *join)
{
    return ((UINT64_C(1) << join->region_bits) + 1) * sizeof(uint64_t);
}

static heddle_status take_memory(sorting *s)
{
    heddle_device *device = s->join->device;
    const hd_partition jobs[2] = {partition_job(s, HD_LEFT), partition_job(s, HD_RIGHT)};
    const uint64_t pairs = larger(jobs[0].n, jobs[1].n);
    const uint64_t work = larger(device->engine->partition_work(device, &jobs[0]),
                                 device->engine->partition_work(device, &jobs[1]));
    HD_TRY(hd_scratch_take(&s->scratch, pairs * hd_pair_bytes(s->key_bits, s->join->row_bits),
                           &s->spare));
    HD_TRY(hd_scratch_take(&s->scratch, starts_bytes(s->join), &s->starts));
    return hd_scratch_take(&s->scratch, work, &s->work);
}

static heddle_status sort_side(const sorting *s, uint32_t side)
{
    heddle_join *join = s->join;
    hd_join_side *to = &join->sides[side];
    hd_partition job = partition_job(s, side);
    to->starts = (uint64_t *)hd_allocate_zeroed(1, starts_bytes(join));
    if (to->starts == NULL) return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for a join");
    if (job.n == 0) return HEDDLE_OK;
    HD_TRY(hd_block_take(join->device, job.n * hd_pair_bytes(job.key_bits, job.value_bits),
                         &to->pairs));
    job.pairs = to->pairs;
    job.spare = s->spare;
    job.starts = (uint64_t *)s->starts;
    job.work = s->work;
    HD_TRY(join->engine->partition(join->device, &job, s->stream));
    return join->engine->copy(join->device, to->starts, job.starts, starts_bytes(join), s->stream);
}

static heddle_status sort(sorting *s)
{
    HD_TRY(read_side(s, HD_LEFT));
    HD_TRY(read_side(s, HD_RIGHT));
    HD_TRY(number_keys(s));
    HD_TRY(take_left(s, HD_LEFT));
    HD_TRY(take_left(s, HD_RIGHT));
    HD_TRY(choose_regions(s));
    HD_TRY(take_memory(s));
    HD_TRY(sort_side(s, HD_LEFT));
    return sort_side(s, HD_RIGHT);
}

heddle_status hd_join_sort(heddle_join *join, const hd_join_keys *keys, uint64_t seed, void *stream)
{
    sorting s;
    heddle_status status, waited;
    memset(&s, 0, sizeof s);
    s.join = join;
    s.given = keys;
    s.seed = seed;
    s.scratch.device = join->device;
    s.stream = stream;
    status = sort(&s);
    /* Nothing is freed that the device may still be using. */
    waited = join->engine->synchronize(join->device, stream);
    hd_scratch_free(&s.scratch);
    for (uint32_t side = HD_LEFT; side <= HD_RIGHT; side++)
        hd_block_give(join->device, s.sides[side].rows);
    return status != HEDDLE_OK ? status : waited;
}
