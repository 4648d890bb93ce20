/* groups.c: groups are made and destroyed; what they know is asked for in query.c. */
#include "relation/groups/groups.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "engine/blocks.h"
#include "host/public_struct.h"
#include "table/slots/geometry.h"
#include "table/table.h"

/* -------------------------------------------------------------------------------------- checks */

static heddle_status check_options(const heddle_groups_options *o, uint64_t rows)
{
    if (o->order != HEDDLE_GROUPS_UNORDERED && o->order != HEDDLE_GROUPS_BY_FIRST)
        return hd_fail(HEDDLE_ERROR_INVALID, "groups_create: %u is no order of groups", o->order);
    if (o->row_bits != 32 && o->row_bits != 64)
        return hd_fail(HEDDLE_ERROR_INVALID, "groups_create: row_bits must be 32 or 64, not %u",
                       o->row_bits);
    if (o->flags != 0)
        return hd_fail(HEDDLE_ERROR_INVALID, "groups_create: there are no flags yet");
    if (!hd_rows_fit(rows, o->row_bits))
        return hd_fail(HEDDLE_ERROR_INVALID,
                       "groups_create: %llu rows cannot be numbered with %u bits",
                       (unsigned long long)rows, o->row_bits);
    return HEDDLE_OK;
}

static heddle_status check_column(const heddle_column *column, uint32_t number, uint64_t rows)
{
    const uint32_t width = column->width;
    if (width < 1 || width > HD_COLUMN_WIDTH_MAX)
        return hd_fail(HEDDLE_ERROR_INVALID,
                       "groups_create: column %u has a width of %u bytes, not 1 to %u", number,
                       width, HD_COLUMN_WIDTH_MAX);
    if (column->reserved != 0)
        return hd_fail(HEDDLE_ERROR_INVALID,
                       "groups_create: the reserved field of column %u is not 0", number);
    if (rows != 0 && column->data == NULL)
        return hd_fail(HEDDLE_ERROR_INVALID, "groups_create: column %u has no data", number);
    return hd_check_array(column->data, rows, width == 2 || width == 4 || width == 8 ? width : 1,
                          "keys");
}

static heddle_status check_columns(const heddle_column *keys, uint32_t columns, uint64_t rows)
{
    if (columns < 1 || columns > HEDDLE_KEY_COLUMNS_MAX)
        return hd_fail(HEDDLE_ERROR_INVALID, "groups_create: a key has 1 to %u columns, not %u",
                       HEDDLE_KEY_COLUMNS_MAX, columns);
    if (keys == NULL) return hd_fail(HEDDLE_ERROR_INVALID, "groups_create: there are no columns");
    for (uint32_t c = 0; c < columns; c++) HD_TRY(check_column(&keys[c], c, rows));
    return HEDDLE_OK;
}

static heddle_status check_device(const heddle_device *device, const void *stream)
{
    if (device == NULL) return hd_fail(HEDDLE_ERROR_INVALID, "groups_create: the device is NULL");
    if (stream != NULL && device->engine->host_memory)
        return hd_fail(HEDDLE_ERROR_INVALID, "groups_create: the stream must be NULL on the CPU");
    return HEDDLE_OK;
}

heddle_status hd_check_groups(const heddle_groups *groups, const void *stream, const char *what)
{
    if (groups == NULL) return hd_fail(HEDDLE_ERROR_INVALID, "%s: the groups are NULL", what);
    if (stream != NULL && groups->engine->host_memory)
        return hd_fail(HEDDLE_ERROR_INVALID, "%s: the stream must be NULL on the CPU", what);
    return HEDDLE_OK;
}

/* --------------------------------------------------------------------------------- create, destroy */

/* Copies of columns in host memory are needed only while rows are brought together. */
static heddle_status group_columns(heddle_groups *groups, uint64_t rows,
                                   const heddle_groups_options *o, void *stream)
{
    const uint64_t seed = o->seed != 0 ? o->seed : hd_seed_draw();
    hd_scratch scratch = {groups->device, 0, {NULL}};
    hd_row_keys keys;
    heddle_status status = HEDDLE_OK;
    memset(&keys, 0, sizeof keys);
    keys.columns = groups->columns;
    keys.n = rows;
    for (uint32_t c = 0; c < groups->columns && status == HEDDLE_OK; c++) {
        const heddle_column *from = &groups->keys[c];
        const void *valid = NULL;
        keys.first[c].width = from->width;
        status = hd_lend_in(&scratch, from->data, rows * from->width, &keys.first[c].data, stream);
        if (status == HEDDLE_OK) status = hd_lend_in(&scratch, from->valid, rows, &valid, stream);
        keys.first[c].valid = (const uint8_t *)valid;
    }
    if (status == HEDDLE_OK)
        status =
            hd_group_rows(groups->device, &keys, rows, o->row_bits, seed, &groups->made, stream);
    hd_scratch_free(&scratch);
    return status;
}

heddle_status heddle_groups_create(heddle_device *device, const heddle_column *keys,
                                   uint32_t columns, uint64_t rows,
                                   const heddle_groups_options *options, heddle_groups **groups,
                                   void *stream)
{
    heddle_groups_options o = HEDDLE_GROUPS_OPTIONS_INIT;
    heddle_groups *made;
    heddle_status status;
    if (groups == NULL)
        return hd_fail(HEDDLE_ERROR_INVALID, "groups_create: there is no place for the groups");
    *groups = NULL;
    status = check_device(device, stream);
    if (status == HEDDLE_OK) status = hd_read_struct(&o, options, &hd_groups_options_kind);
    if (status == HEDDLE_OK) status = check_options(&o, rows);
    if (status == HEDDLE_OK) status = check_columns(keys, columns, rows);
    if (status != HEDDLE_OK) return status;
    made = (heddle_groups *)hd_allocate_zeroed(1, sizeof *made);
    if (made == NULL) return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for groups");
    made->device = device;
    made->engine = device->engine;
    made->columns = columns;
    memcpy(made->keys, keys, columns * sizeof *keys);
    status = group_columns(made, rows, &o, stream);
    if (status == HEDDLE_OK && o.order == HEDDLE_GROUPS_BY_FIRST)
        status = hd_groups_order(made, stream);
    if (status == HEDDLE_OK) *groups = made;
    else heddle_groups_destroy(made);
    return status;
}

void heddle_groups_destroy(heddle_groups *groups)
{
    if (groups == NULL) return;
    hd_row_groups_free(groups->device, &groups->made);
    if (groups->names != NULL) hd_block_give(groups->device, groups->names);
    if (groups->order != NULL) hd_block_give(groups->device, groups->order);
    free(groups);
}

heddle_status heddle_groups_count(const heddle_groups *groups, uint64_t *count)
{
    HD_TRY(hd_check_groups(groups, NULL, "groups_count"));
    if (count == NULL)
        return hd_fail(HEDDLE_ERROR_INVALID, "groups_count: there is no place for the count");
    *count = groups->made.groups;
    return HEDDLE_OK;
}
