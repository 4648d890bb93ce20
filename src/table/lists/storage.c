/*
 * storage.c: the memory of bucket lists: the table of keys, the records, and the chunks of the
 * pool, which are added as they are needed and never move.
 */
#include <string.h>

#include "base/error.h"
#include "engine/blocks.h"
#include "table/lists/lists.h"

#define CHUNK_UNITS_MIN (UINT64_C(1) << 10)
#define RECORDS_MIN (UINT64_C(1) << 8)

uint64_t hd_lists_units_for(const heddle_table *table, uint64_t values)
{
    const uint64_t units = values * hd_value_width(table) / HD_LIST_UNIT + (values != 0);
    /* Lists that grow leave room unused, up to as much as they have, and there are headers. */
    return hd_lists_fixed(table) ? 2 * units + values : units;
}

uint64_t hd_lists_room(const hd_lists_storage *storage)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < storage->chunk_count; i++) sum += storage->chunks[i].room;
    return sum;
}

uint64_t hd_lists_used(const hd_lists_storage *storage)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < storage->chunk_count; i++) sum += storage->chunks[i].used;
    return sum;
}

/*
 * ------------------------------------------------------------------------------ life of a storage
 */

heddle_table_options hd_lists_keys_options(const heddle_table *table)
{
    heddle_table_options o = HEDDLE_TABLE_OPTIONS_INIT;
    o.container = HEDDLE_CONTAINER_MAP;
    o.scheme = HEDDLE_SCHEME_OPEN;
    o.key_bits = table->options.key_bits;
    o.value_bits = 64;
    o.bucket = table->options.bucket;
    o.hashes = table->options.hashes;
    o.load = table->options.load;
    return o;
}

static heddle_status make_keys(heddle_table *table, uint64_t keys, uint64_t seed,
                               heddle_table **made)
{
    heddle_table_options o = hd_lists_keys_options(table);
    o.capacity = keys;
    o.seed = seed;
    return heddle_table_create(table->device, &o, made);
}

static heddle_status fill_storage(heddle_table *table, hd_lists_storage *storage, uint64_t values)
{
    const uint64_t table_bytes = HD_LIST_CHUNKS * sizeof(char *);
    HD_TRY(table->engine->allocate(table->device, table_bytes + sizeof *storage->words,
                                   (void **)&storage->chunk_table));
    storage->words = (hd_list_words *)(void *)((char *)storage->chunk_table + table_bytes);
    if (values != 0) HD_TRY(hd_lists_add_room(table, storage, hd_lists_units_for(table, values)));
    return hd_lists_fixed(table)
               ? hd_lists_add_records(table, storage, storage->keys->options.capacity, NULL)
               : HEDDLE_OK;
}

heddle_status hd_lists_start(heddle_table *table, hd_lists_storage *storage, uint64_t keys,
                             uint64_t values, uint64_t seed)
{
    memset(storage, 0, sizeof *storage);
    heddle_status status = make_keys(table, keys, seed, &storage->keys);
    if (status == HEDDLE_OK) status = fill_storage(table, storage, values);
    if (status != HEDDLE_OK) hd_lists_free(table, storage);
    return status;
}

void hd_lists_free(heddle_table *table, hd_lists_storage *storage)
{
    const hd_engine *engine = table->engine;
    for (uint32_t i = 0; i < storage->chunk_count; i++)
        hd_block_give(table->device, storage->chunks[i].memory);
    if (storage->records != NULL) hd_block_give(table->device, storage->records);
    if (storage->chunk_table != NULL) engine->free(table->device, storage->chunk_table);
    heddle_table_destroy(storage->keys);
    memset(storage, 0, sizeof *storage);
}

void hd_lists_adopt(heddle_table *table, const hd_lists_storage *fresh, uint64_t seed)
{
    hd_lists_storage *own = &hd_lists(table)->storage;
    hd_lists_free(table, own);
    *own = *fresh;
    table->options.seed = seed;
    table->options.capacity = hd_lists_room(own) * HD_LIST_UNIT / hd_value_width(table);
}

heddle_status hd_lists_empty(heddle_table *table, hd_lists_storage *storage, void *stream)
{
    (void)table;
    HD_TRY(heddle_table_clear(storage->keys, stream));
    for (uint32_t i = 0; i < storage->chunk_count; i++) storage->chunks[i].used = 0;
    storage->key_count = storage->pairs = storage->records_used = storage->dead = 0;
    storage->lent = false;
    return HEDDLE_OK;
}

/*
 * ------------------------------------------------------------------------------------ more memory
 */

/* Memory of `wanted` units, or of `least` when there is not as much; *wanted says which. */
static heddle_status take_chunk(heddle_table *table, uint64_t *wanted, uint64_t least,
                                char **memory)
{
    const heddle_status status =
        hd_block_take(table->device, *wanted * HD_LIST_UNIT, (void **)memory);
    if (status != HEDDLE_ERROR_NO_MEMORY || *wanted <= least) return status;
    *wanted = least;
    return hd_block_take(table->device, least * HD_LIST_UNIT, (void **)memory);
}

/*
 * As large as all chunks before it, so that there are few; smaller when there is no memory for
 * that.
 */
