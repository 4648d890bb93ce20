/* join.c: joins: arguments and creation; see join.h. */
#include "relation/join/join.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/tuning.h"
#include "engine/blocks.h"
#include "host/public_struct.h"
#include "host/seed.h"
#include "relation/encode/encode.h"
#include "relation/relation.h"

#define CALL "join_create"

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
        return hd_fail(HEDDLE_ERROR_INVALID, CALL ": %u is no kind of join", options->kind);
    if (options->row_bits != 32 && options->row_bits != 64)
        return hd_fail(HEDDLE_ERROR_INVALID, CALL ": row_bits must be 32 or 64, not %u",
                       options->row_bits);
    if (options->flags != 0) return hd_fail(HEDDLE_ERROR_INVALID, CALL ": there are no flags yet");
    return HEDDLE_OK;
}

static heddle_status check_columns(const hd_join_keys *keys)
{
    const hd_key_columns left = {CALL, "left", keys->columns[HD_LEFT], keys->count,
                                 keys->rows[HD_LEFT]};
    const hd_key_columns right = {CALL, "right", keys->columns[HD_RIGHT], keys->count,
                                  keys->rows[HD_RIGHT]};
    HD_TRY(hd_key_columns_check(&left));
    HD_TRY(hd_key_columns_check(&right));
    return hd_key_columns_match(&left, &right);
}

static heddle_status check_rows(const hd_join_keys *keys, uint32_t row_bits)
{
    for (uint32_t side = HD_LEFT; side <= HD_RIGHT; side++)
        if (!hd_rows_fit(keys->rows[side], row_bits))
            return hd_fail(HEDDLE_ERROR_INVALID, CALL ": %llu rows cannot be numbered with %u bits",
                           (unsigned long long)keys->rows[side], row_bits);
    return HEDDLE_OK;
}

static heddle_status check_names(const hd_join_keys *keys, const heddle_join_options *options)
{
    if ((keys->names[0] != NULL || keys->names[1] != NULL) && options->kind != HEDDLE_JOIN_INNER)
        return hd_fail(HEDDLE_ERROR_INVALID, CALL ": only inner joins take names of rows");
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

heddle_status hd_join_create_named(heddle_device *device, const hd_join_keys *keys,
                                   const heddle_join_options *options, heddle_join **join,
                                   void *stream)
{
    heddle_join_options o = HEDDLE_JOIN_OPTIONS_INIT;
    heddle_join *made;
    heddle_status status;
    uint64_t seed;
    if (join == NULL) return hd_fail(HEDDLE_ERROR_INVALID, CALL ": there is no place for the join");
    *join = NULL;
    HD_TRY(hd_check_stream(device, stream, CALL));
    HD_TRY(hd_read_struct(&o, options, &hd_join_options_kind));
    HD_TRY(check_options(&o));
    HD_TRY(check_columns(keys));
    HD_TRY(check_rows(keys, o.row_bits));
    HD_TRY(check_names(keys, &o));
    made = (heddle_join *)hd_allocate_zeroed(1, sizeof *made);
    if (made == NULL) return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for a join");
    made->device = device;
    made->engine = device->engine;
    made->kind = o.kind;
    made->row_bits = o.row_bits;
    for (uint32_t side = HD_LEFT; side <= HD_RIGHT; side++)
        made->sides[side].rows = keys->rows[side];
    seed = o.seed != 0 ? o.seed : hd_seed_draw();
    hd_mix_init(&made->mix, seed);
    status = make_result(made, keys, seed, stream);
    if (status == HEDDLE_OK) *join = made;
    else heddle_join_destroy(made);
    return status;
}

heddle_status heddle_join_create(heddle_device *device, const heddle_column *left,
                                 const heddle_column *right, uint32_t columns, uint64_t left_rows,
                                 uint64_t right_rows, const heddle_join_options *options,
                                 heddle_join **join, void *stream)
{
    const hd_join_keys keys = {{left, right}, columns, {left_rows, right_rows}, {NULL, NULL}};
    return hd_join_create_named(device, &keys, options, join, stream);
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
