/*
 * lists.h: multimaps of the scheme bucket_list: a table of slots that leads every key to the number
 * of its list, and lists of values in buckets from a pool (engine/lists.h).
 *
 *   kind.c     options, and the table of functions
 *   storage.c  memory: the table of keys, the records of lists, the chunks of the pool
 *   insert.c   insert and build: outcomes, counts, when lists are made anew; rehash
 *   runs.c     a batch as runs of equal keys, and how runs get into lists
 *   append.c   small batches, value by value
 *   query.c    find, count, retrieve, erase
 *   whole.c    clear, reserve, export, statistics, validation
 *   view.c     lists for kernels outside the library
 *
 * An insertion: hd_lists_insert lends the arrays to the device. A large batch is brought into runs
 * of equal keys (hd_lists_group); then every run claims room in its list at once, and the values
 * are copied (hd_lists_add_runs). A small one appends its values (hd_lists_append). Either way
 * memory is made sure of before lists are changed, and a key is in the table of keys only while its
 * list has values.
 */
#ifndef HD_LISTS_TABLE_H
#define HD_LISTS_TABLE_H

#include "host/lent.h"
#include "model/device_view.h"
#include "table/table.h"

typedef struct hd_list_chunk {
    char *memory;
    uint64_t room, used; /* units */
} hd_list_chunk;

/* Lists and their memory. */
typedef struct hd_lists_storage {
    heddle_table *keys; /* a map from keys to numbers of lists */
    uint64_t key_count; /* in it */
    uint64_t pairs;     /* in all lists */
    hd_list_record *records;
    uint64_t records_room, records_used; /* erased lists leave theirs unused until a rehash */
    char **chunk_table;                  /* device memory: HD_LIST_CHUNKS pointers */
    hd_list_words *words;                /* behind it */
    hd_list_chunk chunks[HD_LIST_CHUNKS];
    uint32_t chunk_count;
    uint64_t dead; /* units of buckets that no list has any more */
    /*
     * Kernels outside the library have a view of the lists and may have changed them: what is
     * counted here may be behind what the device counts (view.c).
     */
    bool lent;
    uint32_t lent_chunk; /* that they take buckets from */
} hd_lists_storage;

typedef struct hd_lists_table {
    heddle_table base;
    const hd_list_ops *ops;
    hd_lists_storage storage;
    uint64_t pairs_wanted; /* that there is to be room for: what a fixed table is made anew with */
    char name[32];
} hd_lists_table;

static inline hd_lists_table *hd_lists(const heddle_table *table)
{
    return (hd_lists_table *)(uintptr_t)table;
}
static inline bool hd_lists_fixed(const heddle_table *table)
{
    return (table->options.flags & HEDDLE_FLAG_FIXED) != 0;
}

/* ------------------------------------------------------------------------------------- storage */

/* What the table of keys is to be like, except its capacity and its seed. */
heddle_table_options hd_lists_keys_options(const heddle_table *table);
/* Empty lists, with room for `keys` keys and for `values` values. */
heddle_status hd_lists_start(heddle_table *table, hd_lists_storage *storage, uint64_t keys,
                             uint64_t values, uint64_t seed);
void hd_lists_free(heddle_table *table, hd_lists_storage *storage);
/* Makes `fresh` the table's own and frees what it had. */
void hd_lists_adopt(heddle_table *table, const hd_lists_storage *fresh, uint64_t seed);
/* All chunks empty, all lists gone; the table of keys too. */
heddle_status hd_lists_empty(heddle_table *table, hd_lists_storage *storage, void *stream);
/* Chunks until there is room for so many units in all. */
heddle_status hd_lists_add_room(heddle_table *table, hd_lists_storage *storage, uint64_t units);
/* One more chunk, of at least so many units. */
heddle_status hd_lists_add_chunk(heddle_table *table, hd_lists_storage *storage, uint64_t units);
/* Room for so many records more. */
heddle_status hd_lists_add_records(heddle_table *table, hd_lists_storage *storage, uint64_t more,
                                   void *stream);
/*
 * The chunk with the most units left, or the first that has `units` of them; HD_LIST_CHUNKS: there
 * is none.
 */
uint32_t hd_lists_chunk(const hd_lists_storage *storage, uint64_t units);
/* What a step of the engine is given; new buckets come from this chunk. */
hd_list_pool hd_lists_pool(const heddle_table *table, const hd_lists_storage *storage,
                           uint32_t chunk);
