/* graph_query.c: looking keys up in a graph, and erasing them. */
#include <string.h>

#include "api/graph_table.h"
#include "api/stage.h"

/* One call that looks keys up. */
typedef struct look_call {
    heddle_table *table;
    hd_call call;
    bool counts; /* the third span has matches, not values */
    void *stream;
} look_call;

static heddle_status look(heddle_table *table, const hd_graph_batch *batch, void *stream)
{
    const hd_graph_table *t = hd_graph_of(table);
    return t->ops->look(table->device, &t->storage.graph, batch, stream);
}

/* hd_slice_work: spans are keys, found flags, values or matches. */
static heddle_status look_slice(void *context, void *const device[HD_SPANS_MAX], uint64_t first,
                                uint64_t n)
{
    const look_call *c = (const look_call *)context;
    hd_graph_batch batch;
    (void)first;
    memset(&batch, 0, sizeof batch);
    batch.keys = device[0];
    batch.n = n;
    batch.found = (uint8_t *)device[1];
    if (c->counts) batch.matches = (uint64_t *)device[2];
    else batch.values = device[2];
    batch.counts = c->call.counts;
    return look(c->table, &batch, c->stream);
}

static heddle_status look_all(heddle_table *table, const hd_span spans[3], uint64_t n, bool counts,
                              heddle_totals *totals, void *stream)
{
    look_call c = {table, {NULL, NULL, 0}, counts, stream};
    heddle_status status = hd_call_begin(table, totals != NULL, stream, &c.call);
    if (status != HEDDLE_OK) return status;
    if (hd_any_staged(table, spans, 3))
        status = hd_for_slices(table, spans, 3, n, look_slice, &c, stream);
    else if (n != 0) {
        void *const device[HD_SPANS_MAX] = {spans[0].user, spans[1].user, spans[2].user};
        status = look_slice(&c, device, 0, n);
    }
    return hd_call_finish(table, &c.call, status, totals, stream);
}

heddle_status hd_graph_find(heddle_table *table, const void *keys, uint64_t n, void *values,
                            uint8_t *found, heddle_totals *totals, void *stream)
{
    const hd_span spans[3] = {
        {(void *)(uintptr_t)keys, hd_key_width(table), true, false},
        {found, 1, false, true},
        {values, hd_value_width(table), true, true}, /* in too: absent keys leave it as it is */
    };
    return look_all(table, spans, n, false, totals, stream);
}

heddle_status hd_graph_count(heddle_table *table, const void *keys, uint64_t n, uint64_t *matches,
                             heddle_totals *totals, void *stream)
{
    const hd_span spans[3] = {{(void *)(uintptr_t)keys, hd_key_width(table), true, false},
                              {NULL, 1, false, true},
                              {matches, sizeof *matches, false, true}};
    return look_all(table, spans, n, true, totals, stream);
}

/* ------------------------------------------------------------------------------------ retrieve */

typedef struct retrieval {
    heddle_table *table;
    const void *keys;
    uint64_t n;
    uint64_t *offsets; /* device memory */
    hd_scratch scratch;
    void *stream;
} retrieval;

/* Where values begin for every key, and how many there are. */
static heddle_status find_offsets(retrieval *r, uint64_t *count)
{
    heddle_table *table = r->table;
    const hd_column_ops *columns = table->engine->columns;
    hd_graph_batch batch;
    hd_call call;
    void *work = NULL;
    heddle_status status = hd_scratch_take(&r->scratch, columns->work(table->device, r->n), &work);
    if (status == HEDDLE_OK) status = hd_call_begin(table, false, r->stream, &call);
    if (status != HEDDLE_OK) return status;
    memset(&batch, 0, sizeof batch);
    batch.keys = r->keys;
    batch.n = r->n;
    batch.matches = r->offsets;
    batch.counts = call.counts;
    if (r->n != 0) status = look(table, &batch, r->stream);
    if (status == HEDDLE_OK)
        status = columns->scan(table->device, r->offsets, r->n, work, r->stream);
    if (status == HEDDLE_OK)
        status = hd_read_back(table, count, r->offsets + r->n, sizeof *count, r->stream);
    hd_call_end(table, &call);
    return status;
}

