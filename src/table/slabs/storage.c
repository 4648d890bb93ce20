/*
 * storage.c: the memory of a slab hash: base slabs, super blocks of slabs, which are added as they are
 * needed and never move, and the bits that say which of them are taken.
 */
#include <string.h>

#include "base/error.h"
#include "table/slabs/slabs.h"

#define SUPER_TABLE (HD_SLAB_SUPERS * sizeof(hd_slab_super))

static heddle_status take(heddle_table *table, hd_slabs_storage *storage, uint64_t bytes,
                          void **memory)
{
    HD_TRY(table->engine->allocate(table->device, bytes, memory));
    storage->bytes += bytes;
    return HEDDLE_OK;
}

static uint64_t taken_bytes(uint64_t blocks) { return blocks * HD_SLAB_BLOCK_WORDS * 4; }
static uint64_t super_bytes(const hd_slab_super *super)
{
    return (uint64_t)super->blocks * HD_SLAB_UNITS * HD_SLAB_BYTES;
}

/* The lists have their geometry; two bits of every key word are free for the state of a slot. */
static void shape(const heddle_table *table, const hd_slabs_plan *plan, uint64_t seed,
                  hd_view *view)
{
    view->region_bits = plan->region_bits;
    view->region_buckets = plan->region_buckets;
    view->hashes = 1;
    view->mark_bits = 1;
    view->key_mask = ~(UINT64_C(1) << (table->options.key_bits - 2));
    hd_mix_init(&view->mix, seed);
}

/* All 0 but the first slab of the pool, which is never given away: its address means none. */
static heddle_status clear_taken(heddle_table *table, const hd_slab_pool *pool, void *stream)
{
    HD_TRY(table->engine->fill(table->device, pool->taken, 0, taken_bytes(pool->blocks), stream));
    return table->engine->fill(table->device, pool->taken, 1, 1, stream);
}

heddle_status hd_slabs_start(heddle_table *table, hd_slabs_storage *storage, uint64_t capacity,
                             uint64_t seed, void *stream)
{
    hd_view *lists = &storage->view.buckets;
    hd_slabs_plan plan;
    heddle_status status;
    memset(storage, 0, sizeof *storage);
    status = hd_slabs_plan_for(table, capacity, &plan);
    if (status != HEDDLE_OK) return status;
    shape(table, &plan, seed, lists);
    storage->capacity = capacity;
    status = take(table, storage, hd_slabs_lists(storage) * HD_SLAB_BYTES, &lists->slots);
    if (status == HEDDLE_OK)
        status = take(table, storage, SUPER_TABLE + sizeof *storage->words,
                      (void **)&storage->view.pool.supers);
    if (status == HEDDLE_OK) {
        storage->words =
            (hd_slab_words *)(void *)((char *)(uintptr_t)storage->view.pool.supers + SUPER_TABLE);
        storage->view.pool.spent = &storage->words->spent;
        status =
            table->engine->fill(table->device, storage->words, 0, sizeof *storage->words, stream);
    }
    while (status == HEDDLE_OK && (uint64_t)storage->view.pool.blocks * HD_SLAB_UNITS <= plan.pool)
        status = hd_slabs_add(table, storage,
                              plan.pool + 1 - (uint64_t)storage->view.pool.blocks * HD_SLAB_UNITS,
                              stream);
    if (status == HEDDLE_OK) status = hd_slabs_empty(table, storage, stream);
    if (status != HEDDLE_OK) hd_slabs_free(table, storage);
    return status;
}

void hd_slabs_free(heddle_table *table, hd_slabs_storage *storage)
{
    const hd_slab_pool *pool = &storage->view.pool;
    void *const memory[] = {storage->view.buckets.slots, (void *)(uintptr_t)pool->supers,
                            pool->taken};
    for (uint32_t i = 0; i < pool->super_count; i++)
        table->engine->free(table->device, storage->supers[i].slabs);
    for (size_t i = 0; i < sizeof memory / sizeof memory[0]; i++)
        if (memory[i] != NULL) table->engine->free(table->device, memory[i]);
    memset(storage, 0, sizeof *storage);
}

