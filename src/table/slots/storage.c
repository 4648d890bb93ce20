/*
 * storage.c: the memory of a table, and moving a table from one storage to another.
 *
 * A table grows because keys found no room. Mostly that is because it is full: it doubles then, with the same seed. Where
 * it holds little, or has doubled in vain, the keys collide: it gets another seed, which nobody can know beforehand, and
 * no more memory. In a multimap long rows of one key may be what the others cannot get past: then a search may go past
 * more windows first (`hashes`).
 */
#include <string.h>

#include "base/error.h"
#include "table/slots/slots.h"

#define SLICE_MIN (UINT64_C(1) << 16)
#define MOVE_TRIES 6
/* Share of the keys that a table is made for, below which room is not what it lacks. */
#define ROOMY 0.5

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

/* What storage is made for. */
typedef struct plan {
    uint64_t capacity; /* keys */
    uint64_t seed;
    uint32_t hashes;
    uint64_t outcomes; /* of the table's own that are kept */
} plan;

/* Allocates and clears storage. */
static heddle_status storage_make(heddle_table *table, hd_storage *storage, const plan *p,
                                  void *stream)
{
    const hd_table_ops *ops = hd_slots(table)->ops;
    const heddle_table_options *o = &table->options;
    memset(storage, 0, sizeof *storage);
    HD_TRY(hd_geometry_init(&storage->view, ops, p->capacity, o->load, p->hashes, p->seed));
    storage->slice = choose_slice(table->engine, hd_geometry_slots(&storage->view, ops));
    if (storage->slice < p->outcomes) storage->slice = hd_slots(table)->storage.slice;
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
static heddle_status keep_outcomes(heddle_table *table, const hd_storage *to, uint64_t count,
                                   void *stream)
{
    const hd_storage *from = &hd_slots(table)->storage;
    return count == 0
               ? HEDDLE_OK
               : table->engine->copy(table->device, to->outcomes, from->outcomes, count, stream);
}

static void adopt(heddle_table *table, const hd_storage *storage, const plan *p)
{
    hd_slots_table *t = hd_slots(table);
    hd_slots_free(table, &t->storage);
    t->storage = *storage;
    t->erased = 0;
    t->gaps = t->viewed = t->empty = false;
    table->slice = storage->slice;
    table->options.seed = p->seed;
    table->options.hashes = p->hashes;
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

/* All pairs in such storage, which then is the table's; *moved is false if they do not fit. */
static heddle_status try_move(heddle_table *table, const plan *p, bool *moved, void *stream)
{
    hd_storage fresh;
    uint64_t failed = 0;
    HD_TRY(storage_make(table, &fresh, p, stream));
    heddle_status status = rehome_all(table, &fresh, &failed, stream);
    if (status == HEDDLE_OK) status = keep_outcomes(table, &fresh, p->outcomes, stream);
    *moved = status == HEDDLE_OK && failed == 0;
    if (*moved) adopt(table, &fresh, p);
    else hd_slots_free(table, &fresh);
    return status;
}

/*
 * What to try where keys found no room: another seed, and a little more room. A key of a multimap with very many pairs
 * needs much more, since it may use a part of the table alone.
 */
static void relax(const heddle_table *table, plan *p)
{
    p->seed = hd_seed_draw();
    if (!hd_is_multimap(table)) p->capacity += p->capacity / 8 + 64;
    else if (p->hashes < HD_WINDOWS_MAX) p->hashes = HD_WINDOWS_MAX;
    else p->capacity = 2 * p->capacity + 64;
}

static heddle_status move_as(heddle_table *table, plan p, void *stream)
{
    for (int i = 0; i < MOVE_TRIES; i++) {
        bool moved = false;
        HD_TRY(try_move(table, &p, &moved, stream));
        if (moved) return HEDDLE_OK;
        relax(table, &p);
    }
    return hd_fail(HEDDLE_ERROR_FULL, "no seed makes room for the keys in storage for %llu",
                   (unsigned long long)p.capacity);
}

heddle_status hd_slots_move(heddle_table *table, uint64_t capacity, uint64_t seed, void *stream)
{
    const heddle_table_options *o = &table->options;
    return move_as(table, (plan){capacity, seed != 0 ? seed : o->seed, o->hashes, 0}, stream);
}

heddle_status hd_slots_renew(heddle_table *table, uint64_t capacity, uint64_t seed, void *stream)
{
    const plan p = {capacity, seed, table->options.hashes, 0};
    hd_storage fresh;
    HD_TRY(storage_make(table, &fresh, &p, stream));
    adopt(table, &fresh, &p);
    hd_slots(table)->empty = true;
    return HEDDLE_OK;
}

heddle_status hd_slots_grow(heddle_table *table, uint64_t more_keys, bool in_vain,
                            uint64_t outcomes, void *stream)
{
    const heddle_table_options *o = &table->options;
    const double made_for = o->load * (double)hd_slots_count_slots(table);
    plan p = {(uint64_t)made_for, o->seed, o->hashes, outcomes};
    uint64_t keys;
    HD_TRY(hd_table_count(table, &keys, stream));
    keys += more_keys;
    const bool roomy = (double)keys < ROOMY * made_for;
    if (in_vain || (roomy && hd_is_multimap(table))) relax(table, &p);
    /* No more room, as often as somebody who reads the seed brings it about. */
    else if (roomy) p.seed = hd_seed_draw();
    else p.capacity *= 2;
    if (p.capacity < keys) p.capacity = keys;
    HD_TRY(move_as(table, p, stream));
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
