/*
 * test_refusals.c: a table, a table of a cluster and a shelf refuse the same insertions, with the same status
 * and in the same words, and take the same ones.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/cases.h"
#include "support/files.h"
#include "support/shelf_model.h"

static uint32_t keys[5] = {1, 2, 3, 4, 5}, values[5] = {5, 6, 7, 8, 9};
static uint64_t failed[4];

/* The three that are asked to insert. */
typedef struct takers {
    heddle_device *device;
    heddle_cluster *cluster;
    heddle_table *table;
    heddle_cluster_table *shared;
    heddle_shelf *shelf;
    char directory[512];
} takers;

static takers takers_open(uint32_t container)
{
    heddle_table_options options = HEDDLE_TABLE_OPTIONS_INIT;
    takers t;
    memset(&t, 0, sizeof t);
    options.container = container;
    options.value_bits = container == HEDDLE_CONTAINER_SET ? 0 : 32;
    if (container == HEDDLE_CONTAINER_SET) options.scheme = HEDDLE_SCHEME_HASHGRAPH;
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
    static const uint32_t containers[] = {HEDDLE_CONTAINER_MAP, HEDDLE_CONTAINER_SET,
                                          HEDDLE_CONTAINER_MULTIMAP, HEDDLE_CONTAINER_COUNTER};
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
            if (containers[i] == HEDDLE_CONTAINER_SET) a.values = NULL;
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
