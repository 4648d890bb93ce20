/*
 * bare_graph.h: a graph in plain memory with a model beside it. Every call runs the kernels of
 * src/cuda/graph/place.h and cuda/graph/graph_kernels.h by warps.h and compares all they did with the model.
 */
#ifndef BARE_GRAPH_H
#define BARE_GRAPH_H

#include "shim.h"

/* A fiber a thread: few of them, and few pairs, so that there are several of everything. */
#define VERTEX_BLOCK 64
#define PLACE_ITEMS 3
#define LOOK_BLOCK 64
#define COUNT_BLOCK 64
#define WIDE_PART 128
static unsigned long long narrow_max = 400;
#define HD_NARROW_MAX narrow_max
#include "cuda/graph/graph_kernels.h"
#include "cuda/partition/scan_counts.h"

#include "sorted_lists.h"

struct bare_graph {
    hd_graph graph;
    uint64_t n; /* edges when it was made */
    device_array<uint64_t> starts;
    device_array<uint16_t> offsets, lengths;
    device_array<uint64_t> wide, wide_lengths;
    device_array<uint32_t> wide_used, edges;
    std::unordered_multimap<hd_key, uint64_t> model;

    /* Made of one or two sorted lists, which hold the pairs of `list` together. */
    bare_graph(const hd_mix &mix, uint32_t region_bits, uint32_t vertices,
               const std::vector<const sorted_list *> &sources, const pair_list &list);

    /* All that can be asked. */
    void look(const key_list &keys);
    void erase(const key_list &keys);
    void inspect(bool unique);
    /* Damages a row, a length, a start or an edge in turn; each is noticed and mended. */
    void damage();
    /* What is left, sorted by region, and again as keys and values. */
    sorted_list compact();

    pair_list list() const { return pair_list(model.begin(), model.end()); }

  private:
    void place(const std::vector<const sorted_list *> &sources);
    void lists_are_right();
    void look_first(const key_list &keys);
    void look_count(const key_list &keys, std::vector<uint64_t> *matches);
    void look_all(const key_list &keys, const std::vector<uint64_t> &matches);
    void damage_wide();
    void split(const sorted_list &left);
    hd_graph_census census(bool unique);
    void damage_shows(const char *what);
};

#endif
