/*
 * regions.c: see regions.h.
 *
 * A build first tries to do without counting (hd_scatter). All else goes as follows, and a build too whose keys are not
 * spread evenly:
 *
 * Scratch memory holds the sorted pairs, room for as many again on the way (for which the table's
 * own slots serve when it is filled in one piece and they suffice), where regions begin, and what
 * the engine's partition needs. When there is less of it than a build needs, the batch goes in
 * slices: each is sorted and brought into the regions that the slices before it have filled. What
 * is appended goes in one piece, with spare room of its own, or not at all.
 */
#include "table/slots/regions.h"

#include <string.h>

#include "base/error.h"
#include "base/tuning.h"
#include "engine/blocks.h"
#include "host/scratch.h"
#include "table/pair_sort.h"

/*
 * Every slice reads and writes the whole table: more of them than this are slower than no regions.
 */
#define SLICES_MAX 8

uint64_t hd_regions_crowded(const heddle_table *table)
{
    const hd_slots_table *t = hd_slots(table);
    const uint64_t slots = (uint64_t)t->storage.view.region_buckets * t->ops->bucket;
    const uint64_t pairs = hd_tuned(hd_tune.region_crowded, table->engine->crowded);
    return t->ops->fold != NULL && pairs != 0 ? slots * pairs : UINT64_MAX;
}

uint64_t hd_regions_least(const heddle_table *table)
{
    return hd_tuned(hd_tune.region_keys_min, table->engine->region_keys_min);
}

bool hd_regions_suit(const heddle_table *table, const hd_request *r)
{
    const hd_slots_table *t = hd_slots(table);
    return r->n != 0 && r->n >= hd_regions_least(table) && !hd_request_asks_each(r) &&
           hd_request_is_direct(table, r) && t->ops->can_fill(table->device, &t->storage.view);
}

/* ----------------------------------------------------------------------------------- workspace */

/* The parts of the scratch memory for slices of so many pairs. */
typedef struct layout {
    hd_sort_layout parts;
    bool spare_in_table;
} layout;

/* `whole`: the slice fills the table from empty in one piece. */
static layout make_layout(const heddle_table *table, const hd_view *view, uint64_t n, bool whole)
{
    const hd_table_ops *ops = hd_slots(table)->ops;
    const hd_partition job = hd_sort_job(table, view->region_bits, &view->mix, n);
    const uint64_t slots = hd_geometry_slots(view, ops) * ops->slot_bytes;
    layout l;
    l.spare_in_table = whole && hd_sort_layout_of(table, &job, true).spare <= slots;
    l.parts = hd_sort_layout_of(table, &job, l.spare_in_table);
    return l;
}

/* What a build without counting first has in memory, and where. */
typedef struct scatter_layout {
    hd_scatter scatter;
    uint64_t starts, ends, work, spare, bytes;
    bool spare_in_table;
} scatter_layout;

static bool can_scatter(const heddle_table *table)
{
    return table->engine->scatter != NULL && !hd_is_multimap(table);
}

static scatter_layout make_scatter_layout(const heddle_table *table, const hd_view *view,
                                          const hd_partition *job)
{
    const hd_table_ops *ops = hd_slots(table)->ops;
    const uint64_t slots = hd_geometry_slots(view, ops) * ops->slot_bytes;
    const uint64_t offsets = hd_aligned((UINT64_C(1) << view->region_bits) * sizeof(uint64_t));
    scatter_layout l;
    memset(&l, 0, sizeof l);
    l.scatter.job = *job;
    table->engine->scatter_plan(table->device, &l.scatter);
    l.spare_in_table = l.scatter.spare_bytes <= slots;
    l.starts = hd_aligned(l.scatter.pairs_bytes);
    l.ends = l.starts + offsets;
    l.work = l.ends + offsets;
    l.spare = l.work + hd_aligned(l.scatter.work_bytes);
    l.bytes = l.spare + (l.spare_in_table ? 0 : l.scatter.spare_bytes);
    return l;
}

static uint64_t scatter_workspace(const heddle_table *table, const hd_view *view, uint64_t n)
{
    const hd_partition job = hd_sort_job(table, view->region_bits, &view->mix, n);
    return can_scatter(table) ? make_scatter_layout(table, view, &job).bytes : 0;
}

heddle_status hd_slots_build_workspace(heddle_table *table, uint64_t n, uint64_t *bytes)
{
    hd_view view;
    HD_TRY(hd_slots_build_view(table, n, &view));
    *bytes = 0;
    if (n == 0 || n < hd_regions_least(table) ||
        !hd_slots(table)->ops->can_fill(table->device, &view))
        return HEDDLE_OK;
    /* Whichever of the ways of a build and an insertion takes most. */
    const bool fixed = (table->options.flags & HEDDLE_FLAG_FIXED) != 0;
    const uint64_t ways[] = {make_layout(table, &view, n, false).parts.bytes,
                             scatter_workspace(table, &view, n),
                             fixed ? hd_queue_workspace(table, &view, n) : 0};
    for (int i = 0; i < 3; i++)
        if (ways[i] > *bytes) *bytes = ways[i];
    return HEDDLE_OK;
}

