/*
 * test_typed_relations.c: the typed calls of typed_relations.h answer as the calls behind them, and refuse row numbers of the
 * other width with a sentence that names both, before anything is done.
 */
#include <string.h>

#include "support/cases.h"

#define N 6
#define M 4

static const uint64_t left[N] = {7, 8, 7, 9, 5, 8}, right[M] = {8, 7, 3, 8};

static void refused(heddle_status status)
{
    check_status(status, HEDDLE_ERROR_INVALID);
    check(strstr(heddle_last_error(), "32") != NULL && strstr(heddle_last_error(), "64") != NULL,
          "the reason is \"%s\"", heddle_last_error());
}

/* Every pair of rows has the same key, and there are as many as there should be. */
static void check_pairs(const uint64_t *left_rows, const uint64_t *right_rows, uint64_t count)
{
    assert_int_equal(count, 6); /* 7: two rows with one, 8: two with two */
    for (uint64_t i = 0; i < count; i++) assert_int_equal(left[left_rows[i]], right[right_rows[i]]);
}

static void columns_of_arrays(void **state)
{
    const struct {
        char text[13];
    } texts[2] = {{"a"}, {"b"}};
    const uint16_t shorts[3] = {1, 2, 3};
    const heddle_column columns[] = {HEDDLE_COLUMN_OF(left), HEDDLE_COLUMN_OF(texts),
                                     HEDDLE_COLUMN_OF(&shorts[1])};
    (void)state;
    assert_ptr_equal(columns[0].data, left);
    assert_int_equal(columns[0].width, 8);
    assert_int_equal(columns[1].width, 13);
    assert_ptr_equal(columns[2].data, shorts + 1);
    assert_int_equal(columns[2].width, 2);
    for (int i = 0; i < 3; i++) {
        assert_null(columns[i].valid);
        assert_int_equal(columns[i].reserved, 0);
    }
}

static void join_rows(const test_case *c)
{
    const heddle_column a = HEDDLE_COLUMN_OF(left), b = HEDDLE_COLUMN_OF(right);
    heddle_join_options options = HEDDLE_JOIN_OPTIONS_INIT;
    heddle_join *join = NULL;
    uint64_t wide[2][8], count = 0;
    uint32_t narrow[2][8];
    check_ok(heddle_join_create(c->device, &a, &b, 1, N, M, &options, &join, NULL));
    refused(heddle_join_fetch_rows(join, narrow[0], narrow[1], 8, &count, NULL));
    refused(heddle_join_fetch_rows(join, wide[0], narrow[1], 8, &count, NULL));
    check_ok(heddle_join_fetch_rows(join, wide[0], wide[1], 8, &count, NULL));
    check_pairs(wide[0], wide[1], count);
    heddle_join_destroy(join);
    options.row_bits = 32;
    check_ok(heddle_join_create(c->device, &a, &b, 1, N, M, &options, &join, NULL));
    refused(heddle_join_fetch_rows(join, wide[0], wide[1], 8, &count, NULL));
    check_ok(heddle_join_fetch_rows(join, narrow[0], (int32_t *)narrow[1], 8, &count, NULL));
    for (uint64_t i = 0; i < count; i++) wide[0][i] = narrow[0][i], wide[1][i] = narrow[1][i];
    check_pairs(wide[0], wide[1], count);
    heddle_join_destroy(join);
    check_status(heddle_join_check_row_bits(NULL, 64), HEDDLE_ERROR_INVALID);
}

