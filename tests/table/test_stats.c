/* test_stats.c: heddle_table_get_stats, heddle_table_take_totals, and how much memory a table
 * takes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/arrays.h"
#include "support/checked.h"
#include "support/keys.h"

static heddle_table_stats stats_of(const checked *t)
{
    heddle_table_stats stats = HEDDLE_TABLE_STATS_INIT;
    check_ok(heddle_table_get_stats(t->table, &stats, NULL));
    return stats;
}

/* What must hold between the numbers at any time. */
static void check_sums(const checked *t, const heddle_table_stats *s)
{
    const uint64_t pair = (t->options.key_bits + t->options.value_bits) / 8;
    uint64_t found = 0, lists = 0;
    for (uint32_t i = 0; i < HEDDLE_PROBES_MAX; i++) {
        found += s->probes[i];
        assert_true(i < t->options.hashes || s->probes[i] == 0 || case_is_slab(t->c));
        lists += s->chains[i];
    }
    assert_int_equal(found, s->keys);
    assert_int_equal(s->keys, model_size(t->model));
    if (case_is_slab(t->c)) {
        assert_true(s->slots >= s->buckets * t->options.bucket);
        assert_int_equal(s->slots % t->options.bucket, 0);
        assert_int_equal(s->bytes_slots, s->slots / t->options.bucket * 128);
        assert_int_equal(lists, s->buckets);
        assert_int_equal(s->full, lists - s->chains[0]);
    } else {
        assert_int_equal(s->slots, s->buckets * t->options.bucket);
        assert_int_equal(s->bytes_slots, s->slots * pair);
        assert_int_equal(lists, 0);
    }
    assert_true(fabs(s->memory_use - (double)(s->keys * pair) / (double)s->bytes_slots) < 1e-12);
    assert_int_equal(s->buckets % s->regions, 0);
    assert_true(s->bytes_total >= s->bytes_slots);
    assert_true(s->keys <= s->slots);
    assert_true(s->full <= s->buckets);
    assert_true(fabs(s->load - (double)s->keys / (double)s->slots) < 1e-12);
}

static void numbers_agree(const test_case *c)
{
    const uint64_t n = case_size(4001);
    heddle_table_options options = case_options(c);
    uint64_t *keys = keys_allocate(n);
    uint64_t *values = keys_allocate(n);
    options.capacity = n;
    options.load = 0.9;
    options.flags = HEDDLE_FLAG_FIXED;
    options.seed = 99;
    checked t = checked_create(c, &options);
    heddle_table_stats s = stats_of(&t);
    check_sums(&t, &s);
    if (!case_is_slab(c)) assert_int_equal(s.slots, t.options.capacity);
    assert_int_equal(s.growths, 0);
    keys_fill(keys, n, KEYS_RANDOM, options.key_bits, 139);
    keys_fill_values(values, n, 139);
    const heddle_totals first = checked_insert(&t, keys, values, n / 2, HEDDLE_POLICY_KEEP);
    const heddle_totals second = checked_insert(&t, keys, values, n, HEDDLE_POLICY_KEEP);
    s = stats_of(&t);
    check_sums(&t, &s);
    assert_int_equal(s.evictions, first.evictions + second.evictions);
    checked_erase(&t, keys, n / 3);
    s = stats_of(&t);
    check_sums(&t, &s);
    checked_destroy(&t);
    free(keys);
    free(values);
}

/* The histogram is the truth: finding every key once takes exactly the probes it promises. */
static void histogram_predicts_probes(const test_case *c)
{
    const uint64_t n = case_size(4001);
    heddle_table_options options = case_options(c);
    uint64_t *keys = keys_allocate(n);
    uint64_t *values = keys_allocate(n);
    uint64_t predicted = 0;
    options.capacity = n;
    options.load = 0.9;
    checked t = checked_create(c, &options);
    keys_fill(keys, n, KEYS_RANDOM, options.key_bits, 149);
    keys_fill_values(values, n, 149);
    checked_insert(&t, keys, values, n, HEDDLE_POLICY_KEEP);
    const heddle_table_stats s = stats_of(&t);
    for (uint32_t i = 0; i < HEDDLE_PROBES_MAX; i++) predicted += (i + 1) * s.probes[i];
    const uint64_t found = checked_find(&t, keys, n).probes;
    if (s.probes[HEDDLE_PROBES_MAX - 1] == 0) assert_int_equal(found, predicted);
    else assert_in_range(found, predicted, predicted + 64 * s.probes[HEDDLE_PROBES_MAX - 1]);
    assert_int_equal(checked_contains(&t, keys, n).probes, found);
    checked_destroy(&t);
    free(keys);
    free(values);
}

