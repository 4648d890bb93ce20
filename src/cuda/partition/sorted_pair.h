/* sorted_pair.h: a pair as model/partition.h sorts it: the words of the mixed key, then of the value. */
#ifndef HD_SORTED_PAIR_H
#define HD_SORTED_PAIR_H

#include "model/hash.h"

#define HD_KEY_WORDS (HD_KEY_BITS / 32)
#define HD_PAIR_WORDS ((HD_KEY_BITS + HD_VALUE_BITS) / 32)

typedef struct hd_sorted_pair {
    uint32_t words[HD_PAIR_WORDS];
} hd_sorted_pair;

HD_FN hd_key sorted_key(const hd_sorted_pair &pair)
{
#if HD_KEY_BITS == 32
    return pair.words[0];
#else
    return (hd_key)pair.words[1] << 32 | pair.words[0];
#endif
}

/* 0 without values. */
HD_FN uint64_t sorted_value(const hd_sorted_pair &pair)
{
#if HD_VALUE_BITS == 0
    return 0;
#elif HD_VALUE_BITS == 32
    return pair.words[HD_KEY_WORDS];
#else
    return (uint64_t)pair.words[HD_KEY_WORDS + 1] << 32 | pair.words[HD_KEY_WORDS];
#endif
}

HD_FN hd_sorted_pair sorted_make(hd_key mixed, uint64_t value)
{
    hd_sorted_pair pair;
    pair.words[0] = (uint32_t)mixed;
#if HD_KEY_BITS == 64
    pair.words[1] = (uint32_t)(mixed >> 32);
#endif
#if HD_VALUE_BITS != 0
    pair.words[HD_KEY_WORDS] = (uint32_t)value;
#endif
#if HD_VALUE_BITS == 64
    pair.words[HD_KEY_WORDS + 1] = (uint32_t)(value >> 32);
#endif
    return pair;
}

/* Pairs of 8 and 16 bytes are read and written as one. */
HD_FN hd_sorted_pair sorted_load(const uint32_t *pairs, uint64_t i)
{
    hd_sorted_pair pair;
#if HD_PAIR_WORDS == 4
    const uint4 all = ((const uint4 *)pairs)[i];
    pair.words[0] = all.x, pair.words[1] = all.y, pair.words[2] = all.z, pair.words[3] = all.w;
#elif HD_PAIR_WORDS == 2
    const uint2 all = ((const uint2 *)pairs)[i];
    pair.words[0] = all.x, pair.words[1] = all.y;
#else
    HD_UNROLL
    for (int w = 0; w < HD_PAIR_WORDS; w++) pair.words[w] = pairs[i * HD_PAIR_WORDS + w];
#endif
    return pair;
}

HD_FN void sorted_store(uint32_t *pairs, uint64_t i, const hd_sorted_pair &pair)
{
#if HD_PAIR_WORDS == 4
    ((uint4 *)pairs)[i] = make_uint4(pair.words[0], pair.words[1], pair.words[2], pair.words[3]);
#elif HD_PAIR_WORDS == 2
    ((uint2 *)pairs)[i] = make_uint2(pair.words[0], pair.words[1]);
#else
    HD_UNROLL
    for (int w = 0; w < HD_PAIR_WORDS; w++) pairs[i * HD_PAIR_WORDS + w] = pair.words[w];
#endif
}

#endif
