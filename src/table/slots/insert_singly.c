/*
 * insert_singly.c: insertion key by key. A batch goes through slice by slice: place, then settle. A
 * table that may grow looks after each slice whether keys failed; if so it grows and gives just
 * those keys another try. A fixed table goes on, and the failed keys are listed if the caller wants
 * them.
 */
#include <string.h>

#include "base/error.h"
#include "host/stage.h"
#include "table/slots/slots.h"

#define GROW_TRIES 8 /* a table that has changed this often for one slice will not be helped */

typedef struct insertion {
    heddle_table *table;
    const hd_request *r;
    const hd_call *call;
    hd_failed_list *list;
    bool grows;           /* growth is allowed and has not failed yet */
    heddle_status growth; /* why growth failed */
    uint64_t retried;     /* failures that were tried again, to take back from the count */
    uint64_t failed;      /* failures known so far */
} insertion;

static heddle_status run_slice(const insertion *in, const hd_batch *batch)
{
    const hd_slots_table *t = hd_slots(in->table);
    heddle_device *device = in->table->device;
    hd_batch own = *batch;
    own.heads = t->storage.heads;
    own.next = t->storage.next;
    HD_TRY(t->ops->place(device, &t->storage.view, &own, in->r->stream));
    return t->ops->settle(device, &t->storage.view, &own, in->r->stream);
}

/* How many keys of the last run failed, after a wait. */
static heddle_status read_failed(insertion *in, uint64_t *fresh)
{
    hd_counts counts;
    HD_TRY(hd_call_read(in->call, &counts));
    *fresh = counts.at[HD_FAILED] - in->failed;
    in->failed = counts.at[HD_FAILED];
    return HEDDLE_OK;
}

/* Grows until the failed keys of a slice fit; *left says how many still do not. */
static heddle_status grow_and_retry(insertion *in, hd_batch *batch, uint64_t *left)
{
    const hd_storage *storage = &hd_slots(in->table)->storage;
    const bool own_outcomes = batch->outcomes == storage->outcomes;
    batch->retry = 1;
    for (int i = 0; i < GROW_TRIES && *left != 0; i++) {
        const heddle_status status =
            hd_slots_grow(in->table, *left, i > 0, own_outcomes ? batch->n : 0, in->r->stream);
        if (status != HEDDLE_OK) {
            in->grows = false;
            in->growth = status;
            return status == HEDDLE_ERROR_DEVICE ? status : HEDDLE_OK;
        }
        in->retried += *left;
        if (own_outcomes) batch->outcomes = storage->outcomes; /* moved with the table */
        HD_TRY(run_slice(in, batch));
        HD_TRY(read_failed(in, left));
    }
    return HEDDLE_OK;
}

/* hd_slice_work: spans as hd_insert_slices has them. */
static heddle_status insert_slice(void *context, void *const device[HD_SPANS_MAX], uint64_t first,
                                  uint64_t n)
{
    insertion *in = (insertion *)context;
    heddle_table *table = in->table;
    const bool asks = in->grows || hd_failed_wanted(&in->r->options);
    uint64_t left = 0;
    hd_batch batch;
    memset(&batch, 0, sizeof batch);
    batch.keys = device[0];
    batch.values = device[1];
    batch.outcomes = (uint8_t *)device[2];
    batch.n = n;
    batch.policy = in->r->options.policy;
    batch.counts = in->call->counts;
    batch.tally = &table->control->born;
    if (batch.outcomes == NULL && asks) batch.outcomes = hd_slots(table)->storage.outcomes;
    HD_TRY(run_slice(in, &batch));
    if (!asks) return HEDDLE_OK;
    HD_TRY(read_failed(in, &left));
    if (left != 0 && in->grows) HD_TRY(grow_and_retry(in, &batch, &left));
    return left != 0 ? hd_failed_add(in->list, batch.outcomes, first, n, in->r->stream) : HEDDLE_OK;
}

/* ----------------------------------------------------------------------------------- the call */

heddle_status hd_slots_fail_full(const heddle_table *table, uint64_t failed)
{
    const bool is_multi = hd_is_multimap(table);
    return hd_fail(HEDDLE_ERROR_FULL, "%llu %s did not fit into the table of %llu slots%s",
                   (unsigned long long)failed, is_multi ? "pairs" : "keys",
                   (unsigned long long)table->options.capacity,
                   is_multi ? "; the scheme hashgraph is made for keys with very many values" : "");
}

/* The sums of a call that waits, and what it comes to. */
static heddle_status conclude(const insertion *in, hd_counts *counts)
{
    heddle_table *table = in->table;
    HD_TRY(hd_call_read(in->call, counts));
    counts->at[HD_FAILED] -= in->retried;
    table->evictions += counts->at[HD_EVICTIONS];
    const uint64_t failed = counts->at[HD_FAILED];
    if (failed == 0) return HEDDLE_OK;
    if (in->growth == HEDDLE_OK) return hd_slots_fail_full(table, failed);
    if (!hd_is_multimap(table)) return in->growth;
    return hd_fail(in->growth,
                   "%llu pairs found no room and the table could not grow: a key with very many "
                   "values is for the scheme hashgraph",
                   (unsigned long long)failed);
}

heddle_status hd_slots_insert_singly(heddle_table *table, hd_request *r)
{
    const hd_slices slices = hd_insert_slices(table, r);
    const bool grows = (table->options.flags & HEDDLE_FLAG_FIXED) == 0;
    const bool waits = grows || hd_failed_wanted(&r->options) || r->waits ||
                       table->engine->host_memory || hd_any_staged(&slices);
    HD_FAILED_LIST(list);
    HD_CALL(call);
    insertion in = {table, r, &call, &list, grows, HEDDLE_OK, 0, 0};
    r->waits = false;
    memset(&r->counts, 0, sizeof r->counts);
    HD_TRY(hd_slots_tidy(table, r->stream));
    HD_TRY(hd_failed_begin(table, &r->options, &list));
    HD_TRY(hd_call_begin(table, waits, r->stream, &call));
    r->waits = waits;
    HD_TRY(hd_for_slices(&slices, insert_slice, &in));
    return waits ? conclude(&in, &r->counts) : HEDDLE_OK;
}
