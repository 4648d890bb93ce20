/* scan_counts.h: where the pairs of every region begin, from how many there are. */
#ifndef HD_SCAN_COUNTS_H
#define HD_SCAN_COUNTS_H

#include <cub/block/block_scan.cuh>

#include "base/port.h"

#ifndef COUNT_BLOCK
#define COUNT_BLOCK 1024
#endif

/*
 * Turns counts into starts, and copies these to the cursors of the passes: to `fine` one by one, to
 * `coarse` one of every 2^spread. One block; there are few counters beside the pairs.
 */
static __global__ void __launch_bounds__(COUNT_BLOCK)
    scan_counts(uint32_t count, uint64_t *starts, uint64_t *fine, uint64_t *coarse, uint32_t spread)
{
    typedef cub::BlockScan<uint64_t, COUNT_BLOCK> block_scan;
    __shared__ typename block_scan::TempStorage scratch;
    uint64_t before = 0;
    for (uint32_t base = 0; base < count; base += COUNT_BLOCK) {
        const uint32_t i = base + threadIdx.x;
        uint64_t at = 0, sum = 0;
        block_scan(scratch).ExclusiveSum(i < count ? starts[i] : 0, at, sum);
        at += before;
        before += sum;
        if (i < count) {
            starts[i] = at;
            if (fine != NULL) fine[i] = at;
            if (coarse != NULL && (i & ((1u << spread) - 1)) == 0) coarse[i >> spread] = at;
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) starts[count] = before;
}

#endif
