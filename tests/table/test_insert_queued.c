/*
 * test_insert_queued.c: large batches in calls that do not wait, which a GPU brings in by regions with no count read
 * on the way (table/slots/insert_queued.c). What they did is read afterwards, and the content held against
 * a model: into tables that are empty, that hold keys, that had keys erased, with room for all and without;
 * keys that are spread evenly, and all in one region.
 */
#include <stdlib.h>
#include <string.h>

#include "support/arrays.h"
#include "support/checked.h"
#include "support/fills.h"
#include "support/keys.h"
#include "support/tuned.h"

/* Whether a call of this case does not wait, and so goes by regions. */
static bool is_queued(const test_case *c)
{
    return strncmp(c->device_name, "cuda", 4) == 0 && c->arrays == ARRAYS_DEVICE &&
           c->ops->scheme != HEDDLE_SCHEME_SLAB;
}

/* One call that does not wait. Returns its sums. */
static heddle_totals queue(checked *t, const uint64_t *keys, const uint64_t *values, uint64_t n,
                           uint32_t policy, uint64_t workspace)
{
    heddle_totals before = HEDDLE_TOTALS_INIT, totals = HEDDLE_TOTALS_INIT;
    check_ok(heddle_table_take_totals(t->table, &before, NULL));
    const heddle_status status =
        fills_call(t->c, t->table, heddle_table_insert, keys, values, n, policy, workspace, NULL);
    assert_true(status == HEDDLE_OK || status == HEDDLE_ERROR_FULL);
    check_ok(heddle_table_take_totals(t->table, &totals, NULL));
    assert_int_equal(totals.inserted + totals.updated + totals.kept + totals.failed, n);
    return totals;
}

/* The same of keys that all fit. */
static void more(checked *t, const uint64_t *keys, const uint64_t *values, uint64_t n,
                 uint32_t policy, uint64_t workspace)
{
    const uint64_t before = model_size(t->model);
    const heddle_totals totals = queue(t, keys, values, n, policy, workspace);
    t->model = fills_model(t->c, t->model, keys, values, n, policy);
    assert_int_equal(totals.failed, 0);
    assert_int_equal(totals.inserted, model_size(t->model) - before);
    checked_all(t);
}

static void every_key_set_and_policy(const test_case *c)
{
    const uint64_t n = case_size(4001);
    uint64_t *keys = keys_allocate(3 * n), *values = keys_allocate(3 * n), needed = 0;
    for (key_set set = KEYS_RANDOM; set < KEYS_SETS; set++) {
        for (uint32_t policy = 0; policy < FILLS_POLICIES; policy++) {
            const uint64_t queued = hd_tune.region_queued;
            case_note("keys %s, policy %u", keys_name(set), policy);
            keys_fill(keys, 3 * n, set, c->ops->key_bits, 311 + policy);
            fills_values(values, keys, 3 * n, policy);
            heddle_table *table =
                fills_table(c, 3 * n, c->ops->bucket == 1 ? 0.5 : 0.75, HEDDLE_FLAG_FIXED);
            checked t = checked_adopt(c, table, model_create());
            tune_regions(1, UINT32_MAX);
            check_ok(heddle_table_build_workspace(table, n, &needed));
            more(&t, keys, values, n, policy, UINT64_MAX);
            more(&t, keys + n / 2, values + n / 2, n, policy, needed);
            if (is_queued(c)) assert_true(hd_tune.region_queued == queued + 2);
            /* Too little workspace: the library's own. */
            more(&t, keys + 2 * n, values + 2 * n, n, policy, needed / 2);
            checked_erase(&t, keys + n / 3, n);
            more(&t, keys, values, 2 * n, policy, UINT64_MAX);
            checked_clear(&t);
            more(&t, keys + n, values + n, n, policy, UINT64_MAX);
            tune_regions(UINT64_MAX, UINT32_MAX);
            checked_destroy(&t);
        }
    }
    free(keys);
    free(values);
}

