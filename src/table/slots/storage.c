/* storage.c: the memory of a table, and moving a table from one storage to another. */
#include <string.h>

#include "base/error.h"
#include "table/slots/slots.h"

#define SLICE_MIN (UINT64_C(1) << 16)
#define MOVE_TRIES 6

/* A slice for every eight to sixteen slots keeps a device busy and costs five bytes a key of the slice. */
static uint64_t choose_slice(const hd_engine *engine, uint64_t slots)
{
    uint64_t slice = SLICE_MIN;
    while (slice < engine->slice_max && slice * 16 <= slots) slice *= 2;
    return slice;
}

static heddle_status take(heddle_table *table, hd_storage *storage, uint64_t bytes, void **memory)
{
    HD_TRY(table->engine->allocate(table->device, bytes, memory));
    storage->bytes += bytes;
    return HEDDLE_OK;
}

static heddle_status allocate_all(heddle_table *table, hd_storage *storage)
{
    const uint64_t slots = hd_geometry_slots(&storage->view, hd_slots(table)->ops);
    const uint64_t locks = hd_geometry_locks(&storage->view, hd_slots(table)->ops);
    HD_TRY(take(table, storage, slots * hd_slots(table)->ops->slot_bytes, &storage->view.slots));
    if (hd_slots(table)->ops->value_bytes != 0)
        HD_TRY(
            take(table, storage, slots * hd_slots(table)->ops->value_bytes, &storage->view.values));
    if (locks != 0)
        HD_TRY(take(table, storage, locks * sizeof(uint32_t), (void **)&storage->view.locks));
    HD_TRY(take(table, storage, sizeof(uint32_t) << storage->view.region_bits,
                (void **)&storage->heads));
    HD_TRY(take(table, storage, storage->slice * sizeof(uint32_t), (void **)&storage->next));
    return take(table, storage, storage->slice, (void **)&storage->outcomes);
}

heddle_status hd_storage_init(heddle_table *table, hd_storage *storage, uint64_t capacity,
                              uint64_t seed, void *stream)
{
    heddle_status status;
    memset(storage, 0, sizeof *storage);
    status = hd_geometry_init(&storage->view, hd_slots(table)->ops, capacity, table->options.load,
                              table->options.hashes, seed);
    if (status != HEDDLE_OK) return status;
    storage->slice =
        choose_slice(table->engine, hd_geometry_slots(&storage->view, hd_slots(table)->ops));
    if (table->options.threshold != 0)
        storage->view.threshold =
            hd_geometry_threshold(hd_slots(table)->ops, table->options.threshold);
    status = allocate_all(table, storage);
    if (status == HEDDLE_OK && storage->view.locks != NULL)
        status = table->engine->fill(
            table->device, storage->view.locks, 0,
            hd_geometry_locks(&storage->view, hd_slots(table)->ops) * sizeof(uint32_t), stream);
    if (status == HEDDLE_OK)
        status = table->engine->fill(table->device, storage->heads, 0xff,
                                     sizeof(uint32_t) << storage->view.region_bits, stream);
    if (status == HEDDLE_OK)
        status = hd_slots(table)->ops->clear(table->device, &storage->view, stream);
    if (status != HEDDLE_OK) hd_storage_free(table, storage);
    return status;
}

void hd_storage_free(heddle_table *table, hd_storage *storage)
{
    void *const memory[] = {storage->view.slots, storage->view.values, storage->view.locks,
                            storage->heads,      storage->next,        storage->outcomes};
    for (size_t i = 0; i < sizeof memory / sizeof memory[0]; i++)
        if (memory[i] != NULL) table->engine->free(table->device, memory[i]);
    memset(storage, 0, sizeof *storage);
}

/* Outcomes outlive the move: an insertion that made the table grow reads there what to try again. */
static heddle_status keep_outcomes(heddle_table *table, const hd_storage *to, void *stream)
{
    const hd_storage *from = &hd_slots(table)->storage;
    const uint64_t bytes = from->slice < to->slice ? from->slice : to->slice;
    return from->outcomes == NULL
               ? HEDDLE_OK
               : table->engine->copy(table->device, to->outcomes, from->outcomes, bytes, stream);
}

