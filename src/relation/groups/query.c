/*
 * query.c: what groups know of their rows. Every call is one or two column steps over the grouped
 * rows; results are written in the engine's order and then arranged.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/team.h"
#include "host/host.h"
#include "relation/groups/groups.h"
#include "table/table.h"

/* A call: the scratch goes when it returns. */
typedef struct question {
    heddle_groups *groups;
    hd_scratch *scratch;
    void *stream;
} question;

static heddle_status copy(const question *q, void *to, const void *from, uint64_t bytes)
{
    return q->groups->engine->copy(q->groups->device, to, from, bytes, q->stream);
}

static heddle_status synchronize(const question *q)
{
    return q->groups->engine->synchronize(q->groups->device, q->stream);
}

static heddle_status take_back(const question *q, const hd_lent *lent)
{
    return hd_take_back(q->groups->device, lent, q->stream);
}

static heddle_status describe_distinct(const question *q, void *firsts, uint64_t *sizes)
{
    const hd_row_groups *made = &q->groups->made;
    if (firsts != NULL) HD_TRY(hd_fetch_distinct(made, HD_DISTINCT_FIRSTS, firsts, q->stream));
    return sizes != NULL ? hd_fetch_distinct(made, HD_DISTINCT_SIZES, sizes, q->stream) : HEDDLE_OK;
}

/* Describes all groups: first rows or sizes, in the caller's order, to device memory. */
static heddle_status describe(const question *q, void *firsts, uint64_t *sizes)
{
    heddle_groups *groups = q->groups;
    hd_grouped grouped;
    hd_arrange f, s;
    if (hd_groups_distinct(groups)) return describe_distinct(q, firsts, sizes);
    if (sizes != NULL) HD_TRY(hd_row_groups_count(&groups->made, q->stream));
    grouped = hd_row_groups_view(&groups->made);
    HD_TRY(hd_arrange_begin(groups, q->scratch, firsts, hd_row_width(groups), &f));
    HD_TRY(hd_arrange_begin(groups, q->scratch, sizes, sizeof *sizes, &s));
    HD_TRY(groups->engine->columns->describe(hd_on(groups->device, NULL, q->stream), &grouped,
                                             f.memory, NULL, (uint64_t *)s.memory));
    HD_TRY(hd_arrange_end(groups, &f, q->stream));
    return hd_arrange_end(groups, &s, q->stream);
}

heddle_status heddle_groups_first(heddle_groups *groups, void *rows, void *stream)
{
    hd_lent out;
    HD_TRY(hd_check_asked(groups, HEDDLE_GROUPS_FIRST, stream, "groups_first"));
    HD_TRY(hd_check_array(rows, groups->made.groups, hd_row_width(groups), "rows"));
    if (groups->made.groups == 0) return HEDDLE_OK;
    HD_SCRATCH(scratch, groups->device);
    const question q = {groups, &scratch, stream};
    HD_TRY(hd_lend_out(&scratch, rows, groups->made.groups * hd_row_width(groups), &out));
    HD_TRY(describe(&q, out.memory, NULL));
    return take_back(&q, &out);
}

heddle_status heddle_groups_sizes(heddle_groups *groups, uint64_t *sizes, void *stream)
{
    hd_lent out;
    HD_TRY(hd_check_asked(groups, HEDDLE_GROUPS_SIZES, stream, "groups_sizes"));
    HD_TRY(hd_check_array(sizes, groups->made.groups, sizeof *sizes, "sizes"));
    if (groups->made.groups == 0) return HEDDLE_OK;
    HD_SCRATCH(scratch, groups->device);
    const question q = {groups, &scratch, stream};
    HD_TRY(hd_lend_out(&scratch, sizes, groups->made.groups * sizeof *sizes, &out));
    HD_TRY(describe(&q, NULL, (uint64_t *)out.memory));
    return take_back(&q, &out);
}

/* ---------------------------------------------------------------------------------------- keys */

/* Elements of a column, the caller's, at one row for each group. */
static heddle_status gather_at(const question *q, const void *column, uint32_t width,
                               const void *rows, void *user)
{
    const hd_row_groups *made = &q->groups->made;
    const void *lent;
    hd_lent out;
    HD_TRY(hd_lend_in(q->scratch, column, made->n * width, &lent, q->stream));
    HD_TRY(hd_lend_out(q->scratch, user, made->groups * width, &out));
    HD_TRY(q->groups->engine->columns->gather(
        hd_on(made->device, NULL, q->stream), hd_elements_of(lent, width),
        hd_at_rows(rows, made->row_bits, made->groups), out.memory));
    return take_back(q, &out);
}

