/* test_cluster_arguments.c: what tables of clusters refuse, before anything is changed and with a reason. */
#include <stdlib.h>
#include <string.h>

#include "support/cluster_model.h"
#include "support/keys.h"

static void check_refused(heddle_status status, heddle_status expected, const char *word)
{
    assert_int_equal(status, expected);
    check(strstr(heddle_last_error(), word) != NULL, "\"%s\" does not say \"%s\"",
          heddle_last_error(), word);
}

static void groups_refuse_bad_names(void **state)
{
    heddle_cluster *cluster = NULL;
    heddle_cluster_options options = HEDDLE_CLUSTER_OPTIONS_INIT;
    (void)state;
    check_refused(heddle_cluster_open(NULL, NULL, &cluster), HEDDLE_ERROR_INVALID, "names");
    check_refused(heddle_cluster_open("cpu", NULL, NULL), HEDDLE_ERROR_INVALID, "place");
    check_refused(heddle_cluster_open("", NULL, &cluster), HEDDLE_ERROR_INVALID, "no device");
    check_refused(heddle_cluster_open("cpu:1,", NULL, &cluster), HEDDLE_ERROR_INVALID, "no device");
    check_refused(heddle_cluster_open("cpu:1,tpu", NULL, &cluster), HEDDLE_ERROR_INVALID, "tpu");
    check_refused(heddle_cluster_open("cpu:1,cuda:99", NULL, &cluster), HEDDLE_ERROR_NO_DEVICE, "");
    options.size = 1;
    check_refused(heddle_cluster_open("cpu:1", &options, &cluster), HEDDLE_ERROR_INVALID, "INIT");
    assert_null(cluster);
    heddle_cluster_close(NULL);
    heddle_cluster_table_destroy(NULL);
    assert_null(heddle_cluster_device(NULL, 0));
    assert_null(heddle_cluster_table_part(NULL, 0));
}

static void groups_describe_themselves(void **state)
{
    heddle_cluster *cluster = NULL;
    heddle_cluster_info info = HEDDLE_CLUSTER_INFO_INIT;
    heddle_device_info device = HEDDLE_DEVICE_INFO_INIT;
    (void)state;
    check_ok(heddle_cluster_open("cpu:1,cpu:2", NULL, &cluster));
    check_ok(heddle_cluster_get_info(cluster, &info));
    assert_int_equal(info.members, 2);
    assert_int_equal(info.first_member, 0);
    assert_int_equal(info.local_members, 2);
    check(info.slice > 0, "no slice");
    check_ok(heddle_device_get_info(heddle_cluster_device(cluster, 1), &device));
    assert_int_equal(device.threads, 2);
    assert_null(heddle_cluster_device(cluster, 2));
    info.size = 3;
    check_refused(heddle_cluster_get_info(cluster, &info), HEDDLE_ERROR_INVALID, "size");
    heddle_cluster_close(cluster);
}

static void tables_refuse_bad_options(void **state)
{
    heddle_cluster *cluster = NULL;
    heddle_cluster_table *table = NULL;
    heddle_table_options options = HEDDLE_TABLE_OPTIONS_INIT;
    heddle_spread_options spread = HEDDLE_SPREAD_OPTIONS_INIT;
    (void)state;
    check_ok(heddle_cluster_open("cpu:1,cpu:1", NULL, &cluster));
    check_refused(heddle_cluster_table_create(NULL, NULL, NULL, &table), HEDDLE_ERROR_INVALID,
                  "cluster");
    check_refused(heddle_cluster_table_create(cluster, NULL, NULL, NULL), HEDDLE_ERROR_INVALID,
                  "place");
    options.key_bits = 17;
    check_refused(heddle_cluster_table_create(cluster, &options, NULL, &table),
                  HEDDLE_ERROR_INVALID, "17");
    options.key_bits = 32;
    options.scheme = 99;
    check_refused(heddle_cluster_table_create(cluster, &options, NULL, &table),
                  HEDDLE_ERROR_UNSUPPORTED, "99");
    spread.balance = 9;
    check_refused(heddle_cluster_table_create(cluster, NULL, &spread, &table), HEDDLE_ERROR_INVALID,
                  "balance");
    spread.balance = HEDDLE_BALANCE_AUTO;
    spread.reserved = 1;
    check_refused(heddle_cluster_table_create(cluster, NULL, &spread, &table), HEDDLE_ERROR_INVALID,
                  "reserved");
    spread.size = 0;
    check_refused(heddle_cluster_table_create(cluster, NULL, &spread, &table), HEDDLE_ERROR_INVALID,
                  "INIT");
    assert_null(table);
    heddle_cluster_close(cluster);
}

