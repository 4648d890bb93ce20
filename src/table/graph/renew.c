/*
 * renew.c: making a table's graph anew from its own pairs, from pairs to add, or both.
 *
 * Both sides are brought into the regions of the new graph, then placed in one go. The table's own edges
 * are in that order already, if the new graph has as many regions and the same hash function. Scratch
 * memory: the pairs to add, sorted; where the table's pairs cannot stay as they are, those once more, and
 * twice where they have to be sorted again; and host arrays, copied. The new graph's edges serve as the
 * partition's spare room. Where there is less memory, passes.c does the same in passes, from the
 * copies or, where there is no memory for these, from slices of the host arrays.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "host/stage.h"
#include "table/graph/graph.h"

#define ALIGNMENT UINT64_C(256)

static uint64_t aligned(uint64_t bytes) { return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

hd_partition hd_graph_sort(const heddle_table *table, const hd_graph *graph, const void *keys,
                           const void *values, uint64_t n)
{
    hd_partition job;
    memset(&job, 0, sizeof job);
    job.key_bits = table->options.key_bits;
    job.value_bits = table->options.value_bits;
    job.region_bits = graph->region_bits;
    job.mix = graph->mix;
    job.keys = keys;
    job.values = values;
    job.n = n;
    return job;
}

/* Where the parts of a workspace for n pairs begin; the pairs are first. */
typedef struct layout {
    uint64_t starts, work, bytes;
} layout;

static layout make_layout(const heddle_table *table, const hd_partition *job)
{
    layout l;
    l.starts = aligned(job->n * hd_pair_bytes(job->key_bits, job->value_bits));
    l.work = l.starts + aligned(((UINT64_C(1) << job->region_bits) + 1) * sizeof(uint64_t));
    l.bytes = l.work + aligned(table->engine->partition_work(table->device, job));
    return l;
}

heddle_status hd_graph_workspace(heddle_table *table, uint64_t n, uint64_t *bytes)
{
    const hd_graph_storage *own = &hd_graph_of(table)->storage;
    const uint32_t own_bits = own->graph.region_bits;
    hd_partition job;
    hd_graph shape;
    /* As many regions as an insertion would need, or as there are: a build may keep them. */
    HD_TRY(hd_graph_shape(table, own->edges + n, own_bits, &shape));
    job = hd_graph_sort(table, &shape, NULL, NULL, n);
    *bytes = make_layout(table, &job).bytes;
    return HEDDLE_OK;
}

heddle_status hd_graph_make_room(hd_renewal *r)
{
    const heddle_table *table = r->table;
    const hd_graph_feed *feed = r->feed;
    HD_TRY(hd_lend_out(&r->scratch, (void *)(uintptr_t)feed->keys, feed->n * hd_key_width(table),
                       &r->keys));
    return hd_lend_out(&r->scratch, (void *)(uintptr_t)feed->values,
                       feed->n * hd_value_width(table), &r->values);
}

heddle_status hd_graph_bring_in(hd_renewal *r)
{
    const hd_lent *const arrays[] = {&r->keys, &r->values};
    for (int i = 0; i < 2; i++)
        if (arrays[i]->memory != arrays[i]->user)
            HD_TRY(r->table->engine->copy(r->table->device, arrays[i]->memory, arrays[i]->user,
                                          arrays[i]->bytes, r->stream));
    return HEDDLE_OK;
}

