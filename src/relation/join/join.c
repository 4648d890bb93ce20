/* join.c: joins: arguments and creation; see join.h. */
#include "relation/join/join.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/tuning.h"
#include "engine/blocks.h"
#include "host/public_struct.h"
#include "table/slots/geometry.h"

uint64_t hd_join_limit(const heddle_join *join, uint32_t engine_side)
{
    const uint64_t own = engine_side == HD_LEFT ? join->ops->join_left : join->ops->join_right;
    const uint64_t chosen =
        hd_tuned(engine_side == 0 ? hd_tune.join_left_rows : hd_tune.join_right_rows, own);
    return chosen < own ? chosen : own;
}

uint64_t hd_join_part_matches(void)
{
    return hd_tuned(hd_tune.join_part_matches, UINT64_C(1) << 22);
}

bool hd_join_flags(const heddle_join *join, uint32_t side)
{
    switch (join->kind) {
    case HEDDLE_JOIN_INNER: return false;
    case HEDDLE_JOIN_RIGHT: return side == HD_RIGHT;
    case HEDDLE_JOIN_FULL: return true;
    default: return side == HD_LEFT;
    }
}

bool hd_join_has_pairs(const heddle_join *join)
{
    return join->kind != HEDDLE_JOIN_SEMI && join->kind != HEDDLE_JOIN_ANTI;
}

/* ------------------------------------------------------------------------------------- arguments */

static heddle_status check_options(const heddle_join_options *options)
{
    if (options->kind < HEDDLE_JOIN_INNER || options->kind > HEDDLE_JOIN_ANTI)
        return hd_fail(HEDDLE_ERROR_INVALID, "join_create: %u is no kind of join", options->kind);
    if (options->row_bits != 32 && options->row_bits != 64)
        return hd_fail(HEDDLE_ERROR_INVALID, "join_create: row_bits must be 32 or 64, not %u",
                       options->row_bits);
    if (options->flags != 0)
        return hd_fail(HEDDLE_ERROR_INVALID, "join_create: there are no flags yet");
    return HEDDLE_OK;
}

static heddle_status check_column(const heddle_column *column, uint64_t rows, const char *side,
                                  uint32_t number)
{
    if (column->width < 1 || column->width > HD_COLUMN_WIDTH_MAX)
        return hd_fail(HEDDLE_ERROR_INVALID,
                       "join_create: %s column %u has a width of %u bytes, not 1 to %u", side,
                       number, column->width, HD_COLUMN_WIDTH_MAX);
    if (column->reserved != 0)
        return hd_fail(HEDDLE_ERROR_INVALID,
                       "join_create: the reserved field of %s column %u is not 0", side, number);
    if (rows != 0 && column->data == NULL)
        return hd_fail(HEDDLE_ERROR_INVALID, "join_create: %s column %u has no data", side, number);
    const uint32_t width = column->width;
    if (rows != 0 && (width == 2 || width == 4 || width == 8) &&
        (uintptr_t)column->data % width != 0)
        return hd_fail(HEDDLE_ERROR_INVALID,
                       "join_create: %s column %u is not aligned to its elements of %u bytes", side,
                       number, width);
    return HEDDLE_OK;
}

static heddle_status check_columns(const hd_join_keys *keys, const uint64_t rows[2])
{
    static const char *const names[2] = {"left", "right"};
    if (keys->count < 1 || keys->count > HEDDLE_KEY_COLUMNS_MAX)
        return hd_fail(HEDDLE_ERROR_INVALID, "join_create: a key has 1 to %u columns, not %u",
                       HEDDLE_KEY_COLUMNS_MAX, keys->count);
    for (uint32_t side = HD_LEFT; side <= HD_RIGHT; side++) {
        if (keys->columns[side] == NULL)
            return hd_fail(HEDDLE_ERROR_INVALID, "join_create: there are no %s columns",
                           names[side]);
        for (uint32_t i = 0; i < keys->count; i++) {
            const heddle_status status =
                check_column(&keys->columns[side][i], rows[side], names[side], i);
            if (status != HEDDLE_OK) return status;
        }
    }
    for (uint32_t i = 0; i < keys->count; i++)
        if (keys->columns[HD_LEFT][i].width != keys->columns[HD_RIGHT][i].width)
            return hd_fail(HEDDLE_ERROR_INVALID,
                           "join_create: column %u has %u bytes on the left and %u on the right", i,
                           keys->columns[HD_LEFT][i].width, keys->columns[HD_RIGHT][i].width);
    return HEDDLE_OK;
}

#define ROWS_MAX (UINT64_C(1) << 48) /* beyond any memory, and bytes can still be counted */

