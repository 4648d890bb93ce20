/*
 * keys.h: sets of keys that hurt hash tables.
 *
 * The first KEYS_DISTINCT sets hold no key twice, and their first n keys are the same whatever
 * length is asked for: fill 2n keys, insert n of them, and the others are known to be absent.
 */
#ifndef TEST_KEYS_H
#define TEST_KEYS_H

#include <stdbool.h>
#include <stdint.h>

typedef enum key_set {
    KEYS_RANDOM,
    KEYS_EDGES,        /* 0, the maximum, powers of two and their neighbours, then random keys */
    KEYS_SEQUENCE,     /* 0, 1, 2, ... */
    KEYS_TOP,          /* the maximum, the maximum - 1, ... */
    KEYS_MULTIPLES_16, /* multiples of 2^16 */
    KEYS_MULTIPLES_20, /* multiples of 2^20 */
    KEYS_MULTIPLES_48, /* multiples of 2^48; of 2^28 where keys have 32 bits */
    KEYS_GOLDEN,       /* neighbours under multiplicative hashing by the golden ratio */
    KEYS_DISTINCT,     /* how many sets there are above; below, keys repeat */
    KEYS_ZEROS = KEYS_DISTINCT,
    KEYS_ONES,  /* every key has all bits set */
    KEYS_EQUAL, /* every key the same random one */
    KEYS_TWICE, /* every key about twice, shuffled */
    KEYS_ZIPF,  /* few keys very often, many once */
    KEYS_SETS
} key_set;

const char *keys_name(key_set set);
void keys_fill(uint64_t *keys, uint64_t n, key_set set, uint32_t key_bits, uint64_t seed);
/* Values to go with keys: random 64-bit words, now and then 0 or all ones. */
void keys_fill_values(uint64_t *values, uint64_t n, uint64_t seed);
/* Brings an array into a random order. */
void keys_shuffle(uint64_t *keys, uint64_t n, uint64_t seed);

/* A small random generator: each call moves *state on. */
uint64_t keys_random(uint64_t *state);
/* A random number below `bound`. */
uint64_t keys_below(uint64_t *state, uint64_t bound);

/* malloc for n 64-bit words; never NULL. */
uint64_t *keys_allocate(uint64_t n);

#endif
