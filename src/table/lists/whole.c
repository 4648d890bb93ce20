/*
 * whole.c: operations on bucket lists as a whole: clear, reserve, export, statistics, validation.
 */
#include <string.h>

#include "base/error.h"
#include "table/collect.h"
#include "table/lists/lists.h"

heddle_status hd_lists_clear(heddle_table *table, void *stream)
{
    HD_TRY(hd_lists_empty(table, &hd_lists(table)->storage, stream));
    return hd_table_set_count(table, 0, stream);
}

/* A fixed table has room for as many keys as values. */
static heddle_status reserve_keys(heddle_table *table, uint64_t capacity, void *stream)
{
    hd_lists_storage *storage = &hd_lists(table)->storage;
    HD_TRY(heddle_table_reserve(storage->keys, capacity, stream));
    const uint64_t keys = storage->keys->options.capacity, used = storage->records_used;
    return keys > used ? hd_lists_add_records(table, storage, keys - used, stream) : HEDDLE_OK;
}

heddle_status hd_lists_reserve(heddle_table *table, uint64_t capacity, void *stream)
{
    hd_lists_storage *storage = &hd_lists(table)->storage;
    const uint64_t units = hd_lists_units_for(table, capacity);
    heddle_status status = HEDDLE_OK;
    if (capacity > HD_SLOTS_MAX)
        return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no table holds %llu pairs",
                       (unsigned long long)capacity);
    HD_TRY(hd_lists_catch_up(table, true, stream));
    if (hd_lists_fixed(table)) status = reserve_keys(table, capacity, stream);
    if (status == HEDDLE_OK) status = hd_lists_add_room(table, storage, units);
    if (status == HEDDLE_OK && capacity > hd_lists(table)->pairs_wanted)
        hd_lists(table)->pairs_wanted = capacity;
    table->options.capacity = hd_lists_room(storage) * HD_LIST_UNIT / hd_value_width(table);
    return status;
}

/*
 * -------------------------------------------------------------------------------------- all lists
 */

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
    hd_site on = hd_on(table->device, NULL, stream);
    const uint64_t count = storage->key_count;
    HD_TRY(hd_scratch_take(scratch, count * hd_key_width(table), &all->keys));
    HD_TRY(hd_scratch_take(scratch, count * sizeof *all->numbers, (void **)&all->numbers));
    HD_TRY(heddle_table_export(storage->keys, all->keys, all->numbers, count, &all->count, stream));
    if (!offsets) return HEDDLE_OK;
    HD_TRY(hd_scratch_take(scratch, (count + 1) * sizeof *all->offsets, (void **)&all->offsets));
    HD_TRY(hd_scratch_take(scratch, columns->work(table->device, count), &on.work));
    if (count != 0)
        HD_TRY(hd_lists(table)->ops->lengths(
            on, &pool, hd_list_numbers_of(all->numbers, all->count), all->offsets));
    return columns->scan(on, all->offsets, all->count);
}

/* The pieces of all lists' pairs: the items are pairs, `from` are all lists. */
static heddle_status fetch_pairs(const hd_pieces *pieces, uint64_t first, uint64_t n,
                                 const hd_pairs_room *to)
{
    heddle_table *table = pieces->table;
    const all_lists *all = (const all_lists *)pieces->from;
    const hd_list_pool pool = hd_lists_pool(table, &hd_lists(table)->storage, HD_LIST_CHUNKS);
    const hd_list_fetch fetch = {all->numbers, all->offsets, all->count,          first,   n,
                                 to->values,   all->keys,    hd_key_width(table), to->keys};
    return hd_lists(table)->ops->fetch(hd_on(table->device, NULL, pieces->stream), &pool, &fetch);
}

/* hd_pieces.fetch */
static heddle_status fetch_piece(const hd_pieces *pieces, uint64_t first, uint64_t n,
                                 const hd_pairs_room *to)
{
    heddle_table *table = pieces->table;
    HD_TRY(fetch_pairs(pieces, first, n, to));
    return table->engine->copy(table->device, to->cursor, &n, sizeof n, pieces->stream);
}

