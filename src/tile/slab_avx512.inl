/*
 * slab_avx512.inl: a slab is two vectors. Where pairs are words, their keys are first moved together into one. See
 * slab_thread.inl for what is asked here.
 */
#ifndef HD_SLAB_THREAD_H
#error "included by slab_thread.inl alone"
#endif
#include <immintrin.h>

#define HD_SLAB_STEP_LANES (512 / HD_KEY_BITS)
#define HD_SLAB_VECTORS ((HD_SLAB_SLOTS + HD_SLAB_STEP_LANES - 1) / HD_SLAB_STEP_LANES)

typedef struct hd_slab_keys {
    __m512i at[HD_SLAB_VECTORS];
} hd_slab_keys;

/* Once: a compiler may not load a volatile again instead of keeping it. */
HD_FN __m512i slab_piece(const char *slab, int i)
{
    return ((const volatile __m512i *)(const void *)slab)[i];
}

HD_FN hd_slab_keys slab_keys(const char *slab)
{
    hd_slab_keys keys;
#if HD_STRIDE == 1
    for (int i = 0; i < HD_SLAB_VECTORS; i++) keys.at[i] = slab_piece(slab, i);
#elif HD_KEY_BITS == 32
    const __m512i one = slab_piece(slab, 0), two = slab_piece(slab, 1);
    const __m512i even =
        _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    keys.at[0] = _mm512_permutex2var_epi32(one, even, two);
#else
    const __m512i one = slab_piece(slab, 0), two = slab_piece(slab, 1);
    keys.at[0] = _mm512_permutex2var_epi64(one, _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14), two);
#endif
    return keys;
}

HD_FN hd_slab_keys slab_states(const hd_slab_keys *keys)
{
    hd_slab_keys states;
    for (int i = 0; i < HD_SLAB_VECTORS; i++) {
#if HD_KEY_BITS == 32
        const __m512i mask = _mm512_set1_epi32((int)HD_STATE_MASK);
#else
        const __m512i mask = _mm512_set1_epi64((long long)HD_STATE_MASK);
#endif
        states.at[i] = _mm512_and_si512(keys->at[i], mask);
    }
    return states;
}

HD_FN uint32_t slab_equal(const hd_slab_keys *keys, hd_key word)
{
    uint32_t mask = 0;
    for (int i = 0; i < HD_SLAB_VECTORS; i++) {
#if HD_KEY_BITS == 32
        const __m512i want = _mm512_set1_epi32((int)word);
        mask |= (uint32_t)_mm512_cmpeq_epi32_mask(keys->at[i], want) << i * HD_SLAB_STEP_LANES;
#else
        const __m512i want = _mm512_set1_epi64((long long)word);
        mask |= (uint32_t)_mm512_cmpeq_epi64_mask(keys->at[i], want) << i * HD_SLAB_STEP_LANES;
#endif
    }
    return mask & HD_SLAB_ALL;
}
