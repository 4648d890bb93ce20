/*
 * set_operation.c: union, intersection and difference of the keys of two arrays. Both are grouped as one,
 * a before b. Since the rows of a group ascend, its first row tells whether the key is in a, and its last
 * whether it is in b. First rows of the groups that belong to the result are marked among all rows and
 * taken in order.
 */
#include <string.h>

#include "base/error.h"
#include "host/lent.h"
#include "host/seed.h"
#include "relation/encode/encode.h"
#include "relation/relation.h"
#include "table/check.h"

typedef struct set_call {
    heddle_device *device;
    const hd_engine *engine;
    uint32_t operation, width;
    uint64_t a_count, rows;
    void *stream;
    hd_scratch scratch;
    void *keys; /* of both, device memory */
    hd_row_groups made;
    uint64_t count; /* of the result */
    void *picked;   /* rows of the result, ascending */
} set_call;

/* ------------------------------------------------------------------------------------------ checks */

static heddle_status check_call(const heddle_device *device, uint32_t operation, uint32_t key_bits,
                                const void *stream)
{
    HD_TRY(hd_check_stream(device, stream, "set_operation"));
    if (operation < HEDDLE_SET_UNION || operation > HEDDLE_SET_DIFFERENCE)
        return hd_fail(HEDDLE_ERROR_INVALID, "set_operation: %u is no operation", operation);
    if (key_bits != 32 && key_bits != 64)
        return hd_fail(HEDDLE_ERROR_INVALID, "set_operation: key_bits must be 32 or 64, not %u",
                       key_bits);
    return HEDDLE_OK;
}

static heddle_status check_arrays(const set_call *c, const void *a, const void *b, const void *keys,
                                  uint64_t capacity)
{
    HD_TRY(hd_check_array(a, c->a_count, c->width, "keys a"));
    HD_TRY(hd_check_array(b, c->rows - c->a_count, c->width, "keys b"));
    return hd_check_array(keys, capacity, c->width, "keys of the result");
}

/* ------------------------------------------------------------------------------------------- steps */

static uint32_t row_bits(const set_call *c) { return hd_rows_fit(c->rows, 32) ? 32 : 64; }

static heddle_status group_both(set_call *c, const void *a, const void *b)
{
    const uint64_t a_bytes = c->a_count * c->width, bytes = c->rows * c->width;
    HD_TRY(hd_scratch_take(&c->scratch, bytes, &c->keys));
    if (a_bytes != 0) HD_TRY(c->engine->copy(c->device, c->keys, a, a_bytes, c->stream));
    if (a_bytes != bytes)
        HD_TRY(
            c->engine->copy(c->device, (char *)c->keys + a_bytes, b, bytes - a_bytes, c->stream));
    const hd_row_source from = {c->device, NULL, c->rows, row_bits(c), hd_seed_draw(),
                                c->stream, 0,    false,   NULL};
    return hd_group_array(&from, c->keys, c->width * 8, &c->made);
}

/*
 * Flags among all rows, set at the first rows of the groups that are in b, or that are not, as the
 * operation asks. Those of groups that are not in a lie behind the rows of a.
 */
static heddle_status mark_by_b(set_call *c, const void *firsts, const void *lasts, uint8_t *flags)
{
    const hd_column_ops *columns = c->engine->columns;
    const hd_site on = hd_on(c->device, NULL, c->stream);
    const uint8_t in_b = c->operation == HEDDLE_SET_INTERSECTION;
    void *of_group = NULL;
    HD_TRY(hd_scratch_take(&c->scratch, c->made.groups, &of_group));
    HD_TRY(c->engine->fill(c->device, flags, !in_b, c->a_count, c->stream));
    HD_TRY(c->engine->fill(c->device, flags + c->a_count, in_b, c->rows - c->a_count, c->stream));
    HD_TRY(columns->gather(on, hd_elements_of(flags, 1),
                           hd_at_rows(lasts, c->made.row_bits, c->made.groups), of_group));
    HD_TRY(c->engine->fill(c->device, flags, 0, c->rows, c->stream));
    return columns->scatter(on, hd_elements_of(of_group, 1),
                            hd_at_rows(firsts, c->made.row_bits, c->made.groups), flags);
}

