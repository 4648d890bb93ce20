/*
 * image_settle.inl: a key that has met only full buckets of an image moves in by moving others on, beside
 * other such keys (image_deferred.inl). A slot at work is locked. While that happens nobody looks for keys, so
 * it does not matter that a pair on its way is nowhere to be found.
 */
#ifndef HD_CUDA_KERNELS_H
#error "included by kernels.h alone"
#endif
#ifndef HD_CUDA_IMAGE_SETTLE_H
#define HD_CUDA_IMAGE_SETTLE_H

#include "cuda/slots/image.inl"

/*
 * A slot at work is locked: its key word has the vacant bit, its marks if it had any, and no key. So
 * marks can be set in it meanwhile (in EMPTY they would be lost), nobody else can lock or claim it,
 * and it does not look taken.
 */
HD_FN bool slot_lock(const image *im, const hd_view *view, uint32_t slot, hd_key seen)
{
    return image_cas(im->keys + slot, seen, HD_TOP_BIT | (seen & mark_mask(view))) == seen;
}

/* Puts a key into a locked slot; marks that came meanwhile stay. */
HD_FN void slot_unlock(const image *im, uint32_t slot, hd_key lean)
{
    __threadfence_block(); /* the value is there first */
#if HD_KEY_BITS == 32
    atomicXor(im->keys + slot, HD_TOP_BIT ^ lean);
#else
    atomicXor((unsigned long long *)im->keys + slot, HD_TOP_BIT ^ lean);
#endif
}

/* Swaps a pair with that of a locked slot. Returns the value; the key is what was seen before the lock. */
HD_FN hd_value slot_swap_value(const image *im, uint32_t slot, hd_value value)
{
#if HD_VALUE_BITS == 32
    return atomicExch(im->values + slot, value);
#elif HD_VALUE_BITS == 64
    return atomicExch((unsigned long long *)im->values + slot, value);
#else
    (void)im, (void)slot;
    return value;
#endif
}

/* Claims a vacant slot of a bucket by locking it; false: there is none. */
HD_FN bool image_claim_vacant(const image *im, uint32_t bucket, uint32_t *slot)
{
    const uint32_t end = bucket * HD_BUCKET + HD_BUCKET;
    for (*slot = bucket * HD_BUCKET; *slot < end; ++*slot)
        if (image_key(im, *slot) == HD_KEY_EMPTY &&
            image_cas(im->keys + *slot, HD_KEY_EMPTY, HD_TOP_BIT) == HD_KEY_EMPTY)
            return true;
    return false;
}

/* Puts a pair into a locked slot and unlocks it; the slot's bucket may be full from then on. */
HD_FN hd_value image_put(const image *im, uint32_t slot, hd_pair pair)
{
    const hd_value before = slot_swap_value(im, slot, pair.value);
    slot_unlock(im, slot, pair.lean);
    return before;
}

/* Slots are taken in order, so the last one tells. One that is locked does not look taken. */
HD_FN bool image_may_have_room(const image *im, uint32_t bucket)
{
    return key_is_vacant(image_key(im, bucket * HD_BUCKET + HD_BUCKET - 1));
}

/*
 * Moves the pair in a slot of a full bucket to its next candidate that has room and puts `pair` in its
 * place. False: there is none, or others were faster.
 */
HD_FN bool image_move_on(const image *im, const hd_view *view, uint32_t bucket, uint32_t slot,
                         hd_pair pair)
{
    const hd_key seen = image_key(im, slot);
    hd_walk walk = walk_start_lean(0, key_bare(view, seen));
    uint32_t to;
    if (key_is_vacant(seen)) return false; /* locked */
    while (walk_bucket(view, &walk) != bucket)
        if (!walk_advance(view, &walk)) return false;
    const uint32_t step = walk.step;
    do
        if (!walk_advance(view, &walk)) return false;
    while (!image_may_have_room(im, (uint32_t)walk_bucket(view, &walk)));
    if (!slot_lock(im, view, slot, seen)) return false;
    if (!image_claim_vacant(im, (uint32_t)walk_bucket(view, &walk), &to)) {
        slot_unlock(im, slot, walk.lean); /* as it was */
        return false;
    }
    hd_pair victim;
    victim.lean = walk.lean;
    victim.value = slot_swap_value(im, slot, pair.value);
    image_put(im, to, victim);
    slot_unlock(im, slot, pair.lean);
    image_mark_passed(im, view, victim.lean, step, walk.step);
    return true;
}

/*
 * Makes room for a pair by moving one other. Of all ways to bring a pair in this costs later lookups
 * least. False: no pair in its buckets can be moved so, or others were faster.
 */
HD_FN bool image_move_one(const image *im, const hd_view *view, hd_pair pair, insert_sums *s)
{
    hd_walk walk = walk_start_lean(0, pair.lean);
    do {
        const uint32_t bucket = (uint32_t)walk_bucket(view, &walk);
        s->probes++;
        for (uint32_t i = 0; i < HD_BUCKET; i++) {
            const uint32_t slot = bucket * HD_BUCKET + (i + threadIdx.x) % HD_BUCKET;
            if (!image_move_on(im, view, bucket, slot, pair)) continue;
            image_mark_passed(im, view, pair.lean, 0, walk.step);
            s->evictions++;
            return true;
        }
    } while (walk_advance(view, &walk));
    return false;
}

/* The same by a chain of evictions; false: no room was found for the last one that had to give way. */
HD_FN bool image_evict(const image *im, const hd_view *view, hd_pair *left, insert_sums *s)
{
    hd_pair pair = *left;
    uint32_t bucket = hd_mulhi32(chain_start(pair.lean), view->region_buckets);
    for (uint32_t kicks = 0, tries = 0; kicks < view->kicks && tries < EVICT_TRIES; tries++) {
        uint32_t slot;
        if (image_claim_vacant(im, bucket, &slot)) {
            image_put(im, slot, pair);
            return true;
        }
        slot = bucket * HD_BUCKET + victim_number(pair.lean, tries);
        const hd_key seen = image_key(im, slot);
        if (key_is_vacant(seen) || !slot_lock(im, view, slot, seen)) continue;
        hd_pair victim;
        victim.lean = key_bare(view, seen);
        victim.value = image_put(im, slot, pair);
        image_mark(im, view, bucket, victim.lean);
        pair = victim;
        bucket = (uint32_t)next_bucket(view, 0, pair.lean, bucket);
        kicks++;
        s->probes++;
        s->evictions++;
    }
    *left = pair;
    return false;
}

/*
 * Brings in a pair whose buckets are all full. False: it is not in, or, where all pairs may fail, another that
 * has given way; *pair is the one that is not.
 */
HD_FN bool image_bring_in(const image *im, const hd_view *view, hd_pair *pair, insert_sums *s)
{
    return image_move_one(im, view, *pair, s) ||
           (im->all_may_fail && image_evict(im, view, pair, s));
}

#endif
