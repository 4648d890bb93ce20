/*
 * port.h: the few words that differ between gcc -std=c11 and nvcc.
 *
 * With atomic.h and tile.h this is the only place with conditionals on the target.
 */
#ifndef HD_PORT_H
#define HD_PORT_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if defined(__SSE2__) && !defined(__CUDACC__)
#include <emmintrin.h>
#endif

#if defined(__CUDACC__)
#define HD_FN static __device__ __forceinline__
#define HD_BOTH static __host__ __device__ __forceinline__
#define HD_UNROLL _Pragma("unroll")
#define HD_ALIGN_16 __align__(16)
#else
#define HD_FN static inline __attribute__((always_inline, unused))
#define HD_BOTH static inline __attribute__((always_inline, unused))
#define HD_UNROLL
#define HD_ALIGN_16
#endif

/*
 * A private function that libheddle exports for the tool of the same version, which is linked with it and measures what
 * the library has no call for. The name of its symbol version holds the version (cmake/libheddle.map.in), so that the
 * loader refuses a tool and a library that do not belong together.
 */
#define HD_FOR_TOOL __attribute__((visibility("default")))

/* The upper half of a 32 x 32 bit product. */
HD_BOTH uint32_t hd_mulhi32(uint32_t a, uint32_t b)
{
#if defined(__CUDA_ARCH__)
    return __umulhi(a, b);
#else
    return (uint32_t)((uint64_t)a * b >> 32);
#endif
}

/* The index of the lowest set bit; mask != 0. */
HD_BOTH uint32_t hd_lowest_bit(uint64_t mask)
{
#if defined(__CUDA_ARCH__)
    return (uint32_t)__ffsll((long long)mask) - 1;
#else
    return (uint32_t)__builtin_ctzll(mask);
#endif
}

/* How many bits are set. */
HD_BOTH uint32_t hd_popcount32(uint32_t bits)
{
#if defined(__CUDA_ARCH__)
    return (uint32_t)__popc(bits);
#else
    return (uint32_t)__builtin_popcount(bits);
#endif
}

#if !defined(__CUDACC__)

/* Which of eight numbers equal another one: a bit for each. */
HD_FN uint32_t hd_equals_8(const uint32_t *numbers, uint32_t number)
{
#if defined(__SSE2__)
    const __m128i *from = (const __m128i *)(const void *)numbers;
    const __m128i all = _mm_set1_epi32((int)number);
    const __m128i one = _mm_cmpeq_epi32(_mm_loadu_si128(from), all);
    const __m128i two = _mm_cmpeq_epi32(_mm_loadu_si128(from + 1), all);
    return (uint32_t)_mm_movemask_epi8(
        _mm_packs_epi16(_mm_packs_epi32(one, two), _mm_setzero_si128()));
#else
    uint32_t equals = 0;
    for (uint32_t i = 0; i < 8; i++) equals |= (uint32_t)(numbers[i] == number) << i;
    return equals;
#endif
}

/* Writes 16 bytes, aligned to as many, past the caches where the machine can. */
HD_FN void hd_stream_16(char *to, const char *from)
{
#if defined(__SSE2__)
    _mm_stream_si128((__m128i *)(void *)to, _mm_loadu_si128((const __m128i *)(const void *)from));
#else
    memcpy(to, from, 16);
#endif
}

/* After the last of them: other cores see all of it. */
HD_FN void hd_stream_end(void)
{
#if defined(__SSE2__)
    _mm_sfence();
#endif
}

#endif

#endif
