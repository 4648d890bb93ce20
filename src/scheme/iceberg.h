/*
 * iceberg.h: iceberg hashing (Bender et al.; on a GPU Awad et al., IHT): a key goes to its primary bucket
 * while that is filled below a threshold, else to the emptier of two others. No pair is ever moved.
 *
 * The walk of a key is its primary bucket P, then the secondaries S1 and S2, all different. P is *open*
 * while one of its first `threshold` slots, in the tile's order, is vacant. An open bucket takes its
 * primary keys in the first vacancy. A closed one sends them on, to the emptier of S1 and S2, or where
 * both are full into what P has left. Keys that go on clear their mark in P, and in S1 if they lie in S2,
 * also where these have room: lookups are those of walk.inl.
 *
 * place_step runs for many keys at once, while vacancies only disappear. Why no key k is stored twice:
 *
 * 1. k in the first slots of P. All who put k there have seen the slots before theirs taken by others
 *    and claim theirs by CAS, as in place.inl. So one is the first, and the next finds it.
 * 2. k anywhere else. Only who has seen each of the first slots taken, none of them by k, and then holds
 *    P's lock puts k elsewhere. A slot is claimed once: k is not in the first slots then, and whoever
 *    means to claim one of them for k fails. No other key has to be seen for that, so it does not
 *    matter in which order the slots of a snapshot were read, nor that slots fill up meanwhile.
 * 3. The holder looks at S2 and S1 after it took the lock, and at P if both are full: who held it before
 *    has put k there and released it after. Where P was chosen before, both are still full. So of two
 *    holders with the same key the second finds it. Taking is an acquire, releasing a release.
 * 4. k from an earlier call: its mark in P tells that it may lie behind, so a key that finds P open
 *    and its mark cleared looks behind first and claims in P after; if P was closed meanwhile, 2.
 *
 * A lock is a bit of view->locks for every bucket. Nobody waits for one: who does not get it starts
 * again in the next step, so tiles of a warp that go together cannot block each other, and after
 * HD_PLACE_TRIES the key is deferred. Copies of a key that has gone past P find it behind without a lock.
 *
 * Marks are cleared in words that are being claimed (HD_MARKS_ANYWHERE): a CAS sees it and fails.
 */
#ifndef HD_ICEBERG_H
#define HD_ICEBERG_H

#define HD_MARKS_ANYWHERE 1
#include "tile/tile.h"

#define HD_SCHEME_ID HEDDLE_SCHEME_ICEBERG
#define HD_EVICTS 0
#define HD_CHOOSES 1 /* the emptier of two buckets */
#define HD_CANDIDATES 3
#define HD_PLACE_TRIES 64

typedef struct hd_walk {
    hd_key lean;
    uint32_t region;
    uint32_t chain; /* stays as it is */
    uint32_t step;  /* 0: at the primary, 1 and 2: at the secondaries */
} hd_walk;

/* Secondaries are so many buckets behind the primary, in a circle: three different buckets. */
HD_FN uint32_t secondary_distance(uint32_t chain, uint32_t step, uint32_t buckets)
{
    const uint32_t first_chain = chain_next(chain);
    const uint32_t first = 1 + hd_mulhi32(first_chain, buckets - 1);
    uint32_t second;
    if (step == 1) return first;
    second = 1 + hd_mulhi32(chain_next(first_chain), buckets - 2);
    return second + (second >= first);
}

HD_FN uint64_t walk_bucket(const hd_view *view, const hd_walk *walk)
{
    uint32_t bucket = hd_mulhi32(walk->chain, view->region_buckets);
    if (walk->step != 0) {
        bucket += secondary_distance(walk->chain, walk->step, view->region_buckets);
        if (bucket >= view->region_buckets) bucket -= view->region_buckets;
    }
    return (uint64_t)walk->region * view->region_buckets + bucket;
}

HD_FN bool walk_advance(const hd_view *view, hd_walk *walk)
{
    (void)view;
    if (walk->step + 1 >= HD_CANDIDATES) return false;
    walk->step++;
    return true;
}

#include "scheme/walk.inl"

/* Keys that a bucket takes as their first. */
HD_FN uint32_t first_room(const hd_view *view) { return view->threshold; }

/* ------------------------------------------------------------------------------ beside others */

