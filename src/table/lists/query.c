/*
 * query.c: looking keys up in bucket lists, and erasing them. The table of keys names the list of every
 * key of a batch; the rest is asked of the lists. Scratch memory: the number of a list for every key, and copies
 * of host arrays. Where there is none for all keys, they come in pieces.
 */
#include <string.h>

#include "base/error.h"
#include "host/public_struct.h"
#include "host/stage.h"
#include "table/lists/lists.h"
#include "table/pieces.h"

/* A batch looked up. */
typedef struct query {
    heddle_table *table;
    const void *keys; /* device memory */
    uint64_t n;
    uint64_t *numbers;
    heddle_totals totals;
    hd_scratch scratch;
    void *stream;
} query;

/* Finds the lists of all keys. The scratch is to be freed also when this fails. */
static heddle_status query_begin(query *q, heddle_table *table, const void *keys, uint64_t n,
                                 uint8_t *found, void *stream)
{
    memset(q, 0, sizeof *q);
    q->table = table;
    q->n = n;
    q->scratch.device = table->device;
    q->stream = stream;
    HD_TRY(hd_lend_in(&q->scratch, keys, n * hd_key_width(table), &q->keys, stream));
    HD_TRY(hd_scratch_take(&q->scratch, n * sizeof *q->numbers, (void **)&q->numbers));
    return hd_lists_numbers(table, &hd_lists(table)->storage, q->keys, n, q->numbers, found,
                            &q->totals, stream);
}

/* Hands the sums to the caller, or keeps them for heddle_table_take_totals; several calls may do so at once. */
static void report(heddle_table *table, const heddle_totals *sums, heddle_totals *totals)
{
    uint64_t *at = table->settled.at;
    if (totals != NULL) {
        hd_write_totals(totals, sums);
        return;
    }
    __atomic_fetch_add(&at[HD_ASKED], sums->found + sums->absent, __ATOMIC_RELAXED);
    __atomic_fetch_add(&at[HD_FOUND], sums->found, __ATOMIC_RELAXED);
    __atomic_fetch_add(&at[HD_PROBES], sums->probes, __ATOMIC_RELAXED);
}

static heddle_status query_end(query *q, heddle_status status, heddle_totals *totals)
{
    if (status == HEDDLE_OK) report(q->table, &q->totals, totals);
    hd_scratch_free(&q->scratch);
    return status;
}

static hd_list_pool pool_of(const heddle_table *table)
{
    return hd_lists_pool(table, &hd_lists(table)->storage, HD_LIST_CHUNKS);
}

/* -------------------------------------------------------------------------------- find and contains */

/* The lists are not needed to know whether a key is there. */
static heddle_status contains(heddle_table *table, const void *keys, uint64_t n, uint8_t *found,
                              heddle_totals *totals, void *stream)
{
    heddle_totals sums = HEDDLE_TOTALS_INIT;
    HD_TRY(heddle_table_contains(hd_lists(table)->storage.keys, keys, n, found, &sums, stream));
    report(table, &sums, totals);
    return HEDDLE_OK;
}

/* One value of every key that is there, in device memory, over what was there before. */
static heddle_status find_values(query *q, void *values)
{
    heddle_table *table = q->table;
    const uint64_t bytes = q->n * hd_value_width(table);
    const hd_list_pool pool = pool_of(table);
    hd_lent out;
    HD_TRY(hd_lend_out(&q->scratch, values, bytes, &out));
    if (out.memory != out.user)
        HD_TRY(table->engine->copy(table->device, out.memory, values, bytes, q->stream));
    if (q->n != 0)
        HD_TRY(hd_lists(table)->ops->first(table->device, &pool, q->numbers, q->n, out.memory,
                                           q->stream));
    return hd_take_back(q->scratch.device, &out, q->stream);
}

/* hd_query_work */
static heddle_status find(const hd_query *all)
{
    query q;
    heddle_status status = query_begin(&q, all->table, all->keys, all->n, all->found, all->stream);
    if (status == HEDDLE_OK) status = find_values(&q, all->values);
    return query_end(&q, status, all->totals);
}

heddle_status hd_lists_find(heddle_table *table, const void *keys, uint64_t n, void *values,
                            uint8_t *found, heddle_totals *totals, void *stream)
{
    const hd_query all = {table, keys, n, values, found, NULL, totals, stream};
    if (values == NULL) return contains(table, keys, n, found, totals, stream);
    return hd_query_in_pieces(&all, find);
}