/* No group of the column is null. */
static heddle_status all_valid(const question *q, uint8_t *valid)
{
    const hd_row_groups *made = &q->groups->made;
    hd_lent flags;
    if (valid == NULL) return HEDDLE_OK;
    HD_TRY(hd_lend_out(q->scratch, valid, made->groups, &flags));
    HD_TRY(q->groups->engine->fill(made->device, flags.memory, 1, made->groups, q->stream));
    return take_back(q, &flags);
}

static heddle_status fetch_distinct_keys(const question *q, void *keys)
{
    const hd_row_groups *made = &q->groups->made;
    hd_lent out;
    HD_TRY(hd_lend_out(q->scratch, keys, made->groups * (made->key_bits / 8), &out));
    HD_TRY(hd_fetch_distinct(made, HD_DISTINCT_KEYS, out.memory, q->stream));
    return take_back(q, &out);
}

static heddle_status fetch_keys(const question *q, const heddle_column *column, void *keys,
                                uint8_t *valid)
{
    const heddle_groups *groups = q->groups;
    void *firsts = NULL;
    if (hd_groups_distinct(groups)) HD_TRY(fetch_distinct_keys(q, keys));
    else {
        HD_TRY(hd_scratch_take(q->scratch, groups->made.groups * hd_row_width(groups), &firsts));
        HD_TRY(describe(q, firsts, NULL));
        HD_TRY(gather_at(q, column->data, column->width, firsts, keys));
    }
    if (valid == NULL || column->valid == NULL) return all_valid(q, valid);
    return gather_at(q, column->valid, 1, firsts, valid);
}

heddle_status heddle_groups_keys(heddle_groups *groups, uint32_t column, void *keys, uint8_t *valid,
                                 void *stream)
{
    HD_TRY(hd_check_groups(groups, stream, "groups_keys"));
    if (column >= groups->columns)
        return hd_fail(HEDDLE_ERROR_INVALID, "groups_keys: there is no column %u among %u", column,
                       groups->columns);
    if (groups->made.groups == 0) return HEDDLE_OK;
    if (keys == NULL)
        return hd_fail(HEDDLE_ERROR_INVALID, "groups_keys: the array of keys is NULL");
    HD_SCRATCH(scratch, groups->device);
    const question q = {groups, &scratch, stream};
    return fetch_keys(&q, &groups->keys[column], keys, valid);
}

/* ---------------------------------------------------------------------------------------- rows */

heddle_status heddle_groups_of_rows(heddle_groups *groups, void *numbers, void *stream)
{
    hd_grouped grouped;
    hd_lent out;
    HD_TRY(hd_check_asked(groups, HEDDLE_GROUPS_ROWS, stream, "groups_of_rows"));
    HD_TRY(hd_check_array(numbers, groups->made.n, hd_row_width(groups), "numbers"));
    if (groups->made.n == 0) return HEDDLE_OK;
    HD_SCRATCH(scratch, groups->device);
    grouped = hd_row_groups_view(&groups->made);
    HD_TRY(hd_lend_out(&scratch, numbers, groups->made.n * hd_row_width(groups), &out));
    HD_TRY(groups->engine->columns->number(hd_on(groups->device, NULL, stream), &grouped,
                                           groups->names, out.memory));
    return hd_take_back(groups->device, &out, stream);
}

/* Where groups begin in the caller's order: groups + 1 numbers of device memory. */
static heddle_status find_begins(const question *q, uint64_t *begins)
{
    const hd_column_ops *columns = q->groups->engine->columns;
    const uint64_t count = q->groups->made.groups;
    void *work = NULL;
    HD_TRY(hd_scratch_take(q->scratch, columns->work(q->groups->device, count), &work));
    HD_TRY(describe(q, NULL, begins));
    return columns->scan(hd_on(q->groups->device, work, q->stream), begins, count);
}

/* What move_groups reads, in host memory. */
typedef struct host_groups {
    const void *order, *rows;
    const void *starts, *begins; /* uint64_t */
} host_groups;

/* One group after the other, on the host: no step of an engine moves groups as a whole. */
static void move_groups(const hd_row_groups *made, const host_groups *from, int threads, void *out)
{
    const uint64_t *starts = (const uint64_t *)from->starts;
    const uint64_t *begins = (const uint64_t *)from->begins;
    const uint32_t width = made->row_bits / 8;
#pragma omp parallel for schedule(dynamic, 1024) num_threads(hd_team(threads))
    for (uint64_t g = 0; g < made->groups; g++) {
        const uint64_t at =
            width == 4 ? ((const uint32_t *)from->order)[g] : ((const uint64_t *)from->order)[g];
        memcpy((char *)out + begins[g] * width, (const char *)from->rows + starts[at] * width,
               (begins[g + 1] - begins[g]) * width);
    }
}

