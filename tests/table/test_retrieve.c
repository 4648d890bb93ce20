/*
 * test_retrieve.c: heddle_table_count and heddle_table_retrieve on tables whose keys have one value: what
 * find and contains say, in the shape that multimaps need. Hashgraphs: test_graph_contents.c.
 */
#include <stdlib.h>
#include <string.h>

#include "support/arrays.h"
#include "support/checked.h"
#include "support/keys.h"

#define POISON 0xdb

static void check_count(checked *t, const array *k, const uint64_t *keys, uint64_t n)
{
    array matches = array_poisoned(t->c, ROLE_VALUES, n * 8, POISON);
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    uint64_t found = 0;
    check_ok(
        heddle_table_count(t->table, array_pointer(k), n, array_pointer(&matches), &totals, NULL));
    array_pull(&matches);
    for (uint64_t i = 0; i < n; i++) {
        const bool there = model_find(t->model, keys[i], NULL);
        found += there;
        check(array_at(&matches, i, 64) == there, "key %#llx: %llu matches",
              (unsigned long long)keys[i], (unsigned long long)array_at(&matches, i, 64));
    }
    assert_int_equal(totals.found, found);
    assert_int_equal(totals.absent, n - found);
    array_free(&matches);
}

static void check_retrieve(checked *t, const array *k, const uint64_t *keys, uint64_t n)
{
    const uint32_t bits = t->options.value_bits;
    array offsets = array_poisoned(t->c, ROLE_FLAGS, (n + 1) * 8, POISON);
    uint64_t count = 0, at = 0, value;
    check_ok(heddle_table_retrieve(t->table, array_pointer(k), n, array_pointer(&offsets), NULL, 0,
                                   &count, NULL));
    array values = array_poisoned(t->c, ROLE_VALUES, count * bits / 8, POISON);
    if (count != 0)
        check_status(heddle_table_retrieve(t->table, array_pointer(k), n, array_pointer(&offsets),
                                           array_pointer(&values), count - 1, &count, NULL),
                     HEDDLE_ERROR_TOO_SMALL);
    check_ok(heddle_table_retrieve(t->table, array_pointer(k), n, array_pointer(&offsets),
                                   array_pointer(&values), count, &count, NULL));
    array_pull(&offsets);
    array_pull(&values);
    for (uint64_t i = 0; i < n; i++) {
        assert_int_equal(array_at(&offsets, i, 64), at);
        if (!model_find(t->model, keys[i], &value)) continue;
        check(array_at(&values, at, bits) == value, "key %#llx: value %#llx, not %#llx",
              (unsigned long long)keys[i], (unsigned long long)array_at(&values, at, bits),
              (unsigned long long)value);
        at++;
    }
    assert_int_equal(array_at(&offsets, n, 64), at);
    assert_int_equal(count, at);
    array_free(&offsets);
    array_free(&values);
}

static void as_find_says(const test_case *c)
{
    const uint64_t sizes[] = {0, 1, 33, case_size(5001)};
    if (c->device->engine->columns == NULL) return;
    for (int s = 0; s < 4; s++) {
        const uint64_t n = sizes[s];
        uint64_t *keys = keys_allocate(2 * n + 1), *values = keys_allocate(2 * n + 1);
        checked t = checked_create(c, NULL);
        case_note("n %llu", (unsigned long long)n);
        keys_fill(keys, 2 * n, KEYS_EDGES, t.options.key_bits, 5);
        keys_fill_values(values, 2 * n, 5);
        checked_insert(&t, keys, values, n, HEDDLE_POLICY_KEEP);
        keys_shuffle(keys, 2 * n, 6);
        array k = array_of(c, ROLE_KEYS, keys, 2 * n, t.options.key_bits);
        check_count(&t, &k, keys, 2 * n);
        if (case_is_map(c)) check_retrieve(&t, &k, keys, 2 * n);
        checked_all(&t);
        array_free(&k);
        checked_destroy(&t);
        free(keys);
        free(values);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {OVER_WIDTHS(as_find_says)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