/* --------------------------------------------------------------------------------- count, retrieve */

/* hd_query_work */
static heddle_status count_values(const hd_query *all)
{
    heddle_table *table = all->table;
    const hd_list_pool pool = pool_of(table);
    hd_lent out;
    query q;
    heddle_status status = query_begin(&q, table, all->keys, all->n, NULL, all->stream);
    if (status == HEDDLE_OK)
        status = hd_lend_out(&q.scratch, all->matches, q.n * sizeof *all->matches, &out);
    if (status == HEDDLE_OK && q.n != 0)
        status = hd_lists(table)->ops->lengths(table->device, &pool, q.numbers, q.n,
                                               (uint64_t *)out.memory, q.stream);
    if (status == HEDDLE_OK) status = hd_take_back(q.scratch.device, &out, q.stream);
    return query_end(&q, status, all->totals);
}

heddle_status hd_lists_count(heddle_table *table, const void *keys, uint64_t n, uint64_t *matches,
                             heddle_totals *totals, void *stream)
{
    const hd_query all = {table, keys, n, NULL, NULL, matches, totals, stream};
    return hd_query_in_pieces(&all, count_values);
}

/* Where the values of every key begin, in device memory, and how many there are. */
static heddle_status find_offsets(query *q, uint64_t *offsets, uint64_t *count)
{
    heddle_table *table = q->table;
    const hd_column_ops *columns = table->engine->columns;
    const hd_list_pool pool = pool_of(table);
    void *work = NULL;
    HD_TRY(hd_scratch_take(&q->scratch, columns->work(table->device, q->n), &work));
    if (q->n != 0)
        HD_TRY(hd_lists(table)->ops->lengths(table->device, &pool, q->numbers, q->n, offsets,
                                             q->stream));
    HD_TRY(columns->scan(table->device, offsets, q->n, work, q->stream));
    return hd_read_back(table, count, offsets + q->n, sizeof *count, q->stream);
}

static heddle_status write_values(query *q, const uint64_t *offsets, uint64_t count, void *values)
{
    heddle_table *table = q->table;
    const hd_list_pool pool = pool_of(table);
    hd_lent out;
    HD_TRY(hd_lend_out(&q->scratch, values, count * hd_value_width(table), &out));
    if (count != 0) {
        const hd_list_fetch all = {q->numbers, offsets, q->n, 0, count, out.memory, NULL, 0, NULL};
        HD_TRY(hd_lists(table)->ops->fetch(table->device, &pool, &all, q->stream));
    }
    return hd_take_back(q->scratch.device, &out, q->stream);
}

/* hd_retrieve_work */
static heddle_status retrieve(hd_retrieve *all)
{
    hd_lent out;
    query q;
    heddle_status status = query_begin(&q, all->table, all->keys, all->n, NULL, all->stream);
    if (status == HEDDLE_OK)
        status = hd_lend_out(&q.scratch, all->offsets, (q.n + 1) * sizeof *all->offsets, &out);
    if (status == HEDDLE_OK) status = find_offsets(&q, (uint64_t *)out.memory, all->count);
    if (status == HEDDLE_OK) status = hd_take_back(q.scratch.device, &out, q.stream);
    if (status == HEDDLE_OK) {
        if (!all->known) report(q.table, &q.totals, NULL);
        all->known = true;
        if (all->values != NULL) status = hd_retrieve_fits(all);
    }
    if (status == HEDDLE_OK && all->values != NULL)
        status = write_values(&q, (const uint64_t *)out.memory, *all->count, all->values);
    hd_scratch_free(&q.scratch);
    return status;
}

heddle_status hd_lists_retrieve(heddle_table *table, const void *keys, uint64_t n,
                                uint64_t *offsets, void *values, uint64_t capacity, uint64_t *count,
                                void *stream)
{
    hd_retrieve all = {table, keys, n, offsets, values, capacity, count, stream, false};
    return hd_retrieve_in_pieces(&all, retrieve);
}

/* ------------------------------------------------------------------------------------------- erase */

#define ERASE_MIN (UINT64_C(1) << 10) /* keys of a piece, at least */

/* An erasure: so many keys at a time, in memory that is taken before any of them goes. */
typedef struct erasure {
    query q; /* of a piece */
    uint64_t piece;
    void *keys;     /* NULL: the device can read the caller's */
    uint8_t *found; /* NULL: it can write to the caller's */
    uint64_t *sums;
} erasure;

