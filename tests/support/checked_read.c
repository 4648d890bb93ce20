/* checked_read.c: find, contains and erase against the model; see checked.h. */
#include <stdlib.h>

#include "support/arrays.h"
#include "support/checked.h"
#include "support/keys.h"

#define POISON_VALUE 0xdb
#define POISON_FLAG 0xee

/* The totals of a call that reads: every key found or absent, nothing else counted. */
static void check_read_totals(checked *t, const heddle_totals *totals, uint64_t n, uint64_t found)
{
    check(totals->found == found, "%llu of %llu keys found, not %llu",
          (unsigned long long)totals->found, (unsigned long long)n, (unsigned long long)found);
    assert_int_equal(totals->found + totals->absent, n);
    assert_int_equal(totals->inserted, 0);
    assert_int_equal(totals->updated, 0);
    assert_int_equal(totals->kept, 0);
    assert_int_equal(totals->failed, 0);
    assert_int_equal(totals->evictions, 0);
    if (t->options.scheme == HEDDLE_SCHEME_SLAB) /* whose lists are as long as they are */
        assert_true(totals->probes >= n);
    else assert_in_range(totals->probes, n, n * t->options.hashes);
}

static uint64_t compare_flags(checked *t, const uint64_t *keys, uint64_t n, const array *flags)
{
    uint64_t found = 0;
    for (uint64_t i = 0; i < n; i++) {
        const bool expected = model_find(t->model, keys[i], NULL);
        check(flags->host[i] == expected, "key %#llx at %llu: found is %u, not %u",
              (unsigned long long)keys[i], (unsigned long long)i, flags->host[i], expected);
        found += expected;
    }
    return found;
}

static void compare_values(checked *t, const uint64_t *keys, uint64_t n, const array *values)
{
    const uint32_t bits = t->options.value_bits;
    const uint64_t poison = low_bits(POISON_VALUE * UINT64_C(0x0101010101010101), bits);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t expected = poison;
        model_find(t->model, keys[i], &expected);
        check(array_at(values, i, bits) == expected, "key %#llx at %llu has value %#llx, not %#llx",
              (unsigned long long)keys[i], (unsigned long long)i,
              (unsigned long long)array_at(values, i, bits), (unsigned long long)expected);
    }
}

heddle_totals checked_contains(checked *t, const uint64_t *keys, uint64_t n)
{
    lazy_totals totals;
    array key_array = array_of(t->c, ROLE_KEYS, keys, n, t->options.key_bits);
    array flags = array_poisoned(t->c, ROLE_FLAGS, n, POISON_FLAG);
    check_ok(heddle_table_contains(t->table, array_pointer(&key_array), n, array_pointer(&flags),
                                   checked_totals(t, &totals, true), NULL));
    const heddle_totals taken = checked_taken(t, &totals);
    array_pull(&flags);
    check_read_totals(t, &taken, n, compare_flags(t, keys, n, &flags));
    array_free(&key_array);
    array_free(&flags);
    return taken;
}

heddle_totals checked_find(checked *t, const uint64_t *keys, uint64_t n)
{
    lazy_totals totals;
    if (t->options.value_bits == 0) return checked_contains(t, keys, n);
    array key_array = array_of(t->c, ROLE_KEYS, keys, n, t->options.key_bits);
    array values = array_poisoned(t->c, ROLE_VALUES, n * t->options.value_bits / 8, POISON_VALUE);
    array flags = array_poisoned(t->c, ROLE_FLAGS, n, POISON_FLAG);
    check_ok(heddle_table_find(t->table, array_pointer(&key_array), n, array_pointer(&values),
                               array_pointer(&flags), checked_totals(t, &totals, true), NULL));
    const heddle_totals taken = checked_taken(t, &totals);
    array_pull(&values);
    array_pull(&flags);
    check_read_totals(t, &taken, n, compare_flags(t, keys, n, &flags));
    compare_values(t, keys, n, &values);
    array_free(&key_array);
    array_free(&values);
    array_free(&flags);
    return taken;
}

/* Of several equal keys that were there, exactly one is told that it erased. */
static uint64_t compare_erased(checked *t, const uint64_t *keys, uint64_t n, const array *flags)
{
    uint64_t *order = checked_order(keys, n);
    uint64_t erased = 0;
    for (uint64_t first = 0, last; first < n; first = last) {
        const uint64_t key = keys[order[first]];
        uint64_t told = 0;
        for (last = first; last < n && keys[order[last]] == key; last++) {
            const uint8_t flag = flags->host[order[last]];
            check(flag <= 1, "flag of erased key %#llx is %u", (unsigned long long)key, flag);
            told += flag;
        }
        const bool was_there = model_erase(t->model, key);
        check(told == was_there, "%llu of %llu occurrences of key %#llx erased it, not %u",
              (unsigned long long)told, (unsigned long long)(last - first), (unsigned long long)key,
              was_there);
        erased += told;
    }
    free(order);
    return erased;
}

heddle_totals checked_erase(checked *t, const uint64_t *keys, uint64_t n)
{
    lazy_totals totals;
    array key_array = array_of(t->c, ROLE_KEYS, keys, n, t->options.key_bits);
    array flags = array_poisoned(t->c, ROLE_FLAGS, n, POISON_FLAG);
    check_ok(heddle_table_erase(t->table, array_pointer(&key_array), n, array_pointer(&flags),
                                checked_totals(t, &totals, true), NULL));
    const heddle_totals taken = checked_taken(t, &totals);
    array_pull(&flags);
    const uint64_t erased = compare_erased(t, keys, n, &flags);
    check_read_totals(t, &taken, n, erased);
    checked_size(t);
    array_free(&key_array);
    array_free(&flags);
    return taken;
}
