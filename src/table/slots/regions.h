/*
 * regions.h: building and filling on a table by regions: the pairs are sorted by region and each region is filled in
 * fast local memory. Several times as fast as inserting at random places, for large batches.
 */
#ifndef HD_REGIONS_H
#define HD_REGIONS_H

#include "table/slots/slots.h"

/*
 * Whether a batch may go by regions: the caller wants nothing to be known of single keys, the arrays lie on the
 * device, and the batch is large enough.
 */
bool hd_regions_suit(const heddle_table *table, const void *keys, const void *values, uint64_t n,
                     const heddle_insert_options *options);

/*
 * Fills the table, whatever it held, from n pairs. *filled is false when that was not possible (no
 * scratch memory, or a key without room): the table is then to be cleared and filled otherwise.
 * *counts gets the sums. Waits for the stream.
 */
heddle_status hd_regions_build(heddle_table *table, const void *keys, const void *values,
                               uint64_t n, const heddle_insert_options *options, bool *filled,
                               hd_counts *counts, void *stream);

/* Inserts pairs in device memory one by one, growing where it may; *counts gets the sums. */
typedef heddle_status (*hd_regions_insert)(heddle_table *table, const void *keys,
                                           const void *values, uint64_t n, uint32_t policy,
                                           void *stream, hd_counts *counts);

#define HD_APPEND_MAX ((UINT64_C(1) << 31) - 1) /* pairs, of tables that hold every key once */

/*
 * Adds pairs to a table, whatever it holds, in the order of their regions: `insert` then takes
 * those that found no room. *done is false when there is no scratch memory; nothing has changed then. Waits.
 * With `fresh`, for multimaps alone, whatever it held goes: when there is an error and *done is false, it is to be
 * cleared.
 */
heddle_status hd_regions_append(heddle_table *table, const void *keys, const void *values,
                                uint64_t n, const heddle_insert_options *options, bool fresh,
                                hd_regions_insert insert, bool *done, hd_counts *counts,
                                void *stream);

/* What a call of hd_regions_build or hd_regions_append works with. */
typedef struct hd_region_call {
    heddle_table *table;
    hd_call call;
    hd_partition job; /* of the slice at work */
    hd_batch batch;
    uint64_t later;         /* what HD_LATER has counted in the slices before */
    uint64_t *failed_count; /* append: of pairs without room; device memory */
    hd_counts rest;         /* append: what became of these */
    void *stream;
} hd_region_call;

/*
 * Fills the regions that were left out because too many pairs came to them, most of them of the same
 * keys: the pairs are folded together in parts until they are few enough. *filled as above; of a call that appends
 * they are filled as they are where there is no memory to fold them.
 */
heddle_status hd_regions_fold(hd_region_call *rc, bool fresh, bool *filled);

/* From how many keys on a batch is worth sorting. */
uint64_t hd_regions_least(const heddle_table *table);
/* How many pairs a slot a region may be given before it counts as crowded. */
uint32_t hd_regions_crowded(const heddle_table *table);

#endif
