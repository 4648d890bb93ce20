/*
 * tables.c: joins of two multimaps by HashGraph, the paper's two-graph query. Both have their edges
 * sorted by region already, so nothing but the tasks of a join is left to do (join.h). A graph built
 * once can be joined with many.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "engine/blocks.h"
#include "host/public_struct.h"
#include "relation/join/join.h"
#include "table/graph/graph.h"

static heddle_status check_table(const heddle_table *table, const void *stream, const char *side)
{
    HD_TRY(hd_check_table(table, stream, "join_tables"));
    if (table->options.scheme != HEDDLE_SCHEME_HASHGRAPH ||
        table->options.container != HEDDLE_CONTAINER_MULTIMAP)
        return hd_fail(HEDDLE_ERROR_UNSUPPORTED,
                       "join_tables: the %s table is not a multimap by hashgraph", side);
    return HEDDLE_OK;
}

static heddle_status check_pair(const heddle_table *left, const heddle_table *right)
{
    const heddle_table_options *a = &left->options, *b = &right->options;
    if (left->device != right->device)
        return hd_fail(HEDDLE_ERROR_INVALID, "join_tables: the tables are on two devices");
    if (a->key_bits != b->key_bits || a->value_bits != b->value_bits)
        return hd_fail(HEDDLE_ERROR_INVALID,
                       "join_tables: keys and values have %u and %u bits on the left, %u and %u on "
                       "the right",
                       a->key_bits, a->value_bits, b->key_bits, b->value_bits);
    if (memcmp(&hd_graph_of(left)->storage.graph.mix, &hd_graph_of(right)->storage.graph.mix,
               sizeof(hd_mix)) != 0)
        return hd_fail(HEDDLE_ERROR_INVALID,
                       "join_tables: the tables were made with different seeds");
    return HEDDLE_OK;
}

static heddle_status check_options(const heddle_join_options *given, uint32_t value_bits)
{
    heddle_join_options o = HEDDLE_JOIN_OPTIONS_INIT;
    o.row_bits = value_bits;
    HD_TRY(hd_read_struct(&o, given, &hd_join_options_kind));
    if (o.kind != HEDDLE_JOIN_INNER)
        return hd_fail(HEDDLE_ERROR_UNSUPPORTED, "join_tables: tables have inner joins alone");
    if (o.row_bits != value_bits)
        return hd_fail(HEDDLE_ERROR_INVALID,
                       "join_tables: row_bits must be those of the values, %u, not %u", value_bits,
                       o.row_bits);
    if (o.flags != 0) return hd_fail(HEDDLE_ERROR_INVALID, "join_tables: there are no flags yet");
    return HEDDLE_OK;
}

/* The graph's edges, or a copy where some were erased, and on the host where its regions begin. */
static heddle_status take_side(heddle_join *join, heddle_table *table, hd_join_side *side,
                               uint64_t *starts, void *stream)
{
    const hd_graph_table *t = hd_graph_of(table);
    const hd_graph *graph = &t->storage.graph;
    const uint64_t count = hd_graph_regions(graph) + 1;
    const uint64_t *from = graph->starts;
    void *device_starts = NULL;
    heddle_status status = HEDDLE_OK;
    side->pairs = graph->edges;
    side->borrowed = true;
    if (graph->lengths != NULL) {
        side->pairs = NULL;
        side->borrowed = false;
        status = hd_block_take(
            join->device, t->storage.edges * hd_pair_bytes(t->ops->key_bits, t->ops->value_bits),
            &side->pairs);
        if (status == HEDDLE_OK)
            status = hd_block_take(join->device, count * sizeof(uint64_t), &device_starts);
        if (status == HEDDLE_OK)
            status = t->ops->live_starts(join->device, graph, (uint64_t *)device_starts, stream);
        if (status == HEDDLE_OK)
            status = t->ops->compact(join->device, graph, 0, (uint32_t)(count - 1),
                                     (const uint64_t *)device_starts, 0, side->pairs, stream);
        from = (const uint64_t *)device_starts;
    }
    if (status == HEDDLE_OK)
        status = join->engine->copy(join->device, starts, from, count * sizeof(uint64_t), stream);
    if (status == HEDDLE_OK) status = join->engine->synchronize(join->device, stream);
    hd_block_give(join->device, device_starts);
    return status;
}

/* The regions of a graph seen as those of a graph with fewer. */
static heddle_status coarsen(const heddle_join *join, heddle_table *table, const uint64_t *starts,
                             hd_join_side *side)
{
    const uint32_t spread = hd_graph_of(table)->storage.graph.region_bits - join->region_bits;
    const uint64_t regions = UINT64_C(1) << join->region_bits;
    side->starts = (uint64_t *)hd_allocate_zeroed(regions + 1, sizeof(uint64_t));
    if (side->starts == NULL) return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for a join");
    for (uint64_t r = 0; r <= regions; r++) side->starts[r] = starts[r << spread];
    side->rows = side->keys = side->starts[regions];
    return HEDDLE_OK;
}

static heddle_status take_sides(heddle_join *join, heddle_table *const tables[2], void *stream)
{
    heddle_status status = HEDDLE_OK;
    for (uint32_t i = HD_LEFT; i <= HD_RIGHT && status == HEDDLE_OK; i++) {
        const uint64_t regions = hd_graph_regions(&hd_graph_of(tables[i])->storage.graph);
        uint64_t *starts = (uint64_t *)hd_allocate_zeroed(regions + 1, sizeof(uint64_t));
        if (starts == NULL) return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for a join");
        status = take_side(join, tables[i], &join->sides[i], starts, stream);
        if (status == HEDDLE_OK) status = coarsen(join, tables[i], starts, &join->sides[i]);
        free(starts);
    }
    join->hashed = join->sides[HD_LEFT].rows <= join->sides[HD_RIGHT].rows ? HD_LEFT : HD_RIGHT;
    return status;
}

heddle_status heddle_join_tables(heddle_table *left, heddle_table *right,
                                 const heddle_join_options *options, heddle_join **join,
                                 void *stream)
{
    heddle_table *const tables[2] = {left, right};
    heddle_join *made;
    heddle_status status;
    if (join == NULL)
        return hd_fail(HEDDLE_ERROR_INVALID, "join_tables: there is no place for the join");
    *join = NULL;
    status = check_table(left, stream, "left");
    if (status == HEDDLE_OK) status = check_table(right, stream, "right");
    if (status == HEDDLE_OK) status = check_pair(left, right);
    if (status == HEDDLE_OK) status = check_options(options, left->options.value_bits);
    if (status != HEDDLE_OK) return status;
    const hd_graph *a = &hd_graph_of(left)->storage.graph, *b = &hd_graph_of(right)->storage.graph;
    made = (heddle_join *)hd_allocate_zeroed(1, sizeof *made);
    if (made == NULL) return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for a join");
    made->device = left->device;
    made->engine = left->engine;
    made->ops = left->engine->relate(left->options.key_bits, left->options.value_bits);
    made->kind = HEDDLE_JOIN_INNER;
    made->row_bits = left->options.value_bits;
    made->mix = a->mix;
    made->region_bits = a->region_bits < b->region_bits ? a->region_bits : b->region_bits;
    status = take_sides(made, tables, stream);
    if (status == HEDDLE_OK) status = hd_join_make_tasks(made);
    if (status == HEDDLE_OK) status = hd_join_count_matches(made, stream);
    if (status == HEDDLE_OK) *join = made;
    else heddle_join_destroy(made);
    return status;
}
