/*
 * test_insert_more.c: large batches for tables that hold keys, which go by regions like those for empty tables.
 * Small batches are made to go that way, and where a test means them to, it looks whether they did.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/tuning.h"
#include "support/arrays.h"
#include "support/checked.h"
#include "support/fills.h"
#include "support/keys.h"
#include "support/tuned.h"
#include "table/slots/regions.h"

/* Whether arrays are such that batches go by regions. */
static bool goes_by_regions(const test_case *c)
{
    return c->arrays == ARRAYS_DEVICE || strncmp(c->device_name, "cpu", 3) == 0;
}

/* Inserts and holds totals and content against the model; `appends`: it has to go by regions. */
static void more(checked *t, const uint64_t *keys, const uint64_t *values, uint64_t n,
                 uint32_t policy, bool appends)
{
    const uint64_t before = model_size(t->model), calls = hd_tune.region_appends;
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    check_ok(fills_call(t->c, t->table, heddle_table_insert, keys, values, n, policy, UINT64_MAX,
                        &totals));
    t->model = fills_model(t->c, t->model, keys, values, n, policy);
    assert_int_equal(totals.inserted, model_size(t->model) - before);
    assert_int_equal(policy == HEDDLE_POLICY_KEEP ? totals.kept : totals.updated,
                     n - totals.inserted);
    assert_int_equal(totals.failed, 0);
    if (appends && goes_by_regions(t->c)) assert_true(hd_tune.region_appends > calls);
    checked_all(t);
}

/* Two batches that overlap, into a table that was filled key by key; then erasures, and more of both. */
static void every_key_set_and_policy(const test_case *c)
{
    const uint64_t n = case_size(3001);
    uint64_t *keys = keys_allocate(3 * n), *values = keys_allocate(3 * n);
    for (key_set set = KEYS_RANDOM; set < KEYS_SETS; set++) {
        for (uint32_t policy = 0; policy < FILLS_POLICIES; policy++) {
            case_note("keys %s, policy %u", keys_name(set), policy);
            keys_fill(keys, 3 * n, set, c->ops->key_bits, 271 + policy);
            fills_values(values, keys, 3 * n, policy);
            checked t = checked_adopt(c, fills_table(c, 3 * n, fills_load(c), 0), model_create());
            checked_insert(&t, keys, values, n, policy);
            tune_regions(1, UINT32_MAX);
            more(&t, keys + n / 2, values + n / 2, n, policy, set < KEYS_DISTINCT);
            more(&t, keys + n, values + n, n, policy, false);
            checked_find(&t, keys, 3 * n);
            checked_erase(&t, keys + n / 3, n);
            more(&t, keys, values, 2 * n, policy, false);
            more(&t, keys + 2 * n, values + 2 * n, n, policy, false);
            checked_insert(&t, keys + n / 4, values + n / 4, n, policy);
            checked_erase(&t, keys, 2 * n);
            checked_all(&t);
            tune_regions(UINT64_MAX, UINT32_MAX);
            checked_destroy(&t);
        }
    }
    free(keys);
    free(values);
}

/* A batch larger than the table, of which most keys are there: parts of it tell that it will fit. */
static void copies_of_what_is_there(const test_case *c)
{
    static const uint32_t crowded[] = {UINT32_MAX, 1};
    const uint64_t distinct = case_size(1501), n = 24 * distinct;
    uint64_t *keys = keys_allocate(n), *values = keys_allocate(n), state = 5;
    keys_fill(keys, distinct, KEYS_RANDOM, c->ops->key_bits, 277);
    for (uint64_t i = distinct; i < n; i++) keys[i] = keys[keys_below(&state, distinct)];
    for (uint32_t i = 0; i < sizeof crowded / sizeof *crowded; i++) {
        for (uint32_t policy = 0; policy < FILLS_POLICIES; policy++) {
            case_note("policy %u, crowded %u", policy, crowded[i]);
            fills_values(values, keys, n, policy);
            checked t =
                checked_adopt(c, fills_table(c, distinct, 0.5, HEDDLE_FLAG_FIXED), model_create());
            tune_regions(1, crowded[i]);
            more(&t, keys, values, n, policy, true);
            more(&t, keys, values, n, policy, true);
            tune_regions(UINT64_MAX, UINT32_MAX);
            checked_destroy(&t);
        }
    }
    free(keys);
    free(values);
}

