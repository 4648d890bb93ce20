/*
 * multi_query.c: count and retrieve for multimaps of slots and for slab hashes. Retrieving is
 * counting, a scan, and a second search that writes every key's values at its place. Scratch
 * memory: what the scan needs, and room for arrays that the device cannot use where they are.
 */
#include "table/multi_query.h"

#include "base/error.h"
#include "host/lent.h"
#include "table/pieces.h"

/* A batch of keys in device memory. */
typedef struct retrieval {
    heddle_table *table;
    const hd_multi_search *search;
    const void *keys;
    uint64_t n;
    uint64_t *offsets; /* device memory, n + 1 */
    hd_scratch *scratch;
    void *stream;
} retrieval;

static heddle_status begin(retrieval *r, const hd_request *request)
{
    r->n = request->n;
    r->stream = request->stream;
    return hd_lend_in(r->scratch, request->keys, r->n * hd_key_width(r->table), &r->keys,
                      r->stream);
}

static heddle_status count_keys(const retrieval *r, uint64_t *matches, hd_counts *counts)
{
    const hd_multi_batch batch = {r->keys, r->n, counts, matches, NULL, NULL};
    return r->n != 0 ? r->search->count(r->table, &batch, r->stream) : HEDDLE_OK;
}

/* Device arrays and no totals: nothing is allocated and nobody waits. */
heddle_status hd_multi_count(heddle_table *table, hd_request *request,
                             const hd_multi_search *search)
{
    HD_SCRATCH(scratch, table->device);
    HD_CALL(call);
    retrieval r = {table, search, NULL, 0, NULL, &scratch, NULL};
    hd_lent out;
    HD_TRY(begin(&r, request));
    HD_TRY(hd_lend_out(&scratch, request->matches, r.n * sizeof *request->matches, &out));
    HD_TRY(hd_call_begin(table, request->waits, r.stream, &call));
    HD_TRY(count_keys(&r, (uint64_t *)out.memory, call.counts));
    HD_TRY(hd_call_finish(&call, request));
    return scratch.count != 0 ? hd_take_back(table->device, &out, r.stream) : HEDDLE_OK;
}

/* Where values begin for every key, and how many there are. */
static heddle_status find_offsets(const retrieval *r, uint64_t *count)
{
    heddle_table *table = r->table;
    const hd_column_ops *columns = table->engine->columns;
    HD_CALL(call);
    void *work = NULL;
    HD_TRY(hd_scratch_take(r->scratch, columns->work(table->device, r->n), &work));
    HD_TRY(hd_call_begin(table, false, r->stream, &call));
    HD_TRY(count_keys(r, r->offsets, call.counts));
    HD_TRY(columns->scan(hd_on(table->device, work, r->stream), r->offsets, r->n));
    return hd_read_back(table, count, r->offsets + r->n, sizeof *count, r->stream);
}

static heddle_status write_values(const retrieval *r, void *values, uint64_t count)
{
    HD_CALL(call);
    hd_lent out;
    HD_TRY(hd_lend_out(r->scratch, values, count * hd_value_width(r->table), &out));
    HD_TRY(hd_call_begin(r->table, true, r->stream, &call));
    /* The keys were counted when they were first asked. */
    const hd_multi_batch batch = {r->keys, r->n, call.counts, NULL, r->offsets, out.memory};
    HD_TRY(r->search->retrieve(r->table, &batch, r->stream));
    return hd_take_back(r->table->device, &out, r->stream);
}

heddle_status hd_multi_retrieve(heddle_table *table, hd_request *request,
                                const hd_multi_search *search)
{
    HD_SCRATCH(scratch, table->device);
    retrieval r = {table, search, NULL, 0, NULL, &scratch, NULL};
    hd_lent out;
    HD_TRY(begin(&r, request));
    if (table->engine->columns == NULL)
        return hd_fail(HEDDLE_ERROR_UNSUPPORTED, "this device cannot retrieve");
    HD_TRY(hd_lend_out(&scratch, request->offsets, (r.n + 1) * sizeof *r.offsets, &out));
    r.offsets = (uint64_t *)out.memory;
    HD_TRY(find_offsets(&r, request->count));
    if (out.memory != out.user) HD_TRY(hd_take_back(table->device, &out, r.stream));
    if (request->values_out == NULL) return HEDDLE_OK;
    HD_TRY(hd_retrieve_fits(request));
    return *request->count != 0 ? write_values(&r, request->values_out, *request->count)
                                : HEDDLE_OK;
}
