/*
 * test_seeds.c: the hash functions. Seeds hardly ever fail, and the key patterns that break weak
 * hashing behave like random keys: same success, same probes.
 */
#include <stdlib.h>
#include <string.h>

#include "support/checked.h"
#include "support/keys.h"
#include "table/slots/slots.h"

#define CROWD UINT64_C(2000) /* keys of tables that are nearly full */

/* Keys in the width of the case; values are the keys themselves where the widths agree. */
typedef struct packed {
    void *keys;
    void *values;
} packed;

static packed pack(const test_case *c, const uint64_t *numbers, uint64_t n)
{
    packed p = {malloc(n * 8), calloc(n, 8)};
    assert_non_null(p.keys);
    assert_non_null(p.values);
    for (uint64_t i = 0; i < n; i++) {
        if (c->ops->key_bits == 32) ((uint32_t *)p.keys)[i] = (uint32_t)numbers[i];
        else ((uint64_t *)p.keys)[i] = numbers[i];
    }
    return p;
}

static void packed_free(packed *p)
{
    free(p->keys);
    free(p->values);
}

/* One fixed table filled at `load`: how many keys failed, and the probes that find all others. */
typedef struct trial {
    uint64_t failed;
    double probes;
} trial;

static trial run_trial(const test_case *c, const packed *p, uint64_t n, double load, uint64_t seed,
                       bool build)
{
    heddle_table *table = NULL;
    heddle_table_options options = case_options(c);
    heddle_totals wrote = HEDDLE_TOTALS_INIT, read = HEDDLE_TOTALS_INIT;
    const void *values = case_is_map(c) ? p->values : NULL;
    options.capacity = n;
    options.load = load;
    options.seed = seed;
    options.flags = HEDDLE_FLAG_FIXED;
    check_ok(heddle_table_create(c->device, &options, &table));
    const heddle_status status =
        build ? heddle_table_build(table, p->keys, values, n, NULL, &wrote, NULL)
              : heddle_table_insert(table, p->keys, values, n, NULL, &wrote, NULL);
    assert_int_equal(status, wrote.failed == 0 ? HEDDLE_OK : HEDDLE_ERROR_FULL);
    assert_int_equal(wrote.inserted + wrote.failed, n);
    check_ok(heddle_table_contains(table, p->keys, n, NULL, &read, NULL));
    assert_int_equal(read.found, wrote.inserted);
    heddle_table_destroy(table);
    return (trial){wrote.failed, (double)read.probes / (double)n};
}

/*
 * 99 of 100 builds of 2^16 keys succeed with buckets of 16 and three hashes: at load 0.95, or 0.82 where
 * no pair is moved to make room.
 */
static void seeds_succeed(const test_case *c)
{
    const uint64_t n = UINT64_C(1) << 16;
    const uint32_t builds = case_quick() ? 20 : 100;
    const double load = c->ops->scheme == HEDDLE_SCHEME_ICEBERG ? 0.82 : 0.95;
    uint64_t *numbers = keys_allocate(n);
    uint32_t lucky_builds = 0, lucky_inserts = 0;
    if (c->ops->bucket != 16) {
        free(numbers);
        return;
    }
    keys_fill(numbers, n, KEYS_RANDOM, c->ops->key_bits, 197);
    packed p = pack(c, numbers, n);
    for (uint32_t i = 0; i < builds; i++) {
        lucky_builds += run_trial(c, &p, n, load, 1000 + i, true).failed == 0;
        lucky_inserts +=
            run_trial(c, &p, n, load, 1000 + i, false).failed == 0; /* one seed, no second try */
    }
    check(lucky_builds * 100 >= 99 * builds, "%u of %u builds succeeded", lucky_builds, builds);
    check(lucky_inserts * 100 >= 99 * builds, "%u of %u inserts succeeded", lucky_inserts, builds);
    packed_free(&p);
    free(numbers);
}

/* One build with a list of failed keys, in which nothing else stands; whether it took another seed. */
static bool build_lists_failed(const test_case *c, const packed *p, heddle_table_options *options,
                               double share)
{
    heddle_table_options used = HEDDLE_TABLE_OPTIONS_INIT;
    heddle_insert_options o = HEDDLE_INSERT_OPTIONS_INIT;
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    heddle_table *table = NULL;
    uint64_t failed[CROWD];
    memset(failed, 0xee, sizeof failed);
    check_ok(heddle_table_create(c->device, options, &table));
    check_ok(heddle_table_get_options(table, &used));
    const uint64_t wanted = (uint64_t)(share * (double)used.capacity),
                   n = wanted < CROWD ? wanted : CROWD;
    o.failed = failed;
    o.failed_capacity = CROWD;
    (void)heddle_table_build(table, p->keys, case_is_map(c) ? p->values : NULL, n, &o, &totals,
                             NULL);
    check_ok(heddle_table_get_options(table, &used));
    assert_int_equal(totals.inserted + totals.failed, n);
    for (uint64_t i = 0; i < CROWD; i++)
        check((failed[i] < n) == (i < totals.failed), "entry %llu of %llu is %#llx",
              (unsigned long long)i, (unsigned long long)totals.failed,
              (unsigned long long)failed[i]);
    heddle_table_destroy(table);
    return used.seed != options->seed;
}

