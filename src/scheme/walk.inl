/*
 * walk.inl: what the schemes share in which a key has a walk: a row of buckets of its region where it may
 * be, looked through in order. A scheme says which these are and includes this file then:
 *
 *   hd_walk                              a walk: lean, region, chain and step, the buckets left behind
 *   walk_bucket(view, &walk)             the bucket that it is at
 *   walk_advance(view, &walk)            on to the next; false when there is none
 *   HD_AIM_BITS                          bits that hold any step and one number more
 *
 * The invariant that lets a lookup stop: a key that lies behind a bucket on its walk has cleared its
 * mark there (hash.h), and marks are not set again but by marks.h, for those that no key needs. An erase makes
 * room in a bucket and leaves its marks alone; so nothing need stand in the place of an erased key.
 */
#ifndef HD_SCHEME_ID
#error "included by a scheme: cuckoo.h, open.h, iceberg.h"
#endif
#ifndef HD_WALK_H
#define HD_WALK_H

enum { HD_STEP_FOUND, HD_STEP_ABSENT, HD_STEP_ON };
enum { HD_PLACED = 1, HD_PRESENT, HD_DEFERRED, HD_NO_ROOM, HD_GOES_ON };

/* How the ABI names the end of an insertion: one of the first four but HD_DEFERRED. */
HD_FN uint8_t outcome_of(int result, uint32_t policy)
{
    if (result == HD_PLACED) return HEDDLE_OUTCOME_INSERTED;
    if (result == HD_NO_ROOM) return HEDDLE_OUTCOME_FAILED;
    return policy == HEDDLE_POLICY_KEEP ? HEDDLE_OUTCOME_KEPT : HEDDLE_OUTCOME_UPDATED;
}

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

HD_FN void walk_restart(hd_walk *walk)
{
    walk->chain = chain_start(walk->lean);
    walk->step = 0;
}

/* Brings the buckets that a key most likely is in nearer. One thread alone may call it. */
HD_FN void walk_prefetch(const hd_view *view, hd_walk walk)
{
    do bucket_prefetch(view, walk_bucket(view, &walk));
    while (walk.step < 3 && walk_advance(view, &walk));
}

/* The rule by which a search ends: it has found the key, or the key was never pushed past this bucket. */
HD_FN bool find_ends(bool found, bool passed) { return found || !passed; }

/* One look of a lookup at the bucket the walk is at, loaded as `b`. Tiles may go together. */
HD_FN int find_step(hd_tile t, const hd_view *view, hd_walk *walk, const hd_bucket *b, hd_hit *hit)
{
    const bool found = bucket_lookup(t, view, b, walk->lean, hit);
    if (tile_is_alone(t) && found) return HD_STEP_FOUND;
    const bool passed = bucket_is_passed(t, view, b, walk->lean);
    /* The key is asked for first: to a GPU both questions at once are more instructions. */
    if (found) return HD_STEP_FOUND;
    if (find_ends(found, passed)) return HD_STEP_ABSENT;
    return walk_advance(view, walk) ? HD_STEP_ON : HD_STEP_ABSENT;
}

#endif
