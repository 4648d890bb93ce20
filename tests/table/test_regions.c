/*
 * test_regions.c: builds by regions. Small batches are made to go that way, and few pairs to count as
 * a crowd; what a table then holds is compared with the model, and the usual calls go on with it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "support/arrays.h"
#include "support/checked.h"
#include "support/fills.h"
#include "support/keys.h"
#include "support/tuned.h"
#include "table/slots/regions.h"

/* Fills the table, checks totals and content, and hands it over with its model. */
static checked fill_checked(const test_case *c, heddle_table *table, fills_function call,
                            const uint64_t *keys, const uint64_t *values, uint64_t n,
                            uint32_t policy, uint64_t workspace)
{
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    model *m = fills_model(c, NULL, keys, values, n, policy);
    check_ok(fills_call(c, table, call, keys, values, n, policy, workspace, &totals));
    assert_int_equal(totals.inserted, model_size(m));
    assert_int_equal(policy == HEDDLE_POLICY_KEEP ? totals.kept : totals.updated,
                     n - model_size(m));
    assert_int_equal(totals.failed, 0);
    checked t = checked_adopt(c, table, m);
    checked_all(&t);
    return t;
}

static void every_key_set_and_policy(const test_case *c)
{
    const uint64_t n = case_size(3001);
    uint64_t *keys = keys_allocate(2 * n), *values = keys_allocate(2 * n);
    tune_regions(1, UINT32_MAX);
    for (key_set set = KEYS_RANDOM; set < KEYS_SETS; set++) {
        for (uint32_t policy = 0; policy < FILLS_POLICIES; policy++) {
            case_note("keys %s, policy %u", keys_name(set), policy);
            keys_fill(keys, 2 * n, set, c->ops->key_bits, 171 + policy);
            fills_values(values, keys, 2 * n, policy);
            checked t = fill_checked(c, fills_table(c, n, fills_load(c), 0), heddle_table_build,
                                     keys, values, n, policy, UINT64_MAX);
            /* the usual calls, over the marks that a build leaves */
            checked_find(&t, keys, 2 * n);
            checked_erase(&t, keys, n / 2);
            checked_insert(&t, keys + n / 4, values + n / 4, n, policy);
            checked_all(&t);
            checked_destroy(&t);
        }
    }
    tune_regions(UINT64_MAX, UINT32_MAX);
    free(keys);
    free(values);
}

/* More regions than one pass of a partition tells apart, and sizes around those of its tiles. */
static void many_sizes(const test_case *c)
{
    static const uint64_t sizes[] = {1, 2, 31, 1023, 4097, 8191, 8193, 150001, 1100003};
    const uint64_t most = case_quick() ? 8193 : 1100003;
    uint64_t *keys = keys_allocate(most), *values = keys_allocate(most);
    tune_regions(1, UINT32_MAX);
    keys_fill(keys, most, KEYS_RANDOM, c->ops->key_bits, 177);
    fills_values(values, keys, most, HEDDLE_POLICY_KEEP);
    for (uint32_t i = 0; i < sizeof sizes / sizeof *sizes && sizes[i] <= most; i++) {
        case_note("n %llu", (unsigned long long)sizes[i]);
        checked t = fill_checked(c, fills_table(c, sizes[i], fills_load(c), 0), heddle_table_build,
                                 keys, values, sizes[i], HEDDLE_POLICY_KEEP, UINT64_MAX);
        checked_destroy(&t);
    }
    tune_regions(UINT64_MAX, UINT32_MAX);
    free(keys);
    free(values);
}

/* Less workspace than asked for: slices; next to none: no regions. The answers are the same. */
static void short_workspace(const test_case *c)
{
    const uint64_t n = case_size(20011);
    uint64_t *keys = keys_allocate(n), *values = keys_allocate(n), bytes = 0;
    tune_regions(1, UINT32_MAX);
    keys_fill(keys, n, KEYS_TWICE, c->ops->key_bits, 181);
    for (uint32_t policy = 0; policy < FILLS_POLICIES; policy++) {
        static const uint32_t percent[] = {100, 99, 60, 40, 25, 0};
        fills_values(values, keys, n, policy);
        for (uint32_t i = 0; i < sizeof percent / sizeof *percent; i++) {
            heddle_table *table = fills_table(c, n, fills_load(c), 0);
            check_ok(heddle_table_build_workspace(table, n, &bytes));
            assert_true(bytes >= n * (c->ops->key_bits + c->ops->value_bits) / 8);
            case_note("policy %u, %u percent of %llu bytes", policy, percent[i],
                      (unsigned long long)bytes);
            checked t = fill_checked(c, table, heddle_table_build, keys, values, n, policy,
                                     bytes / 100 * percent[i]);
            checked_destroy(&t);
        }
    }
    tune_regions(UINT64_MAX, UINT32_MAX);
    free(keys);
    free(values);
}

