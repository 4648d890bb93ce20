/* storage.c: the shape and the memory of a graph. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "engine/blocks.h"
#include "table/graph/graph.h"
#include "table/pair_sort.h"

heddle_status hd_graph_shape(const heddle_table *table, uint64_t n, uint32_t bits_min,
                             hd_graph *graph)
{
    const hd_graph_ops *ops = hd_graph_of(table)->ops;
    const double vertices = ceil((double)n * table->options.vertices);
    double mine;
    memset(graph, 0, sizeof *graph);
    if (n > HD_SLOTS_MAX / 2)
        return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no table holds %llu pairs", (unsigned long long)n);
    graph->region_bits = bits_min;
    while (graph->region_bits < HD_PARTITION_BITS_MAX &&
           (n > (uint64_t)ops->region_pairs << graph->region_bits ||
            vertices > (double)((uint64_t)ops->region_vertices_max << graph->region_bits)))
        graph->region_bits++;
    mine = ceil(vertices / (double)hd_graph_regions(graph));
    if (mine < 1) mine = 1;
    if (mine > (double)ops->region_vertices_max) mine = (double)ops->region_vertices_max;
    graph->region_vertices = (uint32_t)mine;
    graph->region_row = (graph->region_vertices + 1 + 7) / 8 * 8;
    return HEDDLE_OK;
}

/* Bytes of a row of 16-bit numbers for every region. */
static uint64_t narrow_bytes(const hd_graph *graph)
{
    return hd_graph_regions(graph) * graph->region_row * sizeof(uint16_t);
}

static uint64_t starts_bytes(const hd_graph *graph)
{
    return (hd_graph_regions(graph) + 1) * sizeof(uint64_t);
}

static heddle_status take(heddle_table *table, hd_graph_storage *storage, uint64_t bytes,
                          void **memory)
{
    const heddle_status status = hd_block_take(table->device, bytes, memory);
    if (status == HEDDLE_OK) storage->bytes += bytes;
    else *memory = NULL;
    return status;
}

static void give(heddle_table *table, hd_graph_storage *storage, uint64_t bytes, void *memory)
{
    if (memory == NULL) return;
    storage->bytes -= bytes;
    hd_block_give(table->device, memory);
}

heddle_status hd_graph_allocate(heddle_table *table, const hd_graph *shape, uint64_t room,
                                hd_graph_storage *storage)
{
    const uint64_t pair = hd_pair_bytes(table->options.key_bits, table->options.value_bits);
    const uint64_t offsets = hd_aligned(starts_bytes(shape));
    const uint64_t wide_used = offsets + hd_aligned(narrow_bytes(shape));
    hd_graph *graph = &storage->graph;
    memset(storage, 0, sizeof *storage);
    *graph = *shape;
    storage->room = room;
    heddle_status status = take(table, storage, wide_used + sizeof(uint32_t), &storage->rows);
    if (status == HEDDLE_OK)
        status = take(table, storage, room * pair + HD_EDGES_SLACK, &graph->edges);
    if (status != HEDDLE_OK) {
        hd_graph_free(table, storage);
        return status;
    }
    graph->starts = (uint64_t *)storage->rows;
    graph->offsets = (uint16_t *)(void *)((char *)storage->rows + offsets);
    graph->wide_used = (uint32_t *)(void *)((char *)storage->rows + wide_used);
    return HEDDLE_OK;
}

static uint64_t wide_bytes(const hd_graph *graph, uint32_t rows)
{
    return (uint64_t)rows * (graph->region_vertices + 1) * sizeof(uint64_t);
}

heddle_status hd_graph_allocate_wide(heddle_table *table, hd_graph_storage *storage, uint32_t rows)
{
    hd_graph *graph = &storage->graph;
    void *wide = NULL;
    HD_TRY(rows != 0 ? take(table, storage, wide_bytes(graph, rows), &wide) : HEDDLE_OK);
    give(table, storage, wide_bytes(graph, graph->wide_rows), graph->wide);
    graph->wide = (uint64_t *)wide;
    graph->wide_rows = rows;
    return HEDDLE_OK;
}

static uint64_t wide_length_bytes(const hd_graph *graph)
{
    return (uint64_t)graph->wide_rows * graph->region_vertices * sizeof(uint64_t);
}

heddle_status hd_graph_allocate_lengths(heddle_table *table, hd_graph_storage *storage)
{
    hd_graph *graph = &storage->graph;
    heddle_status status = take(table, storage, narrow_bytes(graph), (void **)&graph->lengths);
    if (status == HEDDLE_OK && graph->wide_rows != 0)
        status = take(table, storage, wide_length_bytes(graph), (void **)&graph->wide_lengths);
    if (status != HEDDLE_OK) hd_graph_free_lengths(table, storage);
    return status;
}

