/* whole.c: operations on a table as a whole: size, clear, export, totals, statistics, validation. */
#include <string.h>

#include "api/stage.h"
#include "api/table.h"

/* Brings the table's control words to the host. */
static heddle_status read_control(heddle_table *table, void *to, const void *from, uint64_t bytes,
                                  void *stream)
{
    heddle_status status = table->engine->copy(table->device, to, from, bytes, stream);
    if (status == HEDDLE_OK) status = table->engine->synchronize(table->device, stream);
    return status;
}

heddle_status hd_table_count(heddle_table *table, uint64_t *count, void *stream)
{
    uint64_t born_died[2] = {0, 0};
    const heddle_status status =
        read_control(table, born_died, &table->control->born, sizeof born_died, stream);
    if (status == HEDDLE_OK) *count = born_died[0] - born_died[1];
    return status;
}

heddle_status heddle_table_size(heddle_table *table, uint64_t *count, void *stream)
{
    const heddle_status status = hd_check_table(table, stream, "size");
    if (status != HEDDLE_OK) return status;
    if (count == NULL)
        return hd_fail(HEDDLE_ERROR_INVALID, "size: there is no place for the count");
    return hd_table_count(table, count, stream);
}

heddle_status heddle_table_clear(heddle_table *table, void *stream)
{
    heddle_status status = hd_check_table(table, stream, "clear");
    if (status == HEDDLE_OK)
        status = table->ops->clear(table->device, &table->storage.view, stream);
    if (status == HEDDLE_OK)
        status = table->engine->fill(table->device, &table->control->born, 0, 2 * sizeof(uint64_t),
                                     stream);
    return status;
}

heddle_status heddle_table_take_totals(heddle_table *table, uint32_t peek, heddle_totals *totals,
                                       void *stream)
{
    hd_counts counts;
    heddle_status status = hd_check_table(table, stream, "take_totals");
    if (status != HEDDLE_OK) return status;
    if (totals == NULL)
        return hd_fail(HEDDLE_ERROR_INVALID, "take_totals: there is no place for the totals");
    status = read_control(table, &counts, &table->control->pending, sizeof counts, stream);
    if (status != HEDDLE_OK) return status;
    memset(totals, 0, sizeof *totals);
    hd_totals_add(totals, &counts);
    hd_totals_add(totals, &table->settled);
    if (peek != 0) return HEDDLE_OK;
    table->evictions += counts.at[HD_EVICTIONS];
    memset(&table->settled, 0, sizeof table->settled);
    return table->engine->fill(table->device, &table->control->pending, 0, sizeof counts, stream);
}

/* ------------------------------------------------------------------------------------- export */

typedef struct export_to {
    heddle_table *table;
    char *keys, *values;
    uint64_t written;
    void *stream;
} export_to;

/* hd_pairs_take: appends pairs that lie in host memory. */
static heddle_status export_piece(void *context, const void *keys, const void *values, uint64_t n)
{
    export_to *to = (export_to *)context;
    const uint32_t kw = hd_key_width(to->table), vw = hd_value_width(to->table);
    heddle_status status = to->table->engine->copy(to->table->device, to->keys + to->written * kw,
                                                   keys, n * kw, to->stream);
    if (status == HEDDLE_OK && to->values != NULL)
        status = to->table->engine->copy(to->table->device, to->values + to->written * vw, values,
                                         n * vw, to->stream);
    if (status == HEDDLE_OK) status = to->table->engine->synchronize(to->table->device, to->stream);
    to->written += n;
    return status;
}

/* Export straight into arrays that the device can write. */
static heddle_status export_direct(heddle_table *table, void *keys, void *values, void *stream)
{
    hd_call call;
    heddle_status status = hd_call_begin(table, true, stream, &call);
    if (status != HEDDLE_OK) return status;
    status = table->ops->collect(table->device, &table->storage.view, 0,
                                 hd_geometry_slots(&table->storage.view, table->ops), keys, values,
                                 &call.words->cursor, stream);
    if (status == HEDDLE_OK) status = table->engine->synchronize(table->device, stream);
    hd_call_end(table, &call);
    return status;
}

