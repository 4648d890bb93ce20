/*
 * test_cluster_hot_rows.c: rows of hot keys are folded before they are sent (src/cluster/table/hot_rows.h). Whatever the data, the
 * container and the policy, a table of a cluster says and holds what a single table does, element for element, and with
 * Zipf's law its members are sent about as many rows each.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/tuning.h"
#include "cluster/exchange/exchange.h"
#include "cluster/table/hot_rows.h"
#include "support/cluster_model.h"
#include "support/keys.h"
#include "support/sort.h"

#define ROWS_LEAST 500 /* of a member, that are folded here */
#define FAULTS_MAX 3000

static const char *const groups[] = {"cpu:1", "cpu:1,cpu:1", "cpu:1,cpu:1,cpu:1",
                                     "cpu:1,cpu:1,cpu:1,cpu:1",
                                     "cpu:1,cpu:1,cpu:1,cpu:1,cpu:1,cpu:1,cpu:1"};
#define GROUPS (sizeof groups / sizeof groups[0])

/* ----------------------------------------------------------------------------------------- data */

enum { DATA_ZIPF, DATA_HALF, DATA_ALL, DATA_EVEN, DATAS };
static const char *const data_names[] = {"Zipf", "half on one key", "all on one key", "no hot key"};

/* n rows whose keys have ranks by Zipf's law with exponent 1.2, by inversion over `ranks` of them. */
static void fill_zipf(uint64_t *keys, uint64_t n, uint64_t ranks, uint64_t seed)
{
    double *sums = malloc(ranks * sizeof *sums), sum = 0;
    uint64_t state = seed;
    for (uint64_t i = 0; i < ranks; i++) sums[i] = sum += pow((double)(i + 1), -1.2);
    for (uint64_t i = 0; i < n; i++) {
        const double at = (double)(keys_random(&state) >> 11) / 9007199254740992.0 * sum;
        uint64_t low = 0, high = ranks - 1;
        while (low < high) {
            const uint64_t middle = (low + high) / 2;
            if (sums[middle] < at) low = middle + 1;
            else high = middle;
        }
        keys[i] = low * 2654435761u + 99;
    }
    free(sums);
}

static void fill_data(uint64_t *keys, uint64_t n, uint32_t data, uint32_t key_bits, uint64_t seed)
{
    if (data == DATA_ZIPF) fill_zipf(keys, n, n, seed);
    else keys_fill(keys, n, data == DATA_ALL ? KEYS_EQUAL : KEYS_RANDOM, key_bits, seed);
    for (uint64_t i = 0; i < n; i++) {
        if (data == DATA_HALF && i % 3 != 0) keys[i] = keys[i - i % 3];
        if (data == DATA_HALF && keys_random(&seed) % 2 == 0) keys[i] = 0;
        if (key_bits == 32) keys[i] = (uint32_t)keys[i];
    }
}

/* --------------------------------------------------------------------------------- side by side */

/* A table of a cluster and a single one, which are given the same. */
typedef struct pair_of_tables {
    heddle_cluster *cluster;
    heddle_cluster_table *table;
    heddle_device *device;
    heddle_table *single;
    heddle_table_options options;
    uint32_t members;
} pair_of_tables;

static pair_of_tables tables_make(const shared_kind *kind, const char *devices, uint64_t slice)
{
    pair_of_tables t = {.options = shared_options(kind)};
    heddle_cluster_options options = HEDDLE_CLUSTER_OPTIONS_INIT;
    heddle_cluster_info info = HEDDLE_CLUSTER_INFO_INIT;
    options.slice = slice;
    check_ok(heddle_cluster_open(devices, &options, &t.cluster));
    check_ok(heddle_cluster_get_info(t.cluster, &info));
    check_ok(heddle_cluster_table_create(t.cluster, &t.options, NULL, &t.table));
    check_ok(heddle_device_open("cpu:1", &t.device));
    check_ok(heddle_table_create(t.device, &t.options, &t.single));
    t.members = info.members;
    return t;
}