/* Units that the chunks have, and have given away. */
uint64_t hd_lists_room(const hd_lists_storage *storage);
uint64_t hd_lists_used(const hd_lists_storage *storage);
/* The units that so many values are given at first. */
uint64_t hd_lists_units_for(const heddle_table *table, uint64_t values);
/* Several pieces of scratch memory, or none of use. */
typedef struct hd_list_need {
    uint64_t bytes;
    void **memory;
} hd_list_need;
heddle_status hd_lists_take(hd_scratch *scratch, const hd_list_need *needs, size_t count);
#define HD_LISTS_TAKE(scratch, needs)                                                              \
    hd_lists_take((scratch), (needs), sizeof(needs) / sizeof((needs)[0]))
/*
 * The numbers of the lists of n keys in device memory, or HD_LIST_NONE. Waits. `found` of the
 * request may be NULL; its counts are set.
 */
heddle_status hd_lists_numbers(const heddle_table *table, const hd_lists_storage *storage,
                               hd_request *r, uint64_t *numbers);

/* -------------------------------------------------------------------------------------- adding */

/* Pairs on their way into lists. Arrays are device memory. */
typedef struct hd_list_addition {
    heddle_table *table;
    hd_lists_storage *storage;
    bool grows;       /* memory may be added */
    bool tight;       /* buckets are to have no room for more */
    const void *keys; /* of the runs, all different */
    hd_list_runs runs;
    hd_list_rows rows;
    hd_scratch *scratch;
    void *stream;
    uint64_t inserted; /* out: pairs that are in now; all of them unless nothing may grow */
    uint64_t probes;   /* out */
} hd_list_addition;

/* Adds the runs. When memory runs out nothing has changed. Waits. */
heddle_status hd_lists_add_runs(hd_list_addition *a);
/*
 * Brings the pairs of a request, in device memory, into runs: sets a->keys, runs and rows, except
 * outcomes.
 */
heddle_status hd_lists_group(hd_list_addition *a, const hd_request *pairs);
/*
 * Gives the runs that have no list yet, and may have one, new numbers and puts their keys into the
 * table of keys. Of equal keys one wins: `twice` says that there may be some. On failure nothing
 * has changed.
 */
heddle_status hd_lists_admit(hd_list_addition *a, bool twice);
/*
 * Appends a->rows.n values one by one to the lists of `keys`. What finds no room goes by runs.
 * Waits.
 */
heddle_status hd_lists_append(hd_list_addition *a, const void *keys);
/* Makes everything anew with a fresh seed: every list in one bucket, nothing dead. Waits. */
heddle_status hd_lists_remake(heddle_table *table, uint64_t capacity, void *stream);

/* ------------------------------------------------------------------ kernels outside the library */

/* What such a kernel needs to know. Allocates and waits unless a view is lent already. */
heddle_status hd_lists_view(heddle_table *table, hd_device_lists *view);
/*
 * Reads what such kernels have counted, if any have a view; `changes`: they have none from now on,
 * since the caller will change the lists. To be called first by all that rely on the counts of the
 * storage.
 */
heddle_status hd_lists_catch_up(heddle_table *table, bool changes, void *stream);

/* --------------------------------------------------------------- what hd_lists_kind consists of */

heddle_status hd_lists_insert(heddle_table *table, hd_request *r);
heddle_status hd_lists_build(heddle_table *table, hd_request *r);
heddle_status hd_lists_build_workspace(heddle_table *table, uint64_t n, uint64_t *bytes);
heddle_status hd_lists_find(heddle_table *table, hd_request *r);
heddle_status hd_lists_erase(heddle_table *table, hd_request *r);
heddle_status hd_lists_count(heddle_table *table, hd_request *r);
heddle_status hd_lists_retrieve(heddle_table *table, hd_request *r);
heddle_status hd_lists_collect(heddle_table *table, void *keys, void *values, void *stream);
heddle_status hd_lists_for_pairs(heddle_table *table, hd_pairs_take take, void *context,
                                 void *stream);
heddle_status hd_lists_clear(heddle_table *table, void *stream);
heddle_status hd_lists_reserve(heddle_table *table, uint64_t capacity, void *stream);
heddle_status hd_lists_rehash(heddle_table *table, uint64_t capacity, void *stream);
heddle_status hd_lists_get_stats(heddle_table *table, heddle_table_stats *stats, void *stream);
heddle_status hd_lists_validate(heddle_table *table, void *stream);

#endif
