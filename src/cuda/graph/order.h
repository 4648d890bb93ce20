/*
 * order.h: brings the edges of a graph into one order: by mixed key, and by value where keys are
 * equal. Mixed keys are in the order of regions and vertices, so every list keeps its place. By CUB's
 * radix sort, which is stable: first by value, then by key.
 */
#ifndef HD_GRAPH_ORDER_H
#define HD_GRAPH_ORDER_H

#include <cub/device/device_radix_sort.cuh>

#include "cuda/partition/sorted_pair.h"

#define ORDER_BLOCK 256

static __global__ void __launch_bounds__(ORDER_BLOCK)
    order_unzip(const uint32_t *pairs, uint64_t n, hd_key *keys, hd_value *values)
{
    const uint64_t stride = (uint64_t)gridDim.x * ORDER_BLOCK;
    for (uint64_t i = (uint64_t)blockIdx.x * ORDER_BLOCK + threadIdx.x; i < n; i += stride) {
        const hd_sorted_pair pair = sorted_load(pairs, i);
        keys[i] = sorted_key(pair);
        if (HD_VALUE_BITS != 0) values[i] = (hd_value)sorted_value(pair);
    }
}

static __global__ void __launch_bounds__(ORDER_BLOCK)
    order_zip(uint32_t *pairs, uint64_t n, const hd_key *keys, const hd_value *values)
{
    const uint64_t stride = (uint64_t)gridDim.x * ORDER_BLOCK;
    for (uint64_t i = (uint64_t)blockIdx.x * ORDER_BLOCK + threadIdx.x; i < n; i += stride)
        sorted_store(pairs, i, sorted_make(keys[i], HD_VALUE_BITS != 0 ? values[i] : 0));
}

/* The parts of the work memory: keys twice, values twice, CUB's own. */
typedef struct order_layout {
    uint64_t keys[2], values[2], sort, bytes;
    size_t sort_bytes;
} order_layout;

static inline order_layout order_layout_for(uint64_t n)
{
    const uint64_t keys = (n * sizeof(hd_key) + 255) / 256 * 256;
    const uint64_t values = HD_VALUE_BITS != 0 ? (n * sizeof(hd_value) + 255) / 256 * 256 : 0;
    size_t by_key = 0, by_value = 0;
    order_layout l;
#if HD_VALUE_BITS != 0
    cub::DeviceRadixSort::SortPairs(NULL, by_key, (const hd_key *)NULL, (hd_key *)NULL,
                                    (const hd_value *)NULL, (hd_value *)NULL, n);
    cub::DeviceRadixSort::SortPairs(NULL, by_value, (const hd_value *)NULL, (hd_value *)NULL,
                                    (const hd_key *)NULL, (hd_key *)NULL, n);
#else
    cub::DeviceRadixSort::SortKeys(NULL, by_key, (const hd_key *)NULL, (hd_key *)NULL, n);
#endif
    l.keys[0] = 0;
    l.keys[1] = keys;
    l.values[0] = 2 * keys;
    l.values[1] = 2 * keys + values;
    l.sort = 2 * keys + 2 * values;
    l.sort_bytes = by_key > by_value ? by_key : by_value;
    l.bytes = l.sort + l.sort_bytes + 256;
    return l;
}

static inline cudaError_t order_edges(uint32_t *edges, uint64_t n, char *work, unsigned blocks,
                                      cudaStream_t stream)
{
    order_layout l = order_layout_for(n);
    hd_key *keys[2] = {(hd_key *)(work + l.keys[0]), (hd_key *)(work + l.keys[1])};
    hd_value *values[2] = {(hd_value *)(work + l.values[0]), (hd_value *)(work + l.values[1])};
    cudaError_t error;
    order_unzip<<<blocks, ORDER_BLOCK, 0, stream>>>(edges, n, keys[0], values[0]);
#if HD_VALUE_BITS != 0
    error = cub::DeviceRadixSort::SortPairs(
        work + l.sort, l.sort_bytes, (const hd_value *)values[0], values[1],
        (const hd_key *)keys[0], keys[1], n, 0, HD_VALUE_BITS, stream);
    if (error == cudaSuccess)
        error = cub::DeviceRadixSort::SortPairs(
            work + l.sort, l.sort_bytes, (const hd_key *)keys[1], keys[0],
            (const hd_value *)values[1], values[0], n, 0, HD_KEY_BITS, stream);
    if (error != cudaSuccess) return error;
    order_zip<<<blocks, ORDER_BLOCK, 0, stream>>>(edges, n, keys[0], values[0]);
#else
    error = cub::DeviceRadixSort::SortKeys(work + l.sort, l.sort_bytes, (const hd_key *)keys[0],
                                           keys[1], n, 0, HD_KEY_BITS, stream);
    if (error != cudaSuccess) return error;
    order_zip<<<blocks, ORDER_BLOCK, 0, stream>>>(edges, n, keys[1], values[0]);
#endif
    return cudaGetLastError();
}

#endif
