/*
 * slabs.h: slab hashes (engine/slabs.h, scheme/slab.h): lists of slabs from a pool, which grows by
 * super blocks, and now and then more lists.
 *
 *   kind.c     options, and the table of functions
 *   storage.c  how many lists and slabs a capacity needs; their memory
 *   insert.c   build and insert: the dispatcher, and its ways:
 *     insert_large.c   by regions, into a table that has never held anything, where the engine can
 *     mixed.c          mixtures and insertions, slice by slice, making room where keys found no slab
 *   upkeep.c   compaction, more slabs, more lists
 *   query.c    find, erase, count, retrieve
 *   whole.c    clear, reserve, export, statistics, validation
 *
 * An insertion: hd_slabs_insert tries hd_slabs_insert_large; all else is hd_slabs_mixed: tidy up,
 * then for each slice one batch of the engine; make room for the keys that failed, and give them
 * another try.
 */
#ifndef HD_SLABS_TABLE_H
#define HD_SLABS_TABLE_H

#include "host/scratch.h"
#include "table/table.h"

typedef struct hd_slabs_storage {
    hd_slab_view view;
    hd_slab_super supers[HD_SLAB_SUPERS]; /* as in device memory */
    hd_slab_words *words;                 /* device memory, behind the table of super blocks */
    uint64_t capacity;                    /* keys that its lists are for */
    uint64_t bytes;                       /* of all of this */
} hd_slabs_storage;

typedef struct hd_slabs_table {
    heddle_table base;
    const hd_slab_ops *ops;
    hd_slabs_storage storage;
    uint8_t *outcomes; /* a slice of them, for callers who pass no array of their own */
    uint64_t erased;   /* keys that may have been erased and not been compacted away */
    uint64_t asked;    /* so many of them when insertions that reuse slots last asked */
    bool dead;         /* there may be DEAD slots */
    char name[32];
} hd_slabs_table;

static inline hd_slabs_table *hd_slabs(const heddle_table *table)
{
    return (hd_slabs_table *)(uintptr_t)table;
}
/* So many keys may have been erased. */
static inline void hd_slabs_note_erased(heddle_table *table, uint64_t n)
{
    hd_slabs(table)->erased += n;
    hd_slabs(table)->dead |= n != 0;
}
static inline bool hd_slabs_fixed(const heddle_table *table)
{
    return (table->options.flags & HEDDLE_FLAG_FIXED) != 0;
}
static inline bool hd_slabs_multi(const heddle_table *table)
{
    return table->options.container == HEDDLE_CONTAINER_MULTIMAP;
}
/* A counter adds, whatever the caller says. */
static inline uint32_t hd_slabs_policy(const heddle_table *table,
                                       const heddle_insert_options *options)
{
    return table->options.container == HEDDLE_CONTAINER_COUNTER ? HEDDLE_POLICY_ADD
                                                                : options->policy;
}
static inline uint64_t hd_slabs_lists(const hd_slabs_storage *storage)
{
    return (uint64_t)storage->view.buckets.region_buckets << storage->view.buckets.region_bits;
}
/* All slabs, of the base and of the pool, by number. */
static inline uint64_t hd_slabs_slabs(const hd_slabs_storage *storage)
{
    return hd_slabs_lists(storage) + (uint64_t)storage->view.pool.blocks * HD_SLAB_UNITS;
}

/* The slots of all slabs, except the one that is never given away. */
static inline uint64_t hd_slabs_slots(const heddle_table *table)
{
    return (hd_slabs_slabs(&hd_slabs(table)->storage) - 1) * hd_slabs(table)->ops->slots;
}

/* ------------------------------------------------------------------------------------ geometry */

/* Lists for so many keys, and the slabs of the pool that they will need. */
typedef struct hd_slabs_plan {
    uint32_t region_bits, region_buckets;
    uint64_t pool;
} hd_slabs_plan;

heddle_status hd_slabs_plan_for(const heddle_table *table, uint64_t capacity, hd_slabs_plan *plan);

/* ------------------------------------------------------------------------------------- storage */

