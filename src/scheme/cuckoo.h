/*
 * cuckoo.h: bucketed cuckoo hashing with two to four choices (Awad et al., BCHT; bucket 1: 1CHT).
 *
 * A key lives in one of its candidate buckets, all in its region, and is looked for in their order.
 *
 * The invariant that lets a lookup stop: a key that lies behind a bucket on its walk has cleared its
 * mark there (hash.h), and marks are never set again while the table lives. A key passes a bucket
 * only if it is full. An erase makes room in a bucket and leaves its marks alone.
 *
 * Insertion has two halves. The first, place_step, runs for many keys at once and never moves a
 * pair: a key goes into the first vacancy on its way. Since vacancies only disappear meanwhile, and
 * every tile takes them in the same order, two tiles with the same key aim at the same slot; one CAS
 * fails, its tile looks again and finds the key. So a key is never stored twice, without any lock.
 * Keys that meet only full buckets are deferred. The second half, scheme_settle, inserts them region
 * by region, one tile a region, alone, with evictions; a chain that gives up is walked back, so no
 * pair is ever dropped.
 */
#ifndef HD_CUCKOO_H
#define HD_CUCKOO_H

#include "tile/tile.h"

#define HD_SCHEME_ID HEDDLE_SCHEME_CUCKOO

enum { HD_STEP_FOUND, HD_STEP_ABSENT, HD_STEP_ON };
enum { HD_PLACED = 1, HD_PRESENT, HD_DEFERRED, HD_NO_ROOM, HD_GOES_ON };

/* How the ABI names the end of an insertion: one of the first four but HD_DEFERRED. */
HD_FN uint8_t outcome_of(int result, uint32_t policy)
{
    if (result == HD_PLACED) return HEDDLE_OUTCOME_INSERTED;
    if (result == HD_NO_ROOM) return HEDDLE_OUTCOME_FAILED;
    return policy == HEDDLE_POLICY_KEEP ? HEDDLE_OUTCOME_KEPT : HEDDLE_OUTCOME_UPDATED;
}

/* How often an insertion starts again when other tiles are faster, before the key is deferred. */
#define HD_PLACE_TRIES 64
/* Candidate buckets of a key, at most. */
#define HD_HASHES_MAX 4

typedef struct hd_walk {
    hd_key lean;
    uint32_t region;
    uint32_t chain;
    uint32_t step; /* candidates already left behind */
} hd_walk;

HD_FN hd_walk walk_start_lean(uint32_t region, hd_key lean)
{
    hd_walk walk;
    walk.lean = lean;
    walk.region = region;
    walk.chain = chain_start(lean);
    walk.step = 0;
    return walk;
}

HD_FN hd_walk walk_start(const hd_view *view, hd_key key)
{
    const hd_key mixed = mix_key(&view->mix, key);
    return walk_start_lean(region_of(view, mixed), lean_key(view, mixed));
}

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

/* One look of a lookup at the bucket the walk is at, loaded as `b`. Tiles may go together. */
HD_FN int find_step(hd_tile t, const hd_view *view, hd_walk *walk, const hd_bucket *b, hd_hit *hit)
{
    const bool found = bucket_lookup(t, view, b, walk->lean, hit);
    if (tile_is_alone(t) && found) return HD_STEP_FOUND;
    const bool passed = bucket_is_passed(t, view, b, walk->lean);
    if (found) return HD_STEP_FOUND;
    if (!passed) return HD_STEP_ABSENT;
    return walk_advance(view, walk) ? HD_STEP_ON : HD_STEP_ABSENT;
}

/*
 * One look of an insertion that moves nothing, beside other tiles that do the same; tiles may go
 * together. On its first lap a walk looks for the key in all buckets that may hold it and notes the
 * first one with a vacancy. If that is the last it came to, it claims the vacancy at once; else it
 * starts a second lap, which ends at the noted bucket. `b` is a shared snapshot of the bucket the
 * walk is at. HD_PLACED, HD_PRESENT (the policy was applied), HD_DEFERRED, or HD_GOES_ON.
 */
typedef uint32_t hd_aim; /* one word, since registers are dear */
#define HD_AIM_TRY 16u   /* counts, from here up, how often another tile was faster */
#define HD_AIM_SECOND 8u /* second lap: claim at the noted candidate */
#define HD_AIM_NONE 4u /* the lower three bits: the candidate with the first vacancy, or none yet */

HD_FN hd_aim aim_start(void) { return HD_AIM_NONE; }
HD_FN uint32_t aim_candidate(hd_aim aim) { return aim & 7u; }

HD_FN void walk_restart(hd_walk *walk)
{
    walk->chain = chain_start(walk->lean);
    walk->step = 0;
}

