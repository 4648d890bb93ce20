/* test_insert.c: the contract of heddle_table_insert, on tables that may grow. */
#include <stdlib.h>

#include "support/arrays.h"
#include "support/checked.h"
#include "support/keys.h"
#include "table/table.h"

#define POLICIES (HEDDLE_POLICY_MAX + 1)

/* Half of the keys, then all (so that half are there), then all with other values. */
static void insert_thrice(const test_case *c, key_set set, uint32_t policy, uint64_t n)
{
    heddle_table_options options = case_options(c);
    uint64_t *keys = keys_allocate(n);
    uint64_t *values = keys_allocate(n);
    options.capacity = n;
    options.seed = 1 + policy;
    checked t = checked_create(c, &options);
    keys_fill(keys, n, set, options.key_bits, 11 + policy);
    for (uint32_t round = 0; round < 3; round++) {
        case_note("keys %s, policy %u, n %llu, round %u", keys_name(set), policy,
                  (unsigned long long)n, round);
        keys_fill_values(values, n, 100 * policy + round);
        checked_insert(&t, keys, values, round == 0 ? n / 2 : n, policy);
    }
    checked_all(&t);
    checked_destroy(&t);
    free(keys);
    free(values);
}

static void every_key_set_and_policy(const test_case *c)
{
    for (key_set set = KEYS_RANDOM; set < KEYS_SETS; set++)
        for (uint32_t policy = 0; policy < POLICIES; policy++)
            insert_thrice(c, set, policy, case_size(1501));
}

static void odd_sizes(const test_case *c)
{
    static const uint64_t sizes[] = {0,  1,  2,  3,   5,   7,   15,  17,   31,
                                     33, 63, 65, 127, 129, 255, 257, 1023, 1025};
    uint64_t keys[1025];
    uint64_t values[1025];
    checked t = checked_create(c, NULL);
    for (uint32_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        case_note("n %llu", (unsigned long long)sizes[i]);
        /* every batch brings some keys that are there and some that are not */
        keys_fill(keys, sizes[i], i % 3 == 0 ? KEYS_ZIPF : KEYS_EDGES, t.options.key_bits, 5);
        keys_fill_values(values, sizes[i], i);
        checked_insert(&t, keys, values, sizes[i], i % POLICIES);
    }
    checked_all(&t);
    checked_destroy(&t);
}

/* The same key many times over: one entry, and every value takes part. */
static void one_key_many_times(const test_case *c)
{
    enum { N = 4099 };
    uint64_t keys[N];
    uint64_t values[N];
    for (uint32_t policy = 0; policy < POLICIES; policy++) {
        case_note("policy %u", policy);
        checked t = checked_create(c, NULL);
        keys_fill(keys, N, KEYS_ONES, t.options.key_bits, 0);
        keys_fill_values(values, N, policy);
        heddle_totals totals = checked_insert(&t, keys, values, N, policy);
        assert_int_equal(totals.inserted, 1);
        totals = checked_insert(&t, keys, values, N, policy);
        assert_int_equal(totals.inserted, 0);
        assert_int_equal(policy == HEDDLE_POLICY_KEEP ? totals.kept : totals.updated, N);
        checked_all(&t);
        checked_destroy(&t);
    }
}

/* Exact sums: value i of key k is 2^16 k + 1, so a lost or doubled addition shows. */
static void add_counts_every_occurrence(const test_case *c)
{
    enum { DISTINCT = 97, TIMES = 53 };
    uint64_t keys[DISTINCT * TIMES];
    uint64_t values[DISTINCT * TIMES];
    if (!case_is_map(c)) return;
    for (uint32_t i = 0; i < DISTINCT * TIMES; i++) {
        keys[i] = i % DISTINCT;
        values[i] = UINT64_C(65536) * keys[i] + 1;
    }
    checked t = checked_create(c, NULL);
    checked_insert(&t, keys, values, DISTINCT * TIMES, HEDDLE_POLICY_ADD);
    for (uint32_t k = 0; k < DISTINCT; k++) {
        uint64_t sum = 0;
        assert_true(model_find(t.model, k, &sum));
        assert_int_equal(sum, low_bits((UINT64_C(65536) * k + 1) * TIMES, t.options.value_bits));
    }
    checked_all(&t);
    checked_destroy(&t);
}

