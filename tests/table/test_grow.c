/* test_grow.c: growth, heddle_table_reserve and heddle_table_rehash. Nothing is ever lost. */
#include <stdlib.h>

#include "support/arrays.h"
#include "support/checked.h"
#include "support/keys.h"

static heddle_table_stats stats_of(const checked *t)
{
    heddle_table_stats stats = HEDDLE_TABLE_STATS_INIT;
    check_ok(heddle_table_get_stats(t->table, &stats, NULL));
    return stats;
}

/* Inserts n keys into a table made for one, in batches each three times as long as the last. */
static void grow_to(const test_case *c, uint64_t n, uint32_t hashes, key_set set)
{
    heddle_table_options options = case_options(c);
    uint64_t *keys = keys_allocate(n);
    uint64_t *values = keys_allocate(n);
    uint64_t batch = 1;
    options.capacity = 1;
    options.hashes = hashes;
    checked t = checked_create(c, &options);
    keys_fill(keys, n, set, options.key_bits, 101);
    keys_fill_values(values, n, 101);
    for (uint64_t first = 0; first < n; first += batch, batch *= 3) {
        case_note("keys %s, hashes %u, batch at %llu", keys_name(set), hashes,
                  (unsigned long long)first);
        if (batch > n - first) batch = n - first;
        checked_insert(&t, keys + first, values + first, batch, HEDDLE_POLICY_KEEP);
        check_ok(heddle_table_validate(t.table, NULL));
    }
    checked_all(&t);
    const heddle_table_stats stats = stats_of(&t);
    assert_true(stats.growths > 0);
    assert_int_equal(stats.keys, n);
    checked_destroy(&t);
    free(keys);
    free(values);
}

static void grows_from_one_to_many(const test_case *c)
{
    grow_to(c, case_size(40000), 0, KEYS_RANDOM);
}

static void grows_with_every_number_of_hashes(const test_case *c)
{
    const bool one_number = c->ops->scheme == HEDDLE_SCHEME_ICEBERG; /* three */
    for (uint32_t hashes = one_number ? 3 : 2; hashes <= (one_number ? 3 : 4); hashes++)
        grow_to(c, case_size(9001), hashes, hashes == 3 ? KEYS_SEQUENCE : KEYS_MULTIPLES_16);
}

/* Duplicates of keys that are placed before, during and after a growth within one batch. */
static void grows_in_the_middle_of_duplicates(const test_case *c)
{
    const uint64_t n = case_size(12007);
    uint64_t *keys = keys_allocate(n);
    uint64_t *values = keys_allocate(n);
    for (uint32_t policy = 0; policy <= HEDDLE_POLICY_MAX; policy++) {
        heddle_table_options options = case_options(c);
        options.capacity = 1;
        checked t = checked_create(c, &options);
        case_note("policy %u", policy);
        keys_fill(keys, n, KEYS_TWICE, options.key_bits, 103);
        keys_fill_values(values, n, 103 + policy);
        checked_insert(&t, keys, values, n, policy);
        checked_all(&t);
        checked_destroy(&t);
    }
    free(keys);
    free(values);
}

/* Nobody asks about outcomes: the table has to remember by itself which keys to try again. */
static void grows_without_outcomes(const test_case *c)
{
    const uint64_t n = case_size(30011);
    heddle_table_options options = case_options(c);
    uint64_t *numbers = keys_allocate(n);
    options.capacity = 1;
    checked t = checked_create(c, &options);
    keys_fill(numbers, n, KEYS_RANDOM, options.key_bits, 105);
    array keys = array_of(c, ROLE_KEYS, numbers, n, options.key_bits);
    array values = array_of(c, ROLE_VALUES, numbers, n, options.value_bits);
    for (uint64_t first = 0; first < n; first += n / 3) {
        const uint64_t length = n - first < n / 3 ? n - first : n / 3;
        const char *key_at = (const char *)array_pointer(&keys) + first * options.key_bits / 8;
        const char *value_at =
            (const char *)array_pointer(&values) + first * options.value_bits / 8;
        check_ok(heddle_table_insert(t.table, key_at, case_is_map(c) ? value_at : NULL, length,
                                     NULL, NULL, NULL));
    }
    for (uint64_t i = 0; i < n; i++)
        model_set(t.model, numbers[i], low_bits(numbers[i], options.value_bits));
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    check_ok(heddle_table_take_totals(t.table, &totals, NULL));
    assert_int_equal(totals.inserted, n);
    assert_int_equal(totals.failed, 0);
    checked_all(&t);
    array_free(&keys);
    array_free(&values);
    checked_destroy(&t);
    free(numbers);
}

/* After a reserve, that many keys go in without growth. */
static void reserve_makes_room(const test_case *c)
{
    const uint64_t n = case_size(5000);
    uint64_t *keys = keys_allocate(n);
    uint64_t *values = keys_allocate(n);
    heddle_table_options options = case_options(c);
    options.seed = 107; /* one in some hundred seeds fails a small table of single slots */
    checked t = checked_create(c, &options);
    keys_fill(keys, n, KEYS_RANDOM, options.key_bits, 107);
    keys_fill_values(values, n, 107);
    checked_insert(&t, keys, values, 10, HEDDLE_POLICY_KEEP);
    check_ok(heddle_table_reserve(t.table, n, NULL));
    checked_all(&t);
    const heddle_table_stats before = stats_of(&t);
    if (!case_is_slab(c)) /* whose slots are those in use */
        check((double)before.slots * t.options.load >= (double)n,
              "%llu slots for %llu keys at load %f", (unsigned long long)before.slots,
              (unsigned long long)n, t.options.load);
    check_ok(heddle_table_reserve(t.table, n / 2, NULL)); /* a smaller number changes nothing */
    check_ok(heddle_table_reserve(t.table, 0, NULL));
    assert_int_equal(stats_of(&t).slots, before.slots);
    checked_insert(&t, keys, values, n, HEDDLE_POLICY_KEEP);
    const heddle_table_stats after = stats_of(&t);
    if (!case_is_slab(c)) assert_int_equal(after.slots, before.slots);
    assert_int_equal(after.bytes_total, before.bytes_total);
    assert_int_equal(after.growths, before.growths);
    checked_all(&t);
    checked_destroy(&t);
    free(keys);
    free(values);
}