static heddle_status check_rows(const uint64_t rows[2], uint32_t row_bits)
{
    for (uint32_t side = HD_LEFT; side <= HD_RIGHT; side++) {
        if (row_bits == 32 && rows[side] > UINT32_MAX)
            return hd_fail(HEDDLE_ERROR_INVALID,
                           "join_create: %llu rows cannot be numbered with 32 bits",
                           (unsigned long long)rows[side]);
        if (rows[side] > ROWS_MAX)
            return hd_fail(HEDDLE_ERROR_INVALID, "join_create: no table has %llu rows",
                           (unsigned long long)rows[side]);
    }
    return HEDDLE_OK;
}

static heddle_status check_device(const heddle_device *device, const void *stream)
{
    if (device == NULL) return hd_fail(HEDDLE_ERROR_INVALID, "join_create: the device is NULL");
    if (stream != NULL && device->engine->host_memory)
        return hd_fail(HEDDLE_ERROR_INVALID, "join_create: the stream must be NULL on the CPU");
    return HEDDLE_OK;
}

/* ---------------------------------------------------------------------------------------- create */

static heddle_status make_result(heddle_join *join, const hd_join_keys *keys, uint64_t seed,
                                 void *stream)
{
    HD_TRY(hd_join_sort(join, keys, seed, stream));
    HD_TRY(hd_join_make_tasks(join));
    HD_TRY(hd_join_count_matches(join, stream));
    return hd_join_list_rows(join, stream);
}

static heddle_status check_names(const hd_join_keys *keys, const heddle_join_options *options)
{
    if ((keys->names[0] != NULL || keys->names[1] != NULL) && options->kind != HEDDLE_JOIN_INNER)
        return hd_fail(HEDDLE_ERROR_INVALID, "join_create: only inner joins take names of rows");
    return HEDDLE_OK;
}

heddle_status hd_join_create_named(heddle_device *device, const hd_join_keys *keys,
                                   const uint64_t rows[2], const heddle_join_options *options,
                                   heddle_join **join, void *stream)
{
    heddle_join_options o = HEDDLE_JOIN_OPTIONS_INIT;
    heddle_join *made;
    heddle_status status;
    if (join == NULL)
        return hd_fail(HEDDLE_ERROR_INVALID, "join_create: there is no place for the join");
    *join = NULL;
    status = check_device(device, stream);
    if (status == HEDDLE_OK) status = hd_read_struct(&o, options, &hd_join_options_kind);
    if (status == HEDDLE_OK) status = check_options(&o);
    if (status == HEDDLE_OK) status = check_columns(keys, rows);
    if (status == HEDDLE_OK) status = check_rows(rows, o.row_bits);
    if (status == HEDDLE_OK) status = check_names(keys, &o);
    if (status != HEDDLE_OK) return status;
    made = (heddle_join *)hd_allocate_zeroed(1, sizeof *made);
    if (made == NULL) return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for a join");
    made->device = device;
    made->engine = device->engine;
    made->kind = o.kind;
    made->row_bits = o.row_bits;
    for (uint32_t side = HD_LEFT; side <= HD_RIGHT; side++) made->sides[side].rows = rows[side];
    const uint64_t seed = o.seed != 0 ? o.seed : hd_seed_draw();
    hd_mix_init(&made->mix, seed);
    status = make_result(made, keys, seed, stream);
    if (status == HEDDLE_OK) *join = made;
    else heddle_join_destroy(made);
    return status;
}

heddle_status heddle_join_create(heddle_device *device, const heddle_column *left,
                                 uint64_t left_rows, const heddle_column *right,
                                 uint64_t right_rows, uint32_t columns,
                                 const heddle_join_options *options, heddle_join **join,
                                 void *stream)
{
    const uint64_t rows[2] = {left_rows, right_rows};
    const hd_join_keys keys = {{left, right}, columns, {NULL, NULL}};
    return hd_join_create_named(device, &keys, rows, options, join, stream);
}

void heddle_join_destroy(heddle_join *join)
{
    if (join == NULL) return;
    void *const device[] = {join->sides[0].borrowed ? NULL : join->sides[0].pairs,
                            join->sides[1].borrowed ? NULL : join->sides[1].pairs,
                            join->sides[0].matched,
                            join->sides[1].matched,
                            join->sides[0].list,
                            join->sides[1].list,
                            join->device_tasks,
                            join->device_places,
                            join->device_parts,
                            join->device_part_places};
    for (size_t i = 0; i < sizeof device / sizeof device[0]; i++)
        if (device[i] != NULL) hd_block_give(join->device, device[i]);
    free(join->sides[0].starts);
    free(join->sides[1].starts);
    free(join->tasks);
    free(join->places);
    free(join->slice_places);
    free(join);
}
