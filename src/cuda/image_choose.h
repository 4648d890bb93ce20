/*
 * image_choose.h: an image of a scheme that chooses among buckets with room (scheme/iceberg.h). A key
 * that did not come into its first bucket below the threshold is brought in when it is known that no
 * other thread has it (image_desk.h): into the first bucket if equal keys have left room there, else
 * into the emptier of two, else wherever there is room.
 *
 * Buckets fill up from their first slot on and lose nothing. So whoever finds a slot of its first bucket
 * below the threshold vacant knows that its key lies in no other bucket.
 *
 * Keys may go past buckets with room, whose vacant words keep no marks here. So there are no marks in
 * such an image until all keys are in; then each key that lies behind others sets its own.
 */
#ifndef HD_CUDA_IMAGE_CHOOSE_H
#define HD_CUDA_IMAGE_CHOOSE_H

#include "cuda/image.h"

/* Claims the first vacancy among the first `room` slots of a bucket. No other thread has this key. */
HD_FN bool image_claim(const image *im, uint32_t bucket, uint32_t room, hd_pair pair)
{
    for (uint32_t slot = bucket * HD_BUCKET; slot < bucket * HD_BUCKET + room; slot++) {
        if (image_key(im, slot) != HD_KEY_EMPTY ||
            image_cas(im->keys + slot, HD_KEY_EMPTY, pair.lean) != HD_KEY_EMPTY)
            continue;
        if (HD_HAS_VALUES) im->values[slot] = pair.value;
        return true;
    }
    return false;
}

/* False: all buckets of the key are full. */
HD_FN bool image_bring_in(const image *im, const hd_view *view, hd_pair pair, insert_sums *s)
{
    hd_walk walk = walk_start_lean(0, pair.lean);
    const uint32_t home = (uint32_t)walk_bucket(view, &walk);
    if (image_claim(im, home, first_room(view), pair)) return true;
    walk_advance(view, &walk);
    const uint32_t first = (uint32_t)walk_bucket(view, &walk);
    walk_advance(view, &walk);
    const uint32_t second = (uint32_t)walk_bucket(view, &walk);
    const int room_first = __popc(image_look_at<false>(im, view, first, pair.lean).vacant);
    const int room_second = __popc(image_look_at<false>(im, view, second, pair.lean).vacant);
    const uint32_t emptier = room_second > room_first ? second : first;
    s->probes += HD_CANDIDATES;
    return image_claim(im, emptier, HD_BUCKET, pair) ||
           image_claim(im, first + second - emptier, HD_BUCKET, pair) ||
           image_claim(im, home, HD_BUCKET, pair);
}

/* Sets the marks of all keys of an image that had none, and makes room for them in vacant words. */
HD_FN void image_mark_all(const image *im, const hd_view *view)
{
    for (uint32_t i = threadIdx.x; i < im->slots; i += FILL_BLOCK)
        if (key_is_vacant(im->keys[i])) im->keys[i] = key_bare(view, HD_KEY_EMPTY);
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < im->slots; i += FILL_BLOCK) {
        const hd_key lean = key_bare(view, image_key(im, i)); /* others may set marks in it */
        if (key_is_vacant(lean)) continue;
        hd_walk walk = walk_start_lean(0, lean);
        while (walk_bucket(view, &walk) != i / HD_BUCKET) {
            image_mark(im, view, (uint32_t)walk_bucket(view, &walk), lean);
            if (!walk_advance(view, &walk)) break;
        }
    }
    __syncthreads();
}

#endif
