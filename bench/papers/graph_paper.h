/*
 * graph_paper.h: the two ways to build a HashGraph that its paper describes (Green, "HashGraph", 2021,
 * algorithms 1 and 2), for 32-bit keys with their index. Kept for comparison: tests and the benchmark
 * use them, the library's own tables do not.
 *
 *   V1  counts the keys of all vertices with atomics, sums, and scatters with atomics
 *   V2  first brings keys and indices into bins of neighbouring vertices, then does the same
 *
 * Both give the same lists, with the edges of a list in no particular order. Part of heddle_bench, which
 * the tool links and libheddle does not; graph_paper.c has the CPU's builds, graph_paper_cuda.cu the GPU's.
 */
#ifndef HD_GRAPH_PAPER_H
#define HD_GRAPH_PAPER_H

#include <heddle/heddle.h>

#include "model/view.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hd_paper_edge {
    uint32_t key, index;
} hd_paper_edge;

/* A plain graph in compressed rows: the list of vertex v is edges[offsets[v]] to edges[offsets[v + 1] - 1]. */
typedef struct hd_paper_graph {
    uint32_t vertices;
    hd_mix mix;
    uint32_t *offsets;    /* vertices + 1 */
    hd_paper_edge *edges; /* n */
} hd_paper_graph;

#define HD_PAPER_BINS_MAX 65536

/* Room that a build works in; all of it the caller's. */
typedef struct hd_paper_work {
    uint32_t *counters;  /* a vertex each, and one more */
    uint32_t *hashes;    /* V1: n */
    hd_paper_edge *bins; /* V2: n; both may be the same memory */
} hd_paper_work;

/* The vertex of a key. */
uint32_t hd_paper_vertex(const hd_paper_graph *graph, uint32_t key);

/* n is less than 2^32. One call of hd_paper_v2 at a time. */
void hd_paper_v1(int threads, const uint32_t *keys, uint64_t n, const hd_paper_graph *graph,
                 const hd_paper_work *work);
/* About `bins` bins, at most HD_PAPER_BINS_MAX; the paper finds 2^14 to 2^15 best. */
void hd_paper_v2(int threads, const uint32_t *keys, uint64_t n, uint32_t bins,
                 const hd_paper_graph *graph, const hd_paper_work *work);

/* Either of them on a device of any kind, in its memory: V1 where `bins` is 0. Waits. */
heddle_status hd_paper_build(heddle_device *device, const uint32_t *keys, uint64_t n, uint32_t bins,
                             const hd_paper_graph *graph, const hd_paper_work *work);
/* What it does on a CUDA device. */
heddle_status hd_paper_cuda(heddle_device *device, const uint32_t *keys, uint64_t n, uint32_t bins,
                            const hd_paper_graph *graph, const hd_paper_work *work);

#ifdef __cplusplus
}
#endif

#endif
