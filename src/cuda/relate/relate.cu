/*
 * relate.cu: joins and groups on a CUDA device, for one width of keys and one of row numbers
 * (HD_VALUE_BITS). Built once for every kind, by a generated stub that defines HD_KEY_BITS,
 * HD_VALUE_BITS and HD_SYMBOL. Exports HD_SYMBOL alone.
 *
 * The files:
 *
 *     join_kernels.h   the device code of joins
 *     keys.h           launches of keys_kernels.h: groups by number, distinct keys
 *     keys_kernels.h   distinct keys by tables in shared and in global memory
 *       keys_values.inl aggregates that go along
 *       keys_answers.inl numbers and answers, when all keys are in the table
 *
 * Groups that are too many for keys.h come from CUB's radix sort of the keys with their row numbers: it is stable, so
 * the rows of a group ascend, and it does not mind how many groups there are or how large. Only the bits in which
 * the keys differ are sorted.
 */
#include <cub/device/device_radix_sort.cuh>

#include "cuda/device/engine.h"
#include "cuda/relate/join_kernels.h"
#include "cuda/relate/keys.h"

/* ---------------------------------------------------------------------------------------- joins */

static heddle_status run_join(heddle_device *device, void (*kernel)(hd_join_job),
                              const hd_join_job *job, void *stream)
{
    cudaStream_t use;
    const heddle_status status = hd_cuda_enter(device, stream, &use);
    if (status != HEDDLE_OK || job->count == 0) return status;
    cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                             (int)sizeof(join_scratch));
    if (error == cudaSuccess) {
        kernel<<<job->count, VERTEX_BLOCK, sizeof(join_scratch), use>>>(*job);
        error = cudaGetLastError();
    }
    return hd_cuda_check(error, "cannot join");
}

static heddle_status count_matches(heddle_device *device, const hd_join_job *job, void *stream)
{
    return run_join(device, job->left_matched != NULL ? join_count<true> : join_count<false>, job,
                    stream);
}

static heddle_status write_matches(heddle_device *device, const hd_join_job *job, void *stream)
{
    return run_join(device, join_write, job, stream);
}

/* --------------------------------------------------------------------------------------- groups */

#define GROUP_BLOCK 256

/* The bits in which any key differs from the first. */
static __global__ void __launch_bounds__(GROUP_BLOCK)
    group_bits(const hd_key *keys, uint64_t n, unsigned long long *bits)
{
    const uint64_t stride = (uint64_t)gridDim.x * GROUP_BLOCK;
    const hd_key first = keys[0];
    hd_key mine = 0;
    for (uint64_t i = (uint64_t)blockIdx.x * GROUP_BLOCK + threadIdx.x; i < n; i += stride)
        mine |= keys[i] ^ first;
    for (int offset = 16; offset > 0; offset /= 2)
        mine |= __shfl_down_sync(0xffffffffu, mine, offset);
    if (threadIdx.x % 32 == 0 && mine != 0) atomicOr(bits, (unsigned long long)mine);
}

static __global__ void __launch_bounds__(GROUP_BLOCK) group_number(hd_row *rows, uint64_t n)
{
    const uint64_t stride = (uint64_t)gridDim.x * GROUP_BLOCK;
    for (uint64_t i = (uint64_t)blockIdx.x * GROUP_BLOCK + threadIdx.x; i < n; i += stride)
        rows[i] = (hd_row)i;
}

/* Four at a time: a flag is only a byte. */
static __global__ void __launch_bounds__(GROUP_BLOCK)
    group_heads(const hd_key *keys, uint64_t n, uint8_t *heads)
{
    const uint64_t stride = (uint64_t)gridDim.x * GROUP_BLOCK * 4;
    for (uint64_t i = ((uint64_t)blockIdx.x * GROUP_BLOCK + threadIdx.x) * 4; i < n; i += stride) {
        uint32_t four = 0;
#pragma unroll
        for (uint32_t k = 0; k < 4; k++)
            if (i + k < n && (i + k == 0 || keys[i + k] != keys[i + k - 1])) four |= 1u << 8 * k;
        if (i + 4 <= n) *(uint32_t *)(heads + i) = four;
        else
            for (uint32_t k = 0; i + k < n; k++) heads[i + k] = (uint8_t)(four >> 8 * k);
    }
}

