/*
 * test_refusals.c: a table, a table of a cluster and a shelf refuse the same insertions, with the same status
 * and in the same words, and take the same ones. Typed calls (heddle/typed.h) on them refuse arrays of other widths.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/cases.h"
#include "support/files.h"
#include "support/shelf_model.h"

static uint32_t keys[5] = {1, 2, 3, 4, 5}, values[5] = {5, 6, 7, 8, 9};
static uint64_t failed[4], wide[4] = {1, 2, 3, 4};

/* The three that are asked to insert. */
typedef struct takers {
    heddle_device *device;
    heddle_cluster *cluster;
    heddle_table *table;
    heddle_cluster_table *shared;
    heddle_shelf *shelf;
    char directory[512];
} takers;

static takers takers_open(heddle_table_options options)
{
    takers t;
    memset(&t, 0, sizeof t);
    if (options.container == HEDDLE_CONTAINER_SET) options.scheme = HEDDLE_SCHEME_HASHGRAPH;
    snprintf(t.directory, sizeof t.directory, "%s", files_path("refusals"));
    check_ok(heddle_device_open("cpu:1", &t.device));
    check_ok(heddle_cluster_open("cpu:1,cpu:1", NULL, &t.cluster));
    check_ok(heddle_table_create(t.device, &options, &t.table));
    check_ok(heddle_cluster_table_create(t.cluster, &options, NULL, &t.shared));
    check_ok(heddle_shelf_create(t.device, t.directory, &options, NULL, &t.shelf));
    return t;
}

static void takers_close(takers *t)
{
    heddle_shelf_close(t->shelf);
    heddle_cluster_table_destroy(t->shared);
    heddle_table_destroy(t->table);
    heddle_cluster_close(t->cluster);
    heddle_device_close(t->device);
    shelved_remove(t->directory);
}

/* An insertion, or a build. */
typedef struct attempt {
    const void *keys, *values;
    heddle_insert_options options;
    bool builds;
} attempt;

static heddle_status insert_table(const takers *t, const attempt *a)
{
    return a->builds
               ? heddle_table_build(t->table, a->keys, a->values, 4, &a->options, NULL, NULL)
               : heddle_table_insert(t->table, a->keys, a->values, 4, &a->options, NULL, NULL);
}

static heddle_status insert_shared(const takers *t, const attempt *a)
{
    return a->builds
               ? heddle_cluster_table_build(t->shared, a->keys, a->values, 4, &a->options, NULL)
               : heddle_cluster_table_insert(t->shared, a->keys, a->values, 4, &a->options, NULL);
}

static heddle_status insert_shelf(const takers *t, const attempt *a)
{
    return a->builds ? heddle_shelf_build(t->shelf, a->keys, a->values, 4, &a->options, NULL)
                     : heddle_shelf_insert(t->shelf, a->keys, a->values, 4, &a->options, NULL);
}

/* All three do as the table does, and say what it says. */
static void compare(const takers *t, const attempt *a, const char *what)
{
    char words[512];
    const heddle_status status = insert_table(t, a);
    snprintf(words, sizeof words, "%s", status != HEDDLE_OK ? heddle_last_error() : "");
    case_note("%s: %s", what, words);
    assert_int_equal(insert_shared(t, a), status);
    check(strstr(status != HEDDLE_OK ? heddle_last_error() : "", words) != NULL,
          "the cluster says \"%s\"", heddle_last_error());
    assert_int_equal(insert_shelf(t, a), status);
    check(strstr(status != HEDDLE_OK ? heddle_last_error() : "", words) != NULL,
          "the shelf says \"%s\"", heddle_last_error());
}

static void same_refusals(void **state)
{
    static const heddle_table_options containers[] = {
        HEDDLE_MAP_OPTIONS(uint32_t, uint32_t), HEDDLE_SET_OPTIONS(uint32_t),
        HEDDLE_MULTIMAP_OPTIONS(uint32_t, uint32_t), HEDDLE_COUNTER_OPTIONS(uint32_t, uint32_t)};
    const attempt plain = {keys, values, HEDDLE_INSERT_OPTIONS_INIT, false};
    (void)state;
    for (size_t i = 0; i < sizeof containers / sizeof containers[0]; i++) {
        takers t = takers_open(containers[i]);
        attempt a = plain;
        for (int builds = 0; builds < 2; builds++) {
            a = plain;
            a.builds = builds != 0;
            compare(&t, &a, "pairs");
            a.values = NULL;
            compare(&t, &a, "no values");
            a.values = (const char *)values + 1;
            compare(&t, &a, "values not aligned");
            a.values = values;
            a.keys = NULL;
            compare(&t, &a, "no keys");
            a.keys = (const char *)keys + 1;
            compare(&t, &a, "keys not aligned");
        }
        for (uint32_t policy = 0; policy <= HEDDLE_POLICY_MAX + 1; policy++) {
            a = plain;
            if (containers[i].container == HEDDLE_CONTAINER_SET) a.values = NULL;
            a.options.policy = policy;
            compare(&t, &a, "a policy");
        }
        a.options.policy = HEDDLE_POLICY_KEEP;
        a.options.failed_capacity = 4;
        compare(&t, &a, "no array for failed keys");
        a.options.failed = (uint64_t *)(void *)((char *)failed + 4);
        compare(&t, &a, "failed keys not aligned");
        a.options.failed = NULL;
        a.options.failed_capacity = 0;
        a.options.workspace_bytes = 64;
        compare(&t, &a, "bytes without a workspace");
        a.options.workspace_bytes = 0;
        a.options.size = 3;
        compare(&t, &a, "options of no size");
        takers_close(&t);
    }
}

