/*
 * lists_query.c: looking keys up in bucket lists, and erasing them. The table of keys names the list of every
 * key of a batch; the rest is asked of the lists. Scratch memory: the number of a list for every key.
 */
#include <string.h>

#include "api/lists_table.h"

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
    heddle_status status;
    memset(q, 0, sizeof *q);
    q->table = table;
    q->n = n;
    q->scratch.device = table->device;
    q->stream = stream;
    status = hd_scratch_stage(&q->scratch, keys, n * hd_key_width(table), &q->keys, stream);
    if (status == HEDDLE_OK)
        status = hd_scratch_take(&q->scratch, n * sizeof *q->numbers, (void **)&q->numbers);
    if (status == HEDDLE_OK)
        status = hd_lists_numbers(table, &hd_lists(table)->storage, q->keys, n, q->numbers, found,
                                  &q->totals, stream);
    return status;
}

/* Hands the sums to the caller, or keeps them for heddle_table_take_totals; several calls may do so at once. */
static void report(heddle_table *table, const heddle_totals *sums, heddle_totals *totals)
{
    uint64_t *at = table->settled.at;
    if (totals != NULL) {
        *totals = *sums;
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
    heddle_totals sums = {0};
    const heddle_status status =
        heddle_table_contains(hd_lists(table)->storage.keys, keys, n, found, &sums, stream);
    if (status == HEDDLE_OK) report(table, &sums, totals);
    return status;
}

/* One value of every key that is there, in device memory, over what was there before. */
static heddle_status find_values(query *q, void *values)
{
    heddle_table *table = q->table;
    const uint64_t bytes = q->n * hd_value_width(table);
    const hd_list_pool pool = pool_of(table);
    hd_scratch_out out;
    heddle_status status = hd_scratch_stage_out(&q->scratch, values, bytes, &out);
    if (status == HEDDLE_OK && out.memory != out.user)
        status = table->engine->copy(table->device, out.memory, values, bytes, q->stream);
    if (status == HEDDLE_OK && q->n != 0)
        status = hd_lists(table)->ops->first(table->device, &pool, q->numbers, q->n, out.memory,
                                             q->stream);
    return status == HEDDLE_OK ? hd_scratch_bring_back(&q->scratch, &out, q->stream) : status;
}

heddle_status hd_lists_find(heddle_table *table, const void *keys, uint64_t n, void *values,
                            uint8_t *found, heddle_totals *totals, void *stream)
{
    query q;
    heddle_status status;
    if (values == NULL) return contains(table, keys, n, found, totals, stream);
    status = query_begin(&q, table, keys, n, found, stream);
    if (status == HEDDLE_OK) status = find_values(&q, values);
    return query_end(&q, status, totals);
}

/* --------------------------------------------------------------------------------- count, retrieve */

heddle_status hd_lists_count(heddle_table *table, const void *keys, uint64_t n, uint64_t *matches,
                             heddle_totals *totals, void *stream)
{
    const hd_list_pool pool = pool_of(table);
    hd_scratch_out out;
    query q;
    heddle_status status = query_begin(&q, table, keys, n, NULL, stream);
    if (status == HEDDLE_OK)
        status = hd_scratch_stage_out(&q.scratch, matches, n * sizeof *matches, &out);
    if (status == HEDDLE_OK && n != 0)
        status = hd_lists(table)->ops->lengths(table->device, &pool, q.numbers, n,
                                               (uint64_t *)out.memory, stream);
    if (status == HEDDLE_OK) status = hd_scratch_bring_back(&q.scratch, &out, stream);
    return query_end(&q, status, totals);
}

/* Where the values of every key begin, in device memory, and how many there are. */
static heddle_status find_offsets(query *q, uint64_t *offsets, uint64_t *count)
{
    heddle_table *table = q->table;
    const hd_column_ops *columns = table->engine->columns;
    const hd_list_pool pool = pool_of(table);
    void *work = NULL;
    heddle_status status = hd_scratch_take(&q->scratch, columns->work(table->device, q->n), &work);
    if (status == HEDDLE_OK && q->n != 0)
        status = hd_lists(table)->ops->lengths(table->device, &pool, q->numbers, q->n, offsets,
                                               q->stream);
    if (status == HEDDLE_OK) status = columns->scan(table->device, offsets, q->n, work, q->stream);
    if (status == HEDDLE_OK)
        status = hd_read_back(table, count, offsets + q->n, sizeof *count, q->stream);
    return status;
}

static heddle_status write_values(query *q, const uint64_t *offsets, uint64_t count, void *values)
{
    heddle_table *table = q->table;
    const hd_list_pool pool = pool_of(table);
    hd_scratch_out out;
    heddle_status status =
        hd_scratch_stage_out(&q->scratch, values, count * hd_value_width(table), &out);
    if (status == HEDDLE_OK && count != 0) {
        const hd_list_fetch all = {q->numbers, offsets, q->n, 0, count, out.memory, NULL, 0, NULL};
        status = hd_lists(table)->ops->fetch(table->device, &pool, &all, q->stream);
    }
    return status == HEDDLE_OK ? hd_scratch_bring_back(&q->scratch, &out, q->stream) : status;
}

heddle_status hd_lists_retrieve(heddle_table *table, const void *keys, uint64_t n,
                                uint64_t *offsets, void *values, uint64_t capacity, uint64_t *count,
                                void *stream)
{
    hd_scratch_out out;
    query q;
    heddle_status status = query_begin(&q, table, keys, n, NULL, stream);
    if (status == HEDDLE_OK)
        status = hd_scratch_stage_out(&q.scratch, offsets, (n + 1) * sizeof *offsets, &out);
    if (status == HEDDLE_OK) status = find_offsets(&q, (uint64_t *)out.memory, count);
    if (status == HEDDLE_OK) status = hd_scratch_bring_back(&q.scratch, &out, stream);
    if (status == HEDDLE_OK) report(table, &q.totals, NULL);
    if (status == HEDDLE_OK && values != NULL)
        status = *count > capacity
                     ? hd_fail(HEDDLE_ERROR_INVALID,
                               "retrieve: %llu values do not fit into an array of %llu",
                               (unsigned long long)*count, (unsigned long long)capacity)
                     : write_values(&q, (const uint64_t *)out.memory, *count, values);
    hd_scratch_free(&q.scratch);
    return status;
}

/* ------------------------------------------------------------------------------------------- erase */

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

heddle_status hd_lists_erase(heddle_table *table, const void *keys, uint64_t n, uint8_t *found,
                             heddle_totals *totals, void *stream)
{
    hd_scratch_out out;
    uint64_t *sums = NULL;
    query q;
    heddle_status status = hd_lists_catch_up(table, true, stream);
    if (status != HEDDLE_OK) return status;
    status = query_begin(&q, table, keys, n, NULL, stream);
    if (status == HEDDLE_OK) status = hd_scratch_stage_out(&q.scratch, found, n, &out);
    if (status == HEDDLE_OK && out.memory == NULL)
        status = hd_scratch_take(&q.scratch, n, &out.memory);
    if (status == HEDDLE_OK) status = hd_scratch_take(&q.scratch, 2 * sizeof *sums, (void **)&sums);
    if (status == HEDDLE_OK && n != 0) {
        status = heddle_table_erase(hd_lists(table)->storage.keys, q.keys, n, (uint8_t *)out.memory,
                                    &q.totals, stream);
        if (status == HEDDLE_OK) {
            hd_lists(table)->storage.key_count -= q.totals.found;
            status = bury(&q, (const uint8_t *)out.memory, sums);
        }
    }
    if (status == HEDDLE_OK && found != NULL)
        status = hd_scratch_bring_back(&q.scratch, &out, stream);
    return query_end(&q, status, totals);
}
