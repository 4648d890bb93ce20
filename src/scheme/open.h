/*
 * open.h: open addressing by cooperative probing (Juenger et al., WarpCore): the slots of a window next
 * to each other, the windows by double hashing. A window is a bucket, read by as many lanes as the tile
 * has; the two are independent.
 *
 * The windows of a walk are (start + step * stride) modulo the windows of the region. The region has
 * neither 2 nor 3 as a divisor, and a stride has no other, so the walk meets every window once before it
 * comes back: no table of primes. A walk ends after view->hashes windows, which bounds every search.
 *
 * Pairs never move. Where the paper ends a search at an empty slot and so needs tombstones, here the
 * marks say where a search has to go on (walk.inl): an erased slot is vacant and is taken by the next key
 * that comes by, and a search for an absent key ends at the first window with almost any load.
 */
#ifndef HD_OPEN_H
#define HD_OPEN_H

#include "tile/tile.h"

#define HD_SCHEME_ID HEDDLE_SCHEME_OPEN
#define HD_EVICTS 0
#define HD_CHOOSES 0
#define HD_AIM_BITS 16

typedef struct hd_walk {
    hd_key lean;
    uint32_t region;
    uint32_t chain; /* stays as it is */
    uint32_t step;  /* windows already left behind */
} hd_walk;

/* 2^a * 3^b from the low bits of the chain; the high bits name the first window. */
HD_FN uint32_t window_stride(uint32_t chain)
{
    const uint32_t nines = (chain & 1) != 0 ? 9 : 1, threes = (chain & 2) != 0 ? 3 : 1;
    return nines * threes << (chain >> 2 & 7);
}

HD_FN uint64_t walk_bucket(const hd_view *view, const hd_walk *walk)
{
    uint32_t window = hd_mulhi32(walk->chain, view->region_buckets);
    if (walk->step != 0)
        window = (window + walk->step * window_stride(walk->chain)) % view->region_buckets;
    return (uint64_t)walk->region * view->region_buckets + window;
}

HD_FN bool walk_advance(const hd_view *view, hd_walk *walk)
{
    if (walk->step + 1 >= view->hashes) return false;
    walk->step++;
    return true;
}

#include "scheme/place.inl"

/* Keys that a bucket takes as their first: all it has room for. */
HD_FN uint32_t first_room(const hd_view *view)
{
    (void)view;
    return HD_BUCKET;
}

/* Nothing can be moved: a key that had no room beside others has none alone, or finds its equal. */
HD_FN int scheme_insert_alone(hd_tile t, const hd_view *view, const hd_walk start, hd_value value,
                              uint32_t policy, uint32_t kicks, uint32_t *path, uint32_t *probes,
                              uint32_t *evictions)
{
    const int result = place_alone(t, view, start, value, policy, probes);
    (void)kicks, (void)path, (void)evictions;
    return result == HD_DEFERRED ? HD_NO_ROOM : result;
}

HD_FN int scheme_settle(hd_tile t, const hd_view *view, const hd_walk start, hd_value value,
                        uint32_t policy, uint32_t kicks, uint32_t *path, uint32_t *probes,
                        uint32_t *evictions)
{
    return scheme_insert_alone(t, view, start, value, policy, kicks, path, probes, evictions);
}

/* The same windows as a multimap, which has a value for every key. */
#define HD_MULTI HD_HAS_VALUES
#if HD_MULTI
#include "scheme/multi.inl"
#endif

#endif
