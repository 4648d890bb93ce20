/* test_find.c: the contract of heddle_table_find. */
#include <stdlib.h>

#include "support/arrays.h"
#include "support/checked.h"
#include "support/keys.h"

/* Half of the queries hit, and they come in any order. */
static void hits_and_misses(const test_case *c)
{
    const uint64_t n = case_size(2001);
    uint64_t *keys = keys_allocate(2 * n);
    uint64_t *values = keys_allocate(n);
    for (key_set set = KEYS_RANDOM; set < KEYS_DISTINCT; set++) {
        case_note("keys %s, n %llu", keys_name(set), (unsigned long long)n);
        checked t = checked_create(c, NULL);
        keys_fill(keys, 2 * n, set, t.options.key_bits, 17);
        keys_fill_values(values, n, set);
        checked_insert(&t, keys, values, n, HEDDLE_POLICY_KEEP);
        keys_shuffle(keys, 2 * n, set);
        const heddle_totals totals = checked_find(&t, keys, 2 * n);
        assert_int_equal(totals.found, n);
        assert_int_equal(totals.absent, n);
        checked_destroy(&t);
    }
    free(keys);
    free(values);
}

static void empty_table_has_nothing(const test_case *c)
{
    uint64_t keys[301];
    checked t = checked_create(c, NULL);
    for (key_set set = KEYS_RANDOM; set < KEYS_SETS; set++) {
        case_note("keys %s", keys_name(set));
        keys_fill(keys, 301, set, t.options.key_bits, 2);
        assert_int_equal(checked_find(&t, keys, 301).absent, 301);
    }
    checked_destroy(&t);
}

static void odd_sizes(const test_case *c)
{
    static const uint64_t sizes[] = {0,  1,  2,   3,   7,   9,   31,  33,
                                     63, 65, 127, 129, 255, 257, 511, 513};
    uint64_t keys[600];
    uint64_t values[600];
    checked t = checked_create(c, NULL);
    keys_fill(keys, 600, KEYS_EDGES, t.options.key_bits, 3);
    keys_fill_values(values, 600, 3);
    checked_insert(&t, keys, values, 300, HEDDLE_POLICY_KEEP);
    for (uint32_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        case_note("n %llu", (unsigned long long)sizes[i]);
        checked_find(&t, keys + 40, sizes[i]);
        checked_find(&t, keys + 600 - sizes[i], sizes[i]);
    }
    checked_destroy(&t);
}

/* The same key asked for many times gets its answer every time. */
static void repeated_queries(const test_case *c)
{
    uint64_t keys[1000];
    uint64_t values[1000];
    checked t = checked_create(c, NULL);
    keys_fill(keys, 1000, KEYS_ZIPF, t.options.key_bits, 8);
    keys_fill_values(values, 1000, 8);
    checked_insert(&t, keys, values, 500, HEDDLE_POLICY_REPLACE);
    checked_find(&t, keys, 1000);
    keys_fill(keys, 1000, KEYS_ZEROS, t.options.key_bits, 8);
    assert_int_equal(checked_find(&t, keys, 1000).absent, 1000);
    checked_insert(&t, keys, values, 1, HEDDLE_POLICY_KEEP);
    assert_int_equal(checked_find(&t, keys, 1000).found, 1000);
    checked_destroy(&t);
}

/* Without `found` and `totals` the values still come, and absent ones stay as they were. */
static void flags_and_totals_left_out(const test_case *c)
{
    const uint64_t numbers[] = {1, 2, 3, 4, 5};
    const uint64_t answers[] = {9, 9, 9, 9, 9};
    if (!case_is_map(c)) return;
    checked t = checked_create(c, NULL);
    checked_insert(&t, numbers, numbers, 3, HEDDLE_POLICY_KEEP);
    array keys = array_of(c, ROLE_KEYS, numbers, 5, t.options.key_bits);
    array values = array_of(c, ROLE_VALUES, answers, 5, t.options.value_bits);
    check_ok(heddle_table_find(t.table, array_pointer(&keys), 5, array_pointer(&values), NULL, NULL,
                               NULL));
    check_ok(heddle_device_synchronize(c->device, NULL));
    array_pull(&values);
    for (uint64_t i = 0; i < 5; i++)
        assert_int_equal(array_at(&values, i, t.options.value_bits), i < 3 ? numbers[i] : 9);
    array_free(&keys);
    array_free(&values);
    checked_destroy(&t);
}

/* Finds change nothing: the slots are the same afterwards, as far as an export can tell. */
static void finding_changes_nothing(const test_case *c)
{
    uint64_t keys[700];
    uint64_t values[700];
    checked t = checked_create(c, NULL);
    keys_fill(keys, 700, KEYS_RANDOM, t.options.key_bits, 9);
    keys_fill_values(values, 700, 9);
    checked_insert(&t, keys, values, 350, HEDDLE_POLICY_KEEP);
    for (int round = 0; round < 5; round++) checked_find(&t, keys, 700);
    checked_all(&t);
    checked_destroy(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OVER_TABLES(hits_and_misses),
        OVER_TABLES(empty_table_has_nothing),
        OVER_TABLES(odd_sizes),
        OVER_TABLES(repeated_queries),
        OVER_TABLES(flags_and_totals_left_out),
        OVER_TABLES(finding_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
