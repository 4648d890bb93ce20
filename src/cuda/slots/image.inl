/*
 * image.inl: a region in the shared memory of a block, on its way to the table. Threads insert a key
 * each, without tiles: shared memory has no lines that a tile could read as one.
 *
 * Keys and values lie apart here, so that a bucket's keys are 32 bytes or so together and one CAS on a
 * key claims a slot. The marks of a key word are kept inverted: a set bit says that a key was pushed
 * past the bucket. So a key word without marks is the lean key itself.
 *
 * What makes concurrent insertion right is the argument of scheme/place.inl. Nothing is erased in an
 * image, so slots are only ever taken, and a key goes past a bucket only when that is full for good.
 * Each thread takes the first vacancy of its walk by CAS, and before that it has seen every slot in
 * front of it taken by another key. So of two threads with the same key one meets the other's.
 *
 * All keys try their first bucket before any tries another: then as many keys as can be are found by
 * one look. Keys that meet only full buckets are deferred (image_settle.inl). Of a scheme that chooses among
 * buckets with room all keys are deferred that do not come into their first (image_choose.inl).
 */
#ifndef HD_CUDA_KERNELS_H
#error "included by kernels.h alone"
#endif
#ifndef HD_CUDA_IMAGE_H
#define HD_CUDA_IMAGE_H

#include "cuda/partition/sorted_pair.h"
#include "scheme/scheme.h"

#ifndef FILL_BLOCK
#define FILL_BLOCK 1024
#endif
#define FILL_BLOCKS (1024 / FILL_BLOCK) /* of a processor: 64 registers a thread */
#define SCRATCH_HASH (2 * FILL_BLOCK)
#define SCRATCH_WORDS (FILL_BLOCK * (HD_KEY_BITS + HD_VALUE_BITS) / 32 + SCRATCH_HASH)
#define SCRATCH_NOBODY UINT32_MAX
#define EVICT_TRIES 4096 /* beside others; more than enough for all kicks */

/* What a block needs beside the image. */
typedef struct image_scratch {
    union {
        struct {
            hd_key keys[FILL_BLOCK]; /* deferred pairs at work, one a thread */
#if HD_VALUE_BITS != 0
            hd_value values[FILL_BLOCK];
#endif
            uint32_t hash[SCRATCH_HASH]; /* which thread has a key */
        };
        uint32_t counts[SCRATCH_WORDS]; /* earlier: keys that came to each bucket, two in a word */
    };
    uint32_t actors;  /* threads that act for a key; they are then listed where the hash was */
    uint32_t stuck;   /* those of them that found no room; listed behind them (image_choose.inl) */
    uint32_t waiting; /* pairs that have come to wait in the region's slots */
} image_scratch;

typedef struct image {
    hd_key *keys;
    hd_value *values; /* NULL in a set */
    image_scratch *scratch;
    uint32_t slots;
    uint32_t region;
    uint32_t
        *placed; /* a scheme that chooses, unless all_may_fail: a bit for every slot taken here */
    uint32_t *failed; /* where pairs without room are listed; NULL: nowhere */
    unsigned long long *failed_count;
    bool
        all_may_fail; /* no pair was here before: whichever of them finds no room, it is one of those that came */
} image;

HD_BOTH uint32_t image_align(uint32_t bytes) { return (bytes + 15) / 16 * 16; }

HD_BOTH uint32_t image_slots(const hd_view *view) { return view->region_buckets * HD_BUCKET; }

/* The bytes of shared memory that a region takes. */
HD_BOTH uint64_t image_bytes(const hd_view *view)
{
    const uint64_t slots = (uint64_t)view->region_buckets * HD_BUCKET;
    return slots * (sizeof(hd_key) + HD_VALUE_BITS / 8) + 32 + sizeof(image_scratch) +
           (HD_CHOOSES ? image_align((uint32_t)(slots / 8 + 4)) : 0);
}

HD_FN image image_make(const hd_view *view, char *memory)
{
    image im;
    im.region = 0;
    im.failed = NULL;
    im.all_may_fail = true;
    im.failed_count = NULL;
    im.slots = image_slots(view);
    im.keys = (hd_key *)memory;
    memory += image_align(im.slots * sizeof(hd_key));
    im.values = HD_HAS_VALUES ? (hd_value *)memory : NULL;
    memory += image_align(im.slots * (HD_VALUE_BITS / 8));
    im.placed = HD_CHOOSES ? (uint32_t *)memory : NULL;
    memory += HD_CHOOSES ? image_align(im.slots / 8 + 4) : 0;
    im.scratch = (image_scratch *)memory;
    return im;
}

