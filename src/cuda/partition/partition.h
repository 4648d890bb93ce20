/* partition.h: the partitions compiled for CUDA devices, one for each kind of pair. */
#ifndef HD_CUDA_PARTITION_H
#define HD_CUDA_PARTITION_H

#include "cuda/device/engine.h"

typedef struct hd_partition_cuda {
    uint64_t (*work_bytes)(uint32_t region_bits);
    heddle_status (*sort)(const hd_device_cuda *device, const hd_partition *job,
                          cudaStream_t stream);
    uint64_t (*step_work_bytes)(uint32_t region_bits);
    heddle_status (*step)(const hd_device_cuda *device, const hd_partition *job, uint32_t step,
                          cudaStream_t stream);
    heddle_status (*count)(const hd_device_cuda *device, const hd_partition *job, uint64_t *counts,
                           cudaStream_t stream);
    void (*scatter_plan)(hd_scatter *job);
    heddle_status (*scatter)(const hd_device_cuda *device, const hd_scatter *job,
                             cudaStream_t stream);
} hd_partition_cuda;

/* The leading bits that a pass tells apart, at most. */
#define HD_CUDA_PASS_BITS 10

#endif