/* Host memory, the caller's. */
static heddle_status take_host(uint64_t bytes, void **memory)
{
    *memory = hd_allocate(bytes);
    return *memory != NULL
               ? HEDDLE_OK
               : hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for the rows of groups in order");
}

static heddle_status to_host(const question *q, const void **memory, uint64_t bytes, void **copied)
{
    HD_TRY(take_host(bytes, copied));
    HD_TRY(copy(q, *copied, *memory, bytes));
    *memory = *copied;
    return synchronize(q);
}

/* The same where the host does not reach the memory of the device: all of it is copied there and back. */
static heddle_status move_by_host(const question *q, host_groups from, void *user)
{
    const hd_row_groups *made = &q->groups->made;
    const uint64_t width = hd_row_width(q->groups);
    const uint64_t ends = (made->groups + 1) * sizeof(uint64_t);
    void *order HD_FREED = NULL;
    void *starts HD_FREED = NULL;
    void *rows HD_FREED = NULL;
    void *begins HD_FREED = NULL;
    void *out HD_FREED = NULL;
    HD_TRY(to_host(q, &from.order, made->groups * width, &order));
    HD_TRY(to_host(q, &from.starts, ends, &starts));
    HD_TRY(to_host(q, &from.rows, made->n * width, &rows));
    HD_TRY(to_host(q, &from.begins, ends, &begins));
    HD_TRY(take_host(made->n * width, &out));
    move_groups(made, &from, hd_host_threads(made->device), out);
    HD_TRY(copy(q, user, out, made->n * width));
    return synchronize(q);
}

static heddle_status fetch_rows(const question *q, uint64_t *begins, void *rows)
{
    const heddle_groups *groups = q->groups;
    const hd_row_groups *made = &groups->made;
    const uint64_t bytes = made->n * hd_row_width(groups);
    hd_lent out;
    if (groups->order == NULL) {
        HD_TRY(copy(q, begins, made->starts, (made->groups + 1) * sizeof *begins));
        if (bytes != 0) HD_TRY(copy(q, rows, made->rows, bytes));
        return synchronize(q);
    }
    HD_TRY(hd_lend_out(q->scratch, begins, (made->groups + 1) * sizeof *begins, &out));
    HD_TRY(find_begins(q, (uint64_t *)out.memory));
    HD_TRY(take_back(q, &out));
    const host_groups from = {groups->order, made->rows, made->starts, out.memory};
    if (!groups->engine->host_memory) return move_by_host(q, from, rows);
    move_groups(made, &from, hd_host_threads(made->device), rows);
    return HEDDLE_OK;
}

heddle_status heddle_groups_rows(heddle_groups *groups, uint64_t *begins, void *rows, void *stream)
{
    HD_TRY(hd_check_asked(groups, HEDDLE_GROUPS_ROWS, stream, "groups_rows"));
    HD_TRY(hd_check_array(begins, groups->made.groups + 1, sizeof *begins, "begins"));
    HD_TRY(hd_check_array(rows, groups->made.n, hd_row_width(groups), "rows"));
    HD_TRY(hd_row_groups_order(&groups->made, stream));
    HD_SCRATCH(scratch, groups->device);
    const question q = {groups, &scratch, stream};
    return fetch_rows(&q, begins, rows);
}

/* ----------------------------------------------------------------------------------------- top */

static heddle_status find_top(const question *q, uint64_t count, uint64_t *numbers)
{
    heddle_groups *groups = q->groups;
    const hd_column_ops *columns = groups->engine->columns;
    const uint64_t all = groups->made.groups;
    void *sizes = NULL;
    hd_lent out;
    HD_TRY(hd_scratch_take(q->scratch, all * sizeof(uint64_t), &sizes));
    HD_TRY(hd_lend_out(q->scratch, numbers, count * sizeof *numbers, &out));
    HD_TRY(describe(q, NULL, (uint64_t *)sizes));
    HD_TRY(columns->top(hd_on(groups->device, NULL, q->stream), (const uint64_t *)sizes, all, count,
                        (uint64_t *)out.memory));
    return take_back(q, &out);
}

heddle_status heddle_groups_top(heddle_groups *groups, uint64_t k, uint64_t *numbers,
                                uint64_t *count, void *stream)
{
    uint64_t found;
    HD_TRY(hd_check_asked(groups, HEDDLE_GROUPS_SIZES, stream, "groups_top"));
    if (count == NULL)
        return hd_fail(HEDDLE_ERROR_INVALID, "groups_top: there is no place for the count");
    found = k < groups->made.groups ? k : groups->made.groups;
    HD_TRY(hd_check_array(numbers, found, sizeof *numbers, "numbers"));
    HD_SCRATCH(scratch, groups->device);
    const question q = {groups, &scratch, stream};
    if (found != 0) HD_TRY(find_top(&q, found, numbers));
    *count = found;
    return HEDDLE_OK;
}
