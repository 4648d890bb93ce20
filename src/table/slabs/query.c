/* query.c: looking keys up in slab hashes, and erasing them. */
#include <string.h>

#include "base/error.h"
#include "table/multi_query.h"
#include "table/slabs/slabs.h"

typedef struct lookup_call {
    heddle_table *table;
    uint32_t operation; /* HD_SLAB_FIND, HD_SLAB_ERASE or HD_SLAB_ERASE_ALL */
    const hd_call *call;
} lookup_call;

/* All pairs of keys: of equal keys one is given the right to erase them, then it does. */
static heddle_status erase_all(const lookup_call *c, hd_slab_batch *batch)
{
    const hd_slabs_table *t = hd_slabs(c->table);
    heddle_device *device = c->table->device;
    if (batch->found == NULL) batch->found = t->outcomes;
    batch->operation = HD_SLAB_CLAIM;
    HD_TRY(t->ops->batch_all(device, &t->storage.view, batch, c->call->stream));
    batch->operation = HD_SLAB_ERASE_ALL;
    return t->ops->batch_all(device, &t->storage.view, batch, c->call->stream);
}

/* hd_slice_work: spans as hd_lookup_slices has them. */
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
    batch.counts = c->call->counts;
    batch.born = &c->table->control->born;
    batch.died = &c->table->control->died;
    return c->operation == HD_SLAB_ERASE_ALL
               ? erase_all(c, &batch)
               : t->ops->batch(c->table->device, &t->storage.view, &batch, c->call->stream);
}

static heddle_status look_up(heddle_table *table, uint32_t operation, hd_request *r)
{
    hd_slices slices = hd_lookup_slices(table, r);
    HD_CALL(call);
    lookup_call c = {table, operation, &call};
    /* Flags that nobody asked for are as many as a slice. */
    slices.at_once = operation != HD_SLAB_ERASE_ALL || r->found != NULL;
    HD_TRY(hd_call_begin(table, r->waits, r->stream, &call));
    HD_TRY(hd_for_slices(&slices, lookup_slice, &c));
    return hd_call_finish(&call, r);
}

heddle_status hd_slabs_find(heddle_table *table, hd_request *r)
{
    return look_up(table, HD_SLAB_FIND, r);
}

heddle_status hd_slabs_erase(heddle_table *table, hd_request *r)
{
    hd_slabs_note_erased(table, r->n); /* keys, of which a multimap may have several pairs */
    return look_up(table, hd_slabs_multi(table) ? HD_SLAB_ERASE_ALL : HD_SLAB_ERASE, r);
}

/*
 * -------------------------------------------------------------------------------- count, retrieve
 */

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

heddle_status hd_slabs_count(heddle_table *table, hd_request *r)
{
    return hd_multi_count(table, r, &search);
}

heddle_status hd_slabs_retrieve(heddle_table *table, hd_request *r)
{
    return hd_multi_retrieve(table, r, &search);
}
