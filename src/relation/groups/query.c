/*
 * query.c: what groups know of their rows. Every call is one or two column steps over the grouped
 * rows; results are written in the engine's order and then arranged.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "relation/groups/groups.h"
#include "table/table.h"

/* Describes all groups: first rows or sizes, in the caller's order, to device memory. */
static heddle_status describe(heddle_groups *groups, hd_scratch *scratch, void *firsts,
                              uint64_t *sizes, void *stream)
{
    hd_grouped grouped;
    hd_arrange f, s;
    heddle_status status = HEDDLE_OK;
    if (sizes != NULL) status = hd_row_groups_count(groups->device, &groups->made, stream);
    grouped = hd_row_groups_view(&groups->made);
    if (status == HEDDLE_OK)
        status = hd_arrange_begin(groups, scratch, firsts, hd_row_width(groups), &f);
    if (status == HEDDLE_OK) status = hd_arrange_begin(groups, scratch, sizes, 8, &s);
    if (status == HEDDLE_OK)
        status = groups->engine->columns->describe(groups->device, &grouped, f.memory, NULL,
                                                   (uint64_t *)s.memory, stream);
    if (status == HEDDLE_OK) status = hd_arrange_end(groups, &f, stream);
    if (status == HEDDLE_OK) status = hd_arrange_end(groups, &s, stream);
    return status;
}

heddle_status heddle_groups_first(heddle_groups *groups, void *rows, void *stream)
{
    hd_scratch scratch = {NULL, 0, {NULL}};
    hd_lent out;
    heddle_status status = hd_check_groups(groups, stream, "groups_first");
    if (status == HEDDLE_OK)
        status = hd_check_array(rows, groups->made.groups, hd_row_width(groups), "rows");
    if (status != HEDDLE_OK || groups->made.groups == 0) return status;
    scratch.device = groups->device;
    status = hd_lend_out(&scratch, rows, groups->made.groups * hd_row_width(groups), &out);
    if (status == HEDDLE_OK) status = describe(groups, &scratch, out.memory, NULL, stream);
    if (status == HEDDLE_OK) status = hd_take_back(groups->device, &out, stream);
    hd_scratch_free(&scratch);
    return status;
}

heddle_status heddle_groups_sizes(heddle_groups *groups, uint64_t *sizes, void *stream)
{
    hd_scratch scratch = {NULL, 0, {NULL}};
    hd_lent out;
    heddle_status status = hd_check_groups(groups, stream, "groups_sizes");
    if (status == HEDDLE_OK)
        status = hd_check_array(sizes, groups->made.groups, sizeof *sizes, "sizes");
    if (status != HEDDLE_OK || groups->made.groups == 0) return status;
    scratch.device = groups->device;
    status = hd_lend_out(&scratch, sizes, groups->made.groups * sizeof *sizes, &out);
    if (status == HEDDLE_OK)
        status = describe(groups, &scratch, NULL, (uint64_t *)out.memory, stream);
    if (status == HEDDLE_OK) status = hd_take_back(groups->device, &out, stream);
    hd_scratch_free(&scratch);
    return status;
}

/* ---------------------------------------------------------------------------------------- keys */

/* Elements of a column, the caller's, at one row for each group. */
static heddle_status gather_at(const heddle_groups *groups, hd_scratch *scratch, const void *column,
                               uint32_t width, const void *rows, void *user, void *stream)
{
    const uint64_t count = groups->made.groups;
    const void *staged;
    hd_lent out;
    HD_TRY(hd_lend_in(scratch, column, groups->made.n * width, &staged, stream));
    HD_TRY(hd_lend_out(scratch, user, count * width, &out));
    HD_TRY(groups->engine->columns->gather(groups->device, staged, width, rows,
                                           groups->made.row_bits, count, out.memory, stream));
    return hd_take_back(groups->device, &out, stream);
}

static heddle_status fetch_keys(heddle_groups *groups, hd_scratch *scratch,
                                const heddle_column *column, void *keys, uint8_t *valid,
                                void *stream)
{
    const uint64_t count = groups->made.groups;
    void *firsts = NULL;
    hd_lent flags;
    heddle_status status = hd_scratch_take(scratch, count * hd_row_width(groups), &firsts);
    if (status == HEDDLE_OK) status = describe(groups, scratch, firsts, NULL, stream);
    if (status == HEDDLE_OK)
        status = gather_at(groups, scratch, column->data, column->width, firsts, keys, stream);
    if (status != HEDDLE_OK || valid == NULL) return status;
    if (column->valid != NULL)
        return gather_at(groups, scratch, column->valid, 1, firsts, valid, stream);
    status = hd_lend_out(scratch, valid, count, &flags);
    if (status == HEDDLE_OK)
        status = groups->engine->fill(groups->device, flags.memory, 1, count, stream);
    if (status == HEDDLE_OK) status = hd_take_back(groups->device, &flags, stream);
    return status;
}

