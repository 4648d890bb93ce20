/*
 * graph_paper_cuda.cu: the two builds of the HashGraph paper on a CUDA device (papers/graph_paper.h), as it
 * describes them: one thread a key, atomics on the counters of all vertices, a scan by CUB.
 */
#define HD_KEY_BITS 32
#define HD_BUCKET 1
#include <cub/device/device_scan.cuh>

#include "engine/blocks.h"
#include "model/hash.h"
#include "papers/graph_paper.h"
#include "roofs/enter.h"

#define BLOCK 256
#define FOR_EACH(i, n)                                                                             \
    for (uint64_t i = (uint64_t)blockIdx.x * BLOCK + threadIdx.x; i < (n);                         \
         i += (uint64_t)gridDim.x * BLOCK)

HD_FN uint32_t paper_vertex(const hd_paper_graph &graph, uint32_t key)
{
    return hd_mulhi32(mix_key(&graph.mix, key), graph.vertices);
}

/* ------------------------------------------------------------------------------------------- V1 */

static __global__ void __launch_bounds__(BLOCK)
    v1_hash(const uint32_t *keys, uint64_t n, hd_paper_graph graph, uint32_t *hashes)
{
    FOR_EACH(i, n) hashes[i] = paper_vertex(graph, keys[i]);
}

static __global__ void __launch_bounds__(BLOCK)
    v1_count(const uint32_t *hashes, uint64_t n, uint32_t *counters)
{
    FOR_EACH(i, n) atomicAdd(&counters[hashes[i]], 1);
}

static __global__ void __launch_bounds__(BLOCK)
    v1_scatter(const uint32_t *keys, const uint32_t *hashes, uint64_t n, hd_paper_graph graph,
               uint32_t *counters)
{
    FOR_EACH(i, n)
    {
        const uint32_t v = hashes[i];
        graph.edges[graph.offsets[v] + atomicAdd(&counters[v], 1)] = {keys[i], (uint32_t)i};
    }
}

/* ------------------------------------------------------------------------------------------- V2 */

static __global__ void __launch_bounds__(BLOCK)
    v2_count_bins(const uint32_t *keys, uint64_t n, hd_paper_graph graph, uint32_t shift,
                  uint32_t *counters)
{
    FOR_EACH(i, n) atomicAdd(&counters[paper_vertex(graph, keys[i]) >> shift], 1);
}

static __global__ void __launch_bounds__(BLOCK)
    v2_fill_bins(const uint32_t *keys, uint64_t n, hd_paper_graph graph, uint32_t shift,
                 const uint32_t *offsets, uint32_t *counters, hd_paper_edge *bins)
{
    FOR_EACH(i, n)
    {
        const uint32_t bin = paper_vertex(graph, keys[i]) >> shift;
        bins[offsets[bin] + atomicAdd(&counters[bin], 1)] = {keys[i], (uint32_t)i};
    }
}

static __global__ void __launch_bounds__(BLOCK)
    v2_count(const hd_paper_edge *binned, uint64_t n, hd_paper_graph graph, uint32_t *counters)
{
    FOR_EACH(i, n) atomicAdd(&counters[paper_vertex(graph, binned[i].key)], 1);
}

static __global__ void __launch_bounds__(BLOCK)
    v2_scatter(const hd_paper_edge *binned, uint64_t n, hd_paper_graph graph, uint32_t *counters)
{
    FOR_EACH(i, n)
    {
        const hd_paper_edge edge = binned[i];
        const uint32_t v = paper_vertex(graph, edge.key);
        graph.edges[graph.offsets[v] + atomicAdd(&counters[v], 1)] = edge;
    }
}

/* ----------------------------------------------------------------------------------------- host */

typedef struct paper_call {
    const uint32_t *keys;
    uint64_t n;
    const hd_paper_graph *graph;
    const hd_paper_work *work;
    void *scan; /* CUB's work memory, then counters and offsets of bins */
    size_t scan_bytes;
    unsigned blocks;
    cudaStream_t stream;
} paper_call;

static cudaError_t clear(const paper_call *c, uint32_t *counters, uint64_t n)
{
    return cudaMemsetAsync(counters, 0, n * sizeof *counters, c->stream);
}

