/*
 * test_frequent_keys.c: keys with very many pairs, asked for as often as they occur. On a CPU equal keys of a batch are
 * searched once, also those that are gone, so that the looks at memory grow with the batch and the table, not with their
 * product; and the statistics of a table and its validation take no longer than that.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <time.h>

#include "support/arrays.h"
#include "support/keys.h"
#include "support/multi.h"

#define FREQUENT 3 /* keys that have an eighth of the pairs each */

static uint64_t *frequent_keys(uint64_t n)
{
    uint64_t *keys = keys_allocate(n), state = 5;
    keys_fill(keys, n, KEYS_RANDOM, 32, 5);
    for (uint64_t i = FREQUENT; i < n; i++) {
        const uint64_t which = keys_below(&state, 8);
        if (which < FREQUENT) keys[i] = keys[which];
    }
    return keys;
}

static bool is_cpu(const test_case *c)
{
    heddle_device_info info = HEDDLE_DEVICE_INFO_INIT;
    check_ok(heddle_device_get_info(c->device, &info));
    return info.kind == HEDDLE_DEVICE_CPU;
}

/* Only a few threads, which each search a key at most once in flight of a wave: a bound that k * k looks break. */
static void looks_are_few(const test_case *c)
{
    const uint64_t n = case_size(20000);
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    heddle_table_options options = case_options(c);
    uint64_t *keys = frequent_keys(n), *values = keys_allocate(n), often[FREQUENT] = {0}, asked = 0;
    if (options.container != HEDDLE_CONTAINER_MULTIMAP || !is_cpu(c)) {
        free(keys), free(values);
        return;
    }
    options.capacity = n;
    keys_fill_values(values, n, 5);
    multi m = multi_create(c, &options);
    multi_build(&m, keys, values, n);
    for (uint64_t i = 0; i < FREQUENT; i++)
        for (uint64_t k = 0; k < n; k++) often[i] += keys[k] == keys[i];
    array k = array_of(c, ROLE_KEYS, keys, n, options.key_bits);
    array matches = array_poisoned(c, ROLE_VALUES, n * sizeof(uint64_t), 0xee);
    check_ok(heddle_table_count(m.table, array_pointer(&k), n, (uint64_t *)array_pointer(&matches),
                                &totals, NULL));
    array_pull(&matches);
    for (uint64_t i = 0; i < n; i++)
        for (uint64_t f = 0; f < FREQUENT; f++)
            if (keys[i] == keys[f]) {
                check(array_at(&matches, i, 64) == often[f], "a frequent key is counted wrongly");
                asked++;
            }
    assert_int_equal(totals.found, n);
    check(totals.probes < 20 * n, "%llu looks for %llu keys", (unsigned long long)totals.probes,
          (unsigned long long)n);
    /* Erased once; every other equal key of the batch finds nothing. */
    check_ok(heddle_table_erase(m.table, array_pointer(&k), n, NULL, &totals, NULL));
    check(totals.probes < 20 * n, "%llu looks to erase %llu keys",
          (unsigned long long)totals.probes, (unsigned long long)n);
    multi_model_erase(&m, keys, n);
    multi_check(&m);
    check(totals.found <= n - asked + FREQUENT && totals.found + totals.absent == n,
          "%llu keys were erased", (unsigned long long)totals.found);
    multi_destroy(&m);
    array_free(&k), array_free(&matches);
    free(keys), free(values);
}

typedef heddle_status (*ask_call)(heddle_table *table, const void *keys, uint64_t n, uint8_t *found,
                                  heddle_totals *totals, void *stream);

static heddle_status find(heddle_table *table, const void *keys, uint64_t n, uint8_t *found,
                          heddle_totals *totals, void *stream)
{
    uint64_t *values = malloc(n * sizeof(uint64_t));
    const heddle_status status = heddle_table_find(table, keys, n, values, found, totals, stream);
    free(values);
    return status;
}

/* Of n equal keys that are gone, each call finds none, and does not go along all that they have left for each of them. */
static void check_gone(const multi *m, const array *keys, uint64_t n)
{
    static const ask_call calls[] = {heddle_table_contains, find, heddle_table_erase};
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    uint8_t *found = malloc(n);
    uint64_t *offsets = malloc((n + 1) * sizeof(uint64_t)), count = 1;
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        check_ok(calls[i](m->table, array_pointer(keys), n, i == 1 ? NULL : found, &totals, NULL));
        assert_int_equal(totals.found, 0);
        assert_int_equal(totals.absent, n);
        check(totals.probes < 20 * n, "call %zu: %llu looks for %llu absent keys", i,
              (unsigned long long)totals.probes, (unsigned long long)n);
    }
    check_ok(
        heddle_table_retrieve(m->table, array_pointer(keys), n, offsets, NULL, 0, &count, NULL));
    assert_int_equal(count, 0);
    free(found);
    free(offsets);
}

/* All pairs have one key; it is erased, asked for as often as it occurred, and comes again. */
static void keys_that_are_gone(const test_case *c)
{
    const uint64_t n = case_size(20000);
    heddle_table_options options = case_options(c);
    uint64_t *keys = keys_allocate(n), *values = keys_allocate(n);
    if (options.container != HEDDLE_CONTAINER_MULTIMAP || !is_cpu(c)) {
        free(keys), free(values);
        return;
    }
    options.capacity = n;
    keys_fill_values(values, n, 6);
    for (uint64_t i = 0; i < n; i++) keys[i] = 6;
    multi m = multi_create(c, &options);
    multi_build(&m, keys, values, n);
    array k = array_of(c, ROLE_KEYS, keys, n, options.key_bits);
    multi_erase(&m, keys, 1);
    check_gone(&m, &k, n);
    multi_check(&m);
    multi_insert(&m, keys, values, 100);
    multi_look(&m, keys, 1000);
    multi_erase(&m, keys, n);
    multi_check(&m);
    multi_destroy(&m);
    array_free(&k);
    free(keys), free(values);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Walks from the beginning for every window with the key would take minutes here. */
static void statistics_are_quick(const test_case *c)
{
    const uint64_t n = 400000;
    heddle_table_options options = case_options(c);
    heddle_table_stats stats = HEDDLE_TABLE_STATS_INIT;
    heddle_table *table;
    if (c->graph->scheme != HEDDLE_SCHEME_OPEN || options.key_bits != 32 || case_quick()) return;
    if (options.container != HEDDLE_CONTAINER_MULTIMAP || !is_cpu(c)) return;
    options.capacity = n;
    check_ok(heddle_table_create(c->device, &options, &table));
    uint64_t *keys = keys_allocate(n);
    for (uint64_t i = 0; i < n; i++) keys[i] = 7;
    array k = array_of(c, ROLE_KEYS, keys, n, 32),
          v = array_of(c, ROLE_VALUES, keys, n, options.value_bits);
    check_ok(heddle_table_insert(table, array_pointer(&k), array_pointer(&v), n, NULL, NULL, NULL));
    const double began = seconds();
    check_ok(heddle_table_get_stats(table, &stats, NULL));
    check_ok(heddle_table_validate(table, NULL));
    check(seconds() - began < 5, "statistics and validation took %.1f s", seconds() - began);
    assert_int_equal(stats.keys, n);
    heddle_table_destroy(table);
    array_free(&k), array_free(&v);
    free(keys);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OVER_MULTIS(looks_are_few),
        OVER_MULTIS(keys_that_are_gone),
        OVER_MULTIS(statistics_are_quick),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
