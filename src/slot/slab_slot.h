/*
 * slab_slot.h: the slots of a slab (model/slabs.h) and the steps that change one.
 *
 * The two topmost bits of a key word tell the state of its slot. In a batch it only ever moves on:
 *
 *     VACANT, all bits 0  ->  PENDING | key  ->  LIVE | key  ->  DEAD | key
 *
 * and the key in it never changes. Only where nothing but insertions is under way, a DEAD slot may be taken like one
 * that is VACANT: then it only ever moves on to LIVE. A word of key and value, or a key of a set, goes from VACANT to LIVE by one
 * CAS. Other pairs are PENDING until their value is written.
 *
 *   keys, or 32-bit pairs    words one after the other
 *   64-bit pairs             words of 16 bytes
 *   12-byte pairs            all keys, then all values, so that each is aligned
 */
#ifndef HD_SLAB_SLOT_H
#define HD_SLAB_SLOT_H

#ifndef HD_BUCKET /* hash.h and slot.h ask for it; slabs are the buckets here */
#define HD_BUCKET 1
#endif
#include "model/slabs.h"
#include "slot/slot.h"

#define HD_SLAB_IN_ONE (!HD_APART && !HD_WIDE) /* key and value change together */
#define HD_SLAB_PAIR_BYTES ((HD_KEY_BITS + HD_VALUE_BITS) / 8)
#ifndef HD_SLAB_SLOTS /* tests make them smaller */
#define HD_SLAB_SLOTS (HD_SLAB_TAIL / HD_SLAB_PAIR_BYTES)
#endif

#define HD_STATE_SHIFT (HD_KEY_BITS - 2)
#define HD_STATE_DEAD ((hd_key)1 << HD_STATE_SHIFT)
#define HD_STATE_LIVE ((hd_key)2 << HD_STATE_SHIFT)
#define HD_STATE_PENDING ((hd_key)3 << HD_STATE_SHIFT)
#define HD_STATE_MASK ((hd_key)3 << HD_STATE_SHIFT)

HD_FN hd_key *slab_key_at(char *slab, uint32_t slot)
{
    const uint32_t step = HD_APART ? HD_KEY_BITS / 8 : HD_SLAB_PAIR_BYTES;
    return (hd_key *)(void *)(slab + slot * step);
}

#if HD_VALUE_BITS != 0
HD_FN hd_value *slab_value_at(char *slab, uint32_t slot)
{
    const uint32_t from =
        HD_APART ? HD_SLAB_TAIL / HD_SLAB_PAIR_BYTES * (HD_KEY_BITS / 8) : HD_KEY_BITS / 8;
    const uint32_t step = HD_APART ? HD_VALUE_BITS / 8 : HD_SLAB_PAIR_BYTES;
    return (hd_value *)(void *)(slab + from + slot * step);
}
#endif

HD_FN uint32_t *slab_next_at(char *slab) { return (uint32_t *)(void *)(slab + HD_SLAB_TAIL); }
/* In a slab of the pool, which nobody reads in a batch. */
HD_FN uint32_t *slab_quarter_at(char *slab) { return (uint32_t *)(void *)(slab + HD_SLAB_NOTE); }
/* In a base slab. */
HD_FN uint32_t *slab_hint_at(char *base) { return (uint32_t *)(void *)(base + HD_SLAB_NOTE); }

/* The value is looked for after the key: acquire. */
HD_FN hd_key slab_key(char *slab, uint32_t slot)
{
#if HD_KEY_BITS == 32
    return load_acquire_32(slab_key_at(slab, slot));
#else
    return load_acquire_64(slab_key_at(slab, slot));
#endif
}

HD_FN bool slab_key_cas(char *slab, uint32_t slot, hd_key from, hd_key to)
{
#if HD_KEY_BITS == 32
    return cas_32(slab_key_at(slab, slot), from, to);
#else
    return cas_64(slab_key_at(slab, slot), from, to);
#endif
}

