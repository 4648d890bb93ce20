/*
 * passes.c: making a table's graph anew in passes, where there is no memory to sort all pairs at
 * once (renew.c).
 *
 * The memory that all pairs need is there already: it is the new graph's edges. So the pairs are
 * first brought there by parts of the regions (HD_SORT_SPREAD). Then each pass takes as many parts
 * as the scratch memory has room for: it sorts their pairs by region into the scratch and places
 * them, from there, where they came from. No pair is read or written more often than in one go.
 *
 *     edges   | graph of the regions before | pairs of this pass | pairs of the regions behind |
 *     scratch                               | sorted by region   |
 *
 * The table's own pairs, where the new graph has the same regions, are merged as they lie in the
 * old graph. The new pairs then wait at the end of the edges: what is placed, own pairs and new
 * ones, never reaches those that still wait. Where regions have changed, the own pairs are turned
 * back and brought into parts in batches, before the new ones.
 *
 * New pairs that lie in host memory are copied to the device or, where there is no memory for that,
 * come slice by slice: their keys once to be counted, and pairs once more to be brought into parts.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "host/stage.h"
#include "table/graph/graph.h"
#include "table/pair_sort.h"

#define SHARES_MAX 1024 /* of the memory for one go; less than this is not asked for */

typedef struct passing {
    hd_renewal *r;
    heddle_table *table;
    const hd_graph_ops *ops;
    const hd_graph *own; /* the table's graph */
    uint64_t pair;       /* bytes */
    bool merges;   /* the table's own pairs are a source of their own; else they are sorted too */
    bool compacts; /* they have gaps */
    hd_partition job;
    uint64_t sorted;               /* pairs that are sorted */
    uint64_t *live_starts;         /* device memory, where own pairs have gaps */
    char *memory;                  /* for the pairs of a pass or a batch */
    uint64_t bytes, needed;        /* of it; that the fullest pass or batch needs */
    uint64_t *starts, *own_starts; /* host memory: of the sorted pairs, of the own pairs */
} passing;

/* ------------------------------------------------------------------------------------- scratch */

/* What stays through all passes, at the front of the scratch memory. */
typedef struct layout {
    uint64_t work, live_starts, memory;
} layout;

static layout make_layout(const passing *p)
{
    const uint64_t regions = hd_graph_regions(&p->r->storage.graph);
    layout l;
    l.work = hd_aligned((regions + 1) * sizeof(uint64_t));
    l.live_starts =
        l.work + hd_aligned(p->table->engine->partition_step_work(p->table->device, &p->job));
    l.memory = l.live_starts +
               (p->compacts ? hd_aligned((hd_graph_regions(p->own) + 1) * sizeof(uint64_t)) : 0);
    return l;
}

/* Bytes for a pass over so many sorted pairs and own ones. */
static uint64_t pass_bytes(const passing *p, uint64_t sorted, uint64_t own)
{
    uint64_t bytes = sorted != 0 ? hd_aligned((sorted + 16) * p->pair) : 0, order = 0;
    if (p->compacts) bytes += hd_aligned(own * p->pair);
    if ((p->table->options.flags & HEDDLE_FLAG_ORDERED) != 0)
        order = hd_aligned(p->ops->order_work(p->table->device, sorted + own));
    return bytes > order ? bytes : order;
}

/* The caller's workspace, or memory of our own: as much as one pass needs, or a share of it. */
static heddle_status take_memory(passing *p)
{
    const hd_graph_feed *feed = p->r->feed;
    const layout l = make_layout(p);
    const uint64_t most = pass_bytes(p, p->sorted, p->merges ? p->r->live : 0);
    char *memory = (char *)feed->workspace;
    heddle_status status = HEDDLE_ERROR_NO_MEMORY;
    if (feed->bounded && memory != NULL) {
        p->bytes = feed->workspace_bytes > l.memory ? feed->workspace_bytes - l.memory : 0;
        status =
            feed->workspace_bytes > l.memory
                ? HEDDLE_OK
                : hd_fail(status,
                          "a build of these pairs in passes needs a workspace of "
                          "%llu bytes and more, for the pairs of a pass; it has %llu",
                          (unsigned long long)l.memory, (unsigned long long)feed->workspace_bytes);
    } else {
        for (uint64_t share = 1; share <= SHARES_MAX && status == HEDDLE_ERROR_NO_MEMORY;
             share *= 2) {
            p->bytes = hd_aligned(most / share + 1);
            status = hd_scratch_take(p->r->scratch, l.memory + p->bytes, (void **)&memory);
        }
    }
    if (status != HEDDLE_OK) return status;
    p->job.starts = (uint64_t *)(void *)memory;
    p->job.work = memory + l.work;
    p->live_starts = (uint64_t *)(void *)(memory + l.live_starts);
    p->memory = memory + l.memory;
    return HEDDLE_OK;
}