/* What an insertion is about, one word: the lower bits; then keys of S2; then how often it began anew. */
typedef uint32_t hd_aim;
enum {
    AIM_HOME,   /* at P */
    AIM_BEHIND, /* at S1 or S2, whether the key is there from before */
    AIM_BACK,   /* at P again: it is not */
    AIM_SECOND, /* holds the lock from here on; at S2: is it there, how full is this */
    AIM_FIRST,  /* at S1: the same, and chooses */
    AIM_TAKES   /* at S2 or P, which was chosen */
};
#define HD_AIM_MODE 7u
#define HD_AIM_KEYS 8u  /* counts, from here up, the keys of S2 */
#define HD_AIM_TRY 512u /* counts, from here up, how often it began anew */

HD_FN hd_aim aim_start(void) { return AIM_HOME; }
HD_FN uint32_t aim_keys(hd_aim aim) { return aim % HD_AIM_TRY / HD_AIM_KEYS; }

/* Goes on at another bucket of the walk. */
HD_FN int aim_at(hd_aim *aim, uint32_t mode, hd_walk *walk, uint32_t step)
{
    *aim = (*aim & ~HD_AIM_MODE) | mode;
    walk->step = step;
    return HD_GOES_ON;
}

/* Others were faster: all anew. */
HD_FN int aim_anew(hd_aim *aim, hd_walk *walk)
{
    if (*aim >= HD_PLACE_TRIES * HD_AIM_TRY) return HD_DEFERRED;
    *aim = (*aim / HD_AIM_TRY + 1) * HD_AIM_TRY + AIM_HOME;
    walk->step = 0;
    return HD_GOES_ON;
}

/* The next step of a walk whose key was neither found nor placed in the bucket it is at. */
HD_FN int aim_next(hd_aim *aim, hd_walk *walk, bool passed, uint32_t keys)
{
    switch (*aim & HD_AIM_MODE) {
    case AIM_HOME: /* its mark is cleared: those who lock have been sent on already */
        return aim_at(aim, AIM_BEHIND, walk, 1);
    case AIM_BEHIND:
        return passed && walk->step == 1 ? aim_at(aim, AIM_BEHIND, walk, 2)
                                         : aim_at(aim, AIM_BACK, walk, 0);
    case AIM_SECOND: *aim += keys * HD_AIM_KEYS; return aim_at(aim, AIM_FIRST, walk, 1);
    case AIM_FIRST: return aim_at(aim, AIM_TAKES, walk, aim_keys(*aim) < HD_BUCKET ? 2 : 0);
    default: /* AIM_TAKES: the last bucket had no room either, or S2 has none left */
        return walk->step == 0 ? HD_DEFERRED : aim_anew(aim, walk);
    }
}

/*
 * One look of an insertion beside other tiles that do the same; tiles may go together. `b` is a shared
 * snapshot of the bucket the walk is at. HD_PLACED, HD_PRESENT (the policy was applied), HD_DEFERRED, or
 * HD_GOES_ON. A tile whose walk ends or begins anew holds no lock.
 */
HD_FN int place_step(hd_tile t, const hd_view *view, hd_walk *walk, hd_aim *aim, const hd_bucket *b,
                     hd_value value, uint32_t policy, bool active)
{
    hd_hit hit;
    hd_vacancy room;
    const bool found = bucket_lookup(t, view, b, walk->lean, &hit);
    const bool passed = bucket_is_passed(t, view, b, walk->lean);
    const bool vacant = bucket_vacancy(t, view, b, &room);
    const bool busy = vacancy_is_busy(t, view, room) && vacant;
    const bool open = vacancy_is_before(t, room, view->threshold) && vacant;
    const uint32_t mode = *aim & HD_AIM_MODE;
    const bool holds = mode >= AIM_SECOND, at_home = mode == AIM_HOME || mode == AIM_BACK;
    const bool stays = mode == AIM_BACK || !passed; /* it has no reason to look behind P */
    const bool locks = at_home && stays && !open && !found;
    uint32_t keys = 0;
    bool locked = false, placed, takes, begins_anew, chose_second;
    hd_pair pair;
    pair.lean = walk->lean;
    pair.value = value;
    if (tiles_any(t, active && holds)) keys = bucket_keys(t, b);
    if (tiles_any(t, active && locks))
        locked = bucket_lock(t, view, walk_bucket(view, walk), active && locks);
    takes = (at_home && stays && open) || (mode == AIM_TAKES && vacant) ||
            (mode == AIM_FIRST && vacant && keys <= aim_keys(*aim));
    chose_second = mode == AIM_FIRST && !takes && !found && aim_keys(*aim) < HD_BUCKET;
    hit_update(t, view, hit, policy, value, active && found);
    bucket_mark(t, view, b, walk->lean, locked || (active && chose_second));
    placed = vacancy_claim(t, view, room, pair, active && takes && !found && !busy);
    begins_anew = !found && !placed && (takes || (locks && !locked));
    if (tiles_any(t, active && holds)) {
        hd_walk home = *walk;
        const bool lost = mode == AIM_TAKES && !vacant;
        home.step = 0;
        bucket_unlock(t, view, walk_bucket(view, &home),
                      active && holds && (found || placed || begins_anew || lost));
    }
    if (found) return HD_PRESENT;
    if (placed) return HD_PLACED;
    if (begins_anew) return aim_anew(aim, walk);
    return locked ? aim_at(aim, AIM_SECOND, walk, 2) : aim_next(aim, walk, passed, keys);
}

