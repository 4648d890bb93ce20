/*
 * mpi.h: clusters whose members are ranks of MPI, in a library of its own, libheddle_mpi, so that
 * libheddle needs no MPI. All else is as heddle/cluster.h says, above all about clusters of
 * processes.
 *
 *     MPI_Init(&argc, &argv);
 *     heddle_cluster *cluster;
 *     heddle_mpi_open(MPI_COMM_WORLD, "auto", NULL, &cluster);
 *     ... heddle_cluster_table_create and so on: every rank its own part of the keys ...
 *     heddle_cluster_close(cluster);
 *     MPI_Finalize();
 *
 * Ranks of one machine whose GPUs reach each other's memory read it, without MPI, as far as CUDA
 * lets processes do so; HEDDLE_SHARED_MEMORY=0 in the environment of a rank keeps it out of this.
 * Else memory of a GPU goes through pinned host memory, or to MPI as it is where that is known to
 *     take it. Open MPI says so itself; for others, and against what it says, the environment
 *     variable HEDDLE_MPI_CUDA of a rank does: HEDDLE_MPI_CUDA=1   MPI takes memory of CUDA
 *     devices; where it does not, the process crashes HEDDLE_MPI_CUDA=0   it does not, or not well
 * Anything else is as if it were not set. It is read when a cluster is opened; ranks may have
 * different ones.
 */
#ifndef HEDDLE_MPI_H
#define HEDDLE_MPI_H

#include <heddle/heddle.h>
#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Opens a cluster of all ranks of `comm`, each with one device, as heddle_device_open takes it;
 * ranks may have different ones. "cuda" with a colon and nothing behind it, "cuda:", is the GPU
 * whose number is that of the rank among those of its machine, modulo its GPUs. Collective; `comm`
 * is duplicated and stays the caller's. Messages of any length go in pieces. Calls on the cluster
 * come from a thread that may call MPI. A rank that does not answer within options->timeout_ms
 * gives the others HEDDLE_ERROR_PEER; so does one that does not come to this call, after which
 * `comm` should have no further collective calls: MPI goes on waiting there. Two things have no
 * time-out, as MPI offers none: to ask which ranks are on one machine, when all have just come, and
 * heddle_cluster_close of a cluster that has lost no rank, which is collective.
 */
HEDDLE_API heddle_status heddle_mpi_open(MPI_Comm comm, const char *device,
                                         const heddle_cluster_options *options,
                                         heddle_cluster **cluster);

#ifdef __cplusplus
}
#endif

#endif