/*
 * A build that took another seed lists the keys that failed under the last one, and no others. Tables are filled up to
 * 0.98: somewhere between, the first seed fails and another does not.
 */
static void attempts_given_up_are_forgotten(const test_case *c)
{
    enum { SEEDS = 60 };
    heddle_table_options options = case_options(c);
    uint64_t *numbers = keys_allocate(CROWD);
    uint32_t retried = 0;
    keys_fill(numbers, CROWD, KEYS_RANDOM, c->ops->key_bits, 211);
    packed p = pack(c, numbers, CROWD);
    options.capacity = CROWD / 2;
    options.load = 0.99;
    options.flags = HEDDLE_FLAG_FIXED;
    for (options.seed = 1; options.seed <= SEEDS; options.seed++)
        retried += build_lists_failed(c, &p, &options, 0.8 + 0.18 * (double)options.seed / SEEDS);
    if (c->ops->scheme == HEDDLE_SCHEME_ICEBERG) assert_int_not_equal(retried, 0);
    packed_free(&p);
    free(numbers);
}

/* Averages over several seeds for one key set. */
static trial average(const test_case *c, key_set set, uint64_t n, double load)
{
    enum { SEEDS = 4 };
    uint64_t *numbers = keys_allocate(n);
    trial sum = {0, 0};
    keys_fill(numbers, n, set, c->ops->key_bits, 199);
    packed p = pack(c, numbers, n);
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        const trial one = run_trial(c, &p, n, load, seed * 7919, false);
        sum.failed += one.failed;
        sum.probes += one.probes / SEEDS;
    }
    packed_free(&p);
    free(numbers);
    return sum;
}

/* Patterns against random keys: no more failures, and hardly more probes. */
static void patterns_are_like_random_keys(const test_case *c)
{
    const uint64_t n = case_size(1 << 15);
    const double load = c->ops->bucket == 1 ? 0.8 : 0.9;
    const trial usual = average(c, KEYS_RANDOM, n, load);
    for (key_set set = KEYS_EDGES; set < KEYS_DISTINCT; set++) {
        const trial hard = average(c, set, n, load);
        case_note("keys %s, %llu failed, %f probes; random: %llu, %f", keys_name(set),
                  (unsigned long long)hard.failed, hard.probes, (unsigned long long)usual.failed,
                  usual.probes);
        check(hard.failed <= usual.failed + n / 1000, "more keys fail than random ones do");
        check(hard.probes <= 1.02 * usual.probes, "finding takes more probes than for random keys");
    }
}

/* Without a seed of one's own, two tables have different ones; with one, the seed is used. */
static void seeds_are_drawn(const test_case *c)
{
    heddle_table_options options = case_options(c);
    heddle_table_options seen = HEDDLE_TABLE_OPTIONS_INIT;
    uint64_t seeds[16];
    options.seed = 0;
    for (uint32_t i = 0; i < 16; i++) {
        heddle_table *table = NULL;
        check_ok(heddle_table_create(c->device, &options, &table));
        check_ok(heddle_table_get_options(table, &seen));
        seeds[i] = seen.seed;
        heddle_table_destroy(table);
        assert_int_not_equal(seeds[i], 0);
        for (uint32_t j = 0; j < i; j++) assert_int_not_equal(seeds[i], seeds[j]);
    }
}

/* The key of a mixed key: what mix_key (model/hash.h) does, backwards. */
static uint64_t unmixed(const hd_mix *mix, uint32_t key_bits, uint64_t mixed)
{
    if (key_bits == 32) {
        uint32_t key = (uint32_t)mixed;
        key ^= key >> 16;
        key *= (uint32_t)mix->unmul[1];
        key ^= key >> 15 ^ key >> 30;
        key *= (uint32_t)mix->unmul[0];
        return (key ^ key >> 16) - (uint32_t)mix->add;
    }
    mixed ^= mixed >> 32;
    mixed *= mix->unmul[1];
    mixed ^= mixed >> 29 ^ mixed >> 58;
    mixed *= mix->unmul[0];
    return (mixed ^ mixed >> 32) - mix->add;
}

/*
 * Keys made for a seed that is known, all of one region and with the same buckets: 64-bit keys that agree in the lower
 * half of what they are mixed to. A table that grows takes another seed, and no more memory than for other keys; also
 * where the seed is read again before every batch (round 2).
 */
