/*
 * test_iceberg.c: what iceberg tables promise beyond the contract of all tables: the threshold decides how
 * many keys are in their first bucket, and the others are in the emptier of two.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/checked.h"
#include "support/files.h"
#include "support/keys.h"
#include "support/tuned.h"
#include "table/slots/regions.h"

static bool is_iceberg(const test_case *c) { return c->ops->scheme == HEDDLE_SCHEME_ICEBERG; }

/* Buckets that are but counts of keys. */
typedef struct plain {
    uint32_t *keys;
    uint64_t buckets, placed[3]; /* keys by where they are */
    uint32_t bucket, threshold;
    uint64_t random;
} plain;

static bool plain_first(plain *p, uint64_t home)
{
    if (p->keys[home] >= p->threshold) return false;
    p->keys[home]++;
    p->placed[0]++;
    return true;
}

static void plain_behind(plain *p, uint64_t home)
{
    const uint64_t first = keys_below(&p->random, p->buckets);
    const uint64_t second = keys_below(&p->random, p->buckets);
    const bool chose = p->keys[second] < p->keys[first];
    const uint64_t emptier = chose ? second : first;
    const bool full = p->keys[emptier] == p->bucket;
    p->keys[full ? home : emptier]++;
    p->placed[full ? 0 : 1 + chose]++;
}

/*
 * The shares of keys in first, second and third bucket, of a table of chance: one key after the other,
 * or all that go to their first bucket before the others.
 */
static void expected_shares(uint64_t keys, uint64_t buckets, uint32_t bucket, uint32_t threshold,
                            bool first_come, double shares[3])
{
    plain p = {calloc(buckets, sizeof(uint32_t)), buckets, {0}, bucket, threshold, 99};
    uint64_t *wait = keys_allocate(keys), waiting = 0;
    for (uint64_t i = 0; i < keys; i++) {
        const uint64_t home = keys_below(&p.random, buckets);
        if (plain_first(&p, home)) continue;
        if (first_come) plain_behind(&p, home);
        else wait[waiting++] = home;
    }
    for (uint64_t i = 0; i < waiting; i++) plain_behind(&p, wait[i]);
    for (int i = 0; i < 3; i++) shares[i] = (double)p.placed[i] / (double)keys;
    free(p.keys);
    free(wait);
}

#define BIT_OF_CHANCE 0.02

/* By regions or one by one, at load 0.75 the keys are where chance would have them. */
static void shares_are_as_expected(const test_case *c, double threshold, bool by_regions)
{
    const uint64_t n = case_size(150000);
    heddle_table_options options = case_options(c);
    heddle_table_stats s = HEDDLE_TABLE_STATS_INIT;
    uint64_t *keys = keys_allocate(n);
    double one[3], other[3];
    case_note("threshold %g, %s", threshold, by_regions ? "by regions" : "one by one");
    options.capacity = n;
    options.load = 0.75;
    options.threshold = threshold;
    tune_regions(by_regions ? 1 : UINT64_MAX - 1, UINT32_MAX);
    checked t = checked_create(c, &options);
    keys_fill(keys, n, KEYS_RANDOM, t.options.key_bits, 7);
    checked_insert(&t, keys, keys, n, HEDDLE_POLICY_KEEP);
    tune_regions(UINT64_MAX, UINT32_MAX);
    check_ok(heddle_table_get_stats(t.table, &s, NULL));
    assert_int_equal(s.keys, s.probes[0] + s.probes[1] + s.probes[2]);
    const uint32_t slots = (uint32_t)(threshold * c->ops->bucket + 0.5);
    expected_shares(n, s.buckets, c->ops->bucket, slots, true, one);
    expected_shares(n, s.buckets, c->ops->bucket, slots, false, other);
    for (int i = 0; i < 3; i++) {
        const double share = (double)s.probes[i] / (double)s.keys;
        check(share > fmin(one[i], other[i]) - BIT_OF_CHANCE &&
                  share < fmax(one[i], other[i]) + BIT_OF_CHANCE,
              "%f of the keys need %d probes, not %f or %f", share, i + 1, one[i], other[i]);
    }
    check_ok(heddle_table_validate(t.table, NULL));
    checked_destroy(&t);
    free(keys);
}