/* -------------------------------------------------------------------------------------- alone */

/* Puts a pair into the emptier of two secondaries; false: both are full. `b` are P, S1 and S2. */
HD_FN bool put_behind(hd_tile t, const hd_view *view, const hd_bucket b[HD_CANDIDATES],
                      hd_pair pair)
{
    const uint32_t first = bucket_keys(t, &b[1]), second = bucket_keys(t, &b[2]);
    hd_vacancy room;
    if (first == HD_BUCKET && second == HD_BUCKET) return false;
    bucket_mark(t, view, &b[0], pair.lean, true);
    bucket_mark(t, view, &b[1], pair.lean, second < first);
    if (second < first) bucket_vacancy(t, view, &b[2], &room);
    else bucket_vacancy(t, view, &b[1], &room);
    vacancy_fill(t, view, room, pair);
    return true;
}

/*
 * Inserts a key into a region that the tile has to itself: the same rule without locks. HD_PLACED,
 * HD_PRESENT (the policy was applied), or HD_NO_ROOM: nothing can be moved.
 */
HD_FN int scheme_insert_alone(hd_tile t, const hd_view *view, const hd_walk start, hd_value value,
                              uint32_t policy, uint32_t kicks, uint32_t *path, uint32_t *probes,
                              uint32_t *evictions)
{
    hd_walk walk = start;
    hd_bucket b[HD_CANDIDATES];
    hd_hit hit;
    hd_vacancy room;
    bool vacant, open;
    hd_pair pair;
    (void)kicks, (void)path, (void)evictions;
    pair.lean = start.lean;
    pair.value = value;
    b[0] = bucket_load_shared(t, view, walk_bucket(view, &walk));
    ++*probes;
    if (bucket_lookup(t, view, &b[0], pair.lean, &hit)) {
        hit_update(t, view, hit, policy, value, true);
        return HD_PRESENT;
    }
    vacant = bucket_vacancy(t, view, &b[0], &room);
    open = vacancy_is_before(t, room, view->threshold) && vacant;
    if (open && !bucket_is_passed(t, view, &b[0], pair.lean)) {
        vacancy_fill(t, view, room, pair);
        return HD_PLACED;
    }
    HD_UNROLL
    for (uint32_t i = 1; i < HD_CANDIDATES; i++) {
        walk_advance(view, &walk);
        b[i] = bucket_load_shared(t, view, walk_bucket(view, &walk));
    }
    *probes += HD_CANDIDATES - 1;
    HD_UNROLL
    for (uint32_t i = 1; i < HD_CANDIDATES; i++) {
        if (!bucket_lookup(t, view, &b[i], pair.lean, &hit)) continue;
        hit_update(t, view, hit, policy, value, true);
        return HD_PRESENT;
    }
    if (!open && put_behind(t, view, b, pair)) return HD_PLACED;
    if (!vacant) return HD_NO_ROOM;
    vacancy_fill(t, view, room, pair);
    return HD_PLACED;
}

HD_FN int scheme_settle(hd_tile t, const hd_view *view, const hd_walk start, hd_value value,
                        uint32_t policy, uint32_t kicks, uint32_t *path, uint32_t *probes,
                        uint32_t *evictions)
{
    return scheme_insert_alone(t, view, start, value, policy, kicks, path, probes, evictions);
}

#endif
