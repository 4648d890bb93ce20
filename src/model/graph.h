/*
 * graph.h: a hash table as a graph in compressed rows: for every vertex, a value of the hash, the list
 * of its edges, the pairs that hash to it. Nothing is probed, and duplicates are longer lists.
 *
 *   regions            2^region_bits; the region of a key is named by the leading bits of its mixed key
 *   vertices           regions * region_vertices; the vertex within the region is the next bits of the
 *                      mixed key, scaled: equal keys meet, and vertices are in the order of mixed keys
 *   edges              sorted pairs (partition.h), region by region and in a region vertex by vertex
 *   starts[r]          where the edges of region r begin; starts[regions] is their number
 *   offsets            a row of region_row 16-bit numbers for each region: the list of vertex v begins
 *                      at starts[r] + row[v] and ends where row[v + 1] says
 *   wide               rows of 64-bit numbers, region_vertices + 1 each, for regions with more than
 *                      HD_NARROW_MAX edges; the first four bytes of such a region's narrow row are the
 *                      number of its wide row
 *   lengths            once something has been erased: how much of its list a vertex still has, shaped
 *   wide_lengths       like the offsets (of a wide row without the last number); else NULL
 */
#ifndef HD_MODEL_GRAPH_H
#define HD_MODEL_GRAPH_H

#include "model/partition.h"

typedef struct heddle_device heddle_device;

#ifndef HD_NARROW_MAX
#define HD_NARROW_MAX 65535
#endif

typedef struct hd_graph {
    uint32_t region_bits;
    uint32_t region_vertices; /* at least 1 */
    uint32_t region_row;      /* region_vertices + 1, rounded up to a multiple of 8 */
    uint32_t wide_rows; /* rows that there is room for: enough for every region that can need one */
    uint64_t *starts;
    uint16_t *offsets;
    uint64_t *wide;
    uint32_t *wide_used; /* how many wide rows are in use */
    uint16_t *lengths;
    uint64_t *wide_lengths;
    void *edges;
    hd_mix mix;
} hd_graph;

/* Pairs sorted by region, as hd_engine.partition leaves them or as another graph holds them. */
typedef struct hd_graph_source {
    const void *pairs;
    const uint64_t *starts;
    uint64_t base; /* the number of the first pair that is there, counted as the starts do */
} hd_graph_source;

/* Neighbouring regions of a graph, and their edges: [first_edge, first_edge + edges). */
typedef struct hd_graph_stretch {
    uint32_t first_region, end_region;
    uint64_t first_edge, edges;
} hd_graph_stretch;

/* What regions are made of. A graph may be made stretch by stretch, in ascending order. */
typedef struct hd_graph_placing {
    hd_graph_source sources[2];
    uint32_t count; /* sources */
    /* Wide rows that the regions before have; *wide_used is so much, or set if 0. */
    uint32_t wide_done;
    hd_graph_stretch stretch;
} hd_graph_placing;

/* A batch of questions. What is NULL is not asked for. */
typedef struct hd_graph_batch {
    const void *keys;
    uint64_t n;
    uint8_t *found;    /* 1 where the key is there, 0 where it is not */
    void *values;      /* the value of the key's first edge; left alone where the key is absent */
    uint64_t *matches; /* how many edges the key has */
    /* Where the values of each key go in `all`, as many as it has matches. */
    const uint64_t *places;
    void *all;
    hd_counts *counts; /* HD_ASKED, HD_FOUND and HD_PROBES, edges compared, are added to */
} hd_graph_batch;

/* What a walk over all edges found. */
typedef struct hd_graph_census {
    uint64_t edges;      /* in all lists */
    uint64_t used;       /* vertices with edges */
    uint64_t longest;    /* edges of the longest list */
    uint64_t lists[8];   /* vertices with 0, 1, 2, 3, 4 to 7, 8 to 15, 16 to 255, more edges */
    uint64_t misplaced;  /* edges whose key belongs to another vertex */
    uint64_t disordered; /* rows that do not ascend, or do not end where the region does */
    uint64_t twice; /* edges with the key of an earlier edge of the list; counted only when asked */
} hd_graph_census;

static inline uint64_t hd_graph_regions(const hd_graph *graph)
{
    return UINT64_C(1) << graph->region_bits;
}

#endif
