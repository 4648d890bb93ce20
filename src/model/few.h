/*
 * few.h: a few keys by open addressing, for searches in the fastest memory that there is: a GPU's processors each have a
 * copy, in a CPU they stay in the first-level cache.
 */
#ifndef HD_FEW_H
#define HD_FEW_H

#include "base/port.h"

#define HD_FEW_BITS_MIN 6 /* the bits of all places are whole words */
#define HD_FEW_BITS_MAX 12

typedef struct hd_few {
    uint32_t width; /* bytes of a key, 4 or 8 */
    uint32_t bits;  /* 2^bits places, half of them free at least */
    /* In their places, from hd_few_place on and round the end; device memory. */
    const uint64_t *keys;
    const uint32_t *used; /* a bit for every place: it has a key; likewise */
} hd_few;

/* Keys that are looked for among the few; device memory. */
typedef struct hd_few_search {
    const void *keys; /* n, of hd_few.width bytes */
    uint64_t n;
    uint8_t *flags;  /* out: flags[i]: keys[i] is one of the few */
    uint64_t *count; /* out: how many of the keys are */
} hd_few_search;

HD_BOTH uint32_t hd_few_place(uint64_t key, uint32_t bits)
{
    return (uint32_t)((key ^ key >> 32) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - bits));
}

/* The bits that so many keys take; they may be too many. */
static inline uint32_t hd_few_bits(uint64_t count)
{
    uint32_t bits = HD_FEW_BITS_MIN;
    while (UINT64_C(1) << bits < 2 * count) bits++;
    return bits;
}

/* Puts `count` different keys into places, in host memory that was all 0: 2^bits numbers, and as many bits. */
static inline void hd_few_fill(const uint64_t *keys, uint64_t count, uint32_t bits,
                               uint64_t *places, uint32_t *used)
{
    const uint32_t last = (UINT32_C(1) << bits) - 1;
    for (uint64_t i = 0; i < count; i++) {
        uint32_t at = hd_few_place(keys[i], bits);
        while ((used[at / 32] >> at % 32 & 1) != 0) at = (at + 1) & last;
        used[at / 32] |= UINT32_C(1) << at % 32;
        places[at] = keys[i];
    }
}

/* Whether a key is among them. */
HD_BOTH bool hd_few_has(const uint64_t *keys, const uint32_t *used, uint32_t bits, uint64_t key)
{
    const uint32_t last = (UINT32_C(1) << bits) - 1;
    uint32_t at = hd_few_place(key, bits);
    for (; (used[at / 32] >> at % 32 & 1) != 0; at = (at + 1) & last)
        if (keys[at] == key) return true;
    return false;
}

#endif