heddle_status hd_lists_add_chunk(heddle_table *table, hd_lists_storage *storage, uint64_t units)
{
    const hd_engine *engine = table->engine;
    const uint64_t all = hd_lists_room(storage);
    hd_list_chunk *chunk = &storage->chunks[storage->chunk_count];
    char **entry = storage->chunk_table + storage->chunk_count;
    uint64_t wanted = units > all ? units : all;
    if (wanted < CHUNK_UNITS_MIN) wanted = CHUNK_UNITS_MIN;
    if (wanted > HD_LIST_CHUNK_UNITS) wanted = HD_LIST_CHUNK_UNITS;
    if (storage->chunk_count == HD_LIST_CHUNKS || units > HD_LIST_CHUNK_UNITS)
        return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no pool has %llu more bytes for values",
                       (unsigned long long)(units * HD_LIST_UNIT));
    HD_TRY(take_chunk(table, &wanted, units, &chunk->memory));
    heddle_status status =
        engine->copy(table->device, entry, &chunk->memory, sizeof chunk->memory, NULL);
    if (status == HEDDLE_OK) status = engine->synchronize(table->device, NULL);
    if (status != HEDDLE_OK) {
        hd_block_give(table->device, chunk->memory);
        return status;
    }
    chunk->room = wanted;
    chunk->used = 0;
    storage->chunk_count++;
    return HEDDLE_OK;
}

heddle_status hd_lists_add_room(heddle_table *table, hd_lists_storage *storage, uint64_t units)
{
    for (uint64_t room = hd_lists_room(storage); room < units; room = hd_lists_room(storage)) {
        const uint64_t more = units - room;
        HD_TRY(hd_lists_add_chunk(table, storage,
                                  more < HD_LIST_CHUNK_UNITS ? more : HD_LIST_CHUNK_UNITS));
    }
    return HEDDLE_OK;
}

heddle_status hd_lists_add_records(heddle_table *table, hd_lists_storage *storage, uint64_t more,
                                   void *stream)
{
    const hd_engine *engine = table->engine;
    const uint64_t needed = storage->records_used + more;
    uint64_t room = storage->records_room + storage->records_room / 2;
    hd_list_record *records = NULL;
    heddle_status status = HEDDLE_OK;
    if (needed <= storage->records_room) return HEDDLE_OK;
    if (room < needed) room = needed;
    if (room < RECORDS_MIN) room = RECORDS_MIN;
    HD_TRY(hd_block_take(table->device, room * sizeof *records, (void **)&records));
    if (storage->records_used != 0)
        status = engine->copy(table->device, records, storage->records,
                              storage->records_used * sizeof *records, stream);
    if (status == HEDDLE_OK) status = engine->synchronize(table->device, stream);
    if (status != HEDDLE_OK) {
        hd_block_give(table->device, records);
        return status;
    }
    if (storage->records != NULL) hd_block_give(table->device, storage->records);
    storage->records = records;
    storage->records_room = room;
    return HEDDLE_OK;
}

uint32_t hd_lists_chunk(const hd_lists_storage *storage, uint64_t units)
{
    uint32_t best = HD_LIST_CHUNKS;
    for (uint32_t i = 0; i < storage->chunk_count; i++) {
        const uint64_t left = storage->chunks[i].room - storage->chunks[i].used;
        if (left >= units) return i;
        if (left != 0 && (best == HD_LIST_CHUNKS ||
                          left > storage->chunks[best].room - storage->chunks[best].used))
            best = i;
    }
    return best;
}

/*
 * ----------------------------------------------------------------------------------------- using
 * it
 */

hd_list_pool hd_lists_pool(const heddle_table *table, const hd_lists_storage *storage,
                           uint32_t chunk)
{
    hd_list_pool pool;
    memset(&pool, 0, sizeof pool);
    pool.records = storage->records;
    pool.chunks = storage->chunk_table;
    pool.first = table->options.list_first;
    pool.growth = table->options.list_growth;
    pool.cursor = &storage->words->cursor;
    if (chunk < storage->chunk_count) {
        pool.chunk = chunk;
        pool.used = storage->chunks[chunk].used;
        pool.room = storage->chunks[chunk].room;
    }
    return pool;
}

heddle_status hd_lists_take(hd_scratch *scratch, const hd_list_need *needs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        HD_TRY(hd_scratch_take(scratch, needs[i].bytes, needs[i].memory));
    return HEDDLE_OK;
}

heddle_status hd_lists_numbers(const heddle_table *table, const hd_lists_storage *storage,
                               hd_request *r, uint64_t *numbers)
{
    heddle_table *keys = storage->keys;
    r->values_out = numbers;
    r->waits = true;
    memset(&r->counts, 0, sizeof r->counts);
    HD_TRY(table->engine->fill(table->device, numbers, 0xff, r->n * sizeof *numbers, r->stream));
    if (r->n == 0) return HEDDLE_OK;
    if (storage->key_count != 0 || storage->lent || r->found != NULL)
        return keys->kind->find(keys, r);
    r->counts.at[HD_ASKED] = r->n;
    return HEDDLE_OK;
}
