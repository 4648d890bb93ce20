/*
 * test_full.c: fixed tables filled past their last slot. A cuckoo chain that gives up must not drop
 * the key it had evicted: every key from before is still there with its value, what did not fit is
 * listed exactly, and the room of erased keys can be used again.
 */
#include <stdlib.h>
#include <string.h>

#include "support/arrays.h"
#include "support/checked.h"
#include "support/keys.h"
#include "table/table.h"

/* However small a slab hash is, its pool has a block of slabs: with as many lists they do not become long. */
#define SLAB_CAPACITY 16000

static checked create_fixed(const test_case *c, uint64_t capacity, double load)
{
    heddle_table_options options = case_options(c);
    options.capacity = case_is_slab(c) ? SLAB_CAPACITY : capacity;
    options.load = case_is_slab(c) ? 0.5 : load;
    options.seed = 4711;
    options.flags = HEDDLE_FLAG_FIXED;
    return checked_create(c, &options);
}

/* Twice as many keys as slots, in batches; then erase some, and fill again. */
static void twice_the_slots(const test_case *c)
{
    checked t = create_fixed(c, case_size(2000), 0.95);
    const uint64_t slots = t.options.capacity;
    const uint64_t n = 2 * slots;
    uint64_t *keys = keys_allocate(n);
    uint64_t *values = keys_allocate(n);
    const key_set end =
        case_is_slab(c) ? KEYS_RANDOM + 2 : KEYS_DISTINCT; /* it has many more slots */
    for (key_set set = KEYS_RANDOM; set < end; set++) {
        uint64_t failed = 0;
        case_note("keys %s, slots %llu", keys_name(set), (unsigned long long)slots);
        keys_fill(keys, n, set, t.options.key_bits, 131);
        keys_fill_values(values, n, set);
        for (uint64_t part = 0; part < 8; part++)
            failed += checked_insert(&t, keys + part * n / 8, values,
                                     (part + 1) * n / 8 - part * n / 8, HEDDLE_POLICY_KEEP)
                          .failed;
        assert_int_equal(model_size(t.model), n - failed);
        assert_true(failed >= n - slots);
        checked_all(&t);
        checked_find(&t, keys, n);
        checked_erase(&t, keys, n / 4);
        checked_all(&t);
        checked_insert(&t, keys, values, n, HEDDLE_POLICY_REPLACE);
        checked_all(&t);
        assert_int_equal(t.options.capacity, slots);
        checked_clear(&t);
    }
    checked_destroy(&t);
    free(keys);
    free(values);
}

/* Offers keys, a batch at a time, until every slot is taken. */
static void fill_to_the_last_slot(checked *t, uint64_t slots, uint64_t *keys, uint64_t *values,
                                  uint64_t room)
{
    uint64_t at = 0;
    const uint64_t batch = slots;
    while (model_size(t->model) < slots) {
        check(at + batch <= room, "%llu keys were offered, and only %llu of %llu slots are taken",
              (unsigned long long)at, (unsigned long long)model_size(t->model),
              (unsigned long long)slots);
        checked_insert(t, keys + at, values + at, batch, HEDDLE_POLICY_KEEP);
        at += batch;
    }
}

/* Full means full: every slot is taken, a new key fails, an old one can still be changed. */
static void every_slot_taken(const test_case *c)
{
    checked t = create_fixed(c, 60, 0.9);
    const uint64_t slots = t.options.capacity;
    const uint64_t room = 400 * slots;
    uint64_t *keys = keys_allocate(room);
    uint64_t *values = keys_allocate(room);
    uint64_t *members = keys_allocate(slots);
    heddle_table_stats stats = HEDDLE_TABLE_STATS_INIT;
    keys_fill(keys, room, KEYS_RANDOM, t.options.key_bits, 137);
    keys_fill_values(values, room, 137);
    for (uint32_t round = 0; round < 3; round++) {
        case_note("round %u, slots %llu", round, (unsigned long long)slots);
        fill_to_the_last_slot(&t, slots, keys, values, room - 100);
        checked_all(&t);
        check_ok(heddle_table_get_stats(t.table, &stats, NULL));
        assert_int_equal(stats.keys, stats.slots);
        assert_int_equal(stats.full, stats.buckets);
        const heddle_totals late =
            checked_insert(&t, keys + room - 100, values, 100, HEDDLE_POLICY_KEEP);
        assert_int_equal(late.failed, 100);
        model_export(t.model, members, NULL);
        assert_int_equal(checked_insert(&t, members, values, slots, HEDDLE_POLICY_REPLACE).updated,
                         slots);
        checked_all(&t);
        checked_erase(&t, members,
                      slots / 2); /* and around again, through the traces of erased keys */
    }
    checked_destroy(&t);
    free(keys);
    free(values);
    free(members);
}

