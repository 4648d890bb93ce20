/* test_build.c: the contract of heddle_table_build. */
#include <stdlib.h>

#include "support/checked.h"
#include "support/keys.h"

#define POLICIES (HEDDLE_POLICY_MAX + 1)

/* From nothing, and again over what was there: the old keys are gone. */
static void every_key_set_and_policy(const test_case *c)
{
    const uint64_t n = case_size(1501);
    uint64_t *keys = keys_allocate(n);
    uint64_t *values = keys_allocate(n);
    for (key_set set = KEYS_RANDOM; set < KEYS_SETS; set++) {
        checked t = checked_create(c, NULL);
        for (uint32_t policy = 0; policy < POLICIES; policy++) {
            const uint64_t size = policy % 2 == 0 ? n : n / 3; /* larger and smaller than before */
            case_note("keys %s, policy %u, n %llu", keys_name(set), policy,
                      (unsigned long long)size);
            keys_fill(keys, size, set, t.options.key_bits, 71 + policy);
            keys_fill_values(values, size, policy);
            checked_build(&t, keys, values, size, policy);
            checked_all(&t);
        }
        checked_destroy(&t);
    }
    free(keys);
    free(values);
}

static void odd_sizes(const test_case *c)
{
    static const uint64_t sizes[] = {1, 0, 2, 3, 7, 8, 9, 31, 33, 127, 129, 1023, 1025};
    uint64_t keys[1025];
    uint64_t values[1025];
    checked t = checked_create(c, NULL);
    for (uint32_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        case_note("n %llu", (unsigned long long)sizes[i]);
        keys_fill(keys, sizes[i], KEYS_EDGES, t.options.key_bits, 73);
        keys_fill_values(values, sizes[i], i);
        checked_build(&t, keys, values, sizes[i], HEDDLE_POLICY_KEEP);
        checked_all(&t);
    }
    checked_destroy(&t);
}

/* A table that may grow is made large enough at its load, whatever size it had. */
static void makes_room_first(const test_case *c)
{
    const uint64_t n = case_size(20000);
    heddle_table_options options = case_options(c);
    heddle_table_stats stats = HEDDLE_TABLE_STATS_INIT;
    uint64_t *keys = keys_allocate(n);
    uint64_t *values = keys_allocate(n);
    options.capacity = 10;
    options.load = 0.75;
    checked t = checked_create(c, &options);
    keys_fill(keys, n, KEYS_RANDOM, options.key_bits, 79);
    keys_fill_values(values, n, 79);
    const heddle_totals totals = checked_build(&t, keys, values, n, HEDDLE_POLICY_KEEP);
    assert_int_equal(totals.inserted, n);
    check_ok(heddle_table_get_stats(t.table, &stats, NULL));
    check(stats.load <= 0.76, "load %f after a build at 0.75", stats.load);
    checked_all(&t);
    checked_destroy(&t);
    free(keys);
    free(values);
}

/* A fixed table takes what fits and reports the rest, also when it is rebuilt. */
static void fixed_table_reports_the_rest(const test_case *c)
{
    const uint64_t n = case_size(3000);
    heddle_table_options options = case_options(c);
    uint64_t *keys = keys_allocate(n);
    uint64_t *values = keys_allocate(n);
    options.capacity = n / 2;
    options.load = 0.9;
    options.flags = HEDDLE_FLAG_FIXED;
    checked t = checked_create(c, &options);
    keys_fill(keys, n, KEYS_RANDOM, options.key_bits, 83);
    keys_fill_values(values, n, 83);
    const uint64_t slots = t.options.capacity;
    for (int round = 0; round < 2; round++) {
        case_note("round %d, %llu slots", round, (unsigned long long)slots);
        const heddle_totals totals = checked_build(&t, keys, values, n, HEDDLE_POLICY_KEEP);
        check(totals.inserted <= slots && totals.inserted + totals.failed == n,
              "%llu keys in %llu slots", (unsigned long long)totals.inserted,
              (unsigned long long)slots);
        if (n > slots) assert_true(totals.failed >= n - slots);
        checked_all(&t);
    }
    checked_build(&t, keys, values, n / 4, HEDDLE_POLICY_KEEP);
    assert_int_equal(model_size(t.model), n / 4);
    checked_all(&t);
    checked_destroy(&t);
    free(keys);
    free(values);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OVER_TABLES(every_key_set_and_policy),
        OVER_TABLES(odd_sizes),
        OVER_TABLES(makes_room_first),
        OVER_TABLES(fixed_table_reports_the_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
