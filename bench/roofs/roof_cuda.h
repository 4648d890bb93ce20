/* roof_cuda.h: what a GPU's memory gives, for a benchmark to compare a table with. */
#ifndef HD_ROOF_CUDA_H
#define HD_ROOF_CUDA_H

#include "engine/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Measures one roof of the current CUDA device on `stream` and writes it to *rate: accesses a
 * second, for a copy bytes read + written a second. The request means what it means to hd_roof_cpu:
 * `width` is a power of two from 4 to 512 for a gather, 8 to 512 for a compare-and-swap; a copy
 * ignores `width` and `accesses`. Allocates, synchronises, and frees before it returns.
 */
heddle_status hd_roof_cuda(const hd_roof_request *request, void *stream, double *rate);
/* The same for HD_ROOF_PARTITION. */
heddle_status hd_roof_partition_cuda(const hd_roof_request *request, void *stream, double *rate);

#ifdef __cplusplus
}
#endif

#endif
