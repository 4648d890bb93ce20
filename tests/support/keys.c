/* keys.c: see keys.h. Random distinct keys come from bijections of 0, 1, 2, ... */
#include "support/keys.h"

#include <math.h>
#include <stdlib.h>

const char *keys_name(key_set set)
{
    static const char *const names[KEYS_SETS] = {
        "random",
        "edges",
        "sequence",
        "top",
        "multiples of 2^16",
        "multiples of 2^20",
        "multiples of 2^48",
        "golden",
        "zeros",
        "ones",
        "equal",
        "twice",
        "zipf",
    };
    return names[set];
}

static uint64_t mask_of(uint32_t bits)
{
    return bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

/* Steele, Lea and Flood's splitmix64 finalizer: a bijection of 64-bit words. */
static uint64_t scatter64(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* A bijection of 32-bit words. */
static uint32_t scatter32(uint32_t x)
{
    x = (x ^ x >> 16) * UINT32_C(0x7feb352d);
    x = (x ^ x >> 15) * UINT32_C(0x846ca68b);
    return x ^ x >> 16;
}

static uint64_t scattered(uint64_t i, uint32_t bits, uint64_t seed)
{
    const uint64_t from = i + scatter64(seed);
    return bits == 64 ? scatter64(from) : scatter32((uint32_t)from);
}

uint64_t keys_random(uint64_t *state)
{
    *state += UINT64_C(0x9e3779b97f4a7c15);
    return scatter64(*state);
}

uint64_t keys_below(uint64_t *state, uint64_t bound) { return keys_random(state) % bound; }

uint64_t *keys_allocate(uint64_t n)
{
    uint64_t *keys = malloc((n + 1) * sizeof *keys);
    if (keys == NULL) abort();
    return keys;
}

/* The e-th edge of the range, or one seen before when there are no more. */
static uint64_t edge(uint32_t e, uint32_t bits)
{
    const uint64_t top = mask_of(bits);
    const uint64_t first[] = {0, top, top - 1, top - 2, 1, 2, 3};
    const uint32_t firsts = sizeof first / sizeof *first;
    if (e < firsts) return first[e];
    const uint32_t power = (e - firsts) / 3;
    const uint64_t near = (UINT64_C(1) << power) + (e - firsts) % 3 - 1;
    return near & top;
}

static void fill_edges(uint64_t *keys, uint64_t n, uint32_t bits, uint64_t seed)
{
    const uint32_t edges = 7 + 3 * bits;
    uint64_t all[7 + 3 * 64];
    uint64_t count = 0;
    for (uint32_t e = 0; e < edges; e++) {
        const uint64_t key = edge(e, bits);
        bool seen = false;
        for (uint64_t i = 0; i < count; i++) seen |= all[i] == key;
        if (!seen) all[count++] = key;
    }
    uint64_t filled = 0;
    for (; filled < count && filled < n; filled++) keys[filled] = all[filled];
    for (uint64_t i = 0; filled < n; i++) {
        const uint64_t key = scattered(i, bits, seed);
        bool seen = false;
        for (uint64_t j = 0; j < count; j++) seen |= all[j] == key;
        if (!seen) keys[filled++] = key;
    }
}

/* Multiples of 2^shift; past the last one the numbers that were shifted out come in below. */
static uint64_t rotated(uint64_t i, uint32_t shift, uint32_t bits)
{
    return (i << shift | i >> (bits - shift)) & mask_of(bits);
}

/* i times the inverse of the golden ratio's odd number: hashing by it gives 0, 1, 2, ... again. */
static uint64_t golden(uint64_t i, uint32_t bits)
{
    const uint64_t ratio = bits == 64 ? UINT64_C(0x9e3779b97f4a7c15) : UINT64_C(0x9e3779b9);
    uint64_t inverse = ratio;
    for (int round = 0; round < 5; round++) inverse *= 2 - ratio * inverse;
    return i * inverse & mask_of(bits);
}

/* A rank from 1 to n with a chance of about 1 / rank. */
static uint64_t zipf_rank(uint64_t n, uint64_t *state)
{
    const double u = (double)(keys_random(state) >> 11) * 0x1p-53;
    return (uint64_t)exp(u * log((double)n + 1));
}

static uint64_t key_at(uint64_t i, uint64_t n, key_set set, uint32_t bits, uint64_t seed,
                       uint64_t *state)
{
    switch (set) {
    case KEYS_SEQUENCE: return i;
    case KEYS_TOP: return mask_of(bits) - i;
    case KEYS_MULTIPLES_16: return rotated(i, 16, bits);
    case KEYS_MULTIPLES_20: return rotated(i, 20, bits);
    case KEYS_MULTIPLES_48: return rotated(i, bits == 64 ? 48 : 28, bits);
    case KEYS_GOLDEN: return golden(i, bits);
    case KEYS_ZEROS: return 0;
    case KEYS_ONES: return mask_of(bits);
    case KEYS_EQUAL: return scattered(7, bits, seed);
    case KEYS_TWICE: return scattered(i / 2, bits, seed);
    case KEYS_ZIPF: return scattered(zipf_rank(n, state), bits, seed);
    default: return scattered(i, bits, seed);
    }
}

void keys_fill(uint64_t *keys, uint64_t n, key_set set, uint32_t key_bits, uint64_t seed)
{
    uint64_t state = seed;
    if (set == KEYS_EDGES) {
        fill_edges(keys, n, key_bits, seed);
        return;
    }
    for (uint64_t i = 0; i < n; i++) keys[i] = key_at(i, n, set, key_bits, seed, &state);
    if (set == KEYS_TWICE) keys_shuffle(keys, n, seed);
}

void keys_fill_values(uint64_t *values, uint64_t n, uint64_t seed)
{
    uint64_t state = ~seed;
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t word = keys_random(&state);
        values[i] = word % 61 == 0 ? 0 : word % 61 == 1 ? UINT64_MAX : word;
    }
}

void keys_shuffle(uint64_t *keys, uint64_t n, uint64_t seed)
{
    uint64_t state = seed + 1;
    for (uint64_t i = n; i > 1; i--) {
        const uint64_t j = keys_below(&state, i);
        const uint64_t key = keys[j];
        keys[j] = keys[i - 1];
        keys[i - 1] = key;
    }
}
