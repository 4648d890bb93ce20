/* kind.c: the scheme slab as a kind of table: which options it takes, and how one is made. */
#include <stdio.h>

#include "base/error.h"
#include "table/slabs/slabs.h"

#define SLICE_MIN (UINT64_C(1) << 16)

static heddle_status complete(heddle_table_options *o)
{
    if (o->container != HEDDLE_CONTAINER_SET && o->value_bits == 0) o->value_bits = 32;
    const uint32_t slots = HD_SLAB_TAIL * 8 / (o->key_bits + o->value_bits);
    if (o->bucket != 0 && o->bucket != slots)
        return hd_fail(HEDDLE_ERROR_UNSUPPORTED, "a slab of these pairs has %u slots, not %u",
                       slots, o->bucket);
    if (o->hashes > 1)
        return hd_fail(HEDDLE_ERROR_INVALID, "in a slab hash a key has one list, not %u",
                       o->hashes);
    if (o->vertices != 0)
        return hd_fail(HEDDLE_ERROR_INVALID,
                       "only a hashgraph has vertices; a slab hash has a load");
    if ((o->flags & HEDDLE_FLAG_ORDERED) != 0)
        return hd_fail(HEDDLE_ERROR_UNSUPPORTED, "only a hashgraph can be ordered");
    o->bucket = slots;
    o->hashes = 1;
    if (o->load == 0) o->load = 0.65;
    return HEDDLE_OK;
}

static heddle_status choose(heddle_table *table)
{
    const heddle_table_options *o = &table->options;
    hd_slabs_table *t = hd_slabs(table);
    t->ops = table->engine->slabs != NULL ? table->engine->slabs(o->key_bits, o->value_bits) : NULL;
    if (t->ops == NULL)
        return hd_fail(HEDDLE_ERROR_UNSUPPORTED,
                       "no slab hash is compiled for %u-bit keys and %u-bit values on this device",
                       o->key_bits, o->value_bits);
    if (o->value_bits != 0)
        snprintf(t->name, sizeof t->name, "slab_k%u_v%u", o->key_bits, o->value_bits);
    else snprintf(t->name, sizeof t->name, "slab_k%u", o->key_bits);
    table->name = t->name;
    return HEDDLE_OK;
}

/*
 * A slice for every eight to sixteen keys keeps a device busy and costs a byte a key of the slice.
 */
static uint64_t choose_slice(const heddle_table *table)
{
    uint64_t slice = SLICE_MIN;
    while (slice < table->engine->slice_max && slice * 16 <= table->options.capacity) slice *= 2;
    return slice;
}

static heddle_status start(heddle_table *table)
{
    hd_slabs_table *t = hd_slabs(table);
    table->slice = choose_slice(table);
    HD_TRY(table->engine->allocate(table->device, table->slice, (void **)&t->outcomes));
    HD_TRY(hd_slabs_start(table, &t->storage, table->options.capacity, table->options.seed, NULL));
    table->options.capacity = hd_slabs_slots(table);
    return HEDDLE_OK;
}

static void stop(heddle_table *table)
{
    hd_slabs_table *t = hd_slabs(table);
    hd_slabs_free(table, &t->storage);
    if (t->outcomes != NULL) table->engine->free(table->device, t->outcomes);
}

const hd_table_kind hd_slabs_kind = {
    sizeof(hd_slabs_table),
    complete,
    choose,
    start,
    stop,
    hd_slabs_insert,
    hd_slabs_build,
    hd_slabs_build_workspace,
    hd_slabs_find,
    hd_slabs_erase,
    hd_slabs_count,
    hd_slabs_retrieve,
    hd_slabs_collect,
    hd_slabs_for_pairs,
    hd_slabs_clear,
    hd_slabs_reserve,
    hd_slabs_rehash,
    hd_slabs_get_stats,
    hd_slabs_validate,
    false,
    hd_slabs_mixed,
    hd_slabs_flush,
};
