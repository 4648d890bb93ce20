/*
 * test_cluster_groups.c: group-bys over clusters of several members against a plain model: keys of all widths, nulls, all
 * aggregates of all types, numbers of groups, skew, wrong arguments, and memory that runs out.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "support/cluster_model.h"
#include "support/cluster_relate.h"

#define SLICE 150 /* so that a few thousand rows go in many rounds */

static const uint32_t widths[] = {32, 64};

static heddle_relation_stats check_table(heddle_cluster *cluster, const table_model *t,
                                         uint32_t row_bits)
{
    const relate_share share = relate_whole(t->rows, 0);
    return relate_by_check(cluster, t, &share, row_bits, relate_alone);
}

static void cluster_key_sets(const char *devices, uint32_t members, void *context)
{
    static const uint64_t sizes[] = {0, 1, 5, 2000};
    heddle_cluster *cluster = relate_open(devices, SLICE);
    (void)members, (void)context;
    for (uint32_t set = 0; set < KEYS_SETS; set++)
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
            const uint64_t n = case_size(sizes[s]);
            const uint32_t bits = widths[(set + s) % 2];
            uint64_t *keys = keys_allocate(n + 1);
            case_note("%s, %llu rows on %s", keys_name(set), (unsigned long long)n, devices);
            keys_fill(keys, n, set, bits, 11 + set);
            table_model t = table_of_keys(keys, n, bits);
            check_table(cluster, &t, widths[set % 2]);
            table_free(&t);
            free(keys);
        }
    heddle_cluster_close(cluster);
}
static void key_sets_are_grouped(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < shared_members_count; i++)
        shared_run_devices(cluster_key_sets, NULL, shared_members[i]);
}

static void group_shapes(const char *devices, uint32_t members, void *context)
{
    heddle_cluster *cluster = relate_open(devices, SLICE);
    (void)members, (void)context;
    for (uint32_t shape = 0; shape < TABLE_SHAPES; shape++)
        for (uint64_t distinct = 10; distinct <= 1500; distinct = distinct * 100 + 200) {
            case_note("shape %u with %llu keys on %s", shape, (unsigned long long)distinct,
                      devices);
            table_model t = table_make(shape, case_size(1600), distinct, shape + 3);
            check_table(cluster, &t, widths[shape % 2]);
            table_free(&t);
        }
    heddle_cluster_close(cluster);
}
static void keys_of_many_columns_are_grouped(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < shared_members_count; i++)
        shared_run_devices(group_shapes, NULL, shared_members[i]);
}

/* Half of the rows have one key: the others are spread over the others, and the imbalance is said. */
static void group_skew(const char *devices, uint32_t members, void *context)
{
    const uint64_t n = 8000;
    uint64_t *keys = keys_allocate(n), state = 3;
    heddle_cluster *cluster = relate_open(devices, SLICE);
    (void)context;
    for (uint64_t i = 0; i < n; i++) keys[i] = i % 2 == 0 ? 77 : keys_below(&state, n);
    table_model t = table_of_keys(keys, n, 32);
    const heddle_relation_stats stats = check_table(cluster, &t, 32);
    const double least = members / 2.0 - 1; /* that half alone */
    check(stats.imbalance > least - 0.01 && stats.imbalance < (least > 0 ? least : 0) + 0.1,
          "an imbalance of %.2f with %u members", stats.imbalance, members);
    table_free(&t);
    free(keys);
    heddle_cluster_close(cluster);
}
static void skew_is_grouped(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < shared_members_count; i++)
        shared_run_devices(group_skew, NULL, shared_members[i]);
}

/* Slices as the library chooses them, and rows enough for several. */
static void group_many(const char *devices, uint32_t members, void *context)
{
    const uint64_t n = case_size(500000);
    uint64_t *keys = keys_allocate(n), state = 9;
    heddle_cluster *cluster = relate_open(devices, 0);
    (void)members, (void)context;
    for (uint64_t i = 0; i < n; i++) keys[i] = keys_below(&state, n / 4);
    table_model t = table_of_keys(keys, n, 64);
    const heddle_relation_stats stats = check_table(cluster, &t, 64);
    check(stats.imbalance < 0.1, "the imbalance is %.2f", stats.imbalance);
    table_free(&t);
    free(keys);
    heddle_cluster_close(cluster);
}
static void many_rows_are_grouped(void **state)
{
    (void)state;
    shared_run_devices(group_many, NULL, 2);
    shared_run_devices(group_many, NULL, 3);
}

