/* whole.c: operations on bucket lists as a whole: clear, reserve, export, statistics, validation. */
#include <string.h>

#include "base/error.h"
#include "host/stage.h"
#include "table/lists/lists.h"

heddle_status hd_lists_clear(heddle_table *table, void *stream)
{
    HD_TRY(hd_lists_empty(table, &hd_lists(table)->storage, stream));
    return hd_table_set_count(table, 0, stream);
}

heddle_status hd_lists_reserve(heddle_table *table, uint64_t capacity, void *stream)
{
    hd_lists_storage *storage = &hd_lists(table)->storage;
    const uint64_t units = hd_lists_units_for(table, capacity);
    heddle_status status = HEDDLE_OK;
    if (capacity > HD_SLOTS_MAX)
        return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no table holds %llu pairs",
                       (unsigned long long)capacity);
    status = hd_lists_catch_up(table, true, stream);
    if (status == HEDDLE_OK && hd_lists_fixed(table)) {
        status = heddle_table_reserve(storage->keys, capacity, stream);
        if (status == HEDDLE_OK && storage->keys->options.capacity > storage->records_used)
            status = hd_lists_add_records(
                table, storage, storage->keys->options.capacity - storage->records_used, stream);
    }
    if (status == HEDDLE_OK) status = hd_lists_add_room(table, storage, units);
    if (status == HEDDLE_OK && capacity > hd_lists(table)->pairs_wanted)
        hd_lists(table)->pairs_wanted = capacity;
    table->options.capacity = hd_lists_room(storage) * HD_LIST_UNIT / hd_value_width(table);
    return status;
}

/* -------------------------------------------------------------------------------------- all lists */

/* Every list with its key. */
typedef struct all_lists {
    void *keys;
    uint64_t *numbers;
    uint64_t *offsets; /* of their values among all */
    uint64_t count;
} all_lists;

static heddle_status list_all(heddle_table *table, hd_scratch *scratch, bool offsets,
                              all_lists *all, void *stream)
{
    const hd_lists_storage *storage = &hd_lists(table)->storage;
    const hd_column_ops *columns = table->engine->columns;
    const hd_list_pool pool = hd_lists_pool(table, storage, HD_LIST_CHUNKS);
    const uint64_t count = storage->key_count;
    void *work = NULL;
    heddle_status status = hd_scratch_take(scratch, count * hd_key_width(table), &all->keys);
    if (status == HEDDLE_OK)
        status = hd_scratch_take(scratch, count * sizeof *all->numbers, (void **)&all->numbers);
    if (status == HEDDLE_OK)
        status =
            heddle_table_export(storage->keys, all->keys, all->numbers, count, &all->count, stream);
    if (status != HEDDLE_OK || !offsets) return status;
    status = hd_scratch_take(scratch, (count + 1) * sizeof *all->offsets, (void **)&all->offsets);
    if (status == HEDDLE_OK)
        status = hd_scratch_take(scratch, columns->work(table->device, count), &work);
    if (status == HEDDLE_OK && count != 0)
        status = hd_lists(table)->ops->lengths(table->device, &pool, all->numbers, all->count,
                                               all->offsets, stream);
    if (status == HEDDLE_OK)
        status = columns->scan(table->device, all->offsets, all->count, work, stream);
    return status;
}

static heddle_status fetch_pairs(heddle_table *table, const all_lists *all, uint64_t first,
                                 uint64_t n, void *keys, void *values, void *stream)
{
    const hd_list_pool pool = hd_lists_pool(table, &hd_lists(table)->storage, HD_LIST_CHUNKS);
    const hd_list_fetch fetch = {all->numbers, all->offsets, all->count,          first, n,
                                 values,       all->keys,    hd_key_width(table), keys};
    return hd_lists(table)->ops->fetch(table->device, &pool, &fetch, stream);
}

