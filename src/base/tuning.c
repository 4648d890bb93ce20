/* tuning.c: see tuning.h. */
#include "base/tuning.h"

hd_tuning hd_tune = {
    .region_keys_min = HD_TUNING_NONE,
    .region_crowded = HD_TUNING_NONE,
    .few_groups_limit = HD_TUNING_NONE,
    .distinct_region_rows = HD_TUNING_NONE,
    .keys_homes = HD_TUNING_NONE,
    .keys_near_bits = HD_TUNING_NONE,
    .keys_few = HD_TUNING_NONE,
    .reduce_near_groups = HD_TUNING_NONE,
    .row_hash_mask = HD_TUNING_NONE,
    .join_left_rows = HD_TUNING_NONE,
    .join_right_rows = HD_TUNING_NONE,
    .join_part_matches = HD_TUNING_NONE,
    .hot_rows_least = HD_TUNING_NONE,
};
