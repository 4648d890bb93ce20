/* kind.c: tables of slots as a kind of table: which options they take, and how one is made. */
#include <stdio.h>

#include "table/slots/slots.h"

/* Up to which buckets of 16 slots hold all keys, with almost any seed. */
#define ICEBERG_LOAD_16 0.82

/*
 * Buckets of 64 bytes cost no more than one random access on either machine, but fewer than 8 slots
 * need too many second looks. The keys of a multimap have several values each, one window after the
 * other: larger ones are right for it, of 16 slots at most.
 */
static uint32_t choose_bucket(const heddle_table_options *o)
{
    if (o->scheme == HEDDLE_SCHEME_ICEBERG) return o->load > ICEBERG_LOAD_16 ? 32 : 16;
    const bool apart = o->value_bits != 0 && o->value_bits != o->key_bits;
    const uint32_t bits = apart ? o->key_bits : o->key_bits + o->value_bits;
    const bool multimap = o->container == HEDDLE_CONTAINER_MULTIMAP;
    const bool larger = multimap || (o->scheme == HEDDLE_SCHEME_CUCKOO && o->load > 0.95);
    const uint32_t slots = (larger ? 1024 : 512) / bits;
    return slots < 8 ? 8 : multimap && slots > 16 ? 16 : slots;
}

/* Above this load a choice more spares so many evictions that it is worth its looks. */
#define MORE_HASHES 0.92

/* What the schemes are called, and how many buckets a key may have. */
static const struct scheme_rule {
    const char *name;
    uint32_t hashes_min, hashes_max, hashes;
} scheme_rules[] = {
    [HEDDLE_SCHEME_CUCKOO] = {"a cuckoo table", 2, 4, 3},
    [HEDDLE_SCHEME_OPEN] = {"an open table", 2, HD_WINDOWS_MAX, HD_WINDOWS_MAX},
    [HEDDLE_SCHEME_ICEBERG] = {"an iceberg table", 3, 3, 3},
};

static heddle_status complete(heddle_table_options *o)
{
    const struct scheme_rule *rule = &scheme_rules[o->scheme];
    if (o->container == HEDDLE_CONTAINER_MULTIMAP && o->scheme != HEDDLE_SCHEME_OPEN)
        return hd_fail(HEDDLE_ERROR_UNSUPPORTED,
                       "%s holds every key once: multimaps are made by the schemes open, "
                       "hashgraph, bucket_list and slab",
                       rule->name);
    if (o->vertices != 0)
        return hd_fail(HEDDLE_ERROR_INVALID, "only a hashgraph has vertices; %s has a load",
                       rule->name);
    if (rule->hashes_min == rule->hashes_max && o->hashes != 0 && o->hashes != rule->hashes)
        return hd_fail(HEDDLE_ERROR_INVALID, "in %s a key has %u buckets, not %u", rule->name,
                       rule->hashes, o->hashes);
    if (o->hashes != 0 && (o->hashes < rule->hashes_min || o->hashes > rule->hashes_max))
        return hd_fail(HEDDLE_ERROR_INVALID, "in %s a key has %u to %u buckets, not %u", rule->name,
                       rule->hashes_min, rule->hashes_max, o->hashes);
    if ((o->flags & HEDDLE_FLAG_ORDERED) != 0)
        return hd_fail(HEDDLE_ERROR_UNSUPPORTED, "only a hashgraph can be ordered");
    if (o->container != HEDDLE_CONTAINER_SET && o->value_bits == 0) o->value_bits = 32;
    if (o->load == 0) o->load = 0.8;
    if (o->bucket == 0) o->bucket = choose_bucket(o);
    if (o->scheme == HEDDLE_SCHEME_ICEBERG && o->threshold == 0) o->threshold = 0.8;
    if (o->hashes == 0 && o->container == HEDDLE_CONTAINER_MULTIMAP) o->hashes = rule->hashes_max;
    if (o->hashes == 0)
        o->hashes = o->bucket == 1 || o->load > MORE_HASHES ? rule->hashes_max : rule->hashes;
    return HEDDLE_OK;
}

static heddle_status fail_uncompiled(const heddle_table_options *o)
{
    char values[24] = "no values";
    if (o->value_bits != 0) (void)snprintf(values, sizeof values, "%u-bit values", o->value_bits);
    return hd_fail(HEDDLE_ERROR_UNSUPPORTED,
                   "%s is not compiled for %u-bit keys, %s and buckets of %u slot%s; the CMake "
                   "option HEDDLE_TABLES=full compiles all tables that there are",
                   scheme_rules[o->scheme].name, o->key_bits, values, o->bucket,
                   o->bucket == 1 ? "" : "s");
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
        hd_slots(table)->ops = hd_is_multimap(table) ? ops[i]->multi : ops[i];
        table->name = ops[i]->name;
        return HEDDLE_OK;
    }
    return fail_uncompiled(o);
}

static heddle_status start(heddle_table *table)
{
    return hd_slots_renew(table, table->options.capacity, table->options.seed, NULL);
}

static void stop(heddle_table *table) { hd_slots_free(table, &hd_slots(table)->storage); }

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
    NULL,
    hd_slots_flush,
};