/* Without options the policy is KEEP; options, outcomes, totals and the failed list may be absent.
 */
static void everything_optional_left_out(const test_case *c)
{
    const uint64_t numbers[] = {3, 1, 2};
    const uint64_t later[] = {30, 10, 20};
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    checked t = checked_create(c, NULL);
    array keys = array_of(c, ROLE_KEYS, numbers, 3, t.options.key_bits);
    array first = array_of(c, ROLE_VALUES, numbers, 3, t.options.value_bits);
    array second = array_of(c, ROLE_VALUES, later, 3, t.options.value_bits);
    check_ok(heddle_table_insert(t.table, array_pointer(&keys), array_pointer(&first), 3, NULL,
                                 NULL, NULL));
    check_ok(heddle_table_insert(t.table, array_pointer(&keys), array_pointer(&second), 3, NULL,
                                 NULL, NULL));
    check_ok(heddle_table_take_totals(t.table, &totals, NULL));
    assert_int_equal(totals.inserted, 3);
    assert_int_equal(totals.kept, 3);
    for (int i = 0; i < 3; i++) model_set(t.model, numbers[i], numbers[i]);
    checked_all(&t);
    array_free(&keys);
    array_free(&first);
    array_free(&second);
    checked_destroy(&t);
}

/* Batches large enough for several threads (CPU) and many blocks (GPU), all after the same few
 * keys. */
static void many_threads_meet(const test_case *c)
{
    static const key_set sets[] = {KEYS_EQUAL, KEYS_TWICE, KEYS_ZIPF, KEYS_SEQUENCE};
    const uint64_t n = case_size(30011);
    uint64_t *keys = keys_allocate(n);
    uint64_t *values = keys_allocate(n);
    for (uint32_t i = 0; i < 4; i++) {
        const uint32_t policy = (i + c->ops->bucket) % POLICIES;
        heddle_table_options options = case_options(c);
        options.capacity = n;
        options.load = 0.9;
        checked t = checked_create(c, &options);
        case_note("keys %s, policy %u, n %llu", keys_name(sets[i]), policy, (unsigned long long)n);
        keys_fill(keys, n, sets[i], options.key_bits, 13);
        keys_fill_values(values, n, i);
        checked_insert(&t, keys, values, n, policy);
        checked_all(&t);
        checked_destroy(&t);
    }
    free(keys);
    free(values);
}

/* One batch longer than the slices it is worked on in, with duplicates in different slices. */
static void batch_of_several_slices(const test_case *c)
{
    const uint64_t distinct = case_size(100003);
    heddle_table_options options = case_options(c);
    options.capacity = distinct;
    checked t = checked_create(c, &options);
    const uint64_t n = 2 * t.table->slice + 12345;
    uint64_t *keys = keys_allocate(n);
    uint64_t *values = keys_allocate(n);
    for (uint64_t i = 0; i < n; i++) keys[i] = i % distinct;
    keys_fill_values(values, n, 3);
    case_note("n %llu, slices of %llu", (unsigned long long)n, (unsigned long long)t.table->slice);
    assert_int_equal(checked_insert(&t, keys, values, n, HEDDLE_POLICY_ADD).inserted, distinct);
    checked_all(&t);
    checked_find(&t, keys, n);
    assert_int_equal(checked_erase(&t, keys, n).found, distinct);
    assert_int_equal(model_size(t.model), 0);
    checked_destroy(&t);
    free(keys);
    free(values);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OVER_TABLES(every_key_set_and_policy),     OVER_TABLES(odd_sizes),
        OVER_TABLES(one_key_many_times),           OVER_TABLES(add_counts_every_occurrence),
        OVER_TABLES(everything_optional_left_out), OVER_TABLES(many_threads_meet),
        OVER_WIDTHS(batch_of_several_slices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
