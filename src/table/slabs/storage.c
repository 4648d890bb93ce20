/*
 * storage.c: how many lists a slab hash needs for its keys at its load and how many slabs these
 * will chain; and its memory: base slabs, super blocks of slabs, which are added as they are needed
 * and never move, and the bits that say which of them are taken.
 */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "table/slabs/slabs.h"

/* ---------------------------------------------------------------------------------------- plan */

/*
 * The keys of a list are as many as chance has it: Poisson, with k on average. Every list has one
 * slab, and one more when it has more keys than fit into one, and so on. The load is the filled
 * share of the slots of these slabs.
 */
#define REGION_BYTES (UINT64_C(192) << 10) /* of base slabs; as regions of other tables have */
#define TABLE_LOAD_MAX 0.99
#define KEYS_MORE 1.25 /* erased keys keep their slots for a while (upkeep.c) */
#define POOL_MIN 64

/* Slabs of a list of `keys` on average, each with so many slots. */
static double slabs_of_list(double keys, uint32_t slots)
{
    const uint32_t most = (uint32_t)(keys + 12 * sqrt(keys) + 40);
    double below = 0, sum = 1; /* the chance of fewer keys than this; slabs */
    for (uint32_t i = 0; i <= most; i++) {
        below += exp(i * log(keys) - keys - lgamma(i + 1.0));
        if (i % slots == 0 && i != 0) sum += below < 1 ? 1 - below : 0;
    }
    return sum;
}

/* Keys of a list that fill its slabs to `load`: more fill them better. */
static double keys_of_list(double load, uint32_t slots)
{
    double low = 1e-3, high = slots / (1 - TABLE_LOAD_MAX);
    for (int i = 0; i < 40; i++) {
        const double keys = (low + high) / 2;
        if (keys / (slots * slabs_of_list(keys, slots)) < load) low = keys;
        else high = keys;
    }
    return high;
}

/* What `keys` need of the pool; in a multimap the pairs of one key may all be in one list. */
static uint64_t pool_for(const heddle_table *table, double keys, double lists)
{
    const uint32_t slots = hd_slabs(table)->ops->slots;
    const double chained = keys == 0 ? 0 : lists * (slabs_of_list(keys / lists, slots) - 1);
    const double by_chance = chained + 6 * sqrt(chained), at_most = keys / slots;
    return (uint64_t)(hd_slabs_multi(table) ? at_most : by_chance) + POOL_MIN;
}

heddle_status hd_slabs_plan_for(const heddle_table *table, uint64_t capacity, hd_slabs_plan *plan)
{
    const double each = keys_of_list(table->options.load, hd_slabs(table)->ops->slots);
    const double lists = ceil((double)capacity / each);
    if (capacity > HD_SLOTS_MAX)
        return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no table holds %llu keys",
                       (unsigned long long)capacity);
    plan->region_bits = 2;
    while (lists * HD_SLAB_BYTES > (double)(REGION_BYTES << plan->region_bits)) plan->region_bits++;
    if (plan->region_bits >= table->options.key_bits || plan->region_bits > 30)
        return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no table holds %llu keys",
                       (unsigned long long)capacity);
    plan->region_buckets = (uint32_t)ceil(lists / (double)(UINT64_C(1) << plan->region_bits));
    if (plan->region_buckets == 0) plan->region_buckets = 1;
    plan->pool =
        pool_for(table, KEYS_MORE * (double)capacity,
                 (double)plan->region_buckets * (double)(UINT64_C(1) << plan->region_bits));
    return HEDDLE_OK;
}

/* -------------------------------------------------------------------------------------- memory */

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

/* All 0 except the first slab of the pool, which is never given away: its address means none. */
static heddle_status clear_taken(heddle_table *table, const hd_slab_pool *pool, void *stream)
{
    HD_TRY(table->engine->fill(table->device, pool->taken, 0, taken_bytes(pool->blocks), stream));
    return table->engine->fill(table->device, pool->taken, 1, 1, stream);
}

static heddle_status fill_storage(heddle_table *table, hd_slabs_storage *storage, uint64_t pool,
                                  void *stream)
{
    hd_view *lists = &storage->view.buckets;
    hd_slab_pool *own = &storage->view.pool;
    HD_TRY(take(table, storage, hd_slabs_lists(storage) * HD_SLAB_BYTES, &lists->slots));
    HD_TRY(take(table, storage, SUPER_TABLE + sizeof *storage->words, (void **)&own->supers));
    storage->words = (hd_slab_words *)(void *)((char *)(uintptr_t)own->supers + SUPER_TABLE);
    own->spent = &storage->words->spent;
    HD_TRY(table->engine->fill(table->device, storage->words, 0, sizeof *storage->words, stream));
    while ((uint64_t)own->blocks * HD_SLAB_UNITS <= pool)
        HD_TRY(
            hd_slabs_add(table, storage, pool + 1 - (uint64_t)own->blocks * HD_SLAB_UNITS, stream));
    return hd_slabs_empty(table, storage, stream);
}

heddle_status hd_slabs_start(heddle_table *table, hd_slabs_storage *storage, uint64_t capacity,
                             uint64_t seed, void *stream)
{
    hd_slabs_plan plan;
    memset(storage, 0, sizeof *storage);
    HD_TRY(hd_slabs_plan_for(table, capacity, &plan));
    shape(table, &plan, seed, &storage->view.buckets);
    storage->capacity = capacity;
    const heddle_status status = fill_storage(table, storage, plan.pool, stream);
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

/*
 * ------------------------------------------------------------------------------------ more slabs
 */

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
