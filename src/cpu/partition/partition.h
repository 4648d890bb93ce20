/* partition.h: the partitions compiled for the CPU, one for each kind of pair. */
#ifndef HD_CPU_PARTITION_H
#define HD_CPU_PARTITION_H

#include "model/partition.h"

/* Regions that one pass tells apart: as many buffers of a line as fit a second-level cache. */
#define HD_PASS_BITS 12

typedef struct hd_partition_cpu {
    uint64_t (*work_bytes)(int threads, uint32_t region_bits);
    void (*sort)(int threads, const hd_partition *job);
    uint64_t (*step_work_bytes)(int threads, uint32_t region_bits);
    void (*step)(int threads, const hd_partition *job, uint32_t step);
    uint64_t (*count_work_bytes)(int threads, uint32_t region_bits);
    void (*count)(int threads, const hd_partition *job, uint64_t *counts);
} hd_partition_cpu;

#endif
