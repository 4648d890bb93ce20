/*
 * image_deferred.h: the keys that were deferred when an image was filled. When all others are in, equal ones
 * of these are brought together on the desk, and one thread for each key that is left brings it in, all
 * at once, in the way of the scheme:
 *
 *   image_settle.h   by moving others on
 *   image_choose.h   into the emptier of two buckets
 */
#ifndef HD_CUDA_IMAGE_DESK_H
#define HD_CUDA_IMAGE_DESK_H

#if HD_CHOOSES
#include "cuda/slots/image_choose.h"
#else
#include "cuda/slots/image_settle.h"
#endif

/* The thread that acts for a key, of all that have it on the desk. */
HD_FN uint32_t desk_claim(image_desk *desk, hd_key lean)
{
    uint32_t at = ((uint32_t)lean * UINT32_C(0x9e3779b1)) >> 16;
    for (;; at++) {
        const uint32_t other = atomicCAS(&desk->hash[at % DESK_HASH], DESK_NOBODY, threadIdx.x);
        if (other == DESK_NOBODY) return threadIdx.x;
        if (desk->keys[other] == lean) return other;
    }
}

/* Whether a deferred key has come in with those before it; the policy is then applied. */
HD_FN bool image_has(const image *im, const hd_view *view, hd_pair pair, uint32_t policy)
{
    hd_walk walk = walk_start_lean(0, pair.lean);
    do {
        const uint32_t bucket = (uint32_t)walk_bucket(view, &walk);
        if (image_look_at<true>(im, view, bucket, pair.lean).found) {
            image_meet(im, view, bucket, pair, policy);
            return true;
        }
    } while (walk_advance(view, &walk));
    return false;
}

HD_FN hd_pair desk_pair(const image_desk *desk, uint32_t actor)
{
    hd_pair pair;
    pair.lean = desk->keys[actor];
    pair.value = 0;
#if HD_VALUE_BITS != 0
    pair.value = desk->values[actor];
#endif
    return pair;
}

/* The pairs on the desk that are listed in its hash move in. */
HD_FN void image_move_in(const image *im, const hd_view *view, insert_sums *s)
{
    image_desk *desk = im->desk;
    if (spread_thread() < desk->actors) {
        const uint32_t actor = desk->hash[spread_thread()];
        if (image_bring_in(im, view, desk_pair(desk, actor), s)) s->inserted++;
        else if (HD_CHOOSES) desk->hash[FILL_BLOCK + atomicAdd(&desk->stuck, 1)] = actor;
        else image_fail(im, view, desk_pair(desk, actor), s);
    }
    __syncthreads();
}

#if HD_CHOOSES
/*
 * Those that found no room when they chose all at once get it one after the other, by the first warp.
 * There is no use in going on after one that gets none, unless those are listed.
 */
HD_FN void image_move_stuck(const image *im, const hd_view *view, insert_sums *s)
{
    const image_desk *desk = im->desk;
    bool room = true;
    if (threadIdx.x >= 32 || desk->stuck == 0) return;
    for (uint32_t i = 0; i < desk->stuck; i++) {
        const hd_pair pair = desk_pair(desk, desk->hash[FILL_BLOCK + i]);
        room = (room || im->failed != NULL) && image_make_room(im, view, pair);
        s->inserted += room && threadIdx.x == 0;
        if (!room && threadIdx.x == 0) image_fail(im, view, pair, s);
    }
}
#endif

/* Brings in up to one deferred pair a thread; `active` threads have one. */
HD_FN void image_settle(const image *im, const hd_view *view, hd_pair pair, bool active,
                        uint32_t policy, bool first, insert_sums *s)
{
    image_desk *desk = im->desk;
    if (active && !first && image_has(im, view, pair, policy)) {
        s->present++;
        active = false;
    }
    for (uint32_t i = threadIdx.x; i < DESK_HASH; i += FILL_BLOCK) desk->hash[i] = DESK_NOBODY;
    if (threadIdx.x == 0) desk->actors = desk->stuck = 0;
    if (active) desk->keys[threadIdx.x] = pair.lean;
#if HD_VALUE_BITS != 0
    if (active) desk->values[threadIdx.x] = pair.value;
#endif
    __syncthreads();
    if (active) {
        const uint32_t actor = desk_claim(desk, pair.lean);
        if (actor != threadIdx.x) {
#if HD_VALUE_BITS != 0
            value_update(&desk->values[actor], policy, pair.value);
#endif
            s->present++;
            active = false;
        }
    }
    __syncthreads();
    if (active) desk->hash[atomicAdd(&desk->actors, 1)] = threadIdx.x;
    __syncthreads();
    image_move_in(im, view, s);
#if HD_CHOOSES
    image_move_stuck(im, view, s);
    __syncthreads();
#endif
}

#endif
