/*
 * owner_few.h: blocks of rows that few members own (owner_steps.c), by AVX-512: the rows of a vector that are one owner's
 * are packed and written at once, and answers read at once and spread out again. A vector has as many rows as
 * keys fit, and a mask for every owner.
 */
#ifndef HD_CPU_OWNER_FEW_H
#define HD_CPU_OWNER_FEW_H

#include <immintrin.h>

#define ROWS (512 / HD_KEY_BITS) /* of a vector */

static inline bool are_few(const hd_owner_desk *d) { return d->batch->members <= HD_OWNER_FEW; }

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

/* Flags, a byte each, in the order of the rows; which are set is in *set. */
static inline __m512i spread_flags(const uint8_t *from, uint32_t rows, uint32_t *set)
{
    const __m128i next = _mm_maskz_loadu_epi8((__mmask16)rows_below(rows_in(rows)), from);
    const __m512i flags = _mm512_maskz_expand_epi32((__mmask16)rows, _mm512_cvtepu8_epi32(next));
    *set = _mm512_test_epi32_mask(flags, flags);
    return flags;
}

/* -------------------------------------------------------------------------------------- the steps */

/* The rows of every member, of the vector with row `i`. */
static inline uint16_t *rows_at(const hd_owner_desk *d, uint64_t i)
{
    return d->rows + i / ROWS * d->batch->members;
}

/*
 * Finds out whose the rows of a block are and counts them. The number of a row is its bin, if bins are in the
 * order of their owners; else its owner.
 */
static inline void few_count(hd_owner_desk *d, const uint32_t *numbers, uint64_t first,
                             uint32_t count)
{
    const uint32_t members = d->batch->members;
    for (uint32_t i = 0; i < count; i += ROWS) {
        uint16_t *rows = rows_at(d, first + i);
        uint32_t left = count - i < ROWS ? rows_below(count - i) : rows_below(ROWS);
        for (uint32_t m = 0; m + 1 < members; m++) {
            const uint32_t after =
                rows_from(left, numbers + i, d->in_order ? d->limits[m + 1] : m + 1);
            rows[m] = (uint16_t)(left & ~after);
            d->counts[m] += rows_in(rows[m]);
            left = after;
        }
        rows[members - 1] = (uint16_t)left;
        d->counts[members - 1] += rows_in(left);
    }
}

static inline void few_send(hd_owner_desk *d, const hd_owners_sent *sent, uint64_t first,
                            uint64_t end, uint32_t width)
{
    const char *keys = (const char *)d->batch->keys, *values = (const char *)sent->values;
    for (uint64_t i = first; i < end; i += ROWS) {
        const uint16_t *rows = rows_at(d, i);
        for (uint32_t m = 0; m < d->batch->members; m++) {
            d->keys[m] = pack(d->keys[m], keys + i * sizeof(hd_key), rows[m], sizeof(hd_key));
            if (width != 0) d->values[m] = pack(d->values[m], values + i * width, rows[m], width);
        }
    }
}

/* The answers of one owner to the rows of a vector; the flags of all are gathered in *flags. */
static inline void few_answers(hd_owner_desk *d, const hd_owners_answers *a, uint32_t owner,
                               uint64_t row, uint32_t rows, wishes wish, __m512i *flags)
{
    uint32_t set = rows;
    if (wish.asks) {
        *flags = _mm512_or_si512(*flags, spread_flags(d->found[owner], rows, &set));
        d->found[owner] += rows_in(rows);
    }
    if (wish.width != 0)
        d->values[owner] = spread((char *)a->values_out + row * wish.width, d->values[owner], rows,
                                  set, wish.width);
}

static inline void few_fetch(hd_owner_desk *d, const hd_owners_answers *a, uint64_t first,
                             uint64_t end, wishes wish)
{
    for (uint64_t i = first; i < end; i += ROWS) {
        const uint16_t *rows = rows_at(d, i);
        const uint32_t left = end - i < ROWS ? (uint32_t)(end - i) : ROWS;
        __m512i flags = wish.asks ? _mm512_setzero_si512() : _mm512_set1_epi32(1);
        for (uint32_t m = 0; m < d->batch->members; m++)
            few_answers(d, a, m, i, rows[m], wish, &flags);
        if (wish.tells)
            _mm_mask_storeu_epi8(a->found_out + i, (__mmask16)rows_below(left),
                                 _mm512_cvtepi32_epi8(flags));
    }
}

#endif
