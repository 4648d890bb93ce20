/*
 * tile_avx512.inl: 64 bytes of a bucket are compared at once, straight into a mask. Buckets of less
 * than 64 bytes use the narrower vectors of tile_avx2.inl.
 */
#ifndef HD_TILE_THREAD_H
#error "included by tile_thread.inl alone"
#endif
#include <immintrin.h>

#if HD_BUCKET * HD_STRIDE * HD_KEY_BITS < 512
#include "tile/tile_avx2.inl"
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

#if HD_LANES == HD_STEP_LANES
#define HD_HAS_WORDS_REPEAT
/* Each slot is compared with those behind it, at every distance up to half a turn, all slots at once. */
HD_FN bool words_repeat(const hd_word *words)
{
    const __m512i lanes = _mm512_loadu_si512((const void *)words);
    const uint64_t live = ~words_vacant(words) & HD_KEY_LANES;
    uint64_t repeats = 0;
    for (int distance = 1; distance <= HD_BUCKET / 2; distance++) {
#if HD_KEY_BITS == 32
        const __m512i order = _mm512_add_epi32(
            _mm512_set1_epi32(distance * HD_STRIDE),
            _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
        repeats |= _mm512_cmpeq_epi32_mask(lanes, _mm512_permutexvar_epi32(order, lanes));
#else
        const __m512i order = _mm512_add_epi64(_mm512_set1_epi64(distance * HD_STRIDE),
                                               _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7));
        repeats |= _mm512_cmpeq_epi64_mask(lanes, _mm512_permutexvar_epi64(order, lanes));
#endif
    }
    return (repeats & live) != 0;
}
#endif

#endif