/* Sorts pairs by the new graph's regions and makes them its next source. */
static heddle_status add_sorted(hd_renewal *r, const void *keys, const void *values, uint64_t n,
                                void *workspace, uint64_t workspace_bytes)
{
    hd_partition job = hd_graph_sort(r->table, &r->storage.graph, keys, values, n);
    const layout l = make_layout(r->table, &job);
    char *memory = (char *)workspace;
    hd_graph_source *source = &r->placing.sources[r->placing.count++];
    heddle_status status = HEDDLE_OK;
    if (memory != NULL && workspace_bytes < l.bytes && r->feed->bounded)
        return hd_fail(HEDDLE_ERROR_NO_MEMORY, "the workspace is too small for a build in one go");
    if (memory == NULL || workspace_bytes < l.bytes)
        status = hd_scratch_take(&r->scratch, l.bytes, (void **)&memory);
    if (status == HEDDLE_OK && keys == r->keys.memory) status = hd_graph_bring_in(r);
    if (status != HEDDLE_OK) return status;
    job.pairs = memory;
    job.spare = r->storage.graph.edges;
    job.starts = (uint64_t *)(void *)(memory + l.starts);
    job.work = memory + l.work;
    status = r->table->engine->partition(r->table->device, &job, r->stream);
    source->pairs = job.pairs;
    source->starts = job.starts;
    return status;
}

heddle_status hd_graph_live_pairs(heddle_table *table, hd_scratch *scratch, uint64_t live,
                                  hd_graph_source *source, void *stream)
{
    const hd_graph_table *t = hd_graph_of(table);
    const hd_graph *graph = &t->storage.graph;
    const uint64_t pair = hd_pair_bytes(table->options.key_bits, table->options.value_bits);
    void *pairs = NULL, *starts = NULL;
    heddle_status status;
    source->pairs = graph->edges;
    source->starts = graph->starts;
    source->base = 0;
    if (graph->lengths == NULL) return HEDDLE_OK;
    status = hd_scratch_take(scratch, live * pair, &pairs);
    if (status == HEDDLE_OK)
        status =
            hd_scratch_take(scratch, (hd_graph_regions(graph) + 1) * sizeof(uint64_t), &starts);
    if (status == HEDDLE_OK)
        status = t->ops->live_starts(table->device, graph, (uint64_t *)starts, stream);
    if (status == HEDDLE_OK)
        status = t->ops->compact(table->device, graph, 0, (uint32_t)hd_graph_regions(graph),
                                 (const uint64_t *)starts, 0, pairs, stream);
    source->pairs = pairs;
    source->starts = (const uint64_t *)starts;
    return status;
}

heddle_status hd_graph_unzip(heddle_table *table, hd_scratch *scratch, uint64_t live, void *keys,
                             void *values, void *stream)
{
    const hd_graph_table *t = hd_graph_of(table);
    hd_graph_source source;
    HD_TRY(hd_graph_live_pairs(table, scratch, live, &source, stream));
    if (live != 0)
        HD_TRY(t->ops->split(table->device, &t->storage.graph.mix, source.pairs, live, keys, values,
                             stream));
    return HEDDLE_OK;
}

/* The table's own pairs, sorted anew. */
static heddle_status add_resorted(hd_renewal *r)
{
    heddle_table *table = r->table;
    void *keys = NULL, *values = NULL;
    HD_TRY(hd_scratch_take(&r->scratch, r->live * hd_key_width(table), &keys));
    if (hd_value_width(table) != 0)
        HD_TRY(hd_scratch_take(&r->scratch, r->live * hd_value_width(table), &values));
    HD_TRY(hd_graph_unzip(table, &r->scratch, r->live, keys, values, r->stream));
    return add_sorted(r, keys, values, r->live, NULL, 0);
}

bool hd_graph_keeps_regions(const hd_renewal *r)
{
    return hd_graph_of(r->table)->storage.graph.region_bits == r->storage.graph.region_bits &&
           r->feed->seed == r->table->options.seed;
}

static heddle_status add_sources(hd_renewal *r)
{
    const hd_graph_feed *feed = r->feed;
    if (r->live != 0)
        HD_TRY(hd_graph_keeps_regions(r)
                   ? hd_graph_live_pairs(r->table, &r->scratch, r->live,
                                         &r->placing.sources[r->placing.count++], r->stream)
                   : add_resorted(r));
    if (feed->n != 0)
        HD_TRY(add_sorted(r, r->keys.memory, r->values.memory, feed->n, feed->workspace,
                          feed->workspace_bytes));
    return HEDDLE_OK;
}

