/*
 * tuning.h: what tests may set instead of what the library would choose, and what they may count. One struct for all of
 * it. Nobody except tests writes the choices, while no call is at work; the counts are added to atomically.
 */
#ifndef HD_TUNING_H
#define HD_TUNING_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HD_TUNING_NONE UINT64_MAX /* of a choice: as the library chooses */

enum {
    HD_TUNE_DISTINCT_ANY,
    HD_TUNE_DISTINCT_FEW, /* in the cores' caches (a GPU: in its second-level cache), or not apart from other groups */
    HD_TUNE_DISTINCT_MANY /* by regions (a GPU: by a table of any size) */
};

typedef struct hd_tuning {
    /* Tables of slots: from how many keys on a batch goes by regions, and how many pairs a slot a region may be given
       before it counts as crowded. */
    uint64_t region_keys_min, region_crowded;
    /* Group-by: groups are known by number up to this many of them, whatever the rows; 0 is never. */
    uint64_t few_groups_limit;
    /* Group-by where no rows are asked for: HD_TUNE_DISTINCT_*, and rows of a region by which keys are sorted, at most. */
    uint32_t distinct_way;
    uint64_t distinct_region_rows;
    /* Distinct keys and groups by number on a GPU: slots of the table that is tried first, bits of a block's own table, and
       up to how many distinct keys are few. */
    uint64_t keys_homes, keys_near_bits, keys_few;
    /* Aggregates of groups known by number on a GPU: groups that a block sums up in shared memory, at most. */
    uint64_t reduce_near_groups;
    /* Hashes of rows keep only these bits. */
    uint64_t row_hash_mask;
    /* Joins: rows of a task's left and right side at most, and from how many matches on a task is written in parts. */
    uint64_t join_left_rows, join_right_rows, join_part_matches;
    /* Clusters: hot keys are looked for from so many rows of a member on. */
    uint64_t hot_rows_least;
    /* Rows of relations are laid out by sorting also where they need not (route/route.h). */
    bool route_sorts;
    /* Clusters opened from now on: members of one process do as if they could not reach each other's memory; processes
       do as if their devices had memory of their own; processes of one machine go through the host. */
    bool local_copies, transport_apart, never_shared;
    /* Clusters: called at the end of every phase, before others learn that it is done. It need not return. */
    void (*phase_watch)(uint32_t phase);

    /* Batches added by regions to tables that held keys, and pairs of theirs that found no room in their region. */
    uint64_t region_appends, region_listed;
    /* Batches inserted by regions in calls that do not wait. */
    uint64_t region_queued;
    /* Rows of hot keys that were folded before they were sent, by all members of this process. */
    uint64_t hot_rows_folded;
} hd_tuning;

extern hd_tuning hd_tune;

/* What tests chose, else `own`. */
static inline uint64_t hd_tuned(uint64_t chosen, uint64_t own)
{
    return chosen != HD_TUNING_NONE ? chosen : own;
}

#ifdef __cplusplus
}
#endif

#endif
