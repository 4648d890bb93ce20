/*
 * view.c: bucket lists for kernels outside the library (heddle/device.cuh).
 *
 * Batch calls count keys, records and units on the host, which no kernel can. So a view is lent:
 * from then on the device counts (hd_list_words), and calls that rely on counts read them first. A
 * call that changes lists ends that, and the view is of no use any more.
 */
#include <string.h>

#include "base/error.h"
#include "table/lists/lists.h"
#include "table/slots/slots.h"

/*
 * Lists that may be made in vain: by all threads of a device that have the same new key at the same
 * time.
 */
#define SPARE_RECORDS (UINT64_C(1) << 17)

/* A number for every key that the table of keys has a slot for. */
static heddle_status make_records(heddle_table *table, hd_lists_storage *storage)
{
    const uint64_t slots = hd_slots_count_slots(storage->keys);
    return hd_lists_add_records(table, storage, slots - storage->key_count + SPARE_RECORDS, NULL);
}

static heddle_status lend(heddle_table *table, hd_lists_storage *storage)
{
    const uint32_t chunk = hd_lists_chunk(storage, UINT64_MAX);
    hd_list_words words;
    HD_TRY(make_records(table, storage));
    memset(&words, 0, sizeof words);
    words.cursor = chunk < storage->chunk_count ? storage->chunks[chunk].used : 0;
    words.records = storage->records_used;
    words.dead = storage->dead;
    HD_TRY(table->engine->copy(table->device, storage->words, &words, sizeof words, NULL));
    HD_TRY(table->engine->synchronize(table->device, NULL));
    storage->lent = true;
    storage->lent_chunk = chunk;
    return HEDDLE_OK;
}

heddle_status hd_lists_view(heddle_table *table, hd_device_lists *view)
{
    hd_lists_storage *storage = &hd_lists(table)->storage;
    HD_TRY(storage->lent ? HEDDLE_OK : lend(table, storage));
    memset(view, 0, sizeof *view);
    view->keys.view = hd_slots(storage->keys)->storage.view;
    view->keys.born = &storage->keys->control->born;
    view->keys.died = &storage->keys->control->died;
    view->pool = hd_lists_pool(table, storage, storage->lent_chunk);
    view->words = storage->words;
    view->records_room = storage->records_room;
    view->born = &table->control->born;
    view->died = &table->control->died;
    return HEDDLE_OK;
}

/* Two calls that only read may do so at the same time: they write the same. */
static void note(uint64_t *count, uint64_t to) { __atomic_store_n(count, to, __ATOMIC_RELAXED); }

heddle_status hd_lists_catch_up(heddle_table *table, bool changes, void *stream)
{
    hd_lists_storage *storage = &hd_lists(table)->storage;
    hd_list_words words;
    uint64_t pairs = 0, keys = 0;
    if (!storage->lent) return HEDDLE_OK;
    HD_TRY(hd_read_back(table, &words, storage->words, sizeof words, stream));
    HD_TRY(hd_table_count(table, &pairs, stream));
    HD_TRY(heddle_table_size(storage->keys, &keys, stream));
    note(&storage->pairs, pairs);
    note(&storage->key_count, keys);
    note(&storage->dead, words.dead);
    note(&storage->records_used,
         words.records < storage->records_room ? words.records : storage->records_room);
    if (storage->lent_chunk < storage->chunk_count) {
        hd_list_chunk *chunk = &storage->chunks[storage->lent_chunk];
        note(&chunk->used, words.cursor < chunk->room ? words.cursor : chunk->room);
    }
    if (changes) storage->lent = false;
    return HEDDLE_OK;
}
