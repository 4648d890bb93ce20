/*
 * tile_thread.inl: a tile is one thread. What the vector tiles differ in is one question, asked of
 * the words of a bucket; each of tile_{scalar,avx2,avx512,neon}.inl answers it:
 *
 *   uint64_t words_equal(const hd_word *words, hd_key lean, hd_key mask)
 *                                                  bit i * HD_STRIDE: slot i holds it, under the mask
 *   uint64_t words_vacant(const hd_word *words)    bit i * HD_STRIDE: no key in slot i
 *   bool words_repeat(const hd_word *words)        two slots hold the same key; of a bucket in which all
 *                                                  marks are set; a tile may leave it to what is below
 *
 * HD_STRIDE is the number of key-sized lanes in a word (slot.h). Vector loads of words that others CAS are
 * confined to those files; tile_scalar.inl uses atomic loads and is the specification.
 */
#ifndef HD_TILE_H
#error "included by tile.h alone"
#endif
#ifndef HD_TILE_THREAD_H
#define HD_TILE_THREAD_H

#if HD_BUCKET >= 4 && defined(HD_TILE_AVX512)
#include "tile/tile_avx512.inl"
#elif HD_BUCKET >= 4 && defined(HD_TILE_AVX2)
#include "tile/tile_avx2.inl"
#elif HD_BUCKET >= 4 && defined(HD_TILE_NEON)
#include "tile/tile_neon.inl"
#else
#include "tile/tile_scalar.inl"
#endif

typedef struct hd_tile {
    /* Has the region to itself: a constant, so that what follows from it costs nothing. */
    bool owner;
} hd_tile;

typedef struct hd_bucket {
    uint64_t first;  /* number of its first slot */
    uint64_t vacant; /* words_vacant, taken when a shared bucket was loaded */
} hd_bucket;

typedef struct hd_hit {
    uint64_t slot;
} hd_hit;

typedef struct hd_vacancy {
    uint64_t slot;
    hd_word seen;
} hd_vacancy;

HD_FN hd_tile tile_here(void)
{
    hd_tile t;
    t.owner = false;
    return t;
}

/* A thread beside which nobody reads or writes the region: it needs no atomic steps. */
HD_FN hd_tile tile_owner(void)
{
    hd_tile t;
    t.owner = true;
    return t;
}

HD_FN bool tile_is_alone(hd_tile t)
{
    (void)t;
    return true;
}

HD_FN bool tiles_any(hd_tile t, bool mine)
{
    (void)t;
    return mine;
}

/* The number-th slot of a bucket. */
HD_FN uint64_t tile_slot(uint64_t index, uint32_t number) { return index * HD_BUCKET + number; }

HD_FN hd_word *bucket_words(const hd_view *view, const hd_bucket *b)
{
    return (hd_word *)view->slots + b->first;
}

HD_FN hd_bucket bucket_load(hd_tile t, const hd_view *view, uint64_t index)
{
    hd_bucket b;
    (void)t;
    b.first = index * HD_BUCKET;
    b.vacant = words_vacant(bucket_words(view, &b));
    return b;
}

HD_FN hd_bucket bucket_load_shared(hd_tile t, const hd_view *view, uint64_t index)
{
    const hd_bucket b = bucket_load(t, view, index);
    __atomic_thread_fence(__ATOMIC_ACQUIRE); /* the look for the key comes after */
    return b;
}

/* Where the key is absent, the hit is the bucket's last slot: no branch that could be guessed wrong. */
HD_FN bool bucket_lookup(hd_tile t, const hd_view *view, const hd_bucket *b, hd_key lean,
                         hd_hit *hit)
{
    const uint64_t equal = words_equal(bucket_words(view, b), lean, (hd_key)view->key_mask);
    const uint64_t last = UINT64_C(1) << (HD_BUCKET - 1) * HD_STRIDE;
    (void)t;
    hit->slot = b->first + hd_lowest_bit(equal | last) / HD_STRIDE;
    return equal != 0;
}

#if !defined(HD_HAS_WORDS_REPEAT)
HD_FN bool words_repeat(const hd_word *words)
{
    uint64_t repeats = 0;
    for (uint32_t i = 0; i < HD_BUCKET; i++) {
        const uint64_t equal = words_equal(words, word_key(words[i]), HD_KEY_EMPTY);
        repeats |= equal & (equal - 1);
    }
    return (repeats & ~words_vacant(words)) != 0;
}
#endif

HD_FN bool bucket_is_passed(hd_tile t, const hd_view *view, const hd_bucket *b, hd_key lean)
{
    const hd_mark mark = mark_of(view, lean);
    (void)t;
    return key_is_marked(word_key(slot_load(view, b->first + mark.number)), mark);
}

HD_FN void bucket_mark(hd_tile t, const hd_view *view, const hd_bucket *b, hd_key lean, bool active)
{
    const hd_mark mark = mark_of(view, lean);
    if (!active) return;
    if (t.owner) *slot_key_at(view, b->first + mark.number) &= ~mark_bit(mark);
    else if (!bucket_is_passed(t, view, b, lean))
        slot_mark(view, b->first + mark.number, mark_bit(mark));
}

