/*
 * test_locate.c: the contract of heddle_table_locate and heddle_table_at: handles name the pairs of their
 * keys, and go on doing so while other keys come and go.
 */
#include <stdlib.h>
#include <string.h>

#include "support/arrays.h"
#include "support/checked.h"
#include "support/keys.h"
#include "support/sort.h"

#define POISON 0xa5

enum { ROLE_SLOTS, ROLE_KEYS_OUT, ROLE_VALUES_OUT, ROLE_FOUND };

static bool moves_pairs(const test_case *c) { return c->ops->scheme == HEDDLE_SCHEME_CUCKOO; }

/* Handles of n keys; the model tells who has none. */
static void locate(checked *t, const uint64_t *keys, uint64_t n, uint64_t *slots)
{
    array k = array_of(t->c, ROLE_KEYS, keys, n, t->options.key_bits);
    array s = array_poisoned(t->c, ROLE_VALUES, n * sizeof *slots, POISON);
    uint64_t there = 0;
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    check_ok(heddle_table_locate(t->table, array_pointer(&k), n, array_pointer(&s), &totals, NULL));
    array_pull(&s);
    for (uint64_t i = 0; i < n; i++) {
        slots[i] = array_at(&s, i, 64);
        const bool has = model_find(t->model, keys[i], NULL);
        there += has;
        check(has ? slots[i] < t->options.capacity : slots[i] == HEDDLE_NO_SLOT,
              "key %llx is in slot %llx", (unsigned long long)keys[i],
              (unsigned long long)slots[i]);
    }
    assert_int_equal(totals.found, there);
    assert_int_equal(totals.absent, n - there);
    array_free(&k);
    array_free(&s);
}

/* Slots hold the pairs of these keys, or nothing where the model has none. */
static void read_back(checked *t, const uint64_t *keys, const uint64_t *slots, uint64_t n)
{
    const uint32_t key_bits = t->options.key_bits, value_bits = t->options.value_bits;
    array s = array_of(t->c, ROLE_SLOTS, slots, n, 64);
    array k = array_poisoned(t->c, ROLE_KEYS_OUT, n * key_bits / 8, POISON);
    array v = array_poisoned(t->c, ROLE_VALUES_OUT, n * value_bits / 8, POISON);
    array f = array_poisoned(t->c, ROLE_FOUND, n, POISON);
    uint64_t untouched;
    memset(&untouched, POISON, sizeof untouched);
    check_ok(heddle_table_at(t->table, array_pointer(&s), n, array_pointer(&k),
                             value_bits != 0 ? array_pointer(&v) : NULL, array_pointer(&f), NULL));
    check_ok(heddle_device_synchronize(t->c->device, NULL));
    array_pull(&k);
    array_pull(&v);
    array_pull(&f);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t value = 0;
        const bool has = model_find(t->model, keys[i], &value);
        check(f.host[i] == has, "slot %llx: found %u", (unsigned long long)slots[i], f.host[i]);
        const uint64_t key = array_at(&k, i, key_bits);
        check(key == (has ? keys[i] : low_bits(untouched, key_bits)), "slot %llx holds %llx",
              (unsigned long long)slots[i], (unsigned long long)key);
        if (value_bits != 0)
            check(array_at(&v, i, value_bits) == low_bits(has ? value : untouched, value_bits),
                  "slot %llx has another value", (unsigned long long)slots[i]);
    }
    array_free(&s);
    array_free(&k);
    array_free(&v);
    array_free(&f);
}

/* Members and strangers, after an insertion and after a build. */
static void handles_name_pairs(const test_case *c)
{
    const uint64_t n = case_size(20011);
    if (moves_pairs(c)) return;
    uint64_t *keys = keys_allocate(2 * n), *values = keys_allocate(n),
             *slots = keys_allocate(2 * n);
    checked t = checked_create(c, NULL);
    keys_fill(keys, 2 * n, KEYS_EDGES, t.options.key_bits, 31);
    keys_fill_values(values, n, 31);
    for (int build = 0; build < 2; build++) {
        build ? checked_build(&t, keys, values, n, HEDDLE_POLICY_KEEP)
              : checked_insert(&t, keys, values, n, HEDDLE_POLICY_KEEP);
        check_ok(heddle_table_get_options(t.table, &t.options));
        locate(&t, keys, 2 * n, slots);
        read_back(&t, keys, slots, 2 * n);
        sort_numbers(slots, n);
        for (uint64_t i = 1; i < n; i++) check(slots[i - 1] < slots[i], "two keys in one slot");
    }
    checked_destroy(&t);
    free(keys);
    free(values);
    free(slots);
}

#define ROUNDS 6

