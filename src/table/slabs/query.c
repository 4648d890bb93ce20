/* query.c: looking keys up in slab hashes, and erasing them. */
#include <string.h>

#include "host/stage.h"
#include "table/multi_query.h"
#include "table/slabs/slabs.h"

typedef struct lookup_call {
    heddle_table *table;
    uint32_t operation; /* HD_SLAB_FIND, HD_SLAB_ERASE or HD_SLAB_ERASE_ALL */
    hd_call call;
    void *stream;
} lookup_call;

/* All pairs of keys: of equal keys one is given the right to erase them, then it does. */
static heddle_status erase_all(const lookup_call *c, hd_slab_batch *batch)
{
    const hd_slabs_table *t = hd_slabs(c->table);
    heddle_status status;
    if (batch->found == NULL) batch->found = t->outcomes;
    batch->operation = HD_SLAB_CLAIM;
    status = t->ops->batch_all(c->table->device, &t->storage.view, batch, c->stream);
    batch->operation = HD_SLAB_ERASE_ALL;
    return status == HEDDLE_OK
               ? t->ops->batch_all(c->table->device, &t->storage.view, batch, c->stream)
               : status;
}

/* hd_slice_work: spans are keys, found flags, values. */
static heddle_status lookup_slice(void *context, void *const device[HD_SPANS_MAX], uint64_t first,
                                  uint64_t n)
{
    const lookup_call *c = (const lookup_call *)context;
    const hd_slabs_table *t = hd_slabs(c->table);
    hd_slab_batch batch;
    (void)first;
    memset(&batch, 0, sizeof batch);
    batch.operation = c->operation;
    batch.keys = device[0];
    batch.found = (uint8_t *)device[1];
    batch.values_out = device[2];
    batch.n = n;
    batch.counts = c->call.counts;
    batch.born = &c->table->control->born;
    batch.died = &c->table->control->died;
    return c->operation == HD_SLAB_ERASE_ALL
               ? erase_all(c, &batch)
               : t->ops->batch(c->table->device, &t->storage.view, &batch, c->stream);
}

static heddle_status lookup(heddle_table *table, uint32_t operation, const hd_span *spans,
                            uint64_t n, heddle_totals *totals, void *stream)
{
    /* Flags that nobody asked for are as many as a slice. */
    const bool whole = operation != HD_SLAB_ERASE_ALL || spans[1].user != NULL;
    lookup_call c = {table, operation, {NULL, NULL, 0}, stream};
    heddle_status status = hd_call_begin(table, totals != NULL, stream, &c.call);
    if (status != HEDDLE_OK) return status;
    if (!whole || hd_any_staged(table, spans, 3))
        status = hd_for_slices(table, spans, 3, n, lookup_slice, &c, stream);
    else if (n != 0) {
        void *const device[HD_SPANS_MAX] = {spans[0].user, spans[1].user, spans[2].user};
        status = lookup_slice(&c, device, 0, n);
    }
    return hd_call_finish(table, &c.call, status, totals, stream);
}

heddle_status hd_slabs_find(heddle_table *table, const void *keys, uint64_t n, void *values,
                            uint8_t *found, heddle_totals *totals, void *stream)
{
    const hd_span spans[3] = {
        {(void *)(uintptr_t)keys, hd_key_width(table), true, false},
        {found, 1, false, true},
        {values, hd_value_width(table), true, true}, /* in too: absent keys leave it as it is */
    };
    return lookup(table, HD_SLAB_FIND, spans, n, totals, stream);
}

heddle_status hd_slabs_erase(heddle_table *table, const void *keys, uint64_t n, uint8_t *found,
                             heddle_totals *totals, void *stream)
{
    const hd_span spans[3] = {{(void *)(uintptr_t)keys, hd_key_width(table), true, false},
                              {found, 1, false, true},
                              {NULL, 0, false, false}};
    hd_slabs_note_erased(table, n); /* keys, of which a multimap may have several pairs */
    return lookup(table, hd_slabs_multi(table) ? HD_SLAB_ERASE_ALL : HD_SLAB_ERASE, spans, n,
                  totals, stream);
}

/* -------------------------------------------------------------------------------- count, retrieve */

static heddle_status ask_all(heddle_table *table, uint32_t operation, const hd_multi_batch *keys,
                             void *stream)
{
    const hd_slabs_table *t = hd_slabs(table);
    hd_slab_batch batch;
    memset(&batch, 0, sizeof batch);
    batch.operation = operation;
    batch.keys = keys->keys;
    batch.n = keys->n;
    batch.counts = keys->counts;
    batch.matches = keys->matches;
    batch.places = keys->places;
    batch.values_out = keys->values_out;
    return t->ops->batch_all(table->device, &t->storage.view, &batch, stream);
}

static heddle_status count_all(heddle_table *table, const hd_multi_batch *keys, void *stream)
{
    return ask_all(table, HD_SLAB_COUNT, keys, stream);
}

static heddle_status retrieve_all(heddle_table *table, const hd_multi_batch *keys, void *stream)
{
    return ask_all(table, HD_SLAB_RETRIEVE, keys, stream);
}

static const hd_multi_search search = {count_all, retrieve_all};

heddle_status hd_slabs_count(heddle_table *table, const void *keys, uint64_t n, uint64_t *matches,
                             heddle_totals *totals, void *stream)
{
    return hd_multi_count(table, &search, keys, n, matches, totals, stream);
}

heddle_status hd_slabs_retrieve(heddle_table *table, const void *keys, uint64_t n,
                                uint64_t *offsets, void *values, uint64_t capacity, uint64_t *count,
                                void *stream)
{
    return hd_multi_retrieve(table, &search, keys, n, offsets, values, capacity, count, stream);
}
