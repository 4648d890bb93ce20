/* slots_kind.c: tables of slots as a kind of table: which options they take, and how one is made. */
#include "api/slots.h"

/*
 * Buckets of 64 bytes cost no more than one random access on either machine, but fewer than 8 slots
 * need too many second looks.
 */
static uint32_t choose_bucket(const heddle_table_options *o)
{
    const bool apart = o->value_bits != 0 && o->value_bits != o->key_bits;
    const uint32_t bits = apart ? o->key_bits : o->key_bits + o->value_bits;
    const uint32_t slots = (o->load > 0.95 ? 1024 : 512) / bits;
    return slots < 8 ? 8 : slots;
}

static heddle_status complete(heddle_table_options *o)
{
    if (o->container != HEDDLE_CONTAINER_MAP && o->container != HEDDLE_CONTAINER_SET)
        return hd_fail(HEDDLE_ERROR_UNSUPPORTED,
                       "a cuckoo table holds every key once: it is a map or a set; multimaps and "
                       "counters are made by the scheme hashgraph");
    if (o->vertices != 0)
        return hd_fail(HEDDLE_ERROR_INVALID, "only a hashgraph has vertices; a cuckoo table has a "
                                             "load");
    if ((o->flags & HEDDLE_FLAG_ORDERED) != 0)
        return hd_fail(HEDDLE_ERROR_UNSUPPORTED, "only a hashgraph can be ordered");
    if (o->container == HEDDLE_CONTAINER_MAP && o->value_bits == 0) o->value_bits = 32;
    if (o->load == 0) o->load = 0.8;
    if (o->bucket == 0) o->bucket = choose_bucket(o);
    if (o->hashes == 0) o->hashes = o->bucket == 1 ? 4 : 3;
    return HEDDLE_OK;
}

static heddle_status choose(heddle_table *table)
{
    const heddle_table_options *o = &table->options;
    uint32_t count = 0;
    const hd_table_ops *const *ops = table->engine->tables(table->device, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (ops[i]->scheme != o->scheme || ops[i]->key_bits != o->key_bits ||
            ops[i]->value_bits != o->value_bits || ops[i]->bucket != o->bucket)
            continue;
        hd_slots(table)->ops = ops[i];
        table->name = ops[i]->name;
        return HEDDLE_OK;
    }
    return hd_fail(HEDDLE_ERROR_UNSUPPORTED,
                   "no table is compiled for %u-bit keys, %u-bit values and buckets of %u slots",
                   o->key_bits, o->value_bits, o->bucket);
}

static heddle_status start(heddle_table *table)
{
    return hd_table_renew(table, table->options.capacity, table->options.seed, NULL);
}

static void stop(heddle_table *table) { hd_storage_free(table, &hd_slots(table)->storage); }

const hd_table_kind hd_slots_kind = {
    sizeof(hd_slots_table),
    complete,
    choose,
    start,
    stop,
    hd_slots_insert,
    hd_slots_build,
    hd_slots_build_workspace,
    hd_slots_find,
    hd_slots_erase,
    hd_slots_count,
    hd_slots_retrieve,
    hd_slots_collect,
    hd_slots_for_pairs,
    hd_slots_clear,
    hd_slots_reserve,
    hd_slots_rehash,
    hd_slots_get_stats,
    hd_slots_validate,
    false,
};