static void tables_free(pair_of_tables *t)
{
    heddle_cluster_table_destroy(t->table);
    heddle_cluster_close(t->cluster);
    heddle_table_destroy(t->single);
    heddle_device_close(t->device);
}

/* All pairs in order. */
static shared_pair *exported(pair_of_tables *t, bool of_group, uint64_t size)
{
    const uint32_t key_bits = t->options.key_bits, value_bits = t->options.value_bits;
    void *keys = calloc(size + 1, 8), *values = value_bits != 0 ? calloc(size + 1, 8) : NULL;
    shared_pair *pairs = malloc((size + 1) * sizeof *pairs);
    uint64_t count = 0;
    check_ok(of_group ? heddle_cluster_table_export(t->table, keys, values, size, &count)
                      : heddle_table_export(t->single, keys, values, size, &count, NULL));
    assert_int_equal(count, size);
    for (uint64_t i = 0; i < size; i++)
        pairs[i] = (shared_pair){shared_at(keys, i, key_bits),
                                 values != NULL ? shared_at(values, i, value_bits) : 0};
    sort_pairs(pairs, size);
    free(keys);
    free(values);
    return pairs;
}

static void check_same(pair_of_tables *t)
{
    uint64_t size = 0, single = 0;
    check_ok(heddle_cluster_table_size(t->table, &size));
    check_ok(heddle_table_size(t->single, &single, NULL));
    assert_int_equal(size, single);
    shared_pair *a = exported(t, true, size), *b = exported(t, false, size);
    for (uint64_t i = 0; i < size; i++)
        check(a[i].key == b[i].key && a[i].value == b[i].value,
              "key %#llx has %llu, key %#llx has %llu in the single table",
              (unsigned long long)a[i].key, (unsigned long long)a[i].value,
              (unsigned long long)b[i].key, (unsigned long long)b[i].value);
    check_ok(heddle_cluster_table_validate(t->table));
    free(a);
    free(b);
}

/* A batch for both; what they say of it. */
static void give_both(pair_of_tables *t, bool builds, const void *keys, const void *values,
                      uint64_t n, uint32_t policy)
{
    heddle_insert_options options = HEDDLE_INSERT_OPTIONS_INIT;
    heddle_totals a = HEDDLE_TOTALS_INIT, b = HEDDLE_TOTALS_INIT;
    options.policy = policy;
    if (builds) {
        check_ok(heddle_cluster_table_build(t->table, keys, values, n, &options, &a));
        check_ok(heddle_table_build(t->single, keys, values, n, &options, &b, NULL));
    } else {
        check_ok(heddle_cluster_table_insert(t->table, keys, values, n, &options, &a));
        check_ok(heddle_table_insert(t->single, keys, values, n, &options, &b, NULL));
    }
    assert_int_equal(a.inserted, b.inserted);
    assert_int_equal(a.updated, b.updated);
    assert_int_equal(a.kept, b.kept);
    assert_int_equal(a.failed, b.failed);
    assert_int_equal(a.inserted + a.updated + a.kept, n);
}

/* ------------------------------------------------------------------------------- the same results */

typedef struct subject {
    shared_kind kind;
    bool values;
    uint32_t policy;
} subject;

#define MAP(bits, policy)                                                                          \
    {                                                                                              \
        {"map", HEDDLE_CONTAINER_MAP, HEDDLE_SCHEME_CUCKOO, bits, bits}, true,                     \
            HEDDLE_POLICY_##policy                                                                 \
    }
