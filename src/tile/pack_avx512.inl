/*
 * pack_avx512.inl: see pack.h. A vector has as many rows as keys fit, and a set of rows is a mask.
 */
#ifndef HD_PACK_H
#error "included by pack.h alone"
#endif
#include <immintrin.h>

#define HD_CAN_PACK 1
#define ROWS (512 / HD_KEY_BITS) /* of a vector */

/* The lowest `count` rows of a vector. */
static inline uint32_t rows_below(uint32_t count) { return (UINT32_C(1) << count) - 1; }

/* Which of some rows have a number that is at least `limit`. */
static inline uint32_t rows_from(uint32_t rows, const uint32_t *numbers, uint32_t limit)
{
#if HD_KEY_BITS == 32
    return _mm512_mask_cmpge_epu32_mask((__mmask16)rows, _mm512_loadu_si512(numbers),
                                        _mm512_set1_epi32((int)limit));
#else
    return _mm256_mask_cmpge_epu32_mask((__mmask8)rows,
                                        _mm256_loadu_si256((const __m256i *)(const void *)numbers),
                                        _mm256_set1_epi32((int)limit));
#endif
}

static inline uint32_t rows_in(uint32_t rows) { return (uint32_t)__builtin_popcount(rows); }

/* ------------------------------------------------------------------------------- pack and spread */

/* Up to 16 elements of 4 bytes, or 8 of 8: those of `rows` one behind the other. Returns where the next go. */
static inline char *pack_4(char *to, const char *from, uint32_t rows)
{
    const uint32_t count = rows_in(rows);
    const __m512i all = _mm512_maskz_loadu_epi32((__mmask16)rows, from);
    _mm512_mask_storeu_epi32(to, (__mmask16)rows_below(count),
                             _mm512_maskz_compress_epi32((__mmask16)rows, all));
    return to + 4 * count;
}

static inline char *pack_8(char *to, const char *from, uint32_t rows)
{
    const uint32_t count = rows_in(rows);
    const __m512i all = _mm512_maskz_loadu_epi64((__mmask8)rows, from);
    _mm512_mask_storeu_epi64(to, (__mmask8)rows_below(count),
                             _mm512_maskz_compress_epi64((__mmask8)rows, all));
    return to + 8 * count;
}

/* The rows of a vector, of either width. */
static inline char *pack(char *to, const char *from, uint32_t rows, uint32_t width)
{
    if (width == 4) return pack_4(to, from, rows);
    to = pack_8(to, from, rows & 0xff);
    return ROWS == 8 ? to : pack_8(to, from + 64, rows >> 8);
}

/* The other way: the next elements go to the places of `rows`, those of `kept` are written. */
static inline char *spread_4(char *to, char *from, uint32_t rows, uint32_t kept)
{
    const uint32_t count = rows_in(rows);
    const __m512i next = _mm512_maskz_loadu_epi32((__mmask16)rows_below(count), from);
    _mm512_mask_storeu_epi32(to, (__mmask16)kept, _mm512_maskz_expand_epi32((__mmask16)rows, next));
    return from + 4 * count;
}

static inline char *spread_8(char *to, char *from, uint32_t rows, uint32_t kept)
{
    const uint32_t count = rows_in(rows);
    const __m512i next = _mm512_maskz_loadu_epi64((__mmask8)rows_below(count), from);
    _mm512_mask_storeu_epi64(to, (__mmask8)kept, _mm512_maskz_expand_epi64((__mmask8)rows, next));
    return from + 8 * count;
}

static inline char *spread(char *to, char *from, uint32_t rows, uint32_t kept, uint32_t width)
{
    if (width == 4) return spread_4(to, from, rows, kept);
    from = spread_8(to, from, rows & 0xff, kept & 0xff);
    return ROWS == 8 ? from : spread_8(to + 64, from, rows >> 8, kept >> 8);
}

typedef __m512i hd_row_flags;

static inline hd_row_flags flags_all(uint32_t flag) { return _mm512_set1_epi32((int)flag); }
static inline hd_row_flags flags_join(hd_row_flags a, hd_row_flags b)
{
    return _mm512_or_si512(a, b);
}
/* The flags of the first `count` rows, a byte each. */
static inline void flags_store(uint8_t *to, uint32_t count, hd_row_flags flags)
{
    _mm_mask_storeu_epi8(to, (__mmask16)rows_below(count), _mm512_cvtepi32_epi8(flags));
}

/* The next flags, a byte each, in the places of `rows`; which are set is in *set. */
static inline hd_row_flags spread_flags(const uint8_t *from, uint32_t rows, uint32_t *set)
{
    const __m128i next = _mm_maskz_loadu_epi8((__mmask16)rows_below(rows_in(rows)), from);
    const __m512i flags = _mm512_maskz_expand_epi32((__mmask16)rows, _mm512_cvtepu8_epi32(next));
    *set = _mm512_test_epi32_mask(flags, flags);
    return flags;
}
