/*
 * place.inl: insertion along a walk (walk.inl) that never moves a pair: a key goes into the first vacancy on
 * its way, and past a bucket only if that is full.
 *
 * place_step runs for many keys at once. Since vacancies only disappear meanwhile, and every tile takes
 * them in the same order, two tiles with the same key aim at the same slot; one CAS fails, its tile
 * looks again and finds the key. So a key is never stored twice, without any lock. Keys that meet only
 * full buckets are deferred.
 */
#ifndef HD_SCHEME_ID
#error "included by a scheme: cuckoo.h, open.h, iceberg.h"
#endif
#ifndef HD_PLACE_H
#define HD_PLACE_H

#include "scheme/walk.inl"

/* How often an insertion starts again when other tiles are faster, before the key is deferred. */
#define HD_PLACE_TRIES 64
/*
 * One look of an insertion that moves nothing, beside other tiles that do the same; tiles may go
 * together. On its first lap a walk looks for the key in all buckets that may hold it and notes the
 * first one with a vacancy. If that is the last it came to, it claims the vacancy at once; else it
 * starts a second lap, which ends at the noted bucket. `b` is a shared snapshot of the bucket the
 * walk is at. HD_PLACED, HD_PRESENT (the policy was applied), HD_DEFERRED, or HD_GOES_ON.
 */
typedef uint32_t hd_aim; /* one word, since registers are dear */
/* The lower bits: the step with the first vacancy, or none yet. */
#define HD_AIM_NONE (1u << (HD_AIM_BITS - 1))
#define HD_AIM_SECOND (1u << HD_AIM_BITS) /* second lap: claim at the noted step */
#define HD_AIM_TRY                                                                                 \
    (1u << (HD_AIM_BITS + 1)) /* counts, from here up, how often another was faster */

HD_FN hd_aim aim_start(void) { return HD_AIM_NONE; }
HD_FN uint32_t aim_candidate(hd_aim aim) { return aim & (HD_AIM_SECOND - 1); }

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
 * Inserts a key into a region that the tile has to itself. Most keys find room in their first bucket, so
 * buckets are loaded one after the other, and no mark is set without need. HD_PLACED, HD_PRESENT (the
 * policy was applied), or HD_DEFERRED: all buckets of the walk are full.
 */
HD_FN int place_alone(hd_tile t, const hd_view *view, const hd_walk start, hd_value value,
                      uint32_t policy, uint32_t *probes)
{
    hd_walk walk = start;
    uint32_t room_step = HD_AIM_NONE;
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
    if (room_step == HD_AIM_NONE) return HD_DEFERRED;
    put_behind(t, view, start, room_step, pair);
    return HD_PLACED;
}

#endif
