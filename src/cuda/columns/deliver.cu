/* deliver.cu: launches of the kernels in deliver_kernels.h: lists in the order of the questions. */
#include "cuda/columns/columns.h"
#include "cuda/columns/deliver_kernels.h"

static unsigned blocks_for(const heddle_device *device, uint64_t n)
{
    const uint64_t needed = (n + DELIVER_BLOCK - 1) / DELIVER_BLOCK;
    const uint64_t full = (uint64_t)((const hd_device_cuda *)device)->multiprocessors * 32;
    return (unsigned)(needed < full ? needed : full);
}

heddle_status hd_deliver_lists_cuda(heddle_device *device, const hd_answer_lists *lists,
                                    void *stream)
{
    cudaStream_t use;
    const heddle_status status = hd_cuda_enter(device, stream, &use);
    if (status != HEDDLE_OK || lists->elements == 0) return status;
    const unsigned blocks = blocks_for(device, lists->elements);
    if (lists->width == 8) deliver_elements<uint64_t><<<blocks, DELIVER_BLOCK, 0, use>>>(*lists);
    else deliver_elements<uint32_t><<<blocks, DELIVER_BLOCK, 0, use>>>(*lists);
    return hd_cuda_check(cudaGetLastError(), "cannot bring lists into order");
}

template <class ROW, class NAME>
static void launch_renumber(heddle_device *device, const void *rows, uint64_t n, const void *names,
                            uint64_t base, void *out, cudaStream_t stream)
{
    renumber_rows<ROW, NAME><<<blocks_for(device, n), DELIVER_BLOCK, 0, stream>>>(
        (const ROW *)rows, n, (const NAME *)names, base, (NAME *)out);
}

heddle_status hd_renumber_cuda(heddle_device *device, const void *rows, uint32_t row_bits,
                               uint64_t n, const void *names, uint64_t base, void *out,
                               uint32_t out_bits, void *stream)
{
    cudaStream_t use;
    const heddle_status status = hd_cuda_enter(device, stream, &use);
    if (status != HEDDLE_OK || n == 0) return status;
    if (row_bits == 32 && out_bits == 32)
        launch_renumber<uint32_t, uint32_t>(device, rows, n, names, base, out, use);
    else if (row_bits == 32)
        launch_renumber<uint32_t, uint64_t>(device, rows, n, names, base, out, use);
    else if (out_bits == 32)
        launch_renumber<uint64_t, uint32_t>(device, rows, n, names, base, out, use);
    else launch_renumber<uint64_t, uint64_t>(device, rows, n, names, base, out, use);
    return hd_cuda_check(cudaGetLastError(), "cannot number rows");
}
