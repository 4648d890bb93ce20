/* storage.c: the memory of a table, and moving a table from one storage to another. */
#include <string.h>

#include "base/error.h"
#include "table/slots/slots.h"

#define SLICE_MIN (UINT64_C(1) << 16)
#define MOVE_TRIES 6

/*
 * A slice for every eight to sixteen slots keeps a device busy and costs five bytes a key of the
 * slice.
 */
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
    const hd_table_ops *ops = hd_slots(table)->ops;
    hd_view *view = &storage->view;
    const uint64_t slots = hd_geometry_slots(view, ops), locks = hd_geometry_locks(view, ops);
    HD_TRY(take(table, storage, slots * ops->slot_bytes, &view->slots));
    if (ops->value_bytes != 0)
        HD_TRY(take(table, storage, slots * ops->value_bytes, &view->values));
    if (locks != 0) HD_TRY(take(table, storage, locks * sizeof(uint32_t), (void **)&view->locks));
    HD_TRY(take(table, storage, sizeof(uint32_t) << view->region_bits, (void **)&storage->heads));
    HD_TRY(take(table, storage, storage->slice * sizeof(uint32_t), (void **)&storage->next));
    return take(table, storage, storage->slice, (void **)&storage->outcomes);
}

/* All slots vacant, all lists empty. */
static heddle_status clear_all(heddle_table *table, const hd_storage *storage, void *stream)
{
    const hd_table_ops *ops = hd_slots(table)->ops;
    const hd_engine *engine = table->engine;
    const hd_view *view = &storage->view;
    if (view->locks != NULL)
        HD_TRY(engine->fill(table->device, view->locks, 0,
                            hd_geometry_locks(view, ops) * sizeof(uint32_t), stream));
    HD_TRY(engine->fill(table->device, storage->heads, 0xff, sizeof(uint32_t) << view->region_bits,
                        stream));
    return ops->clear(table->device, view, stream);
}

/* Allocates and clears storage for a geometry. */
static heddle_status storage_make(heddle_table *table, hd_storage *storage, uint64_t capacity,
                                  uint64_t seed, void *stream)
{
    const hd_table_ops *ops = hd_slots(table)->ops;
    const heddle_table_options *o = &table->options;
    memset(storage, 0, sizeof *storage);
    HD_TRY(hd_geometry_init(&storage->view, ops, capacity, o->load, o->hashes, seed));
    storage->slice = choose_slice(table->engine, hd_geometry_slots(&storage->view, ops));
    if (o->threshold != 0) storage->view.threshold = hd_geometry_threshold(ops, o->threshold);
    heddle_status status = allocate_all(table, storage);
    if (status == HEDDLE_OK) status = clear_all(table, storage, stream);
    if (status != HEDDLE_OK) hd_slots_free(table, storage);
    return status;
}

void hd_slots_free(heddle_table *table, hd_storage *storage)
{
    void *const memory[] = {storage->view.slots, storage->view.values, storage->view.locks,
                            storage->heads,      storage->next,        storage->outcomes};
    for (size_t i = 0; i < sizeof memory / sizeof memory[0]; i++)
        if (memory[i] != NULL) table->engine->free(table->device, memory[i]);
    memset(storage, 0, sizeof *storage);
}

/*
 * Outcomes outlive the move: an insertion that made the table grow reads there what to try again.
 */
static heddle_status keep_outcomes(heddle_table *table, const hd_storage *to, void *stream)
{
    const hd_storage *from = &hd_slots(table)->storage;
    const uint64_t bytes = from->slice < to->slice ? from->slice : to->slice;
    return from->outcomes == NULL
               ? HEDDLE_OK
               : table->engine->copy(table->device, to->outcomes, from->outcomes, bytes, stream);
}

static void adopt(heddle_table *table, const hd_storage *storage, uint64_t seed)
{
    hd_slots_table *t = hd_slots(table);
    hd_slots_free(table, &t->storage);
    t->storage = *storage;
    t->erased = 0;
    t->gaps = t->viewed = false;
    table->slice = storage->slice;
    table->options.seed = seed;
    table->options.capacity = hd_slots_count_slots(table);
}

