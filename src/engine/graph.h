/*
 * graph.h: what a device must offer for graphs in compressed rows, for one kind of pair.
 * All memory is the device's; nothing waits unless it says so.
 */
#ifndef HD_ENGINE_GRAPH_H
#define HD_ENGINE_GRAPH_H

#include <heddle/heddle.h>

#include "model/graph.h"

typedef struct hd_graph_ops {
    uint32_t key_bits;
    uint32_t value_bits; /* 0: keys alone */
    /* A region is best given at most so many pairs on average, and may have so many vertices. */
    uint32_t region_pairs;
    uint32_t region_vertices_max;

    /* Makes starts, offsets, wide rows and edges from one or two sources. graph->lengths is not used. */
    heddle_status (*place)(heddle_device *device, const hd_graph *graph,
                           const hd_graph_placing *placing, void *stream);
    /*
     * Brings the edges of a graph with nothing erased into the order of mixed keys and, where these are
     * equal, of values: the same pairs and mix then give the same bytes. Takes order_work bytes.
     */
    uint64_t (*order_work)(heddle_device *device, uint64_t edges);
    heddle_status (*order)(heddle_device *device, const hd_graph *graph,
                           const hd_graph_stretch *stretch, void *work, void *stream);
    heddle_status (*look)(heddle_device *device, const hd_graph *graph, const hd_graph_batch *batch,
                          void *stream);
    /*
     * Takes all edges of the keys out of their lists. Of several equal keys of a batch one has `found`
     * set. `dead`: a bit for every edge, 0 before; `fresh`: the lengths hold nothing yet, and every
     * one is set. *erased is added to: edges taken out.
     */
    heddle_status (*erase)(heddle_device *device, const hd_graph *graph,
                           const hd_graph_batch *batch, uint32_t *dead, bool fresh,
                           uint64_t *erased, void *stream);
    /* Where regions begin when only the edges count that are still in lists; regions + 1 numbers. */
    heddle_status (*live_starts)(heddle_device *device, const hd_graph *graph, uint64_t *starts,
                                 void *stream);
    /*
     * The edges that are still in lists, without gaps, of regions [first, end): pair number i, counted as
     * `starts` of live_starts does, goes to i - base.
     */
    heddle_status (*compact)(heddle_device *device, const hd_graph *graph, uint32_t first,
                             uint32_t end, const uint64_t *starts, uint64_t base, void *pairs,
                             void *stream);
    /* Turns n sorted pairs back into keys and values; either may be NULL. */
    heddle_status (*split)(heddle_device *device, const hd_mix *mix, const void *pairs, uint64_t n,
                           void *keys, void *values, void *stream);
    /* *census is 0 before. */
    heddle_status (*inspect)(heddle_device *device, const hd_graph *graph, bool unique,
                             hd_graph_census *census, void *stream);
} hd_graph_ops;

#endif
