/* slots.h: tables of slots (model/view.h): their storage, and moving from one to another. */
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
    bool viewed;     /* kernels outside, or a recorded erasure, may erase keys at any time */
} hd_slots_table;

static inline hd_slots_table *hd_slots(const heddle_table *table)
{
    return (hd_slots_table *)(uintptr_t)table;
}

static inline bool hd_is_multimap(const heddle_table *table)
{
    return table->options.container == HEDDLE_CONTAINER_MULTIMAP;
}

/* Allocates and clears storage for a geometry. */
heddle_status hd_storage_init(heddle_table *table, hd_storage *storage, uint64_t capacity,
                              uint64_t seed, void *stream);
void hd_storage_free(heddle_table *table, hd_storage *storage);

/* Moves all pairs to storage for `capacity` keys; `seed` 0 keeps the seed. The table is unchanged on failure. */
heddle_status hd_table_move(heddle_table *table, uint64_t capacity, uint64_t seed, void *stream);
/* Makes the table larger because keys did not fit. */
heddle_status hd_table_grow(heddle_table *table, uint64_t more_keys, void *stream);
/* Gives an empty table storage for `capacity` keys without moving anything. */
heddle_status hd_table_renew(heddle_table *table, uint64_t capacity, uint64_t seed, void *stream);
/* Before an insertion: renews the marks, on the stream, when enough keys were erased for that to pay. */
heddle_status hd_marks_renew(heddle_table *table, void *stream);
/* The geometry that a build of n keys will fill: the table's own, or that of larger storage it will get. */
heddle_status hd_build_view(const heddle_table *table, uint64_t n, hd_view *view);

/* For tests: where the slots are. */
const hd_view *hd_table_view(const heddle_table *table);

/* What hd_slots_kind consists of, by file. */
heddle_status hd_slots_insert(heddle_table *table, const void *keys, const void *values, uint64_t n,
                              const heddle_insert_options *options, bool *waited, hd_counts *counts,
                              void *stream);
/* The same key by key. *counts gets the sums if the call waits, which it does at least when *waited says so. */
heddle_status hd_slots_insert_singly(heddle_table *table, const void *keys, const void *values,
                                     uint64_t n, const heddle_insert_options *options, bool *waited,
                                     hd_counts *counts, void *stream);
/* hd_regions_insert: the same with a policy alone. Waits. */
heddle_status hd_slots_insert_listed(heddle_table *table, const void *keys, const void *values,
                                     uint64_t n, uint32_t policy, void *stream, hd_counts *counts);
/* Whether a batch is large enough, beside the table, for a try by regions, though that is not empty. */
bool hd_slots_is_large(const heddle_table *table, uint64_t n);
/* Inserts such a batch, by regions as soon as that suits. Waits. */
heddle_status hd_slots_insert_more(heddle_table *table, const void *keys, const void *values,
                                   uint64_t n, const heddle_insert_options *options,
                                   hd_counts *counts, void *stream);
/* HEDDLE_ERROR_FULL, and why. */
heddle_status hd_slots_fail_full(const heddle_table *table, uint64_t failed);
heddle_status hd_slots_build(heddle_table *table, const void *keys, const void *values, uint64_t n,
                             const heddle_insert_options *options, hd_counts *counts, void *stream);
heddle_status hd_slots_build_workspace(heddle_table *table, uint64_t n, uint64_t *bytes);
heddle_status hd_slots_find(heddle_table *table, const void *keys, uint64_t n, void *values,
                            uint8_t *found, heddle_totals *totals, void *stream);
heddle_status hd_slots_erase(heddle_table *table, const void *keys, uint64_t n, uint8_t *found,
                             heddle_totals *totals, void *stream);
heddle_status hd_slots_count(heddle_table *table, const void *keys, uint64_t n, uint64_t *matches,
                             heddle_totals *totals, void *stream);
heddle_status hd_slots_retrieve(heddle_table *table, const void *keys, uint64_t n,
                                uint64_t *offsets, void *values, uint64_t capacity, uint64_t *count,
                                void *stream);
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
