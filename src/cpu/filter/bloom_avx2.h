/*
 * bloom_avx2.h: a block of a Bloom filter with 8 hashes (scheme/bloom.h) as one vector of 8 words, a bit in
 * each. Functions have AVX2 by an attribute, so that one file holds the loops for all machines; whoever
 * calls them must have it too. Elsewhere HD_WIDE_BLOCKS is 0 and nobody calls them.
 */
#ifndef HD_BLOOM_AVX2_H
#define HD_BLOOM_AVX2_H

#include "scheme/bloom.h"

#if defined(__x86_64__) && !defined(HD_ONLY_SCALAR)

#include <immintrin.h>

#define HD_WIDE_BLOCKS 1
#define HD_WIDE __attribute__((target("avx2,bmi,bmi2")))

/* The bits of a key. */
HD_WIDE static inline __m256i wide_bits(uint32_t spread)
{
    const __m256i salts = _mm256_setr_epi32(
        (int)bloom_salt(0), (int)bloom_salt(1), (int)bloom_salt(2), (int)bloom_salt(3),
        (int)bloom_salt(4), (int)bloom_salt(5), (int)bloom_salt(6), (int)bloom_salt(7));
    const __m256i hashes = _mm256_mullo_epi32(_mm256_set1_epi32((int)spread), salts);
    return _mm256_sllv_epi32(_mm256_set1_epi32(1), _mm256_srli_epi32(hashes, 27));
}

HD_WIDE static inline void wide_set(uint32_t *words, uint32_t spread)
{
    __m256i *block = (__m256i *)(void *)words;
    _mm256_store_si256(block, _mm256_or_si256(_mm256_load_si256(block), wide_bits(spread)));
}

HD_WIDE static inline bool wide_has(const uint32_t *words, uint32_t spread)
{
    const __m256i *block = (const __m256i *)(const void *)words;
    return _mm256_testc_si256(_mm256_load_si256(block), wide_bits(spread)) != 0;
}

#else

#define HD_WIDE_BLOCKS 0
#define HD_WIDE

HD_FN void wide_set(uint32_t *words, uint32_t spread) { (void)words, (void)spread; }
HD_FN bool wide_has(const uint32_t *words, uint32_t spread)
{
    (void)words, (void)spread;
    return false;
}

#endif
#endif
