/*
 * slots.h: tables of slots (model/view.h): cuckoo, open and iceberg.
 *
 *   kind.c           options, and the table of functions
 *   geometry.h       regions and buckets for a capacity
 *   storage.c        memory, and moving from one storage to another
 *   insert.c         which way a batch goes: large or singly
 *   insert_singly.c  key by key, growing where that is allowed
 *   insert_large.c   by regions: into an empty table, or into one that holds keys
 *   insert_queued.c  by regions in a call that does not wait
 *   regions.h        sorting pairs by region and filling the regions; fold.c for crowded ones
 *   query.c          find, erase, count, retrieve
 *   locate.c         handles of pairs
 *   whole.c          clear, marks, export, statistics, validation
 *
 * An insertion: hd_slots_insert asks whether the batch suits regions. If so hd_slots_insert_large
 * counts the keys that are there and fills (hd_regions_build) or adds (hd_regions_append). All
 * else, and what finds no room in its region, goes through hd_slots_insert_singly: place and
 * settle, slice by slice.
 */
#ifndef HD_SLOTS_H
#define HD_SLOTS_H

#include "table/table.h"

/* What a geometry needs in device memory. */
typedef struct hd_storage {
    hd_view view;
    uint32_t *heads;   /* a list for every region; all HD_NO_KEY between calls */
    uint32_t *next;    /* slice entries */
    uint8_t *outcomes; /* slice entries, for callers who pass no array of their own */
    uint64_t slice;    /* keys of a batch worked on at a time */
    uint64_t bytes;    /* of all of this */
} hd_storage;

typedef struct hd_slots_table {
    heddle_table base;
    const hd_table_ops *ops;
    hd_storage storage;
    uint64_t erased; /* keys that were to be erased since the marks were as the keys need them */
    bool gaps;       /* keys may lie behind buckets with room, since some were erased */
    bool viewed;     /* kernels outside, or a recorded erasure, may change the table at any time */
    bool empty;      /* no call has inserted anything since the slots were cleared */
    bool replayed;   /* a recorded insertion may run at any time */
} hd_slots_table;

static inline hd_slots_table *hd_slots(const heddle_table *table)
{
    return (hd_slots_table *)(uintptr_t)table;
}

static inline bool hd_is_multimap(const heddle_table *table)
{
    return table->options.container == HEDDLE_CONTAINER_MULTIMAP;
}

/* The slots that the table has. */
static inline uint64_t hd_slots_count_slots(const heddle_table *table)
{
    return hd_geometry_slots(&hd_slots(table)->storage.view, hd_slots(table)->ops);
}

/* ------------------------------------------------------------------------------------- storage */

/* Gives an empty table storage for `capacity` keys without moving anything. */
heddle_status hd_slots_renew(heddle_table *table, uint64_t capacity, uint64_t seed, void *stream);
/* Moves all pairs to storage for `capacity` keys; `seed` 0 keeps the seed. Unchanged on failure. */
heddle_status hd_slots_move(heddle_table *table, uint64_t capacity, uint64_t seed, void *stream);
/*
 * Changes the storage because keys did not fit: makes it larger, or gives it another seed where that is what it lacks.
 * `in_vain`: it was made larger just now, and that did not help. The first `outcomes` of the table's own are kept.
 */
heddle_status hd_slots_grow(heddle_table *table, uint64_t more_keys, bool in_vain,
                            uint64_t outcomes, void *stream);
void hd_slots_free(heddle_table *table, hd_storage *storage);
/* The geometry that a build of n keys will fill: the table's own, or that of larger storage. */
heddle_status hd_slots_build_view(const heddle_table *table, uint64_t n, hd_view *view);
/* For tests: where the slots are. */
const hd_view *hd_table_view(const heddle_table *table);

/* -------------------------------------------------------------------------------------- insert */

/* Key by key, growing where that is allowed. */
heddle_status hd_slots_insert_singly(heddle_table *table, hd_request *r);
/*
 * A batch that suits regions (hd_regions_suit), in a call that waits. `fresh`: what the table holds
 * goes. *done is false where regions are not worth it or there is no memory for them: the table is
 * then as it was, or with `fresh` is to be cleared, and the batch to be inserted singly.
 */
heddle_status hd_slots_insert_large(heddle_table *table, hd_request *r, bool fresh, bool *done);
/* The same in a call that does not wait, into a table of fixed size. */
heddle_status hd_slots_insert_queued(heddle_table *table, hd_request *r, bool *done);
/* HEDDLE_ERROR_FULL, and why. */
heddle_status hd_slots_fail_full(const heddle_table *table, uint64_t failed);
/* Before an insertion: renews the marks, on the stream, when enough keys were erased for that. */
heddle_status hd_slots_tidy(heddle_table *table, void *stream);

/* --------------------------------------------------------------- what hd_slots_kind consists of */

heddle_status hd_slots_insert(heddle_table *table, hd_request *r);
heddle_status hd_slots_build(heddle_table *table, hd_request *r);
heddle_status hd_slots_build_workspace(heddle_table *table, uint64_t n, uint64_t *bytes);
heddle_status hd_slots_find(heddle_table *table, hd_request *r);
heddle_status hd_slots_erase(heddle_table *table, hd_request *r);
heddle_status hd_slots_count(heddle_table *table, hd_request *r);
heddle_status hd_slots_retrieve(heddle_table *table, hd_request *r);
heddle_status hd_slots_collect(heddle_table *table, void *keys, void *values, void *stream);
heddle_status hd_slots_for_pairs(heddle_table *table, hd_pairs_take take, void *context,
                                 void *stream);
heddle_status hd_slots_clear(heddle_table *table, void *stream);
heddle_status hd_slots_reserve(heddle_table *table, uint64_t capacity, void *stream);
heddle_status hd_slots_rehash(heddle_table *table, uint64_t capacity, void *stream);
heddle_status hd_slots_get_stats(heddle_table *table, heddle_table_stats *stats, void *stream);
heddle_status hd_slots_validate(heddle_table *table, void *stream);
heddle_status hd_slots_flush(heddle_table *table, void *stream);

#endif
