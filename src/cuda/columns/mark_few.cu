/* mark_few.cu: which rows have one of a few keys (engine/columns.h), on a CUDA device. */
#include "cuda/columns/columns.h"

#define BLOCK 256
#define BLOCKS 8 /* of a multiprocessor: each brings the keys to its shared memory once */

/*
 * The few keys are in shared memory: in a table of global memory all processors would want the same lines from the same
 * place of the second-level cache.
 */
template <class KEY>
static __global__ void mark_few(hd_few few, const KEY *keys, uint64_t n, uint8_t *flags,
                                unsigned long long *count)
{
    extern __shared__ uint64_t few_keys[];
    uint32_t *used = (uint32_t *)(few_keys + (1u << few.bits));
    const uint32_t last = (1u << few.bits) - 1;
    uint32_t mine = 0;
    for (uint32_t i = threadIdx.x; i <= last; i += blockDim.x) few_keys[i] = few.keys[i];
    for (uint32_t i = threadIdx.x; i <= last / 32; i += blockDim.x) used[i] = few.used[i];
    __syncthreads();
    for (uint64_t i = (uint64_t)blockIdx.x * BLOCK + threadIdx.x; i < n;
         i += (uint64_t)gridDim.x * BLOCK) {
        const bool found = hd_few_has(few_keys, used, few.bits, keys[i]);
        flags[i] = found;
        mine += found;
    }
    for (int step = 16; step != 0; step /= 2) mine += __shfl_xor_sync(0xffffffffu, mine, step);
    if (threadIdx.x % 32 == 0 && mine != 0) atomicAdd(count, (unsigned long long)mine);
}

heddle_status hd_mark_few_cuda(heddle_device *device, const hd_few *few, const void *keys,
                               uint64_t n, uint8_t *flags, uint64_t *count, void *stream)
{
    const size_t shared = ((size_t)1 << few->bits) * 8 + (((size_t)1 << few->bits) + 31) / 32 * 4;
    const uint64_t needed = (n + BLOCK - 1) / BLOCK,
                   full = (uint64_t)((const hd_device_cuda *)device)->multiprocessors * BLOCKS;
    const unsigned blocks = (unsigned)(needed < full ? needed : full);
    cudaStream_t use;
    const heddle_status status = hd_cuda_enter(device, stream, &use);
    if (status != HEDDLE_OK) return status;
    cudaError_t error = cudaMemsetAsync(count, 0, sizeof *count, use);
    if (error == cudaSuccess && n != 0) {
        unsigned long long *to = (unsigned long long *)count;
        if (few->width == 4)
            mark_few<<<blocks, BLOCK, shared, use>>>(*few, (const uint32_t *)keys, n, flags, to);
        else mark_few<<<blocks, BLOCK, shared, use>>>(*few, (const uint64_t *)keys, n, flags, to);
        error = cudaGetLastError();
    }
    return hd_cuda_check(error, "cannot mark keys");
}