heddle_status heddle_table_export(heddle_table *table, void *keys, void *values, uint64_t capacity,
                                  uint64_t *count, void *stream)
{
    const hd_span spans[2] = {{keys, 1, false, true}, {values, 1, false, true}};
    export_to to = {table, (char *)keys, (char *)values, 0, stream};
    heddle_status status = hd_check_table(table, stream, "export");
    if (status != HEDDLE_OK) return status;
    if (count == NULL)
        return hd_fail(HEDDLE_ERROR_INVALID, "export: there is no place for the count");
    if (values != NULL && hd_value_width(table) == 0)
        return hd_fail(HEDDLE_ERROR_INVALID, "export: a set has no values");
    status = hd_check_array(keys, capacity, hd_key_width(table), "keys");
    if (status == HEDDLE_OK && values != NULL)
        status = hd_check_array(values, capacity, hd_value_width(table), "values");
    if (status == HEDDLE_OK) status = hd_table_count(table, count, stream);
    if (status != HEDDLE_OK) return status;
    if (*count > capacity)
        return hd_fail(HEDDLE_ERROR_INVALID, "export: %llu pairs do not fit into arrays of %llu",
                       (unsigned long long)*count, (unsigned long long)capacity);
    if (*count == 0) return HEDDLE_OK;
    if (!hd_any_staged(table, spans, 2)) return export_direct(table, keys, values, stream);
    return hd_for_pairs(table, export_piece, &to, stream);
}

/* ---------------------------------------------------------------------- statistics, validation */

static heddle_status take_census(heddle_table *table, hd_census *census, void *stream)
{
    hd_call call;
    heddle_status status = hd_call_begin(table, true, stream, &call);
    if (status != HEDDLE_OK) return status;
    status = table->ops->inspect(table->device, &table->storage.view, &call.words->census, stream);
    if (status == HEDDLE_OK)
        status = read_control(table, census, &call.words->census, sizeof *census, stream);
    hd_call_end(table, &call);
    return status;
}

static void fill_stats(const heddle_table *table, const hd_census *census, const hd_counts *pending,
                       heddle_table_stats *s)
{
    s->regions = UINT32_C(1) << table->storage.view.region_bits;
    s->keys = census->keys;
    s->slots = hd_geometry_slots(&table->storage.view, table->ops);
    s->marks = census->marks;
    s->buckets = s->slots / table->ops->bucket;
    s->full = census->full;
    s->bytes_slots = s->slots * (table->ops->slot_bytes + table->ops->value_bytes);
    s->bytes_total = table->storage.bytes + sizeof(hd_control);
    s->growths = table->growths;
    s->evictions = table->evictions + pending->at[HD_EVICTIONS];
    for (int i = 0; i < HEDDLE_PROBES_MAX; i++) s->probes[i] = census->probes[i];
    s->load = (double)s->keys / (double)s->slots;
}

heddle_status heddle_table_get_stats(heddle_table *table, heddle_table_stats *stats, void *stream)
{
    hd_census census;
    hd_counts pending;
    heddle_status status = hd_check_table(table, stream, "get_stats");
    if (status != HEDDLE_OK) return status;
    if (stats == NULL || stats->size != sizeof *stats)
        return hd_fail(HEDDLE_ERROR_INVALID, "get_stats needs stats with their size set");
    status = take_census(table, &census, stream);
    if (status == HEDDLE_OK)
        status = read_control(table, &pending, &table->control->pending, sizeof pending, stream);
    if (status == HEDDLE_OK) fill_stats(table, &census, &pending, stats);
    return status;
}

heddle_status heddle_table_validate(heddle_table *table, void *stream)
{
    hd_census c;
    uint64_t keys = 0;
    heddle_status status = hd_check_table(table, stream, "validate");
    if (status == HEDDLE_OK) status = take_census(table, &c, stream);
    if (status == HEDDLE_OK) status = hd_table_count(table, &keys, stream);
    if (status != HEDDLE_OK) return status;
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