/* Other keys come and go, many times as many as there is room for. */
static void handles_stay(const test_case *c)
{
    const uint64_t old = case_size(3001), others = case_size(6001);
    heddle_table_options options = case_options(c);
    if (moves_pairs(c)) return;
    uint64_t *keys = keys_allocate(old + others * ROUNDS), *values = keys_allocate(old + others);
    uint64_t *slots = keys_allocate(old), *again = keys_allocate(old);
    options.flags = HEDDLE_FLAG_FIXED;
    options.capacity = old + others;
    checked t = checked_create(c, &options);
    keys_fill(keys, old + others * ROUNDS, KEYS_RANDOM, t.options.key_bits, 77);
    keys_fill_values(values, old + others, 77);
    checked_insert(&t, keys, values, old, HEDDLE_POLICY_KEEP);
    locate(&t, keys, old, slots);
    for (uint64_t r = 0; r < ROUNDS; r++) {
        const uint64_t *come = keys + old + r * others;
        case_note("round %llu", (unsigned long long)r);
        checked_insert(&t, come, values, others, HEDDLE_POLICY_KEEP);
        checked_insert(&t, keys, values + 1, old, HEDDLE_POLICY_REPLACE);
        read_back(&t, keys, slots, old);
        checked_erase(&t, come, r % 2 == 0 ? others : others - others / 8);
        locate(&t, keys, old, again);
        assert_memory_equal(slots, again, old * sizeof *slots);
    }
    checked_erase(&t, keys, old);
    read_back(&t, keys, slots, old); /* nothing was put there since */
    checked_all(&t);
    checked_destroy(&t);
    free(keys);
    free(values);
    free(slots);
    free(again);
}

static void numbers_of_no_slot(const test_case *c)
{
    if (moves_pairs(c)) return;
    checked t = checked_create(c, NULL);
    const uint64_t slots[] = {HEDDLE_NO_SLOT,          t.options.capacity, t.options.capacity + 1,
                              HEDDLE_NO_SLOT - 1,      UINT64_C(1) << 32,  UINT64_C(1) << 63,
                              t.options.capacity * 16, UINT64_C(1) << 62,  0,
                              t.options.capacity - 1};
    const uint64_t n = sizeof slots / sizeof *slots;
    uint64_t strangers[sizeof slots / sizeof *slots];
    keys_fill(strangers, n, KEYS_RANDOM, t.options.key_bits, 5);
    read_back(&t, strangers, slots, n); /* the table is empty: so are the slots that there are */
    check_ok(heddle_table_locate(t.table, NULL, 0, NULL, NULL, NULL));
    check_ok(heddle_table_at(t.table, NULL, 0, NULL, NULL, NULL, NULL));
    checked_destroy(&t);
}

static void wrong_arguments(const test_case *c)
{
    checked t = checked_create(c, NULL);
    uint64_t keys[2] = {0}, slots[2] = {0}, out[2] = {0};
    uint8_t found[2];
    const heddle_status refused = moves_pairs(c) ? HEDDLE_ERROR_UNSUPPORTED : HEDDLE_ERROR_INVALID;
    check_status(heddle_table_locate(NULL, keys, 2, slots, NULL, NULL), HEDDLE_ERROR_INVALID);
    check_status(heddle_table_at(NULL, slots, 2, out, NULL, found, NULL), HEDDLE_ERROR_INVALID);
    check_status(heddle_table_locate(t.table, NULL, 2, slots, NULL, NULL), refused);
    check_status(heddle_table_locate(t.table, keys, 2, NULL, NULL, NULL), refused);
    check_status(heddle_table_at(t.table, NULL, 2, out, NULL, found, NULL), refused);
    check_status(heddle_table_at(t.table, (uint64_t *)(void *)((char *)slots + 4), 1, out, NULL,
                                 found, NULL),
                 refused);
    if (t.options.value_bits == 0)
        check_status(heddle_table_at(t.table, slots, 2, NULL, out, found, NULL), refused);
    if (moves_pairs(c))
        check_status(heddle_table_locate(t.table, keys, 2, slots, NULL, NULL), refused);
    else check_ok(heddle_table_at(t.table, slots, 2, NULL, NULL, NULL, NULL));
    checked_destroy(&t);
}

/* A graph has no slots. */
static void not_for_graphs(const test_case *c)
{
    heddle_table_options options = case_options(c);
    heddle_table *table = NULL;
    uint64_t keys[1] = {0}, slots[1] = {0};
    check_ok(heddle_table_create(c->device, &options, &table));
    check_status(heddle_table_locate(table, keys, 1, slots, NULL, NULL), HEDDLE_ERROR_UNSUPPORTED);
    check_status(heddle_table_at(table, slots, 1, keys, NULL, NULL, NULL),
                 HEDDLE_ERROR_UNSUPPORTED);
    heddle_table_destroy(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OVER_INSTANCES(handles_name_pairs),   OVER_INSTANCES(handles_stay),
        OVER_SLOT_WIDTHS(numbers_of_no_slot), OVER_SLOT_WIDTHS(wrong_arguments),
        OVER_FEW_GRAPHS(not_for_graphs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
