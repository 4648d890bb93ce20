/*
 * test_cluster.c: tables of clusters of 1, 2, 3, 4 and 7 members hold what they are given and answer as one table
 * would, for every container and scheme; slices are small, so that a batch takes many rounds and members
 * have different numbers of them.
 */
#include <stdlib.h>
#include <string.h>

#include "base/tuning.h"
#include "cluster/exchange/exchange.h"
#include "support/cluster_model.h"
#include "support/keys.h"

#define SLICE 777

typedef struct batch {
    uint64_t n;
    uint64_t *keys, *values;
} batch;

static batch make_batch(const shared_kind *kind, uint64_t n, key_set set, uint64_t seed)
{
    batch b = {n, keys_allocate(2 * n + 1), keys_allocate(2 * n + 1)};
    keys_fill(b.keys, 2 * n, set, kind->key_bits, seed);
    if (kind->container == HEDDLE_CONTAINER_MULTIMAP || kind->container == HEDDLE_CONTAINER_COUNTER)
        keys_fill_values(b.values, 2 * n, seed);
    else shared_values(b.values, b.keys, 2 * n, seed);
    if (kind->container == HEDDLE_CONTAINER_SET) {
        free(b.values);
        b.values = NULL;
    }
    return b;
}

static void free_batch(batch *b)
{
    free(b->keys);
    free(b->values);
}

/* ------------------------------------------------------------------------------------- contents */

static void build_and_look(const shared_kind *kind, const char *devices, uint32_t members)
{
    const uint64_t n = case_size(9001);
    shared s = shared_create(kind, devices, SLICE, NULL);
    (void)members;
    shared_check(&s);
    for (uint32_t set = 0; set < 3; set++) {
        const key_set sets[] = {KEYS_EDGES, KEYS_ZIPF, KEYS_EQUAL};
        batch b = make_batch(kind, n, sets[set], 5 + set);
        const uint64_t use = sets[set] == KEYS_EQUAL ? 300 : n;
        shared_build(&s, b.keys, b.values, use, false);
        shared_check(&s);
        shared_look(&s, b.keys, sets[set] == KEYS_EDGES ? 2 * n : 500);
        free_batch(&b);
    }
    shared_build(&s, NULL, NULL, 0, false);
    shared_check(&s);
    shared_destroy(&s);
}
static void tables_hold_what_they_are_given(void **state)
{
    (void)state;
    shared_run(build_and_look);
}

static void insert_and_erase(const shared_kind *kind, const char *devices, uint32_t members)
{
    const uint64_t n = case_size(4003);
    shared s = shared_create(kind, devices, SLICE, NULL);
    (void)members;
    for (uint64_t turn = 0; turn < 4; turn++) {
        batch b = make_batch(kind, n, turn % 2 == 0 ? KEYS_EDGES : KEYS_TWICE, 11 + turn / 2);
        if (b.values != NULL && kind->container == HEDDLE_CONTAINER_MAP)
            shared_values(b.values, b.keys, n, turn);
        shared_insert(&s, b.keys, b.values, n,
                      kind->container != HEDDLE_CONTAINER_MAP ? HEDDLE_POLICY_KEEP
                      : turn == 2                             ? HEDDLE_POLICY_REPLACE
                                                              : HEDDLE_POLICY_KEEP,
                      turn % 2 == 1);
        shared_check(&s);
        for (uint64_t i = 0; i < n / 3; i++) b.keys[n + i] = b.keys[i / 2 * 3 % n];
        shared_erase(&s, b.keys + n, n / 3);
        shared_check(&s);
        shared_look(&s, b.keys, 900);
        free_batch(&b);
    }
    check_ok(heddle_cluster_table_clear(s.table));
    s.size = 0;
    shared_check(&s);
    shared_destroy(&s);
}
static void keys_come_and_go(void **state)
{
    (void)state;
    shared_run(insert_and_erase);
}

/* As it is where members do not reach each other's memory: pairs and answers are copied. */
static void pairs_are_copied(void **state)
{
    (void)state;
    hd_tune.local_copies = true;
    shared_run_with(build_and_look, 3);
    shared_run_with(insert_and_erase, 2);
    hd_tune.local_copies = false;
}

