/*
 * block_scan.cuh: stands before CUB's on the include path. Its scratch memory is written before its
 * only barrier and read after it, up to the return of the slowest thread: who uses the memory again
 * must wait for all, as CUB says.
 */
#ifndef EMULATED_BLOCK_SCAN_H
#define EMULATED_BLOCK_SCAN_H

#include <cstdlib>

#include "shim.h"

namespace cub
{
enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };

template <class T, int THREADS, BlockScanAlgorithm ALGORITHM = BLOCK_SCAN_RAKING> class BlockScan
{
  public:
    struct TempStorage {
        T brought[THREADS];
    };
    explicit BlockScan(TempStorage &scratch) : brought(scratch.brought) {}

    void ExclusiveSum(T mine, T &before, HERE)
    {
        T all;
        ExclusiveSum(mine, before, all, line);
    }
    void ExclusiveSum(T mine, T &before, T &all, HERE)
    {
        T sum = 0, own = 0;
        if (blockDim.x != THREADS) abort();
        brought[threadIdx.x] = mine;
        warps_meet_block(line);
        for (unsigned i = 0; i < THREADS; i++) {
            if (i == threadIdx.x) own = sum;
            sum += brought[i];
        }
        before = own;
        all = sum;
        warps_touch();
    }
    template <int ITEMS> void ExclusiveSum(T (&mine)[ITEMS], T (&before)[ITEMS], HERE)
    {
        T sum = 0;
        for (const T &item : mine) sum += item;
        ExclusiveSum(sum, sum, line);
        for (int i = 0; i < ITEMS; i++) {
            const T item = mine[i]; /* they may be the same array */
            before[i] = sum;
            sum += item;
        }
    }

  private:
    T *brought;
};
} /* namespace cub */

#endif
