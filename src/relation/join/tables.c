/*
 * tables.c: joins of two multimaps by HashGraph, the paper's two-graph query. Both have their edges
 * sorted by region already, so only the tasks of a join are left to make (join.h). A graph built
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

/* A copy of the edges of a graph that some were erased from, in memory of the side's. */
static heddle_status copy_live(heddle_join *join, const hd_graph_table *t, hd_join_side *side,
                               uint64_t *device_starts, void *stream)
{
    const hd_graph *graph = &t->storage.graph;
    const uint32_t regions = (uint32_t)hd_graph_regions(graph);
    const uint64_t pair = hd_pair_bytes(t->ops->key_bits, t->ops->value_bits);
    side->borrowed = false;
    HD_TRY(hd_block_take(join->device, t->storage.edges * pair, &side->pairs));
    HD_TRY(t->ops->live_starts(join->device, graph, device_starts, stream));
    return t->ops->compact(join->device, graph, 0, regions, device_starts, 0, side->pairs, stream);
}

/* The graph's edges, or a copy where some were erased, and on the host where its regions begin. */
static heddle_status take_edges(heddle_join *join, const hd_graph_table *t, hd_join_side *side,
                                uint64_t *starts, void *stream)
{
    const hd_graph *graph = &t->storage.graph;
    const uint64_t bytes = (hd_graph_regions(graph) + 1) * sizeof(uint64_t);
    const uint64_t *from = graph->starts;
    HD_SCRATCH(scratch, join->device);
    if (graph->lengths == NULL) {
        side->pairs = graph->edges;
        side->borrowed = true;
    } else {
        void *live;
        HD_TRY(hd_scratch_take(&scratch, bytes, &live));
        HD_TRY(copy_live(join, t, side, (uint64_t *)live, stream));
        from = (const uint64_t *)live;
    }
    HD_TRY(join->engine->copy(join->device, starts, from, bytes, stream));
    return join->engine->synchronize(join->device, stream);
}

/* The regions of a graph seen as those of a graph with fewer. */
static heddle_status coarsen(const heddle_join *join, const hd_graph *graph, const uint64_t *starts,
                             hd_join_side *side)
{
    const uint32_t spread = graph->region_bits - join->region_bits;
    const uint64_t regions = UINT64_C(1) << join->region_bits;
    side->starts = (uint64_t *)hd_allocate_zeroed(regions + 1, sizeof(uint64_t));
    if (side->starts == NULL) return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for a join");
    for (uint64_t r = 0; r <= regions; r++) side->starts[r] = starts[r << spread];
    side->rows = side->keys = side->starts[regions];
    return HEDDLE_OK;
}

static heddle_status take_side(heddle_join *join, heddle_table *table, hd_join_side *side,
                               void *stream)
{
    const hd_graph_table *t = hd_graph_of(table);
    uint64_t *starts HD_FREED =
        (uint64_t *)hd_allocate_zeroed(hd_graph_regions(&t->storage.graph) + 1, sizeof(uint64_t));
    if (starts == NULL) return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for a join");
    HD_TRY(take_edges(join, t, side, starts, stream));
    return coarsen(join, &t->storage.graph, starts, side);
}

static heddle_status make_result(heddle_join *join, heddle_table *left, heddle_table *right,
                                 void *stream)
{
    hd_join_side *sides = join->sides;
    HD_TRY(take_side(join, left, &sides[HD_LEFT], stream));
    HD_TRY(take_side(join, right, &sides[HD_RIGHT], stream));
    join->hashed = sides[HD_LEFT].rows <= sides[HD_RIGHT].rows ? HD_LEFT : HD_RIGHT;
    HD_TRY(hd_join_make_tasks(join));
    return hd_join_count_matches(join, stream);
}

heddle_status heddle_join_tables(heddle_table *left, heddle_table *right,
                                 const heddle_join_options *options, heddle_join **join,
                                 void *stream)
{
    const hd_graph *a, *b;
    heddle_join *made;
    heddle_status status;
    if (join == NULL)
        return hd_fail(HEDDLE_ERROR_INVALID, "join_tables: there is no place for the join");
    *join = NULL;
    HD_TRY(check_table(left, stream, "left"));
    HD_TRY(check_table(right, stream, "right"));
    HD_TRY(check_pair(left, right));
    HD_TRY(check_options(options, left->options.value_bits));
    a = &hd_graph_of(left)->storage.graph;
    b = &hd_graph_of(right)->storage.graph;
    made = (heddle_join *)hd_allocate_zeroed(1, sizeof *made);
    if (made == NULL) return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for a join");
    made->device = left->device;
    made->engine = left->engine;
    made->ops = left->engine->relate(left->options.key_bits, left->options.value_bits);
    made->kind = HEDDLE_JOIN_INNER;
    made->row_bits = left->options.value_bits;
    made->mix = a->mix;
    made->region_bits = a->region_bits < b->region_bits ? a->region_bits : b->region_bits;
    status = make_result(made, left, right, stream);
    if (status == HEDDLE_OK) *join = made;
    else heddle_join_destroy(made);
    return status;
}