/* Notes what a pass or a batch needs, and whether there is as much. */
static bool suffices(passing *p, uint64_t bytes)
{
    if (bytes > p->needed) p->needed = bytes;
    return bytes <= p->bytes;
}

static heddle_status too_small(const passing *p)
{
    return hd_fail(HEDDLE_ERROR_NO_MEMORY,
                   "the pairs of one range of regions need %llu bytes of scratch memory, and there "
                   "are %llu for them",
                   (unsigned long long)p->needed, (unsigned long long)p->bytes);
}

/* Numbers of the device on the host; `*copy` is the caller's to free. */
static heddle_status copy_starts(const passing *p, const uint64_t *from, uint64_t count,
                                 uint64_t **copy)
{
    *copy = (uint64_t *)hd_allocate(count * sizeof **copy);
    if (*copy == NULL) return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory to count regions");
    return hd_read_back(p->table, *copy, from, count * sizeof **copy, p->r->stream);
}

/*
 * ------------------------------------------------------------------------------------ into parts
 */

static heddle_status sort_step(const passing *p, const hd_partition *job, uint32_t step)
{
    return p->table->engine->partition_step(p->table->device, job, step, p->r->stream);
}

/*
 * A batch of the table's own pairs, as keys and values at `to`, is counted or brought into parts.
 */
static heddle_status step_own(const passing *p, const void *pairs, uint64_t n, char *to,
                              uint32_t step)
{
    const heddle_table *table = p->table;
    hd_partition job = p->job;
    job.keys = to;
    job.values = hd_value_width(table) != 0 ? to + hd_aligned(n * hd_key_width(table)) : NULL;
    job.n = n;
    HD_TRY(p->ops->split(table->device, &p->own->mix, pairs, n, to, (void *)(uintptr_t)job.values,
                         p->r->stream));
    return sort_step(p, &job, step);
}

/* Bytes of n pairs as keys and values. */
static uint64_t split_bytes(const passing *p, uint64_t n)
{
    return hd_aligned(n * hd_key_width(p->table)) + hd_aligned(n * hd_value_width(p->table));
}

static heddle_status step_dense(passing *p, uint32_t step)
{
    const uint64_t most = p->bytes > 2 * HD_ALIGNMENT ? (p->bytes - 2 * HD_ALIGNMENT) / p->pair : 0;
    if (!suffices(p, split_bytes(p, 1)) || most == 0) return too_small(p);
    for (uint64_t first = 0; first < p->r->live; first += most)
        HD_TRY(step_own(p, (const char *)p->own->edges + first * p->pair,
                        p->r->live - first < most ? p->r->live - first : most, p->memory, step));
    return HEDDLE_OK;
}

/* The same of own pairs with gaps: as many regions at a time as there is room for. */
static heddle_status step_gappy(passing *p, uint32_t step)
{
    const uint32_t regions = (uint32_t)hd_graph_regions(p->own);
    const uint64_t *starts = p->own_starts;
    for (uint32_t first = 0, end; first < regions; first = end) {
        uint64_t n = 0, bytes = 0;
        for (end = first; end < regions; end++) {
            const uint64_t more = starts[end + 1] - starts[first];
            const uint64_t need = hd_aligned(more * p->pair) + split_bytes(p, more);
            if (end != first && need > p->bytes) break;
            n = more;
            bytes = need;
        }
        if (!suffices(p, bytes)) return too_small(p);
        HD_TRY(p->ops->compact(p->table->device, p->own, first, end, p->live_starts, starts[first],
                               p->memory, p->r->stream));
        if (n != 0) HD_TRY(step_own(p, p->memory, n, p->memory + hd_aligned(n * p->pair), step));
    }
    return HEDDLE_OK;
}

/* A step over the slices of the new pairs. */
typedef struct sliced_step {
    const passing *p;
    uint32_t step;
} sliced_step;

/* hd_slice_work: spans are keys, values. */
static heddle_status step_slice(void *context, void *const device[HD_SPANS_MAX], uint64_t first,
                                uint64_t n)
{
    const sliced_step *s = (const sliced_step *)context;
    hd_partition job = s->p->job;
    (void)first; /* pairs have values, or need none: their rows do not count */
    job.keys = device[0];
    job.values = device[1];
    job.n = n;
    return sort_step(s->p, &job, s->step);
}