/* What a table was made with comes back as it was chosen, for the parts together. */
static void tables_tell_their_options(void **state)
{
    heddle_cluster *cluster = NULL;
    heddle_cluster_table *table = NULL;
    heddle_table_options options = HEDDLE_TABLE_OPTIONS_INIT, got = HEDDLE_TABLE_OPTIONS_INIT;
    heddle_spread_options spread = HEDDLE_SPREAD_OPTIONS_INIT, chosen = HEDDLE_SPREAD_OPTIONS_INIT;
    uint64_t capacity = 0;
    (void)state;
    options.capacity = 100000;
    options.bucket = 8;
    options.value_bits = 64;
    options.seed = 77;
    spread.seed = 99;
    check_ok(heddle_cluster_open("cpu:1,cpu:1,cpu:1", NULL, &cluster));
    check_ok(heddle_cluster_table_create(cluster, &options, &spread, &table));
    check_ok(heddle_cluster_table_get_options(table, &got, &chosen));
    for (uint32_t i = 0; i < 3; i++) {
        heddle_table_options part = HEDDLE_TABLE_OPTIONS_INIT;
        check_ok(heddle_table_get_options(heddle_cluster_table_part(table, i), &part));
        assert_int_equal(part.seed, got.seed);
        assert_int_equal(part.scheme, got.scheme);
        capacity += part.capacity;
    }
    assert_int_equal(got.capacity, capacity);
    check(got.capacity >= 100000, "room for %llu", (unsigned long long)got.capacity);
    assert_int_equal(got.value_bits, 64);
    assert_int_equal(got.seed, 77);
    assert_int_equal(chosen.seed, 99);
    assert_int_equal(chosen.balance, HEDDLE_BALANCE_KEYS);
    assert_int_equal(chosen.mode, HEDDLE_MODE_DISTRIBUTED);
    check_ok(heddle_cluster_table_get_options(table, NULL, &chosen));
    check_ok(heddle_cluster_table_get_options(table, &got, NULL));
    chosen.size = 1;
    check_refused(heddle_cluster_table_get_options(table, &got, &chosen), HEDDLE_ERROR_INVALID,
                  "size");
    check_refused(heddle_cluster_table_get_options(NULL, &got, NULL), HEDDLE_ERROR_INVALID, "NULL");
    heddle_cluster_table_destroy(table);
    spread.seed = 0;
    spread.mode = HEDDLE_MODE_INDEPENDENT;
    check_ok(heddle_cluster_table_create(cluster, &options, &spread, &table));
    chosen.size = sizeof chosen;
    check_ok(heddle_cluster_table_get_options(table, NULL, &chosen));
    assert_int_equal(chosen.mode, HEDDLE_MODE_INDEPENDENT);
    check(chosen.seed != 0, "no seed was drawn");
    heddle_cluster_table_destroy(table);
    heddle_cluster_close(cluster);
}

static const shared_kind map = {"map", HEDDLE_CONTAINER_MAP, HEDDLE_SCHEME_CUCKOO, 32, 32};
static const shared_kind set = {"set", HEDDLE_CONTAINER_SET, HEDDLE_SCHEME_HASHGRAPH, 32, 0};

