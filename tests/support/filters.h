/* filters.h: Bloom filters for tests: made, filled and asked with arrays where the case wants them. */
#ifndef TEST_FILTERS_H
#define TEST_FILTERS_H

#include "support/arrays.h"

/* A filter of the case's device; 0 as hashes or bits_per_key leaves that to the library. */
heddle_filter *filter_make(const test_case *c, uint32_t key_bits, uint64_t capacity,
                           uint32_t hashes, double bits_per_key, uint64_t seed);
void filter_add(const test_case *c, heddle_filter *filter, const uint64_t *keys, uint64_t n);
/* How many of the keys are found. Flags and count must agree. */
uint64_t filter_count(const test_case *c, heddle_filter *filter, const uint64_t *keys, uint64_t n);
/* All keys are found. */
void filter_has_all(const test_case *c, heddle_filter *filter, const uint64_t *keys, uint64_t n);
uint32_t filter_key_bits(const heddle_filter *filter);
heddle_filter_stats filter_stats(heddle_filter *filter);
/* Whether two filters have the same words; they are on one device. */
bool filter_same(heddle_filter *a, heddle_filter *b);

#endif
