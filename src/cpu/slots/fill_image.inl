/*
 * fill_image.inl: filling a fresh region by way of an image of it, which lies in memory of the core's own and stays
 * in its second-level cache. The image is then written to the table in order, past the caches.
 *
 * 1. Every pair goes to its first bucket without a look at it: a counter of the bucket tells the slot.
 *    Pairs that come to a full bucket wait. There is no branch in this step that could be mispredicted.
 * 2. Equal keys of a bucket are brought together by the policy.
 * 3. The waiting pairs are inserted one by one, in their order. Their equals may lie in a bucket by now,
 *    and equals that were brought together may have left room.
 *
 * Pairs with equal keys have one first bucket. So of the pairs of a key those in the bucket came before
 * those that wait, those before the ones that could not even wait, and all of them are in order: the
 * policies see them as if they had been inserted one after the other.
 */
#ifndef HD_INSTANCE_NAME
#error "included by instance.c alone"
#endif
#ifndef HD_CPU_FILL_IMAGE_H
#define HD_CPU_FILL_IMAGE_H

#include "cpu/slots/fill_alone.inl"
#include "cpu/write_in_order.h"

#define IMAGE_BLOCK 64 /* pairs whose buckets are computed at once */

typedef struct image {
    hd_view view;    /* of this region alone: walks in it are those of region 0 */
    uint64_t slots;  /* one more follows, for pairs that are not to be placed */
    uint8_t *counts; /* of the pairs in every bucket */
    char *waiting; /* pairs that found their first bucket full; room for `slots` and a block more */
} image;

/* The parts of an image; offsets from its beginning. */
typedef struct image_layout {
    uint64_t values, waiting, counts, bytes;
} image_layout;

static uint64_t whole_lines(uint64_t bytes) { return (bytes + 63) / 64 * 64; }

static image_layout image_layout_for(const hd_view *view)
{
    const uint64_t slots = (uint64_t)view->region_buckets * HD_BUCKET;
    image_layout l;
    l.values = whole_lines((slots + 1) * sizeof(hd_word));
    l.waiting = l.values + (HD_APART ? whole_lines((slots + 1) * sizeof(hd_value)) : 0);
    l.counts = l.waiting + whole_lines((slots + IMAGE_BLOCK) * PAIR_BYTES);
    l.bytes = l.counts + whole_lines(view->region_buckets);
    return l;
}

/* The image of one thread in the memory for all of them; without memory it has no counts. */
static image image_of(const hd_view *view, char *images, int thread)
{
    const image_layout l = image_layout_for(view);
    image d;
    memset(&d, 0, sizeof d);
    if (images == NULL) return d;
    images += (uint64_t)thread * l.bytes;
    d.view = *view;
    d.view.slots = images;
    d.view.values = HD_APART ? images + l.values : NULL;
    d.slots = (uint64_t)view->region_buckets * HD_BUCKET;
    d.waiting = images + l.waiting;
    d.counts = (uint8_t *)images + l.counts;
    return d;
}

/* ---------------------------------------------------------------------------- 1. to first buckets */

/* Pairs on their way to their first buckets. A key word has all marks, as in any fresh bucket. */
typedef struct image_block {
    uint32_t buckets[IMAGE_BLOCK];
    hd_word words[IMAGE_BLOCK];
} image_block;

/* What a slot is to hold of a sorted pair; without its value where that lies apart. */
static inline hd_word sorted_word(const hd_view *view, const char *pair)
{
    const hd_key marks = (hd_key)~view->key_mask;
    hd_word word;
    memcpy(&word, pair, sizeof word);
#if HD_WIDE
    word.key = lean_key(view, word.key) | marks;
    return word;
#else
    return (word & ~(hd_word)HD_TOP_BIT) | marks; /* little-endian: the key is in the low bits */
#endif
}

static inline void image_block_read(const hd_view *view, const char *pairs, uint32_t count,
                                    image_block *b)
{
    for (uint32_t i = 0; i < count; i++) {
        const hd_walk walk = sorted_walk(view, 0, pairs + i * PAIR_BYTES);
        b->buckets[i] = (uint32_t)walk_bucket(view, &walk);
    }
    for (uint32_t i = 0; i < count; i++) b->words[i] = sorted_word(view, pairs + i * PAIR_BYTES);
}

/* One of two numbers by arithmetic: a branch would be mispredicted for most pairs that wait. */
static inline uint64_t chosen(bool first, uint64_t a, uint64_t b)
{
    return b ^ ((a ^ b) & (0 - (uint64_t)first));
}

