/*
 * kind.c: the scheme bucket_list as a kind of table: which options it takes, and how one is made.
 */
#include <stdio.h>

#include "base/error.h"
#include "table/lists/lists.h"

#define FIRST_MAX (UINT64_C(1) << 20)

static heddle_status complete(heddle_table_options *o)
{
    if (o->container != HEDDLE_CONTAINER_MULTIMAP)
        return hd_fail(HEDDLE_ERROR_UNSUPPORTED, "bucket lists make multimaps and nothing else");
    if (o->vertices != 0)
        return hd_fail(HEDDLE_ERROR_INVALID, "only a hashgraph has vertices; bucket lists have a "
                                             "load and a growth");
    if ((o->flags & HEDDLE_FLAG_ORDERED) != 0)
        return hd_fail(HEDDLE_ERROR_UNSUPPORTED, "only a hashgraph can be ordered");
    if (o->list_first > FIRST_MAX)
        return hd_fail(HEDDLE_ERROR_INVALID, "a first bucket has 1 to %llu values, not %llu",
                       (unsigned long long)FIRST_MAX, (unsigned long long)o->list_first);
    if (o->list_growth != 0 && !(o->list_growth >= 1 && o->list_growth <= 16))
        return hd_fail(HEDDLE_ERROR_INVALID, "the growth of buckets lies between 1 and 16, not %g",
                       o->list_growth);
    if (o->capacity > HD_SLOTS_MAX)
        return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no table holds %llu pairs",
                       (unsigned long long)o->capacity);
    if (o->value_bits == 0) o->value_bits = 32;
    if (o->list_first == 0) o->list_first = 1;
    if (o->list_growth == 0) o->list_growth = 2;
    if (o->load == 0) o->load = 0.8;
    if (o->bucket == 0) o->bucket = 8;
    return HEDDLE_OK;
}

static heddle_status choose(heddle_table *table)
{
    const heddle_table_options *o = &table->options;
    hd_lists_table *t = hd_lists(table);
    heddle_table_options keys = hd_lists_keys_options(table);
    t->ops = table->engine->lists != NULL ? table->engine->lists(o->value_bits) : NULL;
    if (t->ops == NULL || table->engine->columns == NULL)
        return hd_fail(HEDDLE_ERROR_UNSUPPORTED,
                       "no bucket lists are compiled for %u-bit values on this device",
                       o->value_bits);
    snprintf(t->name, sizeof t->name, "bucket_list_k%u_v%u", o->key_bits, o->value_bits);
    table->name = t->name;
    table->slice = table->engine->slice_max;
    HD_TRY(hd_options_complete(table->device, &keys));
    table->options.hashes = keys.hashes;
    return HEDDLE_OK;
}

/*
 * A fixed table has room for as many keys as values. One that grows waits to see how many there
 * are.
 */
static heddle_status start(heddle_table *table)
{
    const uint64_t capacity = table->options.capacity;
    hd_lists_storage *storage = &hd_lists(table)->storage;
    HD_TRY(hd_lists_start(table, storage, hd_lists_fixed(table) ? capacity : capacity / 8, capacity,
                          table->options.seed));
    hd_lists(table)->pairs_wanted = capacity;
    table->options.capacity = hd_lists_room(storage) * HD_LIST_UNIT / hd_value_width(table);
    return HEDDLE_OK;
}

static void stop(heddle_table *table) { hd_lists_free(table, &hd_lists(table)->storage); }

const hd_table_kind hd_lists_kind = {
    sizeof(hd_lists_table),
    complete,
    choose,
    start,
    stop,
    hd_lists_insert,
    hd_lists_build,
    hd_lists_build_workspace,
    hd_lists_find,
    hd_lists_erase,
    hd_lists_count,
    hd_lists_retrieve,
    hd_lists_collect,
    hd_lists_for_pairs,
    hd_lists_clear,
    hd_lists_reserve,
    hd_lists_rehash,
    hd_lists_get_stats,
    hd_lists_validate,
    true,
    NULL,
    NULL,
};