/* An empty table for `capacity` keys, or nothing. */
heddle_status hd_slabs_start(heddle_table *table, hd_slabs_storage *storage, uint64_t capacity,
                             uint64_t seed, void *stream);
void hd_slabs_free(heddle_table *table, hd_slabs_storage *storage);
/* Nothing is in any list and the pool is whole; on the stream. */
heddle_status hd_slabs_empty(heddle_table *table, hd_slabs_storage *storage, void *stream);
/* Makes `fresh` the table's own and frees what it had. */
void hd_slabs_adopt(heddle_table *table, const hd_slabs_storage *fresh, uint64_t seed);
/* So many slabs more, and at least one; some less when there is no memory for them. Waits. */
heddle_status hd_slabs_add(heddle_table *table, hd_slabs_storage *storage, uint64_t slabs,
                           void *stream);

/* ------------------------------------------------------------------------------------- upkeep */

/* What has become of slots, after a wait. */
typedef struct hd_slabs_numbers {
    uint64_t live, dead;
} hd_slabs_numbers;

heddle_status hd_slabs_count_slots(heddle_table *table, hd_slabs_numbers *numbers, void *stream);
/* Compacts all lists if there is need; on the stream. */
heddle_status hd_slabs_compact(heddle_table *table, hd_slab_need need, void *stream);
/*
 * Before an insertion: the same, when so many keys may have been erased that it could be worth it.
 * `reuses`: it takes the slots of erased keys itself.
 */
heddle_status hd_slabs_tidy(heddle_table *table, bool reuses, void *stream);
/* Moves all pairs to lists for `capacity` keys. The table is unchanged on failure. Waits. */
heddle_status hd_slabs_move(heddle_table *table, uint64_t capacity, uint64_t seed, void *stream);
/*
 * Before `coming` keys, of which some may be new, to a table that grows: makes more lists when they
 * are too long, or would surely become so.
 */
heddle_status hd_slabs_more_lists(heddle_table *table, uint64_t live, uint64_t coming,
                                  void *stream);
/*
 * Makes room for `failed` keys that found no slab: adds slabs, or, when lists have become long,
 * makes more of them. A fixed table, or one without memory for that, can only take back dead slots;
 * *made says whether there is more room now.
 */
heddle_status hd_slabs_make_room(heddle_table *table, uint64_t failed, bool *made, void *stream);

/*
 * ------------------------------------------------------------------- what hd_slabs_kind consists
 * of
 */

heddle_status hd_slabs_insert(heddle_table *table, hd_request *r);
/* Inserts by regions if the table has never held anything and the batch suits that; *done says whether. */
heddle_status hd_slabs_insert_large(heddle_table *table, hd_request *r, bool *done);
heddle_status hd_slabs_mixed(heddle_table *table, hd_request *r);
heddle_status hd_slabs_build(heddle_table *table, hd_request *r);
heddle_status hd_slabs_build_workspace(heddle_table *table, uint64_t n, uint64_t *bytes);
heddle_status hd_slabs_find(heddle_table *table, hd_request *r);
heddle_status hd_slabs_erase(heddle_table *table, hd_request *r);
heddle_status hd_slabs_count(heddle_table *table, hd_request *r);
heddle_status hd_slabs_retrieve(heddle_table *table, hd_request *r);
heddle_status hd_slabs_collect(heddle_table *table, void *keys, void *values, void *stream);
heddle_status hd_slabs_for_pairs(heddle_table *table, hd_pairs_take take, void *context,
                                 void *stream);
heddle_status hd_slabs_clear(heddle_table *table, void *stream);
heddle_status hd_slabs_reserve(heddle_table *table, uint64_t capacity, void *stream);
heddle_status hd_slabs_rehash(heddle_table *table, uint64_t capacity, void *stream);
heddle_status hd_slabs_get_stats(heddle_table *table, heddle_table_stats *stats, void *stream);
heddle_status hd_slabs_validate(heddle_table *table, void *stream);
heddle_status hd_slabs_flush(heddle_table *table, void *stream);

#endif