static void group_rows(const test_case *c)
{
    const heddle_column keys = HEDDLE_COLUMN_OF(left);
    heddle_groups_options options = HEDDLE_GROUPS_OPTIONS_INIT;
    heddle_groups *groups = NULL;
    uint64_t wide[N], begins[N + 1];
    uint32_t narrow[N];
    options.order = HEDDLE_GROUPS_BY_FIRST;
    options.row_bits = 32;
    check_ok(heddle_groups_create(c->device, &keys, 1, N, &options, &groups, NULL));
    refused(heddle_groups_first_rows(groups, wide, NULL));
    refused(heddle_groups_numbers_of_rows(groups, wide, NULL));
    refused(heddle_groups_all_rows(groups, begins, wide, NULL));
    check_ok(heddle_groups_first_rows(groups, narrow, NULL));
    assert_memory_equal(narrow, ((uint32_t[]){0, 1, 3, 4}), 4 * sizeof *narrow);
    check_ok(heddle_groups_numbers_of_rows(groups, narrow, NULL));
    assert_memory_equal(narrow, ((uint32_t[]){0, 1, 0, 2, 3, 1}), sizeof narrow);
    check_ok(heddle_groups_all_rows(groups, begins, narrow, NULL));
    assert_memory_equal(narrow, ((uint32_t[]){0, 2, 1, 5, 3, 4}), sizeof narrow);
    heddle_groups_destroy(groups);
    check_ok(heddle_groups_create(c->device, &keys, 1, N, NULL, &groups, NULL));
    refused(heddle_groups_first_rows(groups, narrow, NULL));
    check_ok(heddle_groups_first_rows(groups, wide, NULL));
    heddle_groups_destroy(groups);
    check_status(heddle_groups_check_row_bits(NULL, 64), HEDDLE_ERROR_INVALID);
}

static void set_operations(const test_case *c)
{
    const uint32_t a[] = {1, 2, 2, 3};
    const int32_t b[] = {3, 2, 9};
    uint32_t common[3];
    uint64_t sums[N], count = 0;
    check_ok(heddle_set_operation_keys(c->device, HEDDLE_SET_INTERSECTION, a, 4, b, 3, common, 3,
                                       &count, NULL));
    assert_int_equal(count, 2);
    assert_memory_equal(common, ((uint32_t[]){2, 3}), 2 * sizeof *common);
    check_ok(heddle_set_operation_keys(c->device, HEDDLE_SET_DIFFERENCE, left, N, right, M, sums, N,
                                       &count, NULL));
    assert_int_equal(count, 2);
    assert_memory_equal(sums, ((uint64_t[]){9, 5}), 2 * sizeof *sums);
}

static void clusters(void **state)
{
    const heddle_column a = HEDDLE_COLUMN_OF(left), b = HEDDLE_COLUMN_OF(right);
    heddle_groups_options options = HEDDLE_GROUPS_OPTIONS_INIT;
    heddle_cluster *cluster = NULL;
    heddle_cluster_join *join = NULL;
    heddle_cluster_groups *groups = NULL;
    uint64_t wide[2][8], count = 0;
    uint32_t narrow[2][8];
    (void)state;
    check_ok(heddle_cluster_open("cpu:1,cpu:1", NULL, &cluster));
    check_ok(heddle_cluster_join_create(cluster, &a, &b, 1, N, M, NULL, &join));
    refused(heddle_cluster_join_fetch_rows(join, narrow[0], narrow[1], 8, &count));
    check_ok(heddle_cluster_join_fetch_rows(join, wide[0], wide[1], 8, &count));
    check_pairs(wide[0], wide[1], count);
    heddle_cluster_join_destroy(join);
    options.row_bits = 32;
    check_ok(heddle_cluster_groups_create(cluster, &a, 1, N, &options, &groups));
    refused(heddle_cluster_groups_first_rows(groups, wide[0]));
    refused(heddle_cluster_groups_numbers_of_rows(groups, wide[0]));
    check_ok(heddle_cluster_groups_first_rows(groups, narrow[0]));
    check_ok(heddle_cluster_groups_numbers_of_rows(groups, narrow[1]));
    for (uint32_t i = 0; i < N; i++) assert_int_equal(left[narrow[0][narrow[1][i]]], left[i]);
    heddle_cluster_groups_destroy(groups);
    check_ok(heddle_cluster_set_operation_keys(cluster, HEDDLE_SET_UNION, left, N, right, M,
                                               wide[0], 8, &count));
    assert_int_equal(count, 5);
    check_status(heddle_cluster_join_check_row_bits(NULL, 64), HEDDLE_ERROR_INVALID);
    check_status(heddle_cluster_groups_check_row_bits(NULL, 64), HEDDLE_ERROR_INVALID);
    heddle_cluster_close(cluster);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ONCE(columns_of_arrays),      OVER_DEVICES(join_rows), OVER_DEVICES(group_rows),
        OVER_DEVICES(set_operations), ONCE(clusters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
