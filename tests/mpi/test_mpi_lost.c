/*
 * test_mpi_lost.c: a rank that no longer answers, in each phase of a call: the others do not wait for ever but
 * say so, again at every further call, and end in order.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/tuning.h"
#include "cluster/exchange/exchange.h"
#include "cluster/exchange/same_machine.h"
#include "mpi/mpi_transport.h"
#include "support/cluster_model.h"
#include "support/keys.h"

/* Seconds: what a machine with much to do may take, and no wait of ten times as long. */
#define LONG 20
#define TIMEOUT_MS 2500 /* ranks that are there answer sooner, also on a machine with much to do */

static int rank, ranks;
static jmp_buf out; /* how the last rank leaves a call */
static int calls_left;

/* After so many exchanges the rank is gone. */
static void maybe_leave(void)
{
    if (calls_left-- == 0) longjmp(out, 1);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint32_t keys[3000], values[3000];
static uint8_t found[3000];

/* The last rank leaves after `after` exchanges of an insertion or a find. */
static void leave_in(heddle_cluster *cluster, int after, bool reads)
{
    heddle_table_options options = HEDDLE_TABLE_OPTIONS_INIT;
    heddle_cluster_table *table = NULL;
    uint64_t size = 0;
    const bool leaves = rank == ranks - 1;
    check_ok(heddle_cluster_table_create(cluster, &options, NULL, &table));
    check_ok(heddle_cluster_table_insert(table, keys, values, 3000, NULL, NULL));
    calls_left = leaves ? after : -1;
    if (leaves && setjmp(out) != 0) return; /* and never comes back */
    const double begin = now();
    const heddle_status status =
        reads ? heddle_cluster_table_find(table, keys, 3000, values, found, NULL)
              : heddle_cluster_table_insert(table, keys, values, 3000, NULL, NULL);
    const double took = now() - begin;
    check(!leaves, "rank %d is still there", rank);
    assert_int_equal(status, HEDDLE_ERROR_PEER);
    check(strstr(heddle_last_error(), "lost") != NULL, "%s", heddle_last_error());
    check(took < LONG, "it took %.1f seconds", took);
    const double again = now();
    const heddle_status next = heddle_cluster_table_size(table, &size);
    assert_int_equal(next, reads ? HEDDLE_ERROR_PEER : HEDDLE_ERROR_CORRUPT);
    check(now() - again < 1e-3 * TIMEOUT_MS / 2, "a lost cluster waits");
    heddle_cluster_table_destroy(table);
}

static void ranks_that_leave_are_noticed(void **state)
{
    heddle_cluster_options options = HEDDLE_CLUSTER_OPTIONS_INIT;
    (void)state;
    options.slice = 500;
    options.timeout_ms = TIMEOUT_MS;
    for (uint32_t i = 0; i < 3000; i++) keys[i] = i * 7 + (uint32_t)rank;
    /* More ranks, the same time in all. Every loss costs a timeout; an odd step meets all four ways below. */
    const int step = (case_quick() ? 3 : 1) * (ranks - 1);
    for (int after = 0; after < 16; after += step) {
        heddle_cluster *cluster = NULL;
        MPI_Barrier(MPI_COMM_WORLD);
        /* By turns as ranks whose slices are laid out while others are on their way. */
        hd_tune.transport_apart = after / (ranks - 1) / 2 % 2 == 1;
        hd_tune.never_shared = after / (ranks - 1) % 2 == 1;
        check_ok(heddle_mpi_open(MPI_COMM_WORLD, "cpu:1", &options, &cluster));
        leave_in(cluster, after, after / (ranks - 1) % 2 == 0);
        if (rank != ranks - 1) heddle_cluster_close(cluster);
    }
    hd_tune.transport_apart = false;
    hd_tune.never_shared = false;
}

/* The last rank does not come when the others open a cluster. */
static void ranks_that_never_come_are_noticed(void **state)
{
    heddle_cluster_options options = HEDDLE_CLUSTER_OPTIONS_INIT;
    heddle_cluster *cluster = NULL;
    MPI_Comm comm; /* which is good for nothing afterwards */
    (void)state;
    options.timeout_ms = TIMEOUT_MS;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (rank != ranks - 1) {
        const double begin = now();
        check_status(heddle_mpi_open(comm, "cpu:1", &options, &cluster), HEDDLE_ERROR_PEER);
        assert_null(cluster);
        check(now() - begin < LONG, "it took %.1f seconds", now() - begin);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {ONCE(ranks_that_leave_are_noticed),
                                       ONCE(ranks_that_never_come_are_noticed)};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    hd_mpi_set_hook(maybe_leave);
    calls_left = -1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (failed != 0) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Finalize();
    return 0;
}
