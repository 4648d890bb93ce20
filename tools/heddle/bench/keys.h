/*
 * keys.h: the keys, values and queries of a benchmark, all computed from a position, so that
 * any part of them can be made, and any answer checked, without keeping them.
 *
 * Key i of the table is a bijective mix of i, so keys are distinct; keys that are not in the table
 * are mixes of numbers from the other half of the bijection's domain. Plain keys are not mixed.
 */
#ifndef BENCH_KEYS_H
#define BENCH_KEYS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct bench_keys {
    uint64_t n;
    uint32_t key_bits, value_bits;
    uint64_t start;         /* where in its domain the bijection begins */
    uint64_t multiply, add; /* of the permutation; `multiply` is odd */
    uint32_t index_bits;    /* at least 1; 2^index_bits >= n */
    uint64_t draw;          /* decides which queries are present */
    bool plain;             /* key i is i itself, not a mix of it */
} bench_keys;

bench_keys bench_keys_of(uint64_t n, uint64_t seed, uint32_t key_bits, uint32_t value_bits);

/* Key number i, i < 2^31 for 32-bit keys; with `missing`, of the keys that are never in a table. */
uint64_t bench_key_at(const bench_keys *keys, uint64_t i, bool missing);
/* Which i gives this key; what is 2^31 (2^63) or more is a missing key. */
uint64_t bench_key_number(const bench_keys *keys, uint64_t key);
/* The place in a permutation of [0, n). */
uint64_t bench_shuffled(const bench_keys *keys, uint64_t position);
/* A number that looks random, for drawing from distributions. */
uint64_t bench_random(uint64_t position);

/* An array of n keys to ask for. */
typedef struct bench_query {
    bool shuffled; /* in another order than the keys were inserted */
    uint32_t hit;  /* percent that are in the table */
} bench_query;

/* Whether the query at `position` asks for a key of the table, and which key it asks for. */
bool bench_query_present(const bench_keys *keys, const bench_query *query, uint64_t position);
uint64_t bench_query_key(const bench_keys *keys, const bench_query *query, uint64_t position);
/* The value that belongs to a key. */
uint64_t bench_value(const bench_keys *keys, uint64_t key);

/* Writes elements [first, first + count) of an array of queries, or of the values of those. */
void bench_make(const bench_keys *keys, const bench_query *query, bool values, uint64_t first,
                uint64_t count, void *to);

/* What answers are held against. */
typedef struct bench_expected {
    bench_query query;
    bool none;          /* none of the keys is in the table any more */
    const void *values; /* NULL where only flags are checked */
    const uint8_t *found;
    uint64_t poison; /* what stands in `values` where no answer was written */
} bench_expected;

/* How many of the answers to queries [first, first + count) are wrong. */
uint64_t bench_count_wrong(const bench_keys *keys, const bench_expected *expected, uint64_t first,
                           uint64_t count);

#endif
