/*
 * insert_singly.c: insertion key by key. A batch goes through slice by slice: place, then settle. A table that
 * may grow looks after each slice whether keys failed; if so it grows and gives just those keys
 * another try. A fixed table goes on, and the failed keys are listed if the caller wants them.
 */
#include <string.h>

#include "base/error.h"
#include "host/stage.h"
#include "table/failed.h"
#include "table/slots/slots.h"

#define GROW_TRIES 8 /* a table that has doubled this often for one slice will not be helped */

typedef struct insertion {
    heddle_table *table;
    const heddle_insert_options *options;
    hd_call call;
    void *stream;
    bool grows;           /* growth is allowed and has not failed yet */
    heddle_status growth; /* why growth failed */
    uint64_t retried;     /* failures that were tried again, to take back from the count */
    uint64_t failed;      /* failures known so far */
    hd_failed_list list;
    hd_counts counts; /* the sums of a call that waited */
} insertion;

static heddle_status run_slice(const insertion *in, const hd_batch *batch)
{
    heddle_table *table = in->table;
    hd_batch own = *batch;
    own.heads = hd_slots(table)->storage.heads;
    own.next = hd_slots(table)->storage.next;
    HD_TRY(hd_slots(table)->ops->place(table->device, &hd_slots(table)->storage.view, &own,
                                       in->stream));
    return hd_slots(table)->ops->settle(table->device, &hd_slots(table)->storage.view, &own, NULL,
                                        0, in->stream);
}

/* How many keys of the last run failed, after a wait. */
static heddle_status read_failed(insertion *in, uint64_t *fresh)
{
    hd_counts counts;
    HD_TRY(hd_call_read(in->table, &in->call, in->stream, &counts));
    *fresh = counts.at[HD_FAILED] - in->failed;
    in->failed = counts.at[HD_FAILED];
    return HEDDLE_OK;
}

/* Grows until the failed keys of a slice fit; *left says how many still do not. */
static heddle_status grow_and_retry(insertion *in, hd_batch *batch, uint64_t *left)
{
    const bool scratch = batch->outcomes == hd_slots(in->table)->storage.outcomes;
    batch->retry = 1;
    for (int i = 0; i < GROW_TRIES && *left != 0; i++) {
        heddle_status status = hd_table_grow(in->table, *left, in->stream);
        if (status != HEDDLE_OK) {
            in->grows = false;
            in->growth = status;
            return status == HEDDLE_ERROR_DEVICE ? status : HEDDLE_OK;
        }
        in->retried += *left;
        if (scratch)
            batch->outcomes = hd_slots(in->table)->storage.outcomes; /* moved with the table */
        status = run_slice(in, batch);
        if (status == HEDDLE_OK) status = read_failed(in, left);
        if (status != HEDDLE_OK) return status;
    }
    return HEDDLE_OK;
}

/* hd_slice_work: spans are keys, values, outcomes. */
static heddle_status insert_slice(void *context, void *const device[HD_SPANS_MAX], uint64_t first,
                                  uint64_t n)
{
    insertion *in = (insertion *)context;
    heddle_table *table = in->table;
    const bool asks = in->grows || hd_failed_wanted(in->options);
    uint64_t left = 0;
    heddle_status status;
    hd_batch batch;
    memset(&batch, 0, sizeof batch);
    batch.keys = device[0];
    batch.values = device[1];
    batch.outcomes = (uint8_t *)device[2];
    batch.n = n;
    batch.policy = in->options->policy;
    batch.counts = in->call.counts;
    batch.tally = &table->control->born;
    if (batch.outcomes == NULL && asks) batch.outcomes = hd_slots(table)->storage.outcomes;
    status = run_slice(in, &batch);
    if (status != HEDDLE_OK || !asks) return status;
    status = read_failed(in, &left);
    if (status == HEDDLE_OK && left != 0 && in->grows) status = grow_and_retry(in, &batch, &left);
    if (status == HEDDLE_OK && left != 0)
        status = hd_failed_add(table, &in->list, batch.outcomes, first, n, in->stream);
    return status;
}

/* ----------------------------------------------------------------------------------- the call */

/* Reads the sums of a waiting call. */
static heddle_status finish(insertion *in)
{
    heddle_table *table = in->table;
    const bool is_multi = hd_is_multimap(table);
    hd_counts counts;
    HD_TRY(hd_call_read(table, &in->call, in->stream, &counts));
    counts.at[HD_FAILED] -= in->retried;
    table->evictions += counts.at[HD_EVICTIONS];
    in->counts = counts;
    if (counts.at[HD_FAILED] == 0) return HEDDLE_OK;
    if (in->growth != HEDDLE_OK)
        return is_multi
                   ? hd_fail(in->growth,
                             "%llu pairs found no room and the table could not grow: a key with "
                             "very many values is for the scheme hashgraph",
                             (unsigned long long)counts.at[HD_FAILED])
                   : in->growth;
    return hd_slots_fail_full(table, counts.at[HD_FAILED]);
}

heddle_status hd_slots_fail_full(const heddle_table *table, uint64_t failed)
{
    const bool is_multi = hd_is_multimap(table);
    return hd_fail(HEDDLE_ERROR_FULL, "%llu %s did not fit into the table of %llu slots%s",
                   (unsigned long long)failed, is_multi ? "pairs" : "keys",
                   (unsigned long long)table->options.capacity,
                   is_multi ? "; the scheme hashgraph is made for keys with very many values" : "");
}

heddle_status hd_slots_insert_singly(heddle_table *table, const void *keys, const void *values,
                                     uint64_t n, const heddle_insert_options *options, bool *waited,
                                     hd_counts *counts, void *stream)
{
    const hd_span spans[3] = {
        {(void *)(uintptr_t)keys, hd_key_width(table), true, false},
        {(void *)(uintptr_t)values, hd_value_width(table), true, false},
        {options->outcomes, 1, false, true},
    };
    const bool grows = (table->options.flags & HEDDLE_FLAG_FIXED) == 0;
    const bool waits = grows || hd_failed_wanted(options) || *waited ||
                       table->engine->host_memory || hd_any_staged(table, spans, 3);
    insertion in;
    heddle_status status = hd_marks_renew(table, stream);
    *waited = false;
    memset(&in, 0, sizeof in);
    in.table = table;
    in.options = options;
    in.stream = stream;
    in.grows = grows;
    if (status == HEDDLE_OK) status = hd_failed_begin(table, options, &in.list);
    if (status != HEDDLE_OK) return status;
    status = hd_call_begin(table, waits, stream, &in.call);
    if (status == HEDDLE_OK) {
        status = hd_for_slices(table, spans, 3, n, insert_slice, &in, stream);
        if (status == HEDDLE_OK && waits) status = finish(&in);
        hd_call_end(table, &in.call);
        *waited = waits;
    }
    hd_failed_end(&in.list);
    *counts = in.counts;
    return status;
}

heddle_status hd_slots_insert_listed(heddle_table *table, const void *keys, const void *values,
                                     uint64_t n, uint32_t policy, void *stream, hd_counts *counts)
{
    heddle_insert_options options = HEDDLE_INSERT_OPTIONS_INIT;
    bool waited = true;
    options.policy = policy;
    return hd_slots_insert_singly(table, keys, values, n, &options, &waited, counts, stream);
}
