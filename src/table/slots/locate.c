/*
 * locate.c: handles of pairs: which slot a key is in, and what is in a slot. For schemes that never
 * move a pair.
 */
#include <string.h>

#include "base/error.h"
#include "host/public_struct.h"
#include "host/stage.h"
#include "table/slots/slots.h"

static heddle_status check_stable(const heddle_table *table, const void *stream, const char *what)
{
    HD_TRY(hd_check_table(table, stream, what));
    if (table->options.container == HEDDLE_CONTAINER_MULTIMAP)
        return hd_fail(HEDDLE_ERROR_UNSUPPORTED,
                       "%s: in a multimap a key has several pairs, and no handle of its own", what);
    if (table->options.scheme != HEDDLE_SCHEME_OPEN &&
        table->options.scheme != HEDDLE_SCHEME_ICEBERG)
        return hd_fail(HEDDLE_ERROR_UNSUPPORTED,
                       "%s: only open and iceberg tables leave every pair where it is", what);
    return HEDDLE_OK;
}

typedef struct slots_call {
    heddle_table *table;
    const hd_call *call;
} slots_call;

/* ------------------------------------------------------------------------------------- locate */

/* hd_slice_work: spans are keys and slots. */
static heddle_status locate_slice(void *context, void *const device[HD_SPANS_MAX], uint64_t first,
                                  uint64_t n)
{
    const slots_call *c = (const slots_call *)context;
    const hd_slots_table *slots = hd_slots(c->table);
    hd_batch batch;
    (void)first;
    memset(&batch, 0, sizeof batch);
    batch.keys = device[0];
    batch.slots = (uint64_t *)device[1];
    batch.n = n;
    batch.counts = c->call->counts;
    batch.shares = c->call->shares;
    return slots->ops->locate(c->table->device, &slots->storage.view, &batch, c->call->stream);
}

heddle_status heddle_table_locate(heddle_table *table, const void *keys, uint64_t n,
                                  uint64_t *slots, heddle_totals *totals, void *stream)
{
    hd_request r = {.waits = totals != NULL, .stream = stream};
    HD_CALL(call);
    slots_call c = {table, &call};
    HD_TRY(check_stable(table, stream, "locate"));
    HD_TRY(hd_check_array(keys, n, hd_key_width(table), "keys"));
    HD_TRY(hd_check_array(slots, n, sizeof *slots, "slots"));
    HD_TRY(hd_check_totals(totals));
    HD_TRY(hd_call_begin(table, r.waits, stream, &call));
    const hd_slices slices = {
        .device = table->device,
        .spans = {hd_span_in(keys, hd_key_width(table)), hd_span_out(slots, sizeof *slots)},
        .n = n,
        .slice = &table->slice,
        .at_once = true,
        .stream = stream,
    };
    HD_TRY(hd_for_slices(&slices, locate_slice, &c));
    HD_TRY(hd_call_finish(&call, &r));
    if (totals != NULL) {
        hd_clear_totals(totals);
        hd_totals_add(totals, &r.counts);
    }
    return HEDDLE_OK;
}

/* ----------------------------------------------------------------------------------------- at */

/* hd_slice_work: spans are slots, keys, values and found flags. */
static heddle_status at_slice(void *context, void *const device[HD_SPANS_MAX], uint64_t first,
                              uint64_t n)
{
    const slots_call *c = (const slots_call *)context;
    const hd_slots_table *slots = hd_slots(c->table);
    hd_batch batch;
    (void)first;
    memset(&batch, 0, sizeof batch);
    batch.slots = (uint64_t *)device[0];
    batch.keys_out = device[1];
    batch.values_out = device[2];
    batch.found = (uint8_t *)device[3];
    batch.n = n;
    return slots->ops->at(c->table->device, &slots->storage.view, &batch, c->call->stream);
}

heddle_status heddle_table_at(heddle_table *table, const uint64_t *slots, uint64_t n, void *keys,
                              void *values, uint8_t *found, void *stream)
{
    HD_CALL(call);
    slots_call c = {table, &call};
    HD_TRY(check_stable(table, stream, "at"));
    HD_TRY(hd_check_array(slots, n, sizeof *slots, "slots"));
    if (values != NULL && hd_value_width(table) == 0)
        return hd_fail(HEDDLE_ERROR_INVALID, "at: a set has no values");
    if (keys != NULL) HD_TRY(hd_check_array(keys, n, hd_key_width(table), "keys"));
    if (values != NULL) HD_TRY(hd_check_array(values, n, hd_value_width(table), "values"));
    HD_TRY(hd_call_begin(table, false, stream, &call));
    const hd_slices slices = {
        .device = table->device,
        /* Vacant slots leave keys and values as they are. */
        .spans = {hd_span_in(slots, sizeof *slots), hd_span_update(keys, hd_key_width(table)),
                  hd_span_update(values, hd_value_width(table)), hd_span_out(found, 1)},
        .n = n,
        .slice = &table->slice,
        .at_once = true,
        .stream = stream,
    };
    return hd_for_slices(&slices, at_slice, &c);
}