heddle_status heddle_groups_keys(heddle_groups *groups, uint32_t column, void *keys, uint8_t *valid,
                                 void *stream)
{
    hd_scratch scratch = {NULL, 0, {NULL}};
    heddle_status status = hd_check_groups(groups, stream, "groups_keys");
    if (status != HEDDLE_OK) return status;
    if (column >= groups->columns)
        return hd_fail(HEDDLE_ERROR_INVALID, "groups_keys: there is no column %u among %u", column,
                       groups->columns);
    if (groups->made.groups == 0) return HEDDLE_OK;
    if (keys == NULL)
        return hd_fail(HEDDLE_ERROR_INVALID, "groups_keys: the array of keys is NULL");
    scratch.device = groups->device;
    status = fetch_keys(groups, &scratch, &groups->keys[column], keys, valid, stream);
    hd_scratch_free(&scratch);
    return status;
}

/* ---------------------------------------------------------------------------------------- rows */

heddle_status heddle_groups_of_rows(heddle_groups *groups, void *numbers, void *stream)
{
    hd_scratch scratch = {NULL, 0, {NULL}};
    hd_grouped grouped;
    hd_lent out;
    heddle_status status = hd_check_groups(groups, stream, "groups_of_rows");
    if (status == HEDDLE_OK)
        status = hd_check_array(numbers, groups->made.n, hd_row_width(groups), "numbers");
    if (status != HEDDLE_OK || groups->made.n == 0) return status;
    scratch.device = groups->device;
    grouped = hd_row_groups_view(&groups->made);
    status = hd_lend_out(&scratch, numbers, groups->made.n * hd_row_width(groups), &out);
    if (status == HEDDLE_OK)
        status = groups->engine->columns->number(groups->device, &grouped, groups->names,
                                                 out.memory, stream);
    if (status == HEDDLE_OK) status = hd_take_back(groups->device, &out, stream);
    hd_scratch_free(&scratch);
    return status;
}

/* Where groups begin in the caller's order: groups + 1 numbers of device memory. */
static heddle_status find_begins(heddle_groups *groups, hd_scratch *scratch, uint64_t *begins,
                                 void *stream)
{
    const uint64_t count = groups->made.groups;
    void *work = NULL;
    HD_TRY(hd_scratch_take(scratch, groups->engine->columns->work(groups->device, count), &work));
    HD_TRY(describe(groups, scratch, NULL, begins, stream));
    return groups->engine->columns->scan(groups->device, begins, count, work, stream);
}

/* One group after the other, on the host: no step of an engine moves groups as a whole. */
static void move_groups(const hd_row_groups *made, const void *order, const uint64_t *starts,
                        const void *rows, const uint64_t *begins, void *out)
{
    const uint32_t width = made->row_bits / 8;
#pragma omp parallel for schedule(dynamic, 1024)
    for (uint64_t g = 0; g < made->groups; g++) {
        const uint64_t from =
            width == 4 ? ((const uint32_t *)order)[g] : ((const uint64_t *)order)[g];
        memcpy((char *)out + begins[g] * width, (const char *)rows + starts[from] * width,
               (begins[g + 1] - begins[g]) * width);
    }
}

/* A host copy of device memory, or that memory where the host can use it; freed by the caller if copied. */
static heddle_status to_host(const heddle_groups *groups, const void *memory, uint64_t bytes,
                             const void **host, void **copy, void *stream)
{
    *copy = NULL;
    *host = memory;
    if (groups->engine->host_memory) return HEDDLE_OK;
    *host = *copy = hd_allocate(bytes);
    if (*copy == NULL)
        return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for the rows of groups in order");
    HD_TRY(groups->engine->copy(groups->device, *copy, memory, bytes, stream));
    return groups->engine->synchronize(groups->device, stream);
}

