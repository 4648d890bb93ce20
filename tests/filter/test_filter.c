/*
 * test_filter.c: Bloom filters: every key that was added is found, whatever the keys, the hashes, the
 * way they were added and where the arrays lie; and what selects, merges and clears does just that.
 */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "filter/filter.h"
#include "support/filters.h"
#include "support/keys.h"

static const uint32_t widths[] = {32, 64};
#define FOR_WIDTHS(bits)                                                                           \
    for (uint32_t at_width = 0, bits = 32; at_width < 2; bits = widths[(++at_width) % 2])

/* Sizes around groups, warps, shares of threads, and what is sorted first. */
static void keys_are_found(const test_case *c)
{
    const uint64_t sizes[] = {1, 2, 31, 33, 257, 4099, case_quick() ? 70001 : 300007};
    FOR_WIDTHS(bits)
    for (uint32_t s = 0; s < 7; s++)
        for (uint32_t set = 0; set < KEYS_SETS; set++) {
            const uint64_t n = sizes[s];
            uint64_t *keys = keys_allocate(n);
            case_note("%u bits, %s, n %llu", bits, keys_name((key_set)set), (unsigned long long)n);
            keys_fill(keys, n, (key_set)set, bits, 3);
            heddle_filter *filter = filter_make(c, bits, n, 0, 0, 0);
            filter_add(c, filter, keys, n);
            filter_has_all(c, filter, keys, n);
            check_ok(heddle_filter_validate(filter, NULL));
            assert_int_equal(filter_stats(filter).keys_added, n);
            filter_add(c, filter, keys, n / 2); /* once more changes nothing but the count */
            const heddle_filter_stats stats = filter_stats(filter);
            assert_int_equal(stats.keys_added, n + n / 2);
            assert_true(stats.bits_set <= n * stats.hashes);
            heddle_filter_destroy(filter);
            free(keys);
        }
}

static void every_number_of_hashes(const test_case *c)
{
    const uint64_t n = case_size(80021);
    uint64_t *keys = keys_allocate(2 * n);
    FOR_WIDTHS(bits)
    for (uint32_t hashes = 1; hashes <= 16; hashes++) {
        case_note("%u bits, %u hashes", bits, hashes);
        keys_fill(keys, 2 * n, KEYS_RANDOM, bits, hashes);
        heddle_filter *filter = filter_make(c, bits, n, hashes, 0, 0);
        filter_add(c, filter, keys, n);
        filter_has_all(c, filter, keys, n);
        const heddle_filter_stats stats = filter_stats(filter);
        const uint64_t wrong = filter_count(c, filter, keys + n, n);
        check((double)wrong < 1.2 * stats.rate_expected * (double)n + 20,
              "%llu of %llu absent keys found", (unsigned long long)wrong, (unsigned long long)n);
        assert_int_equal(stats.hashes, hashes);
        check_ok(heddle_filter_validate(filter, NULL));
        heddle_filter_destroy(filter);
    }
    free(keys);
}

/* One by one, sorted first, in pieces: the same bits. */
static void ways_to_add_agree(const test_case *c)
{
    const uint64_t n = case_quick() ? 90001 : 700001;
    uint64_t *keys = keys_allocate(n);
    FOR_WIDTHS(bits)
    for (uint32_t set = KEYS_RANDOM; set < KEYS_SETS; set += KEYS_ZIPF) {
        heddle_filter_options options = HEDDLE_FILTER_OPTIONS_INIT;
        heddle_filter *direct = NULL, *sorted = filter_make(c, bits, n, 0, 0, 9);
        heddle_filter *pieces = filter_make(c, bits, n, 0, 0, 9);
        case_note("%u bits, %s", bits, keys_name((key_set)set));
        keys_fill(keys, n, (key_set)set, bits, 5);
        check_ok(heddle_filter_get_options(sorted, &options));
        options.flags = HEDDLE_FILTER_DIRECT;
        check_ok(heddle_filter_create(c->device, &options, &direct));
        filter_add(c, sorted, keys, n);
        filter_add(c, direct, keys, n);
        for (uint64_t at = 0; at < n; at += 10007)
            filter_add(c, pieces, keys + at, n - at < 10007 ? n - at : 10007);
        assert_true(filter_same(sorted, direct));
        assert_true(filter_same(sorted, pieces));
        heddle_filter_destroy(direct);
        heddle_filter_destroy(sorted);
        heddle_filter_destroy(pieces);
    }
    free(keys);
}