/* offsets[i]: the sum of the counters before i, n + 1 numbers; the last counter is 0. */
static cudaError_t sum_up(const paper_call *c, const uint32_t *counters, uint32_t *offsets,
                          uint64_t n)
{
    size_t bytes = c->scan_bytes;
    return cub::DeviceScan::ExclusiveSum(c->scan, bytes, counters, offsets, (int64_t)n + 1,
                                         c->stream);
}

static cudaError_t build_v1(const paper_call *c)
{
    const hd_paper_graph *graph = c->graph;
    uint32_t *counters = c->work->counters, *hashes = c->work->hashes;
    v1_hash<<<c->blocks, BLOCK, 0, c->stream>>>(c->keys, c->n, *graph, hashes);
    cudaError_t error = clear(c, counters, graph->vertices + UINT64_C(1));
    if (error != cudaSuccess) return error;
    v1_count<<<c->blocks, BLOCK, 0, c->stream>>>(hashes, c->n, counters);
    error = sum_up(c, counters, graph->offsets, graph->vertices);
    if (error == cudaSuccess) error = clear(c, counters, graph->vertices);
    if (error != cudaSuccess) return error;
    v1_scatter<<<c->blocks, BLOCK, 0, c->stream>>>(c->keys, hashes, c->n, *graph, counters);
    return cudaGetLastError();
}

static cudaError_t build_v2(const paper_call *c, uint32_t bins)
{
    const hd_paper_graph *graph = c->graph;
    uint32_t *counters = c->work->counters;
    uint32_t *bin_counters = (uint32_t *)((char *)c->scan + (c->scan_bytes + 255) / 256 * 256);
    uint32_t *bin_offsets = bin_counters + HD_PAPER_BINS_MAX + 1, shift = 0;
    while ((graph->vertices - 1) >> shift >= bins) shift++;
    const uint32_t count = ((graph->vertices - 1) >> shift) + 1;
    cudaError_t error = clear(c, bin_counters, count + UINT64_C(1));
    if (error != cudaSuccess) return error;
    v2_count_bins<<<c->blocks, BLOCK, 0, c->stream>>>(c->keys, c->n, *graph, shift, bin_counters);
    error = sum_up(c, bin_counters, bin_offsets, count);
    if (error == cudaSuccess) error = clear(c, bin_counters, count);
    if (error == cudaSuccess) error = clear(c, counters, graph->vertices + UINT64_C(1));
    if (error != cudaSuccess) return error;
    v2_fill_bins<<<c->blocks, BLOCK, 0, c->stream>>>(c->keys, c->n, *graph, shift, bin_offsets,
                                                     bin_counters, c->work->bins);
    v2_count<<<c->blocks, BLOCK, 0, c->stream>>>(c->work->bins, c->n, *graph, counters);
    error = sum_up(c, counters, graph->offsets, graph->vertices);
    if (error == cudaSuccess) error = clear(c, counters, graph->vertices);
    if (error != cudaSuccess) return error;
    v2_scatter<<<c->blocks, BLOCK, 0, c->stream>>>(c->work->bins, c->n, *graph, counters);
    return cudaGetLastError();
}

heddle_status hd_paper_cuda(heddle_device *device, const uint32_t *keys, uint64_t n, uint32_t bins,
                            const hd_paper_graph *graph, const hd_paper_work *work)
{
    paper_call c = {keys, n, graph, work, NULL, 0, 0, NULL};
    heddle_status status = bench_enter(device, &c.stream);
    if (status != HEDDLE_OK) return status;
    c.blocks = (unsigned)((const hd_device_cuda *)device)->multiprocessors * 16;
    cub::DeviceScan::ExclusiveSum(NULL, c.scan_bytes, graph->offsets, graph->offsets,
                                  (int64_t)graph->vertices + 1, c.stream);
    if (c.scan_bytes < 1 << 16) c.scan_bytes = 1 << 16; /* for the bins too */
    status = hd_block_take(device, c.scan_bytes + 256 + (HD_PAPER_BINS_MAX + 1) * 8, &c.scan);
    if (status != HEDDLE_OK) return status;
    status = hd_cuda_check(bins == 0 ? build_v1(&c) : build_v2(&c, bins), "cannot build a graph");
    hd_block_give(device, c.scan);
    return status;
}
