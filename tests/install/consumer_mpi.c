/* consumer_mpi.c: the smallest program that needs libheddle_mpi. */
#include <heddle/mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    const uint32_t keys[2] = {0, UINT32_MAX};
    const uint32_t values[2] = {7, 9};
    uint32_t answers[2] = {0, 0};
    heddle_cluster *cluster = NULL;
    heddle_cluster_table *map = NULL;
    int failed = MPI_Init(&argc, &argv) != MPI_SUCCESS;

    failed = failed || heddle_mpi_open(MPI_COMM_WORLD, "cpu", NULL, &cluster) ||
             heddle_cluster_table_create(cluster, NULL, NULL, &map) ||
             heddle_cluster_map_insert(map, keys, values, 2, NULL, NULL) ||
             heddle_cluster_map_find(map, keys, 2, answers, NULL, NULL) ||
             answers[0] != values[0] || answers[1] != values[1];
    printf("heddle %s over MPI: %s\n", heddle_version_string(),
           failed ? heddle_last_error() : "fine");
    heddle_cluster_table_destroy(map);
    heddle_cluster_close(cluster);
    MPI_Finalize();
    return failed;
}