/* A typed call was refused with a sentence that names both widths. */
static void check_width(heddle_status status, const char *words)
{
    check_status(status, HEDDLE_ERROR_INVALID);
    check(strstr(heddle_last_error(), words) != NULL, "\"%s\" does not say \"%s\"",
          heddle_last_error(), words);
}

static void tables_refuse_wide(heddle_table *t)
{
    static const char keys_differ[] = "keys of 64 bits, the table keys of 32";
    static const char values_differ[] = "values of 64 bits, the table values of 32";
    const uint8_t operation = HEDDLE_OPERATION_INSERT;
    uint64_t count = 0;
    check_width(heddle_map_build(t, wide, values, 4, NULL, NULL, NULL), keys_differ);
    check_width(heddle_map_retrieve_all(t, wide, NULL, values, 4, 4, &count, &count, NULL),
                keys_differ);
    check_width(heddle_map_mixed(t, &operation, keys, values, 1, wide, NULL, NULL, NULL),
                values_differ);
    check_width(heddle_map_mixed(t, &operation, keys, wide, 1, values, NULL, NULL, NULL),
                values_differ);
    check_width(heddle_set_mixed(t, &operation, wide, 1, NULL, NULL, NULL), keys_differ);
    check_width(heddle_map_at(t, failed, 4, keys, wide, NULL, NULL), values_differ);
    check_width(heddle_set_at(t, failed, 4, wide, NULL, NULL), keys_differ);
    check_width(heddle_set_locate(t, wide, 4, failed, NULL, NULL), keys_differ);
    check_width(heddle_set_for_each(t, wide, 4, NULL, NULL, NULL), keys_differ);
    check_ok(heddle_table_size(t, &count, NULL));
    assert_int_equal(count, 0);
}

static void clusters_refuse_wide(heddle_cluster_table *t)
{
    static const char keys_differ[] = "keys of 64 bits, the table keys of 32";
    static const char values_differ[] = "values of 64 bits, the table values of 32";
    uint64_t count = 0;
    check_width(heddle_cluster_map_build(t, wide, values, 4, NULL, NULL), keys_differ);
    check_width(heddle_cluster_map_insert(t, keys, wide, 4, NULL, NULL), values_differ);
    check_width(heddle_cluster_map_find(t, keys, 4, wide, NULL, NULL), values_differ);
    check_width(heddle_cluster_set_build(t, wide, 4, NULL, NULL), keys_differ);
    check_width(heddle_cluster_set_erase(t, wide, 4, NULL, NULL), keys_differ);
    check_width(heddle_cluster_set_export(t, wide, 4, &count), keys_differ);
    check_width(heddle_cluster_set_contains(NULL, keys, 4, NULL, NULL), "NULL");
    check_ok(heddle_cluster_table_size(t, &count));
    assert_int_equal(count, 0);
}

static void shelves_refuse_wide(heddle_shelf *s)
{
    static const char keys_differ[] = "keys of 64 bits, the shelf keys of 32";
    static const char values_differ[] = "values of 64 bits, the shelf values of 32";
    uint64_t count = 0;
    check_width(heddle_shelf_map_build(s, wide, values, 4, NULL, NULL), keys_differ);
    check_width(heddle_shelf_map_insert(s, keys, wide, 4, NULL, NULL), values_differ);
    check_width(heddle_shelf_map_find(s, keys, 4, wide, NULL, NULL), values_differ);
    check_width(heddle_shelf_set_build(s, wide, 4, NULL, NULL), keys_differ);
    check_width(heddle_shelf_set_erase(s, wide, 4, NULL, NULL), keys_differ);
    check_width(heddle_shelf_set_export(s, wide, 4, &count), keys_differ);
    check_width(heddle_shelf_set_contains(NULL, keys, 4, NULL, NULL), "NULL");
    check_ok(heddle_shelf_size(s, &count));
    assert_int_equal(count, 0);
}

static void arrays_too_wide(void **state)
{
    const heddle_table_options options = HEDDLE_MAP_OPTIONS(uint32_t, uint32_t);
    takers t = takers_open(options);
    (void)state;
    tables_refuse_wide(t.table);
    clusters_refuse_wide(t.shared);
    shelves_refuse_wide(t.shelf);
    takers_close(&t);
}

static void arrays_too_narrow(void **state)
{
    const heddle_table_options options = HEDDLE_MAP_OPTIONS(uint64_t, double);
    takers t = takers_open(options);
    uint64_t count = 0;
    (void)state;
    check_width(heddle_map_insert(t.table, wide, keys, 4, NULL, NULL, NULL),
                "values of 32 bits, the table values of 64");
    check_width(heddle_cluster_map_insert(t.shared, keys, keys, 4, NULL, NULL),
                "keys of 32 bits, the table keys of 64");
    check_width(heddle_shelf_set_count(t.shelf, keys, 4, failed, NULL),
                "keys of 32 bits, the shelf keys of 64");
    /* Arrays of the right widths are taken, whatever their signs. */
    check_ok(heddle_cluster_map_build(t.shared, (const int64_t *)wide, (const double *)wide, 4,
                                      NULL, NULL));
    check_ok(heddle_shelf_map_build(t.shelf, wide, (const int64_t *)wide, 4, NULL, NULL));
    check_ok(heddle_cluster_table_size(t.shared, &count));
    assert_int_equal(count, 4);
    check_ok(heddle_shelf_size(t.shelf, &count));
    assert_int_equal(count, 4);
    takers_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_refusals),
        cmocka_unit_test(arrays_too_wide),
        cmocka_unit_test(arrays_too_narrow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
