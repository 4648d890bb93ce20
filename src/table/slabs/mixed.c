/*
 * mixed.c: batches that change a slab hash: mixtures of everything, and insertions, which are mixtures without
 * operations. A call that waits goes slice by slice; where keys found no slab it makes room and gives just those another
 * try. One that does not wait is a single launch.
 */
#include <string.h>

#include "base/error.h"
#include "base/tuning.h"
#include "table/slabs/slabs.h"

#define ROOM_TRIES 32 /* each has half as many slabs more */

typedef struct slab_call {
    heddle_table *table;
    const hd_request *r;
    hd_call *call;
    hd_failed_list *list;
    uint32_t policy;
    bool grows;           /* and has not failed to */
    bool waits;           /* whether anybody will see what has failed */
    bool mixed;           /* keys may be erased */
    bool apart;           /* the kinds of a mixture are done one after the other */
    heddle_status growth; /* why growth failed */
    uint64_t live;        /* keys in the table, where it grows */
    uint64_t retried;     /* failures that were tried again, to take back from the count */
    uint64_t failed;      /* failures known so far */
} slab_call;

static heddle_status run(const slab_call *c, const hd_slab_batch *batch)
{
    hd_slabs_table *t = hd_slabs(c->table);
    hd_slab_batch with_words = *batch; /* of the storage that the table has by now */
    if (c->mixed) hd_slabs_note_erased(c->table, batch->n);
    if (!batch->multi && t->dead) with_words.revived = &t->storage.words->revived;
    return t->ops->batch(c->table->device, &t->storage.view, &with_words, c->r->stream);
}

/* How many keys of the last run failed, and how many there are now, after a wait. */
static heddle_status look(slab_call *c, uint64_t *left)
{
    heddle_table *table = c->table;
    uint64_t *born_died = &table->readback->born;
    hd_counts counts;
    HD_TRY(table->engine->copy(table->device, born_died, &table->control->born,
                               2 * sizeof *born_died, c->r->stream));
    HD_TRY(hd_call_read(c->call, &counts));
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
        const heddle_status status = hd_slabs_make_room(c->table, *left, &made, c->r->stream);
        if (status == HEDDLE_ERROR_NO_MEMORY) {
            c->grows = false;
            c->growth = status;
            return HEDDLE_OK;
        }
        if (status != HEDDLE_OK || !made) return status;
        c->retried += *left;
        HD_TRY(run(c, batch));
        HD_TRY(look(c, left));
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
    batch.counts = c->call->counts;
    batch.born = &table->control->born;
    batch.died = &table->control->died;
    return batch;
}

/* hd_slice_work: spans as hd_insert_slices has them. */
static heddle_status work_slice(void *context, void *const device[HD_SPANS_MAX], uint64_t first,
                                uint64_t n)
{
    slab_call *c = (slab_call *)context;
    hd_slab_batch batch = batch_of(c, device, n);
    uint64_t left = 0;
    if (c->grows) HD_TRY(hd_slabs_more_lists(c->table, c->live, n, c->r->stream));
    if (batch.outcomes == NULL && c->waits) batch.outcomes = hd_slabs(c->table)->outcomes;
    HD_TRY(run(c, &batch));
    if (!c->waits) return HEDDLE_OK;
    HD_TRY(look(c, &left));
    if (left != 0 && c->growth == HEDDLE_OK) HD_TRY(try_again(c, &batch, &left));
    return left != 0 ? hd_failed_add(c->list, batch.outcomes, first, n, c->r->stream) : HEDDLE_OK;
}

/* ----------------------------------------------------------------------------------- the call */

/* The sums of a call that waits, and what it comes to. */
static heddle_status conclude(const slab_call *c, hd_counts *counts)
{
    HD_TRY(hd_call_read(c->call, counts));
    counts->at[HD_FAILED] -= c->retried;
    if (counts->at[HD_FAILED] == 0) return HEDDLE_OK;
    if (c->growth != HEDDLE_OK) return c->growth;
    return hd_fail(HEDDLE_ERROR_FULL, "%llu %s found no slab in the table, which was made for %llu",
                   (unsigned long long)counts->at[HD_FAILED],
                   hd_slabs_multi(c->table) ? "pairs" : "keys",
                   (unsigned long long)hd_slabs(c->table)->storage.capacity);
}

/* Whether batches are large enough for that. */
static bool is_apart(const slab_call *c)
{
    const uint64_t least = hd_slabs(c->table)->ops->apart_least, n = c->r->n;
    const uint64_t slice = c->waits && n > c->table->slice ? c->table->slice : n;
    return c->mixed && !hd_slabs_multi(c->table) && least != UINT64_MAX &&
           slice >= hd_tuned(hd_tune.region_keys_min, least);
}

/* A call that does not wait is one launch. */
heddle_status hd_slabs_mixed(heddle_table *table, hd_request *r)
{
    hd_slices slices = hd_insert_slices(table, r);
    HD_FAILED_LIST(list);
    HD_CALL(call);
    slab_call c = {.table = table, .r = r, .call = &call, .list = &list};
    uint64_t none = 0;
    c.policy = hd_slabs_policy(table, &r->options);
    c.mixed = r->operations != NULL;
    c.grows = !hd_slabs_fixed(table);
    c.waits = c.grows || hd_failed_wanted(&r->options) || r->waits || table->engine->host_memory ||
              hd_any_staged(&slices);
    c.apart = is_apart(&c);
    slices.at_once = !c.waits;
    r->waits = false;
    memset(&r->counts, 0, sizeof r->counts);
    HD_TRY(hd_slabs_tidy(table, !hd_slabs_multi(table) && (!c.mixed || c.apart), r->stream));
    r->waits = c.waits;
    HD_TRY(hd_failed_begin(table, &r->options, &list));
    HD_TRY(hd_call_begin(table, c.waits, r->stream, &call));
    if (c.grows) HD_TRY(look(&c, &none));
    HD_TRY(hd_for_slices(&slices, work_slice, &c));
    return c.waits ? conclude(&c, &r->counts) : HEDDLE_OK;
}
