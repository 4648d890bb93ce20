/*
 * insert.c: insert and build: which way a batch goes. Each question is asked once. Batches that
 * suit regions (regions.h) go by insert_large.c where the call waits anyway, else by insert_queued.c; all others,
 * and what these leave, key by key (insert_singly.c).
 */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "table/slots/regions.h"

#define BUILD_SEEDS 4 /* seeds a build tries before it gives up */

/* A counter adds, whatever the caller says. */
static void choose_policy(const heddle_table *table, hd_request *r)
{
    if (table->options.container == HEDDLE_CONTAINER_COUNTER) r->options.policy = HEDDLE_POLICY_ADD;
}

/*
 * Every pair of a multimap needs a slot, so it is known beforehand when there are too few: a
 * growing table makes room then, instead of looking for it in vain with every pair. When there is
 * no memory for that, the insertion goes on; it knows which pairs fail.
 */
#define MULTI_FULL 0.95
static heddle_status make_room(heddle_table *table, const hd_request *r)
{
    const double slots = (double)hd_slots_count_slots(table);
    const double share = table->options.load > MULTI_FULL ? table->options.load : MULTI_FULL;
    uint64_t pairs = 0;
    HD_TRY(hd_table_count(table, &pairs, r->stream));
    if ((double)pairs + (double)r->n <= share * slots) return HEDDLE_OK;
    const heddle_status status = hd_slots_grow(table, r->n, false, 0, r->stream);
    return status == HEDDLE_ERROR_NO_MEMORY || status == HEDDLE_ERROR_FULL ? HEDDLE_OK : status;
}

/* Notes that an insertion into the table was begun, now or for whenever it is replayed. */
static void note_insertion(const heddle_table *table, const hd_request *r)
{
    hd_slots_table *t = hd_slots(table);
    t->empty = t->empty && r->n == 0;
    t->replayed |= table->engine->is_recording(table->device, r->stream);
}

static heddle_status insert(heddle_table *table, hd_request *r)
{
    const bool grows = (table->options.flags & HEDDLE_FLAG_FIXED) == 0;
    const bool waits = r->waits || grows || table->engine->host_memory;
    bool done = false;
    choose_policy(table, r);
    if (hd_is_multimap(table) && grows) HD_TRY(make_room(table, r));
    if (waits && hd_regions_suit(table, r)) HD_TRY(hd_slots_insert_large(table, r, false, &done));
    if (!waits && r->n >= hd_regions_large(table) && hd_regions_suit(table, r))
        HD_TRY(hd_slots_insert_queued(table, r, &done));
    return done ? HEDDLE_OK : hd_slots_insert_singly(table, r);
}

heddle_status hd_slots_insert(heddle_table *table, hd_request *r)
{
    const heddle_status status = insert(table, r);
    note_insertion(table, r);
    return status;
}

/* --------------------------------------------------------------------------------------- build */

heddle_status hd_slots_build_view(const heddle_table *table, uint64_t n, hd_view *view)
{
    const hd_slots_table *t = hd_slots(table);
    HD_TRY(hd_geometry_init(view, t->ops, n, table->options.load, table->options.hashes, 1));
    if ((table->options.flags & HEDDLE_FLAG_FIXED) != 0 ||
        hd_geometry_slots(view, t->ops) <= hd_slots_count_slots(table))
        *view = t->storage.view;
    return HEDDLE_OK;
}

/* Makes an empty table fit for n keys, if it may grow and is too small. */
static heddle_status prepare_build(heddle_table *table, uint64_t n, void *stream)
{
    hd_view wanted;
    HD_TRY(hd_slots_build_view(table, n, &wanted));
    if (hd_geometry_slots(&wanted, hd_slots(table)->ops) <= hd_slots_count_slots(table))
        return HEDDLE_OK;
    return hd_slots_renew(table, n, table->options.seed, stream);
}

static heddle_status build_once(heddle_table *table, hd_request *r)
{
    heddle_status status = HEDDLE_OK;
    bool done = false;
    r->waits = true;
    if (hd_regions_suit(table, r)) status = hd_slots_insert_large(table, r, true, &done);
    if (done) return status;
    const heddle_status cleared = hd_slots_clear(table, r->stream);
    HD_TRY(status);
    HD_TRY(cleared);
    return hd_slots_insert_singly(table, r);
}

static heddle_status build_with_seeds(heddle_table *table, hd_request *r)
{
    const heddle_table_options *o = &table->options;
    heddle_status status = build_once(table, r);
    /*
     * Keys that ought to fit did not: the seed was unlucky. One asked for too much keeps its seed.
     */
    for (int i = 1; i < BUILD_SEEDS && status == HEDDLE_ERROR_FULL &&
                    (double)(r->counts.at[HD_INSERTED] + r->counts.at[HD_FAILED]) <=
                        o->load * (double)o->capacity;
         i++) {
        table->options.seed = hd_seed_draw();
        hd_mix_init(&hd_slots(table)->storage.view.mix, o->seed);
        status = build_once(table, r);
    }
    return status;
}

static heddle_status build(heddle_table *table, hd_request *r)
{
    choose_policy(table, r);
    HD_TRY(prepare_build(table, r->n, r->stream));
    const heddle_status status = build_with_seeds(table, r);
    note_insertion(table, r);
    return status;
}

heddle_status hd_slots_build(heddle_table *table, hd_request *r)
{
    heddle_insert_options *o = &r->options;
    uint64_t *const failed = o->failed;
    if (!hd_failed_wanted(o)) return build(table, r);
    /* Attempts that are given up must leave nothing in the caller's list. */
    if (o->failed_capacity > r->n) o->failed_capacity = r->n;
    uint64_t *list HD_FREED = (uint64_t *)hd_allocate((o->failed_capacity + 1) * sizeof *list);
    if (list == NULL) return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory to list failed keys");
    o->failed = list;
    const heddle_status status = build(table, r);
    const uint64_t count = r->counts.at[HD_FAILED];
    memcpy(failed, list, (count < o->failed_capacity ? count : o->failed_capacity) * sizeof *list);
    o->failed = failed;
    return status;
}
