/* test_clear.c: the contract of heddle_table_clear. */
#include <stdlib.h>

#include "support/checked.h"
#include "support/keys.h"

static void clear_and_fill_again(const test_case *c)
{
    enum { N = 999 };
    uint64_t keys[2 * N];
    uint64_t values[N];
    checked t = checked_create(c, NULL);
    checked_clear(&t); /* an empty table */
    keys_fill(keys, 2 * N, KEYS_EDGES, t.options.key_bits, 89);
    for (uint32_t round = 0; round < 3; round++) {
        case_note("round %u", round);
        keys_fill_values(values, N, round);
        checked_insert(&t, keys + round * 100, values, N, HEDDLE_POLICY_KEEP);
        checked_erase(&t, keys, N / 2);
        checked_clear(&t);
        checked_all(&t);
        assert_int_equal(checked_find(&t, keys, 2 * N).absent, 2 * N);
    }
    checked_destroy(&t);
}

/* The memory and the geometry stay; no trace of erased keys does. */
static void keeps_the_memory(const test_case *c)
{
    enum { N = 2000 };
    uint64_t keys[N];
    uint64_t values[N];
    heddle_table_stats before = HEDDLE_TABLE_STATS_INIT;
    heddle_table_stats after = HEDDLE_TABLE_STATS_INIT;
    checked t = checked_create(c, NULL);
    keys_fill(keys, N, KEYS_RANDOM, t.options.key_bits, 97);
    keys_fill_values(values, N, 97);
    checked_insert(&t, keys, values, N, HEDDLE_POLICY_KEEP);
    checked_erase(&t, keys, N / 2);
    check_ok(heddle_table_get_stats(t.table, &before, NULL));
    checked_clear(&t);
    check_ok(heddle_table_get_stats(t.table, &after, NULL));
    assert_int_equal(after.keys, 0);
    assert_int_equal(after.marks, 0);
    assert_int_equal(after.full, 0);
    if (!case_is_slab(c)) assert_int_equal(after.slots, before.slots); /* of slabs in use */
    assert_int_equal(after.bytes_total, before.bytes_total);
    checked_insert(&t, keys, values, N, HEDDLE_POLICY_KEEP);
    checked_all(&t);
    checked_destroy(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OVER_TABLES(clear_and_fill_again),
        OVER_TABLES(keeps_the_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