static heddle_status write_values(retrieval *r, void *values)
{
    hd_graph_batch batch;
    hd_call call;
    heddle_status status = hd_call_begin(r->table, true, r->stream, &call);
    if (status != HEDDLE_OK) return status;
    memset(&batch, 0, sizeof batch);
    batch.keys = r->keys;
    batch.n = r->n;
    batch.places = r->offsets;
    batch.all = values;
    batch.counts = call.counts; /* the keys were counted when they were looked up first */
    status = look(r->table, &batch, r->stream);
    hd_call_end(r->table, &call);
    return status;
}

heddle_status hd_graph_retrieve(heddle_table *table, const void *keys, uint64_t n,
                                uint64_t *offsets, void *values, uint64_t capacity, uint64_t *count,
                                void *stream)
{
    retrieval r;
    hd_scratch_out offsets_out, values_out;
    heddle_status status;
    memset(&r, 0, sizeof r);
    r.table = table;
    r.n = n;
    r.scratch.device = table->device;
    r.stream = stream;
    status = hd_scratch_stage(&r.scratch, keys, n * hd_key_width(table), &r.keys, stream);
    if (status == HEDDLE_OK)
        status = hd_scratch_stage_out(&r.scratch, offsets, (n + 1) * sizeof *offsets, &offsets_out);
    if (status == HEDDLE_OK) {
        r.offsets = (uint64_t *)offsets_out.memory;
        status = find_offsets(&r, count);
    }
    if (status == HEDDLE_OK) status = hd_scratch_bring_back(&r.scratch, &offsets_out, stream);
    if (status == HEDDLE_OK && values != NULL && *count > capacity)
        status =
            hd_fail(HEDDLE_ERROR_INVALID, "retrieve: %llu values do not fit into an array of %llu",
                    (unsigned long long)*count, (unsigned long long)capacity);
    else if (status == HEDDLE_OK && values != NULL && *count != 0) {
        status =
            hd_scratch_stage_out(&r.scratch, values, *count * hd_value_width(table), &values_out);
        if (status == HEDDLE_OK) status = write_values(&r, values_out.memory);
        if (status == HEDDLE_OK) status = hd_scratch_bring_back(&r.scratch, &values_out, stream);
    }
    hd_scratch_free(&r.scratch);
    return status;
}

/* --------------------------------------------------------------------------------------- erase */

static heddle_status erase_keys(heddle_table *table, hd_scratch *scratch, hd_graph_batch *batch,
                                heddle_totals *totals, void *stream)
{
    const hd_graph_ops *ops = hd_graph_of(table)->ops;
    hd_graph_storage *storage = &hd_graph_of(table)->storage;
    const uint64_t words = storage->edges / 32 + 1;
    const bool fresh = storage->graph.lengths == NULL;
    uint32_t *dead = NULL;
    hd_call call;
    heddle_status status = hd_scratch_take(scratch, words * sizeof *dead, (void **)&dead);
    if (status == HEDDLE_OK)
        status = table->engine->fill(table->device, dead, 0, words * sizeof *dead, stream);
    if (status == HEDDLE_OK) status = hd_call_begin(table, totals != NULL, stream, &call);
    if (status != HEDDLE_OK) return status;
    batch->counts = call.counts;
    if (fresh) status = hd_graph_allocate_lengths(table, storage);
    if (status == HEDDLE_OK)
        status = ops->erase(table->device, &storage->graph, batch, dead, fresh,
                            &table->control->died, stream);
    if (status == HEDDLE_OK) status = table->engine->synchronize(table->device, stream);
    return hd_call_finish(table, &call, status, totals, stream);
}

heddle_status hd_graph_erase(heddle_table *table, const void *keys, uint64_t n, uint8_t *found,
                             heddle_totals *totals, void *stream)
{
    hd_scratch scratch;
    hd_scratch_out found_out;
    hd_graph_batch batch;
    heddle_status status;
    memset(&batch, 0, sizeof batch);
    memset(&scratch, 0, sizeof scratch);
    scratch.device = table->device;
    if (totals != NULL) memset(totals, 0, sizeof *totals);
    if (n == 0) return HEDDLE_OK;
    status = hd_scratch_stage(&scratch, keys, n * hd_key_width(table), &batch.keys, stream);
    if (status == HEDDLE_OK) status = hd_scratch_stage_out(&scratch, found, n, &found_out);
    if (status == HEDDLE_OK) {
        batch.n = n;
        batch.found = (uint8_t *)found_out.memory;
        status = erase_keys(table, &scratch, &batch, totals, stream);
    }
    if (status == HEDDLE_OK) status = hd_scratch_bring_back(&scratch, &found_out, stream);
    hd_scratch_free(&scratch);
    return status;
}
