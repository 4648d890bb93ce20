/*
 * test_erase.c: the contract of heddle_table_erase. What breaks erase in a cuckoo table is the
 * early exit of lookups: a key that was pushed past a full bucket must stay in reach when that
 * bucket gets room again. Hence many rounds at high load.
 */
#include <stdlib.h>

#include "support/arrays.h"
#include "support/checked.h"
#include "support/keys.h"

static void every_key_set(const test_case *c)
{
    const uint64_t n = case_size(1501);
    uint64_t *keys = keys_allocate(2 * n);
    uint64_t *values = keys_allocate(2 * n);
    for (key_set set = KEYS_RANDOM; set < KEYS_SETS; set++) {
        case_note("keys %s, n %llu", keys_name(set), (unsigned long long)n);
        checked t = checked_create(c, NULL);
        keys_fill(keys, 2 * n, set, t.options.key_bits, 31);
        keys_fill_values(values, 2 * n, set);
        checked_insert(&t, keys, values, n, HEDDLE_POLICY_KEEP);
        checked_erase(&t, keys + n / 2, n); /* some there, some not, some several times */
        checked_all(&t);
        checked_find(&t, keys, 2 * n);
        checked_insert(&t, keys, values, 2 * n, HEDDLE_POLICY_MAX);
        checked_all(&t);
        checked_destroy(&t);
    }
    free(keys);
    free(values);
}

/* Fills a fixed table to a high load; what does not fit is checked and left out. */
static checked crowded(const test_case *c, const uint64_t *keys, const uint64_t *values, uint64_t n)
{
    heddle_table_options options = case_options(c);
    options.capacity = n;
    options.load = 0.95;
    options.flags = HEDDLE_FLAG_FIXED;
    options.seed = 12345;
    checked t = checked_create(c, &options);
    checked_insert(&t, keys, values, n, HEDDLE_POLICY_KEEP);
    return t;
}

/* A window slides over the key set: in every round old keys go and new ones come. */
static void sliding_window_at_high_load(const test_case *c)
{
    const uint64_t n = case_size(2000);
    const uint64_t step = n / 10;
    const uint32_t rounds = 25;
    uint64_t *keys = keys_allocate(n + rounds * step);
    uint64_t *values = keys_allocate(n + rounds * step);
    keys_fill(keys, n + rounds * step, KEYS_RANDOM, c->ops->key_bits, 37);
    keys_fill_values(values, n + rounds * step, 37);
    checked t = crowded(c, keys, values, n);
    for (uint32_t round = 0; round < rounds; round++) {
        case_note("round %u", round);
        checked_erase(&t, keys + round * step, step);
        check_ok(heddle_table_validate(t.table, NULL));
        checked_insert(&t, keys + n + round * step, values + n + round * step, step,
                       HEDDLE_POLICY_KEEP);
        check_ok(heddle_table_validate(t.table, NULL));
        checked_find(&t, keys + round * step, n + step);
    }
    checked_all(&t);
    checked_destroy(&t);
    free(keys);
    free(values);
}

/* The same keys leave and return: no slot may be lost to the traces of erased keys. */
static void erase_and_return(const test_case *c)
{
    const uint64_t n = case_size(1200);
    uint64_t *keys = keys_allocate(n);
    uint64_t *values = keys_allocate(n);
    keys_fill(keys, n, KEYS_RANDOM, c->ops->key_bits, 41);
    keys_fill_values(values, n, 41);
    checked t = crowded(c, keys, values, n);
    for (uint32_t round = 0; round < 30; round++) {
        case_note("round %u", round);
        keys_shuffle(keys, n, round);
        checked_erase(&t, keys, n / 3);
        check_ok(heddle_table_validate(t.table, NULL));
        keys_shuffle(keys, n / 3, round);
        checked_insert(&t, keys, values, n / 3, HEDDLE_POLICY_REPLACE);
        check_ok(heddle_table_validate(t.table, NULL));
    }
    checked_all(&t);
    checked_destroy(&t);
    free(keys);
    free(values);
}

