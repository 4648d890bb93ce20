/* mark_few.cu: which rows have one of a few keys (engine/columns.h), on a CUDA device. */
#include "cuda/columns/columns.h"

#define BLOCK 256
#define BLOCKS 8 /* of a multiprocessor: each brings the keys to its shared memory once */

/*
 * The few keys are in shared memory: in a table of global memory all processors would want the same lines from the same
 * place of the second-level cache.
 */
template <class KEY> static __global__ void mark_few(hd_few few, hd_few_search search)
{
    const KEY *keys = (const KEY *)search.keys;
    const uint64_t n = search.n;
    uint8_t *flags = search.flags;
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
    if (threadIdx.x % 32 == 0 && mine != 0)
        atomicAdd((unsigned long long *)search.count, (unsigned long long)mine);
}

heddle_status hd_mark_few_cuda(hd_site on, const hd_few *few, const hd_few_search *search)
{
    const size_t shared = ((size_t)1 << few->bits) * 8 + (((size_t)1 << few->bits) + 31) / 32 * 4;
    const uint64_t needed = (search->n + BLOCK - 1) / BLOCK,
                   full = (uint64_t)((const hd_device_cuda *)on.device)->multiprocessors * BLOCKS;
    const unsigned blocks = (unsigned)(needed < full ? needed : full);
    cudaStream_t use;
    const heddle_status status = hd_cuda_enter(on.device, on.stream, &use);
    if (status != HEDDLE_OK) return status;
    cudaError_t error = cudaMemsetAsync(search->count, 0, sizeof *search->count, use);
    if (error == cudaSuccess && search->n != 0) {
        if (few->width == 4) mark_few<uint32_t><<<blocks, BLOCK, shared, use>>>(*few, *search);
        else mark_few<uint64_t><<<blocks, BLOCK, shared, use>>>(*few, *search);
        error = cudaGetLastError();
    }
    return hd_cuda_check(error, "cannot mark keys");
}
