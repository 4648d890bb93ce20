/* query.c: find, contains and erase: the operations that look every key of a batch up once. */
#include <string.h>

#include "host/stage.h"
#include "table/slots/slots.h"

typedef heddle_status (*lookup_op)(heddle_device *device, const hd_view *view,
                                   const hd_batch *batch, void *stream);

typedef struct lookup_call {
    heddle_table *table;
    lookup_op op;
    hd_call call;
    void *stream;
} lookup_call;

/* hd_slice_work: spans are keys, found flags, values. */
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
    batch.counts = c->call.counts;
    batch.tally = &c->table->control->died;
    return c->op(c->table->device, &hd_slots(c->table)->storage.view, &batch, c->stream);
}

static heddle_status lookup(heddle_table *table, lookup_op op, const hd_span *spans, int count,
                            uint64_t n, heddle_totals *totals, void *stream)
{
    lookup_call c = {table, op, {NULL, NULL, 0}, stream};
    heddle_status status = hd_call_begin(table, totals != NULL, stream, &c.call);
    if (status != HEDDLE_OK) return status;
    if (hd_any_staged(table, spans, count))
        status = hd_for_slices(table, spans, count, n, lookup_slice, &c, stream);
    else if (n != 0) { /* no workspace is needed, so one launch does it all */
        void *const device[HD_SPANS_MAX] = {spans[0].user, spans[1].user,
                                            count > 2 ? spans[2].user : NULL};
        status = lookup_slice(&c, device, 0, n);
    }
    return hd_call_finish(table, &c.call, status, totals, stream);
}

heddle_status hd_slots_find(heddle_table *table, const void *keys, uint64_t n, void *values,
                            uint8_t *found, heddle_totals *totals, void *stream)
{
    const hd_table_ops *ops = hd_slots(table)->ops;
    const hd_span spans[3] = {
        {(void *)(uintptr_t)keys, hd_key_width(table), true, false},
        {found, 1, false, true},
        {values, hd_value_width(table), true, true}, /* in too: absent keys leave it as it is */
    };
    return values != NULL ? lookup(table, ops->find, spans, 3, n, totals, stream)
                          : lookup(table, ops->contains, spans, 2, n, totals, stream);
}

heddle_status hd_slots_erase(heddle_table *table, const void *keys, uint64_t n, uint8_t *found,
                             heddle_totals *totals, void *stream)
{
    const hd_span spans[2] = {{(void *)(uintptr_t)keys, hd_key_width(table), true, false},
                              {found, 1, false, true}};
    hd_slots(table)->erased += n; /* at most; see marks.c */
    hd_slots(table)->gaps |= n != 0;
    hd_slots(table)->viewed |= table->engine->is_recording(table->device, stream);
    return lookup(table, hd_slots(table)->ops->erase, spans, 2, n, totals, stream);
}