/* What a CAS that claims a slot finds there. 0: it is VACANT. */
#if HD_SLAB_IN_ONE
typedef hd_word hd_slab_word;
#else
typedef hd_key hd_slab_word;
#endif

HD_FN bool slab_word_is_dead(hd_slab_word word)
{
    return ((hd_key)word & HD_STATE_MASK) == HD_STATE_DEAD;
}

HD_FN hd_slab_word slab_word(char *slab, uint32_t slot)
{
    hd_slab_word *const word = (hd_slab_word *)(void *)slab_key_at(slab, slot);
    return sizeof *word == 4 ? (hd_slab_word)load_relaxed_32((uint32_t *)(void *)word)
                             : (hd_slab_word)load_relaxed_64((uint64_t *)(void *)word);
}

/* Whether it holds the key, or is about to. */
HD_FN bool slab_word_is_of(hd_slab_word word, hd_key lean)
{
    return (hd_key)word == (lean | HD_STATE_LIVE) || (hd_key)word == (lean | HD_STATE_PENDING);
}

HD_FN hd_slab_word slab_word_cas(char *slab, uint32_t slot, hd_slab_word from, hd_slab_word to)
{
    void *const word = slab_key_at(slab, slot);
    return sizeof from == 4
               ? (hd_slab_word)cas_before_32((uint32_t *)word, (uint32_t)from, (uint32_t)to)
               : (hd_slab_word)cas_before_64((uint64_t *)word, from, to);
}

/* Puts a pair into a slot that is `from`: VACANT or DEAD. What it was before: another word, if another was faster. */
HD_FN hd_slab_word slab_claim(char *slab, uint32_t slot, hd_slab_word from, hd_pair pair)
{
#if HD_SLAB_IN_ONE
    pair.lean |= HD_STATE_LIVE;
    return slab_word_cas(slab, slot, from, word_make(pair));
#else
    const hd_slab_word before = slab_word_cas(slab, slot, from, pair.lean | HD_STATE_PENDING);
    if (before != from) return before;
#if HD_VALUE_BITS == 64
    store_relaxed_64(slab_value_at(slab, slot), pair.value);
#else
    store_relaxed_32(slab_value_at(slab, slot), pair.value);
#endif
#if HD_KEY_BITS == 32
    store_release_32(slab_key_at(slab, slot), pair.lean | HD_STATE_LIVE);
#else
    store_release_64(slab_key_at(slab, slot), pair.lean | HD_STATE_LIVE);
#endif
    return before;
#endif
}

/* Applies a policy to the value of a slot that was LIVE; as if it still were, where it is not. */
HD_FN void slab_update(char *slab, uint32_t slot, uint32_t policy, hd_value value)
{
#if HD_VALUE_BITS != 0
    value_update(slab_value_at(slab, slot), policy, value);
#else
    (void)slab, (void)slot, (void)policy, (void)value;
#endif
}

HD_FN hd_value slab_value(char *slab, uint32_t slot)
{
#if HD_VALUE_BITS == 64
    return load_relaxed_64(slab_value_at(slab, slot));
#elif HD_VALUE_BITS == 32
    return load_relaxed_32(slab_value_at(slab, slot));
#else
    (void)slab, (void)slot;
    return 0;
#endif
}

/* Erases the LIVE key; false: another was faster. */
HD_FN bool slab_bury(char *slab, uint32_t slot, hd_key lean)
{
    return slab_key_cas(slab, slot, lean | HD_STATE_LIVE, lean | HD_STATE_DEAD);
}

/* Makes a LIVE key that of one who will erase it, where nobody inserts; false: another was faster. */
HD_FN bool slab_reserve(char *slab, uint32_t slot, hd_key lean)
{
    return slab_key_cas(slab, slot, lean | HD_STATE_LIVE, lean | HD_STATE_PENDING);
}

#endif
