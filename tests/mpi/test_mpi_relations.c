/*
 * test_mpi_relations.c: joins, group-bys and set operations over ranks of MPI. Every rank makes up the whole tables,
 * gives its own part of the rows, and checks what it gets; counts and digests of all ranks together are those of
 * the model. Parts are of different sizes, one has none; messages go in small pieces.
 */
#include <stdlib.h>
#include <string.h>

#include "base/tuning.h"
#include "cluster/exchange/exchange.h"
#include "cluster/exchange/same_machine.h"
#include "mpi/mpi_transport.h"
#include "rank_device.h"
#include "support/cluster_relate.h"

static int rank, ranks;

static uint64_t sum_of_ranks(uint64_t number)
{
    uint64_t sum = 0;
    MPI_Allreduce(&number, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

/* Where a rank's part of n begins: the first rank has nothing, the others more and more. */
static uint64_t part_begin(uint64_t n, int r)
{
    if (ranks == 1) return r == 0 ? 0 : n;
    return n * (uint64_t)(r * (r - 1) / 2) / (uint64_t)(ranks * (ranks - 1) / 2);
}

/* Of the right side the last rank has least. */
static relate_share share_of(uint64_t left, uint64_t right)
{
    relate_share s = {{part_begin(left, rank), right - part_begin(right, ranks - rank)}, {0, 0}};
    s.rows[0] = part_begin(left, rank + 1) - s.begin[0];
    s.rows[1] = right - part_begin(right, ranks - rank - 1) - s.begin[1];
    return s;
}

/* Every other cluster has ranks of two kinds: some stage what they send and receive, or read what others of them send. */
static heddle_cluster *open_cluster(void)
{
    static int opened;
    heddle_cluster_options options = HEDDLE_CLUSTER_OPTIONS_INIT;
    heddle_cluster *cluster = NULL;
    options.slice = 333;
    options.timeout_ms = 120000;
    hd_tune.transport_apart = opened % 2 == 1 && rank % 2 == 0;
    hd_tune.never_shared = opened++ % 4 == 1;
    check_ok(heddle_mpi_open(MPI_COMM_WORLD, rank_device(rank), &options, &cluster));
    hd_tune.transport_apart = false;
    hd_tune.never_shared = false;
    return cluster;
}

/* The last rank's rows have no nulls: it gives no flags, while others do. */
static void fill_last(table_model *t, uint64_t begin, uint64_t end)
{
    for (uint32_t i = 0; i < t->columns; i++)
        if (t->column[i].valid != NULL) memset(t->column[i].valid + begin, 1, end - begin);
}

static void shapes_over_ranks(void **state)
{
    const uint64_t left = case_size(2000), right = case_size(1500);
    const relate_share share = share_of(left, right);
    heddle_cluster *cluster = open_cluster();
    (void)state;
    for (uint32_t shape = 0; shape < TABLE_SHAPES; shape++) {
        join_tables t = {table_make(shape, left + right, 500, shape + 1), left};
        case_note("shape %u on rank %d of %d", shape, rank, ranks);
        if (shape % 2 == 0 && ranks > 1) fill_last(&t.both, part_begin(left, ranks - 1), left);
        relate_join_kinds(cluster, &t, &share, shape % 3 == 0 ? 32 : 64, shape % 4 == 0 ? 50 : 0,
                          sum_of_ranks);
        relate_by_check(
            cluster, &t.both,
            &(relate_share){
                {part_begin(left + right, rank), 0},
                {part_begin(left + right, rank + 1) - part_begin(left + right, rank), 0}},
            shape % 3 == 0 ? 64 : 32, sum_of_ranks);
        table_free(&t.both);
    }
    heddle_cluster_close(cluster);
}

/* A column without flags on one rank and with flags on the others. */
static void flags_of_some_ranks(void **state)
{
    const uint64_t n = 900;
    heddle_cluster *cluster = open_cluster();
    table_model t = table_make(2, n, 100, 5);
    const uint64_t begin = part_begin(n, rank), rows = part_begin(n, rank + 1) - begin;
    heddle_column column;
    heddle_cluster_groups *by = NULL;
    heddle_relation_stats stats = HEDDLE_RELATION_STATS_INIT;
    (void)state;
    if (ranks > 1) fill_last(&t, part_begin(n, ranks - 1), n);
    const grouping model = table_group(&t);
    relate_columns(&t, begin, rows, &column);
    if (ranks > 1 && rank == ranks - 1) column.valid = NULL;
    check_ok(heddle_cluster_groups_create(cluster, &column, 1, rows, NULL, &by));
    check_ok(heddle_cluster_groups_get_stats(by, &stats));
    assert_int_equal(stats.results, model.groups);
    /* Of values, too: the last rank's are all there. */
    uint64_t count = 0, sum = 0, *values = keys_allocate(rows + 1);
    uint8_t *valid = calloc(rows + 1, 1);
    check_ok(heddle_cluster_groups_count(by, &count, NULL));
    uint64_t *counts = keys_allocate(count + 1);
    check_ok(heddle_cluster_groups_aggregate(by, HEDDLE_AGGREGATE_COUNT, HEDDLE_TYPE_U64, values,
                                             rank == ranks - 1 ? NULL : valid, counts, NULL));
    for (uint64_t i = 0; i < count; i++) sum += counts[i];
    assert_int_equal(sum_of_ranks(sum), n - part_begin(n, ranks - 1));
    heddle_cluster_groups_destroy(by);
    grouping_free(&model);
    table_free(&t);
    free(values);
    free(valid);
    free(counts);
    heddle_cluster_close(cluster);
}

/* Half of the left rows have one key, and all of them are on two ranks at most. */
static void skew_over_ranks(void **state)
{
    const uint64_t left = 4000, right = 3000;
    const relate_share share = share_of(left, right);
    uint64_t *keys = keys_allocate(left + right), rng = 8;
    heddle_cluster *cluster = open_cluster();
    (void)state;
    for (uint64_t i = 0; i < left + right; i++) keys[i] = keys_below(&rng, 5000);
    for (uint64_t i = 0; i < left; i += 2) keys[i] = 123;
    keys[left + 5] = keys[left + right - 1] = 123;
    join_tables t = {table_of_keys(keys, left + right, 64), left};
    for (uint32_t kind = HEDDLE_JOIN_INNER; kind <= HEDDLE_JOIN_ANTI; kind++) {
        const join_call call = {kind, 64, 0};
        const heddle_relation_stats stats =
            relate_join_check(cluster, &t, &share, &call, sum_of_ranks);
        const bool stay = ranks > 1 && kind != HEDDLE_JOIN_RIGHT && kind != HEDDLE_JOIN_FULL;
        check((stats.rows_stayed >= 2000) == stay, "kind %u: %llu rows stayed", kind,
              (unsigned long long)stats.rows_stayed);
    }
    table_free(&t.both);
    free(keys);
    heddle_cluster_close(cluster);
}

static void sets_over_ranks(void **state)
{
    heddle_cluster *cluster = open_cluster();
    uint64_t a[400], b[400], out[800], count = 0;
    (void)state;
    /* a: 0 to 399 of every rank, b: the even ones of these from 200 on. */
    for (uint64_t i = 0; i < 400; i++) a[i] = i, b[i] = 200 + i / 2 * 2 % 400;
    check_ok(heddle_cluster_set_operation(cluster, HEDDLE_SET_INTERSECTION, 64, a, 400, b, 400, out,
                                          800, &count));
    for (uint64_t i = 0; i < count; i++)
        check(out[i] >= 200 && out[i] < 400 && out[i] % 2 == 0, "a key is wrong");
    assert_int_equal(sum_of_ranks(count), 100);
    check_ok(heddle_cluster_set_operation(cluster, HEDDLE_SET_UNION, 64, a, 400, b,
                                          rank == 0 ? 0 : 400, out, 800, &count));
    assert_int_equal(sum_of_ranks(count), ranks == 1 ? 400 : 500);
    /* One rank has no room: none is written to. */
    const uint64_t room = rank == ranks - 1 ? 0 : 800;
    memset(out, 0xcd, sizeof out);
    check_status(heddle_cluster_set_operation(cluster, HEDDLE_SET_DIFFERENCE, 64, a, 400, NULL, 0,
                                              out, room, &count),
                 HEDDLE_ERROR_TOO_SMALL);
    check(out[0] == UINT64_C(0xcdcdcdcdcdcdcdcd), "something was written");
    assert_int_equal(sum_of_ranks(count), 400);
    heddle_cluster_close(cluster);
}

/* What one rank gets wrong all ranks hear of, at once. */
static void all_ranks_know_what_is_wrong(void **state)
{
    heddle_cluster *cluster = open_cluster();
    uint64_t keys[10] = {0}, rows[100], count = 0;
    const heddle_column good = HEDDLE_COLUMN(keys, 8), narrow = HEDDLE_COLUMN(keys, 4),
                        empty = HEDDLE_COLUMN(NULL, 8);
    heddle_join_options options = HEDDLE_JOIN_OPTIONS_INIT;
    heddle_cluster_join *join = NULL;
    heddle_cluster_groups *by = NULL;
    const bool last = rank == ranks - 1;
    (void)state;
    check_status(
        heddle_cluster_join_create(cluster, last ? &empty : &good, &good, 1, 10, 10, NULL, &join),
        HEDDLE_ERROR_INVALID);
    check_status(heddle_cluster_groups_create(cluster, last ? &empty : &good, 1, 10, NULL, &by),
                 HEDDLE_ERROR_INVALID);
    if (ranks > 1) { /* nothing is wrong but that they differ */
        const heddle_column *mine = last ? &narrow : &good;
        check_status(heddle_cluster_groups_create(cluster, mine, 1, 10, NULL, &by),
                     HEDDLE_ERROR_INVALID);
        check(strstr(heddle_last_error(), "different") != NULL, "%s", heddle_last_error());
        options.kind = last ? HEDDLE_JOIN_LEFT : HEDDLE_JOIN_SEMI;
        check_status(heddle_cluster_join_create(cluster, &good, &good, 1, 10, 10, &options, &join),
                     HEDDLE_ERROR_INVALID);
        check(strstr(heddle_last_error(), "different") != NULL, "%s", heddle_last_error());
    }
    check_ok(heddle_cluster_groups_create(cluster, &good, 1, 10, NULL, &by));
    if (ranks > 1)
        check_status(heddle_cluster_groups_aggregate(by, HEDDLE_AGGREGATE_SUM, last ? 4 : 5, keys,
                                                     NULL, rows, NULL),
                     HEDDLE_ERROR_INVALID);
    check_status(heddle_cluster_groups_of_rows(by, last ? NULL : rows), HEDDLE_ERROR_INVALID);
    check_ok(heddle_cluster_groups_of_rows(by, rows));
    check_ok(heddle_cluster_groups_count(by, &count, NULL));
    assert_int_equal(sum_of_ranks(count), 1);
    heddle_cluster_groups_destroy(by);
    heddle_cluster_close(cluster);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {ONCE(shapes_over_ranks), ONCE(flags_of_some_ranks),
                                       ONCE(skew_over_ranks), ONCE(sets_over_ranks),
                                       ONCE(all_ranks_know_what_is_wrong)};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    hd_mpi_set_piece(100);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (failed != 0) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Finalize();
    return 0;
}
