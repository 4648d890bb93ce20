/*
 * enter.h: a device of the library, for CUDA code of benchmarks. The library and the tool each have a CUDA runtime of
 * their own (both are linked statically); streams and memory are the driver's and belong to both, except that each
 * runtime has to be told which device is meant.
 */
#ifndef HD_BENCH_ENTER_H
#define HD_BENCH_ENTER_H

#include "cuda/device/engine.h"

static inline heddle_status bench_enter(heddle_device *device, cudaStream_t *use)
{
    HD_TRY(hd_cuda_enter(device, NULL, use));
    return hd_cuda_check(cudaSetDevice(((const hd_device_cuda *)device)->index),
                         "cannot use the device");
}

#endif
