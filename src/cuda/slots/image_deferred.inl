/*
 * image_deferred.inl: the keys that were deferred when an image was filled. When all others are in, equal ones
 * of these are brought together in shared memory, and one thread for each key that is left brings it in, all
 * at once, in the way of the scheme:
 *
 *   image_settle.inl   by moving others on
 *   image_choose.inl   into the emptier of two buckets
 */
#ifndef HD_CUDA_KERNELS_H
#error "included by kernels.h alone"
#endif
#ifndef HD_CUDA_IMAGE_SCRATCH_H
#define HD_CUDA_IMAGE_SCRATCH_H

#if HD_CHOOSES
#include "cuda/slots/image_choose.inl"
#else
#include "cuda/slots/image_settle.inl"
#endif

/* The thread that acts for a key, of all that have it in the scratch memory. */
HD_FN uint32_t scratch_claim(image_scratch *scratch, hd_key lean)
{
    uint32_t at = ((uint32_t)lean * UINT32_C(0x9e3779b1)) >> 16;
    for (;; at++) {
        const uint32_t other =
            atomicCAS(&scratch->hash[at % SCRATCH_HASH], SCRATCH_NOBODY, threadIdx.x);
        if (other == SCRATCH_NOBODY) return threadIdx.x;
        if (scratch->keys[other] == lean) return other;
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

HD_FN hd_pair scratch_pair(const image_scratch *scratch, uint32_t actor)
{
    hd_pair pair;
    pair.lean = scratch->keys[actor];
    pair.value = 0;
#if HD_VALUE_BITS != 0
    pair.value = scratch->values[actor];
#endif
    return pair;
}

/* The pairs in the scratch memory that are listed in its hash move in. */
HD_FN void image_move_in(const image *im, const hd_view *view, insert_sums *s)
{
    image_scratch *scratch = im->scratch;
    if (spread_thread() < scratch->actors) {
        const uint32_t actor = scratch->hash[spread_thread()];
        hd_pair pair = scratch_pair(scratch, actor);
        if (image_bring_in(im, view, &pair, s)) s->inserted++;
        else if (HD_CHOOSES) scratch->hash[FILL_BLOCK + atomicAdd(&scratch->stuck, 1)] = actor;
        else image_fail(im, view, pair, s);
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
    const image_scratch *scratch = im->scratch;
    bool room = true;
    if (threadIdx.x >= 32 || scratch->stuck == 0) return;
    for (uint32_t i = 0; i < scratch->stuck; i++) {
        const hd_pair pair = scratch_pair(scratch, scratch->hash[FILL_BLOCK + i]);
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
    image_scratch *scratch = im->scratch;
    if (active && !first && image_has(im, view, pair, policy)) {
        s->present++;
        active = false;
    }
    for (uint32_t i = threadIdx.x; i < SCRATCH_HASH; i += FILL_BLOCK)
        scratch->hash[i] = SCRATCH_NOBODY;
    if (threadIdx.x == 0) scratch->actors = scratch->stuck = 0;
    if (active) scratch->keys[threadIdx.x] = pair.lean;
#if HD_VALUE_BITS != 0
    if (active) scratch->values[threadIdx.x] = pair.value;
#endif
    __syncthreads();
    if (active) {
        const uint32_t actor = scratch_claim(scratch, pair.lean);
        if (actor != threadIdx.x) {
#if HD_VALUE_BITS != 0
            value_update(&scratch->values[actor], policy, pair.value);
#endif
            s->present++;
            active = false;
        }
    }
    __syncthreads();
    if (active) scratch->hash[atomicAdd(&scratch->actors, 1)] = threadIdx.x;
    __syncthreads();
    image_move_in(im, view, s);
#if HD_CHOOSES
    image_move_stuck(im, view, s);
    __syncthreads();
#endif
}

#endif
