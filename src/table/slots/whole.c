/* whole.c: operations on a table of slots as a whole: clear, export, statistics, validation. */
#include <string.h>

#include "base/error.h"
#include "host/stage.h"
#include "table/slots/slots.h"

heddle_status hd_slots_clear(heddle_table *table, void *stream)
{
    HD_TRY(hd_slots(table)->ops->clear(table->device, &hd_slots(table)->storage.view, stream));
    if (!table->engine->is_recording(table->device, stream)) {
        hd_slots(table)->erased = 0;
        hd_slots(table)->gaps = false;
    }
    return hd_table_set_count(table, 0, stream);
}

/* ------------------------------------------------------------------------------------- export */

/* Export straight into arrays that the device can write. */
static heddle_status export_direct(heddle_table *table, void *keys, void *values, void *stream)
{
    hd_call call;
    heddle_status status = hd_call_begin(table, true, stream, &call);
    if (status != HEDDLE_OK) return status;
    status = hd_slots(table)->ops->collect(
        table->device, &hd_slots(table)->storage.view, 0,
        hd_geometry_slots(&hd_slots(table)->storage.view, hd_slots(table)->ops), keys, values,
        &call.words->cursor, stream);
    if (status == HEDDLE_OK) status = table->engine->synchronize(table->device, stream);
    hd_call_end(table, &call);
    return status;
}

heddle_status hd_slots_collect(heddle_table *table, void *keys, void *values, void *stream)
{
    const hd_span spans[2] = {{keys, 1, false, true}, {values, 1, false, true}};
    return hd_any_staged(table, spans, 2) ? hd_collect_staged(table, keys, values, stream)
                                          : export_direct(table, keys, values, stream);
}

static heddle_status fetch(heddle_table *table, const void *from, uint64_t first, uint64_t n,
                           void *keys, void *values, uint64_t *cursor, void *stream)
{
    return hd_slots(table)->ops->collect(table->device, (const hd_view *)from, first, n, keys,
                                         values, cursor, stream);
}

heddle_status hd_slots_for_pairs(heddle_table *table, hd_pairs_take take, void *context,
                                 void *stream)
{
    const hd_view *view = &hd_slots(table)->storage.view;
    return hd_for_pieces(table, hd_geometry_slots(view, hd_slots(table)->ops), 1, fetch, view, take,
                         context, stream);
}

/* ---------------------------------------------------------------------- statistics, validation */

static heddle_status take_census(heddle_table *table, hd_census *census, void *stream)
{
    hd_call call;
    heddle_status status = hd_call_begin(table, true, stream, &call);
    if (status != HEDDLE_OK) return status;
    status = hd_slots(table)->ops->inspect(table->device, &hd_slots(table)->storage.view,
                                           &call.words->census.slots, stream);
    if (status == HEDDLE_OK)
        status = hd_read_back(table, census, &call.words->census.slots, sizeof *census, stream);
    hd_call_end(table, &call);
    return status;
}

static void fill_stats(const heddle_table *table, const hd_census *census, const hd_counts *pending,
                       heddle_table_stats *s)
{
    s->regions = UINT32_C(1) << hd_slots(table)->storage.view.region_bits;
    s->keys = census->keys;
    s->slots = hd_geometry_slots(&hd_slots(table)->storage.view, hd_slots(table)->ops);
    s->marks = census->marks;
    s->buckets = s->slots / hd_slots(table)->ops->bucket;
    s->full = census->full;
    s->bytes_slots =
        s->slots * (hd_slots(table)->ops->slot_bytes + hd_slots(table)->ops->value_bytes);
    s->bytes_total = hd_slots(table)->storage.bytes + sizeof(hd_control);
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
    HD_TRY(hd_read_back(table, &pending, &table->control->pending, sizeof pending, stream));
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
        {c.unreachable, "keys stand behind a bucket at which a search stops"},
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
