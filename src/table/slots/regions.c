/*
 * regions.c: see regions.h.
 *
 * Scratch memory holds the sorted pairs, room for as many again on the way (for which the table's own
 * slots serve when it is filled in one piece and they suffice), where regions begin, and what the
 * engine's partition needs. When there is less of it than the batch needs, the batch goes in slices:
 * each is sorted and brought into the regions that the slices before it have filled.
 */
#include "table/slots/regions.h"

#include <string.h>

#include "base/error.h"
#include "base/tuning.h"
#include "engine/blocks.h"
#include "host/stage.h"
#include "table/pair_sort.h"

/* Every slice reads and writes the whole table: more of them than this are slower than no regions. */
#define SLICES_MAX 8

uint32_t hd_regions_crowded(const heddle_table *table)
{
    return (uint32_t)hd_tuned(hd_tune.region_crowded, table->engine->crowded);
}

/* The parts of the scratch memory for slices of `n` pairs. */
typedef struct layout {
    hd_sort_layout parts;
    bool spare_in_table;
} layout;

static layout make_layout(const heddle_table *table, const hd_view *view, uint64_t n, bool whole)
{
    const hd_partition job = hd_sort_job(table, view, n);
    const uint64_t slots =
        hd_geometry_slots(view, hd_slots(table)->ops) * hd_slots(table)->ops->slot_bytes;
    layout l;
    l.spare_in_table = whole && hd_sort_layout_of(table, &job, true).spare <= slots;
    l.parts = hd_sort_layout_of(table, &job, l.spare_in_table);
    return l;
}

uint64_t hd_regions_least(const heddle_table *table)
{
    return hd_tuned(hd_tune.region_keys_min, table->engine->region_keys_min);
}

bool hd_regions_suit(const heddle_table *table, const void *keys, const void *values, uint64_t n,
                     const heddle_insert_options *options)
{
    const hd_span spans[2] = {
        {(void *)(uintptr_t)keys, hd_key_width(table), true, false},
        {(void *)(uintptr_t)values, hd_value_width(table), true, false},
    };
    return n != 0 && n >= hd_regions_least(table) && options->outcomes == NULL &&
           options->failed_capacity == 0 && !hd_any_staged(table, spans, 2) &&
           hd_slots(table)->ops->can_fill(table->device, &hd_slots(table)->storage.view);
}

heddle_status hd_slots_build_workspace(heddle_table *table, uint64_t n, uint64_t *bytes)
{
    hd_view view;
    HD_TRY(hd_build_view(table, n, &view));
    *bytes = 0;
    if (n != 0 && n >= hd_regions_least(table) &&
        hd_slots(table)->ops->can_fill(table->device, &view))
        *bytes = make_layout(table, &view, n, !hd_is_multimap(table)).parts.bytes;
    return HEDDLE_OK;
}

/* ------------------------------------------------------------------------------------- scratch */

typedef struct scratch {
    char *memory;
    bool own; /* to be freed */
    uint64_t slice;
    layout l;
} scratch;

/* The largest slice that fits `bytes`; 0 when too many would be needed. */
static uint64_t fitting_slice(const heddle_table *table, uint64_t n, uint64_t bytes)
{
    for (uint64_t slices = 1; slices <= SLICES_MAX; slices++) {
        const uint64_t slice = (n + slices - 1) / slices;
        if (make_layout(table, &hd_slots(table)->storage.view, slice, slices == 1).parts.bytes <=
            bytes)
            return slice;
    }
    return 0;
}