/* Many copies of few keys: regions are folded before they are filled. */
static void crowded_regions(const test_case *c)
{
    static const key_set sets[] = {KEYS_EQUAL, KEYS_ZEROS, KEYS_ZIPF, KEYS_TWICE};
    const uint64_t n = case_size(40009);
    uint64_t *keys = keys_allocate(n), *values = keys_allocate(n);
    tune_regions(1, 1);
    for (uint32_t s = 0; s < sizeof sets / sizeof *sets; s++) {
        for (uint32_t policy = 0; policy < FILLS_POLICIES; policy++) {
            case_note("keys %s, policy %u", keys_name(sets[s]), policy);
            keys_fill(keys, n, sets[s], c->ops->key_bits, 187);
            fills_values(values, keys, n, policy);
            model *m = fills_model(c, NULL, keys, values, n, policy);
            const uint64_t distinct = model_size(m);
            model_destroy(m);
            /* room for the distinct keys alone: each region gets far more pairs than it has slots */
            checked t = fill_checked(c, fills_table(c, distinct, 0.5, HEDDLE_FLAG_FIXED),
                                     heddle_table_build, keys, values, n, policy, UINT64_MAX);
            checked_destroy(&t);
        }
    }
    tune_regions(UINT64_MAX, UINT32_MAX);
    free(keys);
    free(values);
}

/*
 * Few buckets and several pairs of every key: equal keys meet in their first bucket, behind it, and
 * behind one that is full of copies of a single key, and some regions get more pairs than they have
 * slots and places to wait. A CPU takes the pairs of a key in their order, so there the values differ.
 */
static void copies_in_small_regions(const test_case *c)
{
    const bool in_order = strncmp(c->device_name, "cpu", 3) == 0;
    uint64_t state = 211, pool[64], *keys = keys_allocate(2048), *values = keys_allocate(2048);
    tune_regions(1, UINT32_MAX);
    for (uint32_t round = 0; round < case_size(200); round++) {
        const uint32_t policy = round % FILLS_POLICIES;
        const uint64_t distinct = 1 + keys_below(&state, 64);
        const uint64_t n = distinct * (1 + keys_below(&state, 32));
        heddle_table_options options = case_options(c);
        heddle_table *table = NULL;
        case_note("round %u, policy %u, %llu keys, %llu pairs", round, policy,
                  (unsigned long long)distinct, (unsigned long long)n);
        keys_fill(pool, distinct, KEYS_RANDOM, c->ops->key_bits, round);
        for (uint64_t i = 0; i < n; i++) keys[i] = pool[keys_below(&state, distinct)];
        if (in_order) keys_fill_values(values, n, round);
        else fills_values(values, keys, n, policy);
        options.capacity = 2 * distinct;
        options.load = 0.5;
        options.seed = round + 1; /* always the same tables, in which all keys find room */
        options.flags = HEDDLE_FLAG_FIXED;
        check_ok(heddle_table_create(c->device, &options, &table));
        checked t = fill_checked(c, table, heddle_table_build, keys, values, n, policy, UINT64_MAX);
        check_ok(heddle_table_validate(table, NULL));
        checked_destroy(&t);
    }
    tune_regions(UINT64_MAX, UINT32_MAX);
    free(keys);
    free(values);
}

/* A build empties the regions that it has nothing for, too. */
static void one_key_after_many(const test_case *c)
{
    const uint64_t n = case_size(3001);
    uint64_t *keys = keys_allocate(n), *values = keys_allocate(n);
    tune_regions(1, UINT32_MAX);
    heddle_table *table = fills_table(c, n, fills_load(c), 0);
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    keys_fill(keys, n, KEYS_RANDOM, c->ops->key_bits, 193);
    keys_fill_values(values, n, 193);
    check_ok(fills_call(c, table, heddle_table_build, keys, values, n, HEDDLE_POLICY_KEEP,
                        UINT64_MAX, &totals));
    keys_fill(keys, n, KEYS_ZEROS, c->ops->key_bits, 193);
    fills_values(values, keys, n, HEDDLE_POLICY_KEEP);
    checked t =
        fill_checked(c, table, heddle_table_build, keys, values, n, HEDDLE_POLICY_KEEP, UINT64_MAX);
    checked_destroy(&t);
    tune_regions(UINT64_MAX, UINT32_MAX);
    free(keys);
    free(values);
}

/* An insertion into an empty table goes the same way. */
static void insert_into_empty(const test_case *c)
{
    const uint64_t n = case_size(5003);
    uint64_t *keys = keys_allocate(2 * n), *values = keys_allocate(2 * n);
    tune_regions(1, UINT32_MAX);
    keys_fill(keys, 2 * n, KEYS_RANDOM, c->ops->key_bits, 191);
    fills_values(values, keys, 2 * n, HEDDLE_POLICY_ADD);
    checked t = fill_checked(c, fills_table(c, 2 * n, fills_load(c), 0), heddle_table_insert, keys,
                             values, n, HEDDLE_POLICY_ADD, UINT64_MAX);
    checked_insert(&t, keys + n / 2, values + n / 2, n, HEDDLE_POLICY_ADD);
    checked_all(&t);
    checked_erase(&t, keys, 2 * n);
    assert_int_equal(model_size(t.model), 0);
    heddle_table *table = t.table; /* empty again, with the marks of what was there */
    model_destroy(t.model);
    t = fill_checked(c, table, heddle_table_insert, keys + n / 3, values + n / 3, n,
                     HEDDLE_POLICY_MAX, UINT64_MAX);
    checked_destroy(&t);
    tune_regions(UINT64_MAX, UINT32_MAX);
    free(keys);
    free(values);
}

