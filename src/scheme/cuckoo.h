/*
 * cuckoo.h: bucketed cuckoo hashing with two to four choices (Awad et al., BCHT; bucket 1: 1CHT).
 *
 * A key lives in one of its candidate buckets, all in its region, and is looked for in their order.
 *
 * Insertion has two halves. The first, place_step (place.inl), runs for many keys at once and never moves
 * a pair. Keys that meet only full buckets are deferred. The second half, scheme_settle, inserts them
 * region by region, one tile a region, alone, with evictions; a chain that gives up is walked back, so no
 * pair is ever dropped.
 */
#ifndef HD_CUCKOO_H
#define HD_CUCKOO_H

#include "tile/tile.h"

#define HD_SCHEME_ID HEDDLE_SCHEME_CUCKOO
#define HD_EVICTS 1 /* a full bucket can be made to have room */
#define HD_CHOOSES 0
#define HD_AIM_BITS 3

/* Candidate buckets of a key, at most. */
#define HD_HASHES_MAX 4

typedef struct hd_walk {
    hd_key lean;
    uint32_t region;
    uint32_t chain;
    uint32_t step; /* candidates already left behind */
} hd_walk;

/* The bucket the walk is at. */
HD_FN uint64_t walk_bucket(const hd_view *view, const hd_walk *walk)
{
    return (uint64_t)walk->region * view->region_buckets +
           hd_mulhi32(walk->chain, view->region_buckets);
}

/* On to the next candidate; false when there is none. */
HD_FN bool walk_advance(const hd_view *view, hd_walk *walk)
{
    if (walk->step + 1 >= view->hashes) return false;
    walk->chain = chain_next(walk->chain);
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

/* Where a pair evicted from bucket `from` goes next: the candidate after that one, in a circle. */
HD_FN uint64_t next_bucket(const hd_view *view, uint32_t region, hd_key lean, uint64_t from)
{
    hd_walk walk = walk_start_lean(region, lean);
    const uint64_t first = walk_bucket(view, &walk);
    bool passed = first == from;
    while (walk_advance(view, &walk)) {
        const uint64_t bucket = walk_bucket(view, &walk);
        if (passed) return bucket;
        passed = bucket == from;
    }
    return first;
}

/* Which slot of a full bucket, in the tile's order, has to give way in the i-th eviction of a chain. */
HD_FN uint32_t victim_number(hd_key lean, uint32_t i)
{
    return hd_mulhi32(((uint32_t)lean ^ i * UINT32_C(0x9e3779b9)) * UINT32_C(0x2c1b3c6d),
                      HD_BUCKET);
}

/*
 * Makes room for `pair` by evictions, starting at the full bucket `b`. Every step is noted in
 * `path`, so that a chain which finds no room can be undone. Returns the evictions made, 0 when undone.
 */
HD_FN uint32_t evict(hd_tile t, const hd_view *view, uint32_t region, hd_bucket b, hd_pair pair,
                     uint32_t kicks, uint32_t *path, uint32_t *probes)
{
    const uint64_t base = (uint64_t)region * view->region_buckets;
    for (uint32_t i = 0; i < kicks; i++) {
        const uint32_t number = victim_number(pair.lean, i);
        const uint64_t slot = bucket_slot(t, &b, number);
        hd_key marks;
        const hd_pair victim = bucket_pair(t, view, &b, number, &marks);
        hd_vacancy room;
        path_set(t, path, i, (uint32_t)(slot - base * HD_BUCKET));
        tile_put(t, view, slot, pair, marks);
        bucket_mark(t, view, &b, victim.lean, true);
        pair = victim;
        b = bucket_load_shared(t, view, next_bucket(view, region, pair.lean, slot / HD_BUCKET));
        ++*probes;
        if (bucket_vacancy(t, view, &b, &room)) {
            vacancy_fill(t, view, room, pair);
            return i + 1;
        }
    }
    for (uint32_t i = kicks; i-- > 0;) {
        const uint64_t slot = base * HD_BUCKET + path_get(t, path, i);
        hd_key marks;
        const hd_pair back = tile_get(t, view, slot, &marks);
        tile_put(t, view, slot, pair, marks);
        pair = back;
    }
    return 0;
}

/*
 * Inserts a deferred key into a region that the tile has to itself, with at most `kicks` evictions a
 * chain. HD_PLACED, HD_PRESENT or HD_NO_ROOM.
 */
HD_FN int scheme_settle(hd_tile t, const hd_view *view, const hd_walk start, hd_value value,
                        uint32_t policy, uint32_t kicks, uint32_t *path, uint32_t *probes,
                        uint32_t *evictions)
{
    hd_bucket candidates[HD_HASHES_MAX]; /* all loads are under way before the first look */
    hd_walk walk = start;
    hd_vacancy room;
    bool has_room = false;
    uint32_t evicted = 0;
    hd_pair pair;
    pair.lean = start.lean;
    pair.value = value;
    HD_UNROLL
    for (uint32_t i = 0; i < HD_HASHES_MAX; i++) {
        candidates[i] = bucket_load_shared(t, view, walk_bucket(view, &walk));
        walk_advance(view, &walk);
    }
    *probes += view->hashes;
    HD_UNROLL
    for (uint32_t i = 0; i < HD_HASHES_MAX; i++) {
        hd_hit hit;
        if (i >= view->hashes) break;
        if (bucket_lookup(t, view, &candidates[i], pair.lean, &hit)) {
            hit_update(t, view, hit, policy, value, true);
            return HD_PRESENT;
        }
        if (!has_room) has_room = bucket_vacancy(t, view, &candidates[i], &room);
        bucket_mark(t, view, &candidates[i], pair.lean, !has_room && i + 1 < view->hashes);
    }
    if (has_room) {
        vacancy_fill(t, view, room, pair);
        return HD_PLACED;
    }
    /* All candidates are full. Where a chain from one of them finds no room, one from another may. */
    walk = start;
    do {
        const hd_bucket b = bucket_load_shared(t, view, walk_bucket(view, &walk));
        evicted = evict(t, view, start.region, b, pair, kicks, path, probes);
    } while (evicted == 0 && walk_advance(view, &walk));
    *evictions += evicted;
    return evicted != 0 ? HD_PLACED : HD_NO_ROOM;
}

/*
 * The same as scheme_settle for a key that has not been looked for yet: candidates are loaded one after
 * the other.
 */
HD_FN int scheme_insert_alone(hd_tile t, const hd_view *view, const hd_walk start, hd_value value,
                              uint32_t policy, uint32_t kicks, uint32_t *path, uint32_t *probes,
                              uint32_t *evictions)
{
    const int result = place_alone(t, view, start, value, policy, probes);
    hd_walk walk = start;
    uint32_t evicted = 0;
    hd_pair pair;
    if (result != HD_DEFERRED) return result;
    pair.lean = start.lean;
    pair.value = value;
    for (;;) { /* as in scheme_settle */
        const hd_bucket b = bucket_load_shared(t, view, walk_bucket(view, &walk));
        evicted = evict(t, view, start.region, b, pair, kicks, path, probes);
        if (evicted != 0) break;
        bucket_mark(t, view, &b, pair.lean, true);
        if (!walk_advance(view, &walk)) return HD_NO_ROOM;
    }
    *evictions += evicted;
    return HD_PLACED;
}

#endif
