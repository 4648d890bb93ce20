/*
 * pack.h: rows of a vector that are picked out of it and written one behind the other, or read so and put back into
 * their places. HD_CAN_PACK says whether this tile can; a row is as wide as a key, and sets of rows are bits:
 *
 *   ROWS                                       of a vector
 *   rows_below(count), rows_in(rows)           the first `count` rows; how many there are
 *   rows_from(rows, numbers, limit)            those whose number is at least `limit`
 *   pack(to, from, rows, width)                elements of `width` bytes, 4 or 8; returns where the next go
 *   spread(to, from, rows, kept, width)        the other way, writing those of `kept`; returns where the next are
 *   flags_all, flags_join, flags_store, spread_flags   the same for flags of a byte
 */
#ifndef HD_PACK_H
#define HD_PACK_H

#include <stdint.h>

#if defined(HD_TILE_AVX512)
#include "tile/pack_avx512.inl"
#else
#define HD_CAN_PACK 0
#endif

#endif