void hd_graph_free_lengths(heddle_table *table, hd_graph_storage *storage)
{
    hd_graph *graph = &storage->graph;
    give(table, storage, narrow_bytes(graph), graph->lengths);
    give(table, storage, wide_length_bytes(graph), graph->wide_lengths);
    graph->lengths = NULL;
    graph->wide_lengths = NULL;
}

void hd_graph_free(heddle_table *table, hd_graph_storage *storage)
{
    hd_graph_free_lengths(table, storage);
    if (storage->graph.wide != NULL) hd_block_give(table->device, storage->graph.wide);
    if (storage->graph.edges != NULL) hd_block_give(table->device, storage->graph.edges);
    if (storage->rows != NULL) hd_block_give(table->device, storage->rows);
    memset(storage, 0, sizeof *storage);
}

heddle_status hd_graph_empty(heddle_table *table, hd_graph_storage *storage, void *stream)
{
    const hd_engine *engine = table->engine;
    const hd_graph *graph = &storage->graph;
    HD_TRY(engine->fill(table->device, graph->starts, 0, starts_bytes(graph), stream));
    HD_TRY(engine->fill(table->device, graph->offsets, 0, narrow_bytes(graph), stream));
    HD_TRY(engine->fill(table->device, graph->wide_used, 0, sizeof *graph->wide_used, stream));
    if (graph->lengths != NULL)
        HD_TRY(engine->fill(table->device, graph->lengths, 0, narrow_bytes(graph), stream));
    storage->edges = 0;
    return HEDDLE_OK;
}

void hd_graph_adopt(heddle_table *table, const hd_graph_storage *storage, uint64_t seed)
{
    hd_graph_storage *own = &hd_graph_of(table)->storage, *kept = hd_graph_of(table)->kept;
    if (storage != own) {
        if (kept != NULL && kept->rows == NULL) *kept = *own;
        else hd_graph_free(table, own);
        *own = *storage;
    }
    table->options.seed = seed;
    table->options.capacity = hd_graph_regions(&own->graph) * own->graph.region_vertices;
}

heddle_status hd_graph_begin(heddle_table *table, hd_graph_before *before, void *stream)
{
    const hd_graph_storage *own = &hd_graph_of(table)->storage;
    heddle_status status;
    memset(before, 0, sizeof *before);
    status = hd_table_count(table, &before->pairs, stream);
    before->growths = table->growths;
    before->room = own->room;
    before->shape.region_bits = own->graph.region_bits;
    before->shape.region_vertices = own->graph.region_vertices;
    before->shape.region_row = own->graph.region_row;
    before->shape.mix = own->graph.mix;
    /* Of an empty table there is nothing to keep, and its memory may be of use. */
    if (status == HEDDLE_OK && before->pairs != 0) hd_graph_of(table)->kept = &before->storage;
    return status;
}

/*
 * Empty again and with the room it had, for which there is memory now, unless others have been
 * quicker.
 */
static void make_empty(heddle_table *table, const hd_graph_before *before, void *stream)
{
    const hd_graph_storage *own = &hd_graph_of(table)->storage;
    hd_graph_storage fresh;
    (void)hd_graph_clear(table, stream);
    if (own->room == before->room && own->graph.region_bits == before->shape.region_bits &&
        own->graph.region_vertices == before->shape.region_vertices)
        return;
    if (hd_graph_allocate(table, &before->shape, before->room, &fresh) != HEDDLE_OK) return;
    if (hd_graph_empty(table, &fresh, stream) == HEDDLE_OK)
        hd_graph_adopt(table, &fresh, table->options.seed);
    else hd_graph_free(table, &fresh);
}

void hd_graph_end(heddle_table *table, hd_graph_before *before, bool success, void *stream)
{
    hd_graph_of(table)->kept = NULL;
    if (success) {
        hd_graph_free(table, &before->storage);
        return;
    }
    table->growths = before->growths;
    if (before->pairs == 0) make_empty(table, before, stream);
    if (before->storage.rows == NULL) return; /* it was never changed */
    hd_graph_adopt(table, &before->storage, table->options.seed);
    (void)hd_table_set_count(table, before->pairs, stream);
}

heddle_status hd_graph_clear(heddle_table *table, void *stream)
{
    HD_TRY(hd_graph_empty(table, &hd_graph_of(table)->storage, stream));
    return hd_table_set_count(table, 0, stream);
}