/* Fuller than some regions can be: pairs without room come in one by one, by growth where it must be. */
static void pairs_without_room(const test_case *c)
{
    static const double loads[] = {0.6, 0.8, 0.93};
    const uint64_t before = hd_tune.region_listed;
    for (uint32_t round = 0; round < 36; round++) {
        heddle_table_stats stats = HEDDLE_TABLE_STATS_INIT;
        heddle_table *table = fills_table(c, 300, 0.5, 0);
        check_ok(heddle_table_get_stats(table, &stats, NULL));
        const uint64_t n = (uint64_t)(loads[round % 3] * (double)stats.slots), half = n / 2;
        uint64_t *keys = keys_allocate(n), *values = keys_allocate(n);
        keys_fill(keys, n, KEYS_RANDOM, c->ops->key_bits, 281 + round);
        fills_values(values, keys, n, HEDDLE_POLICY_ADD);
        case_note("round %u, %llu keys in %llu slots", round, (unsigned long long)n,
                  (unsigned long long)stats.slots);
        checked t = checked_adopt(c, table, model_create());
        tune_regions(1, UINT32_MAX);
        more(&t, keys, values, half, HEDDLE_POLICY_ADD, false);
        more(&t, keys + half, values + half, n - half, HEDDLE_POLICY_ADD, false);
        tune_regions(UINT64_MAX, UINT32_MAX);
        checked_destroy(&t);
        free(keys);
        free(values);
    }
    if (goes_by_regions(c)) check(hd_tune.region_listed > before, "no pair was without room");
}

/* Too many keys for a fixed table: what was there stays, and what does not fit is counted. */
static void too_many_keys(const test_case *c)
{
    heddle_table *table = fills_table(c, case_size(2668), 0.9, HEDDLE_FLAG_FIXED);
    heddle_table_stats stats = HEDDLE_TABLE_STATS_INIT;
    check_ok(heddle_table_get_stats(table, &stats, NULL));
    const uint64_t first = stats.slots / 3, n = 2 * stats.slots;
    uint64_t *keys = keys_allocate(n), *values = keys_allocate(n), size = 0;
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    keys_fill(keys, n, KEYS_RANDOM, c->ops->key_bits, 283);
    fills_values(values, keys, n, HEDDLE_POLICY_KEEP);
    tune_regions(1, UINT32_MAX);
    checked t = checked_adopt(c, table, model_create());
    more(&t, keys, values, first, HEDDLE_POLICY_KEEP, false);
    for (uint64_t at = first, part = stats.slots * 3 / 5; at < n; at += part) {
        const uint64_t count = n - at < part ? n - at : part;
        const heddle_status status =
            fills_call(c, table, heddle_table_insert, keys + at, values + at, count,
                       HEDDLE_POLICY_KEEP, UINT64_MAX, &totals);
        assert_true(status == (totals.failed != 0 ? HEDDLE_ERROR_FULL : HEDDLE_OK));
        assert_int_equal(totals.inserted + totals.failed, count);
        uint8_t *found = (uint8_t *)malloc(count);
        uint64_t *got = keys_allocate(count), there = 0;
        checked_peek(&t, keys + at, count, found, got);
        for (uint64_t i = 0; i < count; i++) {
            if (!found[i]) continue;
            there++;
            model_set(t.model, low_bits(keys[at + i], c->ops->key_bits),
                      low_bits(values[at + i], c->ops->value_bits));
        }
        assert_int_equal(there, totals.inserted);
        free(found);
        free(got);
        checked_all(&t);
    }
    check_ok(heddle_table_size(table, &size, NULL));
    assert_true(size > stats.slots / 2);
    tune_regions(UINT64_MAX, UINT32_MAX);
    checked_destroy(&t);
    free(keys);
    free(values);
}

/* Pairs of a scheme that never moves them stay where they are. */
static void handles_stay(const test_case *c)
{
    const uint64_t n = case_size(3001);
    if (c->ops->scheme != HEDDLE_SCHEME_ICEBERG) return;
    uint64_t *keys = keys_allocate(3 * n), *values = keys_allocate(3 * n);
    keys_fill(keys, 3 * n, KEYS_RANDOM, c->ops->key_bits, 289);
    fills_values(values, keys, 3 * n, HEDDLE_POLICY_KEEP);
    checked t = checked_adopt(c, fills_table(c, 3 * n, 0.85, HEDDLE_FLAG_FIXED), model_create());
    checked_insert(&t, keys, values, n, HEDDLE_POLICY_KEEP);
    array k = array_of(c, ROLE_KEYS, keys, n, c->ops->key_bits);
    array before = array_poisoned(c, ROLE_VALUES, n * 8, 0xab);
    array after = array_poisoned(c, ROLE_VALUES, n * 8, 0xcd);
    check_ok(heddle_table_locate(t.table, array_pointer(&k), n, (uint64_t *)array_pointer(&before),
                                 NULL, NULL));
    tune_regions(1, UINT32_MAX);
    more(&t, keys + n, values + n, 2 * n, HEDDLE_POLICY_KEEP, true);
    tune_regions(UINT64_MAX, UINT32_MAX);
    check_ok(heddle_table_locate(t.table, array_pointer(&k), n, (uint64_t *)array_pointer(&after),
                                 NULL, NULL));
    array_pull(&before);
    array_pull(&after);
    assert_memory_equal(before.host, after.host, n * 8);
    array_free(&k);
    array_free(&before);
    array_free(&after);
    checked_destroy(&t);
    free(keys);
    free(values);
}