static heddle_status erasure_take(erasure *e, const void *keys, const uint8_t *found)
{
    heddle_table *table = e->q.table;
    const hd_span key_span = {(void *)(uintptr_t)keys, 1, true, false};
    const hd_span found_span = {(void *)(uintptr_t)found, 1, false, true};
    if (hd_any_staged(table, &key_span, 1))
        HD_TRY(hd_scratch_take(&e->q.scratch, e->piece * hd_key_width(table), &e->keys));
    if (found == NULL || hd_any_staged(table, &found_span, 1))
        HD_TRY(hd_scratch_take(&e->q.scratch, e->piece, (void **)&e->found));
    HD_TRY(hd_scratch_take(&e->q.scratch, e->piece * sizeof *e->q.numbers, (void **)&e->q.numbers));
    return hd_scratch_take(&e->q.scratch, 2 * sizeof *e->sums, (void **)&e->sums);
}

/* Ends the lists of the keys that `flags` say are gone. */
static heddle_status bury(query *q, const uint8_t *flags, uint64_t *sums)
{
    heddle_table *table = q->table;
    hd_lists_storage *storage = &hd_lists(table)->storage;
    const hd_list_pool pool = pool_of(table);
    uint64_t read[2] = {0, 0};
    heddle_status status = table->engine->fill(table->device, sums, 0, sizeof read, q->stream);
    if (status == HEDDLE_OK)
        status = hd_lists(table)->ops->bury(table->device, &pool, q->numbers, flags, q->n, sums,
                                            q->stream);
    if (status == HEDDLE_OK) status = hd_read_back(table, read, sums, sizeof read, q->stream);
    storage->pairs -= read[0];
    storage->dead += read[1];
    return status == HEDDLE_OK ? hd_table_set_count(table, storage->pairs, q->stream) : status;
}

/* q->n keys, and what became of them; both where the device can use them. */
static heddle_status erase_here(erasure *e, uint8_t *found)
{
    query *q = &e->q;
    hd_lists_storage *storage = &hd_lists(q->table)->storage;
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    HD_TRY(
        hd_lists_numbers(q->table, storage, q->keys, q->n, q->numbers, NULL, &totals, q->stream));
    HD_TRY(heddle_table_erase(storage->keys, q->keys, q->n, found, &totals, q->stream));
    storage->key_count -= totals.found;
    q->totals.found += totals.found;
    q->totals.absent += totals.absent;
    q->totals.probes += totals.probes;
    return bury(q, found, e->sums);
}

/* The caller's next q->n keys. */
static heddle_status erase_piece(erasure *e, const char *keys, uint8_t *found)
{
    query *q = &e->q;
    const hd_engine *engine = q->table->engine;
    heddle_device *device = q->table->device;
    q->keys = e->keys != NULL ? e->keys : keys;
    if (e->keys != NULL)
        HD_TRY(engine->copy(device, e->keys, keys, q->n * hd_key_width(q->table), q->stream));
    HD_TRY(erase_here(e, e->found != NULL ? e->found : found));
    if (found != NULL && e->found != NULL)
        HD_TRY(engine->copy(device, found, e->found, q->n, q->stream));
    return engine->synchronize(device, q->stream);
}

heddle_status hd_lists_erase(heddle_table *table, const void *keys, uint64_t n, uint8_t *found,
                             heddle_totals *totals, void *stream)
{
    erasure e;
    heddle_status status = hd_lists_catch_up(table, true, stream);
    if (status != HEDDLE_OK) return status;
    memset(&e, 0, sizeof e);
    e.q.table = table;
    e.q.scratch.device = table->device;
    e.q.stream = stream;
    e.piece = n;
    for (;; e.piece /= 2) {
        status = erasure_take(&e, keys, found);
        if (status != HEDDLE_ERROR_NO_MEMORY || e.piece / 2 < ERASE_MIN) break;
        hd_scratch_free(&e.q.scratch);
        e.keys = NULL;
        e.found = NULL;
    }
    for (uint64_t first = 0; first < n && status == HEDDLE_OK; first += e.piece) {
        e.q.n = n - first < e.piece ? n - first : e.piece;
        status = erase_piece(&e, (const char *)keys + first * hd_key_width(table),
                             found != NULL ? found + first : NULL);
    }
    return query_end(&e.q, status, totals);
}