heddle_status hd_slabs_empty(heddle_table *table, hd_slabs_storage *storage, void *stream)
{
    const hd_engine *engine = table->engine;
    const hd_slab_pool *pool = &storage->view.pool;
    HD_TRY(engine->fill(table->device, storage->view.buckets.slots, 0,
                        hd_slabs_lists(storage) * HD_SLAB_BYTES, stream));
    for (uint32_t i = 0; i < pool->super_count; i++)
        HD_TRY(engine->fill(table->device, storage->supers[i].slabs, 0,
                            super_bytes(&storage->supers[i]), stream));
    HD_TRY(clear_taken(table, pool, stream));
    return engine->fill(table->device, storage->words, 0, sizeof *storage->words, stream);
}

void hd_slabs_adopt(heddle_table *table, const hd_slabs_storage *fresh, uint64_t seed)
{
    hd_slabs_table *t = hd_slabs(table);
    hd_slabs_free(table, &t->storage);
    t->storage = *fresh;
    t->erased = t->asked = 0;
    t->dead = false;
    table->options.seed = seed;
    table->options.capacity = hd_slabs_slots(table);
}

/* ------------------------------------------------------------------------------------ more slabs */

/* What a super block more makes of a storage, until it is adopted. */
typedef struct addition {
    hd_slab_super super;
    uint32_t *taken;
} addition;

static heddle_status prepare(heddle_table *table, const hd_slabs_storage *storage, addition *a,
                             void *stream)
{
    const hd_engine *engine = table->engine;
    const hd_slab_pool *pool = &storage->view.pool;
    const uint64_t old = taken_bytes(pool->blocks),
                   all = taken_bytes(pool->blocks + a->super.blocks);
    HD_TRY(engine->fill(table->device, a->super.slabs, 0, super_bytes(&a->super), stream));
    HD_TRY(engine->fill(table->device, (char *)a->taken + old, 0, all - old, stream));
    if (old != 0) HD_TRY(engine->copy(table->device, a->taken, pool->taken, old, stream));
    HD_TRY(engine->copy(table->device, (hd_slab_super *)(uintptr_t)pool->supers + pool->super_count,
                        &a->super, sizeof a->super, stream));
    HD_TRY(engine->fill(table->device, pool->spent, 0, sizeof *pool->spent, stream));
    return engine->synchronize(table->device, stream);
}

static void adopt_super(heddle_table *table, hd_slabs_storage *storage, const addition *a)
{
    hd_slab_pool *pool = &storage->view.pool;
    if (pool->taken != NULL) table->engine->free(table->device, pool->taken);
    storage->bytes += super_bytes(&a->super) + taken_bytes(a->super.blocks);
    storage->supers[pool->super_count++] = a->super;
    pool->light = pool->super_count == 1 ? a->super.slabs : NULL;
    pool->blocks += a->super.blocks;
    pool->taken = a->taken;
}

static heddle_status add_blocks(heddle_table *table, hd_slabs_storage *storage, uint32_t blocks,
                                void *stream)
{
    const hd_engine *engine = table->engine;
    const hd_slab_pool *pool = &storage->view.pool;
    addition a = {{NULL, pool->blocks, blocks}, NULL};
    heddle_status status =
        engine->allocate(table->device, super_bytes(&a.super), (void **)&a.super.slabs);
    if (status == HEDDLE_OK)
        status =
            engine->allocate(table->device, taken_bytes(pool->blocks + blocks), (void **)&a.taken);
    if (status == HEDDLE_OK) status = prepare(table, storage, &a, stream);
    if (status == HEDDLE_OK) {
        adopt_super(table, storage, &a);
        return HEDDLE_OK;
    }
    if (a.super.slabs != NULL) engine->free(table->device, a.super.slabs);
    if (a.taken != NULL) engine->free(table->device, a.taken);
    return status;
}

heddle_status hd_slabs_add(heddle_table *table, hd_slabs_storage *storage, uint64_t slabs,
                           void *stream)
{
    const uint64_t wanted = (slabs + HD_SLAB_UNITS - 1) / HD_SLAB_UNITS;
    uint32_t blocks = wanted == 0 ? 1 : wanted > HD_SLAB_BLOCKS ? HD_SLAB_BLOCKS : (uint32_t)wanted;
    if (storage->view.pool.super_count == HD_SLAB_SUPERS)
        return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no pool has more than %d super blocks",
                       HD_SLAB_SUPERS);
    for (;;) {
        const heddle_status status = add_blocks(table, storage, blocks, stream);
        if (status != HEDDLE_ERROR_NO_MEMORY || blocks == 1) return status;
        blocks /= 2;
    }
}
