/*
 * renew.c: making a table's graph anew from its own pairs, from pairs to add, or both.
 *
 * Both sides are brought into the regions of the new graph, then placed in one go. The table's own
 * edges are in that order already, if the new graph has as many regions and the same hash function.
 * Scratch memory: the pairs to add, sorted; where the table's pairs cannot stay as they are, those
 * once more, and twice where they have to be sorted again; and host arrays, copied. The new graph's
 * edges serve as the partition's spare room. Where there is less memory, passes.c does the same in
 * passes, from the copies or, where there is no memory for these, from slices of the host arrays.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "host/stage.h"
#include "table/graph/graph.h"
#include "table/pair_sort.h"

/* A sort of n pairs by the regions of the new graph, without arrays. */
static hd_partition sort_job(const heddle_table *table, const hd_graph *graph, uint64_t n)
{
    return hd_sort_job(table, graph->region_bits, &graph->mix, n);
}

heddle_status hd_graph_workspace(heddle_table *table, uint64_t n, uint64_t *bytes)
{
    const hd_graph_storage *own = &hd_graph_of(table)->storage;
    const uint32_t own_bits = own->graph.region_bits;
    hd_graph shape;
    /* As many regions as an insertion would need, or as there are: a build may keep them. */
    HD_TRY(hd_graph_shape(table, own->edges + n, own_bits, &shape));
    const hd_partition job = sort_job(table, &shape, n);
    *bytes = hd_sort_layout_of(table, &job, true).bytes;
    return HEDDLE_OK;
}

