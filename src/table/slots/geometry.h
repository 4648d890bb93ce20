/* geometry.h: how many regions and buckets a table has. */
#ifndef HD_GEOMETRY_H
#define HD_GEOMETRY_H

#include "engine/engine.h"
#include "host/seed.h"

/* No table has more slots; larger requests are refused as out of memory. */
#define HD_SLOTS_MAX (UINT64_C(1) << 44)

/*
 * Sets everything in a view except its pointers: room for `capacity` keys at `load`. Small tables get
 * more, since keys spread over few regions unevenly.
 */
heddle_status hd_geometry_init(hd_view *view, const hd_table_ops *ops, uint64_t capacity,
                               double load, uint32_t hashes, uint64_t seed);

/* The slots of a bucket that a threshold (heddle_table_options) stands for: at least one. */
uint32_t hd_geometry_threshold(const hd_table_ops *ops, double threshold);

/* The words of hd_view.locks; 0 where the scheme has none. */
uint64_t hd_geometry_locks(const hd_view *view, const hd_table_ops *ops);

/* The number of slots of a view. */
uint64_t hd_geometry_slots(const hd_view *view, const hd_table_ops *ops);

#endif
