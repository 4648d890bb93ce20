/*
 * insert.c: batches that change a slab hash: insertions, and mixtures of everything. A call that waits goes
 * slice by slice; where keys found no slab it makes room and gives just those another try. One that does not wait is
 * a single launch.
 */
#include <string.h>

#include "base/error.h"
#include "base/tuning.h"
#include "host/stage.h"
#include "table/failed.h"
#include "table/slabs/slabs.h"
#include "table/slots/regions.h"

#define ROOM_TRIES 32 /* each has half as many slabs more */

typedef struct slab_call {
    heddle_table *table;
    const heddle_insert_options *options;
    uint32_t policy;
    hd_call call;
    void *stream;
    bool grows;           /* and has not failed to */
    bool waits;           /* whether anybody will see what has failed */
    bool mixed;           /* keys may be erased */
    bool apart;           /* the kinds of a mixture are done one after the other */
    heddle_status growth; /* why growth failed */
    uint64_t live;        /* keys in the table, where it grows */
    uint64_t retried;     /* failures that were tried again, to take back from the count */
    uint64_t failed;      /* failures known so far */
    hd_failed_list list;
} slab_call;

static heddle_status run(const slab_call *c, const hd_slab_batch *batch)
{
    hd_slabs_table *t = hd_slabs(c->table);
    hd_slab_batch with_words = *batch; /* of the storage that the table has by now */
    if (c->mixed) hd_slabs_note_erased(c->table, batch->n);
    if (!batch->multi && t->dead) with_words.revived = &t->storage.words->revived;
    return t->ops->batch(c->table->device, &t->storage.view, &with_words, c->stream);
}

/* How many keys of the last run failed, and how many there are now, after a wait. */
static heddle_status look(slab_call *c, uint64_t *left)
{
    heddle_table *table = c->table;
    uint64_t *born_died = &table->readback->born;
    hd_counts counts;
    HD_TRY(table->engine->copy(table->device, born_died, &table->control->born,
                               2 * sizeof *born_died, c->stream));
    HD_TRY(hd_call_read(table, &c->call, c->stream, &counts));
    c->live = born_died[0] - born_died[1];
    *left = counts.at[HD_FAILED] - c->failed;
    c->failed = counts.at[HD_FAILED];
    return HEDDLE_OK;
}

/* Makes room until the failed keys of a slice fit; *left says how many still do not. */
static heddle_status try_again(slab_call *c, hd_slab_batch *batch, uint64_t *left)
{
    batch->retry = true;
    for (int i = 0; i < ROOM_TRIES && *left != 0; i++) {
        const uint64_t before = *left;
        bool made = false;
        heddle_status status = hd_slabs_make_room(c->table, *left, &made, c->stream);
        if (status == HEDDLE_ERROR_NO_MEMORY) {
            c->grows = false;
            c->growth = status;
            return HEDDLE_OK;
        }
        if (status != HEDDLE_OK || !made) return status;
        c->retried += *left;
        status = run(c, batch);
        if (status == HEDDLE_OK) status = look(c, left);
        if (status != HEDDLE_OK) return status;
        if (*left == before && hd_slabs_fixed(c->table)) return HEDDLE_OK;
    }
    return HEDDLE_OK;
}

static hd_slab_batch batch_of(const slab_call *c, void *const device[HD_SPANS_MAX], uint64_t n)
{
    heddle_table *table = c->table;
    hd_slab_batch batch;
    memset(&batch, 0, sizeof batch);
    batch.operation = HD_SLAB_INSERT;
    batch.policy = c->policy;
    batch.multi = hd_slabs_multi(table);
    batch.apart = c->apart;
    batch.keys = device[0];
    batch.values = device[1];
    batch.outcomes = (uint8_t *)device[2];
    batch.operations = (const uint8_t *)device[3];
    batch.values_out = device[4];
    batch.n = n;
    batch.counts = c->call.counts;
    batch.born = &table->control->born;
    batch.died = &table->control->died;
    return batch;
}

