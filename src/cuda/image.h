/*
 * image.h: a region in the shared memory of a block, on its way to the table. Threads insert a key
 * each, without tiles: shared memory has no lines that a tile could read as one.
 *
 * Keys and values lie apart here, so that a bucket's keys are 32 bytes or so together and one CAS on a
 * key claims a slot. The marks of a key word are kept inverted: a set bit says that a key was pushed
 * past the bucket. So a key word without marks is the lean key itself.
 *
 * What makes concurrent insertion right is the argument of scheme/cuckoo.h. Nothing is erased in an
 * image, so slots are only ever taken, and a key goes past a bucket only when that is full for good.
 * Each thread takes the first vacancy of its walk by CAS, and before that it has seen every slot in
 * front of it taken by another key. So of two threads with the same key one meets the other's.
 *
 * All keys try their first bucket before any tries another: then as many keys as can be are found by
 * one look. Keys that meet only full buckets are deferred. When all others are in, equal ones of these
 * are brought together, and the rest moves in by moving others on, all at once. A slot at work is
 * locked; while that happens nobody looks for keys, so it does not matter that a pair on its way is
 * nowhere to be found.
 */
#ifndef HD_CUDA_IMAGE_H
#define HD_CUDA_IMAGE_H

#include HD_SCHEME_HEADER

#ifndef FILL_BLOCK
#define FILL_BLOCK 1024
#endif
#define DESK_HASH (2 * FILL_BLOCK)
#define DESK_WORDS (FILL_BLOCK * (HD_KEY_BITS + HD_VALUE_BITS) / 32 + DESK_HASH)
#define DESK_NOBODY UINT32_MAX
#define EVICT_TRIES 4096 /* beside others; more than enough for all kicks */

/* What a block needs beside the image. */
typedef struct image_desk {
    union {
        struct {
            hd_key keys[FILL_BLOCK]; /* deferred pairs at work, one a thread */
#if HD_VALUE_BITS != 0
            hd_value values[FILL_BLOCK];
#endif
            uint32_t hash[DESK_HASH]; /* which thread has a key */
        };
        uint32_t counts[DESK_WORDS]; /* earlier: keys that came to each bucket, two in a word */
    };
    uint32_t actors;  /* threads that act for a key; they are then listed where the hash was */
    uint32_t waiting; /* pairs that have come to wait in the region's slots */
} image_desk;

typedef struct image {
    hd_key *keys;
    hd_value *values; /* NULL in a set */
    image_desk *desk;
    uint32_t slots;
} image;

HD_BOTH uint32_t image_align(uint32_t bytes) { return (bytes + 15) / 16 * 16; }

HD_BOTH uint32_t image_slots(const hd_view *view) { return view->region_buckets * HD_BUCKET; }

/* The bytes of shared memory that a region takes. */
HD_BOTH uint64_t image_bytes(const hd_view *view)
{
    const uint64_t slots = (uint64_t)view->region_buckets * HD_BUCKET;
    return slots * (sizeof(hd_key) + HD_VALUE_BITS / 8) + 32 + sizeof(image_desk);
}

HD_FN image image_make(const hd_view *view, char *memory)
{
    image im;
    im.slots = image_slots(view);
    im.keys = (hd_key *)memory;
    memory += image_align(im.slots * sizeof(hd_key));
    im.values = HD_HAS_VALUES ? (hd_value *)memory : NULL;
    memory += image_align(im.slots * (HD_VALUE_BITS / 8));
    im.desk = (image_desk *)memory;
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
    if (threadIdx.x == 0) im->desk->waiting = 0;
}

/* The image of a region as it is, which was filled this way before. */
HD_FN void image_load(const hd_view *view, const image *im, uint64_t base)
{
    for (uint32_t i = threadIdx.x; i < im->slots; i += FILL_BLOCK) {
        const hd_word word = ((const hd_word *)view->slots)[base + i];
        if (key_is_vacant(word_key(word))) continue;
        im->keys[i] = word_key(word) ^ mark_mask(view);
        if (HD_HAS_VALUES) im->values[i] = word_value(view, base + i, word);
    }
}

/* The topmost bit of a key word, pushed into `bits` from below. */
HD_FN uint32_t push_vacant(uint32_t bits, hd_key key)
{
    return bits << 1 | (uint32_t)(key >> (HD_KEY_BITS - 1)); /* one instruction, a funnel shift */
}

