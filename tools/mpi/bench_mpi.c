/*
 * bench_mpi.c: `heddle bench dist` over ranks of MPI: mpirun -n N heddle-mpi [options]. --group names the
 * device of every rank; there is no single table beside it.
 */
#include <heddle/mpi.h>
#include <string.h>

#include "bench_dist.h"

int main(int argc, char **argv)
{
    heddle_group_options group_options = HEDDLE_GROUP_OPTIONS_INIT;
    heddle_group *group = NULL;
    dist_options o;
    MPI_Init(&argc, &argv);
    int status = dist_options_read(argc, argv, &o);
    if (strchr(o.group, ',') != NULL) o.group = "cpu:1";
    o.single = NULL;
    group_options.slice = o.slice;
    if (status == TOOL_OK)
        status =
            tool_try(heddle_mpi_open(MPI_COMM_WORLD, o.group, &group_options, &group), "opening");
    if (status == TOOL_OK) status = dist_run(&o, group);
    heddle_group_close(group);
    MPI_Finalize();
    return status;
}
