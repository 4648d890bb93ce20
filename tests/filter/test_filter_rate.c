/*
 * test_filter_rate.c: the rate of false positives: measured with many absent keys, it is that of the
 * theory and that of the bits within what chance allows. The theory itself is held against a plain
 * simulation of the scheme's blocks with random bits.
 */
#include <math.h>
#include <stdlib.h>

#include "filter/filter.h"
#include "support/filters.h"
#include "support/keys.h"

/* `found` of n may differ from the rate by 5 deviations, and by so much because the rate of one filter is
   not that of all. */
static void rate_is(const char *what, double rate, uint64_t found, uint64_t n, double tolerance)
{
    const double expected = rate * (double)n, off = fabs((double)found - expected);
    check(off <= 5 * sqrt(expected) + tolerance * expected + 1, "%s: %llu found, expected %g", what,
          (unsigned long long)found, expected);
}

static void measured_is_expected(const test_case *c)
{
    const double bits_per_key[] = {2, 6, 8.5, 12, 16, 24};
    const uint32_t hashes[] = {0, 1, 3, 5, 8, 13, 16};
    const uint64_t n = case_quick() ? 40000 : 200000;
    uint64_t *keys = keys_allocate(6 * n);
    const key_set sets[] = {KEYS_RANDOM, KEYS_SEQUENCE};
    for (uint32_t b = 0; b < 6; b++)
        for (uint32_t h = 0; h < 7; h++) {
            const uint32_t bits = (b + h) % 2 == 0 ? 32 : 64;
            case_note("%g bits a key, %u hashes, %u bits", bits_per_key[b], hashes[h], bits);
            keys_fill(keys, 6 * n, sets[(b + h) / 2 % 2], bits, b + 1);
            heddle_filter *filter =
                filter_make(c, bits, n, hashes[h], bits_per_key[b], b * 7 + h + 1);
            filter_add(c, filter, keys, n);
            const heddle_filter_stats stats = filter_stats(filter);
            const uint64_t found = filter_count(c, filter, keys + n, 5 * n);
            rate_is("by the bits", stats.rate_found, found, 5 * n, 0.01);
            rate_is("by theory", stats.rate_expected, found, 5 * n, 0.03);
            heddle_filter_destroy(filter);
        }
    free(keys);
}

/* A block is filled with j keys, j by Poisson's law, bit by bit. */
static double simulate(double mean, uint32_t hashes, uint64_t trials)
{
    uint64_t state = hashes, passed = 0;
    for (uint64_t t = 0; t < trials; t++) {
        uint8_t set[256] = {0};
        double chance = exp(-mean), sum = chance;
        const double draw = (double)(keys_random(&state) >> 11) / 9007199254740992.0;
        uint32_t keys = 0;
        bool all = true;
        while (sum < draw && keys < 1000) {
            chance *= mean / ++keys;
            sum += chance;
        }
        for (uint32_t key = 0; key <= keys; key++) /* the last one asks */
            for (uint32_t h = 0; h < hashes; h++) {
                const uint32_t begin = 256 * h / hashes, end = 256 * (h + 1) / hashes;
                const uint64_t bit = begin + keys_below(&state, end - begin);
                if (key == keys) all = all && set[bit];
                else set[bit] = 1;
            }
        passed += all;
    }
    return (double)passed;
}

static void theory_is_right(void **state)
{
    const double means[] = {1, 8, 16, 60};
    const uint64_t trials = case_quick() ? 20000 : 200000;
    (void)state;
    for (uint32_t m = 0; m < 4; m++)
        for (uint32_t hashes = 1; hashes <= 16; hashes += 3) {
            const double rate = hd_filter_rate((uint64_t)means[m] * 1000, 1000, hashes);
            case_note("%g keys a block, %u hashes", means[m], hashes);
            rate_is("simulated", rate, (uint64_t)simulate(means[m], hashes, trials), trials, 0);
        }
}

/* What the theory says in plain cases, and where numbers could run away. */
static void theory_has_its_limits(void **state)
{
    (void)state;
    assert_true(hd_filter_rate(0, 10, 8) == 0);
    assert_true(fabs(hd_filter_rate(1, 1000000000, 1) - 1.0 / 256 / 1e9) < 1e-16);
    assert_true(hd_filter_rate(UINT64_MAX, 1, 16) == 1);
    for (uint64_t keys = 1; keys < 1 << 20; keys *= 2) {
        const double rate = hd_filter_rate(keys, 16, 8), more = hd_filter_rate(2 * keys, 16, 8);
        assert_true(rate > 0 && rate <= more * (1 + 1e-12) && more <= 1);
    }
    assert_int_equal(hd_filter_best_hashes(16, 1), 8); /* 16 bits a key */
    for (uint32_t hashes = 1; hashes <= 16; hashes++)
        assert_true(hd_filter_rate(3000, 100, hd_filter_best_hashes(3000, 100)) <=
                    hd_filter_rate(3000, 100, hashes));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OVER_DEVICES(measured_is_expected),
        ONCE(theory_is_right),
        ONCE(theory_has_its_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
