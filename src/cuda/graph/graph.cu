/*
 * graph.cu: graphs on a CUDA device, for one kind of pair: the launches of the kernels in
 * place.h and graph_kernels.h. Built once for every kind, by a generated stub that defines
 * HD_KEY_BITS, HD_VALUE_BITS and HD_SYMBOL. Exports HD_SYMBOL alone. The files:
 *
 *     place.h           builds graphs from sorted pairs, a block a region; vertex_sort.h sorts a block's pairs
 *     graph_kernels.h   reads graphs, and takes edges out
 *     order.h           brings lists into one order
 */
#include "cuda/device/engine.h"
#include "cuda/graph/graph_kernels.h"
#include "cuda/graph/order.h"
#include "cuda/partition/scan_counts.h"

/* As many vertices as let two blocks share a processor's shared memory. */
#define VERTICES_MAX 24576
#define WIDE_BLOCKS 4 /* a multiprocessor */

static unsigned blocks_for(const heddle_device *device, uint64_t n, unsigned block, unsigned most)
{
    const uint64_t needed = (n + block - 1) / block;
    const uint64_t full = (uint64_t)((const hd_device_cuda *)device)->multiprocessors * most;
    return (unsigned)(needed == 0 ? 1 : needed < full ? needed : full);
}

/* ---------------------------------------------------------------------------------------- place */

/* As much as there is beside the kernel's own: other threads may be building other graphs. */
template <class KERNEL> static cudaError_t allow_memory(const heddle_device *device, KERNEL kernel)
{
    const size_t most = ((const hd_device_cuda *)device)->shared_bytes - 1024;
    return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)most);
}

/* The regions with wide rows, if there are any: known on the device alone. */
static cudaError_t launch_wide(const heddle_device *device, const hd_graph *graph,
                               const hd_graph_placing *placing, cudaStream_t stream)
{
    const unsigned blocks = blocks_for(device, UINT64_MAX / 2, 1, WIDE_BLOCKS);
    const size_t row = (size_t)row_words(graph->region_row) * 4;
    const size_t bytes = wide_place_bytes(graph->region_row);
    const bool plain = bytes > ((const hd_device_cuda *)device)->shared_bytes - 1024;
    cudaError_t error = allow_memory(device, graph_wide_count);
    if (error == cudaSuccess && !plain) error = allow_memory(device, graph_wide_place);
    if (error != cudaSuccess) return error;
    graph_wide_plan<<<1, VERTEX_BLOCK, 0, stream>>>(*graph, *placing);
    graph_wide_count<<<blocks, VERTEX_BLOCK, row, stream>>>(*graph, *placing);
    graph_wide_scan<<<blocks, VERTEX_BLOCK, 0, stream>>>(*graph, placing->wide_done);
    if (plain) graph_wide_place_plain<<<blocks, VERTEX_BLOCK, 0, stream>>>(*graph, *placing);
    else graph_wide_place<<<blocks, VERTEX_BLOCK, bytes, stream>>>(*graph, *placing);
    graph_wide_end<<<1, VERTEX_BLOCK, 0, stream>>>(*graph, placing->wide_done);
    return cudaGetLastError();
}

static cudaError_t launch_place(const heddle_device *device, const hd_graph *graph,
                                const hd_graph_placing *placing, cudaStream_t stream)
{
    const size_t bytes = place_bytes(graph->region_row);
    const uint32_t regions = placing->stretch.end_region - placing->stretch.first_region;
    cudaError_t error = allow_memory(device, graph_place);
    if (error == cudaSuccess && placing->wide_done == 0)
        error = cudaMemsetAsync(graph->wide_used, 0, sizeof *graph->wide_used, stream);
    if (error != cudaSuccess) return error;
    graph_place<<<regions, VERTEX_BLOCK, bytes, stream>>>(*graph, *placing);
    return graph->wide_rows != 0 ? launch_wide(device, graph, placing, stream) : cudaGetLastError();
}

static heddle_status place(heddle_device *device, const hd_graph *graph,
                           const hd_graph_placing *placing, void *stream)
{
    cudaStream_t use;
    const heddle_status status = hd_cuda_enter(device, stream, &use);
    if (status != HEDDLE_OK) return status;
    return hd_cuda_check(launch_place(device, graph, placing, use), "cannot build a graph");
}

static uint64_t order_work(heddle_device *device, uint64_t edges)
{
    cudaStream_t use;
    return hd_cuda_enter(device, NULL, &use) == HEDDLE_OK ? order_layout_for(edges).bytes : 0;
}

static heddle_status order(heddle_device *device, const hd_graph *graph,
                           const hd_graph_stretch *stretch, void *work, void *stream)
{
    uint32_t *edges = (uint32_t *)graph->edges + stretch->first_edge * HD_PAIR_WORDS;
    cudaStream_t use;
    const heddle_status status = hd_cuda_enter(device, stream, &use);
    if (status != HEDDLE_OK || stretch->edges == 0) return status;
    return hd_cuda_check(order_edges(edges, stretch->edges, (char *)work,
                                     blocks_for(device, stretch->edges, ORDER_BLOCK, 32), use),
                         "cannot order the edges of a graph");
}

