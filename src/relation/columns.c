/* columns.c: the key columns of a call are checked, and lent to the device; see relation.h. */
#include "base/error.h"
#include "host/lent.h"
#include "relation/relation.h"

_Static_assert(HEDDLE_KEY_COLUMNS_MAX <= HD_COLUMNS_MAX, "a device takes every key");

static const char *side_of(const hd_key_columns *keys) { return keys->side ? keys->side : "key"; }

static bool is_aligned(const heddle_column *column)
{
    const uint32_t width = column->width;
    return (width != 2 && width != 4 && width != 8) || (uintptr_t)column->data % width == 0;
}

static heddle_status check_column(const hd_key_columns *keys, uint32_t number)
{
    const heddle_column *column = &keys->columns[number];
    const char *side = side_of(keys);
    if (column->width < 1 || column->width > HD_COLUMN_WIDTH_MAX)
        return hd_fail(HEDDLE_ERROR_INVALID,
                       "%s: %s column %u has a width of %u bytes, not 1 to %u", keys->call, side,
                       number, column->width, HD_COLUMN_WIDTH_MAX);
    if (column->reserved != 0)
        return hd_fail(HEDDLE_ERROR_INVALID, "%s: the reserved field of %s column %u is not 0",
                       keys->call, side, number);
    if (keys->rows == 0) return HEDDLE_OK;
    if (column->data == NULL)
        return hd_fail(HEDDLE_ERROR_INVALID, "%s: %s column %u has no data", keys->call, side,
                       number);
    if (!is_aligned(column))
        return hd_fail(HEDDLE_ERROR_INVALID,
                       "%s: %s column %u is not aligned to its elements of %u bytes", keys->call,
                       side, number, column->width);
    return HEDDLE_OK;
}

heddle_status hd_key_columns_check(const hd_key_columns *keys)
{
    if (keys->count < 1 || keys->count > HEDDLE_KEY_COLUMNS_MAX)
        return hd_fail(HEDDLE_ERROR_INVALID, "%s: a key has 1 to %u columns, not %u", keys->call,
                       HEDDLE_KEY_COLUMNS_MAX, keys->count);
    if (keys->columns == NULL)
        return hd_fail(HEDDLE_ERROR_INVALID, "%s: there are no columns%s%s", keys->call,
                       keys->side != NULL ? " on the " : "", keys->side != NULL ? keys->side : "");
    if (keys->rows > HD_RELATION_ROWS_MAX)
        return hd_fail(HEDDLE_ERROR_INVALID, "%s: no table has %llu rows", keys->call,
                       (unsigned long long)keys->rows);
    for (uint32_t i = 0; i < keys->count; i++) HD_TRY(check_column(keys, i));
    return HEDDLE_OK;
}

heddle_status hd_key_columns_match(const hd_key_columns *left, const hd_key_columns *right)
{
    for (uint32_t i = 0; i < left->count; i++)
        if (left->columns[i].width != right->columns[i].width)
            return hd_fail(HEDDLE_ERROR_INVALID,
                           "%s: column %u has %u bytes on the left and %u on the right", left->call,
                           i, left->columns[i].width, right->columns[i].width);
    return HEDDLE_OK;
}

heddle_status hd_key_columns_lend(const hd_key_columns *keys, hd_scratch *scratch, hd_column *to,
                                  void *stream)
{
    for (uint32_t i = 0; i < keys->count; i++) {
        const heddle_column *from = &keys->columns[i];
        const void *valid = NULL;
        to[i].width = from->width;
        HD_TRY(hd_lend_in(scratch, from->data, keys->rows * from->width, &to[i].data, stream));
        HD_TRY(hd_lend_in(scratch, from->valid, keys->rows, &valid, stream));
        to[i].valid = (const uint8_t *)valid;
    }
    return HEDDLE_OK;
}

heddle_status hd_check_stream(const heddle_device *device, const void *stream, const char *call)
{
    if (device == NULL) return hd_fail(HEDDLE_ERROR_INVALID, "%s: the device is NULL", call);
    if (stream != NULL && device->engine->host_memory)
        return hd_fail(HEDDLE_ERROR_INVALID, "%s: the stream must be NULL on the CPU", call);
    return HEDDLE_OK;
}