static void colliding_keys_are_met(const test_case *c)
{
    enum { BATCH = 100 };
    const uint64_t n = case_size(5000);
    heddle_table_options options = case_options(c);
    heddle_table_stats stats = HEDDLE_TABLE_STATS_INIT;
    if (c->ops->key_bits != 64 || c->ops->bucket != 8) return;
    options.capacity = BATCH;
    options.seed = 12345;
    for (int round = 0; round < 3; round++) {
        checked t = checked_create(c, &options);
        uint64_t *keys = keys_allocate(n);
        for (uint64_t at = 0; at < n; at += BATCH) {
            const uint64_t count = n - at < BATCH ? n - at : BATCH;
            hd_mix mix;
            hd_mix_init(&mix, options.seed);
            if (round == 2) mix = hd_table_view(t.table)->mix;
            for (uint64_t i = at; i < at + count; i++)
                keys[i] = unmixed(&mix, 64, i << 32 | 0x1234567);
            if (round != 1) checked_insert(&t, keys + at, keys + at, count, HEDDLE_POLICY_KEEP);
        }
        if (round == 1) checked_build(&t, keys, keys, n, HEDDLE_POLICY_KEEP);
        checked_all(&t);
        check_ok(heddle_table_get_stats(t.table, &stats, NULL));
        check(stats.slots < 8 * n, "%llu slots for %llu keys", (unsigned long long)stats.slots,
              (unsigned long long)n);
        checked_destroy(&t);
        free(keys);
    }
}

/*
 * 32-bit keys (i * 65537) << 8, which the first step of the mix brings close together: an iceberg table moves no pairs, and
 * a fixed one may lack room for a few of them under one seed in a hundred. It says so, and holds all others.
 */
static void halves_that_are_alike(const test_case *c)
{
    enum { KEYS = 1000, SEEDS = 400 };
    heddle_table_options options = case_options(c);
    uint64_t *numbers = keys_allocate(KEYS), failed = 0, seeds = 0;
    if (c->ops->key_bits != 32) {
        free(numbers);
        return;
    }
    for (uint64_t i = 0; i < KEYS; i++) numbers[i] = (i * 65537 << 8) & UINT32_MAX;
    packed p = pack(c, numbers, KEYS);
    for (uint64_t seed = 1; seed <= case_size(SEEDS); seed++) {
        const trial one = run_trial(c, &p, KEYS, options.load, seed * 7919, false);
        failed += one.failed;
        seeds += one.failed != 0;
    }
    check(seeds * 50 <= case_size(SEEDS), "%llu keys failed, under %llu of %llu seeds",
          (unsigned long long)failed, (unsigned long long)seeds,
          (unsigned long long)case_size(SEEDS));
    if (c->ops->scheme != HEDDLE_SCHEME_ICEBERG) assert_int_equal(failed, 0);
    packed_free(&p);
    free(numbers);
}

/*
 * A fixed iceberg table at a high load, which moves nothing: with few seeds a key finds its three buckets full. Keys that
 * differ in few bits, (i * 65537) << 8, meet such seeds a little more often than random keys, and not often.
 */
static void structured_keys_in_iceberg_tables(const test_case *c)
{
    enum { SEEDS = 400, KEYS = 2000 };
    heddle_table_options options = case_options(c);
    uint32_t keys[KEYS], few = 0;
    if (c->ops->scheme != HEDDLE_SCHEME_ICEBERG || c->ops->key_bits != 32 ||
        c->ops->value_bits != 0)
        return;
    for (uint32_t i = 0; i < KEYS; i++) keys[i] = (i * 65537u) << 8;
    options.capacity = KEYS;
    options.load = 0.85;
    options.flags = HEDDLE_FLAG_FIXED;
    for (options.seed = 1; options.seed <= SEEDS; options.seed++) {
        heddle_totals totals = HEDDLE_TOTALS_INIT;
        heddle_table *table = NULL;
        check_ok(heddle_table_create(c->device, &options, &table));
        const heddle_status status =
            heddle_table_insert(table, keys, NULL, KEYS, NULL, &totals, NULL);
        assert_true(status == HEDDLE_OK || status == HEDDLE_ERROR_FULL);
        few += totals.failed != 0;
        heddle_table_destroy(table);
    }
    check(few <= SEEDS / 50, "%u of %u seeds have no place for a key", few, SEEDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OVER_SLOT_WIDTHS(seeds_succeed),
        OVER_INSTANCES(patterns_are_like_random_keys),
        OVER_SLOT_WIDTHS(attempts_given_up_are_forgotten),
        OVER_SLOT_WIDTHS(seeds_are_drawn),
        OVER_INSTANCES(colliding_keys_are_met),
        OVER_INSTANCES(halves_that_are_alike),
        OVER_SLOT_WIDTHS(structured_keys_in_iceberg_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