static void erase_everything_and_fill_again(const test_case *c)
{
    const uint64_t n = case_size(1999);
    uint64_t *keys = keys_allocate(2 * n);
    uint64_t *values = keys_allocate(2 * n);
    keys_fill(keys, 2 * n, KEYS_EDGES, c->ops->key_bits, 43);
    keys_fill_values(values, 2 * n, 43);
    checked t = checked_create(c, NULL);
    for (uint32_t round = 0; round < 4; round++) {
        case_note("round %u", round);
        checked_insert(&t, keys + round * n / 4, values, n, HEDDLE_POLICY_KEEP);
        checked_erase(&t, keys, 2 * n);
        assert_int_equal(model_size(t.model), 0);
        checked_all(&t);
        assert_int_equal(checked_find(&t, keys, 2 * n).absent, 2 * n);
    }
    checked_insert(&t, keys, values, 2 * n, HEDDLE_POLICY_KEEP);
    checked_all(&t);
    checked_destroy(&t);
    free(keys);
    free(values);
}

/* Every key of the batch several times over: one of each gets the 1. */
static void duplicates_in_one_batch(const test_case *c)
{
    enum { N = 3000, DISTINCT = 300 };
    uint64_t keys[N];
    uint64_t values[DISTINCT];
    checked t = checked_create(c, NULL);
    keys_fill(keys, DISTINCT, KEYS_EDGES, t.options.key_bits, 47);
    keys_fill_values(values, DISTINCT, 47);
    for (uint32_t i = DISTINCT; i < N; i++) keys[i] = keys[i % DISTINCT];
    checked_insert(&t, keys, values, DISTINCT, HEDDLE_POLICY_KEEP);
    keys_shuffle(keys, N, 47);
    assert_int_equal(checked_erase(&t, keys, N).found, DISTINCT);
    assert_int_equal(checked_erase(&t, keys, N).found, 0);
    checked_all(&t);
    checked_destroy(&t);
}

/* Large batches: several threads and blocks want to erase the same key. */
static void many_threads_meet(const test_case *c)
{
    const uint64_t n = case_size(30011);
    heddle_table_options options = case_options(c);
    uint64_t *keys = keys_allocate(n);
    uint64_t *values = keys_allocate(n);
    options.capacity = n;
    options.load = 0.9;
    checked t = checked_create(c, &options);
    keys_fill(keys, n, KEYS_SEQUENCE, options.key_bits, 0);
    keys_fill_values(values, n, 51);
    checked_insert(&t, keys, values, n, HEDDLE_POLICY_KEEP);
    for (uint64_t i = 0; i < n; i++) keys[i] %= n / 10;
    keys_shuffle(keys, n, 51);
    assert_int_equal(checked_erase(&t, keys, n).found, n / 10);
    checked_all(&t);
    checked_destroy(&t);
    free(keys);
    free(values);
}

static void odd_sizes_and_nothing_optional(const test_case *c)
{
    static const uint64_t sizes[] = {0, 1, 2, 3, 15, 17, 31, 33, 127, 129};
    uint64_t keys[1000];
    uint64_t values[1000];
    uint64_t at = 0;
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    checked t = checked_create(c, NULL);
    keys_fill(keys, 1000, KEYS_RANDOM, t.options.key_bits, 53);
    keys_fill_values(values, 1000, 53);
    checked_insert(&t, keys, values, 1000, HEDDLE_POLICY_KEEP);
    for (uint32_t i = 0; i < sizeof sizes / sizeof *sizes; at += sizes[i++])
        checked_erase(&t, keys + at, sizes[i]);
    array rest = array_of(c, ROLE_KEYS, keys + at, 100, t.options.key_bits);
    check_ok(heddle_table_erase(t.table, array_pointer(&rest), 100, NULL, NULL, NULL));
    check_ok(heddle_table_take_totals(t.table, &totals, NULL));
    assert_int_equal(totals.found, 100);
    for (uint64_t i = at; i < at + 100; i++) assert_true(model_erase(t.model, keys[i]));
    checked_all(&t);
    array_free(&rest);
    checked_destroy(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OVER_TABLES(every_key_set),
        OVER_TABLES(sliding_window_at_high_load),
        OVER_TABLES(erase_and_return),
        OVER_TABLES(erase_everything_and_fill_again),
        OVER_TABLES(duplicates_in_one_batch),
        OVER_TABLES(many_threads_meet),
        OVER_TABLES(odd_sizes_and_nothing_optional),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