/* Memory to sort in: the caller's, or our own, which goes with the block it is declared in. */
typedef struct workspace {
    heddle_table *table;
    char *memory;
    bool own;
    uint64_t slice; /* pairs that it suffices for; 0: there is too little */
    layout l;
} workspace;

static void workspace_give(workspace *w)
{
    if (w->own) hd_block_give(w->table->device, w->memory);
}
#define WORKSPACE(name, of)                                                                        \
    workspace name __attribute__((cleanup(workspace_give))) = {.table = (of)}

/* The caller's memory if it suffices, else none; where the caller has none, our own. */
static void try_slice(workspace *w, const heddle_insert_options *o, uint64_t slice, bool whole)
{
    w->l = make_layout(w->table, &hd_slots(w->table)->storage.view, slice, whole);
    if (o->workspace != NULL) {
        w->memory = (char *)o->workspace;
        w->slice = w->l.parts.bytes <= o->workspace_bytes ? slice : 0;
    } else {
        w->own =
            hd_block_take(w->table->device, w->l.parts.bytes, (void **)&w->memory) == HEDDLE_OK;
        w->slice = w->own ? slice : 0;
    }
}

/*
 * For one slice, or for more where that cannot be had: any number of the caller's, doubled of our
 * own.
 */
static void take_slices(workspace *w, const hd_request *r)
{
    const bool given = r->options.workspace != NULL;
    for (uint64_t slices = 1; slices <= SLICES_MAX && w->slice == 0;
         slices = given ? slices + 1 : 2 * slices)
        try_slice(w, &r->options, (r->n + slices - 1) / slices, slices == 1);
}

/* ------------------------------------------------------------------------------------- filling */

/* Sorts the pairs of rc->job and fills the regions with them. */
static heddle_status fill_slice(hd_region_call *rc, const workspace *w, bool *filled)
{
    heddle_table *table = rc->table;
    const hd_slots_table *t = hd_slots(table);
    hd_partition *job = &rc->job;
    hd_counts counts;
    hd_sort_lay(job, &w->l.parts, w->memory, w->l.spare_in_table ? t->storage.view.slots : NULL);
    const hd_sorted sorted = {.pairs = job->pairs,
                              .starts = job->starts,
                              .ends = job->starts + 1,
                              .limit = hd_regions_crowded(table),
                              .failed = rc->failed_count != NULL ? job->spare : NULL,
                              .failed_count = rc->failed_count};
    rc->batch.n = job->n;
    HD_TRY(table->engine->partition(table->device, job, rc->stream));
    HD_TRY(
        t->ops->fill(table->device, &t->storage.view, &rc->batch, &sorted, rc->fresh, rc->stream));
    HD_TRY(hd_call_read(rc->call, &counts));
    *filled = counts.at[HD_FAILED] == 0 || rc->failed_count != NULL;
    if (!*filled || counts.at[HD_LATER] == rc->later) return HEDDLE_OK;
    rc->later = counts.at[HD_LATER];
    return hd_regions_fold(rc, filled);
}

/* What is to be sorted of the request. */
static void set_job(hd_region_call *rc, const hd_request *r)
{
    const hd_view *view = &hd_slots(rc->table)->storage.view;
    rc->job = hd_sort_job(rc->table, view->region_bits, &view->mix, r->n);
    rc->job.keys = r->keys;
    rc->job.values = r->values;
    rc->job.ones = r->values == NULL;
}

/* A call with counts of its own. */
static heddle_status region_call_begin(hd_region_call *rc, heddle_table *table, hd_call *call,
                                       const hd_request *r)
{
    memset(rc, 0, sizeof *rc);
    HD_TRY(hd_call_begin(table, true, r->stream, call));
    rc->table = table;
    rc->call = call;
    rc->stream = r->stream;
    rc->batch.policy = r->options.policy;
    rc->batch.next = hd_slots(table)->storage.next;
    rc->batch.counts = call->counts;
    rc->batch.tally = &table->control->born;
    return HEDDLE_OK;
}

/* -------------------------------------------------------------------------------------- build */

/*
 * A build that counts nothing first: a pass less over the keys, and two launches. *filled is false where the engine has no
 * such way, there is no memory for it, or a region was given more pairs than come to it by chance.
 */