HD_FN hd_key mark_mask(const hd_view *view) { return (hd_key)~view->key_mask; }

/* Fills 16-byte pieces of shared memory; every thread of the block takes part in this and what follows. */
HD_FN void fill_words(void *memory, uint32_t bytes, uint32_t word)
{
    for (uint32_t i = threadIdx.x; i < image_align(bytes) / 16; i += FILL_BLOCK)
        ((uint4 *)memory)[i] = make_uint4(word, word, word, word);
}

/* An empty image. Values need to be something only where others are added to them. */
HD_FN void image_clear(const image *im, uint32_t policy)
{
    fill_words(im->keys, im->slots * sizeof(hd_key), UINT32_MAX);
    if (HD_HAS_VALUES && policy >= HEDDLE_POLICY_ADD)
        fill_words(im->values, im->slots * (HD_VALUE_BITS / 8),
                   policy == HEDDLE_POLICY_MIN ? UINT32_MAX : 0);
    if (threadIdx.x == 0) im->scratch->waiting = 0;
}

/*
 * The image of a region as it is. Without choices a bucket with room has no marks (walk.inl), but for those that
 * erased keys have left: see hd_table_ops.fills_gaps.
 */
HD_FN void image_load(const hd_view *view, const image *im, uint64_t base)
{
    for (uint32_t i = threadIdx.x; i < im->slots; i += FILL_BLOCK) {
        const hd_word word = ((const hd_word *)view->slots)[base + i];
        if (key_is_vacant(word_key(word))) continue;
        im->keys[i] =
            HD_CHOOSES ? key_bare(view, word_key(word)) : word_key(word) ^ mark_mask(view);
        if (HD_HAS_VALUES) im->values[i] = word_value(view, base + i, word);
    }
}

/* The topmost bit of a key word, pushed into `bits` from below. */
HD_FN uint32_t push_vacant(uint32_t bits, hd_key key)
{
    return bits << 1 | (uint32_t)(key >> (HD_KEY_BITS - 1)); /* one instruction, a funnel shift */
}

/* What a thread has seen in a bucket. */
typedef struct image_look {
    bool found;
    uint32_t vacant; /* a bit for each vacant slot */
} image_look;

/*
 * Looks for a key and for vacancies in a bucket. With MARKED its words may have marks. The slots are
 * not all read at the same moment.
 */
template <bool MARKED>
HD_FN image_look image_look_at(const image *im, const hd_view *view, uint32_t bucket, hd_key lean)
{
    const hd_key mask = MARKED ? (hd_key)view->key_mask : HD_KEY_EMPTY;
    const hd_key *const keys = im->keys + bucket * HD_BUCKET;
    image_look look = {false, 0};
#if HD_BUCKET * HD_KEY_BITS / 8 >= 16
    const uint32_t piece_keys = 128 / HD_KEY_BITS, pieces = HD_BUCKET / piece_keys;
    HD_UNROLL
    for (uint32_t p = 0; p < pieces; p++) {
        /* Each thread begins with another piece, so that fewer of them want the same bank. */
        const uint32_t at = (p + threadIdx.x) % pieces * piece_keys;
        hd_key piece[piece_keys];
        uint32_t bits = 0;
        load_block_16(piece, keys + at);
        HD_UNROLL
        for (int i = (int)piece_keys - 1; i >= 0; i--) {
            look.found = look.found || ((piece[i] ^ lean) & mask) == 0;
            bits = push_vacant(bits, piece[i]);
        }
        look.vacant |= bits << at;
    }
#else
    HD_UNROLL
    for (int i = HD_BUCKET - 1; i >= 0; i--) {
        const hd_key key = *(const volatile hd_key *)(keys + i);
        look.found = look.found || ((key ^ lean) & mask) == 0;
        look.vacant = push_vacant(look.vacant, key);
    }
#endif
    return look;
}

HD_FN hd_key image_cas(hd_key *at, hd_key from, hd_key to)
{
#if HD_KEY_BITS == 32
    return atomicCAS(at, from, to);
#else
    return atomicCAS((unsigned long long *)at, from, to);
#endif
}

HD_FN void image_update(const image *im, uint32_t slot, uint32_t policy, hd_value value)
{
    if (HD_HAS_VALUES) value_update(im->values + slot, policy, value);
}

HD_FN hd_key image_key(const image *im, uint32_t slot)
{
    return *(const volatile hd_key *)(im->keys + slot);
}