HD_FN int place_step(hd_tile t, const hd_view *view, hd_walk *walk, hd_aim *aim, const hd_bucket *b,
                     hd_value value, uint32_t policy, bool active)
{
    hd_hit hit;
    hd_vacancy room;
    const bool found = bucket_lookup(t, view, b, walk->lean, &hit);
    const bool passed = bucket_is_passed(t, view, b, walk->lean);
    const bool vacant = bucket_vacancy(t, view, b, &room);
    const bool busy =
        vacancy_is_busy(t, view, room) && vacant; /* it may be this very key that arrives there */
    const bool last =
        walk->step + 1 >= view->hashes || (vacant && !passed); /* the key is not behind it */
    const bool first_vacancy = vacant && aim_candidate(*aim) == HD_AIM_NONE;
    const bool arrived = (*aim & HD_AIM_SECOND) != 0 && aim_candidate(*aim) == walk->step;
    const bool claims = !found && !busy && vacant && (arrived || (last && first_vacancy));
    hd_pair pair;
    bool placed;
    pair.lean = walk->lean;
    pair.value = value;
    hit_update(t, view, hit, policy, value, active && found);
    bucket_mark(t, view, b, walk->lean,
                active && !found && !vacant && !last); /* full: the key goes past it */
    placed = vacancy_claim(t, view, room, pair, active && claims);
    if (found) return HD_PRESENT;
    if (placed) return HD_PLACED;
    if (busy || claims || arrived) { /* others were faster: all anew */
        if (*aim >= HD_PLACE_TRIES * HD_AIM_TRY) return HD_DEFERRED;
        *aim = (*aim & ~(HD_AIM_TRY - 1)) + HD_AIM_TRY + HD_AIM_NONE;
        walk_restart(walk);
        return HD_GOES_ON;
    }
    if (first_vacancy) *aim = *aim - HD_AIM_NONE + walk->step;
    if (!last) {
        walk_advance(view, walk);
        return HD_GOES_ON;
    }
    if (aim_candidate(*aim) == HD_AIM_NONE) return HD_DEFERRED;
    *aim |= HD_AIM_SECOND;
    walk_restart(walk);
    return HD_GOES_ON;
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

/* Brings all candidate buckets of a key nearer. One thread alone may call it. */
HD_FN void walk_prefetch(const hd_view *view, hd_walk walk)
{
    do bucket_prefetch(view, walk_bucket(view, &walk));
    while (walk_advance(view, &walk));
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

/* Puts a pair into its candidate number `step`, which has room, and marks those before it. */
HD_FN void put_behind(hd_tile t, const hd_view *view, hd_walk walk, uint32_t step, hd_pair pair)
{
    hd_bucket b = bucket_load_shared(t, view, walk_bucket(view, &walk));
    hd_vacancy room;
    for (uint32_t i = 0; i < step; i++) {
        bucket_mark(t, view, &b, walk.lean, true);
        walk_advance(view, &walk);
        b = bucket_load_shared(t, view, walk_bucket(view, &walk));
    }
    bucket_vacancy(t, view, &b, &room);
    vacancy_fill(t, view, room, pair);
}

/*
 * The same as scheme_settle for a key that has not been looked for yet: most keys find room in their
 * first bucket, so candidates are loaded one after the other, and no mark is set without need.
 */
HD_FN int scheme_insert_alone(hd_tile t, const hd_view *view, const hd_walk start, hd_value value,
                              uint32_t policy, uint32_t kicks, uint32_t *path, uint32_t *probes,
                              uint32_t *evictions)
{
    hd_walk walk = start;
    uint32_t room_step = HD_AIM_NONE, evicted = 0;
    hd_pair pair;
    pair.lean = start.lean;
    pair.value = value;
    do {
        const hd_bucket b = bucket_load_shared(t, view, walk_bucket(view, &walk));
        hd_hit hit;
        hd_vacancy room;
        ++*probes;
        if (bucket_lookup(t, view, &b, pair.lean, &hit)) {
            hit_update(t, view, hit, policy, value, true);
            return HD_PRESENT;
        }
        if (room_step == HD_AIM_NONE && bucket_vacancy(t, view, &b, &room)) {
            room_step = walk.step;
            if (room_step == 0 && !bucket_is_passed(t, view, &b, pair.lean)) {
                vacancy_fill(t, view, room, pair);
                return HD_PLACED;
            }
        }
        if (room_step != HD_AIM_NONE && !bucket_is_passed(t, view, &b, pair.lean)) break;
    } while (walk_advance(view, &walk));
    if (room_step != HD_AIM_NONE) {
        put_behind(t, view, start, room_step, pair);
        return HD_PLACED;
    }
    walk = start;
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
