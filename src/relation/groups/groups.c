/* groups.c: groups are made and destroyed; what they know is asked for in query.c. */
#include "relation/groups/groups.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "engine/blocks.h"
#include "host/public_struct.h"
#include "host/seed.h"
#include "relation/relation.h"

#define CALL "groups_create"

/* -------------------------------------------------------------------------------------- checks */

static heddle_status check_options(const heddle_groups_options *o, uint64_t rows)
{
    if (o->order != HEDDLE_GROUPS_UNORDERED && o->order != HEDDLE_GROUPS_BY_FIRST)
        return hd_fail(HEDDLE_ERROR_INVALID, CALL ": %u is no order of groups", o->order);
    if (o->row_bits != 32 && o->row_bits != 64)
        return hd_fail(HEDDLE_ERROR_INVALID, CALL ": row_bits must be 32 or 64, not %u",
                       o->row_bits);
    if (o->flags >= 2 * HEDDLE_GROUPS_ROWS)
        return hd_fail(HEDDLE_ERROR_INVALID, CALL ": %u is no sum of HEDDLE_GROUPS_*", o->flags);
    if (!hd_rows_fit(rows, o->row_bits))
        return hd_fail(HEDDLE_ERROR_INVALID, CALL ": %llu rows cannot be numbered with %u bits",
                       (unsigned long long)rows, o->row_bits);
    return HEDDLE_OK;
}

heddle_status hd_check_groups(const heddle_groups *groups, const void *stream, const char *what)
{
    if (groups == NULL) return hd_fail(HEDDLE_ERROR_INVALID, "%s: the groups are NULL", what);
    return hd_check_stream(groups->device, stream, what);
}

static const char *name_of(uint32_t asked)
{
    return asked == HEDDLE_GROUPS_SIZES   ? "HEDDLE_GROUPS_SIZES"
           : asked == HEDDLE_GROUPS_FIRST ? "HEDDLE_GROUPS_FIRST"
                                          : "HEDDLE_GROUPS_ROWS";
}

heddle_status hd_check_asked(const heddle_groups *groups, uint32_t asked, const void *stream,
                             const char *what)
{
    HD_TRY(hd_check_groups(groups, stream, what));
    if (groups->asked == HEDDLE_GROUPS_ANYTHING || (groups->asked & asked) != 0) return HEDDLE_OK;
    return hd_fail(HEDDLE_ERROR_INVALID, "%s: these groups were made without the flag %s", what,
                   name_of(asked));
}

/* --------------------------------------------------------------------------------- create, destroy */

/* Columns of values as the device takes them, where they may be needed while groups are made. */
static heddle_status lend_values(const heddle_groups *groups, const heddle_groups_options *o,
                                 const hd_row_keys *keys, hd_scratch *scratch, hd_reduce *lent,
                                 void *stream)
{
    const uint64_t n = groups->rows;
    memcpy(lent, groups->values, sizeof groups->values);
    if (o->flags == HEDDLE_GROUPS_ANYTHING || (o->flags & HEDDLE_GROUPS_ROWS) != 0 ||
        !hd_values_go_along(groups->device, keys, groups->rows, groups->value_count))
        return HEDDLE_OK;
    for (uint32_t i = 0; i < groups->value_count && n != 0; i++) {
        const void *valid = NULL;
        HD_TRY(hd_lend_in(scratch, lent[i].column, n * hd_type_width(lent[i].type), &lent[i].column,
                          stream));
        HD_TRY(hd_lend_in(scratch, lent[i].valid, n, &valid, stream));
        lent[i].valid = (const uint8_t *)valid;
    }
    return HEDDLE_OK;
}

/* Copies of columns in host memory are needed only while rows are brought together. */
static heddle_status group_columns(heddle_groups *groups, const hd_key_columns *columns,
                                   const heddle_groups_options *o, void *stream)
{
    hd_row_keys keys;
    hd_reduce lent[HEDDLE_AGGREGATES_MAX];
    const hd_row_values values = {lent, groups->value_count};
    const hd_row_source from = {groups->device,
                                &keys,
                                columns->rows,
                                o->row_bits,
                                o->seed != 0 ? o->seed : hd_seed_draw(),
                                stream,
                                o->flags,
                                o->order == HEDDLE_GROUPS_BY_FIRST,
                                &values};
    HD_SCRATCH(scratch, groups->device);
    memset(&keys, 0, sizeof keys);
    keys.columns = columns->count;
    keys.n = columns->rows;
    HD_TRY(hd_key_columns_lend(columns, &scratch, keys.first, stream));
    HD_TRY(lend_values(groups, o, &keys, &scratch, lent, stream));
    HD_TRY(hd_group_rows(&from, &groups->made));
    groups->made.distinct.values = groups->values; /* of the same shape, and they stay */
    return HEDDLE_OK;
}

static heddle_status make_groups(heddle_groups *groups, const hd_key_columns *columns,
                                 const heddle_groups_options *o, void *stream)
{
    HD_TRY(group_columns(groups, columns, o, stream));
    if (o->order != HEDDLE_GROUPS_BY_FIRST || hd_groups_distinct(groups)) return HEDDLE_OK;
    return hd_groups_order(groups, stream);
}

heddle_status heddle_groups_create(heddle_device *device, const heddle_column *keys,
                                   uint32_t columns, uint64_t rows,
                                   const heddle_groups_options *options, heddle_groups **groups,
                                   void *stream)
{
    heddle_groups_options read = HEDDLE_GROUPS_OPTIONS_INIT;
    const hd_key_columns given = {CALL, NULL, keys, columns, rows};
    heddle_groups *made;
    heddle_status status;
    if (groups == NULL)
        return hd_fail(HEDDLE_ERROR_INVALID, CALL ": there is no place for the groups");
    *groups = NULL;
    HD_TRY(hd_check_stream(device, stream, CALL));
    HD_TRY(hd_read_struct(&read, options, &hd_groups_options_kind));
    HD_TRY(check_options(&read, rows));
    if (read.reserved != 0)
        return hd_fail(HEDDLE_ERROR_INVALID, CALL ": the reserved field of the options is not 0");
    HD_TRY(hd_key_columns_check(&given));
    made = (heddle_groups *)hd_allocate_zeroed(1, sizeof *made);
    if (made == NULL) return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for groups");
    made->device = device;
    made->engine = device->engine;
    made->columns = columns;
    made->asked = read.flags;
    memcpy(made->keys, keys, columns * sizeof *keys);
    made->rows = rows;
    status = hd_groups_read_values(made, &read);
    if (status == HEDDLE_OK) status = make_groups(made, &given, &read, stream);
    if (status == HEDDLE_OK) *groups = made;
    else heddle_groups_destroy(made);
    return status;
}

void heddle_groups_destroy(heddle_groups *groups)
{
    if (groups == NULL) return;
    hd_row_groups_free(&groups->made);
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
