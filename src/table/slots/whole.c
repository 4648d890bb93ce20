/*
 * whole.c: operations on a table of slots as a whole: clear, marks, export, statistics, validation.
 */
#include <string.h>

#include "base/error.h"
#include "table/collect.h"
#include "table/slots/slots.h"

heddle_status hd_slots_clear(heddle_table *table, void *stream)
{
    hd_slots_table *t = hd_slots(table);
    HD_TRY(t->ops->clear(table->device, &t->storage.view, stream));
    if (!table->engine->is_recording(table->device, stream)) {
        t->erased = 0;
        t->gaps = false;
        t->empty = true;
    }
    return hd_table_set_count(table, 0, stream);
}

/* --------------------------------------------------------------------------------------- marks */

/*
 * Every erased key may leave the marks of the buckets that it was pushed on from. A table in which
 * keys come and go would gather them until all are cleared, and a search for an absent key would
 * look at all buckets of its walk. So the host adds up the keys that it was asked to erase. When
 * they come to half of the slots, the next insertion first renews the marks. That reads and writes
 * the slots once, in order, which is little beside so many erasures and insertions at random
 * places, whether the erased keys were there or not. It needs neither memory nor a wait and moves
 * no pair, so tables of fixed size, handles and views have it too.
 */
#define ERASED_SHARE 2 /* of the slots: one in so many */

heddle_status hd_slots_flush(heddle_table *table, void *stream)
{
    hd_slots_table *t = hd_slots(table);
    if (t->ops->renew_marks == NULL) return HEDDLE_OK;
    t->erased = 0;
    return t->ops->renew_marks(table->device, &t->storage.view, stream);
}

heddle_status hd_slots_tidy(heddle_table *table, void *stream)
{
    const bool enough = hd_slots(table)->erased >= table->options.capacity / ERASED_SHARE;
    return enough ? hd_slots_flush(table, stream) : HEDDLE_OK;
}

/* ------------------------------------------------------------------------------------- export */

heddle_status hd_slots_collect(heddle_table *table, void *keys, void *values, void *stream)
{
    const hd_slots_table *t = hd_slots(table);
    HD_CALL(call);
    HD_TRY(hd_call_begin(table, true, stream, &call));
    const hd_export all = {0, hd_slots_count_slots(table), keys, values, &call.words->cursor};
    HD_TRY(t->ops->collect(table->device, &t->storage.view, &all, stream));
    return table->engine->synchronize(table->device, stream);
}

/* hd_pieces.fetch: the items are slots. */
static heddle_status fetch(const hd_pieces *pieces, uint64_t first, uint64_t n,
                           const hd_pairs_room *to)
{
    const hd_slots_table *t = hd_slots(pieces->table);
    const hd_export piece = {first, n, to->keys, to->values, to->cursor};
    return t->ops->collect(pieces->table->device, &t->storage.view, &piece, pieces->stream);
}

heddle_status hd_slots_for_pairs(heddle_table *table, hd_pairs_take take, void *context,
                                 void *stream)
{
    const hd_pieces pieces = {table, NULL, hd_slots_count_slots(table), 1, fetch, stream};
    return hd_for_pieces(&pieces, take, context);
}

/* ---------------------------------------------------------------------- statistics, validation */

static heddle_status take_census(heddle_table *table, hd_census *census, void *stream)
{
    const hd_slots_table *t = hd_slots(table);
    HD_CALL(call);
    HD_TRY(hd_call_begin(table, true, stream, &call));
    HD_TRY(t->ops->inspect(table->device, &t->storage.view, &call.words->census.slots, stream));
    return hd_read_back(table, census, &call.words->census.slots, sizeof *census, stream);
}

static void fill_stats(const heddle_table *table, const hd_census *census, const hd_counts *pending,
                       heddle_table_stats *s)
{
    const hd_slots_table *t = hd_slots(table);
    s->regions = UINT32_C(1) << t->storage.view.region_bits;
    s->keys = census->keys;
    s->slots = hd_slots_count_slots(table);
    s->marks = census->marks;
    s->buckets = s->slots / t->ops->bucket;
    s->full = census->full;
    s->bytes_slots = s->slots * (t->ops->slot_bytes + t->ops->value_bytes);
    s->bytes_total = t->storage.bytes + sizeof(hd_control);
    s->growths = table->growths;
    s->evictions = table->evictions + pending->at[HD_EVICTIONS];
    for (int i = 0; i < HEDDLE_PROBES_MAX; i++) s->probes[i] = census->probes[i];
    s->load = (double)s->keys / (double)s->slots;
}

heddle_status hd_slots_get_stats(heddle_table *table, heddle_table_stats *stats, void *stream)
{
    hd_census census;
    hd_counts pending;
    HD_TRY(take_census(table, &census, stream));
    HD_TRY(hd_pending_read(table, &pending, stream));
    fill_stats(table, &census, &pending, stats);
    return HEDDLE_OK;
}

heddle_status hd_slots_validate(heddle_table *table, void *stream)
{
    hd_census c;
    uint64_t keys = 0;
    HD_TRY(take_census(table, &c, stream));
    HD_TRY(hd_table_count(table, &keys, stream));
    const struct {
        uint64_t count;
        const char *reason;
    } checks[] = {
        {c.misplaced, "keys stand in a bucket that is not theirs"},
        {c.twice, "slots hold a key that stands in another slot too"},
        {hd_census_unmet(&c), "keys stand behind a bucket at which a search stops"},
        {c.busy, "slots were left half written"},
    };
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++)
        if (checks[i].count != 0)
            return hd_fail(HEDDLE_ERROR_CORRUPT, "%llu %s", (unsigned long long)checks[i].count,
                           checks[i].reason);
    if (c.keys != keys)
        return hd_fail(HEDDLE_ERROR_CORRUPT,
                       "the table counts %llu keys, but %llu stand in its slots",
                       (unsigned long long)keys, (unsigned long long)c.keys);
    return HEDDLE_OK;
}
