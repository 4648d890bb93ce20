/*
 * roof.h: what a machine's memory gives, for a benchmark to compare a table with. Part of heddle_bench, a
 * library of what only benchmarks need; the tool links it, libheddle does not.
 *
 *   roof.c             hd_roof_measure: which engine's way
 *   roof_cpu.c         random reads and compare-and-swaps, a copy: OpenMP threads
 *   roof_cuda.cu       the same on a GPU
 *   roof_partition.cu  a partition on a GPU: CUB's radix sort
 *   enter.h            a device of the library, for CUDA code of benchmarks
 *   slab_access.cu     a program of its own: what a GPU gives to batches on slabs
 */
#ifndef HD_ROOF_H
#define HD_ROOF_H

#include "engine/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hd_roof_request {
    uint32_t kind;     /* HD_ROOF_* */
    uint32_t width;    /* bytes of one access */
    uint64_t bytes;    /* memory the accesses spread over */
    uint64_t accesses; /* accesses in one pass */
    uint32_t repeat;   /* passes; the median counts */
    uint32_t bits;     /* of a partition */
} hd_roof_request;

#define HD_ROOF_GATHER 1 /* random reads of `width` bytes, many in flight: accesses/s */
#define HD_ROOF_CAS 2    /* random 64-bit compare-and-swap: accesses/s */
#define HD_ROOF_COPY 3   /* streaming copy: bytes read + written, a second */
/* `accesses` pairs of `width` bytes told apart by `bits` bits: pairs/s. On a GPU by CUB's radix sort;
   on a CPU, where no library does it, as if a pass were a copy. */
#define HD_ROOF_PARTITION 4

/*
 * Measures one roof of the device and writes it to *rate: accesses a second, for a copy bytes read +
 * written a second. `width` is a power of two from 4 to 512 for a gather, 8 to 512 for a
 * compare-and-swap; a copy ignores `width` and `accesses` and copies `bytes` bytes to a buffer of the
 * same size. Allocates what it needs and frees it before it returns. Waits.
 */
heddle_status hd_roof_measure(heddle_device *device, const hd_roof_request *request, double *rate);

/* What hd_roof_measure chooses from: a device of the kind that the name says. */
heddle_status hd_roof_cpu(heddle_device *device, const hd_roof_request *request, double *rate);
heddle_status hd_roof_cuda(heddle_device *device, const hd_roof_request *request, double *rate);
heddle_status hd_roof_partition_cuda(heddle_device *device, const hd_roof_request *request,
                                     double *rate);

#ifdef __cplusplus
}
#endif

#endif
