/* whole.c: operations on a graph as a whole: export, statistics, validation. */
#include <string.h>

#include "base/error.h"
#include "table/collect.h"
#include "table/graph/graph.h"

/* -------------------------------------------------------------------------------------- export */

heddle_status hd_graph_collect(heddle_table *table, void *keys, void *values, void *stream)
{
    HD_SCRATCH(scratch, table->device);
    hd_graph_pairs all = {table, 0, &scratch, stream};
    HD_TRY(hd_table_count(table, &all.live, stream));
    HD_TRY(hd_graph_unzip(&all, keys, values));
    return table->engine->synchronize(table->device, stream);
}

/* hd_pieces.fetch: the items are sorted pairs. */
static heddle_status fetch(const hd_pieces *pieces, uint64_t first, uint64_t n,
                           const hd_pairs_room *to)
{
    const heddle_table *table = pieces->table;
    const hd_graph_table *t = hd_graph_of(table);
    const uint64_t pair = hd_pair_bytes(table->options.key_bits, table->options.value_bits);
    const char *from = (const char *)pieces->from + first * pair;
    HD_TRY(t->ops->split(table->device, &t->storage.graph.mix, from, n, to->keys,
                         hd_value_width(table) != 0 ? to->values : NULL, pieces->stream));
    return table->engine->copy(table->device, to->cursor, &n, sizeof n, pieces->stream);
}

heddle_status hd_graph_for_pairs(heddle_table *table, hd_pairs_take take, void *context,
                                 void *stream)
{
    HD_SCRATCH(scratch, table->device);
    hd_graph_pairs all = {table, 0, &scratch, stream};
    hd_graph_source source;
    HD_TRY(hd_table_count(table, &all.live, stream));
    HD_TRY(hd_graph_live_pairs(&all, &source));
    const hd_pieces pieces = {table, source.pairs, all.live, 1, fetch, stream};
    return hd_for_pieces(&pieces, take, context);
}

/* ---------------------------------------------------------------------- statistics, validation */

static heddle_status take_census(heddle_table *table, bool unique, hd_graph_census *census,
                                 void *stream)
{
    const hd_graph_table *t = hd_graph_of(table);
    HD_CALL(call);
    HD_TRY(hd_call_begin(table, true, stream, &call));
    hd_graph_census *counted = &call.words->census.graph;
    HD_TRY(t->ops->inspect(table->device, &t->storage.graph, unique, counted, stream));
    return hd_read_back(table, census, counted, sizeof *census, stream);
}

heddle_status hd_graph_get_stats(heddle_table *table, heddle_table_stats *s, void *stream)
{
    const hd_graph_storage *storage = &hd_graph_of(table)->storage;
    const uint64_t pair = hd_pair_bytes(table->options.key_bits, table->options.value_bits);
    hd_graph_census census;
    HD_TRY(take_census(table, false, &census, stream));
    s->regions = (uint32_t)hd_graph_regions(&storage->graph);
    s->keys = census.edges;
    s->slots = table->options.capacity;
    s->marks = 0;
    s->buckets = s->slots;
    s->full = census.used;
    s->bytes_slots = storage->room * pair;
    s->bytes_total = storage->bytes + sizeof(hd_control);
    s->growths = table->growths;
    s->evictions = 0;
    for (int i = 0; i < HEDDLE_PROBES_MAX; i++) s->probes[i] = census.lists[i];
    s->load = (double)s->keys / (double)s->slots;
    return HEDDLE_OK;
}

heddle_status hd_graph_validate(heddle_table *table, void *stream)
{
    const hd_graph_storage *storage = &hd_graph_of(table)->storage;
    const uint64_t regions = hd_graph_regions(&storage->graph);
    hd_graph_census c;
    uint64_t keys = 0, edges = 0;
    HD_TRY(hd_table_count(table, &keys, stream));
    HD_TRY(hd_read_back(table, &edges, storage->graph.starts + regions, sizeof edges, stream));
    /* The census trusts this number to be the end of the edges. */
    if (edges != storage->edges || edges > storage->room)
        return hd_fail(HEDDLE_ERROR_CORRUPT, "the regions end at edge %llu, not %llu",
                       (unsigned long long)edges, (unsigned long long)storage->edges);
    HD_TRY(take_census(table, table->options.container != HEDDLE_CONTAINER_MULTIMAP, &c, stream));
    const struct {
        uint64_t count;
        const char *reason;
    } checks[] = {
        {c.disordered, "regions have lists that do not follow each other"},
        {c.misplaced, "keys stand in a list that is not theirs"},
        {c.twice, "keys stand in their list twice"},
    };
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++)
        if (checks[i].count != 0)
            return hd_fail(HEDDLE_ERROR_CORRUPT, "%llu %s", (unsigned long long)checks[i].count,
                           checks[i].reason);
    if (c.edges != keys)
        return hd_fail(HEDDLE_ERROR_CORRUPT,
                       "the table counts %llu pairs, but %llu stand in its lists",
                       (unsigned long long)keys, (unsigned long long)c.edges);
    return HEDDLE_OK;
}
