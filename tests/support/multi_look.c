/* multi_look.c: contains, find, count and retrieve against the model; see multi.h. */
#include <stdlib.h>
#include <string.h>

#include "support/arrays.h"
#include "support/keys.h"
#include "support/multi.h"
#include "support/sort.h"

#define POISON_FLAG 0xee
#define POISON_VALUE 0xdb

/* The model's pairs of one key: [first, last). */
typedef struct multi_range {
    uint64_t first, last;
} multi_range;

static uint64_t lower_bound(const multi *m, uint64_t key)
{
    uint64_t low = 0, high = m->size;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (m->pairs[middle].key < key) low = middle + 1;
        else high = middle;
    }
    return low;
}

static multi_range range_of(const multi *m, uint64_t key)
{
    multi_range r;
    r.first = r.last = lower_bound(m, key);
    if (r.first < m->size && m->pairs[r.first].key == key) {
        r.last = key == UINT64_MAX ? m->size : lower_bound(m, key + 1);
    }
    return r;
}

static uint64_t matches_of(const multi *m, uint64_t key)
{
    const multi_range r = range_of(m, key);
    return r.last - r.first;
}

static void check_found(const multi *m, const heddle_totals *totals, const uint64_t *keys,
                        uint64_t n)
{
    uint64_t found = 0;
    for (uint64_t i = 0; i < n; i++) found += matches_of(m, keys[i]) != 0;
    assert_int_equal(totals->found, found);
    assert_int_equal(totals->found + totals->absent, n);
}

static void look_contains(multi *m, const array *k, const uint64_t *keys, uint64_t n)
{
    array flags = array_poisoned(m->c, ROLE_FLAGS, n, POISON_FLAG);
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    check_ok(
        heddle_table_contains(m->table, array_pointer(k), n, array_pointer(&flags), &totals, NULL));
    array_pull(&flags);
    check_found(m, &totals, keys, n);
    for (uint64_t i = 0; i < n; i++)
        check(flags.host[i] == (matches_of(m, keys[i]) != 0), "key %#llx: found is %u",
              (unsigned long long)keys[i], flags.host[i]);
    array_free(&flags);
}

static bool has_value(const multi *m, uint64_t key, uint64_t value)
{
    const multi_range r = range_of(m, key);
    for (uint64_t i = r.first; i < r.last; i++)
        if (m->pairs[i].value == value) return true;
    return false;
}

/* One of the key's values, and what was there before where it has none. */
static void look_find(multi *m, const array *k, const uint64_t *keys, uint64_t n)
{
    const uint32_t bits = m->options.value_bits;
    const uint64_t poison = low_bits(POISON_VALUE * UINT64_C(0x0101010101010101), bits);
    array flags = array_poisoned(m->c, ROLE_FLAGS, n, POISON_FLAG);
    array values = array_poisoned(m->c, ROLE_VALUES, n * bits / 8, POISON_VALUE);
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    check_ok(heddle_table_find(m->table, array_pointer(k), n, array_pointer(&values),
                               array_pointer(&flags), &totals, NULL));
    array_pull(&flags);
    array_pull(&values);
    check_found(m, &totals, keys, n);
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t value = array_at(&values, i, bits);
        const bool there = matches_of(m, keys[i]) != 0;
        check(flags.host[i] == there, "key %#llx: found is %u", (unsigned long long)keys[i],
              flags.host[i]);
        check(there ? has_value(m, keys[i], value) : value == poison, "key %#llx: value %#llx",
              (unsigned long long)keys[i], (unsigned long long)value);
    }
    array_free(&flags);
    array_free(&values);
}

static void look_count(multi *m, const array *k, const uint64_t *keys, uint64_t n)
{
    array matches = array_poisoned(m->c, ROLE_VALUES, n * 8, POISON_VALUE);
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    check_ok(
        heddle_table_count(m->table, array_pointer(k), n, array_pointer(&matches), &totals, NULL));
    array_pull(&matches);
    check_found(m, &totals, keys, n);
    for (uint64_t i = 0; i < n; i++)
        check(array_at(&matches, i, 64) == matches_of(m, keys[i]), "key %#llx: %llu matches",
              (unsigned long long)keys[i], (unsigned long long)array_at(&matches, i, 64));
    array_free(&matches);
}

/* The values from `at` on are those of the key, in any order. */
static void check_values(const multi *m, const array *values, uint64_t at, uint64_t key)
{
    const multi_range r = range_of(m, key);
    const uint64_t count = r.last - r.first;
    uint64_t *got = keys_allocate(count + 1);
    for (uint64_t i = 0; i < count; i++) got[i] = array_at(values, at + i, m->options.value_bits);
    sort_numbers(got, count);
    for (uint64_t i = 0; i < count; i++)
        check(got[i] == m->pairs[r.first + i].value, "key %#llx: value %#llx, not %#llx",
              (unsigned long long)key, (unsigned long long)got[i],
              (unsigned long long)m->pairs[r.first + i].value);
    free(got);
}

static void look_retrieve(multi *m, const array *k, const uint64_t *keys, uint64_t n)
{
    array offsets = array_poisoned(m->c, ROLE_FLAGS, (n + 1) * 8, POISON_VALUE);
    uint64_t total = 0, count = 0;
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    check_ok(heddle_table_take_totals(m->table, &totals, NULL));
    for (uint64_t i = 0; i < n; i++) total += matches_of(m, keys[i]);
    check_ok(heddle_table_retrieve(m->table, array_pointer(k), n, array_pointer(&offsets), NULL, 0,
                                   &count, NULL));
    assert_int_equal(count, total);
    array values = array_poisoned(m->c, ROLE_VALUES, total * m->options.value_bits / 8, 0xee);
    if (total != 0) {
        check_status(heddle_table_retrieve(m->table, array_pointer(k), n, array_pointer(&offsets),
                                           array_pointer(&values), total - 1, &count, NULL),
                     HEDDLE_ERROR_TOO_SMALL);
        assert_int_equal(count, total);
    }
    check_ok(heddle_table_retrieve(m->table, array_pointer(k), n, array_pointer(&offsets),
                                   array_pointer(&values), total, &count, NULL));
    assert_int_equal(count, total);
    check_ok(heddle_table_take_totals(m->table, &totals, NULL));
    assert_int_equal(totals.found + totals.absent, total != 0 ? 3 * n : 2 * n);
    array_pull(&offsets);
    array_pull(&values);
    for (uint64_t i = 0, at = 0; i < n; at += matches_of(m, keys[i]), i++) {
        assert_int_equal(array_at(&offsets, i, 64), at);
        check_values(m, &values, at, keys[i]);
    }
    assert_int_equal(array_at(&offsets, n, 64), total);
    array_free(&offsets);
    array_free(&values);
}

void multi_look(multi *m, const uint64_t *keys, uint64_t n)
{
    array k = array_of(m->c, ROLE_KEYS, keys, n, m->options.key_bits);
    look_contains(m, &k, keys, n);
    look_count(m, &k, keys, n);
    if (m->options.value_bits != 0) {
        look_find(m, &k, keys, n);
        look_retrieve(m, &k, keys, n);
    }
    array_free(&k);
}