static void check_selection(const test_case *c, heddle_filter *filter, const uint64_t *keys,
                            uint64_t n, bool with_keys, bool with_rows)
{
    const uint32_t bits = filter_key_bits(filter);
    array k = array_of(c, ROLE_KEYS, keys, n, bits);
    array f = array_poisoned(c, ROLE_FLAGS, n, 0x5a);
    array rows = array_poisoned(c, ROLE_VALUES, n * 8, 0x5a);
    array selected = array_poisoned(c, ROLE_FLAGS, n * bits / 8, 0x5a);
    uint64_t count = 0, at = 0;
    check_ok(heddle_filter_contains(filter, array_pointer(&k), n, (uint8_t *)array_pointer(&f),
                                    NULL, NULL));
    check_ok(heddle_filter_select(
        filter, array_pointer(&k), n, with_keys ? array_pointer(&selected) : NULL,
        with_rows ? (uint64_t *)array_pointer(&rows) : NULL, &count, NULL));
    array_pull(&f);
    array_pull(&rows);
    array_pull(&selected);
    for (uint64_t i = 0; i < n; i++) {
        if (f.host[i] == 0) continue;
        if (with_rows) assert_int_equal(array_at(&rows, at, 64), i);
        if (with_keys) assert_int_equal(array_at(&selected, at, bits), low_bits(keys[i], bits));
        at++;
    }
    assert_int_equal(count, at);
    array_free(&k);
    array_free(&f);
    array_free(&rows);
    array_free(&selected);
}

static void selections_are_right(const test_case *c)
{
    const uint64_t sizes[] = {1, 100, case_size(50021)};
    FOR_WIDTHS(bits)
    for (uint32_t s = 0; s < 3; s++) {
        const uint64_t n = sizes[s];
        uint64_t *keys = keys_allocate(2 * n);
        keys_fill(keys, 2 * n, KEYS_EDGES, bits, 5);
        heddle_filter *filter = filter_make(c, bits, n, 0, 8, 0);
        for (uint32_t how = 0; how < 4; how++)
            check_selection(c, filter, keys, n, (how & 1) != 0, (how & 2) != 0); /* none */
        filter_add(c, filter, keys, n);
        keys_shuffle(keys, 2 * n, 8);
        for (uint32_t how = 0; how < 4; how++)
            check_selection(c, filter, keys, 2 * n, (how & 1) != 0, (how & 2) != 0);
        heddle_filter_destroy(filter);
        free(keys);
    }
}

static void merges_hold_both(const test_case *c)
{
    const uint64_t n = case_size(60017);
    uint64_t *keys = keys_allocate(n);
    FOR_WIDTHS(bits)
    {
        keys_fill(keys, n, KEYS_SEQUENCE, bits, 1);
        heddle_filter *one = filter_make(c, bits, n, 0, 0, 77),
                      *all = filter_make(c, bits, n, 0, 0, 77);
        heddle_filter *two = filter_make(c, bits, n, 0, 0, 77);
        filter_add(c, one, keys, n / 3);
        filter_add(c, two, keys + n / 3, n - n / 3);
        filter_add(c, all, keys, n);
        assert_false(filter_same(one, all));
        check_ok(heddle_filter_merge(one, two, NULL));
        assert_true(filter_same(one, all));
        assert_int_equal(filter_stats(one).keys_added, n);
        filter_has_all(c, one, keys, n);
        check_ok(heddle_filter_validate(one, NULL));
        heddle_filter_destroy(one);
        heddle_filter_destroy(two);
        heddle_filter_destroy(all);
    }
    free(keys);
}

static void cleared_is_empty(const test_case *c)
{
    uint64_t keys[1000];
    keys_fill(keys, 1000, KEYS_RANDOM, 32, 1);
    heddle_filter *filter = filter_make(c, 32, 1000, 0, 0, 0);
    assert_int_equal(filter_count(c, filter, keys, 1000), 0);
    filter_add(c, filter, keys, 1000);
    check_ok(heddle_filter_clear(filter, NULL));
    assert_int_equal(filter_count(c, filter, keys, 1000), 0);
    const heddle_filter_stats stats = filter_stats(filter);
    assert_int_equal(stats.bits_set, 0);
    assert_int_equal(stats.keys_added, 0);
    assert_true(stats.rate_expected == 0 && stats.rate_found == 0);
    filter_add(c, filter, keys, 1000);
    filter_has_all(c, filter, keys, 1000);
    heddle_filter_destroy(filter);
}