heddle_status hd_graph_make_room(hd_renewal *r)
{
    const heddle_table *table = r->table;
    const hd_graph_feed *feed = r->feed;
    HD_TRY(hd_lend_out(r->scratch, (void *)(uintptr_t)feed->keys, feed->n * hd_key_width(table),
                       &r->keys));
    return hd_lend_out(r->scratch, (void *)(uintptr_t)feed->values, feed->n * hd_value_width(table),
                       &r->values);
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

/* Sorts the job's pairs by the new graph's regions and makes them its next source. */
static heddle_status add_sorted(hd_renewal *r, hd_partition *job, void *workspace,
                                uint64_t workspace_bytes)
{
    const hd_sort_layout l = hd_sort_layout_of(r->table, job, true);
    char *memory = (char *)workspace;
    hd_graph_source *source = &r->placing.sources[r->placing.count++];
    if (memory != NULL && workspace_bytes < l.bytes && r->feed->bounded)
        return hd_fail(HEDDLE_ERROR_NO_MEMORY, "the workspace is too small for a build in one go");
    if (memory == NULL || workspace_bytes < l.bytes)
        HD_TRY(hd_scratch_take(r->scratch, l.bytes, (void **)&memory));
    if (job->keys == r->keys.memory) HD_TRY(hd_graph_bring_in(r));
    hd_sort_lay(job, &l, memory, r->storage.graph.edges);
    source->pairs = job->pairs;
    source->starts = job->starts;
    return r->table->engine->partition(r->table->device, job, r->stream);
}

heddle_status hd_graph_live_pairs(const hd_graph_pairs *p, hd_graph_source *source)
{
    heddle_device *device = p->table->device;
    const hd_graph_table *t = hd_graph_of(p->table);
    const hd_graph *graph = &t->storage.graph;
    const uint64_t regions = hd_graph_regions(graph);
    const uint64_t pair = hd_pair_bytes(p->table->options.key_bits, p->table->options.value_bits);
    void *pairs = NULL;
    uint64_t *starts = NULL;
    source->pairs = graph->edges;
    source->starts = graph->starts;
    source->base = 0;
    if (graph->lengths == NULL) return HEDDLE_OK;
    HD_TRY(hd_scratch_take(p->scratch, p->live * pair, &pairs));
    HD_TRY(hd_scratch_take(p->scratch, (regions + 1) * sizeof *starts, (void **)&starts));
    source->pairs = pairs;
    source->starts = starts;
    HD_TRY(t->ops->live_starts(device, graph, starts, p->stream));
    return t->ops->compact(device, graph, 0, (uint32_t)regions, starts, 0, pairs, p->stream);
}

heddle_status hd_graph_unzip(const hd_graph_pairs *p, void *keys, void *values)
{
    const hd_graph_table *t = hd_graph_of(p->table);
    hd_graph_source source;
    HD_TRY(hd_graph_live_pairs(p, &source));
    return p->live == 0 ? HEDDLE_OK
                        : t->ops->split(p->table->device, &t->storage.graph.mix, source.pairs,
                                        p->live, keys, values, p->stream);
}

/* The table's own pairs, sorted anew. */
static heddle_status add_resorted(hd_renewal *r, const hd_graph_pairs *own)
{
    heddle_table *table = r->table;
    hd_partition job = sort_job(table, &r->storage.graph, r->live);
    void *keys = NULL, *values = NULL;
    HD_TRY(hd_scratch_take(r->scratch, r->live * hd_key_width(table), &keys));
    if (hd_value_width(table) != 0)
        HD_TRY(hd_scratch_take(r->scratch, r->live * hd_value_width(table), &values));
    HD_TRY(hd_graph_unzip(own, keys, values));
    job.keys = keys;
    job.values = values;
    return add_sorted(r, &job, NULL, 0);
}

bool hd_graph_keeps_regions(const hd_renewal *r)
{
    return hd_graph_of(r->table)->storage.graph.region_bits == r->storage.graph.region_bits &&
           r->feed->seed == r->table->options.seed;
}

static heddle_status add_sources(hd_renewal *r)
{
    const hd_graph_feed *feed = r->feed;
    const hd_graph_pairs own = {r->table, r->live, r->scratch, r->stream};
    hd_partition job = sort_job(r->table, &r->storage.graph, feed->n);
    if (r->live != 0)
        HD_TRY(hd_graph_keeps_regions(r)
                   ? hd_graph_live_pairs(&own, &r->placing.sources[r->placing.count++])
                   : add_resorted(r, &own));
    job.keys = r->keys.memory;
    job.values = r->values.memory;
    return feed->n != 0 ? add_sorted(r, &job, feed->workspace, feed->workspace_bytes) : HEDDLE_OK;
}

/* How many regions have more edges than 16-bit numbers can tell, counted on the host. */
static heddle_status count_wide(hd_renewal *r, uint32_t *rows)
{
    const uint64_t regions = hd_graph_regions(&r->storage.graph);
    const uint64_t bytes = (regions + 1) * sizeof(uint64_t);
    *rows = 0;
    if (r->storage.edges <= HD_NARROW_MAX) return HEDDLE_OK;
    uint64_t *starts HD_FREED = (uint64_t *)hd_allocate(r->placing.count * bytes);
    if (starts == NULL) return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory to count regions");
    for (uint32_t i = 0; i < r->placing.count; i++)
        HD_TRY(hd_read_back(r->table, starts + i * (regions + 1), r->placing.sources[i].starts,
                            bytes, r->stream));
    for (uint64_t region = 0; region < regions; region++) {
        uint64_t edges = 0;
        for (uint32_t i = 0; i < r->placing.count; i++) {
            const uint64_t *mine = starts + i * (regions + 1) + region;
            edges += mine[1] - mine[0];
        }
        *rows += edges > HD_NARROW_MAX;
    }
    return HEDDLE_OK;
}

/* The order of edges that the table promises, if it does. */
static heddle_status order_edges(hd_renewal *r)
{
    heddle_table *table = r->table;
    const hd_graph_ops *ops = hd_graph_of(table)->ops;
    void *work = NULL;
    if ((table->options.flags & HEDDLE_FLAG_ORDERED) == 0 || r->storage.edges == 0)
        return HEDDLE_OK;
    HD_TRY(hd_scratch_take(r->scratch, ops->order_work(table->device, r->storage.edges), &work));
    return ops->order(table->device, &r->storage.graph, &r->placing.stretch, work, r->stream);
}

static heddle_status place_all(hd_renewal *r)
{
    heddle_table *table = r->table;
    const hd_graph_ops *ops = hd_graph_of(table)->ops;
    uint32_t rows = 0;
    HD_TRY(count_wide(r, &rows));
    if (rows > r->storage.graph.wide_rows) HD_TRY(hd_graph_allocate_wide(table, &r->storage, rows));
    r->placing.stretch.end_region = (uint32_t)hd_graph_regions(&r->storage.graph);
    r->placing.stretch.edges = r->storage.edges;
    if (r->placing.count == 0) HD_TRY(hd_graph_empty(table, &r->storage, r->stream));
    else HD_TRY(ops->place(table->device, &r->storage.graph, &r->placing, r->stream));
    r->passes = 1;
    return order_edges(r);
}

/* Whether the device cannot read the feed where it lies. */
static bool is_staged(const hd_renewal *r)
{
    heddle_device *device = r->table->device;
    return r->feed->n != 0 &&
           !(hd_is_direct(device, r->feed->keys) && hd_is_direct(device, r->feed->values));
}

static heddle_status fill_in_one_go(hd_renewal *r)
{
    HD_TRY(hd_graph_make_room(r));
    HD_TRY(add_sources(r));
    return place_all(r);
}

static heddle_status fill_in_passes(hd_renewal *r, uint64_t slice)
{
    hd_scratch_free(r->scratch);
    memset(&r->placing, 0, sizeof r->placing);
    r->slice = slice;
    r->passes = 0;
    return hd_graph_renew_in_passes(r);
}

/*
 * All pairs in one go or, where memory for that is not to be had, in passes. Host arrays are copied
 * if that can be: slices of them are read twice, to count the keys and to sort the pairs.
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
    HD_TRY(status);
    HD_TRY(hd_table_set_count(table, r->storage.edges, r->stream));
    return table->engine->synchronize(table->device, r->stream);
}

/* An empty table's own memory. */
static heddle_status prepare_in_place(hd_renewal *r)
{
    hd_graph_storage *own = &hd_graph_of(r->table)->storage;
    HD_TRY(hd_graph_empty(r->table, own, r->stream)); /* edges without lengths would be back */
    hd_graph_free_lengths(r->table, own);
    r->storage = *own;
    return HEDDLE_OK;
}

/*
 * Chooses the new graph's shape and takes its memory, or that of the table where it is empty and
 * fits.
 */
static heddle_status prepare(hd_renewal *r, uint64_t held)
{
    const hd_graph_feed *feed = r->feed;
    const hd_graph_storage *own = &hd_graph_of(r->table)->storage;
    const uint32_t own_bits = own->graph.region_bits;
    const bool same_seed = feed->seed == r->table->options.seed;
    const uint64_t total = r->live + feed->n;
    const uint64_t room = total > feed->capacity ? total : feed->capacity;
    hd_graph shape;
    HD_TRY(hd_graph_shape(r->table, room, 1, &shape));
    r->in_place = held == 0 && room <= own->room && shape.region_bits <= own_bits && same_seed;
    if (r->in_place) {
        HD_TRY(prepare_in_place(r));
    } else {
        /* More regions than needed do no harm, and spare the table's own pairs a sort. */
        if (r->live != 0 && same_seed && own_bits > shape.region_bits &&
            room >= (uint64_t)1 << own_bits)
            HD_TRY(hd_graph_shape(r->table, room, own_bits, &shape));
        hd_mix_init(&shape.mix, feed->seed);
        HD_TRY(hd_graph_allocate(r->table, &shape, room, &r->storage));
    }
    r->storage.edges = total;
    return HEDDLE_OK;
}

/* The new graph is the table's, or goes. */
static void settle(hd_renewal *r, bool success)
{
    heddle_table *table = r->table;
    hd_graph_table *t = hd_graph_of(table);
    if (success) {
        t->passes = r->passes;
        t->sliced = r->slice != 0;
        if (r->live != 0 && r->storage.graph.region_bits > t->storage.graph.region_bits)
            table->growths++;
    } else if (r->in_place) {
        (void)hd_graph_empty(table, &r->storage, r->stream);
    }
    if (r->in_place) t->storage = r->storage; /* empty again on failure, but with new wide rows */
    else if (success) hd_graph_adopt(table, &r->storage, r->feed->seed);
    else hd_graph_free(table, &r->storage);
}

heddle_status hd_graph_renew(heddle_table *table, const hd_graph_feed *feed, void *stream)
{
    HD_SCRATCH(scratch, table->device);
    hd_renewal r = {.table = table, .feed = feed, .scratch = &scratch, .stream = stream};
    uint64_t held = 0;
    HD_TRY(hd_table_count(table, &held, stream));
    r.live = feed->keep ? held : 0;
    HD_TRY(prepare(&r, held));
    const heddle_status status = fill(&r);
    settle(&r, status == HEDDLE_OK);
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
