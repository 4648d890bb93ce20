/*
 * test_shelf.c: shelves against a plain model: every kind of table, with so little memory that a few thousand
 * keys need dozens of parts and batches are sorted in files, and with so much that there is one part.
 */
#include <stdlib.h>
#include <string.h>

#include "support/keys.h"
#include "support/shelf_model.h"
#include "table/slots/geometry.h"

#define LITTLE 12000 /* bytes: some hundred pairs a part */
#define MUCH (UINT64_C(1) << 28)
#define KEYS 4000

static uint64_t *keys, *values;

static void fill_arrays(const shared_kind *kind, uint64_t n, key_set set, uint64_t batch)
{
    free(keys);
    free(values);
    keys = keys_allocate(n + 1);
    values = keys_allocate(n + 1);
    keys_fill(keys, n, set, kind->key_bits, 7 + batch);
    if (kind->container == HEDDLE_CONTAINER_MULTIMAP) keys_fill_values(values, n, batch);
    else shared_values(values, keys, n, batch);
}

static const uint64_t *values_for(const shared_kind *kind)
{
    return kind->value_bits != 0 ? values : NULL;
}

/* ------------------------------------------------------------------------------------ all calls */

static void life_of(const shared_kind *kind, const char *device, uint64_t memory)
{
    const uint64_t n = case_size(KEYS);
    shelved s = shelved_create(kind, device, memory);
    fill_arrays(kind, 2 * n, KEYS_RANDOM, 1);
    shelved_check(&s);
    shelved_look(&s, keys, 100);
    shelved_build(&s, keys, values_for(kind), n / 2, false);
    shelved_check(&s);
    shelved_insert(&s, keys + n / 4, values_for(kind) != NULL ? values + n / 4 : NULL, n / 2,
                   HEDDLE_POLICY_KEEP, true);
    shelved_check(&s);
    shelved_look(&s, keys, n);
    shelved_reopen(&s);
    shelved_check(&s);
    shelved_insert(&s, keys + n / 2, values_for(kind) != NULL ? values + n / 2 : NULL, n,
                   HEDDLE_POLICY_KEEP, false);
    shelved_erase(&s, keys + n / 3, n / 2);
    shelved_check(&s);
    shelved_look(&s, keys, 2 * n);
    shelved_erase(&s, keys, 2 * n);
    shelved_check(&s);
    assert_int_equal(s.model.size, 0);
    shelved_build(&s, keys + n, values_for(kind) != NULL ? values + n : NULL, n, true);
    shelved_check(&s);
    check_ok(heddle_shelf_clear(s.shelf));
    s.model.size = 0;
    shelved_check(&s);
    shelved_destroy(&s);
}

static void with_little_memory(const shared_kind *kind, const char *device)
{
    life_of(kind, device, LITTLE);
}
static void with_much_memory(const shared_kind *kind, const char *device)
{
    life_of(kind, device, MUCH);
}
static void shelves_with_little_memory(void **state)
{
    (void)state;
    shelved_run(with_little_memory);
}
static void shelves_with_much_memory(void **state)
{
    (void)state;
    shelved_run(with_much_memory);
}

/* ---------------------------------------------------------------------------------------- parts */

/* Small batches make a shelf grow from one part to dozens; none is larger than it may be. */
static void grow(const shared_kind *kind, const char *device)
{
    const uint64_t n = case_quick() ? KEYS / 2 : KEYS, batch = 400;
    shelved s = shelved_create(kind, device, LITTLE);
    fill_arrays(kind, n, KEYS_EDGES, 2);
    for (uint64_t i = 0; i + batch <= n; i += batch) {
        shelved_insert(&s, keys + i, values_for(kind) != NULL ? values + i : NULL, batch,
                       HEDDLE_POLICY_KEEP, i % 800 == 0);
        const heddle_shelf_stats stats = shelved_stats(&s);
        check(stats.keys_most <= stats.keys_limit, "a part has %llu keys, more than %llu",
              (unsigned long long)stats.keys_most, (unsigned long long)stats.keys_limit);
    }
    const heddle_shelf_stats stats = shelved_stats(&s);
    check(stats.parts >= n / 400 && stats.divided > 0, "%u parts, %llu divided", stats.parts,
          (unsigned long long)stats.divided);
    check(stats.keys / stats.parts > stats.keys_limit / 4, "parts are nearly empty: %u of them",
          stats.parts);
    shelved_check(&s);
    shelved_look(&s, keys, n);
    shelved_reopen(&s);
    shelved_check(&s);
    shelved_destroy(&s);
}
static void shelves_grow(void **state)
{
    (void)state;
    shelved_run(grow);
}

