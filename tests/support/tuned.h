/* tuned.h: short words for what tests choose instead of the library (base/tuning.h). */
#ifndef TESTS_TUNED_H
#define TESTS_TUNED_H

#include "base/tuning.h"

/* From so many keys on batches go by regions, which are crowded from so many pairs a slot on; UINT64_MAX and
   UINT32_MAX: as the engine says. */
static inline void tune_regions(uint64_t keys_min, uint32_t crowded)
{
    hd_tune.region_keys_min = keys_min;
    hd_tune.region_crowded = crowded != UINT32_MAX ? crowded : HD_TUNING_NONE;
}

/* Rows of a task's sides at most, and from how many matches on a task is written in parts; 0: as the engine says. */
static inline void tune_joins(uint64_t left, uint64_t right, uint64_t part_matches)
{
    hd_tune.join_left_rows = left != 0 ? left : HD_TUNING_NONE;
    hd_tune.join_right_rows = right != 0 ? right : HD_TUNING_NONE;
    hd_tune.join_part_matches = part_matches != 0 ? part_matches : HD_TUNING_NONE;
}

#endif