static void adopt(heddle_table *table, hd_storage *storage, uint64_t seed)
{
    hd_storage_free(table, &hd_slots(table)->storage);
    hd_slots(table)->storage = *storage;
    hd_slots(table)->erased = 0;
    hd_slots(table)->gaps = hd_slots(table)->viewed = false;
    table->slice = storage->slice;
    table->options.seed = seed;
    table->options.capacity = hd_geometry_slots(&storage->view, hd_slots(table)->ops);
}

/* Inserts all pairs of the table into `to`; *failed says how many did not fit. */
static heddle_status rehome_all(heddle_table *table, const hd_storage *to, uint64_t *failed,
                                void *stream)
{
    const hd_view *from = &hd_slots(table)->storage.view;
    const uint64_t slots = hd_geometry_slots(from, hd_slots(table)->ops);
    hd_counts counts;
    hd_batch batch;
    hd_call call;
    heddle_status status = hd_call_begin(table, true, stream, &call);
    if (status != HEDDLE_OK) return status;
    memset(&batch, 0, sizeof batch);
    batch.counts = call.counts;
    batch.heads = to->heads;
    batch.next = to->next;
    for (uint64_t first = 0; first < slots && status == HEDDLE_OK; first += to->slice) {
        batch.n = slots - first < to->slice ? slots - first : to->slice;
        status =
            hd_slots(table)->ops->rehome(table->device, &to->view, &batch, from, first, stream);
        if (status == HEDDLE_OK)
            status =
                hd_slots(table)->ops->settle(table->device, &to->view, &batch, from, first, stream);
    }
    if (status == HEDDLE_OK) status = hd_call_read(table, &call, stream, &counts);
    hd_call_end(table, &call);
    if (status == HEDDLE_OK) *failed = counts.at[HD_FAILED];
    return status;
}

heddle_status hd_table_move(heddle_table *table, uint64_t capacity, uint64_t seed, void *stream)
{
    uint64_t use = seed != 0 ? seed : table->options.seed;
    for (int i = 0; i < MOVE_TRIES; i++) {
        hd_storage fresh;
        uint64_t failed = 0;
        heddle_status status = hd_storage_init(table, &fresh, capacity, use, stream);
        if (status != HEDDLE_OK) return status;
        status = rehome_all(table, &fresh, &failed, stream);
        if (status == HEDDLE_OK) status = keep_outcomes(table, &fresh, stream);
        if (status == HEDDLE_OK && failed == 0) {
            adopt(table, &fresh, use);
            return HEDDLE_OK;
        }
        hd_storage_free(table, &fresh);
        if (status != HEDDLE_OK) return status;
        use = hd_seed_draw();
        capacity += capacity / 8 + 64; /* an unlucky seed, or not quite enough room */
    }
    return hd_fail(HEDDLE_ERROR_FULL, "no seed makes room for the keys in storage for %llu",
                   (unsigned long long)capacity);
}

heddle_status hd_table_renew(heddle_table *table, uint64_t capacity, uint64_t seed, void *stream)
{
    hd_storage fresh;
    HD_TRY(hd_storage_init(table, &fresh, capacity, seed, stream));
    adopt(table, &fresh, seed);
    return HEDDLE_OK;
}

heddle_status hd_table_grow(heddle_table *table, uint64_t more_keys, void *stream)
{
    const double load = table->options.load;
    const uint64_t doubled =
        (uint64_t)(2.0 * load *
                   (double)hd_geometry_slots(&hd_slots(table)->storage.view, hd_slots(table)->ops));
    uint64_t keys;
    HD_TRY(hd_table_count(table, &keys, stream));
    HD_TRY(
        hd_table_move(table, keys + more_keys > doubled ? keys + more_keys : doubled, 0, stream));
    table->growths++;
    return HEDDLE_OK;
}

heddle_status hd_slots_reserve(heddle_table *table, uint64_t capacity, void *stream)
{
    hd_view wanted;
    HD_TRY(hd_geometry_init(&wanted, hd_slots(table)->ops, capacity, table->options.load,
                            table->options.hashes, 1));
    if (hd_geometry_slots(&wanted, hd_slots(table)->ops) <=
        hd_geometry_slots(&hd_slots(table)->storage.view, hd_slots(table)->ops))
        return HEDDLE_OK;
    return hd_table_move(table, capacity, 0, stream);
}

heddle_status hd_slots_rehash(heddle_table *table, uint64_t capacity, void *stream)
{
    return hd_table_move(table, capacity, hd_seed_draw(), stream);
}

const hd_view *hd_table_view(const heddle_table *table) { return &hd_slots(table)->storage.view; }