/* Values of equal keys of a batch all take part. */
static void combine(const shared_kind *kind, const char *devices, uint32_t members)
{
    static const uint32_t policies[] = {HEDDLE_POLICY_ADD, HEDDLE_POLICY_MIN, HEDDLE_POLICY_MAX};
    const uint64_t n = case_size(6000);
    (void)members;
    if (kind->container != HEDDLE_CONTAINER_MAP) return;
    for (uint32_t p = 0; p < 3; p++) {
        shared s = shared_create(kind, devices, SLICE, NULL);
        for (uint64_t turn = 0; turn < 2; turn++) {
            batch b = make_batch(kind, n, KEYS_ZIPF, 21 + turn);
            keys_fill_values(b.values, n, turn + p);
            shared_insert(&s, b.keys, b.values, n, policies[p], turn == 1);
            free_batch(&b);
        }
        shared_check(&s);
        shared_destroy(&s);
    }
}
static void policies_combine_values(void **state)
{
    (void)state;
    shared_run_with(combine, 3);
}

/* A counter without values counts. */
static void count_keys(const shared_kind *kind, const char *devices, uint32_t members)
{
    const uint64_t n = case_size(6000);
    (void)members;
    if (kind->container != HEDDLE_CONTAINER_COUNTER) return;
    shared s = shared_create(kind, devices, SLICE, NULL);
    batch b = make_batch(kind, n, KEYS_ZIPF, 31);
    shared_build(&s, b.keys, NULL, n, false);
    shared_insert(&s, b.keys, NULL, n, HEDDLE_POLICY_ADD, true);
    shared_insert(&s, b.keys, NULL, n / 2, HEDDLE_POLICY_KEEP, false);
    shared_check(&s);
    shared_look(&s, b.keys, n);
    free_batch(&b);
    shared_destroy(&s);
}
static void counters_count(void **state)
{
    (void)state;
    shared_run_with(count_keys, 3);
}

/* ------------------------------------------------------------------- the same as a single table */

/* Every answer, element for element, with slices as the library chooses them. */
static void compare_with_one(const shared_kind *kind, const char *devices, uint32_t members)
{
    const uint64_t n = case_size(600000);
    heddle_table_options options = shared_options(kind);
    heddle_device *device = NULL;
    heddle_table *one = NULL;
    (void)members;
    if (kind->container == HEDDLE_CONTAINER_MULTIMAP && kind->scheme != HEDDLE_SCHEME_HASHGRAPH)
        return;
    shared s = shared_create(kind, devices, 0, NULL);
    batch b = make_batch(kind, n, KEYS_TWICE, 41);
    void *k = shared_narrow(b.keys, 2 * n, kind->key_bits);
    void *v = shared_narrow(b.values, 2 * n, kind->value_bits);
    const uint32_t width = kind->value_bits / 8;
    uint8_t *found[2], *values[2];
    uint64_t *matches[2];
    heddle_totals totals[2] = {HEDDLE_TOTALS_INIT, HEDDLE_TOTALS_INIT};
    check_ok(heddle_device_open("cpu:2", &device));
    check_ok(heddle_table_create(device, &options, &one));
    check_ok(heddle_table_build(one, k, v, n, NULL, &totals[0], NULL));
    check_ok(heddle_cluster_table_build(s.table, k, v, n, NULL, &totals[1]));
    assert_int_equal(totals[0].inserted, totals[1].inserted);
    assert_int_equal(totals[0].updated, totals[1].updated);
    assert_int_equal(totals[0].kept, totals[1].kept);
    for (int i = 0; i < 2; i++) {
        found[i] = calloc(2 * n, 1);
        values[i] = calloc(2 * n + 1, 8);
        matches[i] = calloc(2 * n, sizeof *matches[i]);
    }
    if (width != 0 && kind->container != HEDDLE_CONTAINER_MULTIMAP) {
        check_ok(heddle_table_find(one, k, 2 * n, values[0], found[0], &totals[0], NULL));
        check_ok(heddle_cluster_table_find(s.table, k, 2 * n, values[1], found[1], &totals[1]));
        assert_memory_equal(values[0], values[1], 2 * n * width);
        assert_memory_equal(found[0], found[1], 2 * n);
        assert_int_equal(totals[0].found, totals[1].found);
        assert_int_equal(totals[0].absent, totals[1].absent);
    }
    check_ok(heddle_table_count(one, k, 2 * n, matches[0], NULL, NULL));
    check_ok(heddle_cluster_table_count(s.table, k, 2 * n, matches[1], NULL));
    assert_memory_equal(matches[0], matches[1], 2 * n * sizeof *matches[0]);
    check_ok(heddle_table_contains(one, k, 2 * n, found[0], NULL, NULL));
    check_ok(heddle_cluster_table_contains(s.table, k, 2 * n, found[1], NULL));
    assert_memory_equal(found[0], found[1], 2 * n);
    for (int i = 0; i < 2; i++) {
        free(found[i]);
        free(values[i]);
        free(matches[i]);
    }
    heddle_table_destroy(one);
    heddle_device_close(device);
    shared_destroy(&s);
    free(k);
    free(v);
    free_batch(&b);
}
static void answers_are_those_of_one_table(void **state)
{
    (void)state;
    shared_run_with(compare_with_one, 2);
    shared_run_with(compare_with_one, 4);
}

