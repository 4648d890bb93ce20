/* mpi_transport.h: what tests need of libheddle_mpi besides its public header. */
#ifndef HD_MPI_TRANSPORT_H
#define HD_MPI_TRANSPORT_H

#include <heddle/mpi.h>
#include <stdbool.h>
#include <stdio.h>

/* Messages go in pieces of so many bytes, instead of 2^30. */
void hd_mpi_set_piece(uint64_t bytes);
/* Called before every exchange; NULL: nothing is. It need not return. */
void hd_mpi_set_hook(void (*hook)(void));

#endif