/* ----------------------------------------------------------------------------------------- look */

template <int WHAT>
static void launch_look(const hd_graph *graph, const hd_graph_batch *batch, unsigned blocks,
                        cudaStream_t stream)
{
    if (graph->wide_rows != 0)
        graph_look<WHAT, true><<<blocks, LOOK_BLOCK, 0, stream>>>(*graph, *batch);
    else graph_look<WHAT, false><<<blocks, LOOK_BLOCK, 0, stream>>>(*graph, *batch);
}

static heddle_status look(heddle_device *device, const hd_graph *graph, const hd_graph_batch *batch,
                          void *stream)
{
    cudaStream_t use;
    const heddle_status status = hd_cuda_enter(device, stream, &use);
    if (status != HEDDLE_OK || batch->n == 0) return status;
    const unsigned blocks = blocks_for(device, batch->n, LOOK_BLOCK, 64);
    if (batch->all != NULL) launch_look<LOOK_ALL>(graph, batch, blocks, use);
    else if (batch->matches != NULL) launch_look<LOOK_COUNT>(graph, batch, blocks, use);
    else launch_look<LOOK_FIRST>(graph, batch, blocks, use);
    return hd_cuda_check(cudaGetLastError(), "cannot look into a graph");
}

static heddle_status erase(heddle_device *device, const hd_graph *graph,
                           const hd_graph_batch *batch, uint32_t *dead, bool fresh,
                           uint64_t *erased, void *stream)
{
    cudaStream_t use;
    const heddle_status status = hd_cuda_enter(device, stream, &use);
    if (status != HEDDLE_OK) return status;
    if (batch->n != 0)
        graph_mark<<<blocks_for(device, batch->n, LOOK_BLOCK, 64), LOOK_BLOCK, 0, use>>>(
            *graph, *batch, dead, erased, fresh);
    graph_sweep<<<blocks_for(device, UINT64_C(1) << graph->region_bits, 1, 64), LOOK_BLOCK, 0,
                  use>>>(*graph, dead, fresh);
    return hd_cuda_check(cudaGetLastError(), "cannot erase from a graph");
}

/* --------------------------------------------------------------------------------------- the whole */

static heddle_status live_starts(heddle_device *device, const hd_graph *graph, uint64_t *starts,
                                 void *stream)
{
    const unsigned regions = 1u << graph->region_bits;
    cudaStream_t use;
    const heddle_status status = hd_cuda_enter(device, stream, &use);
    if (status != HEDDLE_OK) return status;
    graph_live<<<regions, VERTEX_BLOCK, 0, use>>>(*graph, (unsigned long long *)starts);
    scan_counts<<<1, COUNT_BLOCK, 0, use>>>(regions, starts, NULL, NULL, 0);
    return hd_cuda_check(cudaGetLastError(), "cannot count the edges of a graph");
}

static heddle_status compact(heddle_device *device, const hd_graph *graph, uint32_t first,
                             uint32_t end, const uint64_t *starts, uint64_t base, void *pairs,
                             void *stream)
{
    cudaStream_t use;
    const heddle_status status = hd_cuda_enter(device, stream, &use);
    if (status != HEDDLE_OK) return status;
    graph_compact<<<end - first, VERTEX_BLOCK, 0, use>>>(*graph, first, starts, base,
                                                         (uint32_t *)pairs);
    return hd_cuda_check(cudaGetLastError(), "cannot gather the edges of a graph");
}

static heddle_status split(heddle_device *device, const hd_mix *mix, const void *pairs, uint64_t n,
                           void *keys, void *values, void *stream)
{
    cudaStream_t use;
    const heddle_status status = hd_cuda_enter(device, stream, &use);
    if (status != HEDDLE_OK || n == 0) return status;
    graph_split<<<blocks_for(device, n, LOOK_BLOCK, 32), LOOK_BLOCK, 0, use>>>(
        *mix, (const uint32_t *)pairs, n, (hd_key *)keys,
        HD_VALUE_BITS != 0 ? (hd_value *)values : NULL);
    return hd_cuda_check(cudaGetLastError(), "cannot split pairs");
}

static heddle_status inspect(heddle_device *device, const hd_graph *graph, bool unique,
                             hd_graph_census *census, void *stream)
{
    cudaStream_t use;
    const heddle_status status = hd_cuda_enter(device, stream, &use);
    if (status != HEDDLE_OK) return status;
    graph_inspect<<<blocks_for(device, UINT64_C(1) << graph->region_bits, 1, 16), LOOK_BLOCK, 0,
                    use>>>(*graph, unique, census);
    return hd_cuda_check(cudaGetLastError(), "cannot inspect a graph");
}

extern "C" const hd_graph_ops HD_SYMBOL;
extern "C" const hd_graph_ops HD_SYMBOL = {
    HD_KEY_BITS, HD_VALUE_BITS, PLACE_PAIRS * 5 / 6, VERTICES_MAX, place, order_work, order,
    look,        erase,         live_starts,         compact,      split, inspect,
};
