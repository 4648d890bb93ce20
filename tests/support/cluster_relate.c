/* cluster_relate.c: see cluster_relate.h. Group-bys are in cluster_relate_groups.c. */
#include "support/cluster_relate.h"

#include <stdlib.h>
#include <string.h>

#include "support/sort.h"

relate_share relate_whole(uint64_t left, uint64_t right)
{
    const relate_share share = {{0, 0}, {left, right}};
    return share;
}

uint64_t relate_alone(uint64_t number) { return number; }

heddle_cluster *relate_open(const char *devices, uint64_t slice)
{
    heddle_cluster_options options = HEDDLE_CLUSTER_OPTIONS_INIT;
    heddle_cluster *cluster = NULL;
    options.slice = slice;
    check_ok(heddle_cluster_open(devices, &options, &cluster));
    return cluster;
}

void relate_columns(const table_model *t, uint64_t first, uint64_t rows, heddle_column *columns)
{
    for (uint32_t i = 0; i < t->columns; i++) {
        const column_model *from = &t->column[i];
        const heddle_column column = {rows != 0 ? from->data + first * from->width : NULL,
                                      from->valid != NULL ? from->valid + first : NULL, from->width,
                                      0};
        columns[i] = column;
    }
}

/* ----------------------------------------------------------------------------------------- joins */

static bool has_pairs(uint32_t kind)
{
    return kind != HEDDLE_JOIN_SEMI && kind != HEDDLE_JOIN_ANTI;
}

static uint64_t number_at(const void *rows, uint64_t i, uint32_t bits)
{
    if (bits == 64) return ((const uint64_t *)rows)[i];
    const uint32_t row = ((const uint32_t *)rows)[i];
    return row == HEDDLE_ROW_NONE_32 ? NO_ROW : row;
}

/* Fetches all rows in slices, twice: the second time must bring as many. */
static void fetch_all(heddle_cluster_join *join, const join_call *call, join_rows *rows,
                      uint64_t capacity)
{
    const uint32_t width = call->row_bits / 8;
    const bool pairs = has_pairs(call->kind);
    void *left = malloc(capacity * width + 1), *right = malloc(capacity * width + 1);
    uint64_t got = 1, again = 0;
    while (got != 0) {
        check_ok(heddle_cluster_join_fetch(join, left, pairs ? right : NULL, capacity, &got));
        check(got <= capacity, "too many rows were fetched");
        for (uint64_t i = 0; i < got; i++) {
            rows->left[rows->count] = number_at(left, i, call->row_bits);
            rows->right[rows->count++] = pairs ? number_at(right, i, call->row_bits) : NO_ROW;
        }
    }
    check_ok(heddle_cluster_join_rewind(join));
    for (got = 1; got != 0; again += got)
        check_ok(heddle_cluster_join_fetch(join, left, NULL, capacity, &got));
    assert_int_equal(again, rows->count);
    free(left);
    free(right);
}

join_rows relate_join(heddle_cluster *cluster, const join_tables *t, const relate_share *share,
                      const join_call *call, heddle_relation_stats *stats)
{
    heddle_column left[HEDDLE_KEY_COLUMNS_MAX], right[HEDDLE_KEY_COLUMNS_MAX];
    heddle_join_options options = HEDDLE_JOIN_OPTIONS_INIT;
    heddle_cluster_join *join = NULL;
    uint64_t count = 0, least = 0;
    relate_columns(&t->both, share->begin[0], share->rows[0], left);
    relate_columns(&t->both, t->left + share->begin[1], share->rows[1], right);
    options.kind = call->kind;
    options.row_bits = call->row_bits;
    options.seed = case_seed();
    check_ok(heddle_cluster_join_create(cluster, left, right, t->both.columns, share->rows[0],
                                        share->rows[1], &options, &join));
    check_ok(heddle_cluster_join_count(join, &count, &least));
    check_ok(heddle_cluster_join_get_stats(join, stats));
    assert_int_equal(stats->first_row[0], share->begin[0]);
    assert_int_equal(stats->first_row[1], share->begin[1]);
    join_rows rows = {0, keys_allocate(count + 1), keys_allocate(count + 1)};
    const uint64_t capacity = call->slice == 0 ? count : call->slice > least ? call->slice : least;
    if (least > 1) {
        uint64_t got = 7, room = least - 1;
        void *none = malloc(least * 8);
        /* Other members may have smaller slices: then some rows come. */
        const heddle_status status = heddle_cluster_join_fetch(join, none, NULL, room, &got);
        check(status == HEDDLE_OK || status == HEDDLE_ERROR_TOO_SMALL, "%s", heddle_last_error());
        check_ok(heddle_cluster_join_rewind(join));
        free(none);
    }
    fetch_all(join, call, &rows, capacity);
    assert_int_equal(rows.count, count);
    heddle_cluster_join_destroy(join);
    return rows;
}

/* All rows in order, those without a match too. */
static uint64_t *sorted_rows(const join_rows *rows)
{
    uint64_t *pairs = keys_allocate(2 * rows->count + 2);
    for (uint64_t i = 0; i < rows->count; i++) {
        pairs[2 * i] = rows->left[i];
        pairs[2 * i + 1] = rows->right[i];
    }
    sort_pairs(pairs, rows->count);
    return pairs;
}

/* A number that is the same for the same rows in any order. */
static uint64_t digest(const join_rows *rows)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < rows->count; i++) {
        uint64_t state = rows->left[i] * UINT64_C(0x9e3779b97f4a7c15) + rows->right[i];
        sum += keys_random(&state);
    }
    return sum;
}

heddle_relation_stats relate_join_check(heddle_cluster *cluster, const join_tables *t,
                                        const relate_share *share, const join_call *call,
                                        relate_sum sum)
{
    heddle_relation_stats stats = HEDDLE_RELATION_STATS_INIT;
    join_rows model = join_model(t, call->kind);
    join_rows got = relate_join(cluster, t, share, call, &stats);
    assert_int_equal(sum(got.count), model.count);
    assert_int_equal(stats.results, model.count);
    assert_int_equal(stats.rows, t->both.rows);
    check(stats.rows_worked >= t->both.rows && stats.rows_most <= stats.rows_worked &&
              stats.rows_most * stats.members >= stats.rows_worked &&
              stats.results_most * stats.members >= stats.results,
          "the statistics do not add up");
    check(sum(digest(&got)) == digest(&model), "kind %u: rows are wrong", call->kind);
    if (got.count == model.count) { /* one process has all: to the letter */
        uint64_t *a = sorted_rows(&got), *b = sorted_rows(&model);
        check(memcmp(a, b, 16 * got.count) == 0, "kind %u: rows are wrong", call->kind);
        free(a);
        free(b);
    }
    join_rows_free(&model);
    join_rows_free(&got);
    return stats;
}

void relate_join_kinds(heddle_cluster *cluster, const join_tables *t, const relate_share *share,
                       uint32_t row_bits, uint64_t slice, relate_sum sum)
{
    for (uint32_t kind = HEDDLE_JOIN_INNER; kind <= HEDDLE_JOIN_ANTI; kind++) {
        const join_call call = {kind, row_bits, slice};
        relate_join_check(cluster, t, share, &call, sum);
    }
}
