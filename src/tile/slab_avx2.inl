/*
 * slab_avx2.inl: a slab is four vectors. Where pairs are words, their keys are first moved together into two. See
 * slab_thread.inl for what is asked here.
 */
#ifndef HD_SLAB_THREAD_H
#error "included by slab_thread.inl alone"
#endif
#include <immintrin.h>

#define HD_SLAB_STEP_LANES (256 / HD_KEY_BITS)
#define HD_SLAB_VECTORS ((HD_SLAB_SLOTS + HD_SLAB_STEP_LANES - 1) / HD_SLAB_STEP_LANES)

typedef struct hd_slab_keys {
    __m256i at[HD_SLAB_VECTORS];
} hd_slab_keys;

/* Once: a compiler may not load a volatile again instead of keeping it. */
HD_FN __m256i slab_piece(const char *slab, int i)
{
    return ((const volatile __m256i *)(const void *)slab)[i];
}

#if HD_STRIDE == 2
/* The keys of two vectors of pairs, in their order. */
HD_FN __m256i pieces_keys(__m256i one, __m256i two)
{
#if HD_KEY_BITS == 32
    const __m256i halves = _mm256_castps_si256(
        _mm256_shuffle_ps(_mm256_castsi256_ps(one), _mm256_castsi256_ps(two), 0x88));
#else
    const __m256i halves = _mm256_unpacklo_epi64(one, two);
#endif
    return _mm256_permute4x64_epi64(halves, 0xd8); /* the second quarter with the third */
}
#endif

HD_FN hd_slab_keys slab_keys(const char *slab)
{
    hd_slab_keys keys;
    for (int i = 0; i < HD_SLAB_VECTORS; i++) {
#if HD_STRIDE == 1
        keys.at[i] = slab_piece(slab, i);
#else
        keys.at[i] = pieces_keys(slab_piece(slab, 2 * i), slab_piece(slab, 2 * i + 1));
#endif
    }
    return keys;
}

HD_FN hd_slab_keys slab_states(const hd_slab_keys *keys)
{
    hd_slab_keys states;
    for (int i = 0; i < HD_SLAB_VECTORS; i++) {
#if HD_KEY_BITS == 32
        const __m256i mask = _mm256_set1_epi32((int)HD_STATE_MASK);
#else
        const __m256i mask = _mm256_set1_epi64x((long long)HD_STATE_MASK);
#endif
        states.at[i] = _mm256_and_si256(keys->at[i], mask);
    }
    return states;
}

HD_FN uint32_t slab_equal(const hd_slab_keys *keys, hd_key word)
{
    uint32_t mask = 0;
    for (int i = 0; i < HD_SLAB_VECTORS; i++) {
#if HD_KEY_BITS == 32
        const __m256i same = _mm256_cmpeq_epi32(keys->at[i], _mm256_set1_epi32((int)word));
        const int signs = _mm256_movemask_ps(_mm256_castsi256_ps(same));
#else
        const __m256i same = _mm256_cmpeq_epi64(keys->at[i], _mm256_set1_epi64x((long long)word));
        const int signs = _mm256_movemask_pd(_mm256_castsi256_pd(same));
#endif
        mask |= (uint32_t)signs << i * HD_SLAB_STEP_LANES;
    }
    return mask & HD_SLAB_ALL;
}
