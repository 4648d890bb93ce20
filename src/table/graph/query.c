/*
 * query.c: looking keys up in a graph, and erasing them; host arrays in slices or pieces where
 * memory is short.
 */
#include <string.h>

#include "base/error.h"
#include "host/lent.h"
#include "host/stage.h"
#include "table/graph/graph.h"
#include "table/pieces.h"

/* --------------------------------------------------------------------------------- find, count */

typedef struct look_call {
    heddle_table *table;
    const hd_call *call;
} look_call;

static heddle_status look(heddle_table *table, const hd_graph_batch *batch, void *stream)
{
    const hd_graph_table *t = hd_graph_of(table);
    return t->ops->look(table->device, &t->storage.graph, batch, stream);
}

/* hd_slice_work: spans as hd_lookup_slices has them. */
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
    batch.values = device[2];
    batch.matches = (uint64_t *)device[3];
    batch.counts = c->call->counts;
    return look(c->table, &batch, c->call->stream);
}

static heddle_status look_all(heddle_table *table, hd_request *r)
{
    const hd_slices slices = hd_lookup_slices(table, r);
    HD_CALL(call);
    look_call c = {table, &call};
    HD_TRY(hd_call_begin(table, r->waits, r->stream, &call));
    HD_TRY(hd_for_slices(&slices, look_slice, &c));
    return hd_call_finish(&call, r);
}

heddle_status hd_graph_find(heddle_table *table, hd_request *r) { return look_all(table, r); }

heddle_status hd_graph_count(heddle_table *table, hd_request *r) { return look_all(table, r); }

/* ------------------------------------------------------------------------------------ retrieve */

typedef struct retrieval {
    heddle_table *table;
    const void *keys;
    uint64_t n;
    uint64_t *offsets; /* device memory */
    bool counted;      /* the keys were, when they were looked up first */
    hd_scratch *scratch;
    void *stream;
} retrieval;

/* Where values begin for every key, and how many there are. */
static heddle_status find_offsets(const retrieval *r, uint64_t *count)
{
    heddle_table *table = r->table;
    const hd_column_ops *columns = table->engine->columns;
    hd_graph_batch batch;
    HD_CALL(call);
    void *work = NULL;
    HD_TRY(hd_scratch_take(r->scratch, columns->work(table->device, r->n), &work));
    HD_TRY(hd_call_begin(table, r->counted, r->stream, &call));
    memset(&batch, 0, sizeof batch);
    batch.keys = r->keys;
    batch.n = r->n;
    batch.matches = r->offsets;
    batch.counts = call.counts;
    if (r->n != 0) HD_TRY(look(table, &batch, r->stream));
    HD_TRY(columns->scan(hd_on(table->device, work, r->stream), r->offsets, r->n));
    return hd_read_back(table, count, r->offsets + r->n, sizeof *count, r->stream);
}

static heddle_status write_values(const retrieval *r, void *values, uint64_t count)
{
    hd_graph_batch batch;
    hd_lent out;
    HD_CALL(call);
    HD_TRY(hd_lend_out(r->scratch, values, count * hd_value_width(r->table), &out));
    HD_TRY(hd_call_begin(r->table, true, r->stream, &call));
    memset(&batch, 0, sizeof batch);
    batch.keys = r->keys;
    batch.n = r->n;
    batch.places = r->offsets;
    batch.all = out.memory;
    batch.counts = call.counts; /* the keys were counted when they were looked up first */
    HD_TRY(look(r->table, &batch, r->stream));
    return hd_take_back(r->table->device, &out, r->stream);
}

/* hd_query_work */
static heddle_status retrieve(heddle_table *table, hd_request *all)
{
    HD_SCRATCH(scratch, table->device);
    retrieval r = {.table = table, .n = all->n, .scratch = &scratch, .stream = all->stream};
    hd_lent out;
    r.counted = all->offsets_known;
    HD_TRY(hd_lend_in(&scratch, all->keys, r.n * hd_key_width(table), &r.keys, r.stream));
    HD_TRY(hd_lend_out(&scratch, all->offsets, (r.n + 1) * sizeof *r.offsets, &out));
    r.offsets = (uint64_t *)out.memory;
    HD_TRY(find_offsets(&r, all->count));
    HD_TRY(hd_take_back(table->device, &out, r.stream));
    all->offsets_known = true;
    if (all->values_out == NULL) return HEDDLE_OK;
    HD_TRY(hd_retrieve_fits(all));
    return *all->count != 0 ? write_values(&r, all->values_out, *all->count) : HEDDLE_OK;
}