/* Applies the policy to the value of a key that is in the bucket. */
HD_FN void image_meet(const image *im, const hd_view *view, uint32_t bucket, hd_pair pair,
                      uint32_t policy)
{
    if (!HD_HAS_VALUES || policy == HEDDLE_POLICY_KEEP) return;
    uint32_t slot = bucket * HD_BUCKET;
    while (!key_is(view, image_key(im, slot), pair.lean)) slot++;
    image_update(im, slot, policy, pair.value);
}

/* Where to begin after a look: the first vacancy seen; behind the bucket if there is nothing to take. */
HD_FN uint32_t first_vacancy(uint32_t bucket, image_look look)
{
    const bool none = look.vacant == 0 || look.found;
    return bucket * HD_BUCKET + (none ? HD_BUCKET : hd_lowest_bit(look.vacant));
}

/*
 * Tries to take a slot after a look that has not found the key. From the first vacancy seen on, each
 * CAS tells what is in its slot by now. Ends at a slot that was EMPTY or holds the key, or behind the
 * first `room` slots of the bucket; *before is what was in it.
 */
HD_FN uint32_t image_take(const image *im, const hd_view *view, uint32_t bucket, image_look look,
                          uint32_t room, hd_key lean, hd_key *before)
{
    const uint32_t end = bucket * HD_BUCKET + room;
    uint32_t slot = first_vacancy(bucket, look);
    *before = HD_KEY_BUSY;
    while (slot < end) {
        *before = image_cas(im->keys + slot, HD_KEY_EMPTY, lean);
        if (*before == HD_KEY_EMPTY || key_is(view, *before, lean))
            break; /* it may have marks by now */
        slot++;
    }
    return slot;
}

/*
 * What follows: HD_PLACED, HD_PRESENT (the policy was applied), or HD_DEFERRED when the `room` slots of
 * the bucket that are meant for such keys are taken.
 */
HD_FN int image_taken(const image *im, const hd_view *view, uint32_t bucket, image_look look,
                      uint32_t slot, hd_key before, uint32_t room, hd_pair pair, uint32_t policy)
{
    if (look.found) {
        image_meet(im, view, bucket, pair, policy);
        return HD_PRESENT;
    }
    if (slot >= bucket * HD_BUCKET + room) return HD_DEFERRED;
    /* A sum, minimum or maximum may have begun already: the first value joins it like the others. */
    if (HD_HAS_VALUES && policy == HEDDLE_POLICY_KEEP) {
        if (before == HD_KEY_EMPTY) im->values[slot] = pair.value;
    } else {
        image_update(im, slot, policy, pair.value);
    }
    return before == HD_KEY_EMPTY ? HD_PLACED : HD_PRESENT;
}

/* Notes in a full bucket that a key was pushed past it. */
HD_FN void image_mark(const image *im, const hd_view *view, uint32_t bucket, hd_key lean)
{
    const hd_mark mark = mark_of(view, lean);
    hd_key *const at = im->keys + tile_slot(bucket, mark.number);
#if HD_KEY_BITS == 32
    or_relaxed_32(at, mark_bit(mark));
#else
    or_relaxed_64(at, mark_bit(mark));
#endif
}

/* The same in the candidates of a key from the `first`-th to that before the `end`-th. */
HD_FN void image_mark_passed(const image *im, const hd_view *view, hd_key lean, uint32_t first,
                             uint32_t end)
{
    hd_walk walk = walk_start_lean(0, lean);
    for (; walk.step < end; walk_advance(view, &walk))
        if (walk.step >= first) image_mark(im, view, (uint32_t)walk_bucket(view, &walk), lean);
}

/* A pair that has no room in the image. */
HD_FN void image_fail(const image *im, const hd_view *view, hd_pair pair, insert_sums *s)
{
    s->failed++;
    if (im->failed == NULL) return;
    sorted_store(im->failed, atomicAdd(im->failed_count, 1ull),
                 sorted_make(mixed_from_lean(view, im->region, pair.lean), pair.value));
}

/* Tries the candidates of a key from the `step`-th on; those before it are full. */
HD_FN int image_walk(const image *im, const hd_view *view, hd_pair pair, uint32_t step,
                     uint32_t policy, uint32_t *probes)
{
    hd_walk walk = walk_start_lean(0, pair.lean);
    int result;
    for (uint32_t i = 0; i < step; i++) walk_advance(view, &walk);
    do {
        const uint32_t bucket = (uint32_t)walk_bucket(view, &walk);
        const image_look look = image_look_at<true>(im, view, bucket, pair.lean);
        hd_key before;
        const uint32_t slot = image_take(im, view, bucket, look, HD_BUCKET, pair.lean, &before);
        ++*probes;
        result = image_taken(im, view, bucket, look, slot, before, HD_BUCKET, pair, policy);
    } while (result == HD_DEFERRED && walk_advance(view, &walk));
    if (result == HD_PLACED) image_mark_passed(im, view, pair.lean, 0, walk.step);
    return result;
}

