/*
 * tile_avx2.inl: 32 bytes of a bucket are compared at once. Where a word is wider than its key, the
 * lanes of the values are compared too and masked away.
 */
#ifndef HD_TILE_THREAD_H
#error "included by tile_thread.inl alone"
#endif
#include <immintrin.h>

#define HD_LANES (HD_BUCKET * HD_STRIDE)  /* key-sized lanes in a bucket */
#define HD_STEP_LANES (256 / HD_KEY_BITS) /* lanes in a vector */
#define HD_KEY_LANES (HD_STRIDE == 1 ? ~UINT64_C(0) : UINT64_C(0x5555555555555555))

#if HD_LANES >= HD_STEP_LANES

HD_FN uint64_t lanes_sign(__m256i lanes)
{
#if HD_KEY_BITS == 32
    return (uint64_t)(uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(lanes));
#else
    return (uint64_t)(uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(lanes));
#endif
}

HD_FN uint64_t words_equal(const hd_word *words, hd_key lean, hd_key key_mask)
{
#if HD_KEY_BITS == 32
    const __m256i want = _mm256_set1_epi32((int)lean), bare = _mm256_set1_epi32((int)key_mask);
#else
    const __m256i want = _mm256_set1_epi64x((long long)lean),
                  bare = _mm256_set1_epi64x((long long)key_mask);
#endif
    uint64_t mask = 0;
    for (int i = 0; i < HD_LANES / HD_STEP_LANES; i++) {
        const __m256i lanes =
            _mm256_and_si256(bare, _mm256_loadu_si256((const __m256i *)(const void *)words + i));
#if HD_KEY_BITS == 32
        mask |= lanes_sign(_mm256_cmpeq_epi32(lanes, want)) << i * HD_STEP_LANES;
#else
        mask |= lanes_sign(_mm256_cmpeq_epi64(lanes, want)) << i * HD_STEP_LANES;
#endif
    }
    return mask & HD_KEY_LANES;
}

/* The top bit of a key-sized lane says that there is no key, and movemask reads just these bits. */
HD_FN uint64_t words_vacant(const hd_word *words)
{
    uint64_t mask = 0;
    for (int i = 0; i < HD_LANES / HD_STEP_LANES; i++)
        mask |= lanes_sign(_mm256_loadu_si256((const __m256i *)(const void *)words + i))
                << i * HD_STEP_LANES;
    return mask & HD_KEY_LANES;
}

#else /* a bucket of 16 bytes: four 32-bit keys */

HD_FN uint64_t words_equal(const hd_word *words, hd_key lean, hd_key key_mask)
{
    const __m128i bare = _mm_set1_epi32((int)key_mask);
    const __m128i lanes =
        _mm_and_si128(bare, _mm_loadu_si128((const __m128i *)(const void *)words));
    return (uint64_t)(uint32_t)_mm_movemask_ps(
        _mm_castsi128_ps(_mm_cmpeq_epi32(lanes, _mm_set1_epi32((int)lean))));
}

HD_FN uint64_t words_vacant(const hd_word *words)
{
    const __m128i lanes = _mm_loadu_si128((const __m128i *)(const void *)words);
    return (uint64_t)(uint32_t)_mm_movemask_ps(_mm_castsi128_ps(lanes));
}

#endif