static void threshold_decides(const test_case *c)
{
    static const double thresholds[] = {0.5, 0.8, 1.0};
    double half[3], whole[3];
    if (!is_iceberg(c)) return;
    for (uint32_t i = 0; i < sizeof thresholds / sizeof *thresholds; i++) {
        shares_are_as_expected(c, thresholds[i], false);
        shares_are_as_expected(c, thresholds[i], true);
    }
    /* What was expected of the lowest and of the highest cannot be taken for one another. */
    expected_shares(100000, 8333, 16, 8, false, half);
    expected_shares(100000, 8333, 16, 16, true, whole);
    assert_true(half[0] + 4 * BIT_OF_CHANCE < whole[0]);
}

/* Two choices fill a table further than one would: all keys are in at the loads that the guide names. */
static void fills_to_its_load(const test_case *c)
{
    const uint64_t n = case_size(200000);
    heddle_table_options options = case_options(c);
    if (!is_iceberg(c)) return;
    uint64_t *keys = keys_allocate(n);
    options.capacity = n;
    options.load = c->ops->bucket == 16 ? 0.8 : 0.88;
    options.flags = HEDDLE_FLAG_FIXED;
    options.seed = 3;
    checked t = checked_create(c, &options);
    keys_fill(keys, n, KEYS_RANDOM, t.options.key_bits, 8);
    for (uint64_t i = 0; i < 4; i++) {
        const heddle_totals totals =
            checked_insert(&t, keys + n / 4 * i, keys, n / 4, HEDDLE_POLICY_KEEP);
        assert_int_equal(totals.inserted, n / 4);
        assert_int_equal(totals.evictions, 0);
    }
    checked_all(&t);
    checked_destroy(&t);
    free(keys);
}

static void thresholds_are_checked(const test_case *c)
{
    static const double wrong[] = {-0.1, 1.01, (double)NAN, (double)INFINITY};
    heddle_table_options options = case_options(c);
    heddle_table *table = NULL;
    if (!is_iceberg(c)) options.threshold = 0.8;
    for (uint32_t i = 0; is_iceberg(c) && i < sizeof wrong / sizeof *wrong; i++) {
        options.threshold = wrong[i];
        check_status(heddle_table_create(c->device, &options, &table), HEDDLE_ERROR_INVALID);
    }
    if (!is_iceberg(c))
        check_status(heddle_table_create(c->device, &options, &table), HEDDLE_ERROR_INVALID);
    assert_null(table);
}

/* Chosen where it was left open, kept in files, and unknown to programs of older headers. */
static void threshold_is_an_option(const test_case *c)
{
    const uint32_t older = offsetof(heddle_table_options, threshold);
    heddle_table_options options = case_options(c), chosen = HEDDLE_TABLE_OPTIONS_INIT;
    heddle_table *loaded = NULL;
    if (!is_iceberg(c)) return;
    options.threshold = 77; /* not the older program's memory: not read */
    options.size = older;
    checked usual = checked_create(c, &options);
    check_ok(heddle_table_get_options(usual.table, &chosen));
    assert_true(chosen.threshold == 0.8 && chosen.hashes == 3);
    chosen.size = older;
    chosen.threshold = 55;
    check_ok(heddle_table_get_options(usual.table, &chosen));
    assert_true(chosen.threshold == 55);
    checked_destroy(&usual);
    options.size = sizeof options;
    options.threshold = 0.6;
    checked t = checked_create(c, &options);
    check_ok(heddle_table_save(t.table, files_path("iceberg"), NULL));
    check_ok(heddle_table_load(c->device, files_path("iceberg"), NULL, &loaded));
    chosen.size = sizeof chosen;
    check_ok(heddle_table_get_options(loaded, &chosen));
    assert_true(chosen.threshold == 0.6 && chosen.scheme == HEDDLE_SCHEME_ICEBERG);
    heddle_table_destroy(loaded);
    unlink(files_path("iceberg"));
    checked_destroy(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OVER_INSTANCES(threshold_decides),
        OVER_INSTANCES(fills_to_its_load),
        OVER_SLOT_WIDTHS(thresholds_are_checked),
        OVER_SLOT_WIDTHS(threshold_is_an_option),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
