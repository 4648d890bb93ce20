/*
 * hash.h: from a key to the place of its buckets (view.h).
 *
 * A key is first mixed by a seeded bijection of its own width. Because nothing is lost in it, the
 * mixed key can stand for the key in the table and be turned back. Its leading bits name the
 * region; a chain of 32-bit hashes of its low bits names the buckets inside the region:
 *
 *     mixed:  | region (region_bits) |  ...  low 32 bits -> chain 0, chain 1, ... |
 *
 * A slot's place already tells its region, so the topmost bits need not be stored. What is left, the
 * "lean" key, shares its word with the bits that are free:
 *
 *     word:   | vacant | marks (mark_bits) | lean key |
 *
 * The vacant bit says that the slot holds no key. That is why every key is legal.
 *
 * The marks of all slots of a bucket together are a small filter of the keys that have been pushed
 * past this bucket to a later candidate: each such key has cleared one bit, which its hash names. A
 * lookup that finds the bit of its key still set need not go on, however full the bucket is. Marks
 * stay with the slot when the key in it changes.
 */
#ifndef HD_HASH_H
#define HD_HASH_H

#include "base/port.h"
#include "model/view.h"

#if HD_KEY_BITS == 32
typedef uint32_t hd_key;
#define HD_KEY_C(x) UINT32_C(x)
#elif HD_KEY_BITS == 64
typedef uint64_t hd_key;
#define HD_KEY_C(x) UINT64_C(x)
#else
#error "HD_KEY_BITS must be 32 or 64"
#endif

#if HD_VALUE_BITS == 64
typedef uint64_t hd_value;
#else
typedef uint32_t hd_value; /* unused without values */
#endif

#define HD_TOP_BIT ((hd_key)1 << (HD_KEY_BITS - 1))

/* What a slot without a key holds in place of one, besides marks. Both have the top bit set, lean keys never. */
#define HD_KEY_EMPTY ((hd_key)~HD_KEY_C(0))
#define HD_KEY_BUSY ((hd_key)~HD_KEY_C(1)) /* being written by another tile right now */

HD_FN bool key_is_vacant(hd_key key) { return (key & HD_TOP_BIT) != 0; }

/* A key word without its marks, and the marks alone. */
HD_FN hd_key key_bare(const hd_view *view, hd_key key) { return key & (hd_key)view->key_mask; }
HD_FN hd_key key_marks(const hd_view *view, hd_key key) { return key & ~(hd_key)view->key_mask; }
HD_FN bool key_is(const hd_view *view, hd_key key, hd_key what)
{
    return ((key ^ what) & (hd_key)view->key_mask) == 0;
}
/* `what` with the marks that `key` has. */
HD_FN hd_key key_with_marks(const hd_view *view, hd_key what, hd_key key)
{
    return key_bare(view, what) | key_marks(view, key);
}

#if HD_KEY_BITS == 32

HD_FN hd_key mix_key(const hd_mix *mix, hd_key key)
{
    key += (uint32_t)mix->add;
    key ^= key >> 16;
    key *= (uint32_t)mix->mul[0];
    key ^= key >> 15;
    key *= (uint32_t)mix->mul[1];
    return key ^ key >> 16;
}

HD_FN hd_key unmix_key(const hd_mix *mix, hd_key mixed)
{
    mixed ^= mixed >> 16;
    mixed *= (uint32_t)mix->unmul[1];
    mixed ^= mixed >> 15 ^ mixed >> 30;
    mixed *= (uint32_t)mix->unmul[0];
    mixed ^= mixed >> 16;
    return mixed - (uint32_t)mix->add;
}

#else

HD_FN hd_key mix_key(const hd_mix *mix, hd_key key)
{
    key += mix->add;
    key ^= key >> 32;
    key *= mix->mul[0];
    key ^= key >> 29;
    key *= mix->mul[1];
    return key ^ key >> 32;
}

HD_FN hd_key unmix_key(const hd_mix *mix, hd_key mixed)
{
    mixed ^= mixed >> 32;
    mixed *= mix->unmul[1];
    mixed ^= mixed >> 29 ^ mixed >> 58;
    mixed *= mix->unmul[0];
    mixed ^= mixed >> 32;
    return mixed - mix->add;
}

#endif

HD_FN uint32_t region_of(const hd_view *view, hd_key mixed)
{
    return (uint32_t)(mixed >> (HD_KEY_BITS - view->region_bits));
}

HD_FN hd_key lean_key(const hd_view *view, hd_key mixed)
{
    return mixed & (hd_key)view->key_mask & ~HD_TOP_BIT;
}

/* The mixed key, and the key, that a slot of `region` holds as `lean`. */
HD_FN hd_key mixed_from_lean(const hd_view *view, uint32_t region, hd_key lean)
{
    const uint32_t free_bits = 1 + view->mark_bits;
    return lean | (hd_key)(region >> (view->region_bits - free_bits)) << (HD_KEY_BITS - free_bits);
}

HD_FN hd_key key_from_lean(const hd_view *view, uint32_t region, hd_key lean)
{
    return unmix_key(&view->mix, mixed_from_lean(view, region, lean));
}

/* Which bit of a bucket's marks belongs to a key: a slot, in the tile's order, and the bit of its word. */
typedef struct hd_mark {
    uint32_t number;
    uint32_t shift; /* the bit is the topmost after a shift to the left by so many */
} hd_mark;

HD_FN hd_mark mark_of(const hd_view *view, hd_key lean)
{
    const uint32_t hash = (uint32_t)lean * UINT32_C(0x2545f491);
    hd_mark mark;
    mark.number = hd_mulhi32(hash, HD_BUCKET);
    mark.shift = 1 + (hash >> 16 & (view->mark_bits - 1));
    return mark;
}

/* Whether the mark is cleared in the key word it belongs to. */
HD_FN bool key_is_marked(hd_key key, hd_mark mark) { return (key << mark.shift & HD_TOP_BIT) == 0; }
HD_FN hd_key mark_bit(hd_mark mark) { return HD_TOP_BIT >> mark.shift; }

/*
 * The chain of 32-bit hashes. It starts from the lean key, so that a pair found in a slot can be
 * moved on without being unmixed first.
 */
HD_FN uint32_t chain_start(hd_key lean) { return (uint32_t)lean * UINT32_C(0x9e3779b1); }

HD_FN uint32_t chain_next(uint32_t chain)
{
    chain ^= chain >> 15;
    return chain * UINT32_C(0x85ebca77) + UINT32_C(0x27d4eb2f);
}

#endif
