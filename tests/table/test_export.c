/* test_export.c: the contract of heddle_table_export. */
#include <stdlib.h>
#include <string.h>

#include "support/arrays.h"
#include "support/checked.h"
#include "support/keys.h"

static void exports_what_is_there(const test_case *c)
{
    const uint64_t n = case_size(1501);
    uint64_t *keys = keys_allocate(n);
    uint64_t *values = keys_allocate(n);
    for (key_set set = KEYS_RANDOM; set < KEYS_SETS; set++) {
        case_note("keys %s, n %llu", keys_name(set), (unsigned long long)n);
        checked t = checked_create(c, NULL);
        checked_export(c, t.table, t.model);
        keys_fill(keys, n, set, t.options.key_bits, 61);
        keys_fill_values(values, n, set);
        checked_insert(&t, keys, values, n, HEDDLE_POLICY_KEEP);
        checked_export(c, t.table, t.model);
        checked_erase(&t, keys, n / 2);
        checked_export(c, t.table, t.model);
        checked_destroy(&t);
    }
    free(keys);
    free(values);
}

/* Large enough for several threads (CPU) and blocks (GPU) to write at once. */
static void exports_a_large_table(const test_case *c)
{
    const uint64_t n = case_size(40009);
    uint64_t *keys = keys_allocate(n);
    uint64_t *values = keys_allocate(n);
    checked t = checked_create(c, NULL);
    keys_fill(keys, n, KEYS_SEQUENCE, t.options.key_bits, 0);
    keys_fill_values(values, n, 63);
    checked_build(&t, keys, values, n, HEDDLE_POLICY_KEEP);
    for (int round = 0; round < 5; round++) checked_export(c, t.table, t.model);
    checked_destroy(&t);
    free(keys);
    free(values);
}

static bool untouched(const array *a, uint8_t poison)
{
    for (uint64_t i = 0; i < a->bytes; i++) {
        if (a->host[i] != poison) return false;
    }
    return true;
}

/* Arrays that are too small: nothing is written, and the count says what is needed. */
static void too_small_arrays_are_refused(const test_case *c)
{
    enum { N = 333 };
    uint64_t numbers[N];
    checked t = checked_create(c, NULL);
    keys_fill(numbers, N, KEYS_RANDOM, t.options.key_bits, 67);
    checked_insert(&t, numbers, numbers, N, HEDDLE_POLICY_KEEP);
    for (uint64_t room = 0; room < N; room += room < 2 ? 1 : 110) {
        uint64_t count = 0;
        array keys = array_poisoned(c, ROLE_KEYS, N * t.options.key_bits / 8, 0xab);
        array values = array_poisoned(c, ROLE_VALUES, N * t.options.value_bits / 8, 0xab);
        case_note("room %llu", (unsigned long long)room);
        check_status(heddle_table_export(t.table, array_pointer(&keys),
                                         case_is_map(c) ? array_pointer(&values) : NULL, room,
                                         &count, NULL),
                     HEDDLE_ERROR_TOO_SMALL);
        assert_int_equal(count, N);
        assert_true(strlen(heddle_last_error()) > 0);
        array_pull(&keys);
        array_pull(&values);
        assert_true(untouched(&keys, 0xab));
        assert_true(untouched(&values, 0xab));
        array_free(&keys);
        array_free(&values);
    }
    checked_all(&t);
    checked_destroy(&t);
}

/* More room than needed: what lies behind the last pair stays as it was. */
static void spare_room_stays_untouched(const test_case *c)
{
    enum { N = 100, ROOM = 150 };
    uint64_t numbers[N];
    uint64_t count = 0;
    checked t = checked_create(c, NULL);
    keys_fill(numbers, N, KEYS_SEQUENCE, t.options.key_bits, 0);
    checked_insert(&t, numbers, numbers, N, HEDDLE_POLICY_KEEP);
    array keys = array_poisoned(c, ROLE_KEYS, ROOM * t.options.key_bits / 8, 0xab);
    check_ok(heddle_table_export(t.table, array_pointer(&keys), NULL, ROOM, &count, NULL));
    assert_int_equal(count, N);
    array_pull(&keys);
    for (uint64_t i = N * t.options.key_bits / 8; i < keys.bytes; i++)
        assert_int_equal(keys.host[i], 0xab);
    array_free(&keys);
    checked_destroy(&t);
}

/* A map's keys alone: values may be NULL. */
static void keys_alone(const test_case *c)
{
    enum { N = 257 };
    uint64_t numbers[N];
    uint64_t count = 0;
    checked t = checked_create(c, NULL);
    keys_fill(numbers, N, KEYS_EDGES, t.options.key_bits, 71);
    checked_insert(&t, numbers, numbers, N, HEDDLE_POLICY_KEEP);
    array keys = array_poisoned(c, ROLE_KEYS, N * t.options.key_bits / 8, 0xab);
    check_ok(heddle_table_export(t.table, array_pointer(&keys), NULL, N, &count, NULL));
    assert_int_equal(count, N);
    array_pull(&keys);
    for (uint64_t i = 0; i < N; i++) {
        const uint64_t key = array_at(&keys, i, t.options.key_bits);
        check(model_erase(t.model, key), "key %#llx exported twice, or never put in",
              (unsigned long long)key);
    }
    array_free(&keys);
    checked_destroy(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OVER_TABLES(exports_what_is_there),
        OVER_TABLES(exports_a_large_table),
        OVER_TABLES(too_small_arrays_are_refused),
        OVER_TABLES(spare_room_stays_untouched),
        OVER_TABLES(keys_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
