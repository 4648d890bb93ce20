/*
 * filter.cu: Bloom filters on a CUDA device, for keys of one width: the launches of the kernels in
 * filter_kernels.h. Built once for each width by a generated stub that defines HD_KEY_BITS and
 * HD_SYMBOL. Exports HD_SYMBOL alone.
 */
#include "cuda/device/engine.h"
#include "cuda/filter/filter_kernels.h"

/* Bits that a sort tells apart in one pass (cuda/partition/partition_kernels.h). */
#define ONE_PASS_BITS 10
/* Fewer keys are added one by one. */
#define SORT_KEYS_MIN (UINT64_C(1) << 18)
/* A region with more keys than this times the usual is shared by several blocks of threads. */
#define CROWDED 4
#define CROWDED_KEYS_MIN 65536

static unsigned blocks_for(uint64_t threads)
{
    return (unsigned)((threads + FILTER_BLOCK - 1) / FILTER_BLOCK);
}

/* Enough blocks to fill the device, for kernels that go on by themselves. */
static unsigned blocks_up_to(const heddle_device *device, uint64_t threads)
{
    const uint64_t full = (uint64_t)((const hd_device_cuda *)device)->multiprocessors * 16;
    const uint64_t needed = (threads + FILTER_BLOCK - 1) / FILTER_BLOCK;
    return (unsigned)(needed < full ? needed : full);
}

/* ----------------------------------------------------------------------------------------- add */

template <int HASHES>
static void launch_add(const hd_filter_view *view, const void *keys, uint64_t n,
                       cudaStream_t stream)
{
    add_keys<HASHES><<<blocks_for(n), FILTER_BLOCK, 0, stream>>>(*view, (const hd_key *)keys, n);
}

static heddle_status add(heddle_device *device, const hd_filter_view *view, const void *keys,
                         uint64_t n, void *stream)
{
    cudaStream_t use;
    const heddle_status status = hd_cuda_enter(device, stream, &use);
    if (status != HEDDLE_OK || n == 0) return status;
    switch (view->hashes) {
#define CASE(h)                                                                                    \
    case h: launch_add<h>(view, keys, n, use); break;
        HD_FOR_HASHES(CASE)
#undef CASE
    }
    return hd_cuda_check(cudaGetLastError(), "cannot add keys to a filter");
}

static uint64_t region_bytes(const hd_filter_view *view, uint32_t bits)
{
    return (uint64_t)(view->blocks >> bits) * HD_FILTER_BLOCK_BYTES;
}

/* Regions that fit shared memory; larger ones where that saves a pass of the sort. */
static uint32_t sort_bits(heddle_device *device, const hd_filter_view *view, uint64_t n)
{
    const uint64_t shared = ((const hd_device_cuda *)device)->shared_bytes;
    const bool worthwhile = n >= SORT_KEYS_MIN && n >= view->blocks;
    if (!worthwhile || region_bytes(view, view->region_bits) > shared) return 0;
    if (view->region_bits > ONE_PASS_BITS && region_bytes(view, ONE_PASS_BITS) <= shared)
        return ONE_PASS_BITS;
    return view->region_bits;
}

template <int HASHES>
static cudaError_t launch_fill(const hd_filter_view *view, const hd_filter_sorted *sorted,
                               cudaStream_t stream)
{
    const int bytes = (int)region_bytes(view, sorted->region_bits);
    const unsigned regions = 1u << sorted->region_bits;
    const uint64_t usual = CROWDED * (sorted->n / regions);
    const uint64_t limit = usual > CROWDED_KEYS_MIN ? usual : CROWDED_KEYS_MIN;
    cudaError_t error = cudaFuncSetAttribute(fill_regions<HASHES>,
                                             cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (error == cudaSuccess)
        error = cudaFuncSetAttribute(fill_crowded<HASHES>,
                                     cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (error != cudaSuccess) return error;
    fill_regions<HASHES><<<regions, FILL_BLOCK, bytes, stream>>>(*view, *sorted, limit);
    fill_crowded<HASHES>
        <<<(unsigned)((sorted->n + limit - 1) / limit), FILL_BLOCK, bytes, stream>>>(*view, *sorted,
                                                                                     limit);
    return cudaGetLastError();
}

static heddle_status add_sorted(heddle_device *device, const hd_filter_view *view,
                                const hd_filter_sorted *sorted, void *stream)
{
    cudaStream_t use;
    cudaError_t error = cudaSuccess;
    const heddle_status status = hd_cuda_enter(device, stream, &use);
    if (status != HEDDLE_OK || sorted->n == 0) return status;
    switch (view->hashes) {
#define CASE(h)                                                                                    \
    case h: error = launch_fill<h>(view, sorted, use); break;
        HD_FOR_HASHES(CASE)
#undef CASE
    }
    return hd_cuda_check(error, "cannot add sorted keys to a filter");
}

/* ------------------------------------------------------------------------------------ contains */

template <int HASHES>
static void launch_contains(const hd_filter_view *view, const void *keys, uint64_t n,
                            uint8_t *found, uint64_t *count, cudaStream_t stream)
{
    contains_keys<HASHES>
        <<<blocks_for((n + LOOK_KEYS - 1) / LOOK_KEYS + 1), FILTER_BLOCK, 0, stream>>>(
            *view, (const hd_key *)keys, n, found, count);
}

static heddle_status contains(heddle_device *device, const hd_filter_view *view, const void *keys,
                              uint64_t n, uint8_t *found, uint64_t *count, void *stream)
{
    cudaStream_t use;
    const heddle_status status = hd_cuda_enter(device, stream, &use);
    if (status != HEDDLE_OK || n == 0) return status;
    switch (view->hashes) {
#define CASE(h)                                                                                    \
    case h: launch_contains<h>(view, keys, n, found, count, use); break;
        HD_FOR_HASHES(CASE)
#undef CASE
    }
    return hd_cuda_check(cudaGetLastError(), "cannot look into a filter");
}

/* -------------------------------------------------------------------------------- whole filters */

static heddle_status merge(heddle_device *device, const hd_filter_view *view, const uint32_t *from,
                           void *stream)
{
    cudaStream_t use;
    const heddle_status status = hd_cuda_enter(device, stream, &use);
    if (status != HEDDLE_OK) return status;
    merge_words<<<blocks_up_to(device, (uint64_t)view->blocks * BLOOM_WORDS), FILTER_BLOCK, 0,
                  use>>>(*view, from);
    return hd_cuda_check(cudaGetLastError(), "cannot merge filters");
}

static heddle_status inspect(heddle_device *device, const hd_filter_view *view,
                             hd_filter_census *census, void *stream)
{
    cudaStream_t use;
    const heddle_status status = hd_cuda_enter(device, stream, &use);
    if (status != HEDDLE_OK) return status;
    inspect_blocks<<<blocks_up_to(device, view->blocks), FILTER_BLOCK, 0, use>>>(*view, census);
    return hd_cuda_check(cudaGetLastError(), "cannot inspect a filter");
}

extern "C" const hd_filter_ops HD_SYMBOL;
extern "C" const hd_filter_ops HD_SYMBOL = {add, add_sorted, sort_bits, contains, merge, inspect};