/* Places pairs, at most a block; returns how many wait then, of `waiting` before. */
static inline uint64_t image_place(const image *d, const char *pairs, uint32_t count,
                                   uint64_t waiting)
{
    const uint64_t spare = d->slots;
    const uint32_t room = first_room(&d->view);
    uint8_t *const counts = d->counts;
    hd_word *const slots = (hd_word *)d->view.slots;
    char *to = d->waiting + waiting * PAIR_BYTES;
    image_block b;
    image_block_read(&d->view, pairs, count, &b);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t bucket = b.buckets[i], at = counts[bucket], full = at == room;
        const uint64_t slot = chosen(full, spare, tile_slot(bucket, at));
        slots[slot] = b.words[i];
#if HD_APART
        ((hd_value *)d->view.values)[slot] = sorted_value(pairs + i * PAIR_BYTES);
        memcpy(to, pairs + i * PAIR_BYTES, PAIR_BYTES);
#else
        memcpy(to, &b.words[i], PAIR_BYTES);      /* the marks do not matter to those who read it */
#endif
        to += full * PAIR_BYTES;
        counts[bucket] = (uint8_t)(at + 1 - full);
    }
    return (uint64_t)(to - d->waiting) / PAIR_BYTES;
}

/* Places pairs until all are placed or wait, or no more can wait; returns the first pair left. */
static const char *image_place_all(const image *d, const char *pair, const char *end,
                                   uint64_t *waiting)
{
    uint64_t waits = 0;
    while (pair < end && waits < d->slots) {
        const uint64_t left = (uint64_t)(end - pair) / PAIR_BYTES;
        const uint32_t count = left < IMAGE_BLOCK ? (uint32_t)left : IMAGE_BLOCK;
        waits = image_place(d, pair, count, waits);
        pair += (size_t)count * PAIR_BYTES;
    }
    *waiting = waits;
    return pair;
}

/* ------------------------------------------------------------------------------ 2. equal keys */

/* Brings the pairs of a bucket with equal keys together in the first of their slots. */
static void image_fold_bucket(const image *d, uint32_t bucket, uint32_t policy, sums *s)
{
    for (uint32_t i = 1; i < d->counts[bucket]; i++) {
        const uint64_t slot = tile_slot(bucket, i);
        hd_word *words = (hd_word *)d->view.slots + tile_slot(bucket, 0);
        hd_key marks;
        const hd_pair pair = tile_get(tile_owner(), &d->view, slot, &marks);
        const uint64_t equal = words_equal(words, pair.lean, (hd_key)d->view.key_mask);
        const uint32_t first = hd_lowest_bit(equal) / HD_STRIDE;
        if (first == i) continue;
        slot_update_alone(&d->view, tile_slot(bucket, first), policy, pair.value);
        memset(words + i, 0xff, sizeof *words);
        s->inserted--;
        s->present++;
    }
}

static void image_fold(const image *d, uint32_t policy, sums *s)
{
    for (uint32_t bucket = 0; bucket < d->view.region_buckets; bucket++) {
        const hd_word *words = (const hd_word *)d->view.slots + tile_slot(bucket, 0);
        if (words_repeat(words)) image_fold_bucket(d, bucket, policy, s);
    }
}

/* ------------------------------------------------------------------------------------ the whole */

static void image_write(const image *d, const hd_view *view, uint32_t region)
{
    const uint64_t first = region * d->slots;
    write_in_order((char *)((hd_word *)view->slots + first), (const char *)d->view.slots,
                   d->slots * sizeof(hd_word));
    if (HD_APART)
        write_in_order((char *)((hd_value *)view->values + first), (const char *)d->view.values,
                       d->slots * sizeof(hd_value));
}

/* Fills a region that holds nothing yet. */
static void image_fill(const image *d, const hd_view *view, const hd_batch *batch,
                       region_pairs pairs, sums *s)
{
    uint64_t waiting, placed;
    region_pairs waits = {0, d->waiting, d->waiting}, rest = {0, NULL, pairs.end};
    fill_clear(&d->view, 0);
    memset(d->counts, 0, view->region_buckets);
    rest.begin = image_place_all(d, pairs.begin, pairs.end, &waiting);
    waits.end += waiting * PAIR_BYTES;
    placed = (uint64_t)(rest.begin - pairs.begin) / PAIR_BYTES - waiting;
    s->inserted += (uint32_t)placed;
    s->probes += (uint32_t)placed;
    image_fold(d, batch->policy, s);
    fill_region(&d->view, batch, waits, NULL, s);
    fill_region(&d->view, batch, rest, NULL, s);
    image_write(d, view, pairs.region);
}

#endif
