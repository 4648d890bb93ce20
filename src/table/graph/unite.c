/*
 * unite.c: bringing the equal keys of a batch together, for sets and counters: the engine groups
 * the rows, and each group becomes one key with its count or the sum of its values. Scratch memory:
 * what table/batch_groups.h takes, and up to 48 bytes for every distinct key.
 */
#include <string.h>

#include "base/error.h"
#include "table/batch_groups.h"
#include "table/graph/graph.h"

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
    HD_TRY(take(u, n, 2, (void **)&flags));
    HD_TRY(take(u, n, sizeof *rows, (void **)&rows));
    HD_TRY(take(u, 1, sizeof *count, (void **)&count));
    HD_TRY(take(u, columns->work(device, 2 * n), 1, &work));
    HD_TRY(u->table->engine->fill(device, flags, 1, n, u->stream));
    HD_TRY(columns->rank(device, flags, n, rows, 64, work, u->stream));
    HD_TRY(columns->scatter(device, NULL, 2, rows, 64, n, flags, u->stream));
    HD_TRY(columns->select(device, flags, 2 * n, true, rows, 64, count, work, u->stream));
    return columns->gather(device, numbers, 4, rows, 64, n, halves, u->stream);
}

/* A counter's values: how large a group is, or the sum of what it was given. */
static heddle_status sum_values(const uniting *u, const void *values, uint64_t *counts,
                                void **united)
{
    const uint64_t groups = u->grouped.groups;
    const bool narrow = u->table->options.value_bits == 32;
    *united = counts;
    if (values != NULL) {
        hd_reduce reduce;
        memset(&reduce, 0, sizeof reduce);
        reduce.aggregate = HEDDLE_AGGREGATE_SUM;
        reduce.type = narrow ? HEDDLE_TYPE_U32 : HEDDLE_TYPE_U64;
        reduce.column = values;
        reduce.out = counts;
        HD_TRY(u->columns->reduce(u->table->device, &u->grouped, &reduce, u->work, u->stream));
    }
    if (!narrow) return HEDDLE_OK;
    HD_TRY(take(u, groups, sizeof(uint32_t), united));
    return low_halves(u, counts, groups, *united);
}

heddle_status hd_graph_unite(heddle_table *table, const hd_request *r, hd_scratch *scratch,
                             hd_united *united)
{
    const uint32_t kw = hd_key_width(table);
    const hd_mix *mix = &hd_graph_of(table)->storage.graph.mix;
    uniting u = {.table = table, .columns = table->engine->columns, .scratch = scratch};
    uint64_t *counts = NULL;
    u.stream = r->stream;
    memset(united, 0, sizeof *united);
    if (r->n == 0) return HEDDLE_OK;
    HD_TRY(hd_batch_group(table, r, mix, scratch, &u.grouped, &u.work));
    united->n = u.grouped.groups;
    united->row_bits = u.grouped.row_bits;
    HD_TRY(take(&u, united->n, united->row_bits / 8, &united->firsts));
    HD_TRY(take(&u, united->n, sizeof *counts, (void **)&counts));
    HD_TRY(take(&u, united->n, kw, &united->keys));
    HD_TRY(u.columns->describe(table->device, &u.grouped, united->firsts, NULL, counts, u.stream));
    HD_TRY(u.columns->gather(table->device, r->keys, kw, united->firsts, united->row_bits,
                             united->n, united->keys, u.stream));
    if (hd_value_width(table) != 0) HD_TRY(sum_values(&u, r->values, counts, &united->values));
    return HEDDLE_OK;
}
