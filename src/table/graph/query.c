/* query.c: looking keys up in a graph, and erasing them; host arrays in slices or pieces where memory is short. */
#include <string.h>

#include "host/public_struct.h"
#include "host/stage.h"
#include "table/graph/graph.h"
#include "table/pieces.h"

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
    bool counted;      /* the keys were, when they were looked up first */
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
    if (status == HEDDLE_OK) status = hd_call_begin(table, r->counted, r->stream, &call);
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

static heddle_status write_values(retrieval *r, void *values, uint64_t count)
{
    hd_graph_batch batch;
    hd_lent out;
    hd_call call;
    heddle_status status = hd_lend_out(&r->scratch, values, count * hd_value_width(r->table), &out);
    if (status == HEDDLE_OK) status = hd_call_begin(r->table, true, r->stream, &call);
    if (status != HEDDLE_OK) return status;
    memset(&batch, 0, sizeof batch);
    batch.keys = r->keys;
    batch.n = r->n;
    batch.places = r->offsets;
    batch.all = out.memory;
    batch.counts = call.counts; /* the keys were counted when they were looked up first */
    status = look(r->table, &batch, r->stream);
    hd_call_end(r->table, &call);
    return status == HEDDLE_OK ? hd_take_back(r->scratch.device, &out, r->stream) : status;
}

/* hd_retrieve_work */
static heddle_status retrieve(hd_retrieve *all)
{
    heddle_table *table = all->table;
    retrieval r;
    hd_lent out;
    heddle_status status;
    memset(&r, 0, sizeof r);
    r.table = table;
    r.n = all->n;
    r.counted = all->known;
    r.scratch.device = table->device;
    r.stream = all->stream;
    status = hd_lend_in(&r.scratch, all->keys, r.n * hd_key_width(table), &r.keys, all->stream);
    if (status == HEDDLE_OK)
        status = hd_lend_out(&r.scratch, all->offsets, (r.n + 1) * sizeof *r.offsets, &out);
    if (status == HEDDLE_OK) {
        r.offsets = (uint64_t *)out.memory;
        status = find_offsets(&r, all->count);
    }
    if (status == HEDDLE_OK) status = hd_take_back(r.scratch.device, &out, all->stream);
    if (status == HEDDLE_OK) {
        all->known = true;
        if (all->values != NULL) status = hd_retrieve_fits(all);
    }
    if (status == HEDDLE_OK && all->values != NULL && *all->count != 0)
        status = write_values(&r, all->values, *all->count);
    hd_scratch_free(&r.scratch);
    return status;
}

heddle_status hd_graph_retrieve(heddle_table *table, const void *keys, uint64_t n,
                                uint64_t *offsets, void *values, uint64_t capacity, uint64_t *count,
                                void *stream)
{
    hd_retrieve all = {table, keys, n, offsets, values, capacity, count, stream, false};
    return hd_retrieve_in_pieces(&all, retrieve);
}

/* --------------------------------------------------------------------------------------- erase */

typedef struct erase_call {
    heddle_table *table;
    hd_call call;
    hd_scratch scratch;
    uint32_t *dead;
    uint64_t dead_bytes;
    bool fresh; /* the graph has lengths, but they hold nothing yet */
    void *stream;
} erase_call;

/* hd_slice_work: spans are keys, found flags. */
static heddle_status erase_slice(void *context, void *const device[HD_SPANS_MAX], uint64_t first,
                                 uint64_t n)
{
    erase_call *c = (erase_call *)context;
    heddle_table *table = c->table;
    const hd_graph_table *t = hd_graph_of(table);
    hd_graph_batch batch;
    heddle_status status = table->engine->fill(table->device, c->dead, 0, c->dead_bytes, c->stream);
    (void)first;
    memset(&batch, 0, sizeof batch);
    batch.keys = device[0];
    batch.found = (uint8_t *)device[1];
    batch.n = n;
    batch.counts = c->call.counts;
    if (status == HEDDLE_OK)
        status = t->ops->erase(table->device, &t->storage.graph, &batch, c->dead, c->fresh,
                               &table->control->died, c->stream);
    if (status == HEDDLE_OK) c->fresh = false;
    return status;
}