heddle_status hd_graph_retrieve(heddle_table *table, hd_request *r)
{
    return hd_retrieve_in_pieces(table, r, retrieve);
}

/* --------------------------------------------------------------------------------------- erase */

typedef struct erasure {
    heddle_table *table;
    hd_call *call;
    hd_scratch *scratch;
    uint32_t *dead;
    uint64_t dead_bytes;
    bool fresh; /* the graph has lengths, which hold nothing yet */
} erasure;

/* hd_slice_work: spans as hd_lookup_slices has them. */
static heddle_status erase_slice(void *context, void *const device[HD_SPANS_MAX], uint64_t first,
                                 uint64_t n)
{
    erasure *e = (erasure *)context;
    heddle_table *table = e->table;
    const hd_graph_table *t = hd_graph_of(table);
    void *stream = e->call->stream;
    hd_graph_batch batch;
    (void)first;
    HD_TRY(table->engine->fill(table->device, e->dead, 0, e->dead_bytes, stream));
    memset(&batch, 0, sizeof batch);
    batch.keys = device[0];
    batch.found = (uint8_t *)device[1];
    batch.n = n;
    batch.counts = e->call->counts;
    HD_TRY(t->ops->erase(table->device, &t->storage.graph, &batch, e->dead, e->fresh,
                         &table->control->died, stream));
    e->fresh = false;
    return HEDDLE_OK;
}

/* Lengths that hold nothing are not to stay. */
static void erasure_end(erasure *e)
{
    if (e->fresh) hd_graph_free_lengths(e->table, &hd_graph_of(e->table)->storage);
}
#define ERASURE(name) erasure name __attribute__((cleanup(erasure_end)))

/*
 * All memory except that of arrays, then the erasure. The request is erased in one go or in slices.
 */
static heddle_status erase_now(erasure *e, hd_request *r, const hd_slices *slices)
{
    heddle_table *table = e->table;
    hd_graph_storage *storage = &hd_graph_of(table)->storage;
    e->dead_bytes = (storage->edges / 32 + 1) * sizeof *e->dead;
    HD_TRY(hd_scratch_take(e->scratch, e->dead_bytes, (void **)&e->dead));
    if (storage->graph.lengths == NULL) {
        HD_TRY(hd_graph_allocate_lengths(table, storage));
        e->fresh = true;
    }
    HD_TRY(hd_call_begin(table, r->waits, r->stream, e->call));
    HD_TRY(hd_for_slices(slices, erase_slice, e));
    HD_TRY(table->engine->synchronize(table->device, r->stream));
    return hd_call_finish(e->call, r);
}

/* With copies of host arrays. */
static heddle_status erase_whole(heddle_table *table, hd_request *r)
{
    HD_SCRATCH(scratch, table->device);
    HD_CALL(call);
    ERASURE(e) = {.table = table, .call = &call, .scratch = &scratch};
    hd_request copied = *r;
    hd_lent found;
    HD_TRY(hd_lend_in(&scratch, r->keys, r->n * hd_key_width(table), &copied.keys, r->stream));
    HD_TRY(hd_lend_out(&scratch, r->found, r->n, &found));
    copied.found = (uint8_t *)found.memory;
    const hd_slices slices = hd_lookup_slices(table, &copied);
    HD_TRY(erase_now(&e, r, &slices));
    return hd_take_back(table->device, &found, r->stream);
}

/*
 * With slices of them, by buffers for so many keys, or fewer. All memory is there before any key
 * goes.
 */
static heddle_status erase_slices(heddle_table *table, hd_request *r, uint64_t buffers)
{
    HD_SCRATCH(scratch, table->device);
    HD_CALL(call);
    ERASURE(e) = {.table = table, .call = &call, .scratch = &scratch};
    const hd_slices slices = hd_lookup_slices(table, r);
    HD_TRY(hd_stage_ready(table->device, buffers));
    return erase_now(&e, r, &slices);
}

/* Every slice costs a sweep over all regions; so host arrays are copied whole where that can be. */
heddle_status hd_graph_erase(heddle_table *table, hd_request *r)
{
    const hd_slices slices = hd_lookup_slices(table, r);
    if (r->n == 0) return HEDDLE_OK;
    heddle_status status = erase_whole(table, r);
    if (status != HEDDLE_ERROR_NO_MEMORY || !hd_any_staged(&slices)) return status;
    status = erase_slices(table, r, r->n);
    if (status != HEDDLE_ERROR_NO_MEMORY) return status;
    hd_stages_free(table->device); /* and with buffers as small as they get */
    return erase_slices(table, r, 1);
}