heddle_status hd_lists_collect(heddle_table *table, void *keys, void *values, void *stream)
{
    const hd_span spans[2] = {{keys, 1, false, true}, {values, 1, false, true}};
    hd_scratch scratch;
    all_lists all;
    heddle_status status;
    if (hd_any_staged(table, spans, 2)) return hd_collect_staged(table, keys, values, stream);
    memset(&scratch, 0, sizeof scratch);
    scratch.device = table->device;
    status = hd_lists_catch_up(table, false, stream);
    if (status == HEDDLE_OK) status = list_all(table, &scratch, true, &all, stream);
    if (status == HEDDLE_OK)
        status = fetch_pairs(table, &all, 0, hd_lists(table)->storage.pairs, keys, values, stream);
    if (status == HEDDLE_OK) status = table->engine->synchronize(table->device, stream);
    hd_scratch_free(&scratch);
    return status;
}

/* hd_pairs_fetch: `from` are all lists. */
static heddle_status fetch_piece(heddle_table *table, const void *from, uint64_t first, uint64_t n,
                                 void *keys, void *values, uint64_t *cursor, void *stream)
{
    HD_TRY(fetch_pairs(table, (const all_lists *)from, first, n, keys, values, stream));
    return table->engine->copy(table->device, cursor, &n, sizeof n, stream);
}

heddle_status hd_lists_for_pairs(heddle_table *table, hd_pairs_take take, void *context,
                                 void *stream)
{
    hd_scratch scratch;
    all_lists all;
    heddle_status status;
    memset(&scratch, 0, sizeof scratch);
    scratch.device = table->device;
    status = hd_lists_catch_up(table, false, stream);
    if (status == HEDDLE_OK) status = list_all(table, &scratch, true, &all, stream);
    if (status == HEDDLE_OK)
        status = hd_for_pieces(table, hd_lists(table)->storage.pairs, 1, fetch_piece, &all, take,
                               context, stream);
    hd_scratch_free(&scratch);
    return status;
}

/* ---------------------------------------------------------------------- statistics, validation */

/* Numbers that the census is told, and what it marks; device memory. */
static heddle_status make_bounds(heddle_table *table, hd_scratch *scratch, hd_list_bounds *bounds,
                                 void *stream)
{
    const hd_engine *engine = table->engine;
    const hd_lists_storage *storage = &hd_lists(table)->storage;
    uint64_t numbers[2 * HD_LIST_CHUNKS] = {0}, bits = 0;
    const uint64_t records = storage->records_used / 32 + 1;
    uint64_t *told = NULL;
    heddle_status status;
    for (uint32_t i = 0; i < storage->chunk_count; i++) {
        numbers[i] = storage->chunks[i].used;
        numbers[HD_LIST_CHUNKS + i] = bits;
        bits += storage->chunks[i].used;
    }
    status = hd_scratch_take(scratch, sizeof numbers, (void **)&told);
    if (status == HEDDLE_OK)
        status = hd_scratch_take(scratch, (bits / 32 + 1) * 4, (void **)&bounds->taken);
    if (status == HEDDLE_OK) status = hd_scratch_take(scratch, records * 4, (void **)&bounds->seen);
    if (status == HEDDLE_OK)
        status = engine->fill(table->device, bounds->taken, 0, (bits / 32 + 1) * 4, stream);
    if (status == HEDDLE_OK)
        status = engine->fill(table->device, bounds->seen, 0, records * 4, stream);
    if (status == HEDDLE_OK)
        status = engine->copy(table->device, told, numbers, sizeof numbers, stream);
    if (status == HEDDLE_OK) status = engine->synchronize(table->device, stream);
    bounds->records = storage->records_used;
    bounds->limits = told;
    bounds->first_bits = told + HD_LIST_CHUNKS;
    return status;
}