/* The parts of the work memory: sorted keys, rows in their order, CUB's own. */
typedef struct group_layout {
    uint64_t keys, rows, bits, sort, sort_bytes, bytes;
} group_layout;

static uint64_t up(uint64_t bytes) { return (bytes + 255) / 256 * 256; }

static group_layout layout_for(uint64_t n)
{
    group_layout l;
    size_t bytes = 0;
    cub::DeviceRadixSort::SortPairs(NULL, bytes, (const hd_key *)NULL, (hd_key *)NULL,
                                    (const hd_row *)NULL, (hd_row *)NULL, n);
    l.keys = 0;
    l.rows = l.keys + up(n * sizeof(hd_key));
    l.bits = l.rows + up(n * sizeof(hd_row));
    l.sort = l.bits + 256;
    l.sort_bytes = bytes;
    l.bytes = l.sort + up(bytes);
    return l;
}

static uint64_t group_work(heddle_device *device, uint64_t n)
{
    cudaStream_t use;
    return hd_cuda_enter(device, NULL, &use) == HEDDLE_OK ? layout_for(n).bytes : 0;
}

static cudaError_t sort_rows(const hd_device_cuda *device, const hd_group_job *job,
                             cudaStream_t stream)
{
    const group_layout l = layout_for(job->n);
    const hd_key *keys = (const hd_key *)job->keys;
    char *work = (char *)job->work;
    hd_key *sorted = (hd_key *)(work + l.keys);
    hd_row *numbers = (hd_row *)(work + l.rows);
    unsigned long long *bits = (unsigned long long *)(work + l.bits), differ = 0;
    const unsigned blocks = (unsigned)device->multiprocessors * 8;
    size_t sort_bytes = l.sort_bytes;
    cudaError_t error = cudaMemsetAsync(bits, 0, sizeof *bits, stream);
    if (error != cudaSuccess) return error;
    group_bits<<<blocks, GROUP_BLOCK, 0, stream>>>(keys, job->n, bits);
    group_number<<<blocks, GROUP_BLOCK, 0, stream>>>(numbers, job->n);
    error = cudaMemcpyAsync(&differ, bits, sizeof differ, cudaMemcpyDeviceToHost, stream);
    if (error == cudaSuccess) error = cudaStreamSynchronize(stream);
    if (error != cudaSuccess) return error;
    const int begin = differ == 0 ? 0 : __builtin_ctzll(differ);
    const int end = differ == 0 ? 1 : 64 - __builtin_clzll(differ);
    error = cub::DeviceRadixSort::SortPairs(work + l.sort, sort_bytes, keys, sorted, numbers,
                                            (hd_row *)job->rows, job->n, begin, end, stream);
    if (error != cudaSuccess) return error;
    group_heads<<<blocks, GROUP_BLOCK, 0, stream>>>(sorted, job->n, job->heads);
    return cudaGetLastError();
}

static heddle_status group(heddle_device *device, const hd_group_job *job, void *stream)
{
    cudaStream_t use;
    const heddle_status status = hd_cuda_enter(device, stream, &use);
    if (status != HEDDLE_OK || job->n == 0) return status;
    return hd_cuda_check(sort_rows((const hd_device_cuda *)device, job, use), "cannot group rows");
}

extern "C" const hd_relate_ops HD_SYMBOL;
extern "C" const hd_relate_ops HD_SYMBOL = {
    HD_KEY_BITS,   HD_VALUE_BITS, JOIN_LEFT,      JOIN_RIGHT,  JOIN_LEFT * 3 / 4, count_matches,
    write_matches, group_work,    group,          KEYS_FEW,    keys_few_work,     keys_few,
    distinct_plan, distinct,      distinct_fetch, KEYS_VALUES,
};
