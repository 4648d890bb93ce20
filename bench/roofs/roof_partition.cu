/*
 * roof_partition.cu: how fast CUB's radix sort tells pairs apart by some leading bits, for the builds
 * that partition to compare with. Pairs of up to 8 bytes are sorted as one word, larger ones as a
 * 64-bit key and a 64-bit value.
 */
#include "base/alloc.h"
#include "roofs/enter.h"
#include "roofs/roof.h"

#include <algorithm>
#include <cub/device/device_radix_sort.cuh>
#include <vector>

namespace
{

struct partition_roof {
    uint64_t n;
    uint32_t bits;
    char *memory; /* keys in, keys out, values in, values out, then CUB's own */
    size_t temporary;
    cudaStream_t stream;
};

__global__ void make_words(uint64_t *words, uint64_t n)
{
    for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += (uint64_t)gridDim.x * blockDim.x) {
        uint64_t x = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
        x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
        words[i] = x ^ x >> 31;
    }
}

/* One sort; with `temporary` NULL only the bytes it would need. */
template <class WORD>
cudaError_t sort_words(const partition_roof &r, void *temporary, size_t &bytes)
{
    const WORD *in = (const WORD *)r.memory;
    return cub::DeviceRadixSort::SortKeys(temporary, bytes, in, (WORD *)(r.memory + r.n * 8),
                                          (int64_t)r.n, (int)(8 * sizeof(WORD) - r.bits),
                                          (int)(8 * sizeof(WORD)), r.stream);
}

cudaError_t sort_wide(const partition_roof &r, void *temporary, size_t &bytes)
{
    uint64_t *const words = (uint64_t *)r.memory;
    return cub::DeviceRadixSort::SortPairs(temporary, bytes, (const uint64_t *)words, words + r.n,
                                           (const uint64_t *)words + 2 * r.n, words + 3 * r.n,
                                           (int64_t)r.n, (int)(64 - r.bits), 64, r.stream);
}

typedef cudaError_t (*sorter)(const partition_roof &r, void *temporary, size_t &bytes);

/* The median of `repeat` sorts after one to warm up. */
cudaError_t time_sorts(const partition_roof &r, sorter sort, uint32_t repeat, double *rate)
{
    std::vector<float> times;
    cudaEvent_t begin = NULL, end = NULL;
    cudaError_t error = cudaEventCreate(&begin);
    if (error == cudaSuccess) error = cudaEventCreate(&end);
    for (uint32_t i = 0; i <= repeat && error == cudaSuccess; i++) {
        size_t bytes = r.temporary;
        float milliseconds = 0;
        error = cudaEventRecord(begin, r.stream);
        if (error == cudaSuccess) error = sort(r, r.memory + 32 * r.n, bytes);
        if (error == cudaSuccess) error = cudaEventRecord(end, r.stream);
        if (error == cudaSuccess) error = cudaEventSynchronize(end);
        if (error == cudaSuccess) error = cudaEventElapsedTime(&milliseconds, begin, end);
        if (i != 0) times.push_back(milliseconds);
    }
    if (begin != NULL) (void)cudaEventDestroy(begin);
    if (end != NULL) (void)cudaEventDestroy(end);
    if (error != cudaSuccess) return error;
    std::sort(times.begin(), times.end());
    *rate = (double)r.n / (1e-3 * times[times.size() / 2]);
    return cudaSuccess;
}

} // namespace

extern "C" heddle_status hd_roof_partition_cuda(heddle_device *device,
                                                const hd_roof_request *request, double *rate)
{
    partition_roof r = {request->accesses, request->bits, NULL, 0, NULL};
    const sorter sort = request->width > 8   ? sort_wide
                        : request->width > 4 ? sort_words<uint64_t>
                                             : sort_words<uint32_t>;
    if (request->accesses == 0 || request->repeat == 0 || request->bits == 0 || request->bits > 32)
        return hd_fail(HEDDLE_ERROR_INVALID, "a partition's roof needs pairs, passes and bits");
    HD_TRY(bench_enter(device, &r.stream));
    cudaError_t error = sort(r, NULL, r.temporary);
    if (error == cudaSuccess)
        error = hd_fault_due() ? cudaErrorMemoryAllocation
                               : cudaMalloc((void **)&r.memory, 32 * r.n + r.temporary);
    if (error == cudaSuccess) {
        make_words<<<1024, 256, 0, r.stream>>>((uint64_t *)r.memory, 4 * r.n);
        error = cudaGetLastError();
    }
    if (error == cudaSuccess) error = time_sorts(r, sort, request->repeat, rate);
    (void)cudaFree(r.memory);
    return hd_cuda_check(error, "measuring a partition");
}