/* Calls without totals add up in the table, until someone takes the sums. */
static void totals_add_up(const test_case *c)
{
    uint64_t numbers[900];
    heddle_totals peeked = HEDDLE_TOTALS_INIT, taken = HEDDLE_TOTALS_INIT,
                  after = HEDDLE_TOTALS_INIT;
    checked t = checked_create(c, NULL);
    keys_fill(numbers, 900, KEYS_EDGES, t.options.key_bits, 151);
    array keys = array_of(c, ROLE_KEYS, numbers, 900, t.options.key_bits);
    array values = array_of(c, ROLE_VALUES, numbers, 900, t.options.value_bits);
    check_ok(heddle_table_insert(t.table, array_pointer(&keys), array_pointer(&values), 500, NULL,
                                 NULL, NULL));
    check_ok(heddle_table_insert(t.table, array_pointer(&keys), array_pointer(&values), 700, NULL,
                                 NULL, NULL));
    check_ok(heddle_table_contains(t.table, array_pointer(&keys), 900, NULL, NULL, NULL));
    check_ok(heddle_table_contains(t.table, array_pointer(&keys), 900, NULL, &after,
                                   NULL)); /* not counted */
    check_ok(heddle_table_erase(t.table, array_pointer(&keys), 100, NULL, NULL, NULL));
    check_ok(heddle_table_peek_totals(t.table, &peeked, NULL));
    check_ok(heddle_table_take_totals(t.table, &taken, NULL));
    assert_memory_equal(&peeked, &taken, sizeof taken);
    assert_int_equal(taken.inserted, 700);
    assert_int_equal(taken.kept, 500);
    assert_int_equal(taken.updated, 0);
    assert_int_equal(taken.failed, 0);
    assert_int_equal(taken.found, 700 + 100);
    assert_int_equal(taken.absent, 200);
    assert_true(taken.probes >= 500 + 700 + 900 + 100);
    check_ok(heddle_table_take_totals(t.table, &after, NULL));
    const heddle_totals nothing = HEDDLE_TOTALS_INIT;
    assert_memory_equal(&after, &nothing, sizeof nothing);
    array_free(&keys);
    array_free(&values);
    checked_destroy(&t);
}

/* Keys that did not fit are counted where nobody waited for them. */
static void failures_are_kept_for_later(const test_case *c)
{
    heddle_table_options options = case_options(c);
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    uint64_t size = 0;
    options.capacity = 100;
    options.flags = HEDDLE_FLAG_FIXED;
    checked t = checked_create(c, &options);
    const uint64_t n = 3 * t.options.capacity;
    uint64_t *numbers = keys_allocate(n);
    keys_fill(numbers, n, KEYS_RANDOM, options.key_bits, 157);
    array keys = array_of(c, ROLE_KEYS, numbers, n, options.key_bits);
    array values = array_of(c, ROLE_VALUES, numbers, n, t.options.value_bits);
    const heddle_status status = heddle_table_insert(t.table, array_pointer(&keys),
                                                     array_pointer(&values), n, NULL, NULL, NULL);
    assert_true(status == HEDDLE_OK || status == HEDDLE_ERROR_FULL); /* it may know already */
    check_ok(heddle_table_take_totals(t.table, &totals, NULL));
    check_ok(heddle_table_size(t.table, &size, NULL));
    assert_int_equal(totals.inserted, size);
    assert_int_equal(totals.failed, n - size);
    assert_true(totals.failed >= n - t.options.capacity);
    array_free(&keys);
    array_free(&values);
    checked_destroy(&t);
    free(numbers);
}

/* At load 0.9 a table of 32-bit pairs takes at most 1.15 times their bytes, and a fixed few MB. */
static void memory_of_a_large_map(const test_case *c)
{
    const uint64_t n = UINT64_C(1) << 22;
    heddle_table_options options = case_options(c);
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    heddle_table *table = NULL;
    heddle_table_stats s = HEDDLE_TABLE_STATS_INIT;
    if (c->ops->key_bits != 32 || c->ops->value_bits != 32 ||
        c->ops->scheme == HEDDLE_SCHEME_ICEBERG) /* which does not fill buckets of 16 so far */
        return; /* the instance that this is about was left out of the build */
    uint32_t *keys = malloc(n * sizeof *keys);
    assert_non_null(keys);
    for (uint64_t i = 0; i < n; i++) keys[i] = (uint32_t)i * UINT32_C(2654435761);
    options.capacity = n;
    options.load = 0.9;
    options.flags = HEDDLE_FLAG_FIXED;
    check_ok(heddle_table_create(c->device, &options, &table));
    check_ok(heddle_table_insert(table, keys, keys, n, NULL, &totals, NULL));
    assert_int_equal(totals.inserted, n);
    check_ok(heddle_table_get_stats(table, &s, NULL));
    assert_int_equal(s.keys, n);
    check((double)s.bytes_total <= 1.15 * 8 * (double)n + 8 * 1048576.0, "%llu bytes for %llu keys",
          (unsigned long long)s.bytes_total, (unsigned long long)n);
    check(fabs(s.load - 0.9) <= 0.02 * 0.9, "load %f instead of 0.9", s.load);
    check_ok(heddle_table_validate(table, NULL));
    heddle_table_destroy(table);
    free(keys);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OVER_TABLES(numbers_agree),          OVER_TABLES(histogram_predicts_probes),
        OVER_TABLES(totals_add_up),          OVER_TABLES(failures_are_kept_for_later),
        OVER_DEVICES(memory_of_a_large_map),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
