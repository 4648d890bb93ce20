/*
 * test_mpi_long.c: a message of more than 2^31 bytes. The first rank asks for as many keys as make one, in one slice; the
 * others have no questions. Takes 14 GB and two minutes: only with HEDDLE_TEST_LONG=1, on two ranks.
 */
#include <stdlib.h>
#include <string.h>

#include "support/cluster_model.h"

#include <heddle/mpi.h>

#define KEYS 100003 /* in the table: every other number */
#define ROWS ((UINT64_C(1) << 29) + (UINT64_C(1) << 25))
#define SKIPPED 77

static int rank, ranks;

static uint64_t key_of(uint64_t row) { return row * UINT64_C(2654435761) % (2 * KEYS); }

static void fill_table(heddle_cluster_table *table)
{
    uint64_t *keys = (uint64_t *)malloc(KEYS * sizeof *keys);
    assert_non_null(keys);
    for (uint64_t i = 0; i < KEYS; i++) keys[i] = 2 * i;
    check_ok(heddle_cluster_table_insert(table, keys, NULL, rank == 0 ? KEYS : 0, NULL, NULL));
    free(keys);
}

static void ask_for_all(heddle_cluster_table *table)
{
    const uint64_t n = rank == 0 ? ROWS : 0;
    uint64_t *keys = (uint64_t *)malloc((n + 1) * sizeof *keys);
    uint8_t *found = (uint8_t *)malloc(n + 1);
    uint64_t wrong = 0;
    check(keys != NULL && found != NULL, "no memory for %llu questions", (unsigned long long)n);
    for (uint64_t i = 0; i < n; i++) keys[i] = key_of(i);
    memset(found, 0xa5, n + 1);
    check_ok(heddle_cluster_table_contains(table, keys, n, found, NULL));
    for (uint64_t i = 0; i < n; i++) wrong += found[i] != (keys[i] % 2 == 0);
    check(wrong == 0, "%llu answers are wrong", (unsigned long long)wrong);
    free(keys);
    free(found);
}

static void a_message_of_more_than_31_bits(void **state)
{
    heddle_cluster_options options = HEDDLE_CLUSTER_OPTIONS_INIT;
    heddle_table_options set = HEDDLE_TABLE_OPTIONS_INIT;
    heddle_cluster *cluster = NULL;
    heddle_cluster_table *table = NULL;
    (void)state;
    options.slice = ROWS;
    set.container = HEDDLE_CONTAINER_SET;
    set.scheme = HEDDLE_SCHEME_SLAB; /* which is always compiled */
    set.key_bits = 64;
    check(ROWS / (uint64_t)ranks * sizeof(uint64_t) > UINT64_C(1) << 31, "that is no long message");
    check_ok(heddle_mpi_open(MPI_COMM_WORLD, "cpu:1", &options, &cluster));
    check_ok(heddle_cluster_table_create(cluster, &set, NULL, &table));
    fill_table(table);
    ask_for_all(table);
    heddle_cluster_table_destroy(table);
    heddle_cluster_close(cluster);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {ONCE(a_message_of_more_than_31_bits)};
    if (getenv("HEDDLE_TEST_LONG") == NULL) return SKIPPED;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    MPI_Finalize();
    return failed;
}