/* All keys of a batch go to few regions of many, beside others that are spread evenly. */
static void keys_of_one_region(const test_case *c)
{
    const uint64_t n = case_size(3001);
    heddle_table *table = fills_table(c, 8 * n, 0.8, HEDDLE_FLAG_FIXED);
    checked t = checked_adopt(c, table, model_create());
    uint64_t *keys = keys_allocate(n), *values = keys_allocate(n), state = 313, *pool;
    pool = keys_allocate(50);
    keys_fill(pool, 50, KEYS_RANDOM, c->ops->key_bits, 317);
    tune_regions(1, UINT32_MAX);
    for (uint32_t round = 0; round < 3; round++) {
        keys_fill(keys, n, KEYS_RANDOM, c->ops->key_bits, 331 + round);
        for (uint64_t i = 0; i < n; i++)
            if (keys_below(&state, 4) < round + 1) keys[i] = pool[keys_below(&state, 50 >> round)];
        fills_values(values, keys, n, HEDDLE_POLICY_ADD);
        more(&t, keys, values, n, HEDDLE_POLICY_ADD, UINT64_MAX);
    }
    tune_regions(UINT64_MAX, UINT32_MAX);
    checked_destroy(&t);
    free(keys);
    free(values);
    free(pool);
}

/* More keys than fit: what was there stays, every key that is said to be in is there once, and no other. */
static void too_many_keys(const test_case *c)
{
    heddle_table_stats stats = HEDDLE_TABLE_STATS_INIT;
    heddle_table *table = fills_table(c, case_size(2668), 0.9, HEDDLE_FLAG_FIXED);
    check_ok(heddle_table_get_stats(table, &stats, NULL));
    const uint64_t n = 2 * stats.slots, part = stats.slots * 2 / 5;
    uint64_t *keys = keys_allocate(n), *values = keys_allocate(n), *got = keys_allocate(n);
    uint8_t *found = (uint8_t *)malloc(n);
    checked t = checked_adopt(c, table, model_create());
    keys_fill(keys, n, KEYS_RANDOM, c->ops->key_bits, 337);
    fills_values(values, keys, n, HEDDLE_POLICY_KEEP);
    tune_regions(1, UINT32_MAX);
    for (uint64_t at = 0; at < n; at += part) {
        const uint64_t count = n - at < part ? n - at : part;
        const heddle_totals totals =
            queue(&t, keys + at, values + at, count, HEDDLE_POLICY_KEEP, UINT64_MAX);
        uint64_t there = 0;
        checked_peek(&t, keys + at, count, found, got);
        for (uint64_t i = 0; i < count; i++) {
            if (!found[i]) continue;
            there++;
            model_set(t.model, low_bits(keys[at + i], c->ops->key_bits),
                      low_bits(values[at + i], c->ops->value_bits));
        }
        case_note("%llu of %llu keys", (unsigned long long)(at + count), (unsigned long long)n);
        assert_int_equal(there, totals.inserted);
        checked_all(&t);
    }
    tune_regions(UINT64_MAX, UINT32_MAX);
    checked_destroy(&t);
    free(keys);
    free(values);
    free(got);
    free(found);
}

/* Sizes around those from which a batch goes by regions, as it is chosen by itself. */
static void sizes(const test_case *c)
{
    static const uint64_t some[] = {0, 1, 31, 1000, 4095, 4096, 4097, 16384, 65537};
    for (uint32_t i = 0; i < sizeof some / sizeof *some; i++) {
        const uint64_t n = some[i];
        uint64_t *keys = keys_allocate(2 * n + 1), *values = keys_allocate(2 * n + 1);
        keys_fill(keys, 2 * n, KEYS_RANDOM, c->ops->key_bits, 347 + i);
        fills_values(values, keys, 2 * n, HEDDLE_POLICY_REPLACE);
        heddle_table *table =
            fills_table(c, 2 * n + 16, c->ops->bucket == 1 ? 0.5 : 0.8, HEDDLE_FLAG_FIXED);
        checked t = checked_adopt(c, table, model_create());
        case_note("%llu keys", (unsigned long long)n);
        more(&t, keys, values, n, HEDDLE_POLICY_REPLACE, UINT64_MAX);
        more(&t, keys + n, values + n, n, HEDDLE_POLICY_REPLACE, UINT64_MAX);
        checked_destroy(&t);
        free(keys);
        free(values);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OVER_INSTANCES(every_key_set_and_policy),
        OVER_SLOT_WIDTHS(keys_of_one_region),
        OVER_SLOT_WIDTHS(too_many_keys),
        OVER_SLOT_WIDTHS(sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