/* How many regions have more edges than 16-bit numbers can tell, counted on the host. */
static heddle_status count_wide(hd_renewal *r, uint32_t *rows)
{
    const uint64_t regions = hd_graph_regions(&r->storage.graph);
    const uint64_t bytes = (regions + 1) * sizeof(uint64_t);
    uint64_t *starts;
    heddle_status status = HEDDLE_OK;
    *rows = 0;
    if (r->storage.edges <= HD_NARROW_MAX) return HEDDLE_OK;
    starts = (uint64_t *)hd_allocate(r->placing.count * bytes);
    if (starts == NULL) return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory to count regions");
    for (uint32_t i = 0; i < r->placing.count && status == HEDDLE_OK; i++)
        status = hd_read_back(r->table, starts + i * (regions + 1), r->placing.sources[i].starts,
                              bytes, r->stream);
    for (uint64_t region = 0; region < regions && status == HEDDLE_OK; region++) {
        uint64_t edges = 0;
        for (uint32_t i = 0; i < r->placing.count; i++) {
            const uint64_t *mine = starts + i * (regions + 1) + region;
            edges += mine[1] - mine[0];
        }
        *rows += edges > HD_NARROW_MAX;
    }
    free(starts);
    return status;
}

/* The order of edges that the table promises, if it does. */
static heddle_status order_edges(hd_renewal *r)
{
    heddle_table *table = r->table;
    const hd_graph_ops *ops = hd_graph_of(table)->ops;
    void *work = NULL;
    if ((table->options.flags & HEDDLE_FLAG_ORDERED) == 0 || r->storage.edges == 0)
        return HEDDLE_OK;
    HD_TRY(hd_scratch_take(&r->scratch, ops->order_work(table->device, r->storage.edges), &work));
    return ops->order(table->device, &r->storage.graph, &r->placing.stretch, work, r->stream);
}

static heddle_status place_all(hd_renewal *r)
{
    heddle_table *table = r->table;
    uint32_t rows = 0;
    heddle_status status = count_wide(r, &rows);
    if (status == HEDDLE_OK && rows > r->storage.graph.wide_rows)
        status = hd_graph_allocate_wide(table, &r->storage, rows);
    if (status != HEDDLE_OK) return status;
    r->placing.stretch.end_region = (uint32_t)hd_graph_regions(&r->storage.graph);
    r->placing.stretch.edges = r->storage.edges;
    if (r->placing.count == 0) status = hd_graph_empty(table, &r->storage, r->stream);
    else
        status = hd_graph_of(table)->ops->place(table->device, &r->storage.graph, &r->placing,
                                                r->stream);
    if (status == HEDDLE_OK) status = order_edges(r);
    r->passes = 1;
    return status;
}

/* Whether the device cannot read the feed where it lies. */
static bool is_staged(const hd_renewal *r)
{
    const hd_span spans[2] = {{(void *)(uintptr_t)r->feed->keys, 1, true, false},
                              {(void *)(uintptr_t)r->feed->values, 1, true, false}};
    return r->feed->n != 0 && hd_any_staged(r->table, spans, 2);
}

static heddle_status fill_in_one_go(hd_renewal *r)
{
    HD_TRY(hd_graph_make_room(r));
    HD_TRY(add_sources(r));
    return place_all(r);
}

static heddle_status fill_in_passes(hd_renewal *r, uint64_t slice)
{
    hd_scratch_free(&r->scratch);
    memset(&r->placing, 0, sizeof r->placing);
    r->slice = slice;
    r->passes = 0;
    return hd_graph_renew_in_passes(r);
}

/*
 * All pairs in one go or, where memory for that is not to be had, in passes. Host arrays are copied if
 * that can be: slices of them are read twice, to count the keys and to sort the pairs.
 */
static heddle_status fill(hd_renewal *r)
{
    heddle_table *table = r->table;
    heddle_status status = fill_in_one_go(r);
    if (status == HEDDLE_ERROR_NO_MEMORY) status = fill_in_passes(r, 0);
    if (status == HEDDLE_ERROR_NO_MEMORY && is_staged(r)) status = fill_in_passes(r, r->feed->n);
    if (status == HEDDLE_ERROR_NO_MEMORY && is_staged(r)) { /* buffers as small as they get */
        hd_stages_free(table->device);
        status = fill_in_passes(r, 1);
    }
    if (status == HEDDLE_OK) status = hd_table_set_count(table, r->storage.edges, r->stream);
    if (status == HEDDLE_OK) status = table->engine->synchronize(table->device, r->stream);
    return status;
}