/*
 * Looks at a bucket: whether it holds the key, and a bit for each vacant slot. With MARKED its words
 * may have marks. The slots are not all read at the same moment.
 */
template <bool MARKED>
HD_FN bool image_scan(const image *im, const hd_view *view, uint32_t bucket, hd_key lean,
                      uint32_t *vacant)
{
    const hd_key mask = MARKED ? (hd_key)view->key_mask : HD_KEY_EMPTY;
    const hd_key *const keys = im->keys + bucket * HD_BUCKET;
    bool found = false;
    uint32_t empty = 0;
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
            found = found || ((piece[i] ^ lean) & mask) == 0;
            bits = push_vacant(bits, piece[i]);
        }
        empty |= bits << at;
    }
#else
    HD_UNROLL
    for (int i = HD_BUCKET - 1; i >= 0; i--) {
        const hd_key key = *(const volatile hd_key *)(keys + i);
        found = found || ((key ^ lean) & mask) == 0;
        empty = push_vacant(empty, key);
    }
#endif
    *vacant = empty;
    return found;
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

/* Applies the policy to the value of a key that is in the bucket. */
HD_FN void image_meet(const image *im, const hd_view *view, uint32_t bucket, hd_pair pair,
                      uint32_t policy)
{
    if (!HD_HAS_VALUES || policy == HEDDLE_POLICY_KEEP) return;
    uint32_t slot = bucket * HD_BUCKET;
    while (!key_is(view, *(const volatile hd_key *)(im->keys + slot), pair.lean)) slot++;
    image_update(im, slot, policy, pair.value);
}

/* What a thread has seen in a bucket. */
typedef struct image_look {
    bool found;
    uint32_t vacant; /* a bit for each vacant slot */
} image_look;