/* ------------------------------------------------------------------------------------- arguments */

static void refuse(heddle_cluster *cluster, const heddle_column *keys, uint32_t columns,
                   const heddle_groups_options *options, const char *why)
{
    heddle_cluster_groups *by = (heddle_cluster_groups *)1;
    check_status(heddle_cluster_groups_create(cluster, keys, columns, 5, options, &by),
                 HEDDLE_ERROR_INVALID);
    assert_null(by);
    check(strstr(heddle_last_error(), why) != NULL, "\"%s\" does not say \"%s\"",
          heddle_last_error(), why);
}

static void wrong_arguments_are_refused(void **state)
{
    uint64_t keys[5] = {1, 2, 3, 4, 5}, numbers[6], count = 0;
    heddle_cluster *cluster = relate_open("cpu:1,cpu:1", 0);
    const heddle_column good = HEDDLE_COLUMN(keys, 8);
    heddle_column bad = good;
    heddle_groups_options options = HEDDLE_GROUPS_OPTIONS_INIT;
    heddle_relation_stats stats = HEDDLE_RELATION_STATS_INIT;
    heddle_cluster_groups *by = NULL;
    (void)state;
    refuse(cluster, NULL, 1, NULL, "no columns");
    refuse(cluster, &good, 0, NULL, "1 to 16 columns");
    bad.width = 0;
    refuse(cluster, &bad, 1, NULL, "width of 0");
    bad = good, bad.data = NULL;
    refuse(cluster, &bad, 1, NULL, "no data");
    options.order = HEDDLE_GROUPS_BY_FIRST;
    refuse(cluster, &good, 1, &options, "no order");
    options.order = 0, options.row_bits = 8;
    refuse(cluster, &good, 1, &options, "row_bits");
    options.row_bits = 64, options.flags = 2;
    refuse(cluster, &good, 1, &options, "flags");
    options.flags = 0, options.size = 0;
    refuse(cluster, &good, 1, &options, "GROUPS_OPTIONS_INIT");
    check_status(heddle_cluster_groups_create(NULL, &good, 1, 5, NULL, &by), HEDDLE_ERROR_INVALID);
    check_status(heddle_cluster_groups_create(cluster, &good, 1, 5, NULL, NULL),
                 HEDDLE_ERROR_INVALID);
    check_ok(heddle_cluster_groups_create(cluster, &good, 1, 5, NULL, &by));
    check_status(heddle_cluster_groups_keys(by, 1, numbers, NULL), HEDDLE_ERROR_INVALID);
    check_status(heddle_cluster_groups_keys(by, 0, NULL, NULL), HEDDLE_ERROR_INVALID);
    check_status(heddle_cluster_groups_first(by, (char *)numbers + 1), HEDDLE_ERROR_INVALID);
    check_status(heddle_cluster_groups_sizes(by, NULL), HEDDLE_ERROR_INVALID);
    check_status(heddle_cluster_groups_of_rows(by, NULL), HEDDLE_ERROR_INVALID);
    check_status(heddle_cluster_groups_aggregate(by, 6, 1, keys, NULL, numbers, NULL),
                 HEDDLE_ERROR_INVALID);
    check_status(heddle_cluster_groups_aggregate(by, 1, 7, keys, NULL, numbers, NULL),
                 HEDDLE_ERROR_INVALID);
    check_status(
        heddle_cluster_groups_aggregate(by, HEDDLE_AGGREGATE_SUM, 4, NULL, NULL, numbers, NULL),
        HEDDLE_ERROR_INVALID);
    check_status(
        heddle_cluster_groups_aggregate(by, HEDDLE_AGGREGATE_SUM, 4, keys, NULL, NULL, NULL),
        HEDDLE_ERROR_INVALID);
    check_status(heddle_cluster_groups_count(NULL, &count, NULL), HEDDLE_ERROR_INVALID);
    check_status(heddle_cluster_groups_first(NULL, numbers), HEDDLE_ERROR_INVALID);
    check_status(heddle_cluster_groups_sizes(NULL, numbers), HEDDLE_ERROR_INVALID);
    check_status(heddle_cluster_groups_of_rows(NULL, numbers), HEDDLE_ERROR_INVALID);
    stats.size = 0;
    check_status(heddle_cluster_groups_get_stats(by, &stats), HEDDLE_ERROR_INVALID);
    check_ok(
        heddle_cluster_groups_aggregate(by, HEDDLE_AGGREGATE_COUNT, 4, NULL, NULL, numbers, NULL));
    check_ok(heddle_cluster_groups_count(by, &count, NULL));
    assert_int_equal(count, 5);
    for (uint32_t i = 0; i < 5; i++) assert_int_equal(numbers[i], 1);
    heddle_cluster_groups_destroy(by);
    heddle_cluster_groups_destroy(NULL);
    heddle_cluster_close(cluster);
}

