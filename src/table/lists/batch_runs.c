/*
 * batch_runs.c: brings a batch into runs of equal keys for bucket lists: the engine groups the rows, and
 * every group is a run. Scratch memory: what table/batch_groups.h takes, and a row number and a key for every run.
 */
#include "table/batch_groups.h"
#include "table/lists/lists.h"

/* The key of every run. */
static heddle_status find_keys(hd_list_addition *a, const hd_grouped *grouped, const void *keys)
{
    heddle_table *table = a->table;
    const hd_column_ops *columns = table->engine->columns;
    void *firsts = NULL, *run_keys = NULL;
    heddle_status status =
        hd_scratch_take(a->scratch, a->runs.count * a->rows.row_bits / 8, &firsts);
    if (status == HEDDLE_OK)
        status = hd_scratch_take(a->scratch, a->runs.count * hd_key_width(table), &run_keys);
    if (status == HEDDLE_OK)
        status = columns->describe(table->device, grouped, firsts, NULL, NULL, a->stream);
    if (status == HEDDLE_OK)
        status = columns->gather(table->device, keys, hd_key_width(table), firsts, a->rows.row_bits,
                                 a->runs.count, run_keys, a->stream);
    a->keys = run_keys;
    return status;
}

heddle_status hd_lists_group(hd_list_addition *a, const void *keys, const void *values, uint64_t n)
{
    hd_grouped grouped;
    hd_mix mix;
    void *work = NULL;
    heddle_status status;
    hd_mix_init(&mix, a->table->options.seed);
    status = hd_batch_group(a->table, &mix, keys, n, a->scratch, &grouped, &work, a->stream);
    a->rows.values = values;
    a->rows.n = n;
    a->rows.rows = grouped.rows;
    a->rows.row_bits = grouped.row_bits;
    a->runs.starts = grouped.starts;
    a->runs.count = grouped.groups;
    return status == HEDDLE_OK ? find_keys(a, &grouped, keys) : status;
}
