/*
 * fold.c: folding the equal keys of a batch, for sets and counters: the engine groups
 * the rows, and each group becomes one key with its count or the sum of its values. Scratch memory:
 * what table/batch_groups.h takes, and up to 48 bytes for ones distinct key.
 */
#include <string.h>

#include "base/error.h"
#include "table/batch_groups.h"
#include "table/graph/graph.h"

/* A call of hd_graph_fold. */
typedef struct folding {
    heddle_table *table;
    const hd_column_ops *columns;
    hd_scratch *scratch;
    hd_batch_groups groups;
    void *stream;
} folding;

static heddle_status take(const folding *f, uint64_t n, uint64_t width, void **memory)
{
    return hd_scratch_take(f->scratch, n * width, memory);
}

/*
 * The low halves of 64-bit numbers. They are ones second of as many 32-bit numbers, whose places
 * are those of the ones among bytes 1, 0, 1, 0, ...
 */
static heddle_status low_halves(const folding *f, const uint64_t *numbers, uint64_t n, void *halves)
{
    heddle_device *device = f->table->device;
    const hd_column_ops *columns = f->columns;
    hd_site on = hd_on(device, NULL, f->stream);
    uint8_t *flags = NULL;
    uint64_t *rows = NULL, *count = NULL;
    HD_TRY(take(f, n, 2, (void **)&flags));
    HD_TRY(take(f, n, sizeof *rows, (void **)&rows));
    HD_TRY(take(f, 1, sizeof *count, (void **)&count));
    HD_TRY(take(f, columns->work(device, 2 * n), 1, &on.work));
    HD_TRY(f->table->engine->fill(device, flags, 1, n, f->stream));
    const hd_row_numbers ones = hd_at_rows(rows, 64, n);
    HD_TRY(columns->rank(on, flags, n, rows, 64));
    HD_TRY(columns->scatter(on, hd_elements_of(NULL, 2), ones, flags));
    HD_TRY(columns->select(on, hd_flags_of(flags, 2 * n, true), rows, 64, count));
    return columns->gather(on, hd_elements_of(numbers, 4), ones, halves);
}

/* A counter's values: how large a group is, or the sum of what it was given. */
static heddle_status sum_values(const folding *f, const void *values, uint64_t *counts,
                                void **folded)
{
    const uint64_t groups = f->groups.grouped.groups;
    const bool narrow = f->table->options.value_bits == 32;
    *folded = counts;
    if (values != NULL) {
        hd_reduce reduce;
        memset(&reduce, 0, sizeof reduce);
        reduce.aggregate = HEDDLE_AGGREGATE_SUM;
        reduce.type = narrow ? HEDDLE_TYPE_U32 : HEDDLE_TYPE_U64;
        reduce.column = values;
        reduce.out = counts;
        HD_TRY(f->columns->reduce(hd_on(f->table->device, f->groups.work, f->stream),
                                  &f->groups.grouped, &reduce));
    }
    if (!narrow) return HEDDLE_OK;
    HD_TRY(take(f, groups, sizeof(uint32_t), folded));
    return low_halves(f, counts, groups, *folded);
}

heddle_status hd_graph_fold(heddle_table *table, const hd_request *r, hd_scratch *scratch,
                            hd_folded *folded)
{
    const uint32_t kw = hd_key_width(table);
    const hd_mix *mix = &hd_graph_of(table)->storage.graph.mix;
    const hd_site on = hd_on(table->device, NULL, r->stream);
    folding f = {.table = table, .columns = table->engine->columns, .scratch = scratch};
    uint64_t *counts = NULL;
    f.stream = r->stream;
    memset(folded, 0, sizeof *folded);
    if (r->n == 0) return HEDDLE_OK;
    HD_TRY(hd_batch_group(table, r, mix, scratch, &f.groups));
    folded->n = f.groups.grouped.groups;
    folded->row_bits = f.groups.grouped.row_bits;
    HD_TRY(take(&f, folded->n, folded->row_bits / 8, &folded->firsts));
    HD_TRY(take(&f, folded->n, sizeof *counts, (void **)&counts));
    HD_TRY(take(&f, folded->n, kw, &folded->keys));
    HD_TRY(f.columns->describe(on, &f.groups.grouped, folded->firsts, NULL, counts));
    HD_TRY(f.columns->gather(on, hd_elements_of(r->keys, kw),
                             hd_at_rows(folded->firsts, folded->row_bits, folded->n),
                             folded->keys));
    if (hd_value_width(table) != 0) HD_TRY(sum_values(&f, r->values, counts, &folded->values));
    return HEDDLE_OK;
}
