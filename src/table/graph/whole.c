/* whole.c: operations on a graph as a whole: export, statistics, validation. */
#include <string.h>

#include "base/error.h"
#include "host/stage.h"
#include "table/graph/graph.h"

/* -------------------------------------------------------------------------------------- export */

heddle_status hd_graph_collect(heddle_table *table, void *keys, void *values, void *stream)
{
    const hd_span spans[2] = {{keys, 1, false, true}, {values, 1, false, true}};
    hd_scratch scratch;
    uint64_t live = 0;
    heddle_status status;
    if (hd_any_staged(table, spans, 2)) return hd_collect_staged(table, keys, values, stream);
    memset(&scratch, 0, sizeof scratch);
    scratch.device = table->device;
    status = hd_table_count(table, &live, stream);
    if (status == HEDDLE_OK) status = hd_graph_unzip(table, &scratch, live, keys, values, stream);
    if (status == HEDDLE_OK) status = table->engine->synchronize(table->device, stream);
    hd_scratch_free(&scratch);
    return status;
}

/* hd_pairs_fetch: `from` are sorted pairs. */
static heddle_status fetch(heddle_table *table, const void *from, uint64_t first, uint64_t n,
                           void *keys, void *values, uint64_t *cursor, void *stream)
{
    const hd_graph_table *t = hd_graph_of(table);
    const uint64_t pair = hd_pair_bytes(table->options.key_bits, table->options.value_bits);
    HD_TRY(t->ops->split(table->device, &t->storage.graph.mix, (const char *)from + first * pair, n,
                         keys, hd_value_width(table) != 0 ? values : NULL, stream));
    return table->engine->copy(table->device, cursor, &n, sizeof n, stream);
}

heddle_status hd_graph_for_pairs(heddle_table *table, hd_pairs_take take, void *context,
                                 void *stream)
{
    hd_graph_source source;
    hd_scratch scratch;
    uint64_t live = 0;
    heddle_status status = hd_table_count(table, &live, stream);
    memset(&scratch, 0, sizeof scratch);
    scratch.device = table->device;
    if (status == HEDDLE_OK) status = hd_graph_live_pairs(table, &scratch, live, &source, stream);
    if (status == HEDDLE_OK)
        status = hd_for_pieces(table, live, 1, fetch, source.pairs, take, context, stream);
    hd_scratch_free(&scratch);
    return status;
}

/* ---------------------------------------------------------------------- statistics, validation */

static heddle_status take_census(heddle_table *table, bool unique, hd_graph_census *census,
                                 void *stream)
{
    const hd_graph_table *t = hd_graph_of(table);
    hd_call call;
    heddle_status status = hd_call_begin(table, true, stream, &call);
    if (status != HEDDLE_OK) return status;
    status = t->ops->inspect(table->device, &t->storage.graph, unique, &call.words->census.graph,
                             stream);
    if (status == HEDDLE_OK)
        status = hd_read_back(table, census, &call.words->census.graph, sizeof *census, stream);
    hd_call_end(table, &call);
    return status;
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
    heddle_status status = hd_table_count(table, &keys, stream);
    if (status == HEDDLE_OK)
        status = hd_read_back(table, &edges, storage->graph.starts + regions, sizeof edges, stream);
    if (status != HEDDLE_OK) return status;
    /* The census trusts this number to be the end of the edges. */
    if (edges != storage->edges || edges > storage->room)
        return hd_fail(HEDDLE_ERROR_CORRUPT, "the regions end at edge %llu, not %llu",
                       (unsigned long long)edges, (unsigned long long)storage->edges);
    status = take_census(table, table->options.container != HEDDLE_CONTAINER_MULTIMAP, &c, stream);
    if (status != HEDDLE_OK) return status;
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