static heddle_status take_census(heddle_table *table, hd_list_census *census, void *stream)
{
    const hd_lists_storage *storage = &hd_lists(table)->storage;
    const hd_list_pool pool = hd_lists_pool(table, storage, HD_LIST_CHUNKS);
    hd_list_census *device_census = NULL;
    hd_list_bounds bounds;
    hd_scratch scratch;
    all_lists all;
    heddle_status status;
    memset(&scratch, 0, sizeof scratch);
    memset(&bounds, 0, sizeof bounds);
    memset(census, 0, sizeof *census);
    scratch.device = table->device;
    status = hd_scratch_take(&scratch, sizeof *census, (void **)&device_census);
    if (status == HEDDLE_OK)
        status = table->engine->fill(table->device, device_census, 0, sizeof *census, stream);
    if (status == HEDDLE_OK) status = make_bounds(table, &scratch, &bounds, stream);
    if (status == HEDDLE_OK) status = list_all(table, &scratch, false, &all, stream);
    if (status == HEDDLE_OK && all.count != 0)
        status = hd_lists(table)->ops->inspect(table->device, &pool, &bounds, all.numbers,
                                               all.count, device_census, stream);
    if (status == HEDDLE_OK)
        status = hd_read_back(table, census, device_census, sizeof *census, stream);
    hd_scratch_free(&scratch);
    return status;
}

heddle_status hd_lists_get_stats(heddle_table *table, heddle_table_stats *s, void *stream)
{
    const hd_lists_storage *storage = &hd_lists(table)->storage;
    const uint64_t values = HD_LIST_UNIT / hd_value_width(table), room = hd_lists_room(storage);
    heddle_table_stats keys = HEDDLE_TABLE_STATS_INIT;
    hd_list_census census;
    HD_TRY(hd_lists_catch_up(table, false, stream));
    HD_TRY(take_census(table, &census, stream));
    HD_TRY(heddle_table_get_stats(storage->keys, &keys, stream));
    s->regions = keys.regions;
    s->keys = census.values;
    s->slots = room * values;
    s->marks = storage->dead * values;
    s->buckets = census.buckets;
    s->full = census.full;
    s->bytes_slots = room * HD_LIST_UNIT;
    s->bytes_total = s->bytes_slots + storage->records_room * sizeof *storage->records +
                     keys.bytes_total + sizeof(hd_control) + HD_LIST_CHUNKS * sizeof(char *) +
                     sizeof *storage->words;
    s->growths = table->growths + keys.growths;
    s->evictions = 0;
    for (int i = 0; i < HEDDLE_PROBES_MAX; i++) s->probes[i] = census.chained[i];
    s->load = s->slots != 0 ? (double)s->keys / (double)s->slots : 0;
    return HEDDLE_OK;
}

static heddle_status check_census(const heddle_table *table, const hd_list_census *c,
                                  uint64_t pairs)
{
    const hd_lists_storage *storage = &hd_lists(table)->storage;
    const struct {
        uint64_t count;
        const char *reason;
    } checks[] = {
        {c->astray, "keys have a list that is empty, blocked or not there"},
        {c->twice, "keys have a list that another key has"},
        {c->broken, "lists have buckets that do not follow each other"},
        {c->shared, "buckets overlap another bucket"},
    };
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++)
        if (checks[i].count != 0)
            return hd_fail(HEDDLE_ERROR_CORRUPT, "%llu %s", (unsigned long long)checks[i].count,
                           checks[i].reason);
    if (c->values != pairs || c->values != storage->pairs)
        return hd_fail(HEDDLE_ERROR_CORRUPT,
                       "the table counts %llu pairs, but %llu stand in its lists",
                       (unsigned long long)pairs, (unsigned long long)c->values);
    if (c->units + storage->dead > hd_lists_used(storage))
        return hd_fail(HEDDLE_ERROR_CORRUPT, "buckets have more room than the pool gave away");
    return HEDDLE_OK;
}

heddle_status hd_lists_validate(heddle_table *table, void *stream)
{
    const hd_lists_storage *storage = &hd_lists(table)->storage;
    hd_list_census census;
    uint64_t pairs = 0, keys = 0;
    HD_TRY(hd_lists_catch_up(table, false, stream));
    HD_TRY(heddle_table_validate(storage->keys, stream));
    HD_TRY(heddle_table_size(storage->keys, &keys, stream));
    if (keys != storage->key_count)
        return hd_fail(HEDDLE_ERROR_CORRUPT, "the table counts %llu keys, but there are %llu",
                       (unsigned long long)storage->key_count, (unsigned long long)keys);
    HD_TRY(hd_table_count(table, &pairs, stream));
    HD_TRY(take_census(table, &census, stream));
    return check_census(table, &census, pairs);
}
