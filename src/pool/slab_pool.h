/*
 * slab_pool.h: taking slabs from a pool and giving them back, beside others that do the same. After SlabAlloc
 * (Ashkiani, Farach-Colton, Owens, "A Dynamic Hash Table for the GPU", 2018, section V).
 *
 * Everybody who takes slabs has a taker: a word of 32 bits of the pool, at which others are unlikely to be at
 * the same time, and what is known of it. Taking sets one of its bits. The atomic step tells what was there, so
 * in the good case it is all that is needed, and in the other case it says which bits are left to try. Where
 * none are, the taker goes to another word by a hash of its own. After HD_TAKER_MOVES of these it looks through
 * all words in order, so that a pool is only said to be spent when every slab was seen taken.
 */
#ifndef HD_SLAB_POOL_H
#define HD_SLAB_POOL_H

#include "base/atomic.h"
#include "model/slabs.h"

typedef struct hd_slab_taker {
    uint32_t word;  /* of pool->taken */
    uint32_t known; /* bits of it that are known to be set */
    uint32_t hash;  /* chooses the next block */
} hd_slab_taker;

/* Steps of a linear congruential generator of full period, scrambled. */
HD_FN uint32_t taker_hash(uint32_t *state)
{
    uint32_t hash;
    *state = *state * UINT32_C(1664525) + UINT32_C(1013904223);
    hash = *state;
    hash ^= hash >> 16;
    return hash * UINT32_C(0x85ebca6b);
}

HD_FN void taker_move(const hd_slab_pool *pool, hd_slab_taker *taker)
{
    const uint32_t hash = taker_hash(&taker->hash);
    taker->word = hd_mulhi32(hash, pool->blocks) * HD_SLAB_BLOCK_WORDS + hash % HD_SLAB_BLOCK_WORDS;
    taker->known = 0;
}

/* One for each who works beside others; `number` tells them apart. */
HD_FN hd_slab_taker taker_start(const hd_slab_pool *pool, uint32_t number)
{
    hd_slab_taker taker;
    taker.hash = number * UINT32_C(0x9e3779b1);
    taker_move(pool, &taker);
    return taker;
}

/* The address of slab `bit` of a word. */
HD_FN uint32_t pool_address(const hd_slab_pool *pool, uint32_t word, uint32_t bit)
{
    const uint32_t block = word / HD_SLAB_BLOCK_WORDS;
    uint32_t super = 0;
    while (super + 1 < pool->super_count && block >= pool->supers[super + 1].before) super++;
    return super << (HD_SLAB_BLOCK_BITS + HD_SLAB_UNIT_BITS) |
           (block - pool->supers[super].before) << HD_SLAB_UNIT_BITS |
           (word % HD_SLAB_BLOCK_WORDS * 32 + bit);
}

HD_FN char *pool_slab(const hd_slab_pool *pool, uint32_t address)
{
    const uint32_t within =
        address & ((UINT32_C(1) << (HD_SLAB_BLOCK_BITS + HD_SLAB_UNIT_BITS)) - 1);
    char *const slabs =
        pool->light != NULL
            ? pool->light
            : pool->supers[address >> (HD_SLAB_BLOCK_BITS + HD_SLAB_UNIT_BITS)].slabs;
    return slabs + (uint64_t)within * HD_SLAB_BYTES;
}

/* Whether an address is one that the pool could have given. */
HD_FN bool pool_has(const hd_slab_pool *pool, uint32_t address)
{
    const uint32_t super = address >> (HD_SLAB_BLOCK_BITS + HD_SLAB_UNIT_BITS);
    return address != HD_SLAB_NONE && super < pool->super_count &&
           (address >> HD_SLAB_UNIT_BITS) % HD_SLAB_BLOCKS < pool->supers[super].blocks;
}

/* Where its bit is. */
HD_FN uint32_t *pool_word(const hd_slab_pool *pool, uint32_t address)
{
    const uint32_t super = address >> (HD_SLAB_BLOCK_BITS + HD_SLAB_UNIT_BITS);
    const uint32_t block =
        pool->supers[super].before + (address >> HD_SLAB_UNIT_BITS) % HD_SLAB_BLOCKS;
    return pool->taken + block * HD_SLAB_BLOCK_WORDS + address % HD_SLAB_UNITS / 32;
}