/* The caller's memory, or memory of our own: as much as makes one slice, or less where that cannot be had. */
static void scratch_take(heddle_table *table, uint64_t n, const heddle_insert_options *options,
                         scratch *s)
{
    memset(s, 0, sizeof *s);
    if (options->workspace != NULL) {
        s->slice = fitting_slice(table, n, options->workspace_bytes);
        s->memory = (char *)options->workspace;
    }
    for (uint64_t slices = 1; options->workspace == NULL && slices <= SLICES_MAX; slices *= 2) {
        s->slice = (n + slices - 1) / slices;
        s->l = make_layout(table, &hd_slots(table)->storage.view, s->slice, slices == 1);
        s->own = hd_block_take(table->device, s->l.parts.bytes, (void **)&s->memory) == HEDDLE_OK;
        if (s->own) break;
        s->slice = 0;
    }
    if (s->slice != 0)
        s->l = make_layout(table, &hd_slots(table)->storage.view, s->slice, s->slice == n);
}

/* The same for a table that holds pairs already: in one piece, with spare room of its own, or not at all. */
static void scratch_take_whole(heddle_table *table, uint64_t n,
                               const heddle_insert_options *options, scratch *s)
{
    memset(s, 0, sizeof *s);
    s->l = make_layout(table, &hd_slots(table)->storage.view, n, false);
    if (options->workspace != NULL && s->l.parts.bytes <= options->workspace_bytes) {
        s->slice = n;
        s->memory = (char *)options->workspace;
    } else if (options->workspace == NULL) {
        s->own = hd_block_take(table->device, s->l.parts.bytes, (void **)&s->memory) == HEDDLE_OK;
        s->slice = s->own ? n : 0;
    }
}

/* --------------------------------------------------------------------------------------- build */

static heddle_status fill_slice(hd_region_call *rc, const scratch *s, bool fresh, bool *filled)
{
    heddle_table *table = rc->table;
    const uint32_t crowded = hd_regions_crowded(table);
    const uint64_t region_slots =
        (uint64_t)hd_slots(table)->storage.view.region_buckets * hd_slots(table)->ops->bucket;
    hd_partition *job = &rc->job;
    hd_counts counts;
    hd_sort_lay(job, &s->l.parts, s->memory,
                s->l.spare_in_table ? hd_slots(table)->storage.view.slots : NULL);
    const hd_sorted sorted = {
        job->pairs,
        job->starts,
        job->starts + 1,
        NULL,
        0,
        hd_slots(table)->ops->fold != NULL && crowded != 0 ? region_slots * crowded : UINT64_MAX,
        rc->failed_count != NULL ? job->spare : NULL,
        rc->failed_count,
        0};
    rc->batch.n = job->n;
    HD_TRY(table->engine->partition(table->device, job, rc->stream));
    HD_TRY(hd_slots(table)->ops->fill(table->device, &hd_slots(table)->storage.view, &rc->batch,
                                      &sorted, fresh, rc->stream));
    HD_TRY(hd_call_read(table, &rc->call, rc->stream, &counts));
    *filled = counts.at[HD_FAILED] == 0 || rc->failed_count != NULL;
    if (*filled && counts.at[HD_LATER] != rc->later) {
        rc->later = counts.at[HD_LATER];
        HD_TRY(hd_regions_fold(rc, fresh, filled));
    }
    return HEDDLE_OK;
}

static heddle_status fill_slices(hd_region_call *rc, const scratch *s, const char *keys,
                                 const char *values, uint64_t n, bool *filled)
{
    heddle_table *table = rc->table;
    heddle_status status = hd_table_set_count(table, 0, rc->stream);
    *filled = true;
    for (uint64_t first = 0; first < n && status == HEDDLE_OK && *filled; first += s->slice) {
        const uint64_t length = n - first < s->slice ? n - first : s->slice;
        rc->job = hd_sort_job(table, &hd_slots(table)->storage.view, length);
        rc->job.keys = keys + first * hd_key_width(table);
        if (values != NULL) rc->job.values = values + first * hd_value_width(table);
        rc->job.ones = values == NULL;
        status = fill_slice(rc, s, first == 0, filled);
    }
    return status;
}