/* Keys alone are counted. */
static heddle_status step_slices(const passing *p, uint32_t step)
{
    const hd_graph_feed *feed = p->r->feed;
    const void *values = step == HD_SORT_TALLY ? NULL : feed->values;
    const hd_slices slices = {
        .device = p->table->device,
        .spans = {hd_span_in(feed->keys, hd_key_width(p->table)),
                  hd_span_in(values, hd_value_width(p->table))},
        .n = feed->n,
        .slice = &p->table->slice,
        .stream = p->r->stream,
    };
    sliced_step s = {p, step};
    return hd_for_slices(&slices, step_slice, &s);
}

/* Counts all batches, or brings them into parts: own pairs come first, as in lists. */
static heddle_status step_batches(passing *p, uint32_t step)
{
    hd_partition job = p->job;
    job.keys = p->r->keys.memory;
    job.values = p->r->values.memory;
    job.n = p->r->feed->n;
    if (p->r->live != 0 && !p->merges)
        HD_TRY(p->compacts ? step_gappy(p, step) : step_dense(p, step));
    if (job.n == 0) return HEDDLE_OK;
    return p->r->slice != 0 ? step_slices(p, step) : sort_step(p, &job, step);
}

static heddle_status into_parts(passing *p)
{
    HD_TRY(sort_step(p, &p->job, HD_SORT_BEGIN));
    HD_TRY(step_batches(p, HD_SORT_TALLY));
    HD_TRY(sort_step(p, &p->job, HD_SORT_PLAN));
    HD_TRY(step_batches(p, HD_SORT_SPREAD));
    return sort_step(p, &p->job, HD_SORT_COUNT);
}

/* --------------------------------------------------------------------------------------- passes */

static uint64_t sorted_in(const passing *p, uint32_t first, uint32_t end)
{
    return p->starts[end] - p->starts[first];
}

static uint64_t own_in(const passing *p, uint32_t first, uint32_t end)
{
    return p->merges ? p->own_starts[end] - p->own_starts[first] : 0;
}

/* The regions of a pass from `first` on: whole parts, one at least. */
static uint32_t pass_end(const passing *p, uint32_t first)
{
    const uint32_t bits = p->job.region_bits;
    const uint32_t regions = UINT32_C(1) << bits;
    const uint32_t part = UINT32_C(1) << (bits - p->table->engine->partition_part_bits(bits));
    uint32_t end = first + part;
    while (end < regions &&
           pass_bytes(p, sorted_in(p, first, end + part), own_in(p, first, end + part)) <= p->bytes)
        end += part;
    return end;
}

static uint32_t wide_in(const passing *p, uint32_t first, uint32_t end)
{
    uint32_t rows = 0;
    for (uint32_t r = first; r < end; r++)
        rows += sorted_in(p, r, r + 1) + own_in(p, r, r + 1) > HD_NARROW_MAX;
    return rows;
}

/* Makes sure that all passes can be made, before the first one. */
static heddle_status check_passes(passing *p)
{
    const uint32_t regions = (uint32_t)hd_graph_regions(&p->r->storage.graph);
    const uint32_t rows = wide_in(p, 0, regions);
    bool fits = true;
    for (uint32_t first = 0, end; first < regions; first = end) {
        end = pass_end(p, first);
        fits = suffices(p, pass_bytes(p, sorted_in(p, first, end), own_in(p, first, end))) && fits;
    }
    if (!fits) return too_small(p);
    return rows > p->r->storage.graph.wide_rows
               ? hd_graph_allocate_wide(p->table, &p->r->storage, rows)
               : HEDDLE_OK;
}

/* The table's own pairs of a pass; those with gaps go behind the sorted ones. */
static heddle_status add_own(const passing *p, uint32_t first, uint32_t end,
                             hd_graph_placing *placing)
{
    hd_graph_source *source = &placing->sources[placing->count++];
    const uint64_t sorted = sorted_in(p, first, end);
    char *to = p->memory + (sorted != 0 ? hd_aligned((sorted + 16) * p->pair) : 0);
    source->pairs = p->own->edges;
    source->starts = p->own->starts;
    if (!p->compacts) return HEDDLE_OK;
    source->pairs = to;
    source->starts = p->live_starts;
    source->base = p->own_starts[first];
    return p->ops->compact(p->table->device, p->own, first, end, p->live_starts, source->base, to,
                           p->r->stream);
}

