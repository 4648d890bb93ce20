/* test_contains.c: the contract of heddle_table_contains, for sets and for maps. */
#include <stdlib.h>

#include "support/arrays.h"
#include "support/checked.h"
#include "support/keys.h"

static void members_and_strangers(const test_case *c)
{
    const uint64_t n = case_size(2003);
    uint64_t *keys = keys_allocate(2 * n);
    uint64_t *values = keys_allocate(n);
    for (key_set set = KEYS_RANDOM; set < KEYS_DISTINCT; set++) {
        case_note("keys %s, n %llu", keys_name(set), (unsigned long long)n);
        checked t = checked_create(c, NULL);
        keys_fill(keys, 2 * n, set, t.options.key_bits, 23);
        keys_fill_values(values, n, set);
        checked_build(&t, keys, values, n, HEDDLE_POLICY_KEEP);
        keys_shuffle(keys, 2 * n, set);
        const heddle_totals totals = checked_contains(&t, keys, 2 * n);
        assert_int_equal(totals.found, n);
        checked_destroy(&t);
    }
    free(keys);
    free(values);
}

static void odd_sizes(const test_case *c)
{
    static const uint64_t sizes[] = {0,  1,  2,   3,   7,   9,   31,  33,
                                     63, 65, 127, 129, 255, 257, 511, 513};
    uint64_t keys[600];
    uint64_t values[600];
    checked t = checked_create(c, NULL);
    keys_fill(keys, 600, KEYS_EDGES, t.options.key_bits, 4);
    keys_fill_values(values, 600, 4);
    checked_insert(&t, keys, values, 300, HEDDLE_POLICY_KEEP);
    for (uint32_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        case_note("n %llu", (unsigned long long)sizes[i]);
        checked_contains(&t, keys + 40, sizes[i]);
        checked_contains(&t, keys + 600 - sizes[i], sizes[i]);
    }
    checked_destroy(&t);
}

/* Totals alone are an answer too: how many of these keys are there. */
static void flags_left_out(const test_case *c)
{
    uint64_t numbers[400];
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    checked t = checked_create(c, NULL);
    keys_fill(numbers, 400, KEYS_EDGES, t.options.key_bits, 6);
    checked_insert(&t, numbers, numbers, 100, HEDDLE_POLICY_KEEP);
    array keys = array_of(c, ROLE_KEYS, numbers, 400, t.options.key_bits);
    check_ok(heddle_table_contains(t.table, array_pointer(&keys), 400, NULL, &totals, NULL));
    assert_int_equal(totals.found, 100);
    assert_int_equal(totals.absent, 300);
    array_free(&keys);
    checked_destroy(&t);
}

/* A key is there from its insertion to its erasure, and again when it returns. */
static void follows_insert_and_erase(const test_case *c)
{
    uint64_t keys[500];
    uint64_t values[500];
    checked t = checked_create(c, NULL);
    keys_fill(keys, 500, KEYS_RANDOM, t.options.key_bits, 7);
    keys_fill_values(values, 500, 7);
    checked_contains(&t, keys, 500);
    checked_insert(&t, keys, values, 400, HEDDLE_POLICY_KEEP);
    checked_contains(&t, keys, 500);
    checked_erase(&t, keys + 100, 200);
    assert_int_equal(checked_contains(&t, keys, 500).found, 200);
    checked_insert(&t, keys, values, 500, HEDDLE_POLICY_REPLACE);
    assert_int_equal(checked_contains(&t, keys, 500).found, 500);
    checked_clear(&t);
    assert_int_equal(checked_contains(&t, keys, 500).found, 0);
    checked_destroy(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OVER_TABLES(members_and_strangers),
        OVER_TABLES(odd_sizes),
        OVER_TABLES(flags_left_out),
        OVER_TABLES(follows_insert_and_erase),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
