/*
 * regions.h: building and filling on a table by regions: the pairs are sorted by region
 * (pair_sort.h) and each region is filled in fast local memory. Several times as fast as inserting
 * at random places, for large batches. fold.c takes the regions that many copies of few keys come
 * to.
 */
#ifndef HD_REGIONS_H
#define HD_REGIONS_H

#include "table/slots/slots.h"

#define HD_APPEND_MAX ((UINT64_C(1) << 31) - 1) /* pairs, of tables that hold every key once */

/*
 * Whether a batch may go by regions: the caller wants nothing to be known of single keys, the
 * arrays lie on the device, and the batch is large enough.
 */
bool hd_regions_suit(const heddle_table *table, const hd_request *r);

/*
 * Fills the table, whatever it held. *filled is false when that was not possible (no scratch
 * memory, or a key without room): the table is then to be cleared and filled otherwise. Waits.
 */
heddle_status hd_regions_build(heddle_table *table, hd_request *r, bool *filled);

/*
 * Adds pairs to a table, whatever it holds, in the order of their regions; those that found no room
 * are inserted singly. *done is false when there is no scratch memory; nothing has changed then.
 * Waits. With `fresh`, for multimaps alone, whatever it held goes: when there is an error and *done
 * is false, it is to be cleared.
 */
heddle_status hd_regions_append(heddle_table *table, hd_request *r, bool fresh, bool *done);

/* From how many keys on a batch is worth sorting. */
uint64_t hd_regions_least(const heddle_table *table);
/* From how many pairs on a batch is large beside the table: filling on reads and writes all of it. */
uint64_t hd_regions_large(const heddle_table *table);
/* Whether the table can be filled on: no key lies behind a bucket with room. */
bool hd_regions_fill_on(const hd_slots_table *t);
/* The bytes with which a call that does not wait goes by regions (insert_queued.c); 0: there is no such way. */
uint64_t hd_queue_workspace(const heddle_table *table, const hd_view *view, uint64_t n);

/* -------------------------------------------------------------- between regions.c and fold.c */

/* What a call of hd_regions_build or hd_regions_append works with. */
typedef struct hd_region_call {
    heddle_table *table;
    hd_call *call;
    hd_partition job; /* of the slice at work */
    hd_batch batch;
    bool fresh;             /* the slots hold nothing yet */
    uint64_t later;         /* what HD_LATER has counted in the slices before */
    uint64_t *failed_count; /* append: of pairs without room; device memory */
    void *stream;
} hd_region_call;

/*
 * Fills the regions that were left out because too many pairs came to them, most of them of the
 * same keys: the pairs are folded together in parts until they are few enough. *filled as above; of
 * a call that appends they are filled as they are where there is no memory to fold them.
 */
heddle_status hd_regions_fold(hd_region_call *rc, bool *filled);

/* How many pairs a region may be given before it counts as crowded; UINT64_MAX: any number. */
uint64_t hd_regions_crowded(const heddle_table *table);

#endif