/* Rows that repeat do not make more parts than their keys need; those of one key stay together. */
static void repeat(const shared_kind *kind, const char *device)
{
    static const key_set sets[] = {KEYS_EQUAL, KEYS_TWICE, KEYS_ZIPF, KEYS_ZEROS, KEYS_ONES};
    const uint64_t n = case_quick() ? 1200 : KEYS;
    const bool many = kind->container == HEDDLE_CONTAINER_MULTIMAP;
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
        case_note("%s, %s", kind->name, keys_name(sets[i]));
        shelved s = shelved_create(kind, device, LITTLE);
        fill_arrays(kind, n, sets[i], 3);
        shelved_build(&s, keys, values_for(kind), n / 2, i % 2 == 0);
        shelved_insert(&s, keys + n / 2, values_for(kind) != NULL ? values + n / 2 : NULL, n / 2,
                       HEDDLE_POLICY_KEEP, i % 2 != 0);
        const heddle_shelf_stats stats = shelved_stats(&s);
        check(many || stats.keys > stats.keys_limit || stats.parts == 1, "%llu keys in %u parts",
              (unsigned long long)stats.keys, stats.parts);
        shelved_check(&s);
        shelved_look(&s, keys, n);
        shelved_erase(&s, keys, 10);
        shelved_check(&s);
        shelved_destroy(&s);
    }
}
static void rows_repeat(void **state)
{
    (void)state;
    shelved_run(repeat);
}

/* Policies hold between the rows of a batch and the pairs there. */
static void policies(const shared_kind *kind, const char *device)
{
    static const uint32_t all[] = {HEDDLE_POLICY_KEEP, HEDDLE_POLICY_REPLACE, HEDDLE_POLICY_ADD,
                                   HEDDLE_POLICY_MIN, HEDDLE_POLICY_MAX};
    if (kind->container != HEDDLE_CONTAINER_MAP) return;
    shelved s = shelved_create(kind, device, LITTLE);
    for (uint32_t i = 0; i < 5; i++) {
        fill_arrays(kind, KEYS / 2, KEYS_TWICE, 4);
        shared_values(values, keys, KEYS / 2, i);
        shelved_insert(&s, keys, values, KEYS / 2, all[i], true);
        shelved_check(&s);
    }
    shelved_destroy(&s);
}
static void policies_hold(void **state)
{
    (void)state;
    shelved_run(policies);
}

/* A counter counts without values, too. */
static void counters_count(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < shared_kind_count; k++) {
        const shared_kind *kind = &shared_kinds[k];
        if (kind->container != HEDDLE_CONTAINER_COUNTER || kind->key_bits != 32) continue;
        shelved s = shelved_create(kind, "cpu:2", LITTLE);
        fill_arrays(kind, KEYS, KEYS_ZIPF, 5);
        shelved_build(&s, keys, NULL, KEYS, false);
        shelved_insert(&s, keys, NULL, KEYS, HEDDLE_POLICY_ADD, false);
        shelved_check(&s);
        shelved_look(&s, keys, KEYS);
        shelved_destroy(&s);
    }
}

/* ------------------------------------------------------------------------------------- the seams */

/* The least memory there is, sizes around a slice, and no rows at all. */
static void odd_sizes(void **state)
{
    static const uint64_t sizes[] = {0, 1, 2, 63, 64, 65, 127, 128, 129, 1000};
    const shared_kind *kind = &shared_kinds[0];
    (void)state;
    shelved s = shelved_create(kind, "cpu:1", 4096);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        fill_arrays(kind, sizes[i] + 1, KEYS_RANDOM, 6 + i);
        shelved_insert(&s, keys, values, sizes[i], HEDDLE_POLICY_KEEP, true);
        shelved_look(&s, keys, sizes[i] + 1);
        shelved_erase(&s, keys, sizes[i] / 3);
        shelved_check(&s);
    }
    check(shelved_stats(&s).bytes_spilled != 0, "no batch was sorted in a file");
    shelved_build(&s, keys, values, 0, false);
    shelved_check(&s);
    shelved_destroy(&s);
}

