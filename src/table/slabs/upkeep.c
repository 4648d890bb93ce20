/*
 * upkeep.c: what keeps a slab hash in shape while keys come and go. Lists are compacted when many
 * of their slots are dead, the pool gets slabs when they run out, and when lists have become long
 * there are more of them.
 *
 * Compaction goes over all lists once. It is done when an eighth of what the table is for is dead,
 * so every erasure pays for eight slots at most, in order. Insertions that take dead slots
 * themselves can do without it for longer, and in lists of one slab for ever: before them only
 * lists of several are compacted, when half of that is dead, which lookups feel, or when the pool
 * is crowded, since lists that have become shorter keep their slabs. The host only knows how many
 * keys may have been erased: when these are enough, the device is asked, which compacts or not;
 * nobody waits for that.
 */
#include <string.h>

#include "base/error.h"
#include "table/slabs/slabs.h"

#define DEAD_SHARE 8   /* of the capacity: one in so many */
#define REUSED_TIMES 4 /* as many dead slots where they are reused and the pool is not crowded */
#define LONG_LISTS 2   /* times as many keys as the load asks for */
#define POOL_GROWTH 2  /* a super block has one slab for so many there are */
#define MOVE_PAIRS_CPU (UINT64_C(1) << 18)
#define MOVE_PAIRS_GPU (UINT64_C(1) << 23)
#define MOVE_TRIES 24

heddle_status hd_slabs_count_slots(heddle_table *table, hd_slabs_numbers *numbers, void *stream)
{
    const hd_slabs_storage *storage = &hd_slabs(table)->storage;
    hd_slab_words words;
    uint64_t born_died[2];
    HD_TRY(table->engine->copy(table->device, born_died, &table->control->born, sizeof born_died,
                               stream));
    HD_TRY(hd_read_back(table, &words, storage->words, sizeof words, stream));
    numbers->live = born_died[0] - born_died[1];
    numbers->dead = born_died[1] - words.revived;
    return HEDDLE_OK;
}

heddle_status hd_slabs_compact(heddle_table *table, hd_slab_need need, void *stream)
{
    const hd_slabs_table *t = hd_slabs(table);
    return t->ops->compact(table->device, &t->storage.view, t->storage.words, &table->control->died,
                           &need, stream);
}

/* Nothing that is known of is dead from now on, or is worth a compaction. */
static void forget_erased(heddle_table *table)
{
    hd_slabs(table)->erased = hd_slabs(table)->asked = 0;
}

static const hd_slab_need anything = {1, 1, false};

/*
 * An insertion that reuses slots may find no need where another would: what was erased is not
 * forgotten then.
 */
heddle_status hd_slabs_tidy(heddle_table *table, bool reuses, void *stream)
{
    hd_slabs_table *t = hd_slabs(table);
    const uint64_t capacity = t->storage.capacity;
    const uint64_t least = capacity >= DEAD_SHARE ? capacity / DEAD_SHARE : 1;
    const hd_slab_need need = {reuses ? least * REUSED_TIMES : least, least, reuses};
    if (t->erased - (reuses ? t->asked : 0) < least) return HEDDLE_OK;
    if (reuses) t->asked = t->erased;
    else forget_erased(table);
    return hd_slabs_compact(table, need, stream);
}

heddle_status hd_slabs_flush(heddle_table *table, void *stream)
{
    const heddle_status status = hd_slabs_compact(table, anything, stream);
    forget_erased(table);
    if (status == HEDDLE_OK && !table->engine->is_recording(table->device, stream))
        hd_slabs(table)->dead = false;
    return status;
}

/*
 * ------------------------------------------------------------------------------------ more lists
 */

/* Pairs on their way from one storage to another. */
typedef struct move {
    heddle_table *table;
    hd_slabs_storage *to;
    hd_scratch *scratch;
    hd_call *call;
    void *keys, *values;
    uint8_t *outcomes;
    uint64_t *sums;  /* device memory: a cursor, and what is born and dies, which nobody asks */
    uint64_t piece;  /* slabs at a time */
    uint64_t failed; /* known so far */
    void *stream;
} move;

static heddle_status move_begin(move *m, uint64_t slabs)
{
    heddle_table *table = m->table;
    const uint32_t slots = hd_slabs(table)->ops->slots;
    const uint64_t most = (table->engine->host_memory ? MOVE_PAIRS_CPU : MOVE_PAIRS_GPU) / slots;
    m->piece = slabs < most ? slabs : most;
    const uint64_t pairs = m->piece * slots;
    HD_TRY(hd_scratch_take(m->scratch, pairs * hd_key_width(table), &m->keys));
    if (hd_value_width(table) != 0)
        HD_TRY(hd_scratch_take(m->scratch, pairs * hd_value_width(table), &m->values));
    HD_TRY(hd_scratch_take(m->scratch, pairs, (void **)&m->outcomes));
    return hd_scratch_take(m->scratch, 3 * sizeof *m->sums, (void **)&m->sums);
}

/*
 * How many slabs to add when `failed` keys found none: enough for them if they go to few lists,
 * more each time.
 */
static uint64_t slabs_more(const heddle_table *table, const hd_slabs_storage *storage,
                           uint64_t failed)
{
    const uint64_t by_pool = (uint64_t)storage->view.pool.blocks * HD_SLAB_UNITS / POOL_GROWTH;
    const uint64_t by_keys = failed / hd_slabs(table)->ops->slots + 1;
    return by_keys > by_pool ? by_keys : by_pool;
}