/* A fixed table grows when it is told to, and then takes what did not fit before. */
static void reserve_works_on_a_fixed_table(const test_case *c)
{
    const uint64_t n =
        case_is_slab(c) ? 400000 : case_size(4000); /* of a pool there is a block at least */
    heddle_table_options options = case_options(c);
    uint64_t *keys = keys_allocate(n);
    uint64_t *values = keys_allocate(n);
    options.capacity = n / 4;
    options.flags = HEDDLE_FLAG_FIXED;
    options.seed = 109;
    checked t = checked_create(c, &options);
    keys_fill(keys, n, KEYS_TOP, options.key_bits, 109);
    keys_fill_values(values, n, 109);
    checked_insert(&t, keys, values, n, HEDDLE_POLICY_KEEP);
    check(model_size(t.model) < n, "a table for %llu keys took %llu", (unsigned long long)n / 4,
          (unsigned long long)n);
    check_ok(heddle_table_reserve(t.table, n, NULL));
    checked_all(&t);
    checked_insert(&t, keys, values, n, HEDDLE_POLICY_KEEP);
    assert_int_equal(model_size(t.model), n);
    checked_all(&t);
    checked_destroy(&t);
    free(keys);
    free(values);
}

/* Rehash shrinks, drops the traces of erased keys, takes a fresh seed, and keeps every pair. */
static void rehash_moves_everything(const test_case *c)
{
    const uint64_t n = case_size(8001);
    uint64_t *keys = keys_allocate(n);
    uint64_t *values = keys_allocate(n);
    heddle_table_options now = HEDDLE_TABLE_OPTIONS_INIT;
    checked t = checked_create(c, NULL);
    keys_fill(keys, n, KEYS_EDGES, t.options.key_bits, 113);
    keys_fill_values(values, n, 113);
    checked_insert(&t, keys, values, n, HEDDLE_POLICY_KEEP);
    check_ok(heddle_table_get_options(t.table, &now));
    const uint64_t seed = now.seed;
    const heddle_table_stats full = stats_of(&t);
    checked_erase(&t, keys, n - n / 10);
    check_ok(heddle_table_rehash(t.table, 0, NULL));
    checked_all(&t);
    const heddle_table_stats small = stats_of(&t);
    check(small.slots < full.slots / 2, "%llu slots became %llu for a tenth of the keys",
          (unsigned long long)full.slots, (unsigned long long)small.slots);
    check_ok(heddle_table_get_options(t.table, &now));
    assert_int_not_equal(now.seed, seed);
    if (!case_is_slab(c)) assert_int_equal(now.capacity, small.slots);
    check_ok(heddle_table_rehash(t.table, 3 * n, NULL));
    checked_all(&t);
    check_ok(heddle_table_get_options(t.table, &now));
    check((double)now.capacity * t.options.load >= 3.0 * (double)n, "rehash made too little room");
    checked_insert(&t, keys, values, n, HEDDLE_POLICY_KEEP);
    checked_all(&t);
    checked_destroy(&t);
    free(keys);
    free(values);
}

/* Rehash of a crowded fixed table to the same number of keys: all of them fit again. */
static void rehash_of_a_crowded_fixed_table(const test_case *c)
{
    const uint64_t n = case_size(3000);
    heddle_table_options options = case_options(c);
    uint64_t *keys = keys_allocate(n);
    uint64_t *values = keys_allocate(n);
    options.capacity = n;
    options.load = 0.8;
    options.flags = HEDDLE_FLAG_FIXED;
    checked t = checked_create(c, &options);
    keys_fill(keys, n, KEYS_RANDOM, options.key_bits, 127);
    keys_fill_values(values, n, 127);
    checked_insert(&t, keys, values, n, HEDDLE_POLICY_KEEP);
    for (int round = 0; round < 5; round++) {
        case_note("round %d", round);
        check_ok(heddle_table_rehash(t.table, 0, NULL));
        checked_all(&t);
    }
    checked_destroy(&t);
    free(keys);
    free(values);
}

/* An empty table, and one made for nothing, can do all this too. */
static void empty_tables(const test_case *c)
{
    heddle_table_options options = case_options(c);
    const uint64_t key = UINT64_MAX;
    options.capacity = 0;
    checked t = checked_create(c, &options);
    check_ok(heddle_table_rehash(t.table, 0, NULL));
    check_ok(heddle_table_reserve(t.table, 0, NULL));
    checked_all(&t);
    const uint64_t lowest = low_bits(key, options.key_bits);
    checked_insert(&t, &lowest, &key, 1, HEDDLE_POLICY_KEEP);
    check_ok(heddle_table_rehash(t.table, 1000, NULL));
    checked_all(&t);
    checked_destroy(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OVER_TABLES(grows_from_one_to_many),
        OVER_INSTANCES(grows_with_every_number_of_hashes),
        OVER_TABLES(grows_in_the_middle_of_duplicates),
        OVER_TABLES(grows_without_outcomes),
        OVER_TABLES(reserve_makes_room),
        OVER_TABLES(reserve_works_on_a_fixed_table),
        OVER_TABLES(rehash_moves_everything),
        OVER_TABLES(rehash_of_a_crowded_fixed_table),
        OVER_TABLES(empty_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
