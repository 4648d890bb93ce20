/* keys.c: bijections and permutations that stand for the arrays of a benchmark. */
#include "bench/keys.h"

#include <stddef.h>

/* The finaliser of SplitMix64: a bijection of 64-bit numbers. */
static uint64_t mix64(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* A bijection of 32-bit numbers of the same quality (constants by C. Wellons' hash prospector). */
static uint32_t mix32(uint32_t x)
{
    x = (x ^ x >> 16) * UINT32_C(0x7feb352d);
    x = (x ^ x >> 15) * UINT32_C(0x846ca68b);
    return x ^ x >> 16;
}

bench_keys bench_keys_of(uint64_t n, uint64_t seed, uint32_t key_bits, uint32_t value_bits)
{
    bench_keys keys;
    keys.n = n;
    keys.key_bits = key_bits;
    keys.value_bits = value_bits;
    keys.start = mix64(seed);
    keys.multiply = mix64(seed + 1) | 1;
    keys.add = mix64(seed + 2);
    keys.draw = mix64(seed + 3);
    keys.plain = false;
    keys.index_bits = 1;
    while (keys.index_bits < 63 && UINT64_C(1) << keys.index_bits < n) keys.index_bits++;
    return keys;
}

/* What an odd number must be multiplied by to give 1: a round doubles the bits that are right. */
static uint64_t inverse(uint64_t odd)
{
    uint64_t x = odd;
    for (int round = 0; round < 5; round++) x *= 2 - odd * x;
    return x;
}

static uint64_t unmix64(uint64_t x)
{
    x = (x ^ x >> 31 ^ x >> 62) * inverse(UINT64_C(0x94d049bb133111eb));
    x = (x ^ x >> 27 ^ x >> 54) * inverse(UINT64_C(0xbf58476d1ce4e5b9));
    return x ^ x >> 30 ^ x >> 60;
}

static uint32_t unmix32(uint32_t x)
{
    x = (x ^ x >> 16) * (uint32_t)inverse(UINT32_C(0x846ca68b));
    x = (x ^ x >> 15 ^ x >> 30) * (uint32_t)inverse(UINT32_C(0x7feb352d));
    return x ^ x >> 16;
}

uint64_t bench_random(uint64_t position)
{
    return mix64((position + 1) * UINT64_C(0x9e3779b97f4a7c15));
}

uint64_t bench_key_number(const bench_keys *keys, uint64_t key)
{
    if (keys->plain) return key;
    if (keys->key_bits == 64) return unmix64(key) - keys->start;
    return (uint32_t)(unmix32((uint32_t)key) - (uint32_t)keys->start);
}

uint64_t bench_key_at(const bench_keys *keys, uint64_t i, bool missing)
{
    if (keys->plain) return i + (missing ? UINT64_C(1) << (keys->key_bits - 1) : 0);
    if (keys->key_bits == 64) return mix64(i + keys->start + (missing ? UINT64_C(1) << 63 : 0));
    return mix32((uint32_t)i + (uint32_t)keys->start + (missing ? UINT32_C(1) << 31 : 0));
}

/*
 * A permutation of [0, n): bijective rounds on the next power of two, walked until the result lies
 * inside, which takes less than two turns on average.
 */
uint64_t bench_shuffled(const bench_keys *keys, uint64_t position)
{
    const uint64_t mask = (UINT64_C(1) << keys->index_bits) - 1;
    uint64_t x = position;
    do {
        for (int round = 0; round < 3; round++) {
            x = (x * keys->multiply + keys->add) & mask;
            x ^= x >> (keys->index_bits + 1) / 2;
        }
    } while (x >= keys->n);
    return x;
}

bool bench_query_present(const bench_keys *keys, const bench_query *query, uint64_t position)
{
    if (query->hit == 0 || query->hit == 100) return query->hit == 100;
    return mix64(position + keys->draw) % 100 < query->hit;
}

uint64_t bench_query_key(const bench_keys *keys, const bench_query *query, uint64_t position)
{
    const uint64_t i = query->shuffled ? bench_shuffled(keys, position) : position;
    return bench_key_at(keys, i, !bench_query_present(keys, query, position));
}

uint64_t bench_value(const bench_keys *keys, uint64_t key)
{
    const uint64_t value = mix64(key + UINT64_C(0x9e3779b97f4a7c15));
    return keys->value_bits == 64 ? value : value >> 32;
}

static uint64_t element(const void *array, uint32_t bits, uint64_t i)
{
    return bits == 64 ? ((const uint64_t *)array)[i] : ((const uint32_t *)array)[i];
}

void bench_make(const bench_keys *keys, const bench_query *query, bool values, uint64_t first,
                uint64_t count, void *to)
{
    const uint32_t bits = values ? keys->value_bits : keys->key_bits;
#pragma omp parallel for schedule(static)
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t key = bench_query_key(keys, query, first + i);
        const uint64_t made = values ? bench_value(keys, key) : key;
        if (bits == 64) ((uint64_t *)to)[i] = made;
        else ((uint32_t *)to)[i] = (uint32_t)made;
    }
}

uint64_t bench_count_wrong(const bench_keys *keys, const bench_expected *expected, uint64_t first,
                           uint64_t count)
{
    const uint32_t bits = keys->value_bits;
    const uint64_t poison = bits == 64 ? expected->poison : (uint32_t)expected->poison;
    uint64_t wrong = 0;
#pragma omp parallel for schedule(static) reduction(+ : wrong)
    for (uint64_t i = 0; i < count; i++) {
        const bool present =
            !expected->none && bench_query_present(keys, &expected->query, first + i);
        bool right = expected->found[i] == (present ? 1 : 0);
        if (expected->values != NULL) {
            const uint64_t key = present ? bench_query_key(keys, &expected->query, first + i) : 0;
            right &=
                element(expected->values, bits, i) == (present ? bench_value(keys, key) : poison);
        }
        wrong += !right;
    }
    return wrong;
}