template <bool MARKED>
HD_FN image_look image_look_at(const image *im, const hd_view *view, uint32_t bucket, hd_key lean)
{
    image_look look;
    look.found = image_scan<MARKED>(im, view, bucket, lean, &look.vacant);
    return look;
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
 * bucket; *before is what was in it.
 */
HD_FN uint32_t image_take(const image *im, const hd_view *view, uint32_t bucket, image_look look,
                          hd_key lean, hd_key *before)
{
    const uint32_t end = bucket * HD_BUCKET + HD_BUCKET;
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

/* What follows: HD_PLACED, HD_PRESENT (the policy was applied), or HD_DEFERRED when the bucket is full. */
HD_FN int image_taken(const image *im, const hd_view *view, uint32_t bucket, image_look look,
                      uint32_t slot, hd_key before, hd_pair pair, uint32_t policy)
{
    if (look.found) {
        image_meet(im, view, bucket, pair, policy);
        return HD_PRESENT;
    }
    if (slot == bucket * HD_BUCKET + HD_BUCKET) return HD_DEFERRED;
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

/* Tries the candidates of a key from the `step`-th on, as many as `steps`; those before it are full. */
HD_FN int image_walk(const image *im, const hd_view *view, hd_pair pair, uint32_t step,
                     uint32_t steps, uint32_t policy, uint32_t *probes)
{
    hd_walk walk = walk_start_lean(0, pair.lean);
    int result = HD_DEFERRED;
    for (uint32_t i = 0; i < step; i++) walk_advance(view, &walk);
    for (; steps != 0 && result == HD_DEFERRED; steps--) {
        const uint32_t bucket = (uint32_t)walk_bucket(view, &walk);
        const image_look look = image_look_at<true>(im, view, bucket, pair.lean);
        hd_key before;
        const uint32_t slot = image_take(im, view, bucket, look, pair.lean, &before);
        ++*probes;
        result = image_taken(im, view, bucket, look, slot, before, pair, policy);
        if (result == HD_DEFERRED && !walk_advance(view, &walk)) break;
    }
    if (result == HD_PLACED) image_mark_passed(im, view, pair.lean, 0, walk.step);
    return result;
}

/* ------------------------------------------------------------------------- without looking first */

/* Whether the desk has room to count the keys of each bucket, and counting is worth it. */
HD_FN bool image_can_count(const hd_view *view)
{
    return HD_BUCKET > 1 && (view->region_buckets + 1) / 2 <= DESK_WORDS;
}

HD_FN void image_counts_clear(const hd_view *view, const image *im)
{
    fill_words(im->desk->counts, (view->region_buckets + 1) / 2 * 4, 0);
}

/* The number of keys that came to a bucket before this one; there are less than 2^16. */
HD_FN uint32_t image_count(const image *im, uint32_t bucket)
{
    const uint32_t shift = bucket % 2 * 16;
    return atomicAdd(&im->desk->counts[bucket / 2], 1u << shift) >> shift & 0xffff;
}

HD_FN uint32_t image_counted(const image *im, uint32_t bucket)
{
    const uint32_t count = im->desk->counts[bucket / 2] >> bucket % 2 * 16 & 0xffff;
    return count < HD_BUCKET ? count : HD_BUCKET;
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
HD_FN uint32_t image_unite(const image *im, uint32_t bucket, uint32_t count, uint32_t policy)
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

/* ------------------------------------------------------------------------------ deferred pairs */

/*
 * A slot is locked by the vacant bit in its key word, with its marks left in place and the key gone.
 * So marks can be set in it meanwhile, nobody else can lock or claim it, and it does not look full.
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

HD_FN hd_key image_key(const image *im, uint32_t slot)
{
    return *(const volatile hd_key *)(im->keys + slot);
}

/* Claims a vacant slot of a bucket by making it BUSY; false: there is none. */
HD_FN bool image_claim_vacant(const image *im, uint32_t bucket, uint32_t *slot)
{
    const uint32_t end = bucket * HD_BUCKET + HD_BUCKET;
    for (*slot = bucket * HD_BUCKET; *slot < end; ++*slot)
        if (image_key(im, *slot) == HD_KEY_EMPTY &&
            image_cas(im->keys + *slot, HD_KEY_EMPTY, HD_KEY_BUSY) == HD_KEY_EMPTY)
            return true;
    return false;
}

/* Puts a pair into a claimed slot, and the slot's bucket may be full from then on. */
HD_FN void image_put(const image *im, uint32_t slot, hd_pair pair)
{
    slot_swap_value(im, slot, pair.value);
    __threadfence_block();
    image_cas(im->keys + slot, HD_KEY_BUSY, pair.lean);
}

/* Slots are taken in order, so the last one tells. One that is locked or BUSY does not look taken. */
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

/* Brings a pair in that all of its buckets are full for; false: no room was found, some pair is lost. */
HD_FN bool image_evict(const image *im, const hd_view *view, hd_pair pair, insert_sums *s)
{
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
        victim.value = slot_swap_value(im, slot, pair.value);
        slot_unlock(im, slot, pair.lean);
        image_mark(im, view, bucket, victim.lean);
        pair = victim;
        bucket = (uint32_t)next_bucket(view, 0, pair.lean, bucket);
        kicks++;
        s->probes++;
        s->evictions++;
    }
    return false;
}

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
        uint32_t vacant;
        if (image_scan<true>(im, view, bucket, pair.lean, &vacant)) {
            image_meet(im, view, bucket, pair, policy);
            return true;
        }
    } while (walk_advance(view, &walk));
    return false;
}

/*
 * The number of this thread where few threads have long and different ways to go: the first 32 are in
 * 32 warps. Threads of one warp that part ways wait for each other.
 */
HD_FN uint32_t spread_thread(void)
{
    return threadIdx.x % 32 * (FILL_BLOCK / 32) + threadIdx.x / 32;
}

/* The pairs on the desk that are listed in its hash move in. */
HD_FN void image_move_in(const image *im, const hd_view *view, insert_sums *s)
{
    const image_desk *desk = im->desk;
    if (spread_thread() < desk->actors) {
        const uint32_t actor = desk->hash[spread_thread()];
        hd_pair pair;
        pair.lean = desk->keys[actor];
        pair.value = 0;
#if HD_VALUE_BITS != 0
        pair.value = desk->values[actor];
#endif
        if (image_move_one(im, view, pair, s) || image_evict(im, view, pair, s)) s->inserted++;
        else s->failed++;
    }
}

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
    if (threadIdx.x == 0) desk->actors = 0;
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
    __syncthreads();
}

/* --------------------------------------------------------------------------------- to the table */

HD_FN void image_store(const image *im, const hd_view *view, uint64_t base)
{
#pragma unroll 4
    for (uint32_t i = threadIdx.x; i < im->slots; i += FILL_BLOCK) {
        const hd_key key = im->keys[i];
        hd_pair pair;
        pair.lean = key_is_vacant(key) ? HD_KEY_EMPTY : key ^ mark_mask(view);
        pair.value = HD_HAS_VALUES ? im->values[i] : 0;
        slot_put(view, base + i, pair, 0);
    }
}

#endif