/* One try at the taker's word; HD_SLAB_NONE: none of its slabs was free that is known of. */
HD_FN uint32_t taker_try(const hd_slab_pool *pool, hd_slab_taker *taker)
{
    while (taker->known != UINT32_MAX) {
        const uint32_t bit = hd_lowest_bit(~taker->known);
        const uint32_t before = fetch_or_relaxed_32(pool->taken + taker->word, UINT32_C(1) << bit);
        taker->known = before | UINT32_C(1) << bit;
        if ((before >> bit & 1) == 0) return pool_address(pool, taker->word, bit);
    }
    return HD_SLAB_NONE;
}

#ifndef HD_TAKER_MOVES
#define HD_TAKER_MOVES 32 /* by chance, before all words are looked through */
#endif
/* Words that are loaded at once then; a block has a multiple of it. */
#define HD_TAKER_LOOKS (HD_SLAB_BLOCK_WORDS < 8 ? HD_SLAB_BLOCK_WORDS : 8)

/* Looks through all words in order for one that has a free slab, or until the pool is known to be spent. */
HD_FN uint32_t taker_search(const hd_slab_pool *pool, hd_slab_taker *taker)
{
    const uint32_t words = pool->blocks * HD_SLAB_BLOCK_WORDS;
    uint32_t at = taker->word / HD_TAKER_LOOKS * HD_TAKER_LOOKS;
    uint32_t address = HD_SLAB_NONE;
    for (uint32_t i = 0; address == HD_SLAB_NONE && i < words; i += HD_TAKER_LOOKS) {
        uint32_t taken[HD_TAKER_LOOKS];
        at = at + HD_TAKER_LOOKS < words ? at + HD_TAKER_LOOKS : 0;
        HD_UNROLL
        for (uint32_t k = 0; k < HD_TAKER_LOOKS; k++)
            taken[k] = load_relaxed_32(pool->taken + at + k);
        for (uint32_t k = 0; address == HD_SLAB_NONE && k < HD_TAKER_LOOKS; k++) {
            taker->word = at + k;
            taker->known = taken[k];
            address = taker_try(pool, taker);
        }
        if (load_acquire_32(pool->spent) != 0) break;
    }
    return address;
}

/* A slab, all 0, that nobody else has; HD_SLAB_NONE where all are taken. */
HD_FN uint32_t slab_take(const hd_slab_pool *pool, hd_slab_taker *taker)
{
    uint32_t address = taker_try(pool, taker);
    for (uint32_t i = HD_TAKER_MOVES; address == HD_SLAB_NONE && i > 0; i--) {
        if (load_acquire_32(pool->spent) != 0) return HD_SLAB_NONE;
        taker_move(pool, taker);
        address = taker_try(pool, taker);
    }
    if (address == HD_SLAB_NONE) address = taker_search(pool, taker);
    if (address == HD_SLAB_NONE) store_relaxed_32(pool->spent, 1);
    return address;
}

/*
 * Whether three quarters of a pool are taken, by `of` of its words in which `taken` bits are set. Slabs are taken at
 * random, so some words, in even steps, speak for all.
 */
#define HD_POOL_SAMPLE (UINT32_C(1) << 11)

HD_FN uint32_t pool_sample_step(const hd_slab_pool *pool)
{
    return pool->blocks * HD_SLAB_BLOCK_WORDS / HD_POOL_SAMPLE + 1;
}

HD_FN bool pool_is_crowded(uint32_t taken, uint32_t of)
{
    return (uint64_t)taken * 4 >= (uint64_t)of * 32 * 3;
}

/* Gives back a slab that is all 0. False, and nothing done, where it was not taken, or is none of the pool. */
HD_FN bool slab_give(const hd_slab_pool *pool, uint32_t address)
{
    const uint32_t bit = UINT32_C(1) << address % 32;
    return pool_has(pool, address) &&
           (fetch_and_relaxed_32(pool_word(pool, address), ~bit) & bit) != 0;
}

/* The same where anything else would be a fault of the scheme: builds without NDEBUG stop there. */
HD_FN void slab_return(const hd_slab_pool *pool, uint32_t address)
{
    const bool was_taken = slab_give(pool, address);
    assert(was_taken);
    (void)was_taken;
}

#endif
