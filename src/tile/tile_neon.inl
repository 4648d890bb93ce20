/*
 * tile_neon.inl: 16 bytes of a bucket are compared at once; the lanes of a comparison are gathered
 * into a mask by keeping one distinct bit of each and adding them up.
 */
#ifndef HD_TILE_THREAD_H
#error "included by tile_thread.inl alone"
#endif
#include <arm_neon.h>

#define HD_LANES (HD_BUCKET * HD_STRIDE)
#define HD_STEP_LANES (128 / HD_KEY_BITS)
#define HD_KEY_LANES (HD_STRIDE == 1 ? ~UINT64_C(0) : UINT64_C(0x5555555555555555))

#if HD_KEY_BITS == 32
typedef uint32x4_t hd_lanes;
HD_FN hd_lanes lanes_load(const hd_word *words, int i)
{
    return vld1q_u32((const uint32_t *)(const void *)words + 4 * i);
}
HD_FN hd_lanes lanes_equal(hd_lanes lanes, hd_key lean, hd_key mask)
{
    return vceqq_u32(vandq_u32(lanes, vdupq_n_u32(mask)), vdupq_n_u32(lean));
}
HD_FN hd_lanes lanes_negative(hd_lanes lanes) { return vcltzq_s32(vreinterpretq_s32_u32(lanes)); }
HD_FN uint64_t lanes_mask(hd_lanes lanes)
{
    static const uint32_t bits[4] = {1, 2, 4, 8};
    return vaddvq_u32(vandq_u32(lanes, vld1q_u32(bits)));
}
#else
typedef uint64x2_t hd_lanes;
HD_FN hd_lanes lanes_load(const hd_word *words, int i)
{
    return vld1q_u64((const uint64_t *)(const void *)words + 2 * i);
}
HD_FN hd_lanes lanes_equal(hd_lanes lanes, hd_key lean, hd_key mask)
{
    return vceqq_u64(vandq_u64(lanes, vdupq_n_u64(mask)), vdupq_n_u64(lean));
}
HD_FN hd_lanes lanes_negative(hd_lanes lanes) { return vcltzq_s64(vreinterpretq_s64_u64(lanes)); }
HD_FN uint64_t lanes_mask(hd_lanes lanes)
{
    static const uint64_t bits[2] = {1, 2};
    return vaddvq_u64(vandq_u64(lanes, vld1q_u64(bits)));
}
#endif

HD_FN uint64_t words_equal(const hd_word *words, hd_key lean, hd_key key_mask)
{
    uint64_t mask = 0;
    for (int i = 0; i < HD_LANES / HD_STEP_LANES; i++)
        mask |= lanes_mask(lanes_equal(lanes_load(words, i), lean, key_mask)) << i * HD_STEP_LANES;
    return mask & HD_KEY_LANES;
}

HD_FN uint64_t words_vacant(const hd_word *words)
{
    uint64_t mask = 0;
    for (int i = 0; i < HD_LANES / HD_STEP_LANES; i++)
        mask |= lanes_mask(lanes_negative(lanes_load(words, i))) << i * HD_STEP_LANES;
    return mask & HD_KEY_LANES;
}
