/* whole.c: operations on a slab hash as a whole: clear, reserve, export, statistics, validation. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "table/collect.h"
#include "table/slabs/slabs.h"

heddle_status hd_slabs_clear(heddle_table *table, void *stream)
{
    const heddle_status status = hd_slabs_empty(table, &hd_slabs(table)->storage, stream);
    hd_slabs(table)->erased = hd_slabs(table)->asked = 0;
    hd_slabs(table)->dead = false;
    return status == HEDDLE_OK ? hd_table_set_count(table, 0, stream) : status;
}

heddle_status hd_slabs_reserve(heddle_table *table, uint64_t capacity, void *stream)
{
    if (capacity <= hd_slabs(table)->storage.capacity) return HEDDLE_OK;
    return hd_slabs_move(table, capacity, 0, stream);
}

heddle_status hd_slabs_rehash(heddle_table *table, uint64_t capacity, void *stream)
{
    return hd_slabs_move(table, capacity, hd_seed_draw(), stream);
}

/* ------------------------------------------------------------------------------------- export */

heddle_status hd_slabs_collect(heddle_table *table, void *keys, void *values, void *stream)
{
    const hd_slabs_table *t = hd_slabs(table);
    HD_CALL(call);
    HD_TRY(hd_call_begin(table, true, stream, &call));
    const hd_export all = {0, hd_slabs_slabs(&t->storage), keys, values, &call.words->cursor};
    HD_TRY(t->ops->collect(table->device, &t->storage.view, &all, stream));
    return table->engine->synchronize(table->device, stream);
}

/* hd_pieces.fetch: the items are slabs. */
static heddle_status fetch(const hd_pieces *pieces, uint64_t first, uint64_t n,
                           const hd_pairs_room *to)
{
    const hd_slabs_table *t = hd_slabs(pieces->table);
    const hd_export piece = {first, n, to->keys, to->values, to->cursor};
    return t->ops->collect(pieces->table->device, &t->storage.view, &piece, pieces->stream);
}

heddle_status hd_slabs_for_pairs(heddle_table *table, hd_pairs_take take, void *context,
                                 void *stream)
{
    const hd_slabs_table *t = hd_slabs(table);
    const hd_pieces pieces = {table,         NULL,  hd_slabs_slabs(&t->storage),
                              t->ops->slots, fetch, stream};
    return hd_for_pieces(&pieces, take, context);
}

/* ---------------------------------------------------------------------- statistics, validation */

static heddle_status take_census(heddle_table *table, hd_slab_census *census, void *stream)
{
    const hd_slabs_table *t = hd_slabs(table);
    const hd_slab_pool *pool = &t->storage.view.pool;
    const uint64_t bytes = (uint64_t)pool->blocks * HD_SLAB_BLOCK_WORDS * 4;
    const hd_engine *engine = table->engine;
    HD_SCRATCH(scratch, table->device);
    hd_slab_census *counted = NULL;
    uint32_t *seen = NULL;
    HD_TRY(hd_scratch_take(&scratch, sizeof *census, (void **)&counted));
    HD_TRY(hd_scratch_take(&scratch, bytes, (void **)&seen));
    HD_TRY(engine->fill(table->device, counted, 0, sizeof *census, stream));
    HD_TRY(engine->fill(table->device, seen, 0, bytes, stream));
    HD_TRY(t->ops->inspect(table->device, &t->storage.view, !hd_slabs_multi(table), seen, counted,
                           stream));
    return hd_read_back(table, census, counted, sizeof *census, stream);
}

heddle_status hd_slabs_get_stats(heddle_table *table, heddle_table_stats *s, void *stream)
{
    const hd_slabs_storage *storage = &hd_slabs(table)->storage;
    hd_slab_census census;
    HD_TRY(take_census(table, &census, stream));
    const uint64_t lists = hd_slabs_lists(storage), slabs = lists + census.chained;
    s->regions = UINT32_C(1) << storage->view.buckets.region_bits;
    s->keys = census.live;
    s->slots = slabs * hd_slabs(table)->ops->slots;
    s->marks = census.dead;
    s->buckets = lists;
    s->full = lists - census.lengths[0];
    s->bytes_slots = slabs * HD_SLAB_BYTES;
    s->bytes_total = storage->bytes + table->slice + sizeof(hd_control);
    s->growths = table->growths;
    s->evictions = 0;
    for (int i = 0; i < HEDDLE_PROBES_MAX; i++) {
        s->probes[i] = census.looks[i];
        s->chains[i] = census.lengths[i];
    }
    s->load = (double)s->keys / (double)s->slots;
    return HEDDLE_OK;
}

/* How many slabs of the pool are taken, the one besides that is never given away. */
static heddle_status count_taken(heddle_table *table, uint64_t *taken, void *stream)
{
    const hd_slab_pool *pool = &hd_slabs(table)->storage.view.pool;
    const uint64_t words = (uint64_t)pool->blocks * HD_SLAB_BLOCK_WORDS;
    uint32_t *bits HD_FREED = (uint32_t *)hd_allocate(words * sizeof *bits);
    if (bits == NULL) return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory to count slabs");
    HD_TRY(hd_read_back(table, bits, pool->taken, words * sizeof *bits, stream));
    *taken = 0;
    for (uint64_t i = 0; i < words; i++) *taken += (uint64_t)__builtin_popcount(bits[i]);
    return HEDDLE_OK;
}

static heddle_status check_census(const hd_slab_census *c, uint64_t keys, uint64_t dead,
                                  uint64_t taken)
{
    const struct {
        uint64_t count;
        const char *reason;
    } checks[] = {
        {c->misplaced, "keys stand in a list that is not theirs"},
        {c->twice, "slots hold a key that stands in another slot too"},
        {c->gaps, "slots stand behind one that is vacant"},
        {c->pending, "slots were left half written"},
        {c->astray, "lists go on in a slab that is not theirs"},
    };
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++)
        if (checks[i].count != 0)
            return hd_fail(HEDDLE_ERROR_CORRUPT, "%llu %s", (unsigned long long)checks[i].count,
                           checks[i].reason);
    if (c->live != keys || c->dead != dead)
        return hd_fail(
            HEDDLE_ERROR_CORRUPT,
            "the table counts %llu keys and %llu erased ones, but %llu and %llu stand in "
            "its slots",
            (unsigned long long)keys, (unsigned long long)dead, (unsigned long long)c->live,
            (unsigned long long)c->dead);
    if (taken != c->chained + 1)
        return hd_fail(HEDDLE_ERROR_CORRUPT, "%llu slabs are taken, but %llu are in lists",
                       (unsigned long long)taken - 1, (unsigned long long)c->chained);
    return HEDDLE_OK;
}

heddle_status hd_slabs_validate(heddle_table *table, void *stream)
{
    hd_slab_census census;
    hd_slabs_numbers now;
    uint64_t taken = 0;
    HD_TRY(take_census(table, &census, stream));
    HD_TRY(hd_slabs_count_slots(table, &now, stream));
    HD_TRY(count_taken(table, &taken, stream));
    return check_census(&census, now.live, now.dead, taken);
}
