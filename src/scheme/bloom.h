/*
 * bloom.h: the blocked Bloom filter: which bits a key has. Written once for both engines.
 *
 * All bits of a key lie in one block of 256 bits, so that a look costs one access to memory (Putze,
 * Sanders, Singler 2007; WarpCore). The block is found by the leading bits of the mixed key. It is cut into
 * as many sectors as there are hashes, equal but for one bit, and a key has one bit in each:
 *
 *     hashes = 8:  | 32 bits | 32 bits | ... | 32 bits |      a word each
 *     hashes = 3:  |    85 bits    |    85 bits    |    86 bits    |
 *
 * Invariant: a key was added only if all its bits are set, and no bit is ever taken back before the
 * filter is cleared. So a key whose bits are not all set was never added. In a block either every sector
 * has a bit or none.
 *
 * The sectors of a block are independent of each other, and so the rate of false positives can be told
 * exactly (filter/rate.c).
 */
#ifndef HD_BLOOM_H
#define HD_BLOOM_H

#include "model/filter.h"
#include "model/hash.h"

/* floor(mixed * blocks / 2^HD_KEY_BITS) */
HD_FN uint32_t bloom_block(const hd_filter_view *view, hd_key mixed)
{
#if HD_KEY_BITS == 32
    return hd_mulhi32(mixed, view->blocks);
#else
    return (uint32_t)(((mixed >> 32) * view->blocks + hd_mulhi32((uint32_t)mixed, view->blocks)) >>
                      32);
#endif
}

/*
 * What the bits in the block come from. Keys of one block share the leading bits of the mixed key, and
 * with 32-bit keys there is little besides, so it takes another round until neighbours have nothing to do
 * with each other.
 */
HD_FN uint32_t bloom_spread(hd_key mixed)
{
    uint32_t x = (uint32_t)mixed;
    x ^= x >> 15;
    x *= UINT32_C(0xb5c96d2b);
    return x ^ x >> 16;
}

/* The multiplier of a hash: odd, with ones and zeros in plenty. */
HD_FN uint32_t bloom_salt(uint32_t hash)
{
    const uint32_t salts[HD_FILTER_HASHES_MAX] = {
        UINT32_C(0x9b9b1325), UINT32_C(0xd1a6e55f), UINT32_C(0xc55a45f9), UINT32_C(0xcf0c26ef),
        UINT32_C(0x265beda9), UINT32_C(0xdd70e34d), UINT32_C(0x5e6a0a2f), UINT32_C(0x55ac0ecd),
        UINT32_C(0x3b4a3ee3), UINT32_C(0xb37523a5), UINT32_C(0xad915a37), UINT32_C(0x4de45321),
        UINT32_C(0x9823beb1), UINT32_C(0x683447c1), UINT32_C(0x5bae2d27), UINT32_C(0x4ca87fc3)};
    return salts[hash];
}

/* Where sector `hash` of `hashes` begins; the next one's beginning is its end. */
HD_BOTH uint32_t bloom_sector(uint32_t hash, uint32_t hashes)
{
    return HD_FILTER_BLOCK_BITS * hash / hashes;
}

/* The bit of a hash: 0 to 255. `salt` is bloom_salt(hash). */
HD_FN uint32_t bloom_position(uint32_t spread, uint32_t salt, uint32_t hash, uint32_t hashes)
{
    const uint32_t begin = bloom_sector(hash, hashes);
    const uint32_t size = bloom_sector(hash + 1, hashes) - begin;
    /* Not hd_mulhi32: compilers make a shift of this where the size is a power of two. */
    return begin + (uint32_t)((uint64_t)(spread * salt) * size >> 32);
}

/* The sectors [first, end) that may have bits in a word. */
HD_FN uint32_t bloom_word_first(uint32_t word, uint32_t hashes)
{
    return word * hashes / HD_FILTER_BLOCK_WORDS;
}
HD_FN uint32_t bloom_word_end(uint32_t word, uint32_t hashes)
{
    return ((word + 1) * hashes + HD_FILTER_BLOCK_WORDS - 1) / HD_FILTER_BLOCK_WORDS;
}

/*
 * The bits of a key in one word of its block. salts[i] is bloom_salt(skip + i): with an even number of
 * hashes the second half of a block looks like the first with `skip` = hashes / 2, and words are then
 * counted from there.
 */
HD_FN uint32_t bloom_word(uint32_t spread, const uint32_t *salts, uint32_t word, uint32_t hashes)
{
    const uint32_t end = bloom_word_end(word, hashes);
    uint32_t bits = 0;
    HD_UNROLL
    for (uint32_t i = bloom_word_first(word, hashes); i < end; i++) {
        const uint32_t position = bloom_position(spread, salts[i], i, hashes);
        const bool within =
            bloom_sector(i, hashes) / 32 == word && (bloom_sector(i + 1, hashes) - 1) / 32 == word;
        if (within || position / 32 == word) bits |= UINT32_C(1) << position % 32;
    }
    return bits;
}

/* How many of the bits [begin, end) of a block are set. */
HD_FN uint32_t bloom_count(const uint32_t words[HD_FILTER_BLOCK_WORDS], uint32_t begin,
                           uint32_t end)
{
    uint32_t count = 0;
    for (uint32_t word = begin / 32; word * 32 < end; word++) {
        uint32_t bits = words[word];
        if (word * 32 < begin) bits &= UINT32_MAX << begin % 32;
        if (end - word * 32 < 32) bits &= (UINT32_C(1) << end % 32) - 1;
        count += hd_popcount32(bits);
    }
    return count;
}

/* Adds what one block says to a census. */
HD_FN void bloom_inspect(const uint32_t words[HD_FILTER_BLOCK_WORDS], uint32_t hashes,
                         hd_filter_census *census)
{
    uint32_t most = 0, empty = 0;
    double passes = 1;
    for (uint32_t i = 0; i < hashes; i++) {
        const uint32_t begin = bloom_sector(i, hashes), end = bloom_sector(i + 1, hashes);
        const uint32_t count = bloom_count(words, begin, end);
        census->set += count;
        if (count > most) most = count;
        empty += count == 0;
        passes *= (double)count / (double)(end - begin);
    }
    census->keys += most; /* a key sets one bit of a sector */
    census->broken += empty != 0 && empty != hashes;
    census->passed += passes;
}

#endif