/* Small regions with keys, some of them erased, and several pairs of every key. */
static void copies_in_small_regions(const test_case *c)
{
    uint64_t state = 293, pool[96], *keys = keys_allocate(4096), *values = keys_allocate(4096);
    for (uint32_t round = 0; round < case_size(200); round++) {
        const uint32_t policy = round % FILLS_POLICIES;
        const uint64_t distinct = 2 + keys_below(&state, 94);
        const uint64_t n = distinct * (1 + keys_below(&state, 32));
        case_note("round %u, policy %u, %llu keys, %llu pairs", round, policy,
                  (unsigned long long)distinct, (unsigned long long)n);
        keys_fill(pool, distinct, KEYS_RANDOM, c->ops->key_bits, round);
        for (uint64_t i = 0; i < n; i++) keys[i] = pool[keys_below(&state, distinct)];
        fills_values(values, keys, n, policy);
        checked t = checked_adopt(c, fills_table(c, distinct, 0.8, 0), model_create());
        const uint64_t half = n / 2;
        checked_insert(&t, pool, pool, distinct / 2, HEDDLE_POLICY_KEEP);
        if (round % 3 == 0) checked_erase(&t, pool, distinct / 4);
        tune_regions(1, UINT32_MAX);
        more(&t, keys, values, half, policy, false);
        more(&t, keys + half, values + half, n - half, policy, false);
        tune_regions(UINT64_MAX, UINT32_MAX);
        checked_destroy(&t);
    }
    free(keys);
    free(values);
}

/* Memory that cannot be had makes an insertion slower, or part of it fail, never wrong. */
static void without_memory(const test_case *c)
{
    const uint64_t n = case_size(9001), first = n / 3;
    uint64_t *keys = keys_allocate(n), *values = keys_allocate(n);
    bool struck = true;
    keys_fill(keys, n, KEYS_ZIPF, c->ops->key_bits, 307);
    fills_values(values, keys, n, HEDDLE_POLICY_ADD);
    model *before = fills_model(c, NULL, keys, values, first, HEDDLE_POLICY_ADD);
    model *m = fills_model(c, NULL, keys, values, n, HEDDLE_POLICY_ADD);
    for (uint64_t at = 1; struck; at++) {
        heddle_table *table = fills_table(c, model_size(m), 0.5, HEDDLE_FLAG_FIXED);
        heddle_totals totals = HEDDLE_TOTALS_INIT;
        case_note("the %llu-th allocation fails", (unsigned long long)at);
        check_ok(fills_call(c, table, heddle_table_insert, keys, values, first, HEDDLE_POLICY_ADD,
                            UINT64_MAX, NULL));
        array k = array_of(c, ROLE_KEYS, keys + first, n - first, c->ops->key_bits);
        array v = array_of(c, ROLE_VALUES, values + first, n - first, c->ops->value_bits);
        heddle_insert_options options = HEDDLE_INSERT_OPTIONS_INIT;
        options.policy = HEDDLE_POLICY_ADD;
        tune_regions(1, 1);
        hd_fault_arm(at);
        const heddle_status status = heddle_table_insert(
            table, array_pointer(&k), array_pointer(&v), n - first, &options, &totals, NULL);
        struck = hd_fault_struck();
        hd_fault_arm(0);
        tune_regions(UINT64_MAX, UINT32_MAX);
        assert_true(status == HEDDLE_OK || (struck && status == HEDDLE_ERROR_NO_MEMORY));
        if (status == HEDDLE_OK) checked_export(c, table, m);
        else if (totals.inserted + totals.updated == 0) checked_export(c, table, before);
        if (status == HEDDLE_OK) assert_int_equal(totals.inserted + totals.updated, n - first);
        check_ok(heddle_table_validate(table, NULL));
        array_free(&k);
        array_free(&v);
        heddle_table_destroy(table);
    }
    model_destroy(m);
    model_destroy(before);
    free(keys);
    free(values);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OVER_INSTANCES(every_key_set_and_policy),
        OVER_INSTANCES(copies_of_what_is_there),
        OVER_INSTANCES(pairs_without_room),
        OVER_INSTANCES(too_many_keys),
        OVER_INSTANCES(handles_stay),
        OVER_INSTANCES(copies_in_small_regions),
        OVER_SLOT_WIDTHS(without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