HD_FN bool bucket_vacancy(hd_tile t, const hd_view *view, const hd_bucket *b, hd_vacancy *v)
{
    (void)t;
    v->slot = 0;
    v->seen = word_nothing();
    if (b->vacant == 0) return false;
    v->slot = b->first + hd_lowest_bit(b->vacant) / HD_STRIDE;
    v->seen = slot_load(view, v->slot);
    return true;
}

/* A key that has arrived since the snapshot counts as busy too: either way, look again. */
HD_FN bool vacancy_is_busy(hd_tile t, const hd_view *view, hd_vacancy v)
{
    (void)t;
    return !key_is_vacant(word_key(v.seen)) || key_is(view, word_key(v.seen), HD_KEY_BUSY);
}

HD_FN bool vacancy_is_before(hd_tile t, hd_vacancy v, uint32_t number)
{
    (void)t;
    return v.slot % HD_BUCKET < number;
}

HD_FN uint32_t bucket_keys(hd_tile t, const hd_bucket *b)
{
    (void)t;
    return HD_BUCKET - (uint32_t)__builtin_popcountll(b->vacant);
}

HD_FN bool bucket_lock(hd_tile t, const hd_view *view, uint64_t index, bool active)
{
    const uint32_t bit = UINT32_C(1) << index % 32;
    (void)t;
    return active && (or_acquire_32(view->locks + index / 32, bit) & bit) == 0;
}

HD_FN void bucket_unlock(hd_tile t, const hd_view *view, uint64_t index, bool active)
{
    (void)t;
    if (active) and_release_32(view->locks + index / 32, ~(UINT32_C(1) << index % 32));
}

HD_FN bool vacancy_claim(hd_tile t, const hd_view *view, hd_vacancy v, hd_pair pair, bool active)
{
    (void)t;
    return active && slot_claim(view, v.slot, v.seen, pair);
}

HD_FN void vacancy_fill(hd_tile t, const hd_view *view, hd_vacancy v, hd_pair pair)
{
    (void)t;
    slot_put(view, v.slot, pair, key_marks(view, word_key(v.seen)));
}

HD_FN void hit_deliver(hd_tile t, const hd_view *view, hd_hit hit, hd_value *to)
{
    (void)t;
    *to = word_value(view, hit.slot, ((hd_word *)view->slots)[hit.slot]);
}

HD_FN void hit_locate(hd_tile t, hd_hit hit, uint64_t *to)
{
    (void)t;
    *to = hit.slot;
}

HD_FN void hit_update(hd_tile t, const hd_view *view, hd_hit hit, uint32_t policy, hd_value value,
                      bool active)
{
    if (!HD_HAS_VALUES || !active || policy == HEDDLE_POLICY_KEEP) return;
    if (t.owner) {
        slot_update_alone(view, hit.slot, policy, value);
        return;
    }
    /* The key was seen, so the value written before it is to be seen too. */
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    slot_update(view, hit.slot, policy, value);
}

HD_FN bool hit_erase(hd_tile t, const hd_view *view, hd_hit hit)
{
    const hd_word seen = slot_load(view, hit.slot);
    (void)t;
    return !key_is_vacant(word_key(seen)) && slot_vacate(view, hit.slot, seen);
}

HD_FN hd_pair tile_get(hd_tile t, const hd_view *view, uint64_t slot, hd_key *marks)
{
    const hd_word word = ((hd_word *)view->slots)[slot];
    hd_pair pair;
    (void)t;
    *marks = key_marks(view, word_key(word));
    pair.lean = key_bare(view, word_key(word));
    pair.value = word_value(view, slot, word);
    return pair;
}

HD_FN void tile_put(hd_tile t, const hd_view *view, uint64_t slot, hd_pair pair, hd_key marks)
{
    (void)t;
    slot_put(view, slot, pair, marks);
}

HD_FN uint64_t bucket_slot(hd_tile t, const hd_bucket *b, uint32_t number)
{
    (void)t;
    return tile_slot(b->first / HD_BUCKET, number);
}

HD_FN hd_pair bucket_pair(hd_tile t, const hd_view *view, const hd_bucket *b, uint32_t number,
                          hd_key *marks)
{
    return tile_get(t, view, b->first + number, marks);
}

/* `far`, a constant: into the second-level cache, which has more requests under way at a time than the first. */
HD_FN void prefetch_lines(const hd_view *view, uint64_t index, bool far)
{
    const char *at = (const char *)((const hd_word *)view->slots + index * HD_BUCKET);
    for (size_t i = 0; i < HD_BUCKET * sizeof(hd_word); i += 64)
        if (far) __builtin_prefetch(at + i, 0, 2);
        else __builtin_prefetch(at + i, 0, 3);
}

HD_FN void bucket_prefetch(const hd_view *view, uint64_t index)
{
    prefetch_lines(view, index, false);
}
HD_FN void bucket_prefetch_far(const hd_view *view, uint64_t index)
{
    prefetch_lines(view, index, true);
}

HD_FN void path_set(hd_tile t, uint32_t *path, uint32_t i, uint32_t step)
{
    (void)t;
    path[i] = step;
}

HD_FN uint32_t path_get(hd_tile t, const uint32_t *path, uint32_t i)
{
    (void)t;
    return path[i];
}

#endif