/* Inserts n pairs; slabs are added until all are in. */
static heddle_status put(move *m, uint64_t n)
{
    heddle_table *table = m->table;
    hd_slab_batch batch;
    memset(&batch, 0, sizeof batch);
    batch.operation = HD_SLAB_INSERT;
    batch.multi = true; /* they are different, or may be equal: nothing is to be looked for */
    batch.keys = m->keys;
    batch.values = m->values;
    batch.outcomes = m->outcomes;
    batch.n = n;
    batch.counts = m->call->counts;
    batch.born = m->sums + 1;
    batch.died = m->sums + 2;
    for (int i = 0; i < MOVE_TRIES; i++) {
        hd_counts counts;
        HD_TRY(hd_slabs(table)->ops->batch(table->device, &m->to->view, &batch, m->stream));
        HD_TRY(hd_call_read(m->call, &counts));
        if (counts.at[HD_FAILED] == m->failed) return HEDDLE_OK;
        const uint64_t left = counts.at[HD_FAILED] - m->failed;
        m->failed = counts.at[HD_FAILED];
        HD_TRY(hd_slabs_add(table, m->to, slabs_more(table, m->to, left), m->stream));
        batch.retry = true;
    }
    return hd_fail(HEDDLE_ERROR_NO_MEMORY, "slabs run out however many there are");
}

static heddle_status move_all(move *m)
{
    heddle_table *table = m->table;
    const hd_slabs_storage *from = &hd_slabs(table)->storage;
    const uint64_t slabs = hd_slabs_slabs(from);
    for (uint64_t first = 0; first < slabs; first += m->piece) {
        const hd_export piece = {first, slabs - first < m->piece ? slabs - first : m->piece,
                                 m->keys, m->values, m->sums};
        uint64_t n = 0;
        HD_TRY(table->engine->fill(table->device, m->sums, 0, sizeof *m->sums, m->stream));
        HD_TRY(hd_slabs(table)->ops->collect(table->device, &from->view, &piece, m->stream));
        HD_TRY(hd_read_back(table, &n, m->sums, sizeof n, m->stream));
        if (n != 0) HD_TRY(put(m, n));
    }
    return HEDDLE_OK;
}

/* All `keys` pairs of the table, which it counts, into `to`. */
static heddle_status move_into(heddle_table *table, hd_slabs_storage *to, uint64_t keys,
                               void *stream)
{
    HD_SCRATCH(scratch, table->device);
    HD_CALL(call);
    move m = {.table = table, .to = to, .scratch = &scratch, .call = &call, .stream = stream};
    HD_TRY(hd_call_begin(table, true, stream, &call));
    HD_TRY(move_begin(&m, hd_slabs_slabs(&hd_slabs(table)->storage)));
    if (keys != 0) HD_TRY(move_all(&m));
    HD_TRY(hd_table_set_count(table, keys, stream));
    return table->engine->synchronize(table->device, stream);
}

heddle_status hd_slabs_move(heddle_table *table, uint64_t capacity, uint64_t seed, void *stream)
{
    const uint64_t use = seed != 0 ? seed : table->options.seed;
    hd_slabs_storage fresh;
    uint64_t keys = 0;
    HD_TRY(hd_table_count(table, &keys, stream));
    HD_TRY(hd_slabs_start(table, &fresh, capacity, use, stream));
    const heddle_status status = move_into(table, &fresh, keys, stream);
    if (status == HEDDLE_OK) hd_slabs_adopt(table, &fresh, use);
    else hd_slabs_free(table, &fresh);
    return status;
}

/*
 * -------------------------------------------------------------------------------------- more room
 */

heddle_status hd_slabs_more_lists(heddle_table *table, uint64_t live, uint64_t coming, void *stream)
{
    const uint64_t capacity = hd_slabs(table)->storage.capacity;
    uint64_t wanted = 0;
    heddle_status status = HEDDLE_OK;
    if (live / LONG_LISTS > capacity) wanted = live;
    if ((live + coming) / LONG_LISTS / 2 > capacity) wanted = (live + coming) / LONG_LISTS;
    if (wanted > capacity) status = hd_slabs_move(table, wanted, 0, stream);
    if (wanted > capacity && status == HEDDLE_OK) table->growths++;
    return status == HEDDLE_ERROR_NO_MEMORY ? HEDDLE_OK : status; /* long lists are right too */
}

/* Twice as many lists, or slabs when there is no memory for that. */
static heddle_status grow(heddle_table *table, const hd_slabs_numbers *now, uint64_t failed,
                          void *stream)
{
    hd_slabs_storage *storage = &hd_slabs(table)->storage;
    const uint64_t keys = now->live + failed;
    heddle_status status = HEDDLE_ERROR_NO_MEMORY;
    if (keys / LONG_LISTS > storage->capacity) status = hd_slabs_move(table, keys, 0, stream);
    if (status == HEDDLE_ERROR_NO_MEMORY)
        status = hd_slabs_add(table, storage, slabs_more(table, storage, failed), stream);
    if (status == HEDDLE_OK) {
        table->growths++;
        table->options.capacity = hd_slabs_slots(table);
    }
    return status;
}

heddle_status hd_slabs_make_room(heddle_table *table, uint64_t failed, bool *made, void *stream)
{
    hd_slabs_numbers now;
    heddle_status status = HEDDLE_OK;
    *made = false;
    HD_TRY(hd_slabs_count_slots(table, &now, stream));
    *made = now.dead != 0 || !hd_slabs_fixed(table);
    if (!*made) return HEDDLE_OK;
    /* Dead slots are few, except those of this batch: it would need more slabs the next time. */
    if (!hd_slabs_fixed(table)) status = grow(table, &now, failed, stream);
    if (hd_slabs_fixed(table) || (status == HEDDLE_ERROR_NO_MEMORY && now.dead != 0))
        status = hd_slabs_flush(table, stream);
    return status;
}