/* Too many keys for a fixed table: what does not fit is reported, the rest is there. Small tables are
   larger than asked, so the slots that were made say how many are too many. */
static void too_many_keys(const test_case *c)
{
    heddle_table *table = fills_table(c, case_size(1334), 0.9, HEDDLE_FLAG_FIXED);
    heddle_table_stats stats = HEDDLE_TABLE_STATS_INIT;
    check_ok(heddle_table_get_stats(table, &stats, NULL));
    const uint64_t n = stats.slots + stats.slots / 2;
    uint64_t *keys = keys_allocate(n), *values = keys_allocate(n), size = 0;
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    tune_regions(1, UINT32_MAX);
    keys_fill(keys, n, KEYS_RANDOM, c->ops->key_bits, 193);
    keys_fill_values(values, n, 193);
    check_status(fills_call(c, table, heddle_table_build, keys, values, n, HEDDLE_POLICY_KEEP,
                            UINT64_MAX, &totals),
                 HEDDLE_ERROR_FULL);
    check_ok(heddle_table_size(table, &size, NULL));
    assert_int_equal(totals.inserted, size);
    assert_int_equal(totals.inserted + totals.failed, n);
    check_ok(heddle_table_validate(table, NULL));
    heddle_table_destroy(table);
    tune_regions(UINT64_MAX, UINT32_MAX);
    free(keys);
    free(values);
}

/* Memory that cannot be had makes a build slower or refuses it, never wrong. */
static void without_memory(const test_case *c)
{
    const uint64_t n = case_size(9001);
    uint64_t *keys = keys_allocate(n), *values = keys_allocate(n);
    bool struck = true;
    tune_regions(1, 1);
    keys_fill(keys, n, KEYS_ZIPF, c->ops->key_bits, 197);
    fills_values(values, keys, n, HEDDLE_POLICY_ADD);
    model *m = fills_model(c, NULL, keys, values, n, HEDDLE_POLICY_ADD);
    for (uint64_t at = 1; struck; at++) {
        heddle_table *table = fills_table(c, model_size(m), 0.5, HEDDLE_FLAG_FIXED);
        array k = array_of(c, ROLE_KEYS, keys, n, c->ops->key_bits);
        array v = array_of(c, ROLE_VALUES, values, n, c->ops->value_bits);
        heddle_insert_options options = HEDDLE_INSERT_OPTIONS_INIT;
        options.policy = HEDDLE_POLICY_ADD;
        case_note("the %llu-th allocation fails", (unsigned long long)at);
        hd_fault_arm(at);
        const heddle_status status = heddle_table_build(table, array_pointer(&k), array_pointer(&v),
                                                        n, &options, NULL, NULL);
        struck = hd_fault_struck();
        hd_fault_arm(0);
        assert_true(status == HEDDLE_OK || (struck && status == HEDDLE_ERROR_NO_MEMORY));
        if (status == HEDDLE_OK) checked_export(c, table, m);
        array_free(&k);
        array_free(&v);
        heddle_table_destroy(table);
    }
    model_destroy(m);
    tune_regions(UINT64_MAX, UINT32_MAX);
    free(keys);
    free(values);
}

static void workspace_query(const test_case *c)
{
    heddle_table *table = fills_table(c, 1000, 0.5, 0);
    uint64_t bytes = 1, more = 1;
    check_status(heddle_table_build_workspace(NULL, 1, &bytes), HEDDLE_ERROR_INVALID);
    check_status(heddle_table_build_workspace(table, 1, NULL), HEDDLE_ERROR_INVALID);
    check_status(heddle_table_build_workspace(table, UINT64_MAX, &bytes), HEDDLE_ERROR_NO_MEMORY);
    check_ok(heddle_table_build_workspace(table, 0, &bytes));
    assert_int_equal(bytes, 0);
    check_ok(heddle_table_build_workspace(table, 1, &bytes));
    assert_int_equal(bytes, 0); /* not worth it */
    check_ok(heddle_table_build_workspace(table, UINT64_C(1) << 20, &bytes));
    check_ok(heddle_table_build_workspace(table, UINT64_C(1) << 21, &more));
    assert_true(more >= bytes);
    heddle_table_destroy(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OVER_TABLES(every_key_set_and_policy), OVER_WIDTHS(many_sizes),
        OVER_SLOT_WIDTHS(short_workspace),     OVER_TABLES(crowded_regions),
        OVER_TABLES(one_key_after_many),       OVER_INSTANCES(copies_in_small_regions),
        OVER_TABLES(insert_into_empty),        OVER_INSTANCES(too_many_keys),
        OVER_SLOT_WIDTHS(without_memory),      OVER_SLOT_WIDTHS(workspace_query),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
