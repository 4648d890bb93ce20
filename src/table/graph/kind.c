/* kind.c: graphs as a kind of table: which options they take, and how one is made. */
#include <stdio.h>

#include "base/error.h"
#include "table/graph/graph.h"

static heddle_status complete(heddle_table_options *o)
{
    if (o->container == HEDDLE_CONTAINER_MAP)
        return hd_fail(HEDDLE_ERROR_UNSUPPORTED,
                       "a hashgraph is a set, a multimap or a counter; maps are made by the scheme "
                       "cuckoo");
    if ((o->flags & HEDDLE_FLAG_FIXED) != 0)
        return hd_fail(HEDDLE_ERROR_UNSUPPORTED,
                       "a hashgraph always has room for its pairs: it cannot be fixed");
    if (o->bucket != 0 || o->hashes != 0 || o->load != 0)
        return hd_fail(HEDDLE_ERROR_INVALID,
                       "a hashgraph has vertices, but no buckets, hashes or load");
    if (o->container != HEDDLE_CONTAINER_SET && o->value_bits == 0) o->value_bits = 32;
    if (o->vertices == 0) o->vertices = 1;
    return HEDDLE_OK;
}

static heddle_status choose(heddle_table *table)
{
    const heddle_table_options *o = &table->options;
    hd_graph_table *t = hd_graph_of(table);
    t->ops = table->engine->graph(o->key_bits, o->value_bits);
    if (t->ops == NULL || table->engine->columns == NULL)
        return hd_fail(HEDDLE_ERROR_UNSUPPORTED,
                       "no hashgraph is compiled for %u-bit keys and %u-bit values on this device",
                       o->key_bits, o->value_bits);
    if (o->value_bits != 0)
        snprintf(t->name, sizeof t->name, "hashgraph_k%u_v%u", o->key_bits, o->value_bits);
    else snprintf(t->name, sizeof t->name, "hashgraph_k%u", o->key_bits);
    table->name = t->name;
    table->slice = table->engine->slice_max;
    return HEDDLE_OK;
}

static heddle_status start(heddle_table *table)
{
    hd_graph_storage fresh;
    hd_graph shape;
    HD_TRY(hd_graph_shape(table, table->options.capacity, 1, &shape));
    hd_mix_init(&shape.mix, table->options.seed);
    HD_TRY(hd_graph_allocate(table, &shape, table->options.capacity, &fresh));
    const heddle_status status = hd_graph_empty(table, &fresh, NULL);
    hd_graph_adopt(table, &fresh, table->options.seed);
    return status;
}

static void stop(heddle_table *table) { hd_graph_free(table, &hd_graph_of(table)->storage); }

const hd_table_kind hd_graph_kind = {
    sizeof(hd_graph_table),
    complete,
    choose,
    start,
    stop,
    hd_graph_insert,
    hd_graph_build,
    hd_graph_build_workspace,
    hd_graph_find,
    hd_graph_erase,
    hd_graph_count,
    hd_graph_retrieve,
    hd_graph_collect,
    hd_graph_for_pairs,
    hd_graph_clear,
    hd_graph_reserve,
    hd_graph_rehash,
    hd_graph_get_stats,
    hd_graph_validate,
    true,
    NULL,
    NULL,
};
