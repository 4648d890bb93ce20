/*
 * insert_queued.c: large batches by regions in a call that does not wait, so that the host learns no count on the way.
 *
 *   1  the pairs are brought to their regions, each of which has room for what comes to it by chance; pairs beyond
 *      are listed (hd_scatter)
 *   2  every region is filled on in fast local memory; pairs that find no room there are listed, too
 *   3  what is listed is placed and settled key by key, as insert_singly.c does; the device alone knows how
 *      much that is. Mostly it is nothing; of a batch of few different keys it is nearly all
 *
 * The memory for it is the caller's workspace or comes from the device in the order of the stream. Where there is
 * none the batch goes key by key. So does one that is recorded, except in iceberg tables with a workspace.
 */
#include <string.h>

#include "base/error.h"
#include "base/tuning.h"
#include "table/pair_sort.h"
#include "table/slots/regions.h"

/* The parts of the memory, and where they begin. */
typedef struct layout {
    hd_scatter scatter;
    uint64_t spare, work, starts, ends, list, next, count, bytes;
} layout;

static layout make_layout(const heddle_table *table, const hd_view *view, uint64_t n)
{
    const uint64_t regions = UINT64_C(1) << view->region_bits;
    layout l;
    memset(&l, 0, sizeof l);
    l.scatter.job = hd_sort_job(table, view->region_bits, &view->mix, n);
    table->engine->scatter_plan(table->device, &l.scatter);
    l.spare = hd_aligned(l.scatter.pairs_bytes);
    l.work = l.spare + hd_aligned(l.scatter.spare_bytes);
    l.starts = l.work + hd_aligned(l.scatter.work_bytes);
    l.ends = l.starts + hd_aligned(regions * sizeof(uint64_t));
    l.list = l.ends + hd_aligned(regions * sizeof(uint64_t));
    l.next =
        l.list + hd_aligned(n * hd_pair_bytes(l.scatter.job.key_bits, l.scatter.job.value_bits));
    l.count = l.next + hd_aligned(n * sizeof(uint32_t));
    l.bytes = l.count + hd_aligned(sizeof(uint64_t));
    return l;
}

static bool has_queue(const heddle_table *table, const hd_view *view, uint64_t n)
{
    return table->engine->scatter != NULL && !hd_is_multimap(table) && n <= HD_APPEND_MAX &&
           view->region_bits <= HD_PARTITION_BITS_MAX;
}

uint64_t hd_queue_workspace(const heddle_table *table, const hd_view *view, uint64_t n)
{
    return has_queue(table, view, n) ? make_layout(table, view, n).bytes : 0;
}

/* Steps 1 to 3, in memory of the layout. */
static heddle_status run(heddle_table *table, const hd_request *r, layout *l, char *memory,
                         bool fresh)
{
    const hd_engine *engine = table->engine;
    const hd_slots_table *t = hd_slots(table);
    const hd_view *view = &t->storage.view;
    hd_scatter *scatter = &l->scatter;
    hd_sorted sorted;
    hd_batch batch;
    HD_CALL(call);
    HD_TRY(hd_call_begin(table, false, r->stream, &call));
    scatter->job.keys = r->keys;
    scatter->job.values = r->values;
    scatter->job.ones = r->values == NULL;
    scatter->job.pairs = memory;
    scatter->spare = memory + l->spare;
    scatter->work = memory + l->work;
    scatter->starts = (uint64_t *)(void *)(memory + l->starts);
    scatter->ends = (uint64_t *)(void *)(memory + l->ends);
    scatter->over = memory + l->list;
    scatter->over_count = (uint64_t *)(void *)(memory + l->count);
    HD_TRY(engine->scatter(table->device, scatter, r->stream));
    memset(&sorted, 0, sizeof sorted);
    sorted.pairs = scatter->job.pairs;
    sorted.starts = scatter->starts;
    sorted.ends = scatter->ends;
    sorted.room = scatter->room;
    sorted.limit = UINT64_MAX;
    sorted.failed = scatter->over;
    sorted.failed_count = scatter->over_count;
    sorted.retried = true;
    memset(&batch, 0, sizeof batch);
    batch.n = r->n;
    batch.policy = r->options.policy;
    batch.counts = call.counts;
    batch.tally = &table->control->born;
    HD_TRY(t->ops->fill(table->device, view, &batch, &sorted, fresh, r->stream));
    batch.heads = t->storage.heads;
    batch.next = (uint32_t *)(void *)(memory + l->next);
    batch.listed = scatter->over;
    batch.listed_count = scatter->over_count;
    HD_TRY(t->ops->place(table->device, view, &batch, r->stream));
    return t->ops->settle(table->device, view, &batch, r->stream);
}

heddle_status hd_slots_insert_queued(heddle_table *table, hd_request *r, bool *done)
{
    const hd_engine *engine = table->engine;
    const heddle_insert_options *o = &r->options;
    const hd_slots_table *t = hd_slots(table);
    const bool recording = engine->is_recording(table->device, r->stream);
    void *memory = o->workspace, *own = NULL;
    *done = false;
    if (!has_queue(table, &t->storage.view, r->n) || !hd_regions_fill_on(t)) return HEDDLE_OK;
    /* Keys may be erased between two replays, whoever does it, and not every scheme fills gaps. */
    if (recording && !t->ops->fills_gaps) return HEDDLE_OK;
    layout l = make_layout(table, &t->storage.view, r->n);
    if (memory == NULL || o->workspace_bytes < l.bytes) {
        if (recording) return HEDDLE_OK; /* a graph that allocates can be instantiated once */
        if (engine->allocate_in_order(table->device, l.bytes, &own, r->stream) != HEDDLE_OK)
            return HEDDLE_OK;
        memory = own;
    }
    heddle_status status = hd_slots_tidy(table, r->stream);
    /* What a replay or a kernel outside may have inserted since the table was cleared, nobody here knows. */
    const bool empty = t->empty && !t->viewed && !t->replayed && !recording;
    if (status == HEDDLE_OK) status = run(table, r, &l, (char *)memory, empty);
    engine->free_in_order(table->device, own, r->stream);
    *done = true;
    __atomic_fetch_add(&hd_tune.region_queued, 1, __ATOMIC_RELAXED);
    return status;
}