static heddle_status build_scattered(heddle_table *table, hd_request *r, bool *filled)
{
    const heddle_insert_options *o = &r->options;
    const hd_slots_table *t = hd_slots(table);
    const hd_view *view = &t->storage.view;
    HD_SCRATCH(scratch, table->device);
    HD_CALL(call);
    hd_region_call rc;
    void *memory = o->workspace;
    if (!can_scatter(table)) return HEDDLE_OK;
    HD_TRY(region_call_begin(&rc, table, &call, r));
    set_job(&rc, r);
    scatter_layout l = make_scatter_layout(table, view, &rc.job);
    hd_scatter *scatter = &l.scatter;
    if (memory != NULL ? o->workspace_bytes < l.bytes
                       : hd_scratch_take(&scratch, l.bytes, &memory) != HEDDLE_OK)
        return HEDDLE_OK;
    scatter->job.pairs = memory;
    scatter->starts = (uint64_t *)(void *)((char *)memory + l.starts);
    scatter->ends = (uint64_t *)(void *)((char *)memory + l.ends);
    scatter->work = (char *)memory + l.work;
    scatter->spare = l.spare_in_table ? view->slots : (char *)memory + l.spare;
    /* Pairs without room in their region are left out, as those of crowded regions are elsewhere. */
    scatter->over_count = &call.counts->at[HD_LATER];
    const hd_sorted sorted = {.pairs = memory,
                              .starts = scatter->starts,
                              .ends = scatter->ends,
                              .room = scatter->room,
                              .unless = scatter->over_count,
                              .limit = UINT64_MAX};
    rc.batch.n = r->n;
    HD_TRY(hd_table_set_count(table, 0, r->stream));
    HD_TRY(table->engine->scatter(table->device, scatter, r->stream));
    HD_TRY(t->ops->fill(table->device, view, &rc.batch, &sorted, true, r->stream));
    HD_TRY(hd_call_read(&call, &r->counts));
    *filled = r->counts.at[HD_FAILED] == 0 && r->counts.at[HD_LATER] == 0;
    if (*filled) table->evictions += r->counts.at[HD_EVICTIONS];
    return HEDDLE_OK;
}

static heddle_status build_counted(heddle_table *table, hd_request *r, bool *filled)
{
    WORKSPACE(w, table);
    HD_CALL(call);
    hd_region_call rc;
    *filled = false;
    take_slices(&w, r);
    if (w.slice == 0) return HEDDLE_OK;
    HD_TRY(region_call_begin(&rc, table, &call, r));
    HD_TRY(hd_table_set_count(table, 0, r->stream));
    *filled = true;
    for (uint64_t first = 0; first < r->n && *filled; first += w.slice) {
        const uint64_t left = r->n - first;
        const hd_request part = hd_request_part(table, r, first, left < w.slice ? left : w.slice);
        set_job(&rc, &part);
        rc.fresh = first == 0;
        HD_TRY(fill_slice(&rc, &w, filled));
    }
    if (!*filled) return HEDDLE_OK;
    HD_TRY(hd_call_read(&call, &r->counts));
    table->evictions += r->counts.at[HD_EVICTIONS];
    return HEDDLE_OK;
}

heddle_status hd_regions_build(heddle_table *table, hd_request *r, bool *filled)
{
    *filled = false;
    HD_TRY(build_scattered(table, r, filled));
    return *filled ? HEDDLE_OK : build_counted(table, r, filled);
}

/* -------------------------------------------------------------------------------------- append */

/* The pairs without room are inserted singly, which may mean to grow, from copies of them. */
static heddle_status insert_rest(hd_region_call *rc, uint64_t failed, hd_counts *sums)
{
    HD_SCRATCH(copies, rc->table->device);
    hd_request rest = {.options = HEDDLE_INSERT_OPTIONS_INIT, .waits = true};
    rest.stream = rc->stream;
    rest.options.policy = rc->batch.policy;
    heddle_status status = hd_sort_split(rc->table, &rc->job, failed, &copies, &rest);
    if (status == HEDDLE_OK) status = hd_slots_insert_singly(rc->table, &rest);
    else rest.counts.at[HD_FAILED] = failed;
    hd_counts_add(sums, &rest.counts);
    return status;
}

heddle_status hd_regions_append(heddle_table *table, hd_request *r, bool fresh, bool *done)
{
    WORKSPACE(w, table);
    hd_region_call rc;
    bool filled = false;
    *done = false;
    try_slice(&w, &r->options, r->n, false);
    if (w.slice == 0) return HEDDLE_OK;
    {
        HD_CALL(call); /* which the rest does not need any more */
        HD_TRY(region_call_begin(&rc, table, &call, r));
        rc.failed_count = &call.words->cursor;
        rc.fresh = fresh;
        set_job(&rc, r);
        if (fresh) HD_TRY(hd_table_set_count(table, 0, r->stream));
        HD_TRY(fill_slice(&rc, &w, &filled));
        HD_TRY(hd_call_read(&call, &r->counts));
    }
    const uint64_t failed = r->counts.at[HD_FAILED];
    *done = r->waits = true;
    __atomic_fetch_add(&hd_tune.region_appends, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&hd_tune.region_listed, failed, __ATOMIC_RELAXED);
    r->counts.at[HD_FAILED] = 0;
    table->evictions += r->counts.at[HD_EVICTIONS];
    return failed != 0 ? insert_rest(&rc, failed, &r->counts) : HEDDLE_OK;
}