#define SET(scheme, bits, policy)                                                                  \
    {                                                                                              \
        {"set", HEDDLE_CONTAINER_SET, HEDDLE_SCHEME_##scheme, bits, 0}, false,                     \
            HEDDLE_POLICY_##policy                                                                 \
    }
#define COUNTER(scheme, bits, values)                                                              \
    {                                                                                              \
        {"counter", HEDDLE_CONTAINER_COUNTER, HEDDLE_SCHEME_##scheme, bits, bits}, values,         \
            HEDDLE_POLICY_KEEP                                                                     \
    }

static const subject subjects[] = {
    MAP(32, KEEP),
    MAP(32, REPLACE),
    MAP(32, ADD),
    MAP(32, MIN),
    MAP(32, MAX),
    MAP(64, KEEP),
    MAP(64, REPLACE),
    MAP(64, ADD),
    MAP(64, MIN),
    MAP(64, MAX),
    SET(CUCKOO, 32, KEEP),
    SET(CUCKOO, 64, REPLACE),
    SET(HASHGRAPH, 64, KEEP),
    SET(HASHGRAPH, 64, REPLACE),
    COUNTER(CUCKOO, 32, false),
    COUNTER(CUCKOO, 32, true),
    COUNTER(CUCKOO, 64, false),
    COUNTER(CUCKOO, 64, true),
    COUNTER(HASHGRAPH, 64, false),
    COUNTER(HASHGRAPH, 64, true),
    {{"slab", HEDDLE_CONTAINER_MAP, HEDDLE_SCHEME_SLAB, 32, 32}, true, HEDDLE_POLICY_ADD},
    {{"slab", HEDDLE_CONTAINER_COUNTER, HEDDLE_SCHEME_SLAB, 64, 64}, false, HEDDLE_POLICY_KEEP},
};
#define SUBJECTS (sizeof subjects / sizeof subjects[0])

static bool is_compiled(const shared_kind *kind)
{
    heddle_table_options options = shared_options(kind);
    heddle_device *device = NULL;
    heddle_table *table = NULL;
    check_ok(heddle_device_open("cpu:1", &device));
    heddle_status status = heddle_table_create(device, &options, &table);
    heddle_table_destroy(table);
    options.scheme = HEDDLE_SCHEME_CUCKOO; /* that of hot keys */
    if (status == HEDDLE_OK) status = heddle_table_create(device, &options, &table);
    if (status == HEDDLE_OK) heddle_table_destroy(table);
    heddle_device_close(device);
    return status == HEDDLE_OK;
}

/* Builds, and inserts twice: keys that are there already, and then some that are not. */
static void try_subject(const subject *s, const char *devices, uint32_t data, uint64_t slice)
{
    const uint64_t n = case_size(30000), third = n / 3;
    const bool equal = s->policy == HEDDLE_POLICY_KEEP || s->policy == HEDDLE_POLICY_REPLACE;
    const bool counter = s->kind.container == HEDDLE_CONTAINER_COUNTER;
    pair_of_tables t = tables_make(&s->kind, devices, slice);
    uint64_t *keys = keys_allocate(n), *values = keys_allocate(n);
    const uint64_t before = hd_tune.hot_rows_folded;
    case_note("%s %u, policy %u, %s, on %s", s->kind.name, s->kind.key_bits, s->policy,
              data_names[data], devices);
    for (uint32_t batch = 0; batch < 3; batch++) {
        const uint64_t rows = batch == 0 ? n : n - third;
        fill_data(keys, rows, data, s->kind.key_bits, 5 + batch / 2);
        if (equal && !counter) shared_values(values, keys, rows, batch);
        else keys_fill_values(values, rows, batch);
        void *k = shared_narrow(keys, rows, s->kind.key_bits);
        void *v = s->values ? shared_narrow(values, rows, s->kind.value_bits) : NULL;
        give_both(&t, batch == 0, k, v, rows, s->policy);
        check_same(&t);
        free(k);
        free(v);
    }
    const uint64_t folded = hd_tune.hot_rows_folded - before;
    if (data == DATA_EVEN || t.members == 1) assert_int_equal(folded, 0);
    else check(folded >= n / 4, "only %llu rows were folded", (unsigned long long)folded);
    free(keys);
    free(values);
    tables_free(&t);
}

typedef struct trial {
    const subject *subject;
    uint64_t slice;
} trial;

/* shared_devices. */
static void try_datas(const char *devices, uint32_t members, void *context)
{
    const trial *t = (const trial *)context;
    (void)members;
    for (uint32_t data = 0; data < DATAS; data++) try_subject(t->subject, devices, data, t->slice);
}

static void try_all(uint64_t slice)
{
    static const uint32_t members[] = {1, 2, 3, 4, 7};
    const size_t step = case_quick() ? 2 : 1;
    hd_tune.hot_rows_least = ROWS_LEAST;
    for (size_t i = 0; i < SUBJECTS; i++) {
        trial t = {&subjects[i], slice};
        if (!is_compiled(&subjects[i].kind)) continue;
        for (size_t m = 0; m < sizeof members / sizeof members[0]; m += step)
            shared_run_devices(try_datas, &t, members[m]);
    }
    hd_tune.hot_rows_least = HD_TUNING_NONE;
}

static void folded_is_the_same(void **state)
{
    (void)state;
    try_all(0);
}

/* In many small slices, of which some have no hot key or nothing else; and where rows are copied. */
static void folded_is_the_same_in_slices(void **state)
{
    (void)state;
    hd_tune.local_copies = true;
    try_all(1000);
    hd_tune.local_copies = false;
}

/* ------------------------------------------------------------------------------ what is specified */

static const shared_kind map_kind = {"map", HEDDLE_CONTAINER_MAP, HEDDLE_SCHEME_CUCKOO, 32, 32};
static const shared_kind counter_kind = {"counter", HEDDLE_CONTAINER_COUNTER, HEDDLE_SCHEME_CUCKOO,
                                         32, 32};

/* Of equal keys with different values one wins; a key that is there keeps its value, or loses it. */
static void values_are_of_some_row(void **state)
{
    const uint32_t n = 30000;
    uint64_t *keys = keys_allocate(n);
    uint32_t *values = malloc(n * sizeof *values), *answers = malloc(n * sizeof *answers);
    (void)state;
    hd_tune.hot_rows_least = ROWS_LEAST;
    fill_data(keys, n, DATA_ZIPF, 32, 11);
    uint32_t *k = shared_narrow(keys, n, 32);
    for (uint32_t policy = HEDDLE_POLICY_KEEP; policy <= HEDDLE_POLICY_REPLACE; policy++) {
        heddle_insert_options options = HEDDLE_INSERT_OPTIONS_INIT;
        shared s = shared_create(&map_kind, groups[3], 0, NULL);
        options.policy = policy;
        for (uint32_t batch = 0; batch < 2; batch++) {
            const uint64_t before = hd_tune.hot_rows_folded;
            for (uint32_t i = 0; i < n; i++) values[i] = batch * n + i;
            check_ok(heddle_cluster_table_insert(s.table, k, values, n, &options, NULL));
            check(hd_tune.hot_rows_folded > before, "nothing was folded");
            check_ok(heddle_cluster_table_find(s.table, k, n, answers, NULL, NULL));
            const uint32_t base = policy == HEDDLE_POLICY_REPLACE ? batch * n : 0;
            for (uint32_t i = 0; i < n; i++)
                check(answers[i] >= base && answers[i] - base < n && k[answers[i] - base] == k[i],
                      "row %u: value %u is none of its key's", i, answers[i]);
        }
        shared_destroy(&s);
    }
    hd_tune.hot_rows_least = HD_TUNING_NONE;
    free(k);
    free(keys);
    free(values);
    free(answers);
}

/* Rows of keys that found no room have failed, those that were folded too. */
static void failed_rows_are_counted(void **state)
{
    const uint32_t n = 40000;
    uint64_t *keys = keys_allocate(n);
    uint8_t *found = malloc(n);
    (void)state;
    hd_tune.hot_rows_least = ROWS_LEAST;
    fill_data(keys, n, DATA_ZIPF, 32, 13);
    uint32_t *k = shared_narrow(keys, n, 32);
    for (int builds = 0; builds < 2; builds++) {
        heddle_table_options options = shared_options(&counter_kind);
        heddle_totals totals = HEDDLE_TOTALS_INIT, look = HEDDLE_TOTALS_INIT;
        options.flags = HEDDLE_FLAG_FIXED;
        options.capacity = 64;
        shared s = shared_create(&counter_kind, groups[2], 0, &options);
        const uint64_t before = hd_tune.hot_rows_folded;
        if (!builds) { /* others first, so that hot keys find no room */
            uint32_t others[2000];
            for (uint32_t i = 0; i < 2000; i++) others[i] = 0x80000000u + i * 7919;
            check_status(heddle_cluster_table_insert(s.table, others, NULL, 2000, NULL, NULL),
                         HEDDLE_ERROR_FULL);
        }
        check_status(builds ? heddle_cluster_table_build(s.table, k, NULL, n, NULL, &totals)
                            : heddle_cluster_table_insert(s.table, k, NULL, n, NULL, &totals),
                     HEDDLE_ERROR_FULL);
        check(hd_tune.hot_rows_folded > before, "nothing was folded");
        check_ok(heddle_cluster_table_contains(s.table, k, n, found, &look));
        assert_int_equal(totals.inserted + totals.updated + totals.kept + totals.failed, n);
        assert_int_equal(totals.failed, look.absent);
        check(totals.failed > n / 4 || builds, "hot keys found room");
        check_ok(heddle_cluster_table_validate(s.table));
        shared_destroy(&s);
    }
    hd_tune.hot_rows_least = HD_TUNING_NONE;
    free(k);
    free(keys);
    free(found);
}

/* ------------------------------------------------------------------------------------ even loads */

/* Batches of the usual size, as callers give them. */
static void zipf_is_even(void **state)
{
    const uint64_t n = UINT64_C(1) << 21;
    (void)state;
    if (case_quick()) skip();
    uint64_t *keys = keys_allocate(n);
    fill_zipf(keys, n, 1 << 20, 77);
    void *k = shared_narrow(keys, n, 32);
    for (size_t g = 3; g < GROUPS; g++)
        for (uint64_t seed = 1; seed <= 3; seed++) {
            heddle_cluster_stats stats = HEDDLE_CLUSTER_STATS_INIT;
            heddle_table_options options = shared_options(&counter_kind);
            heddle_spread_options spread = HEDDLE_SPREAD_OPTIONS_INIT;
            heddle_cluster *cluster = NULL;
            heddle_cluster_table *table = NULL;
            const uint64_t before = hd_tune.hot_rows_folded;
            spread.seed = seed;
            check_ok(heddle_cluster_open(groups[g], NULL, &cluster));
            check_ok(heddle_cluster_table_create(cluster, &options, &spread, &table));
            check_ok(heddle_cluster_table_build(table, k, NULL, n, NULL, NULL));
            check_ok(heddle_cluster_table_get_stats(table, &stats));
            check(stats.row_imbalance < 0.1, "%s: rows %.3f", groups[g], stats.row_imbalance);
            assert_int_equal(stats.rows, n);
            check(hd_tune.hot_rows_folded - before > n / 4, "nothing was folded");
            check_ok(heddle_cluster_table_insert(table, k, NULL, n, NULL, NULL));
            check_ok(heddle_cluster_table_get_stats(table, &stats));
            check(stats.row_imbalance < 0.1, "%s: rows %.3f", groups[g], stats.row_imbalance);
            assert_int_equal(stats.rows, 2 * n);
            check_ok(heddle_cluster_table_clear(table));
            check_ok(heddle_cluster_table_get_stats(table, &stats));
            assert_int_equal(stats.rows, 0);
            heddle_cluster_table_destroy(table);
            heddle_cluster_close(cluster);
        }
    free(k);
    free(keys);
}

/* ---------------------------------------------------------------------------------------- faults */

#define FAULT_ROWS 6000
#define FAULT_FILLED 500

static heddle_status cluster_write(pair_of_tables *t, bool builds, const uint32_t *keys,
                                   heddle_totals *totals)
{
    return builds ? heddle_cluster_table_build(t->table, keys, NULL, FAULT_ROWS, NULL, totals)
                  : heddle_cluster_table_insert(t->table, keys, NULL, FAULT_ROWS, NULL, totals);
}

/* After a call that failed: nothing is there but what was, or nothing at all, or what it says. */
static void check_failed(pair_of_tables *t, bool builds, const uint32_t *keys, uint64_t size,
                         const heddle_totals *said)
{
    heddle_totals look = HEDDLE_TOTALS_INIT;
    uint64_t left = 0;
    if (heddle_cluster_table_size(t->table, &left) != HEDDLE_OK || left == size) return;
    if (builds && left == 0) return;
    check_ok(heddle_cluster_table_contains(t->table, keys, FAULT_ROWS, NULL, &look));
    assert_int_equal(said->failed, look.absent);
}

/* The call with one allocation that fails; whether there was such an allocation. */
static bool strike(pair_of_tables *t, bool builds, const uint32_t *keys, uint64_t fault)
{
    heddle_totals a = HEDDLE_TOTALS_INIT, b = HEDDLE_TOTALS_INIT;
    uint64_t size = 0;
    check_ok(heddle_table_size(t->single, &size, NULL));
    hd_fault_arm(fault);
    const heddle_status status = cluster_write(t, builds, keys, &a);
    const bool struck = hd_fault_struck();
    hd_fault_arm(0);
    check(status == HEDDLE_OK || (struck && status == HEDDLE_ERROR_NO_MEMORY), "%s: %s",
          heddle_status_string(status), heddle_last_error());
    if (status != HEDDLE_OK) {
        check_failed(t, builds, keys, size, &a);
        return struck;
    }
    check_ok(builds ? heddle_table_build(t->single, keys, NULL, FAULT_ROWS, NULL, &b, NULL)
                    : heddle_table_insert(t->single, keys, NULL, FAULT_ROWS, NULL, &b, NULL));
    assert_int_equal(a.inserted, b.inserted);
    assert_int_equal(a.updated, b.updated);
    check_same(t);
    return struck;
}

/* Whatever cannot be had on some member: the call goes without combining, or fails and changes nothing that it does not
   say. */
static void fail_each(bool builds, bool copies)
{
    uint64_t *keys = keys_allocate(FAULT_ROWS + FAULT_FILLED), combined = 0;
    bool struck = true;
    hd_tune.local_copies = copies;
    fill_data(keys, FAULT_ROWS + FAULT_FILLED, DATA_ZIPF, 32, 17);
    uint32_t *k = shared_narrow(keys, FAULT_ROWS + FAULT_FILLED, 32);
    for (uint64_t fault = 1; struck; fault++) {
        pair_of_tables t = tables_make(&counter_kind, groups[2], 700);
        check(fault < FAULTS_MAX, "there is no end of allocations");
        case_note("allocation %llu", (unsigned long long)fault);
        give_both(&t, false, k + FAULT_ROWS, NULL, FAULT_FILLED, HEDDLE_POLICY_KEEP);
        for (uint32_t i = 0; i < t.members; i++)
            check_ok(heddle_device_trim(heddle_cluster_device(t.cluster, i)));
        const uint64_t before = hd_tune.hot_rows_folded;
        struck = strike(&t, builds, k, fault);
        combined += hd_tune.hot_rows_folded > before;
        check_ok(heddle_cluster_table_clear(t.table));
        check_ok(heddle_table_clear(t.single, NULL));
        give_both(&t, false, k, NULL, FAULT_ROWS, HEDDLE_POLICY_KEEP);
        check_same(&t);
        tables_free(&t);
    }
    check(combined > 3, "nothing was folded");
    hd_tune.local_copies = false;
    free(k);
    free(keys);
}

static void memory_runs_out(void **state)
{
    (void)state;
    hd_tune.hot_rows_least = ROWS_LEAST;
    for (int i = 0; i < 4; i++) fail_each(i % 2 == 0, i / 2 != 0);
    case_note("%s", "");
    hd_tune.hot_rows_least = HD_TUNING_NONE;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ONCE(folded_is_the_same),     ONCE(folded_is_the_same_in_slices),
        ONCE(values_are_of_some_row), ONCE(failed_rows_are_counted),
        ONCE(zipf_is_even),           ONCE(memory_runs_out)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