/* Keys whose hashes begin alike need borders of more bits than can be counted in one pass. */
static void deep_borders(void **state)
{
    const shared_kind *kind = &shared_kinds[0];
    const uint64_t n = 400;
    hd_mix mix;
    (void)state;
    shelved s = shelved_create(kind, "cpu:2", 4096);
    free(keys);
    free(values);
    keys = keys_allocate(n);
    values = keys_allocate(n);
    hd_mix_init(&mix, s.options.seed);
    for (uint64_t i = 0, key = 0; i < n; key++) { /* the bijection of hash.h for 32 bits */
        uint32_t mixed = (uint32_t)key + (uint32_t)mix.add;
        mixed ^= mixed >> 16;
        mixed *= (uint32_t)mix.mul[0];
        mixed ^= mixed >> 15;
        mixed *= (uint32_t)mix.mul[1];
        mixed ^= mixed >> 16;
        if (mixed >> 20 == 0xabc) keys[i++] = key;
    }
    shared_values(values, keys, n, 1);
    for (uint64_t i = 0; i < n; i += 20)
        shelved_insert(&s, keys + i, values + i, 20, HEDDLE_POLICY_KEEP, false);
    shelved_check(&s);
    const heddle_shelf_stats before = shelved_stats(&s);
    fill_arrays(kind, 20000, KEYS_RANDOM, 9);
    shelved_insert(&s, keys, values, 20000, HEDDLE_POLICY_KEEP, true);
    shelved_insert(&s, keys, values, 2000, HEDDLE_POLICY_REPLACE, false);
    shelved_look(&s, keys, 3000);
    shelved_check(&s);
    check(before.parts > 1 && shelved_stats(&s).parts > before.parts, "too few parts: %u",
          before.parts);
    shelved_reopen(&s);
    shelved_check(&s);
    shelved_destroy(&s);
}

/* With memory for all of it, parts stay in memory and are read from no file again. */
static void parts_stay(void **state)
{
    const shared_kind *kind = &shared_kinds[0];
    (void)state;
    shelved s = shelved_create(kind, "cpu:1", MUCH);
    fill_arrays(kind, KEYS, KEYS_RANDOM, 10);
    shelved_build(&s, keys, values, KEYS, false);
    shelved_look(&s, keys, KEYS);
    shelved_insert(&s, keys, values, KEYS, HEDDLE_POLICY_REPLACE, false);
    const heddle_shelf_stats stats = shelved_stats(&s);
    assert_int_equal(stats.parts, 1);
    assert_int_equal(stats.parts_loaded, 1);
    assert_int_equal(stats.bytes_read, 0);
    assert_int_equal(stats.bytes_spilled, 0);
    shelved_reopen(&s);
    shelved_look(&s, keys, KEYS);
    check(shelved_stats(&s).bytes_read != 0, "nothing was read");
    shelved_destroy(&s);
}

/* An erasure of nothing writes nothing; one of one key writes one part. */
static void erasures_write_what_changes(void **state)
{
    const shared_kind *kind = &shared_kinds[0];
    (void)state;
    shelved s = shelved_create(kind, "cpu:1", LITTLE);
    fill_arrays(kind, 2 * KEYS, KEYS_RANDOM, 11);
    shelved_build(&s, keys, values, KEYS, false);
    const uint64_t before = shelved_stats(&s).bytes_written;
    shelved_erase(&s, keys + KEYS, KEYS);
    assert_int_equal(shelved_stats(&s).bytes_written, before);
    shelved_erase(&s, keys + 5, 1);
    const heddle_shelf_stats stats = shelved_stats(&s);
    check(stats.bytes_written - before < 2 * stats.bytes_files / stats.parts,
          "%llu bytes were written", (unsigned long long)(stats.bytes_written - before));
    shelved_check(&s);
    shelved_destroy(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {ONCE(shelves_with_little_memory),
                                       ONCE(shelves_with_much_memory),
                                       ONCE(shelves_grow),
                                       ONCE(rows_repeat),
                                       ONCE(policies_hold),
                                       ONCE(counters_count),
                                       ONCE(odd_sizes),
                                       ONCE(deep_borders),
                                       ONCE(parts_stay),
                                       ONCE(erasures_write_what_changes)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(keys);
    free(values);
    return failed;
}
