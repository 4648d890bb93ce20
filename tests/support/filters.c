/* filters.c: see filters.h. */
#include "support/filters.h"

#include <stdlib.h>
#include <string.h>

#include "filter/filter.h"

heddle_filter *filter_make(const test_case *c, uint32_t key_bits, uint64_t capacity,
                           uint32_t hashes, double bits_per_key, uint64_t seed)
{
    heddle_filter_options options = HEDDLE_FILTER_OPTIONS_INIT;
    heddle_filter *filter = NULL;
    options.key_bits = key_bits;
    options.capacity = capacity;
    options.hashes = hashes;
    options.bits_per_key = bits_per_key;
    options.seed = seed;
    check_ok(heddle_filter_create(c->device, &options, &filter));
    return filter;
}

uint32_t filter_key_bits(const heddle_filter *filter)
{
    heddle_filter_options options = HEDDLE_FILTER_OPTIONS_INIT;
    check_ok(heddle_filter_get_options(filter, &options));
    return options.key_bits;
}

void filter_add(const test_case *c, heddle_filter *filter, const uint64_t *keys, uint64_t n)
{
    array k = array_of(c, ROLE_KEYS, keys, n, filter_key_bits(filter));
    check_ok(heddle_filter_add(filter, array_pointer(&k), n, NULL));
    check_ok(heddle_device_synchronize(c->device, NULL));
    array_free(&k);
}

uint64_t filter_count(const test_case *c, heddle_filter *filter, const uint64_t *keys, uint64_t n)
{
    array k = array_of(c, ROLE_KEYS, keys, n, filter_key_bits(filter));
    array f = array_poisoned(c, ROLE_FLAGS, n, 0x5a);
    uint64_t found = 0, count = UINT64_MAX, alone = UINT64_MAX;
    check_ok(heddle_filter_contains(filter, array_pointer(&k), n, (uint8_t *)array_pointer(&f),
                                    &count, NULL));
    array_pull(&f);
    for (uint64_t i = 0; i < n; i++) {
        check(f.host[i] <= 1, "flag %llu is %u", (unsigned long long)i, f.host[i]);
        found += f.host[i];
    }
    check(count == found, "%llu counted, %llu flags", (unsigned long long)count,
          (unsigned long long)found);
    check_ok(heddle_filter_contains(filter, array_pointer(&k), n, NULL, &alone, NULL));
    check(alone == found, "%llu counted without flags", (unsigned long long)alone);
    array_free(&k);
    array_free(&f);
    return found;
}

void filter_has_all(const test_case *c, heddle_filter *filter, const uint64_t *keys, uint64_t n)
{
    const uint64_t found = filter_count(c, filter, keys, n);
    check(found == n, "%llu of %llu keys were found", (unsigned long long)found,
          (unsigned long long)n);
}

heddle_filter_stats filter_stats(heddle_filter *filter)
{
    heddle_filter_stats stats = HEDDLE_FILTER_STATS_INIT;
    check_ok(heddle_filter_get_stats(filter, &stats, NULL));
    return stats;
}

bool filter_same(heddle_filter *a, heddle_filter *b)
{
    const uint64_t bytes = hd_filter_bytes(a);
    uint8_t *words = (uint8_t *)malloc(2 * bytes);
    bool same = bytes == hd_filter_bytes(b) && words != NULL;
    check_ok(heddle_memory_copy(a->device, words, a->view.words, bytes, NULL));
    check_ok(heddle_memory_copy(b->device, words + bytes, b->view.words, bytes, NULL));
    check_ok(heddle_device_synchronize(a->device, NULL));
    same = same && memcmp(words, words + bytes, bytes) == 0;
    free(words);
    return same;
}