heddle_status hd_lists_collect(heddle_table *table, void *keys, void *values, void *stream)
{
    const hd_pairs_room to = {keys, values, NULL};
    HD_SCRATCH(scratch, table->device);
    all_lists all;
    HD_TRY(hd_lists_catch_up(table, false, stream));
    HD_TRY(list_all(table, &scratch, true, &all, stream));
    const hd_pieces whole = {table, &all, hd_lists(table)->storage.pairs, 1, NULL, stream};
    HD_TRY(fetch_pairs(&whole, 0, whole.items, &to));
    return table->engine->synchronize(table->device, stream);
}

heddle_status hd_lists_for_pairs(heddle_table *table, hd_pairs_take take, void *context,
                                 void *stream)
{
    HD_SCRATCH(scratch, table->device);
    all_lists all;
    HD_TRY(hd_lists_catch_up(table, false, stream));
    HD_TRY(list_all(table, &scratch, true, &all, stream));
    const uint64_t pairs = hd_lists(table)->storage.pairs;
    const hd_pieces pieces = {table, &all, pairs, 1, fetch_piece, stream};
    return hd_for_pieces(&pieces, take, context);
}

/* ---------------------------------------------------------------------- statistics, validation */

/* Numbers that the census is given, and what it marks; device memory. */
static heddle_status make_bounds(heddle_table *table, hd_scratch *scratch, hd_list_bounds *bounds,
                                 void *stream)
{
    const hd_engine *engine = table->engine;
    heddle_device *device = table->device;
    const hd_lists_storage *storage = &hd_lists(table)->storage;
    const uint64_t records = storage->records_used / 32 + 1;
    uint64_t numbers[2 * HD_LIST_CHUNKS] = {0}, bits = 0;
    uint64_t *limits = NULL;
    for (uint32_t i = 0; i < storage->chunk_count; i++) {
        numbers[i] = storage->chunks[i].used;
        numbers[HD_LIST_CHUNKS + i] = bits;
        bits += storage->chunks[i].used;
    }
    const uint64_t units = bits / 32 + 1;
    HD_TRY(hd_scratch_take(scratch, sizeof numbers, (void **)&limits));
    HD_TRY(hd_scratch_take(scratch, units * 4, (void **)&bounds->taken));
    HD_TRY(hd_scratch_take(scratch, records * 4, (void **)&bounds->seen));
    bounds->records = storage->records_used;
    bounds->limits = limits;
    bounds->first_bits = limits + HD_LIST_CHUNKS;
    HD_TRY(engine->fill(device, bounds->taken, 0, units * 4, stream));
    HD_TRY(engine->fill(device, bounds->seen, 0, records * 4, stream));
    HD_TRY(engine->copy(device, limits, numbers, sizeof numbers, stream));
    return engine->synchronize(device, stream);
}

static heddle_status take_census(heddle_table *table, hd_list_census *census, void *stream)
{
    const hd_list_pool pool = hd_lists_pool(table, &hd_lists(table)->storage, HD_LIST_CHUNKS);
    HD_SCRATCH(scratch, table->device);
    hd_list_census *counted = NULL;
    hd_list_bounds bounds;
    all_lists all;
    memset(&bounds, 0, sizeof bounds);
    HD_TRY(hd_scratch_take(&scratch, sizeof *census, (void **)&counted));
    HD_TRY(table->engine->fill(table->device, counted, 0, sizeof *census, stream));
    HD_TRY(make_bounds(table, &scratch, &bounds, stream));
    HD_TRY(list_all(table, &scratch, false, &all, stream));
    if (all.count != 0)
        HD_TRY(hd_lists(table)->ops->inspect(hd_on(table->device, NULL, stream), &pool, &bounds,
                                             hd_list_numbers_of(all.numbers, all.count), counted));
    return hd_read_back(table, census, counted, sizeof *census, stream);
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