/* The sorted pairs of a pass. */
static heddle_status add_sorted(const passing *p, uint32_t first, uint32_t end,
                                hd_graph_placing *placing)
{
    hd_graph_source *source = &placing->sources[placing->count++];
    hd_partition job = p->job;
    job.first_region = first;
    job.end_region = end;
    job.first_pair = p->starts[first];
    job.n = sorted_in(p, first, end);
    job.pairs = p->memory;
    source->pairs = job.pairs;
    source->starts = job.starts;
    source->base = hd_partition_base(job.first_pair);
    return sort_step(p, &job, HD_SORT_REGIONS);
}

static heddle_status run_pass(passing *p, uint32_t first, uint32_t end, uint32_t wide_done)
{
    heddle_device *device = p->table->device;
    const hd_graph *graph = &p->r->storage.graph;
    hd_graph_placing placing;
    memset(&placing, 0, sizeof placing);
    placing.wide_done = wide_done;
    placing.stretch.first_region = first;
    placing.stretch.end_region = end;
    placing.stretch.first_edge = p->starts[first] + own_in(p, 0, first);
    placing.stretch.edges = sorted_in(p, first, end) + own_in(p, first, end);
    if (p->merges) HD_TRY(add_own(p, first, end, &placing));
    if (p->sorted != 0) HD_TRY(add_sorted(p, first, end, &placing));
    HD_TRY(p->ops->place(device, graph, &placing, p->r->stream));
    if ((p->table->options.flags & HEDDLE_FLAG_ORDERED) != 0)
        HD_TRY(p->ops->order(device, graph, &placing.stretch, p->memory, p->r->stream));
    return HEDDLE_OK;
}

static heddle_status run_passes(passing *p)
{
    const uint32_t regions = (uint32_t)hd_graph_regions(&p->r->storage.graph);
    uint32_t wide_done = 0;
    HD_TRY(check_passes(p));
    for (uint32_t first = 0, end; first < regions; first = end) {
        end = pass_end(p, first);
        HD_TRY(run_pass(p, first, end, wide_done));
        wide_done += wide_in(p, first, end);
        p->r->passes++;
    }
    return HEDDLE_OK;
}

/* ------------------------------------------------------------------------------------ the whole */

static passing make_passing(hd_renewal *r)
{
    const uint64_t own_end =
        r->live * hd_pair_bytes(r->table->options.key_bits, r->table->options.value_bits);
    passing p;
    memset(&p, 0, sizeof p);
    p.r = r;
    p.table = r->table;
    p.ops = hd_graph_of(r->table)->ops;
    p.own = &hd_graph_of(r->table)->storage.graph;
    p.pair = hd_pair_bytes(r->table->options.key_bits, r->table->options.value_bits);
    p.merges = r->live != 0 && hd_graph_keeps_regions(r);
    p.compacts = r->live != 0 && p.own->lengths != NULL;
    p.sorted = r->feed->n + (p.merges ? 0 : r->live);
    p.job = hd_sort_job(r->table, r->storage.graph.region_bits, &r->storage.graph.mix, p.sorted);
    p.job.spare = (char *)r->storage.graph.edges +
                  (p.merges ? (own_end + HD_EDGES_SLACK - 1) / HD_EDGES_SLACK * HD_EDGES_SLACK : 0);
    return p;
}

static void passing_end(passing *p)
{
    free(p->starts);
    free(p->own_starts);
}

heddle_status hd_graph_renew_in_passes(hd_renewal *r)
{
    passing p __attribute__((cleanup(passing_end))) = make_passing(r);
    heddle_device *device = r->table->device;
    const uint64_t regions = hd_graph_regions(&r->storage.graph);
    if (r->storage.edges == 0) return hd_graph_empty(r->table, &r->storage, r->stream);
    /* Slices want buffers, of which those of passes must leave some. */
    HD_TRY(r->slice != 0 ? hd_stage_ready(device, r->slice) : hd_graph_make_room(r));
    HD_TRY(take_memory(&p));
    if (r->slice == 0) HD_TRY(hd_graph_bring_in(r));
    if (p.compacts) HD_TRY(p.ops->live_starts(device, p.own, p.live_starts, r->stream));
    if (p.merges || p.compacts)
        HD_TRY(copy_starts(&p, p.compacts ? p.live_starts : p.own->starts,
                           hd_graph_regions(p.own) + 1, &p.own_starts));
    HD_TRY(into_parts(&p));
    HD_TRY(copy_starts(&p, p.job.starts, regions + 1, &p.starts));
    return run_passes(&p);
}