/* Chooses the new graph's shape and takes its memory, or that of the table where it is empty and fits. */
static heddle_status prepare(hd_renewal *r, uint64_t held)
{
    const hd_graph_feed *feed = r->feed;
    hd_graph_storage *own = &hd_graph_of(r->table)->storage;
    const uint64_t total = r->live + feed->n;
    const uint64_t room = total > feed->capacity ? total : feed->capacity;
    hd_graph shape;
    heddle_status status = hd_graph_shape(r->table, room, 1, &shape);
    if (status != HEDDLE_OK) return status;
    r->in_place = held == 0 && room <= own->room && shape.region_bits <= own->graph.region_bits &&
                  feed->seed == r->table->options.seed;
    if (r->in_place) {
        status = hd_graph_empty(r->table, own, r->stream); /* edges without lengths would be back */
        if (status == HEDDLE_OK) hd_graph_free_lengths(r->table, own);
        r->storage = *own;
    } else {
        /* More regions than needed do no harm, and spare the table's own pairs a sort. */
        if (r->live != 0 && feed->seed == r->table->options.seed &&
            own->graph.region_bits > shape.region_bits &&
            room >= (uint64_t)1 << own->graph.region_bits)
            status = hd_graph_shape(r->table, room, own->graph.region_bits, &shape);
        hd_mix_init(&shape.mix, feed->seed);
        if (status == HEDDLE_OK) status = hd_graph_allocate(r->table, &shape, room, &r->storage);
    }
    r->storage.edges = total;
    return status;
}

heddle_status hd_graph_renew(heddle_table *table, const hd_graph_feed *feed, void *stream)
{
    hd_graph_table *t = hd_graph_of(table);
    hd_renewal r;
    uint64_t held = 0;
    heddle_status status = hd_table_count(table, &held, stream);
    if (status != HEDDLE_OK) return status;
    memset(&r, 0, sizeof r);
    r.table = table;
    r.feed = feed;
    r.scratch.device = table->device;
    r.stream = stream;
    r.live = feed->keep ? held : 0;
    status = prepare(&r, held);
    if (status == HEDDLE_OK) {
        status = fill(&r);
        if (status == HEDDLE_OK) {
            t->passes = r.passes;
            t->sliced = r.slice != 0;
        } else if (r.in_place) (void)hd_graph_empty(table, &r.storage, stream);
        if (status == HEDDLE_OK && r.live != 0 &&
            r.storage.graph.region_bits > t->storage.graph.region_bits)
            table->growths++;
        if (r.in_place) t->storage = r.storage; /* empty again on failure, but with new wide rows */
        else if (status == HEDDLE_OK) hd_graph_adopt(table, &r.storage, feed->seed);
        else hd_graph_free(table, &r.storage);
    }
    hd_scratch_free(&r.scratch);
    return status;
}

/* --------------------------------------------------------------------------- reserve and rehash */

heddle_status hd_graph_reserve(heddle_table *table, uint64_t capacity, void *stream)
{
    hd_graph_feed feed;
    memset(&feed, 0, sizeof feed);
    if (capacity <= hd_graph_of(table)->storage.room) return HEDDLE_OK;
    feed.keep = true;
    feed.capacity = capacity;
    feed.seed = table->options.seed;
    return hd_graph_renew(table, &feed, stream);
}

heddle_status hd_graph_rehash(heddle_table *table, uint64_t capacity, void *stream)
{
    hd_graph_feed feed;
    memset(&feed, 0, sizeof feed);
    feed.keep = true;
    feed.capacity = capacity;
    feed.seed = hd_seed_draw();
    return hd_graph_renew(table, &feed, stream);
}
