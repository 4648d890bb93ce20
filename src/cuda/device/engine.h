/* engine.h: what the parts of the CUDA engine share. */
#ifndef HD_ENGINE_CUDA_H
#define HD_ENGINE_CUDA_H

#include <cuda_runtime.h>

#include "base/error.h"
#include "base/port.h"
#include "engine/engine.h"

typedef struct hd_device_cuda {
    heddle_device base;
    int index;
    int multiprocessors;
    size_t shared_bytes; /* that a block may have */
    size_t cache_bytes;  /* of the second-level cache */
    cudaStream_t stream; /* the device's own */
    cudaMemPool_t pool;  /* of memory in the order of streams; NULL: the device has none */
} hd_device_cuda;

#ifdef __cplusplus
extern "C" {
#endif

/* Turns a CUDA error into a status; `what` says what was tried. */
HD_FOR_TOOL heddle_status hd_cuda_fail(cudaError_t error, const char *what);

static inline heddle_status hd_cuda_check(cudaError_t error, const char *what)
{
    return error == cudaSuccess ? HEDDLE_OK : hd_cuda_fail(error, what);
}

/* Makes the device current for the calling thread and gives the stream to use. */
HD_FOR_TOOL heddle_status hd_cuda_enter(heddle_device *device, void *stream, cudaStream_t *use);

#ifdef __cplusplus
}
#endif

#endif