/* ----------------------------------------------------------------------------------- full tables */

/* A fixed table that is given too much says of every key whether it is in. */
static void overfill(const shared_kind *kind, const char *devices, uint32_t members)
{
    const uint64_t n = 20000;
    heddle_insert_options options = HEDDLE_INSERT_OPTIONS_INIT;
    heddle_table_options fixed = shared_options(kind);
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    (void)members;
    if (kind->scheme != HEDDLE_SCHEME_CUCKOO) return;
    fixed.flags = HEDDLE_FLAG_FIXED;
    fixed.capacity = n / 2;
    shared s = shared_create(kind, devices, SLICE, &fixed);
    batch b = make_batch(kind, n, KEYS_RANDOM, 51);
    void *k = shared_narrow(b.keys, n, kind->key_bits),
         *v = shared_narrow(b.values, n, kind->value_bits);
    uint8_t *outcomes = calloc(n, 1), *found = calloc(n, 1);
    uint64_t *failed = calloc(n, sizeof *failed);
    options.outcomes = outcomes;
    options.failed = failed;
    options.failed_capacity = n;
    check_status(heddle_cluster_table_insert(s.table, k, v, n, &options, &totals),
                 HEDDLE_ERROR_FULL);
    check(totals.failed > 0 && totals.inserted + totals.failed == n, "%llu failed",
          (unsigned long long)totals.failed);
    check_ok(heddle_cluster_table_contains(s.table, k, n, found, NULL));
    for (uint64_t i = 0; i < n; i++)
        check(found[i] == (outcomes[i] == HEDDLE_OUTCOME_INSERTED),
              "key %llu: outcome %u, found %u", (unsigned long long)i, outcomes[i], found[i]);
    for (uint64_t i = 0; i < totals.failed; i++) {
        check(failed[i] < n && outcomes[failed[i]] == HEDDLE_OUTCOME_FAILED, "failed key %llu",
              (unsigned long long)failed[i]);
        outcomes[failed[i]] = 0; /* once */
    }
    check_status(heddle_cluster_table_build(s.table, k, v, n, NULL, &totals), HEDDLE_ERROR_FULL);
    assert_int_equal(totals.inserted + totals.failed, n);
    check_ok(heddle_cluster_table_validate(s.table));
    uint64_t size = 0;
    check_ok(heddle_cluster_table_size(s.table, &size));
    assert_int_equal(size, totals.inserted);
    free(k);
    free(v);
    free(outcomes);
    free(found);
    free(failed);
    free_batch(&b);
    shared_destroy(&s);
}
static void full_tables_say_what_is_in(void **state)
{
    (void)state;
    shared_run_with(overfill, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ONCE(tables_hold_what_they_are_given),
        ONCE(keys_come_and_go),
        ONCE(policies_combine_values),
        ONCE(counters_count),
        ONCE(answers_are_those_of_one_table),
        ONCE(full_tables_say_what_is_in),
        ONCE(pairs_are_copied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
