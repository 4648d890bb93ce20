/* deliver.cu: launches of the kernels in deliver_kernels.h: lists in the order of the questions. */
#include "cuda/columns/columns.h"
#include "cuda/columns/deliver_kernels.h"

static unsigned blocks_for(const heddle_device *device, uint64_t n)
{
    const uint64_t needed = (n + DELIVER_BLOCK - 1) / DELIVER_BLOCK;
    const uint64_t full = (uint64_t)((const hd_device_cuda *)device)->multiprocessors * 32;
    return (unsigned)(needed < full ? needed : full);
}

heddle_status hd_deliver_lists_cuda(hd_site on, const hd_answer_lists *lists)
{
    cudaStream_t use;
    const heddle_status status = hd_cuda_enter(on.device, on.stream, &use);
    if (status != HEDDLE_OK || lists->elements == 0) return status;
    const unsigned blocks = blocks_for(on.device, lists->elements);
    if (lists->width == 8) deliver_elements<uint64_t><<<blocks, DELIVER_BLOCK, 0, use>>>(*lists);
    else deliver_elements<uint32_t><<<blocks, DELIVER_BLOCK, 0, use>>>(*lists);
    return hd_cuda_check(cudaGetLastError(), "cannot bring lists into order");
}

template <class ROW, class NAME>
static void launch_renumber(unsigned blocks, cudaStream_t stream, hd_row_numbers rows,
                            hd_names names, void *out)
{
    renumber_rows<ROW, NAME><<<blocks, DELIVER_BLOCK, 0, stream>>>(
        (const ROW *)rows.numbers, rows.n, (const NAME *)names.names, names.base, (NAME *)out);
}

heddle_status hd_renumber_cuda(hd_site on, hd_row_numbers rows, hd_names names, void *out)
{
    cudaStream_t use;
    const heddle_status status = hd_cuda_enter(on.device, on.stream, &use);
    if (status != HEDDLE_OK || rows.n == 0) return status;
    const unsigned blocks = blocks_for(on.device, rows.n);
    if (rows.bits == 32 && names.bits == 32)
        launch_renumber<uint32_t, uint32_t>(blocks, use, rows, names, out);
    else if (rows.bits == 32) launch_renumber<uint32_t, uint64_t>(blocks, use, rows, names, out);
    else if (names.bits == 32) launch_renumber<uint64_t, uint32_t>(blocks, use, rows, names, out);
    else launch_renumber<uint64_t, uint64_t>(blocks, use, rows, names, out);
    return hd_cuda_check(cudaGetLastError(), "cannot number rows");
}
