/* graph_paper.c: see graph_paper.h. The loops are those of the paper, in its order. */
#define HD_KEY_BITS 32
#define HD_BUCKET 1
#include "papers/graph_paper.h"

#include <omp.h>
#include <string.h>

#include "cpu/device/engine.h"
#include "instances_config.h"
#include "model/hash.h"

static inline uint32_t vertex_of(const hd_paper_graph *graph, uint32_t key)
{
    return hd_mulhi32(mix_key(&graph->mix, key), graph->vertices);
}

uint32_t hd_paper_vertex(const hd_paper_graph *graph, uint32_t key)
{
    return vertex_of(graph, key);
}

static inline uint32_t add_one(uint32_t *counter)
{
    return __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

/* offsets[i]: the sum of the counters before i. Each thread sums its share twice. */
static void prefix_sum(int threads, const uint32_t *counters, uint64_t n, uint32_t *offsets)
{
    uint32_t sums[1025] = {0};
#pragma omp parallel num_threads(threads)
    {
        const uint64_t me = (uint64_t)omp_get_thread_num(), all = (uint64_t)omp_get_num_threads();
        const uint64_t begin = n / all * me + n % all * me / all;
        const uint64_t end = n / all * (me + 1) + n % all * (me + 1) / all;
        uint32_t sum = 0;
        for (uint64_t i = begin; i < end; i++) sum += counters[i];
        sums[me + 1] = sum;
#pragma omp barrier
#pragma omp single
        for (uint64_t t = 1; t <= all; t++) sums[t] += sums[t - 1];
        sum = sums[me];
        for (uint64_t i = begin; i < end; i++) {
            offsets[i] = sum;
            sum += counters[i];
        }
        if (end == n) offsets[n] = sum;
    }
}

static void set_zero(int threads, uint32_t *counters, uint64_t n)
{
#pragma omp parallel for num_threads(threads) schedule(static)
    for (uint64_t i = 0; i < n; i++) counters[i] = 0;
}

void hd_paper_v1(int threads, const uint32_t *keys, uint64_t n, const hd_paper_graph *graph,
                 const hd_paper_work *work)
{
    uint32_t *counters = work->counters, *hashes = work->hashes;
    const hd_paper_graph g = *graph;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (uint64_t i = 0; i < n; i++) hashes[i] = vertex_of(&g, keys[i]);
    set_zero(threads, counters, g.vertices);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (uint64_t i = 0; i < n; i++) add_one(&counters[hashes[i]]);
    prefix_sum(threads, counters, g.vertices, g.offsets);
    set_zero(threads, counters, g.vertices);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (uint64_t i = 0; i < n; i++) {
        const hd_paper_edge edge = {keys[i], (uint32_t)i};
        g.edges[g.offsets[hashes[i]] + add_one(&counters[hashes[i]])] = edge;
    }
}

/* Phases 1 and 2: keys and their indices, bin by bin. A bin has 2^shift vertices. */
static void fill_bins(int threads, const uint32_t *keys, uint64_t n, const hd_paper_graph *graph,
                      uint32_t shift, hd_paper_edge *bins)
{
    static uint32_t counters[HD_PAPER_BINS_MAX], offsets[HD_PAPER_BINS_MAX + 1];
    const uint32_t count = ((graph->vertices - 1) >> shift) + 1;
    const hd_paper_graph g = *graph;
    memset(counters, 0, count * sizeof *counters);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (uint64_t i = 0; i < n; i++) add_one(&counters[vertex_of(&g, keys[i]) >> shift]);
    prefix_sum(1, counters, count, offsets);
    memset(counters, 0, count * sizeof *counters);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (uint64_t i = 0; i < n; i++) {
        const uint32_t bin = vertex_of(&g, keys[i]) >> shift;
        const hd_paper_edge edge = {keys[i], (uint32_t)i};
        bins[offsets[bin] + add_one(&counters[bin])] = edge;
    }
}

void hd_paper_v2(int threads, const uint32_t *keys, uint64_t n, uint32_t bins,
                 const hd_paper_graph *graph, const hd_paper_work *work)
{
    uint32_t *counters = work->counters, shift = 0;
    const hd_paper_edge *binned = work->bins;
    const hd_paper_graph g = *graph;
    if (bins > HD_PAPER_BINS_MAX) bins = HD_PAPER_BINS_MAX;
    while ((g.vertices - 1) >> shift >= bins) shift++;
    fill_bins(threads, keys, n, &g, shift, work->bins);
    set_zero(threads, counters, g.vertices);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (uint64_t i = 0; i < n; i++) add_one(&counters[vertex_of(&g, binned[i].key)]);
    prefix_sum(threads, counters, g.vertices, g.offsets);
    set_zero(threads, counters, g.vertices);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (uint64_t i = 0; i < n; i++) {
        const uint32_t v = vertex_of(&g, binned[i].key);
        g.edges[g.offsets[v] + add_one(&counters[v])] = binned[i];
    }
}

heddle_status hd_paper_build(heddle_device *device, const uint32_t *keys, uint64_t n, uint32_t bins,
                             const hd_paper_graph *graph, const hd_paper_work *work)
{
#if HD_HAVE_CUDA
    if (device->engine->kind == HEDDLE_DEVICE_CUDA)
        return hd_paper_cuda(device, keys, n, bins, graph, work);
#endif
    const int threads = hd_cpu_threads(device, n);
    if (bins == 0) hd_paper_v1(threads, keys, n, graph, work);
    else hd_paper_v2(threads, keys, n, bins, graph, work);
    return HEDDLE_OK;
}