/*
 * The number of this thread where few threads have long and different ways to go: the first 32 are in
 * 32 warps. Threads of one warp that part ways wait for each other.
 */
HD_FN uint32_t spread_thread(void)
{
    return threadIdx.x % 32 * (FILL_BLOCK / 32) + threadIdx.x / 32;
}

/* ------------------------------------------------------------------------- without looking first */

/* Whether the scratch has room to count the keys of each bucket, and counting is worth it. */
HD_FN bool image_can_count(const hd_view *view)
{
    return HD_BUCKET > 1 && (view->region_buckets + 1) / 2 <= SCRATCH_WORDS;
}

HD_FN void image_counts_clear(const hd_view *view, const image *im)
{
    fill_words(im->scratch->counts, (view->region_buckets + 1) / 2 * 4, 0);
}

/* The number of keys that came to a bucket before this one; there are less than 2^16. */
HD_FN uint32_t image_count(const image *im, uint32_t bucket)
{
    const uint32_t shift = bucket % 2 * 16;
    return atomicAdd(&im->scratch->counts[bucket / 2], 1u << shift) >> shift & 0xffff;
}

/* How many of them it has taken. */
HD_FN uint32_t image_counted(const image *im, const hd_view *view, uint32_t bucket)
{
    const uint32_t count = im->scratch->counts[bucket / 2] >> bucket % 2 * 16 & 0xffff;
    return count < first_room(view) ? count : first_room(view);
}

#if HD_BUCKET > 1

/* Whether any two of the first `count` keys of a bucket are equal. */
HD_FN bool image_has_equals(const image *im, uint32_t bucket, uint32_t count)
{
    hd_key keys[HD_BUCKET];
    bool equals = false;
    HD_UNROLL
    for (uint32_t i = 0; i < HD_BUCKET; i += 128 / HD_KEY_BITS)
        load_block_16(keys + i, im->keys + bucket * HD_BUCKET + i);
#if HD_BUCKET <= 16
    HD_UNROLL
#endif
    for (uint32_t i = 1; i < HD_BUCKET; i++) {
#if HD_BUCKET <= 16
        HD_UNROLL
#endif
        for (uint32_t j = 0; j < i; j++) equals = equals || (keys[i] == keys[j] && i < count);
    }
    return equals;
}

#else

HD_FN bool image_has_equals(const image *im, uint32_t bucket, uint32_t count)
{
    (void)im, (void)bucket, (void)count;
    return false;
}

#endif

/* Brings equal keys of a bucket together by the policy; the thread has it to itself. Returns how many went. */
HD_FN uint32_t image_fold(const image *im, uint32_t bucket, uint32_t count, uint32_t policy)
{
    hd_key *const keys = im->keys + bucket * HD_BUCKET;
    hd_value *const values = im->values + bucket * HD_BUCKET;
    uint32_t left = 0;
    for (uint32_t i = 0; i < count; i++) {
        const hd_key key = keys[i];
        const hd_value value = HD_HAS_VALUES ? values[i] : 0;
        uint32_t at = 0;
        while (at < left && keys[at] != key) at++;
        if (at == left) {
            keys[left++] = key;
            if (HD_HAS_VALUES) values[at] = value;
        } else if (HD_HAS_VALUES) {
            value_update(values + at, policy, value);
        }
    }
    for (uint32_t i = left; i < count; i++) {
        keys[i] = HD_KEY_EMPTY;
        if (HD_HAS_VALUES) values[i] = policy == HEDDLE_POLICY_MIN ? (hd_value) ~(hd_value)0 : 0;
    }
    return count - left;
}

/* --------------------------------------------------------------------------------- to the table */

/* The vacant words of an image that chooses have marks as well (image_mark_all). */
HD_FN void image_store(const image *im, const hd_view *view, uint64_t base)
{
#pragma unroll 4
    for (uint32_t i = threadIdx.x; i < im->slots; i += FILL_BLOCK) {
        const hd_key key = im->keys[i];
        hd_pair pair;
        pair.lean = !HD_CHOOSES && key_is_vacant(key) ? HD_KEY_EMPTY : key ^ mark_mask(view);
        pair.value = HD_HAS_VALUES ? im->values[i] : 0;
        slot_put(view, base + i, pair, 0);
    }
}

#endif
