/*
 * slab_neon.inl: a slab is eight vectors. Where pairs are words, their keys are first moved together into four. See
 * slab_thread.inl for what is asked here.
 */
#ifndef HD_SLAB_THREAD_H
#error "included by slab_thread.inl alone"
#endif
#include <arm_neon.h>

#define HD_SLAB_STEP_LANES (128 / HD_KEY_BITS)
#define HD_SLAB_VECTORS ((HD_SLAB_SLOTS + HD_SLAB_STEP_LANES - 1) / HD_SLAB_STEP_LANES)

#if HD_KEY_BITS == 32
typedef uint32x4_t hd_slab_lanes;
#else
typedef uint64x2_t hd_slab_lanes;
#endif

typedef struct hd_slab_keys {
    hd_slab_lanes at[HD_SLAB_VECTORS];
} hd_slab_keys;

/* Once: a compiler may not load a volatile again instead of keeping it. */
HD_FN hd_slab_lanes slab_piece(const char *slab, int i)
{
    return ((const volatile hd_slab_lanes *)(const void *)slab)[i];
}

HD_FN hd_slab_keys slab_keys(const char *slab)
{
    hd_slab_keys keys;
    for (int i = 0; i < HD_SLAB_VECTORS; i++) {
#if HD_STRIDE == 1
        keys.at[i] = slab_piece(slab, i);
#elif HD_KEY_BITS == 32
        keys.at[i] = vuzp1q_u32(slab_piece(slab, 2 * i), slab_piece(slab, 2 * i + 1));
#else
        keys.at[i] = vuzp1q_u64(slab_piece(slab, 2 * i), slab_piece(slab, 2 * i + 1));
#endif
    }
    return keys;
}

HD_FN hd_slab_keys slab_states(const hd_slab_keys *keys)
{
    hd_slab_keys states;
    for (int i = 0; i < HD_SLAB_VECTORS; i++) {
#if HD_KEY_BITS == 32
        states.at[i] = vandq_u32(keys->at[i], vdupq_n_u32(HD_STATE_MASK));
#else
        states.at[i] = vandq_u64(keys->at[i], vdupq_n_u64(HD_STATE_MASK));
#endif
    }
    return states;
}

/* Of every lane that is equal one distinct bit is kept; they are added up. */
HD_FN uint32_t slab_equal(const hd_slab_keys *keys, hd_key word)
{
#if HD_KEY_BITS == 32
    static const uint32_t bits[4] = {1, 2, 4, 8};
    const uint32x4_t want = vdupq_n_u32(word), bit = vld1q_u32(bits);
#else
    static const uint64_t bits[2] = {1, 2};
    const uint64x2_t want = vdupq_n_u64(word), bit = vld1q_u64(bits);
#endif
    uint32_t mask = 0;
    for (int i = 0; i < HD_SLAB_VECTORS; i++) {
#if HD_KEY_BITS == 32
        const uint32_t four = vaddvq_u32(vandq_u32(vceqq_u32(keys->at[i], want), bit));
#else
        const uint32_t four = (uint32_t)vaddvq_u64(vandq_u64(vceqq_u64(keys->at[i], want), bit));
#endif
        mask |= four << i * HD_SLAB_STEP_LANES;
    }
    return mask & HD_SLAB_ALL;
}
