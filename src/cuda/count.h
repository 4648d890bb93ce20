/* count.h: adding up what the threads of a block counted, with one atomic a block and sum. */
#ifndef HD_CUDA_COUNT_H
#define HD_CUDA_COUNT_H

#include "base/port.h"

HD_FN uint32_t warp_sum(uint32_t mine)
{
#if __CUDA_ARCH__ >= 800
    return __reduce_add_sync(0xffffffffu, mine);
#else
    for (int offset = 16; offset > 0; offset /= 2)
        mine += __shfl_down_sync(0xffffffffu, mine, offset);
    return mine;
#endif
}

HD_FN uint64_t warp_sum(uint64_t mine)
{
    for (int offset = 16; offset > 0; offset /= 2)
        mine += __shfl_down_sync(0xffffffffu, (unsigned long long)mine, offset);
    return mine;
}

/*
 * Adds mine[0..COUNT) of all threads to *to[0..COUNT). Every thread of the block must call it. A
 * warp's sum has as many bits as the numbers.
 */
template <int COUNT, class NUMBER>
static __device__ __forceinline__ void block_add(uint64_t *const (&to)[COUNT],
                                                 const NUMBER (&mine)[COUNT])
{
    __shared__ unsigned long long sums[COUNT];
    if (threadIdx.x < COUNT) sums[threadIdx.x] = 0;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < COUNT; i++) {
        const NUMBER sum = warp_sum(mine[i]);
        if (threadIdx.x % 32 == 0 && sum != 0) atomicAdd(&sums[i], (unsigned long long)sum);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
#pragma unroll
        for (int i = 0; i < COUNT; i++)
            if (sums[i] != 0) atomicAdd((unsigned long long *)to[i], sums[i]);
    }
}

#endif
