/*
 * mpi.h: clusters in which every member is a rank of MPI. They are a library of their own,
 * libheddle_mpi, so that libheddle needs no MPI. All else is as heddle/cluster.h says, above all
 * about clusters of processes.
 *
 *     MPI_Init(&argc, &argv);
 *     heddle_cluster *cluster;
 *     heddle_mpi_open(MPI_COMM_WORLD, "auto", NULL, &cluster);
 *     ... heddle_cluster_table_create and so on: every rank its own part of the keys ...
 *     heddle_cluster_close(cluster);
 *     MPI_Finalize();
 *
 * Ranks of one machine read the memory of each other's GPUs directly, without MPI, where the GPUs
 * reach each other and as far as CUDA lets processes do so. HEDDLE_SHARED_MEMORY=0 in the
 * environment of a rank keeps it out of this.
 *
 * Otherwise memory of a GPU goes through pinned host memory, or to MPI as it is where MPI is known
 * to take it. Open MPI says so itself. For other MPIs, and against what Open MPI says, set the
 * environment variable HEDDLE_MPI_CUDA of a rank:
 *
 *     HEDDLE_MPI_CUDA=1   MPI takes memory of CUDA devices; where it does not, the process crashes
 *     HEDDLE_MPI_CUDA=0   MPI does not take it, or not well
 *
 * Any other value is as if the variable were not set. It is read when a cluster is opened; ranks
 * may have different ones.
 */
#ifndef HEDDLE_MPI_H
#define HEDDLE_MPI_H

#include <heddle/heddle.h>
#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Opens a cluster of all ranks of `comm`, each with one device, named as for heddle_device_open;
 * ranks may have different ones. "cuda:", with nothing behind the colon, takes the GPU by the
 * number of the rank among the ranks of its machine, modulo the number of GPUs there. Collective;
 * `comm` is duplicated and stays the caller's. Messages of any length go in pieces. Calls on the
 * cluster come from a thread that may call MPI.
 *
 * When a rank does not answer within options->timeout_ms the others get HEDDLE_ERROR_PEER. So they
 * do when a rank does not come to this call; then make no further collective calls on `comm`: MPI
 * goes on waiting there. Two things have no time-out, as MPI offers none: asking which ranks are on
 * one machine, when all have just come, and heddle_cluster_close of a cluster that has lost no
 * rank, which is collective.
 */
HEDDLE_API heddle_status heddle_mpi_open(MPI_Comm comm, const char *device,
                                         const heddle_cluster_options *options,
                                         heddle_cluster **cluster);

#ifdef __cplusplus
}
#endif

#endif