/* ---------------------------------------------------------------------------------------- faults */

/* All that a group-by can be asked, until something fails. */
static heddle_status ask_all(heddle_cluster *cluster, const table_model *t,
                             heddle_cluster_groups **by)
{
    static uint64_t numbers[2000], values[2000];
    static uint8_t bytes[2000 * 64], valid[2000];
    heddle_column columns[HEDDLE_KEY_COLUMNS_MAX];
    heddle_status status;
    memset(valid, 1, sizeof valid);
    relate_columns(t, 0, t->rows, columns);
    status = heddle_cluster_groups_create(cluster, columns, t->columns, t->rows, NULL, by);
    check((status == HEDDLE_OK) == (*by != NULL), "groups of a failed call");
    if (status == HEDDLE_OK) status = heddle_cluster_groups_first(*by, numbers);
    if (status == HEDDLE_OK) status = heddle_cluster_groups_sizes(*by, numbers);
    if (status == HEDDLE_OK) status = heddle_cluster_groups_keys(*by, t->columns - 1, bytes, valid);
    if (status == HEDDLE_OK) status = heddle_cluster_groups_of_rows(*by, numbers);
    if (status == HEDDLE_OK)
        status = heddle_cluster_groups_aggregate(*by, HEDDLE_AGGREGATE_MEAN, HEDDLE_TYPE_I64,
                                                 values, valid, numbers, bytes);
    return status;
}

static void fail_group_by(const char *devices, uint32_t members, void *context)
{
    const table_model *t = (const table_model *)context;
    bool struck = true;
    uint64_t failures = 0;
    for (uint64_t k = 1; struck; k++) {
        heddle_cluster *cluster = relate_open(devices, SLICE);
        heddle_cluster_groups *by = NULL;
        case_note("allocation %llu of a group-by on %s", (unsigned long long)k, devices);
        hd_fault_arm(k);
        const heddle_status status = ask_all(cluster, t, &by);
        struck = hd_fault_struck();
        hd_fault_arm(0);
        check(status == HEDDLE_OK || (struck && status == HEDDLE_ERROR_NO_MEMORY), "%s: %s",
              heddle_status_string(status), heddle_last_error());
        failures += status != HEDDLE_OK;
        heddle_cluster_groups_destroy(by);
        if (k % 8 == 1) check_table(cluster, t, 64);
        heddle_cluster_close(cluster);
    }
    check(failures > 20 * members, "only %llu failures", (unsigned long long)failures);
}

static void memory_runs_out(void **state)
{
    (void)state;
    table_model plain = table_make(0, 900, 200, 7), wide = table_make(5, 900, 300, 7);
    shared_run_devices(fail_group_by, &plain, 3);
    shared_run_devices(fail_group_by, &wide, 2);
    table_free(&plain);
    table_free(&wide);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ONCE(key_sets_are_grouped), ONCE(keys_of_many_columns_are_grouped),
        ONCE(skew_is_grouped),      ONCE(many_rows_are_grouped),
        ONCE(memory_runs_out),      ONCE(wrong_arguments_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