/* A short list of failed keys takes the first so many indices and no more. */
static void short_failed_list(const test_case *c)
{
    checked t = create_fixed(c, 100, 0.9);
    const uint64_t n = 4 * t.options.capacity;
    const uint64_t room = 17;
    uint64_t failed[18];
    uint64_t *numbers = keys_allocate(n);
    heddle_insert_options options = HEDDLE_INSERT_OPTIONS_INIT;
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    keys_fill(numbers, n, KEYS_SEQUENCE, t.options.key_bits, 0);
    array keys = array_of(c, ROLE_KEYS, numbers, n, t.options.key_bits);
    array values = array_of(c, ROLE_VALUES, numbers, n, t.options.value_bits);
    array outcomes = array_poisoned(c, ROLE_FLAGS, n, 0xee);
    memset(failed, 0xdb, sizeof failed);
    options.outcomes = array_pointer(&outcomes);
    options.failed = failed;
    options.failed_capacity = room;
    check_status(heddle_table_insert(t.table, array_pointer(&keys), array_pointer(&values), n,
                                     &options, &totals, NULL),
                 HEDDLE_ERROR_FULL);
    assert_true(strlen(heddle_last_error()) > 0);
    array_pull(&outcomes);
    assert_true(totals.failed >= n - t.options.capacity);
    for (uint64_t i = 0; i < room; i++) {
        assert_true(failed[i] < n);
        assert_int_equal(outcomes.host[failed[i]], HEDDLE_OUTCOME_FAILED);
        for (uint64_t j = 0; j < i; j++) assert_int_not_equal(failed[i], failed[j]);
    }
    assert_int_equal(failed[room], UINT64_C(0xdbdbdbdbdbdbdbdb));
    array_free(&keys);
    array_free(&values);
    array_free(&outcomes);
    checked_destroy(&t);
    free(numbers);
}

/* A batch of several slices: indices count from the beginning of the batch. */
static void failed_list_over_slices(const test_case *c)
{
    checked t = create_fixed(c, 500, 0.9);
    const uint64_t n = 2 * t.table->slice + 321;
    uint64_t *keys = keys_allocate(n);
    uint64_t *values = keys_allocate(n);
    keys_fill(keys, n, KEYS_RANDOM, t.options.key_bits, 139);
    keys_fill_values(values, n, 139);
    case_note("n %llu, slices of %llu", (unsigned long long)n, (unsigned long long)t.table->slice);
    assert_true(checked_insert(&t, keys, values, n, HEDDLE_POLICY_KEEP).failed >=
                n - t.options.capacity);
    checked_all(&t);
    checked_destroy(&t);
    free(keys);
    free(values);
}

/* The list alone, without totals and outcomes, makes the call wait and tell. */
static void failed_list_alone(const test_case *c)
{
    checked t = create_fixed(c, 100, 0.9);
    const uint64_t n = 3 * t.options.capacity;
    uint64_t *numbers = keys_allocate(n);
    uint64_t *failed = keys_allocate(n);
    heddle_insert_options options = HEDDLE_INSERT_OPTIONS_INIT;
    uint64_t count = 0;
    keys_fill(numbers, n, KEYS_MULTIPLES_16, t.options.key_bits, 0);
    array keys = array_of(c, ROLE_KEYS, numbers, n, t.options.key_bits);
    array values = array_of(c, ROLE_VALUES, numbers, n, t.options.value_bits);
    memset(failed, 0xdb, n * sizeof *failed);
    options.failed = failed;
    options.failed_capacity = n;
    check_status(heddle_table_insert(t.table, array_pointer(&keys), array_pointer(&values), n,
                                     &options, NULL, NULL),
                 HEDDLE_ERROR_FULL);
    for (uint64_t i = 0; i < n; i++)
        model_set(t.model, numbers[i], low_bits(numbers[i], t.options.value_bits));
    while (count < n && failed[count] < n)
        assert_true(model_erase(t.model, numbers[failed[count++]]));
    assert_true(count >= n - t.options.capacity);
    checked_all(&t);
    array_free(&keys);
    array_free(&values);
    checked_destroy(&t);
    free(numbers);
    free(failed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OVER_TABLES(twice_the_slots),   OVER_INSTANCES(every_slot_taken),
        OVER_TABLES(short_failed_list), OVER_WIDTHS(failed_list_over_slices),
        OVER_TABLES(failed_list_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
