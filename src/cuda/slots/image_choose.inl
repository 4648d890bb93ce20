/*
 * image_choose.inl: an image of a scheme that chooses among buckets with room (scheme/iceberg.h). A key
 * that did not come into its first bucket below the threshold is brought in when it is known that no
 * other thread has it (image_deferred.inl): into the first bucket if equal keys have left room there, else
 * into the emptier of two, else wherever there is room.
 *
 * Buckets of a fresh image fill up from their first slot on and lose nothing. So whoever finds a slot of its first
 * bucket below the threshold vacant knows that its key lies in no other bucket. Of an image that was loaded that is
 * not so: there keys are looked for first (fill_meet).
 *
 * All threads choose at once, by what they see: several may go to the same bucket and fill it, which they
 * would not one after the other. So it happens, to one key of ten million at load 0.8, that all buckets of a
 * key are full though there is room. Such a key gets a slot by moving another key on to a bucket with
 * room, one that has come with it: nobody has seen that yet. The slot is taken as before, so what was said above still
 * holds.
 *
 * Keys may go past buckets with room, whose vacant words keep no marks here. So there are no marks in
 * such an image until all keys are in; then each key that lies behind others sets its own.
 */
#ifndef HD_CUDA_KERNELS_H
#error "included by kernels.h alone"
#endif
#ifndef HD_CUDA_IMAGE_CHOOSE_H
#define HD_CUDA_IMAGE_CHOOSE_H

#include "cuda/slots/image.inl"

/* Notes that a slot was taken here: its pair may still be moved, as nobody has seen it. */
HD_FN void image_note_new(const image *im, uint32_t slot)
{
    if (!im->all_may_fail) or_relaxed_32(&im->placed[slot / 32], 1u << slot % 32);
}

HD_FN bool image_may_move(const image *im, uint32_t slot)
{
    return im->all_may_fail || (im->placed[slot / 32] >> slot % 32 & 1) != 0;
}

/* Claims the first vacancy among the first `room` slots of a bucket. No other thread has this key. */
HD_FN bool image_claim(const image *im, uint32_t bucket, uint32_t room, hd_pair pair)
{
    for (uint32_t slot = bucket * HD_BUCKET; slot < bucket * HD_BUCKET + room; slot++) {
        if (image_key(im, slot) != HD_KEY_EMPTY ||
            image_cas(im->keys + slot, HD_KEY_EMPTY, pair.lean) != HD_KEY_EMPTY)
            continue;
        if (HD_HAS_VALUES) im->values[slot] = pair.value;
        image_note_new(im, slot);
        return true;
    }
    return false;
}

/*
 * Brings a key that is nowhere in the region into its first bucket, beside others that may have the same one. As
 * image_taken; HD_DEFERRED: there is no room for it below the threshold.
 */
HD_FN int image_bring_home(const image *im, const hd_view *view, hd_pair pair, uint32_t policy)
{
    const hd_walk walk = walk_start_lean(0, pair.lean);
    const uint32_t home = (uint32_t)walk_bucket(view, &walk), room = first_room(view);
    const image_look look = image_look_at<false>(im, view, home, pair.lean);
    hd_key before;
    const uint32_t slot = image_take(im, view, home, look, room, pair.lean, &before);
    const int result = image_taken(im, view, home, look, slot, before, room, pair, policy);
    if (result == HD_PLACED) image_note_new(im, slot);
    return result;
}

/* False: all buckets of the key are full; see image_make_room. */
HD_FN bool image_bring_in(const image *im, const hd_view *view, const hd_pair *bring,
                          insert_sums *s)
{
    const hd_pair pair = *bring;
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

/* A vacancy in any bucket of the key that lies in a slot; `slots` of the image: there is none, or it has to stay. */
HD_FN uint32_t image_other_place(const image *im, const hd_view *view, uint32_t slot)
{
    const hd_key lean = image_key(im, slot);
    if (!image_may_move(im, slot)) return im->slots;
    hd_walk walk = walk_start_lean(0, lean);
    do {
        const uint32_t bucket = (uint32_t)walk_bucket(view, &walk);
        const uint32_t vacant = image_look_at<false>(im, view, bucket, lean).vacant;
        if (vacant != 0) return bucket * HD_BUCKET + hd_lowest_bit(vacant);
    } while (walk_advance(view, &walk));
    return im->slots;
}

/*
 * Moves a key out of the full buckets of another, which gets its slot. A warp does this, a lane for
 * each slot, while no other thread is at the image. False: none of the keys has another place.
 */
HD_FN bool image_make_room(const image *im, const hd_view *view, hd_pair pair)
{
    for (uint32_t i = threadIdx.x % 32; i < (HD_CANDIDATES * HD_BUCKET + 31) / 32 * 32; i += 32) {
        uint32_t from = 0, to = im->slots;
        if (i < HD_CANDIDATES * HD_BUCKET) {
            hd_walk walk = walk_start_lean(0, pair.lean);
            for (uint32_t step = 0; step < i / HD_BUCKET; step++) walk_advance(view, &walk);
            from = (uint32_t)walk_bucket(view, &walk) * HD_BUCKET + i % HD_BUCKET;
            to = image_other_place(im, view, from);
        }
        const uint32_t lanes = __ballot_sync(0xffffffffu, to < im->slots);
        if (lanes != 0 && threadIdx.x % 32 == hd_lowest_bit(lanes)) {
            im->keys[to] = im->keys[from];
            im->keys[from] = pair.lean;
            if (HD_HAS_VALUES) im->values[to] = im->values[from];
            if (HD_HAS_VALUES) im->values[from] = pair.value;
            image_note_new(im, to);
        }
        __syncwarp();
        if (lanes != 0) return true;
    }
    return false;
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