/* Inserts all pairs of the table into `to`; *failed says how many did not fit. */
static heddle_status rehome_all(heddle_table *table, const hd_storage *to, uint64_t *failed,
                                void *stream)
{
    const hd_slots_table *t = hd_slots(table);
    const hd_view *from = &t->storage.view;
    const uint64_t slots = hd_slots_count_slots(table);
    hd_counts counts;
    hd_batch batch;
    HD_CALL(call);
    HD_TRY(hd_call_begin(table, true, stream, &call));
    memset(&batch, 0, sizeof batch);
    batch.counts = call.counts;
    batch.heads = to->heads;
    batch.next = to->next;
    batch.from = from;
    for (uint64_t first = 0; first < slots; first += to->slice) {
        batch.n = slots - first < to->slice ? slots - first : to->slice;
        batch.first = first;
        HD_TRY(t->ops->rehome(table->device, &to->view, &batch, stream));
        HD_TRY(t->ops->settle(table->device, &to->view, &batch, stream));
    }
    HD_TRY(hd_call_read(&call, &counts));
    *failed = counts.at[HD_FAILED];
    return HEDDLE_OK;
}

/*
 * All pairs in storage with this seed, which then is the table's; *moved is false if they do not
 * fit.
 */
static heddle_status try_move(heddle_table *table, uint64_t capacity, uint64_t seed, bool *moved,
                              void *stream)
{
    hd_storage fresh;
    uint64_t failed = 0;
    HD_TRY(storage_make(table, &fresh, capacity, seed, stream));
    heddle_status status = rehome_all(table, &fresh, &failed, stream);
    if (status == HEDDLE_OK) status = keep_outcomes(table, &fresh, stream);
    *moved = status == HEDDLE_OK && failed == 0;
    if (*moved) adopt(table, &fresh, seed);
    else hd_slots_free(table, &fresh);
    return status;
}

heddle_status hd_slots_move(heddle_table *table, uint64_t capacity, uint64_t seed, void *stream)
{
    uint64_t use = seed != 0 ? seed : table->options.seed;
    for (int i = 0; i < MOVE_TRIES; i++) {
        bool moved = false;
        HD_TRY(try_move(table, capacity, use, &moved, stream));
        if (moved) return HEDDLE_OK;
        use = hd_seed_draw();
        capacity += capacity / 8 + 64; /* an unlucky seed, or not quite enough room */
    }
    return hd_fail(HEDDLE_ERROR_FULL, "no seed makes room for the keys in storage for %llu",
                   (unsigned long long)capacity);
}

heddle_status hd_slots_renew(heddle_table *table, uint64_t capacity, uint64_t seed, void *stream)
{
    hd_storage fresh;
    HD_TRY(storage_make(table, &fresh, capacity, seed, stream));
    adopt(table, &fresh, seed);
    return HEDDLE_OK;
}

heddle_status hd_slots_grow(heddle_table *table, uint64_t more_keys, void *stream)
{
    const double slots = (double)hd_slots_count_slots(table);
    const uint64_t doubled = (uint64_t)(2.0 * table->options.load * slots);
    uint64_t keys;
    HD_TRY(hd_table_count(table, &keys, stream));
    keys += more_keys;
    HD_TRY(hd_slots_move(table, keys > doubled ? keys : doubled, 0, stream));
    table->growths++;
    return HEDDLE_OK;
}

heddle_status hd_slots_reserve(heddle_table *table, uint64_t capacity, void *stream)
{
    const hd_table_ops *ops = hd_slots(table)->ops;
    const heddle_table_options *o = &table->options;
    hd_view wanted;
    HD_TRY(hd_geometry_init(&wanted, ops, capacity, o->load, o->hashes, 1));
    if (hd_geometry_slots(&wanted, ops) <= hd_slots_count_slots(table)) return HEDDLE_OK;
    return hd_slots_move(table, capacity, 0, stream);
}

heddle_status hd_slots_rehash(heddle_table *table, uint64_t capacity, void *stream)
{
    return hd_slots_move(table, capacity, hd_seed_draw(), stream);
}

const hd_view *hd_table_view(const heddle_table *table) { return &hd_slots(table)->storage.view; }