/* A bit that no key has set, and one that is gone, are found. */
static void damage_is_found(const test_case *c)
{
    uint64_t keys[40];
    keys_fill(keys, 40, KEYS_RANDOM, 64, 1);
    for (uint32_t hashes = 2; hashes <= 16; hashes++) {
        /* With this seed the first key has its block to itself. */
        heddle_filter *filter = filter_make(c, 64, 100000, hashes, 0, 4);
        const uint32_t *words = filter->view.words;
        uint32_t word = 0;
        uint64_t at = 0;
        filter_add(c, filter, keys, 40);
        check_ok(heddle_filter_validate(filter, NULL));
        for (; word == 0; at += word == 0)
            check_ok(heddle_memory_copy(c->device, &word, words + at, 4, NULL));
        const uint32_t less = word & (word - 1);
        check_ok(heddle_memory_copy(c->device, (void *)(uintptr_t)(words + at), &less, 4, NULL));
        check_status(heddle_filter_validate(filter, NULL), HEDDLE_ERROR_CORRUPT);
        check_ok(heddle_memory_copy(c->device, (void *)(uintptr_t)(words + at), &word, 4, NULL));
        check_ok(heddle_filter_validate(filter, NULL));
        check_ok(heddle_memory_fill(c->device, (void *)(uintptr_t)words, 0xff, 32, NULL));
        check_status(heddle_filter_validate(filter, NULL), HEDDLE_ERROR_CORRUPT);
        heddle_filter_destroy(filter);
    }
}

/* ------------------------------------------------------------------------------ several threads */

#define WORKERS 4
#define WORKER_KEYS 40000

typedef struct worker {
    heddle_filter *filter;
    uint32_t *keys;
    uint32_t lost;
    pthread_t thread;
} worker;

/* Adds keys in pieces of several sizes, and finds all it has added. */
static void *worker_run(void *context)
{
    worker *w = (worker *)context;
    uint8_t *found = (uint8_t *)malloc(WORKER_KEYS);
    for (uint64_t at = 0, step = 100; at < WORKER_KEYS; at += step, step = step * 3 % 9973 + 1) {
        const uint64_t end = at + step < WORKER_KEYS ? at + step : WORKER_KEYS;
        if (heddle_filter_add(w->filter, w->keys + at, end - at, NULL) != HEDDLE_OK ||
            heddle_filter_contains(w->filter, w->keys, end, found, NULL, NULL) != HEDDLE_OK)
            w->lost++;
        for (uint64_t i = 0; i < end; i++) w->lost += found[i] != 1;
    }
    free(found);
    return NULL;
}

static void threads_share_a_filter(const test_case *c)
{
    worker workers[WORKERS];
    heddle_filter *filter = filter_make(c, 32, WORKERS * WORKER_KEYS, 0, 0, 0);
    for (uint32_t t = 0; t < WORKERS; t++) {
        workers[t].filter = filter;
        workers[t].lost = 0;
        workers[t].keys = (uint32_t *)malloc(WORKER_KEYS * sizeof(uint32_t));
        for (uint32_t i = 0; i < WORKER_KEYS; i++) workers[t].keys[i] = i * WORKERS + t;
        assert_int_equal(pthread_create(&workers[t].thread, NULL, worker_run, &workers[t]), 0);
    }
    for (uint32_t t = 0; t < WORKERS; t++) {
        pthread_join(workers[t].thread, NULL);
        check(workers[t].lost == 0, "thread %u lost %u keys", t, workers[t].lost);
        free(workers[t].keys);
    }
    assert_int_equal(filter_stats(filter).keys_added, WORKERS * WORKER_KEYS);
    check_ok(heddle_filter_validate(filter, NULL));
    heddle_filter_destroy(filter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OVER_DEVICES(keys_are_found),    OVER_DEVICES(every_number_of_hashes),
        OVER_DEVICES(ways_to_add_agree), OVER_DEVICES(selections_are_right),
        OVER_DEVICES(merges_hold_both),  OVER_DEVICES(cleared_is_empty),
        OVER_DEVICES(damage_is_found),   OVER_DEVICES(threads_share_a_filter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