static heddle_status mark(set_call *c, uint8_t *flags)
{
    const hd_column_ops *columns = c->engine->columns;
    const hd_site on = hd_on(c->device, NULL, c->stream);
    const uint64_t bytes = c->made.groups * (c->made.row_bits / 8);
    const bool by_b = c->operation != HEDDLE_SET_UNION;
    hd_grouped grouped;
    void *firsts = NULL, *lasts = NULL;
    HD_TRY(hd_scratch_take(&c->scratch, bytes, &firsts));
    if (by_b) HD_TRY(hd_scratch_take(&c->scratch, bytes, &lasts));
    if (by_b) HD_TRY(hd_row_groups_order(&c->made, c->stream));
    grouped = hd_row_groups_view(&c->made);
    HD_TRY(columns->describe(on, &grouped, firsts, lasts, NULL));
    if (by_b) return mark_by_b(c, firsts, lasts, flags);
    HD_TRY(c->engine->fill(c->device, flags, 0, c->rows, c->stream));
    return columns->scatter(on, hd_elements_of(NULL, 1),
                            hd_at_rows(firsts, grouped.row_bits, grouped.groups), flags);
}

/* The rows whose keys are the result. */
static heddle_status pick(set_call *c)
{
    const hd_column_ops *columns = c->engine->columns;
    const uint64_t n = c->operation == HEDDLE_SET_UNION ? c->rows : c->a_count;
    const uint64_t most = n < c->made.groups ? n : c->made.groups;
    void *flags = NULL, *work = NULL, *count = NULL;
    HD_TRY(hd_scratch_take(&c->scratch, c->rows, &flags));
    HD_TRY(hd_scratch_take(&c->scratch, columns->work(c->device, c->rows), &work));
    HD_TRY(hd_scratch_take(&c->scratch, sizeof(uint64_t), &count));
    HD_TRY(hd_scratch_take(&c->scratch, most * (c->made.row_bits / 8), &c->picked));
    HD_TRY(mark(c, (uint8_t *)flags));
    if (n != 0) {
        HD_TRY(columns->select(hd_on(c->device, work, c->stream),
                               hd_flags_of((const uint8_t *)flags, n, true), c->picked,
                               c->made.row_bits, (uint64_t *)count));
        HD_TRY(c->engine->copy(c->device, &c->count, count, sizeof c->count, c->stream));
    }
    return c->engine->synchronize(c->device, c->stream);
}

static heddle_status write_keys(set_call *c, void *keys, uint64_t capacity)
{
    hd_lent out;
    if (c->count > capacity)
        return hd_fail(HEDDLE_ERROR_TOO_SMALL,
                       "set_operation: %llu keys do not fit into an array of %llu",
                       (unsigned long long)c->count, (unsigned long long)capacity);
    if (c->count == 0) return HEDDLE_OK;
    HD_TRY(hd_lend_out(&c->scratch, keys, c->count * c->width, &out));
    HD_TRY(c->engine->columns->gather(
        hd_on(c->device, NULL, c->stream), hd_elements_of(c->keys, c->width),
        hd_at_rows(c->picked, c->made.row_bits, c->count), out.memory));
    return hd_take_back(c->device, &out, c->stream);
}

/* Sets c->count and c->picked. */
static heddle_status operate(set_call *c, const void *a, const void *b)
{
    if (c->rows == 0) return HEDDLE_OK;
    HD_TRY(group_both(c, a, b));
    return pick(c);
}

heddle_status heddle_set_operation(heddle_device *device, uint32_t operation, uint32_t key_bits,
                                   const void *a, uint64_t a_count, const void *b, uint64_t b_count,
                                   void *keys, uint64_t capacity, uint64_t *count, void *stream)
{
    set_call c;
    heddle_status status;
    HD_TRY(check_call(device, operation, key_bits, stream));
    if (count == NULL)
        return hd_fail(HEDDLE_ERROR_INVALID, "set_operation: there is no place for the count");
    if (!hd_rows_fit(a_count, 64) || !hd_rows_fit(b_count, 64))
        return hd_fail(HEDDLE_ERROR_INVALID, "set_operation: no array has that many keys");
    memset(&c, 0, sizeof c);
    c.device = c.scratch.device = device;
    c.engine = device->engine;
    c.operation = operation;
    c.width = key_bits / 8;
    c.a_count = a_count;
    c.rows = a_count + b_count;
    c.stream = stream;
    HD_TRY(check_arrays(&c, a, b, keys, capacity));
    status = operate(&c, a, b);
    if (status == HEDDLE_OK) *count = c.count;
    if (status == HEDDLE_OK) status = write_keys(&c, keys, capacity);
    hd_scratch_free(&c.scratch);
    hd_row_groups_free(&c.made);
    return status;
}
