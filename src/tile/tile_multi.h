/*
 * tile_multi.h: what a tile does for multimaps, beside tile.h. Which of several equal keys is meant does not
 * matter here, so lookups give no hit but counts.
 *
 *   int bucket_room(t, view, &b, &v)                a vacancy that nobody is writing, any one: HD_ROOM_*
 *   uint32_t bucket_matches(t, view, &b, lean)      how many slots hold this key
 *   uint32_t bucket_deliver(t, view, &b, lean, to, active)
 *                                                   writes their values to `to`; how many
 *   uint32_t bucket_vacate(t, view, &b, lean, &first, &has_first, active)
 *                                                   erases them, but keeps the first that was ever met
 *                                                   for later; how many this lane erased
 */
#ifndef HD_TILE_MULTI_H
#define HD_TILE_MULTI_H

#include "tile/tile.h"

enum { HD_ROOM_NONE, HD_ROOM_BUSY, HD_ROOM_FREE };

#if defined(__CUDACC__)
#include "tile/tile_multi_cuda.inl"
#else
#include "tile/tile_multi_thread.inl"
#endif

#endif
