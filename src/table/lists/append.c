/*
 * append.c: small batches for bucket lists, value by value: every key gets a list, then all values
 * are appended at the same time (scheme/bucket_list.h). Values that the chunk had no bucket for go
 * by runs, for which memory is added. This is the way a kernel of one's own goes; a large batch is
 * faster by runs.
 */
#include <string.h>

#include "base/error.h"
#include "table/lists/lists.h"

/*
 * A call of hd_lists_append, and what it needs, so that nothing is missing once lists are being
 * changed.
 */
typedef struct appending {
    hd_list_addition *a;
    uint8_t *flags;    /* of every row */
    uint64_t *rows;    /* some of them */
    void *keys;        /* of these */
    void *values;      /* of these */
    uint8_t *outcomes; /* of these */
    uint64_t *count;   /* device memory */
    void *work;
} appending;

static heddle_status take_all(appending *p)
{
    hd_list_addition *a = p->a;
    heddle_table *table = a->table;
    const uint64_t n = a->rows.n;
    const hd_list_need needs[] = {
        {n * sizeof *a->runs.numbers, (void **)&a->runs.numbers},
        {n, (void **)&p->flags},
        {n * sizeof *p->rows, (void **)&p->rows},
        {n * hd_key_width(table), &p->keys},
        {n * hd_value_width(table), &p->values},
        {n, (void **)&p->outcomes},
        {sizeof *p->count, (void **)&p->count},
        {table->engine->columns->work(table->device, n), &p->work},
    };
    return HD_LISTS_TAKE(a->scratch, needs);
}

/* Appends where the chunk has room; p->flags say where it had none. */
static heddle_status append_values(appending *p)
{
    hd_list_addition *a = p->a;
    heddle_table *table = a->table;
    const uint32_t chunk = hd_lists_chunk(a->storage, UINT64_MAX);
    const hd_list_pool pool = hd_lists_pool(table, a->storage, chunk);
    const hd_list_appends appends = {a->runs.numbers, a->rows.values, a->rows.n, p->flags};
    uint64_t cursor = pool.used;
    HD_TRY(table->engine->copy(table->device, pool.cursor, &cursor, sizeof cursor, a->stream));
    HD_TRY(table->engine->fill(table->device, p->count, 0, sizeof *p->count, a->stream));
    HD_TRY(hd_lists(table)->ops->append(hd_on(table->device, NULL, a->stream), &pool, &appends,
                                        p->count));
    HD_TRY(hd_read_back(table, &a->inserted, p->count, sizeof *p->count, a->stream));
    HD_TRY(hd_read_back(table, &cursor, pool.cursor, sizeof cursor, a->stream));
    a->storage->pairs += a->inserted;
    if (chunk < a->storage->chunk_count)
        a->storage->chunks[chunk].used = cursor < pool.room ? cursor : pool.room;
    return HEDDLE_OK;
}

/* The flagged rows, m of them, and their keys. */
static heddle_status select_flagged(appending *p, uint64_t *m)
{
    hd_list_addition *a = p->a;
    heddle_table *table = a->table;
    const hd_column_ops *columns = table->engine->columns;
    const hd_site on = hd_on(table->device, p->work, a->stream);
    HD_TRY(columns->select(on, hd_flags_of(p->flags, a->rows.n, true), p->rows, 64, p->count));
    HD_TRY(hd_read_back(table, m, p->count, sizeof *m, a->stream));
    return columns->gather(on, hd_elements_of(a->keys, hd_key_width(table)),
                           hd_at_rows(p->rows, 64, *m), p->keys);
}

/* The values that found no room, by runs. */
static heddle_status add_rest(appending *p)
{
    hd_list_addition *a = p->a;
    heddle_table *table = a->table;
    const hd_column_ops *columns = table->engine->columns;
    const hd_site on = hd_on(table->device, NULL, a->stream);
    uint8_t *outcomes = a->rows.outcomes;
    hd_request pairs = {.keys = p->keys, .values = p->values, .stream = a->stream};
    hd_list_addition rest = {.table = table,
                             .storage = a->storage,
                             .grows = a->grows,
                             .scratch = a->scratch,
                             .stream = a->stream};
    HD_TRY(select_flagged(p, &pairs.n));
    const hd_row_numbers left = hd_at_rows(p->rows, 64, pairs.n);
    HD_TRY(columns->gather(on, hd_elements_of(a->rows.values, hd_value_width(table)), left,
                           p->values));
    if (outcomes != NULL) {
        rest.rows.outcomes = p->outcomes;
        HD_TRY(table->engine->fill(table->device, p->outcomes, HEDDLE_OUTCOME_FAILED, pairs.n,
                                   a->stream));
    }
    heddle_status status = hd_lists_group(&rest, &pairs);
    if (status == HEDDLE_OK) status = hd_lists_add_runs(&rest);
    a->inserted += rest.inserted;
    if (outcomes != NULL)
        (void)columns->scatter(on, hd_elements_of(p->outcomes, 1), left, outcomes);
    return status;
}

/* Keys whose list got no value leave the table of keys. */
static heddle_status drop_empty(appending *p)
{
    hd_list_addition *a = p->a;
    heddle_table *table = a->table, *keys = a->storage->keys;
    const hd_list_pool pool = hd_lists_pool(table, a->storage, HD_LIST_CHUNKS);
    hd_request r = {.keys = p->keys, .waits = true, .stream = a->stream};
    HD_TRY(hd_lists(table)->ops->flag_empty(hd_on(table->device, NULL, a->stream), &pool,
                                            hd_list_numbers_of(a->runs.numbers, a->rows.n),
                                            p->flags));
    HD_TRY(select_flagged(p, &r.n));
    if (r.n != 0) HD_TRY(keys->kind->erase(keys, &r));
    a->storage->key_count -= r.counts.at[HD_FOUND];
    return HEDDLE_OK;
}

heddle_status hd_lists_append(hd_list_addition *a, const void *keys)
{
    heddle_table *table = a->table;
    const uint64_t n = a->rows.n;
    appending p = {.a = a};
    hd_request ask = {.keys = keys, .n = n, .stream = a->stream};
    a->keys = keys;
    a->runs.count = n;
    HD_TRY(take_all(&p));
    HD_TRY(hd_lists_numbers(table, a->storage, &ask, a->runs.numbers));
    a->probes += ask.counts.at[HD_PROBES];
    if (ask.counts.at[HD_FOUND] != ask.counts.at[HD_ASKED]) HD_TRY(hd_lists_admit(a, true));
    if (a->rows.outcomes != NULL)
        HD_TRY(table->engine->fill(table->device, a->rows.outcomes, HEDDLE_OUTCOME_INSERTED, n,
                                   a->stream));
    HD_TRY(append_values(&p));
    if (a->inserted == n) return HEDDLE_OK;
    const heddle_status status = add_rest(&p);
    if (a->inserted < n) drop_empty(&p);
    return status;
}