static void calls_refuse_bad_arrays(void **state)
{
    uint32_t keys[4] = {1, 2, 3, 4}, values[4] = {5, 6, 7, 8};
    uint64_t matches[5], count = 0, workspace[64];
    uint64_t wide[4] = {1, 2, 3, 4};
    heddle_insert_options options = HEDDLE_INSERT_OPTIONS_INIT;
    heddle_cluster_stats stats = HEDDLE_CLUSTER_STATS_INIT;
    (void)state;
    shared s = shared_create(&map, "cpu:1,cpu:1,cpu:1", 0, NULL);
    shared_insert(&s, wide, wide, 4, HEDDLE_POLICY_KEEP, false);
    check_refused(heddle_cluster_table_insert(NULL, keys, values, 4, NULL, NULL),
                  HEDDLE_ERROR_INVALID, "NULL");
    check_refused(heddle_cluster_table_build(s.table, NULL, values, 4, NULL, NULL),
                  HEDDLE_ERROR_INVALID, "keys");
    check_refused(heddle_cluster_table_build(s.table, keys, NULL, 4, NULL, NULL),
                  HEDDLE_ERROR_INVALID, "values");
    check_refused(heddle_cluster_table_build(s.table, (char *)keys + 1, values, 2, NULL, NULL),
                  HEDDLE_ERROR_INVALID, "aligned");
    options.policy = 77;
    check_refused(heddle_cluster_table_insert(s.table, keys, values, 4, &options, NULL),
                  HEDDLE_ERROR_INVALID, "77");
    options.policy = 0;
    options.workspace = workspace;
    options.workspace_bytes = sizeof workspace;
    check_refused(heddle_cluster_table_insert(s.table, keys, values, 4, &options, NULL),
                  HEDDLE_ERROR_INVALID, "workspace");
    options.size = 5;
    check_refused(heddle_cluster_table_insert(s.table, keys, values, 4, &options, NULL),
                  HEDDLE_ERROR_INVALID, "size");
    check_refused(heddle_cluster_table_find(s.table, keys, 4, NULL, NULL, NULL),
                  HEDDLE_ERROR_INVALID, "values");
    check_refused(heddle_cluster_table_find(s.table, NULL, 4, values, NULL, NULL),
                  HEDDLE_ERROR_INVALID, "keys");
    check_refused(heddle_cluster_table_count(s.table, keys, 4, NULL, NULL), HEDDLE_ERROR_INVALID,
                  "matches");
    check_refused(heddle_cluster_table_retrieve(s.table, keys, 4, NULL, NULL, 0, &count),
                  HEDDLE_ERROR_INVALID, "offsets");
    check_refused(heddle_cluster_table_retrieve(s.table, keys, 4, matches, NULL, 0, NULL),
                  HEDDLE_ERROR_INVALID, "count");
    check_refused(heddle_cluster_table_export(s.table, keys, values, 3, &count),
                  HEDDLE_ERROR_TOO_SMALL, "4 pairs");
    assert_int_equal(count, 4);
    check_refused(heddle_cluster_table_for_all(s.table, NULL, NULL), HEDDLE_ERROR_INVALID,
                  "visitor");
    check_refused(heddle_cluster_table_size(s.table, NULL), HEDDLE_ERROR_INVALID, "count");
    stats.size = 1;
    check_refused(heddle_cluster_table_get_stats(s.table, &stats), HEDDLE_ERROR_INVALID, "size");
    shared_check(&s);
    shared_destroy(&s);
}

static void sets_have_no_values(void **state)
{
    uint32_t keys[4] = {1, 2, 3, 4}, values[4];
    uint64_t matches[5], count = 0;
    (void)state;
    shared s = shared_create(&set, "cpu:1,cpu:1", 0, NULL);
    check_refused(heddle_cluster_table_build(s.table, keys, values, 4, NULL, NULL),
                  HEDDLE_ERROR_INVALID, "no values");
    check_refused(heddle_cluster_table_find(s.table, keys, 4, values, NULL, NULL),
                  HEDDLE_ERROR_INVALID, "no values");
    check_refused(heddle_cluster_table_retrieve(s.table, keys, 4, matches, values, 4, &count),
                  HEDDLE_ERROR_INVALID, "no values");
    check_refused(heddle_cluster_table_export(s.table, keys, values, 4, &count),
                  HEDDLE_ERROR_INVALID, "no values");
    shared_check(&s);
    shared_destroy(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ONCE(groups_refuse_bad_names),   ONCE(groups_describe_themselves),
        ONCE(tables_refuse_bad_options), ONCE(tables_tell_their_options),
        ONCE(calls_refuse_bad_arrays),   ONCE(sets_have_no_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
