/*
 * tile_avx512.h: 64 bytes of a bucket are compared at once, straight into a mask. Buckets of less
 * than 64 bytes use the narrower vectors of tile_avx2.h.
 */
#include <immintrin.h>

#if HD_BUCKET * HD_STRIDE * HD_KEY_BITS < 512
#include "tile/tile_avx2.h"
#else

#define HD_LANES (HD_BUCKET * HD_STRIDE)
#define HD_STEP_LANES (512 / HD_KEY_BITS)
#define HD_KEY_LANES (HD_STRIDE == 1 ? ~UINT64_C(0) : UINT64_C(0x5555555555555555))

HD_FN uint64_t words_equal(const hd_word *words, hd_key lean, hd_key key_mask)
{
#if HD_KEY_BITS == 32
    const __m512i want = _mm512_set1_epi32((int)lean), bare = _mm512_set1_epi32((int)key_mask);
#else
    const __m512i want = _mm512_set1_epi64((long long)lean),
                  bare = _mm512_set1_epi64((long long)key_mask);
#endif
    uint64_t mask = 0;
    for (int i = 0; i < HD_LANES / HD_STEP_LANES; i++) {
        const __m512i lanes =
            _mm512_and_si512(bare, _mm512_loadu_si512((const __m512i *)(const void *)words + i));
#if HD_KEY_BITS == 32
        mask |= (uint64_t)_mm512_cmpeq_epi32_mask(lanes, want) << i * HD_STEP_LANES;
#else
        mask |= (uint64_t)_mm512_cmpeq_epi64_mask(lanes, want) << i * HD_STEP_LANES;
#endif
    }
    return mask & HD_KEY_LANES;
}

HD_FN uint64_t words_vacant(const hd_word *words)
{
    uint64_t mask = 0;
    for (int i = 0; i < HD_LANES / HD_STEP_LANES; i++) {
        const __m512i lanes = _mm512_loadu_si512((const __m512i *)(const void *)words + i);
#if HD_KEY_BITS == 32
        mask |= (uint64_t)_mm512_movepi32_mask(lanes) << i * HD_STEP_LANES;
#else
        mask |= (uint64_t)_mm512_movepi64_mask(lanes) << i * HD_STEP_LANES;
#endif
    }
    return mask & HD_KEY_LANES;
}

#endif
