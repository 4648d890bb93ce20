/*
 * query.c: find, contains and erase, which look every key of a batch up once; count and retrieve.
 * Where keys have one value or none these two are what find says, in the shape of the calls that
 * are made for multimaps. Their scratch memory: a flag, a row number and a value for every key of
 * the batch.
 */
#include <string.h>

#include "base/error.h"
#include "host/lent.h"
#include "table/multi_query.h"
#include "table/pieces.h"
#include "table/slots/slots.h"

/* -------------------------------------------------------------------------------- find, erase */

typedef heddle_status (*lookup_op)(heddle_device *device, const hd_view *view,
                                   const hd_batch *batch, void *stream);

typedef struct lookup_call {
    heddle_table *table;
    lookup_op op;
    const hd_call *call;
} lookup_call;

/* hd_slice_work: spans as hd_lookup_slices has them. */
static heddle_status lookup_slice(void *context, void *const device[HD_SPANS_MAX], uint64_t first,
                                  uint64_t n)
{
    const lookup_call *c = (const lookup_call *)context;
    hd_batch batch;
    (void)first;
    memset(&batch, 0, sizeof batch);
    batch.keys = device[0];
    batch.found = (uint8_t *)device[1];
    batch.values_out = device[2];
    batch.n = n;
    batch.counts = c->call->counts;
    batch.shares = c->call->shares;
    batch.tally = &c->table->control->died;
    return c->op(c->table->device, &hd_slots(c->table)->storage.view, &batch, c->call->stream);
}

static heddle_status look_up(heddle_table *table, lookup_op op, hd_request *r)
{
    const hd_slices slices = hd_lookup_slices(table, r);
    HD_CALL(call);
    lookup_call c = {table, op, &call};
    HD_TRY(hd_call_begin(table, r->waits, r->stream, &call));
    HD_TRY(hd_for_slices(&slices, lookup_slice, &c));
    return hd_call_finish(&call, r);
}

heddle_status hd_slots_find(heddle_table *table, hd_request *r)
{
    const hd_table_ops *ops = hd_slots(table)->ops;
    return look_up(table, r->values_out != NULL ? ops->find : ops->contains, r);
}

heddle_status hd_slots_erase(heddle_table *table, hd_request *r)
{
    hd_slots_table *t = hd_slots(table);
    t->erased += r->n; /* at most; see hd_slots_tidy */
    t->gaps |= r->n != 0;
    t->viewed |= table->engine->is_recording(table->device, r->stream);
    return look_up(table, t->ops->erase, r);
}

/* ---------------------------------------------------------------- count, retrieve: multimaps */

static hd_batch batch_of(const hd_multi_batch *from)
{
    hd_batch batch;
    memset(&batch, 0, sizeof batch);
    batch.keys = from->keys;
    batch.n = from->n;
    batch.counts = from->counts;
    batch.matches = from->matches;
    batch.places = from->places;
    batch.values_out = from->values_out;
    return batch;
}

static heddle_status count_many(heddle_table *table, const hd_multi_batch *keys, void *stream)
{
    const hd_slots_table *t = hd_slots(table);
    const hd_batch batch = batch_of(keys);
    return t->ops->count(table->device, &t->storage.view, &batch, stream);
}

static heddle_status retrieve_many(heddle_table *table, const hd_multi_batch *keys, void *stream)
{
    const hd_slots_table *t = hd_slots(table);
    const hd_batch batch = batch_of(keys);
    return t->ops->retrieve(table->device, &t->storage.view, &batch, stream);
}

static const hd_multi_search many = {count_many, retrieve_many};

/* -------------------------------------------------------- count, retrieve: one value or none */

/* A batch looked up, and which of its keys were found. */
typedef struct hits {
    heddle_table *table;
    const hd_column_ops *columns;
    hd_scratch *scratch;
    uint64_t n;
    uint8_t *found;
    void *values;    /* of all keys, where they are asked for */
    uint64_t *rows;  /* of the keys that were found */
    uint64_t *count; /* how many; device memory */
    uint64_t hits;   /* the same, on the host */
    void *work;
    void *stream;
} hits;

