/* deliver.cu: launches of the kernels in deliver_kernels.h: answers in the order of the questions. */
#include "cuda/columns.h"
#include "cuda/deliver_kernels.h"

static unsigned blocks_for(const heddle_device *device, uint64_t n)
{
    const uint64_t needed = (n + DELIVER_BLOCK - 1) / DELIVER_BLOCK;
    const uint64_t full = (uint64_t)((const hd_device_cuda *)device)->multiprocessors * 32;
    return (unsigned)(needed < full ? needed : full);
}

heddle_status hd_deliver_cuda(heddle_device *device, const hd_answers *answers, void *stream)
{
    cudaStream_t use;
    const heddle_status status = hd_cuda_enter(device, stream, &use);
    if (status != HEDDLE_OK || answers->n == 0) return status;
    const unsigned blocks = blocks_for(device, answers->n);
    if (answers->width == 8) deliver_answers<uint64_t><<<blocks, DELIVER_BLOCK, 0, use>>>(*answers);
    else deliver_answers<uint32_t><<<blocks, DELIVER_BLOCK, 0, use>>>(*answers);
    return hd_cuda_check(cudaGetLastError(), "cannot bring answers into order");
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
