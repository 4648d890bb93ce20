/*
 * numbered.cu: groups known by number (hd_grouped) on a CUDA device: the numbers in the width of rows, and rows brought into
 * order, by CUB's stable sort of the numbers. Aggregates are in reduce.cu.
 */
#include <cub/device/device_radix_sort.cuh>

#include "cuda/columns/columns.h"
#include "engine/blocks.h"

#define BLOCK 256

#define FOR_EACH(i, n)                                                                             \
    for (uint64_t i = (uint64_t)blockIdx.x * BLOCK + threadIdx.x; i < (n);                         \
         i += (uint64_t)gridDim.x * BLOCK)

static unsigned blocks_for(const heddle_device *device, uint64_t n)
{
    const uint64_t needed = (n + BLOCK - 1) / BLOCK;
    const uint64_t full = (uint64_t)((const hd_device_cuda *)device)->multiprocessors * 32;
    return (unsigned)(needed < full ? needed : full);
}

template <class ROW>
static __global__ void __launch_bounds__(BLOCK)
    copy_numbers(const uint32_t *numbers, uint64_t n, const ROW *names, ROW *out)
{
    FOR_EACH(i, n) out[i] = names != NULL ? names[numbers[i]] : (ROW)numbers[i];
}

heddle_status hd_number_numbered_cuda(hd_site on, const hd_grouped *grouped, const void *names,
                                      void *out)
{
    const unsigned blocks = blocks_for(on.device, grouped->n);
    cudaStream_t use;
    const heddle_status status = hd_cuda_enter(on.device, on.stream, &use);
    if (status != HEDDLE_OK) return status;
    if (grouped->row_bits == 32)
        copy_numbers<<<blocks, BLOCK, 0, use>>>(grouped->numbers, grouped->n,
                                                (const uint32_t *)names, (uint32_t *)out);
    else
        copy_numbers<<<blocks, BLOCK, 0, use>>>(grouped->numbers, grouped->n,
                                                (const uint64_t *)names, (uint64_t *)out);
    return hd_cuda_check(cudaGetLastError(), "cannot number the rows of groups");
}

/* ------------------------------------------------------------------------------------------- order */

template <class ROW>
static __global__ void __launch_bounds__(BLOCK) count_rows(ROW *rows, uint64_t n)
{
    FOR_EACH(i, n) rows[i] = (ROW)i;
}

/* Where groups begin in the sorted numbers; no group is empty. */
static __global__ void __launch_bounds__(BLOCK)
    find_starts(const uint32_t *sorted, uint64_t n, uint64_t groups, uint64_t *starts)
{
    FOR_EACH(i, n)
    {
        if (i == 0 || sorted[i] != sorted[i - 1]) starts[sorted[i]] = i;
        if (i == 0) starts[groups] = n;
    }
}

/* The parts of the work memory: sorted numbers, all rows, CUB's own. */
template <class ROW> struct order_layout {
    uint64_t rows, sort, bytes;
    size_t sort_bytes;
    int end; /* bits of a number */
    order_layout(uint64_t n, uint64_t groups)
    {
        end = groups > 1 ? 64 - __builtin_clzll(groups - 1) : 1;
        sort_bytes = 0;
        cub::DeviceRadixSort::SortPairs(NULL, sort_bytes, (const uint32_t *)NULL, (uint32_t *)NULL,
                                        (const ROW *)NULL, (ROW *)NULL, n, 0, end);
        rows = (n * sizeof(uint32_t) + 255) / 256 * 256;
        sort = rows + (n * sizeof(ROW) + 255) / 256 * 256;
        bytes = sort + sort_bytes;
    }
};

template <class ROW>
static cudaError_t sort_rows(const heddle_device *device, const hd_grouped *grouped, char *work,
                             uint64_t *starts, ROW *rows, cudaStream_t stream)
{
    order_layout<ROW> l(grouped->n, grouped->groups);
    const unsigned blocks = blocks_for(device, grouped->n);
    uint32_t *sorted = (uint32_t *)work;
    ROW *all = (ROW *)(work + l.rows);
    count_rows<<<blocks, BLOCK, 0, stream>>>(all, grouped->n);
    const cudaError_t error =
        cub::DeviceRadixSort::SortPairs(work + l.sort, l.sort_bytes, grouped->numbers, sorted,
                                        (const ROW *)all, rows, grouped->n, 0, l.end, stream);
    if (error != cudaSuccess) return error;
    find_starts<<<blocks, BLOCK, 0, stream>>>(sorted, grouped->n, grouped->groups, starts);
    return cudaGetLastError();
}

template <class ROW>
static heddle_status order(hd_site on, const hd_grouped *grouped, uint64_t *starts, void *rows)
{
    void *work = NULL;
    cudaStream_t use;
    heddle_status status = hd_cuda_enter(on.device, on.stream, &use);
    if (status != HEDDLE_OK || grouped->n == 0) return status;
    status = hd_block_take(on.device, order_layout<ROW>(grouped->n, grouped->groups).bytes, &work);
    if (status != HEDDLE_OK) return status;
    cudaError_t error = sort_rows(on.device, grouped, (char *)work, starts, (ROW *)rows, use);
    if (error == cudaSuccess) error = cudaStreamSynchronize(use);
    hd_block_give(on.device, work);
    return hd_cuda_check(error, "cannot bring rows into order");
}

heddle_status hd_order_cuda(hd_site on, const hd_grouped *grouped, uint64_t *starts, void *rows)
{
    return grouped->row_bits == 32 ? order<uint32_t>(on, grouped, starts, rows)
                                   : order<uint64_t>(on, grouped, starts, rows);
}