/* hd_slice_work: spans are keys, values, outcomes, operations, values_out. */
static heddle_status work_slice(void *context, void *const device[HD_SPANS_MAX], uint64_t first,
                                uint64_t n)
{
    slab_call *c = (slab_call *)context;
    hd_slab_batch batch = batch_of(c, device, n);
    uint64_t left = 0;
    heddle_status status = HEDDLE_OK;
    if (c->grows) status = hd_slabs_more_lists(c->table, c->live, n, c->stream);
    if (batch.outcomes == NULL && c->waits) batch.outcomes = hd_slabs(c->table)->outcomes;
    if (status == HEDDLE_OK) status = run(c, &batch);
    if (status == HEDDLE_OK && c->waits) status = look(c, &left);
    if (status == HEDDLE_OK && left != 0 && c->growth == HEDDLE_OK)
        status = try_again(c, &batch, &left);
    if (status == HEDDLE_OK && left != 0)
        status = hd_failed_add(c->table, &c->list, batch.outcomes, first, n, c->stream);
    return status;
}

/* ----------------------------------------------------------------------------------- the call */

/* Reads the sums of a waiting call. */
static heddle_status finish(slab_call *c, hd_counts *counts)
{
    HD_TRY(hd_call_read(c->table, &c->call, c->stream, counts));
    counts->at[HD_FAILED] -= c->retried;
    if (counts->at[HD_FAILED] == 0) return HEDDLE_OK;
    if (c->growth != HEDDLE_OK) return c->growth;
    return hd_fail(HEDDLE_ERROR_FULL, "%llu %s found no slab in the table, which was made for %llu",
                   (unsigned long long)counts->at[HD_FAILED],
                   hd_slabs_multi(c->table) ? "pairs" : "keys",
                   (unsigned long long)hd_slabs(c->table)->storage.capacity);
}

/* The slices of a call that waits. */
static heddle_status in_slices(slab_call *c, const hd_span *spans, uint64_t n, hd_counts *counts)
{
    uint64_t none = 0;
    heddle_status status = hd_failed_begin(c->table, c->options, &c->list);
    if (status != HEDDLE_OK) return status;
    status = hd_call_begin(c->table, true, c->stream, &c->call);
    if (status == HEDDLE_OK) {
        if (c->grows) status = look(c, &none);
        if (status == HEDDLE_OK)
            status = hd_for_slices(c->table, spans, 5, n, work_slice, c, c->stream);
        if (status == HEDDLE_OK) status = finish(c, counts);
        hd_call_end(c->table, &c->call);
    }
    hd_failed_end(&c->list);
    return status;
}

/* All in one launch, which nobody waits for. */
static heddle_status at_once(slab_call *c, const hd_span *spans, uint64_t n)
{
    void *const device[HD_SPANS_MAX] = {spans[0].user, spans[1].user, spans[2].user, spans[3].user,
                                        spans[4].user};
    const heddle_status status = hd_call_begin(c->table, false, c->stream, &c->call);
    return status == HEDDLE_OK && n != 0 ? work_slice(c, device, 0, n) : status;
}

/* Whether batches are large enough for that. */
static bool is_apart(const slab_call *c, uint64_t n)
{
    const uint64_t least = hd_slabs(c->table)->ops->apart_least;
    const uint64_t slice = c->waits && n > c->table->slice ? c->table->slice : n;
    return c->mixed && !hd_slabs_multi(c->table) && least != UINT64_MAX &&
           slice >= hd_tuned(hd_tune.region_keys_min, least);
}

heddle_status hd_slabs_mixed(heddle_table *table, const hd_mixed *b,
                             const heddle_insert_options *options, bool *waited, hd_counts *counts,
                             void *stream)
{
    const hd_span spans[HD_SPANS_MAX] = {
        {(void *)(uintptr_t)b->keys, hd_key_width(table), true, false},
        {(void *)(uintptr_t)b->values, hd_value_width(table), true, false},
        {options->outcomes, 1, false, true},
        {(void *)(uintptr_t)b->operations, 1, true, false},
        {b->values_out, hd_value_width(table), true, true}, /* in too: it may be left as it is */
    };
    slab_call c;
    memset(&c, 0, sizeof c);
    c.table = table;
    c.options = options;
    c.policy = hd_slabs_policy(table, options);
    c.stream = stream;
    c.mixed = b->operations != NULL;
    c.grows = !hd_slabs_fixed(table);
    c.waits = c.grows || hd_failed_wanted(options) || *waited || table->engine->host_memory ||
              hd_any_staged(table, spans, 5);
    *waited = false;
    c.apart = is_apart(&c, b->n);
    HD_TRY(hd_slabs_tidy(table, !hd_slabs_multi(table) && (!c.mixed || c.apart), stream));
    *waited = c.waits;
    return c.waits ? in_slices(&c, spans, b->n, counts) : at_once(&c, spans, b->n);
}
