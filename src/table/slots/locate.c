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
    if ((table->options.scheme != HEDDLE_SCHEME_OPEN &&
         table->options.scheme != HEDDLE_SCHEME_ICEBERG) ||
        table->options.container == HEDDLE_CONTAINER_MULTIMAP)
        return hd_fail(HEDDLE_ERROR_UNSUPPORTED,
                       "%s: only open and iceberg tables leave every pair where it is", what);
    return HEDDLE_OK;
}

typedef struct slots_call {
    heddle_table *table;
    hd_call call; /* locate */
    void *stream;
} slots_call;

/* Runs `work` on all of a call at once where its arrays lie on the device, since it needs no workspace. */
static heddle_status for_all(const hd_span *spans, int count, uint64_t n, hd_slice_work work,
                             slots_call *c)
{
    void *device[HD_SPANS_MAX] = {NULL};
    if (hd_any_staged(c->table, spans, count))
        return hd_for_slices(c->table, spans, count, n, work, c, c->stream);
    for (int i = 0; i < count; i++) device[i] = spans[i].user;
    return n != 0 ? work(c, device, 0, n) : HEDDLE_OK;
}

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
    batch.counts = c->call.counts;
    return slots->ops->locate(c->table->device, &slots->storage.view, &batch, c->stream);
}

heddle_status heddle_table_locate(heddle_table *table, const void *keys, uint64_t n,
                                  uint64_t *slots, heddle_totals *totals, void *stream)
{
    slots_call c = {table, {NULL, NULL, 0}, stream};
    heddle_status status = check_stable(table, stream, "locate");
    if (status == HEDDLE_OK) status = hd_check_array(keys, n, hd_key_width(table), "keys");
    if (status == HEDDLE_OK) status = hd_check_array(slots, n, sizeof *slots, "slots");
    if (status == HEDDLE_OK) status = hd_check_totals(totals);
    if (status == HEDDLE_OK) status = hd_call_begin(table, totals != NULL, stream, &c.call);
    if (status != HEDDLE_OK) return status;
    const hd_span spans[2] = {{(void *)(uintptr_t)keys, hd_key_width(table), true, false},
                              {slots, sizeof *slots, false, true}};
    status = for_all(spans, 2, n, locate_slice, &c);
    return hd_call_finish(table, &c.call, status, totals, stream);
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
    return slots->ops->at(c->table->device, &slots->storage.view, &batch, c->stream);
}

heddle_status heddle_table_at(heddle_table *table, const uint64_t *slots, uint64_t n, void *keys,
                              void *values, uint8_t *found, void *stream)
{
    slots_call c = {table, {NULL, NULL, 0}, stream};
    HD_TRY(check_stable(table, stream, "at"));
    HD_TRY(hd_check_array(slots, n, sizeof *slots, "slots"));
    if (values != NULL && hd_value_width(table) == 0)
        return hd_fail(HEDDLE_ERROR_INVALID, "at: a set has no values");
    if (keys != NULL) HD_TRY(hd_check_array(keys, n, hd_key_width(table), "keys"));
    if (values != NULL) HD_TRY(hd_check_array(values, n, hd_value_width(table), "values"));
    const hd_span spans[4] = {
        {(void *)(uintptr_t)slots, sizeof *slots, true, false},
        {keys, hd_key_width(table), true, true}, /* in too: vacant slots leave both as they are */
        {values, hd_value_width(table), true, true},
        {found, 1, false, true},
    };
    return for_all(spans, 4, n, at_slice, &c);
}
