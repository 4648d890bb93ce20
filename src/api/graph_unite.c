/*
 * graph_unite.c: bringing the equal keys of a batch together, for sets and counters: the engine groups
 * the rows, and each group becomes one key with its count or the sum of its values. Scratch memory:
 * what the grouping needs (hd_relate_ops.group_work), a row number and a byte for every row, and up to
 * 48 bytes for every distinct key.
 */
#include <string.h>

#include "api/graph_table.h"

/* A call of hd_graph_unite. */
typedef struct uniting {
    heddle_table *table;
    const hd_column_ops *columns;
    hd_scratch *scratch;
    hd_grouped grouped;
    void *work; /* of the columns' steps */
    void *stream;
} uniting;

static heddle_status take(const uniting *u, uint64_t n, uint64_t width, void **memory)
{
    return hd_scratch_take(u->scratch, n * width, memory);
}

/* Rows group by group, and a byte for each that says where groups begin. */
static heddle_status group_rows(uniting *u, const void *keys, uint64_t n, uint8_t **heads)
{
    heddle_device *device = u->table->device;
    const uint32_t row_bits = n < UINT32_MAX ? 32 : 64;
    const hd_relate_ops *ops = u->table->engine->relate(u->table->options.key_bits, row_bits);
    hd_group_job job;
    heddle_status status;
    memset(&job, 0, sizeof job);
    if (ops == NULL)
        return hd_fail(HEDDLE_ERROR_UNSUPPORTED, "no groups are compiled for this device");
    job.keys = keys;
    job.n = n;
    job.mix = hd_graph_of(u->table)->storage.graph.mix;
    status = take(u, n, row_bits / 8, &job.rows);
    if (status == HEDDLE_OK) status = take(u, n, 1, (void **)&job.heads);
    if (status == HEDDLE_OK) status = take(u, ops->group_work(device, n), 1, &job.work);
    if (status == HEDDLE_OK) status = ops->group(device, &job, u->stream);
    u->grouped.rows = job.rows;
    u->grouped.row_bits = row_bits;
    u->grouped.n = n;
    *heads = job.heads;
    return status;
}

/* Where the groups begin, and at last where they end. */
static heddle_status find_starts(uniting *u, const uint8_t *heads)
{
    heddle_device *device = u->table->device;
    const uint64_t n = u->grouped.n;
    uint64_t *count = NULL, *starts = NULL;
    heddle_status status = take(u, 1, sizeof *count, (void **)&count);
    if (status == HEDDLE_OK) status = take(u, u->columns->work(device, n), 1, &u->work);
    if (status == HEDDLE_OK)
        status = u->columns->select(device, heads, n, true, NULL, 64, count, u->work, u->stream);
    if (status == HEDDLE_OK)
        status = hd_read_back(u->table, &u->grouped.groups, count, sizeof *count, u->stream);
    if (status == HEDDLE_OK)
        status = take(u, u->grouped.groups + 1, sizeof *starts, (void **)&starts);
    if (status == HEDDLE_OK)
        status = u->columns->select(device, heads, n, true, starts, 64, count, u->work, u->stream);
    if (status == HEDDLE_OK)
        status = u->table->engine->copy(device, starts + u->grouped.groups, &u->grouped.n, sizeof n,
                                        u->stream);
    u->grouped.starts = starts;
    return status;
}

/*
 * The low halves of 64-bit numbers. They are every second of as many 32-bit numbers, whose places are
 * those of the ones among bytes 1, 0, 1, 0, ...
 */
static heddle_status low_halves(const uniting *u, const uint64_t *numbers, uint64_t n, void *halves)
{
    heddle_device *device = u->table->device;
    const hd_column_ops *columns = u->columns;
    uint8_t *flags = NULL;
    uint64_t *rows = NULL, *count = NULL;
    void *work = NULL;
    heddle_status status = take(u, n, 2, (void **)&flags);
    if (status == HEDDLE_OK) status = take(u, n, sizeof *rows, (void **)&rows);
    if (status == HEDDLE_OK) status = take(u, 1, sizeof *count, (void **)&count);
    if (status == HEDDLE_OK) status = take(u, columns->work(device, 2 * n), 1, &work);
    if (status == HEDDLE_OK) status = u->table->engine->fill(device, flags, 1, n, u->stream);
    if (status == HEDDLE_OK) status = columns->rank(device, flags, n, rows, 64, work, u->stream);
    if (status == HEDDLE_OK)
        status = columns->scatter(device, NULL, 2, rows, 64, n, flags, u->stream);
    if (status == HEDDLE_OK)
        status = columns->select(device, flags, 2 * n, true, rows, 64, count, work, u->stream);
    if (status == HEDDLE_OK)
        status = columns->gather(device, numbers, 4, rows, 64, n, halves, u->stream);
    return status;
}

/* A counter's values: how large a group is, or the sum of what it was given. */
static heddle_status sum_values(const uniting *u, const void *values, uint64_t *counts,
                                void **united)
{
    const uint64_t groups = u->grouped.groups;
    const bool narrow = u->table->options.value_bits == 32;
    heddle_status status = HEDDLE_OK;
    if (values != NULL) {
        hd_reduce reduce;
        memset(&reduce, 0, sizeof reduce);
        reduce.aggregate = HEDDLE_AGGREGATE_SUM;
        reduce.type = narrow ? HEDDLE_TYPE_U32 : HEDDLE_TYPE_U64;
        reduce.column = values;
        reduce.out = counts;
        status = u->columns->reduce(u->table->device, &u->grouped, &reduce, u->work, u->stream);
    }
    *united = counts;
    if (status != HEDDLE_OK || !narrow) return status;
    status = take(u, groups, sizeof(uint32_t), united);
    return status == HEDDLE_OK ? low_halves(u, counts, groups, *united) : status;
}

heddle_status hd_graph_unite(heddle_table *table, const void *keys, const void *values, uint64_t n,
                             hd_scratch *scratch, hd_united *united, void *stream)
{
    uniting u = {table, table->engine->columns, scratch, {NULL, 0, 0, NULL, 0, NULL, NULL}, NULL,
                 stream};
    uint64_t *counts = NULL;
    uint8_t *heads = NULL;
    heddle_status status;
    memset(united, 0, sizeof *united);
    if (n == 0) return HEDDLE_OK;
    status = group_rows(&u, keys, n, &heads);
    if (status == HEDDLE_OK) status = find_starts(&u, heads);
    if (status != HEDDLE_OK) return status;
    united->n = u.grouped.groups;
    united->row_bits = u.grouped.row_bits;
    status = take(&u, united->n, united->row_bits / 8, &united->firsts);
    if (status == HEDDLE_OK) status = take(&u, united->n, sizeof *counts, (void **)&counts);
    if (status == HEDDLE_OK) status = take(&u, united->n, hd_key_width(table), &united->keys);
    if (status == HEDDLE_OK)
        status =
            u.columns->describe(table->device, &u.grouped, united->firsts, NULL, counts, stream);
    if (status == HEDDLE_OK)
        status = u.columns->gather(table->device, keys, hd_key_width(table), united->firsts,
                                   united->row_bits, united->n, united->keys, stream);
    if (status == HEDDLE_OK && hd_value_width(table) != 0)
        status = sum_values(&u, values, counts, &united->values);
    return status;
}