/* All memory but that of arrays. The scratch is to be freed also when this fails. */
static heddle_status erase_begin(erase_call *c, bool counts)
{
    heddle_table *table = c->table;
    hd_graph_storage *storage = &hd_graph_of(table)->storage;
    heddle_status status;
    c->fresh = false;
    c->dead_bytes = (storage->edges / 32 + 1) * sizeof *c->dead;
    status = hd_scratch_take(&c->scratch, c->dead_bytes, (void **)&c->dead);
    if (status == HEDDLE_OK && storage->graph.lengths == NULL) {
        status = hd_graph_allocate_lengths(table, storage);
        c->fresh = status == HEDDLE_OK;
    }
    if (status == HEDDLE_OK) status = hd_call_begin(table, counts, c->stream, &c->call);
    if (status != HEDDLE_OK && c->fresh) hd_graph_free_lengths(table, storage);
    return status;
}

static heddle_status erase_end(erase_call *c, heddle_status status, heddle_totals *totals)
{
    heddle_table *table = c->table;
    if (c->fresh) hd_graph_free_lengths(table, &hd_graph_of(table)->storage);
    if (status == HEDDLE_OK) status = table->engine->synchronize(table->device, c->stream);
    return hd_call_finish(table, &c->call, status, totals, c->stream);
}

/* With copies of host arrays. */
static heddle_status erase_whole(erase_call *c, const hd_span spans[2], uint64_t n,
                                 heddle_totals *totals)
{
    const void *keys = NULL;
    hd_lent found;
    heddle_status status =
        hd_lend_in(&c->scratch, spans[0].user, n * spans[0].width, &keys, c->stream);
    if (status == HEDDLE_OK) status = hd_lend_out(&c->scratch, spans[1].user, n, &found);
    if (status == HEDDLE_OK) status = erase_begin(c, totals != NULL);
    if (status == HEDDLE_OK) {
        void *const device[HD_SPANS_MAX] = {(void *)(uintptr_t)keys, found.memory};
        status = erase_end(c, erase_slice(c, device, 0, n), totals);
    }
    if (status == HEDDLE_OK) status = hd_take_back(c->scratch.device, &found, c->stream);
    hd_scratch_free(&c->scratch);
    return status;
}

/* With slices of them, by buffers for so many keys, or fewer. All memory is there before any key goes. */
static heddle_status erase_slices(erase_call *c, const hd_span spans[2], uint64_t n,
                                  uint64_t buffers, heddle_totals *totals)
{
    heddle_status status = hd_stage_ready(c->table->device, buffers);
    if (status == HEDDLE_OK) status = erase_begin(c, totals != NULL);
    if (status == HEDDLE_OK) {
        status = hd_for_slices(c->table, spans, 2, n, erase_slice, c, c->stream);
        status = erase_end(c, status, totals);
    }
    hd_scratch_free(&c->scratch);
    return status;
}

/* Every slice costs a sweep over all regions; so host arrays are copied whole where that can be. */
heddle_status hd_graph_erase(heddle_table *table, const void *keys, uint64_t n, uint8_t *found,
                             heddle_totals *totals, void *stream)
{
    const hd_span spans[2] = {{(void *)(uintptr_t)keys, hd_key_width(table), true, false},
                              {found, 1, false, true}};
    erase_call c;
    heddle_status status;
    memset(&c, 0, sizeof c);
    c.table = table;
    c.scratch.device = table->device;
    c.stream = stream;
    if (totals != NULL) hd_clear_totals(totals);
    if (n == 0) return HEDDLE_OK;
    status = erase_whole(&c, spans, n, totals);
    if (status != HEDDLE_ERROR_NO_MEMORY || !hd_any_staged(table, spans, 2)) return status;
    status = erase_slices(&c, spans, n, n, totals);
    if (status != HEDDLE_ERROR_NO_MEMORY) return status;
    hd_stages_free(table->device); /* and with buffers as small as they get */
    return erase_slices(&c, spans, n, 1, totals);
}