/* A call with counts of its own; its batch has no policy yet. */
static heddle_status region_call_begin(hd_region_call *rc, heddle_table *table, void *stream)
{
    const heddle_status status = hd_call_begin(table, true, stream, &rc->call);
    rc->table = table;
    rc->stream = stream;
    rc->batch.next = hd_slots(table)->storage.next;
    rc->batch.counts = rc->call.counts;
    rc->batch.tally = &table->control->born;
    return status;
}

heddle_status hd_regions_build(heddle_table *table, const void *keys, const void *values,
                               uint64_t n, const heddle_insert_options *options, bool *filled,
                               hd_counts *counts, void *stream)
{
    hd_region_call rc;
    scratch s;
    heddle_status status;
    *filled = false;
    scratch_take(table, n, options, &s);
    if (s.slice == 0) return HEDDLE_OK;
    memset(&rc, 0, sizeof rc);
    status = region_call_begin(&rc, table, stream);
    if (status == HEDDLE_OK) {
        rc.batch.policy = options->policy;
        status = fill_slices(&rc, &s, (const char *)keys, (const char *)values, n, filled);
        if (status == HEDDLE_OK && *filled) status = hd_call_read(table, &rc.call, stream, counts);
        hd_call_end(table, &rc.call);
    }
    if (s.own) hd_block_give(table->device, s.memory);
    if (status == HEDDLE_OK && *filled) table->evictions += counts->at[HD_EVICTIONS];
    return status;
}

/* -------------------------------------------------------------------------------------- append */

/* The pairs that found no room are inserted one by one, which may mean to grow, from copies of them. */
static heddle_status append_rest(hd_region_call *rc, uint64_t failed, hd_regions_insert insert)
{
    heddle_table *table = rc->table;
    hd_scratch copies = {table->device, 0, {NULL}};
    void *keys = NULL, *values = NULL;
    heddle_status status = hd_sort_split(table, &rc->job.mix, rc->job.spare, failed, &copies, &keys,
                                         &values, rc->stream);
    if (status == HEDDLE_OK)
        status = insert(table, keys, values, failed, rc->batch.policy, rc->stream, &rc->rest);
    else rc->rest.at[HD_FAILED] = failed;
    hd_scratch_free(&copies);
    return status;
}

heddle_status hd_regions_append(heddle_table *table, const void *keys, const void *values,
                                uint64_t n, const heddle_insert_options *options, bool fresh,
                                hd_regions_insert insert, bool *done, hd_counts *counts,
                                void *stream)
{
    hd_region_call rc;
    scratch s;
    heddle_status status;
    bool filled = false;
    *done = false;
    scratch_take_whole(table, n, options, &s);
    if (s.slice == 0) return HEDDLE_OK;
    memset(&rc, 0, sizeof rc);
    status = region_call_begin(&rc, table, stream);
    if (status == HEDDLE_OK) {
        rc.failed_count = &rc.call.words->cursor;
        rc.job = hd_sort_job(table, &hd_slots(table)->storage.view, n);
        rc.job.keys = keys;
        rc.job.values = values;
        rc.job.ones = values == NULL;
        rc.batch.policy = options->policy;
        if (fresh) status = hd_table_set_count(table, 0, stream);
        if (status == HEDDLE_OK) status = fill_slice(&rc, &s, fresh, &filled);
        if (status == HEDDLE_OK) status = hd_call_read(table, &rc.call, stream, counts);
        hd_call_end(table, &rc.call);
    }
    if (status == HEDDLE_OK) {
        const uint64_t failed = counts->at[HD_FAILED];
        *done = true;
        __atomic_fetch_add(&hd_tune.region_appends, 1, __ATOMIC_RELAXED);
        __atomic_fetch_add(&hd_tune.region_listed, failed, __ATOMIC_RELAXED);
        counts->at[HD_FAILED] = 0;
        table->evictions += counts->at[HD_EVICTIONS];
        if (failed != 0) status = append_rest(&rc, failed, insert);
        for (int i = 0; i < HD_COUNTS; i++) counts->at[i] += rc.rest.at[i];
    }
    if (s.own) hd_block_give(table->device, s.memory);
    return status;
}
