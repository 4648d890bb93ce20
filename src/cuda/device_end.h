/*
 * device_end.h: takes back what the headers of one compiled table have defined, guards included, so that
 * heddle/device.cuh can include them once more for another table.
 */
#ifndef HEDDLE_KEEP_NAME
#undef HEDDLE_NAME
#endif
#undef HEDDLE_SCHEME
#undef HEDDLE_KEY_BITS
#undef HEDDLE_VALUE_BITS
#undef HEDDLE_BUCKET
#undef HEDDLE_MULTIMAP

#undef HD_AIM_BITS
#undef HD_AIM_KEYS
#undef HD_AIM_MODE
#undef HD_AIM_NONE
#undef HD_AIM_SECOND
#undef HD_AIM_TRY
#undef HD_APART
#undef HD_BUCKET
#undef HD_BUCKET_BYTES
#undef HD_CANDIDATES
#undef HD_CHOOSES
#undef HD_CUCKOO_H
#undef HD_EVICTS
#undef HD_HASHES_MAX
#undef HD_HASH_H
#undef HD_HAS_VALUES
#undef HD_ICEBERG_H
#undef HD_KEY_BITS
#undef HD_KEY_BUSY
#undef HD_KEY_C
#undef HD_KEY_EMPTY
#undef HD_LANE_SLOTS
#undef HD_LEG
#undef HD_LEG_BITS
#undef HD_MANY_VALUES
#undef HD_MARKS_ANYWHERE
#undef HD_MULTI
#undef HD_MULTI_H
#undef HD_ONE_LANE
#undef HD_OPEN_H
#undef HD_ORDER_LANES
#undef HD_ORDER_PIECES
#undef HD_PIECES
#undef HD_PIECE_BYTES
#undef HD_PIECE_SLOTS
#undef HD_PLACE_H
#undef HD_PLACE_TRIES
#undef HD_SCHEME_ID
#undef HD_SLOT_H
#undef HD_STRIDE
#undef HD_TILE
#undef HD_TILE_CUDA_H
#undef HD_TILE_H
#undef HD_TILE_MULTI_CUDA_H
#undef HD_TILE_MULTI_H
#undef HD_TOP_BIT
#undef HD_VALUE_BITS
#undef HD_VIEW_ID
#undef HD_WALK_H
#undef HD_WEARY
#undef HD_WIDE
#undef HD_WORD_BYTES