/* The rows of all groups in the caller's order to `user`, wherever that is. */
static heddle_status rows_in_order(const heddle_groups *groups, const uint64_t *begins, void *user,
                                   void *stream)
{
    const hd_row_groups *made = &groups->made;
    const uint64_t width = hd_row_width(groups);
    const void *const memory[4] = {groups->order, made->starts, made->rows, begins};
    const uint64_t bytes[4] = {made->groups * width, (made->groups + 1) * sizeof(uint64_t),
                               made->n * width, (made->groups + 1) * sizeof(uint64_t)};
    const void *host[4];
    void *copies[5] = {NULL};
    heddle_status status = HEDDLE_OK;
    for (int i = 0; i < 4 && status == HEDDLE_OK; i++)
        status = to_host(groups, memory[i], bytes[i], &host[i], &copies[i], stream);
    if (status == HEDDLE_OK && groups->engine->host_memory) {
        move_groups(made, host[0], (const uint64_t *)host[1], host[2], (const uint64_t *)host[3],
                    user);
    } else if (status == HEDDLE_OK) {
        copies[4] = hd_allocate(bytes[2]);
        if (copies[4] == NULL)
            status = hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for the rows of groups in order");
    }
    if (status == HEDDLE_OK && copies[4] != NULL) {
        move_groups(made, host[0], (const uint64_t *)host[1], host[2], (const uint64_t *)host[3],
                    copies[4]);
        status = groups->engine->copy(groups->device, user, copies[4], bytes[2], stream);
        if (status == HEDDLE_OK) status = groups->engine->synchronize(groups->device, stream);
    }
    for (int i = 0; i < 5; i++) free(copies[i]);
    return status;
}

static heddle_status fetch_rows(heddle_groups *groups, hd_scratch *scratch, uint64_t *begins,
                                void *rows, void *stream)
{
    const hd_row_groups *made = &groups->made;
    hd_lent out;
    heddle_status status = hd_lend_out(scratch, begins, (made->groups + 1) * sizeof *begins, &out);
    if (groups->order == NULL) {
        const uint64_t bytes = made->n * hd_row_width(groups);
        if (status == HEDDLE_OK)
            status = groups->engine->copy(groups->device, begins, made->starts, out.bytes, stream);
        if (status == HEDDLE_OK && bytes != 0)
            status = groups->engine->copy(groups->device, rows, made->rows, bytes, stream);
        if (status == HEDDLE_OK) status = groups->engine->synchronize(groups->device, stream);
        return status;
    }
    if (status == HEDDLE_OK) status = find_begins(groups, scratch, (uint64_t *)out.memory, stream);
    if (status == HEDDLE_OK) status = hd_take_back(groups->device, &out, stream);
    if (status == HEDDLE_OK)
        status = rows_in_order(groups, (const uint64_t *)out.memory, rows, stream);
    return status;
}

heddle_status heddle_groups_rows(heddle_groups *groups, uint64_t *begins, void *rows, void *stream)
{
    hd_scratch scratch = {NULL, 0, {NULL}};
    heddle_status status = hd_check_groups(groups, stream, "groups_rows");
    if (status == HEDDLE_OK)
        status = hd_check_array(begins, groups->made.groups + 1, sizeof *begins, "begins");
    if (status == HEDDLE_OK)
        status = hd_check_array(rows, groups->made.n, hd_row_width(groups), "rows");
    if (status != HEDDLE_OK) return status;
    status = hd_row_groups_order(groups->device, &groups->made, stream);
    if (status != HEDDLE_OK) return status;
    scratch.device = groups->device;
    status = fetch_rows(groups, &scratch, begins, rows, stream);
    hd_scratch_free(&scratch);
    return status;
}

/* ----------------------------------------------------------------------------------------- top */

static heddle_status find_top(heddle_groups *groups, hd_scratch *scratch, uint64_t count,
                              uint64_t *numbers, void *stream)
{
    const uint64_t all = groups->made.groups;
    void *sizes = NULL, *work = NULL;
    hd_lent out;
    HD_TRY(hd_scratch_take(scratch, all * sizeof(uint64_t), &sizes));
    HD_TRY(hd_scratch_take(scratch, groups->engine->columns->work(groups->device, all), &work));
    HD_TRY(hd_lend_out(scratch, numbers, count * sizeof *numbers, &out));
    HD_TRY(describe(groups, scratch, NULL, (uint64_t *)sizes, stream));
    HD_TRY(groups->engine->columns->top(groups->device, (const uint64_t *)sizes, all, count,
                                        (uint64_t *)out.memory, work, stream));
    return hd_take_back(groups->device, &out, stream);
}

heddle_status heddle_groups_top(heddle_groups *groups, uint64_t k, uint64_t *numbers,
                                uint64_t *count, void *stream)
{
    hd_scratch scratch = {NULL, 0, {NULL}};
    uint64_t found;
    heddle_status status = hd_check_groups(groups, stream, "groups_top");
    if (status != HEDDLE_OK) return status;
    if (count == NULL)
        return hd_fail(HEDDLE_ERROR_INVALID, "groups_top: there is no place for the count");
    found = k < groups->made.groups ? k : groups->made.groups;
    status = hd_check_array(numbers, found, sizeof *numbers, "numbers");
    if (status != HEDDLE_OK) return status;
    scratch.device = groups->device;
    if (found != 0) status = find_top(groups, &scratch, found, numbers, stream);
    hd_scratch_free(&scratch);
    if (status == HEDDLE_OK) *count = found;
    return status;
}
