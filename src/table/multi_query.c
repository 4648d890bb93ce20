/*
 * multi_query.c: count and retrieve for multimaps of slots and for slab hashes. Retrieving is counting, a scan, and a second
 * search that writes every key's values at its place. Scratch memory: what the scan needs, and room for
 * arrays that the device cannot use where they are.
 */
#include <string.h>

#include "host/lent.h"
#include "table/multi_query.h"

/* A batch of keys in device memory. */
typedef struct retrieval {
    heddle_table *table;
    const hd_multi_search *search;
    const void *keys;
    uint64_t n;
    uint64_t *offsets; /* device memory, n + 1 */
    hd_scratch scratch;
    void *stream;
} retrieval;

static heddle_status begin(retrieval *r, heddle_table *table, const hd_multi_search *search,
                           const void *keys, uint64_t n, void *stream)
{
    memset(r, 0, sizeof *r);
    r->table = table;
    r->search = search;
    r->n = n;
    r->scratch.device = table->device;
    r->stream = stream;
    return hd_lend_in(&r->scratch, keys, n * hd_key_width(table), &r->keys, stream);
}

static heddle_status count_keys(const retrieval *r, uint64_t *matches, hd_counts *counts)
{
    const hd_multi_batch batch = {r->keys, r->n, counts, matches, NULL, NULL};
    return r->n != 0 ? r->search->count(r->table, &batch, r->stream) : HEDDLE_OK;
}

/* Device arrays and no totals: nothing is allocated and nobody waits. */
heddle_status hd_multi_count(heddle_table *table, const hd_multi_search *search, const void *keys,
                             uint64_t n, uint64_t *matches, heddle_totals *totals, void *stream)
{
    retrieval r;
    hd_lent out;
    hd_call call;
    heddle_status status = begin(&r, table, search, keys, n, stream);
    if (status == HEDDLE_OK) status = hd_lend_out(&r.scratch, matches, n * sizeof *matches, &out);
    if (status == HEDDLE_OK) status = hd_call_begin(table, totals != NULL, stream, &call);
    if (status == HEDDLE_OK) {
        status = count_keys(&r, (uint64_t *)out.memory, call.counts);
        status = hd_call_finish(table, &call, status, totals, stream);
    }
    if (status == HEDDLE_OK && r.scratch.count != 0)
        status = hd_take_back(r.scratch.device, &out, stream);
    hd_scratch_free(&r.scratch);
    return status;
}

/* Where values begin for every key, and how many there are. */
static heddle_status find_offsets(retrieval *r, uint64_t *count)
{
    heddle_table *table = r->table;
    const hd_column_ops *columns = table->engine->columns;
    hd_call call;
    void *work = NULL;
    heddle_status status = hd_scratch_take(&r->scratch, columns->work(table->device, r->n), &work);
    if (status == HEDDLE_OK) status = hd_call_begin(table, false, r->stream, &call);
    if (status != HEDDLE_OK) return status;
    status = count_keys(r, r->offsets, call.counts);
    hd_call_end(table, &call);
    if (status == HEDDLE_OK)
        status = columns->scan(table->device, r->offsets, r->n, work, r->stream);
    if (status == HEDDLE_OK)
        status = hd_read_back(table, count, r->offsets + r->n, sizeof *count, r->stream);
    return status;
}

static heddle_status write_values(retrieval *r, void *values, uint64_t count)
{
    hd_lent out;
    hd_call call;
    heddle_status status = hd_lend_out(&r->scratch, values, count * hd_value_width(r->table), &out);
    if (status == HEDDLE_OK) status = hd_call_begin(r->table, true, r->stream, &call);
    if (status != HEDDLE_OK) return status;
    /* The keys were counted when they were first asked. */
    const hd_multi_batch batch = {r->keys, r->n, call.counts, NULL, r->offsets, out.memory};
    status = r->search->retrieve(r->table, &batch, r->stream);
    if (status == HEDDLE_OK) status = hd_take_back(r->scratch.device, &out, r->stream);
    hd_call_end(r->table, &call);
    return status;
}

heddle_status hd_multi_retrieve(heddle_table *table, const hd_multi_search *search,
                                const void *keys, uint64_t n, uint64_t *offsets, void *values,
                                uint64_t capacity, uint64_t *count, void *stream)
{
    retrieval r;
    hd_lent out;
    heddle_status status = begin(&r, table, search, keys, n, stream);
    if (status == HEDDLE_OK && table->engine->columns == NULL)
        status = hd_fail(HEDDLE_ERROR_UNSUPPORTED, "this device cannot retrieve");
    if (status == HEDDLE_OK)
        status = hd_lend_out(&r.scratch, offsets, (n + 1) * sizeof *offsets, &out);
    if (status == HEDDLE_OK) {
        r.offsets = (uint64_t *)out.memory;
        status = find_offsets(&r, count);
    }
    if (status == HEDDLE_OK && out.memory != out.user)
        status = hd_take_back(r.scratch.device, &out, stream);
    if (status == HEDDLE_OK && values != NULL && *count > capacity)
        status = hd_fail(HEDDLE_ERROR_TOO_SMALL,
                         "retrieve: %llu values do not fit into an array of %llu",
                         (unsigned long long)*count, (unsigned long long)capacity);
    else if (status == HEDDLE_OK && values != NULL && *count != 0)
        status = write_values(&r, values, *count);
    hd_scratch_free(&r.scratch);
    return status;
}