static heddle_status find_hits(hits *h, hd_request *r, bool values)
{
    heddle_table *table = h->table;
    heddle_device *device = table->device;
    hd_request find = *r;
    h->columns = table->engine->columns;
    h->n = r->n;
    h->stream = r->stream;
    if (h->columns == NULL)
        return hd_fail(HEDDLE_ERROR_UNSUPPORTED, "this device cannot count and retrieve");
    HD_TRY(hd_scratch_take(h->scratch, h->n, (void **)&h->found));
    if (values) HD_TRY(hd_scratch_take(h->scratch, h->n * hd_value_width(table), &h->values));
    HD_TRY(hd_scratch_take(h->scratch, h->n * sizeof *h->rows, (void **)&h->rows));
    HD_TRY(hd_scratch_take(h->scratch, sizeof *h->count, (void **)&h->count));
    HD_TRY(hd_scratch_take(h->scratch, h->columns->work(device, h->n), &h->work));
    find.values_out = h->values;
    find.found = h->found;
    find.matches = NULL;
    HD_TRY(hd_slots_find(table, &find));
    r->counts = find.counts;
    HD_TRY(h->columns->select(hd_on(device, h->work, h->stream), hd_flags_of(h->found, h->n, true),
                              h->rows, 64, h->count));
    return hd_read_back(table, &h->hits, h->count, sizeof h->hits, h->stream);
}

heddle_status hd_slots_count(heddle_table *table, hd_request *r)
{
    HD_SCRATCH(scratch, table->device);
    hits h = {.table = table, .scratch = &scratch};
    hd_lent out;
    if (hd_is_multimap(table)) return hd_multi_count(table, r, &many);
    HD_TRY(find_hits(&h, r, false));
    HD_TRY(hd_lend_out(&scratch, r->matches, h.n * sizeof *r->matches, &out));
    if (h.n != 0) HD_TRY(table->engine->fill(table->device, out.memory, 0, out.bytes, h.stream));
    if (h.hits != 0)
        HD_TRY(h.columns->scatter(hd_on(table->device, NULL, h.stream),
                                  hd_elements_of(NULL, sizeof *r->matches),
                                  hd_at_rows(h.rows, 64, h.hits), out.memory));
    return hd_take_back(table->device, &out, h.stream);
}

/* A key's values begin behind as many as keys before it were found. */
static heddle_status write_offsets(const hits *h, uint64_t *offsets)
{
    heddle_device *device = h->table->device;
    hd_lent out;
    HD_TRY(hd_lend_out(h->scratch, offsets, (h->n + 1) * sizeof *offsets, &out));
    HD_TRY(h->columns->rank(hd_on(device, h->work, h->stream), h->found, h->n, out.memory, 64));
    HD_TRY(h->table->engine->copy(device, (uint64_t *)out.memory + h->n, &h->hits, sizeof h->hits,
                                  h->stream));
    return hd_take_back(device, &out, h->stream);
}

static heddle_status write_values(const hits *h, void *values)
{
    heddle_device *device = h->table->device;
    const uint32_t width = hd_value_width(h->table);
    hd_lent out;
    HD_TRY(hd_lend_out(h->scratch, values, h->hits * width, &out));
    if (h->hits != 0)
        HD_TRY(h->columns->gather(hd_on(device, NULL, h->stream), hd_elements_of(h->values, width),
                                  hd_at_rows(h->rows, 64, h->hits), out.memory));
    return hd_take_back(device, &out, h->stream);
}

heddle_status hd_slots_retrieve(heddle_table *table, hd_request *r)
{
    HD_SCRATCH(scratch, table->device);
    hits h = {.table = table, .scratch = &scratch};
    if (hd_is_multimap(table)) return hd_multi_retrieve(table, r, &many);
    HD_TRY(find_hits(&h, r, r->values_out != NULL));
    HD_TRY(write_offsets(&h, r->offsets));
    *r->count = h.hits;
    if (r->values_out == NULL) return HEDDLE_OK;
    HD_TRY(hd_retrieve_fits(r));
    return write_values(&h, r->values_out);
}
