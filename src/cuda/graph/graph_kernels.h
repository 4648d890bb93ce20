/*
 * graph_kernels.h: the device code that reads graphs (model/graph.h) and takes edges out of them, for
 * one kind of pair; graph.cu launches it.
 */
#ifndef HD_GRAPH_KERNELS_H
#define HD_GRAPH_KERNELS_H

#include "cuda/count.h"
#include "cuda/graph/place.h"
#include "tile/load_cuda.h"

#ifndef LOOK_BLOCK
#define LOOK_BLOCK 256
#endif

/* ---------------------------------------------------------------------------------------- look */

/* What a batch asks for. */
enum { LOOK_FIRST, LOOK_COUNT, LOOK_ALL };

typedef struct look_answer {
    uint64_t matches; /* at most 1 when only the first is looked for */
    uint32_t probes;
} look_answer;

/* Lists longer than this are walked by a whole warp. Most are so short that one thread is faster. */
#ifndef LIST_ALONE
#define LIST_ALONE 64
#endif

HD_FN bool list_is_long(const hd_list &list) { return list.end - list.begin > LIST_ALONE; }

/* The same value of every lane, from one of them. */
HD_FN uint64_t of_lane(uint64_t mine, uint32_t lane)
{
    return __shfl_sync(0xffffffffu, (unsigned long long)mine, lane);
}
HD_FN hd_list list_of_lane(const hd_list &list, uint32_t lane)
{
    hd_list other;
    other.begin = of_lane(list.begin, lane);
    other.end = of_lane(list.end, lane);
    return other;
}

/* Walks a list alone. The first match's value goes to *value, or all to `all`, where not NULL. */
template <int WHAT>
static __device__ __forceinline__ look_answer look_alone(const hd_graph &graph, hd_key mixed,
                                                         const hd_list &list, hd_value *value,
                                                         hd_value *all)
{
    const uint32_t *edges = (const uint32_t *)graph.edges;
    look_answer answer = {0, 0};
    for (uint64_t at = list.begin; at < list.end; at += 2) {
        /* Two at a time: most lists are so short that the second is needed anyway. */
        const bool two = at + 1 < list.end;
        const hd_sorted_pair pairs[2] = {sorted_load(edges, at),
                                         sorted_load(edges, two ? at + 1 : at)};
#pragma unroll
        for (int i = 0; i < 2; i++) {
            if (i == 1 && !two) break;
            answer.probes++;
            if (sorted_key(pairs[i]) != mixed) continue;
            if (WHAT == LOOK_FIRST && value != NULL) *value = (hd_value)sorted_value(pairs[i]);
            if (WHAT == LOOK_ALL) all[answer.matches] = (hd_value)sorted_value(pairs[i]);
            answer.matches++;
            if (WHAT == LOOK_FIRST) return answer;
        }
    }
    return answer;
}

/* The same with all lanes of a warp, which ask for the same key and get the same answer. */
template <int WHAT>
static __device__ __forceinline__ look_answer look_together(const hd_graph &graph, hd_key mixed,
                                                            const hd_list &list, hd_value *value,
                                                            hd_value *all)
{
    const uint32_t lane = threadIdx.x % 32;
    look_answer answer = {0, 0};
    for (uint64_t base = list.begin; base < list.end; base += 32) {
        const uint64_t at = base + lane;
        hd_sorted_pair pair = {{0}};
        if (at < list.end) pair = sorted_load((const uint32_t *)graph.edges, at);
        const bool match = at < list.end && sorted_key(pair) == mixed;
        const uint32_t matches = __ballot_sync(0xffffffffu, match);
        answer.probes += (uint32_t)(list.end - base < 32 ? list.end - base : 32);
        if (WHAT == LOOK_ALL && match)
            all[answer.matches + __popc(matches & ((1u << lane) - 1))] =
                (hd_value)sorted_value(pair);
        if (WHAT == LOOK_FIRST && matches != 0) {
            if (lane == hd_lowest_bit(matches) && value != NULL)
                *value = (hd_value)sorted_value(pair);
            answer.matches = 1;
            return answer;
        }
        answer.matches += (uint64_t)__popc(matches);
    }
    return answer;
}

/*
 * The lists of a warp's keys; lanes that are not `mine` have none. Long lists are walked together only in
 * graphs with wide rows: elsewhere none is so long that a thread would be busy for more than some
 * milliseconds, and the vote on it would cost every lookup.
 */
template <int WHAT, bool WIDE>
static __device__ __forceinline__ look_answer look_warp(const hd_graph &graph,
                                                        const hd_graph_batch &batch, uint64_t i,
                                                        bool mine)
{
    hd_value *values = WHAT == LOOK_FIRST ? (hd_value *)batch.values : NULL;
    look_answer answer = {0, 0};
    hd_list list = {0, 0};
    hd_key mixed = 0;
    if (mine) {
        mixed = mix_key(&graph.mix, __ldg((const hd_key *)batch.keys + i));
        list = list_of(&graph, mixed);
    }
    const bool is_long = WIDE && list_is_long(list);
    if (!is_long)
        answer = look_alone<WHAT>(graph, mixed, list, values != NULL ? values + i : NULL,
                                  WHAT == LOOK_ALL && mine ? (hd_value *)batch.all + batch.places[i]
                                                           : NULL);
    uint32_t rest = WIDE ? __ballot_sync(0xffffffffu, is_long) : 0;
    for (; rest != 0; rest &= rest - 1) {
        const uint32_t from = hd_lowest_bit(rest);
        const uint64_t k = of_lane(i, from);
        const look_answer other =
            look_together<WHAT>(graph, (hd_key)of_lane(mixed, from), list_of_lane(list, from),
                                values != NULL ? values + k : NULL,
                                WHAT == LOOK_ALL ? (hd_value *)batch.all + batch.places[k] : NULL);
        if (threadIdx.x % 32 == from) answer = other;
    }
    return answer;
}

template <int WHAT, bool WIDE>
static __global__ void __launch_bounds__(LOOK_BLOCK, 2048 / LOOK_BLOCK)
    graph_look(hd_graph graph, hd_graph_batch batch)
{
    const uint64_t stride = (uint64_t)gridDim.x * LOOK_BLOCK;
    uint32_t asked = 0, found = 0, probes = 0;
    for (uint64_t base = (uint64_t)blockIdx.x * LOOK_BLOCK; base < batch.n; base += stride) {
        const uint64_t i = base + threadIdx.x;
        const bool mine = i < batch.n;
        const look_answer answer = look_warp<WHAT, WIDE>(graph, batch, i, mine);
        if (!mine) continue;
        if (batch.found != NULL) batch.found[i] = answer.matches != 0;
        if (WHAT != LOOK_FIRST && batch.matches != NULL) batch.matches[i] = answer.matches;
        asked++;
        found += answer.matches != 0;
        probes += answer.probes;
    }
    uint64_t *const to[3] = {&batch.counts->at[HD_ASKED], &batch.counts->at[HD_FOUND],
                             &batch.counts->at[HD_PROBES]};
    const uint32_t mine[3] = {asked, found, probes};
    block_add(to, mine);
}

/* --------------------------------------------------------------------------------------- erase */

/* What became of a key that is erased. */
typedef struct mark_answer {
    bool first; /* this thread has marked the first of the key's edges: it has erased the key */
    uint64_t gone, probes;
} mark_answer;

/* Marks an edge as dead; false when it was. */
HD_FN bool edge_mark(uint32_t *dead, uint64_t at)
{
    const uint32_t bit = 1u << at % 32;
    return (atomicOr(&dead[at / 32], bit) & bit) == 0;
}

HD_FN mark_answer mark_alone(const hd_graph &graph, hd_key mixed, const hd_list &list,
                             uint32_t *dead)
{
    mark_answer answer = {false, 0, 0};
    for (uint64_t at = list.begin; at < list.end; at++) {
        answer.probes++;
        if (edge_key(graph.edges, at) != mixed) continue;
        const bool mine = edge_mark(dead, at);
        if (answer.gone == 0 && !mine) break; /* another erases this key and all its edges */
        answer.first = true;
        answer.gone += mine;
    }
    return answer;
}

/* The same with all lanes of a warp. */
HD_FN mark_answer mark_together(const hd_graph &graph, hd_key mixed, const hd_list &list,
                                uint32_t *dead)
{
    const uint32_t lane = threadIdx.x % 32;
    mark_answer answer = {false, 0, 0};
    for (uint64_t base = list.begin; base < list.end; base += 32) {
        const uint64_t at = base + lane;
        const bool match = at < list.end && edge_key(graph.edges, at) == mixed;
        const uint32_t matches = __ballot_sync(0xffffffffu, match);
        answer.probes += list.end - base < 32 ? list.end - base : 32;
        if (matches == 0) continue;
        bool mine = false;
        if (!answer.first) {
            if (lane == hd_lowest_bit(matches)) mine = edge_mark(dead, at);
            answer.first = __any_sync(0xffffffffu, mine);
            if (!answer.first) break;
        }
        if (match && !mine) mine = edge_mark(dead, at);
        answer.gone += (uint64_t)__popc(__ballot_sync(0xffffffffu, mine));
    }
    return answer;
}

HD_FN mark_answer mark_warp(const hd_graph &graph, const hd_graph_batch &batch, uint64_t i,
                            bool mine, uint32_t *dead)
{
    mark_answer answer = {false, 0, 0};
    hd_list list = {0, 0};
    hd_key mixed = 0;
    if (mine) {
        mixed = mix_key(&graph.mix, __ldg((const hd_key *)batch.keys + i));
        list = list_of(&graph, mixed);
    }
    const bool is_long = list_is_long(list);
    if (!is_long) answer = mark_alone(graph, mixed, list, dead);
    for (uint32_t rest = __ballot_sync(0xffffffffu, is_long); rest != 0; rest &= rest - 1) {
        const uint32_t from = hd_lowest_bit(rest);
        const mark_answer other =
            mark_together(graph, (hd_key)of_lane(mixed, from), list_of_lane(list, from), dead);
        if (threadIdx.x % 32 == from) answer = other;
    }
    return answer;
}

/* Marks all edges of the keys as dead. Who marks the first of a key's edges has erased the key. */
static __global__ void __launch_bounds__(LOOK_BLOCK)
    graph_mark(hd_graph graph, hd_graph_batch batch, uint32_t *dead, uint64_t *erased, bool fresh)
{
    const uint64_t stride = (uint64_t)gridDim.x * LOOK_BLOCK;
    uint64_t asked = 0, found = 0, probes = 0, gone = 0;
    hd_graph whole = graph;
    if (fresh) whole.lengths = NULL;
    for (uint64_t base = (uint64_t)blockIdx.x * LOOK_BLOCK; base < batch.n; base += stride) {
        const uint64_t i = base + threadIdx.x;
        const bool mine = i < batch.n;
        const mark_answer answer = mark_warp(whole, batch, i, mine, dead);
        if (!mine) continue;
        if (batch.found != NULL) batch.found[i] = answer.first;
        asked++;
        found += answer.first;
        gone += answer.gone;
        probes += answer.probes;
    }
    uint64_t *const to[4] = {&batch.counts->at[HD_ASKED], &batch.counts->at[HD_FOUND],
                             &batch.counts->at[HD_PROBES], erased};
    const uint64_t mine[4] = {asked, found, probes, gone};
    block_add(to, mine);
}

HD_FN bool edge_is_dead(const uint32_t *dead, uint64_t at) { return dead[at / 32] >> at % 32 & 1; }

/* Moves the edges of a list that live to its front, and says how many there are. */
HD_FN uint64_t tidy_alone(const hd_graph &graph, const hd_list &list, const uint32_t *dead)
{
    uint32_t *edges = (uint32_t *)graph.edges;
    uint64_t kept = list.begin;
    for (uint64_t at = list.begin; at < list.end; at++) {
        if (edge_is_dead(dead, at)) continue;
        if (kept != at) sorted_store(edges, kept, sorted_load(edges, at));
        kept++;
    }
    return kept - list.begin;
}

/* The same with all lanes of a warp. All have read before any writes; no edge moves back. */
HD_FN uint64_t tidy_together(const hd_graph &graph, const hd_list &list, const uint32_t *dead)
{
    const uint32_t lane = threadIdx.x % 32;
    uint32_t *edges = (uint32_t *)graph.edges;
    uint64_t kept = list.begin;
    for (uint64_t base = list.begin; base < list.end; base += 32) {
        const uint64_t at = base + lane;
        const bool live = at < list.end && !edge_is_dead(dead, at);
        hd_sorted_pair pair = {{0}};
        if (live) pair = sorted_load(edges, at);
        const uint32_t lives = __ballot_sync(0xffffffffu, live);
        const uint64_t to = kept + (uint64_t)__popc(lives & ((1u << lane) - 1));
        if (live && to != at) sorted_store(edges, to, pair);
        kept += (uint64_t)__popc(lives);
        __syncwarp();
    }
    return kept - list.begin;
}

/* After graph_mark: the lists without their dead edges, a thread a vertex, a block a region. */
static __global__ void __launch_bounds__(LOOK_BLOCK)
    graph_sweep(hd_graph graph, const uint32_t *dead, bool fresh)
{
    const uint32_t regions = 1u << graph.region_bits;
    for (uint32_t region = blockIdx.x; region < regions; region += gridDim.x) {
        const hd_graph_region r = region_get(&graph, region);
        for (uint32_t base = 0; base < graph.region_vertices; base += LOOK_BLOCK) {
            const uint32_t v = base + threadIdx.x;
            const bool mine = v < graph.region_vertices;
            hd_list list = {0, 0};
            uint64_t length = 0;
            if (mine) list = fresh ? list_room(&graph, &r, v) : list_in(&graph, &r, v);
            const bool is_long = list_is_long(list);
            if (!is_long) length = tidy_alone(graph, list, dead);
            for (uint32_t rest = __ballot_sync(0xffffffffu, is_long); rest != 0; rest &= rest - 1) {
                const uint32_t from = hd_lowest_bit(rest);
                const uint64_t other = tidy_together(graph, list_of_lane(list, from), dead);
                if (threadIdx.x % 32 == from) length = other;
            }
            if (mine) list_length_set(&graph, &r, v, length);
        }
    }
}

/* ------------------------------------------------------------------------------------- compact */

/* Edges that are still in lists, of every region. */
static __global__ void __launch_bounds__(VERTEX_BLOCK)
    graph_live(hd_graph graph, unsigned long long *counts)
{
    const hd_graph_region r = region_get(&graph, blockIdx.x);
    unsigned long long mine = 0;
    __shared__ unsigned long long sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    for (uint32_t v = threadIdx.x; v < graph.region_vertices; v += VERTEX_BLOCK) {
        const hd_list list = list_in(&graph, &r, v);
        mine += list.end - list.begin;
    }
    if (mine != 0) atomicAdd(&sum, mine);
    __syncthreads();
    if (threadIdx.x == 0) counts[blockIdx.x] = sum;
}

static __global__ void __launch_bounds__(VERTEX_BLOCK)
    graph_compact(hd_graph graph, uint32_t first, const uint64_t *starts, uint64_t base_pair,
                  uint32_t *pairs)
{
    typedef cub::BlockScan<uint64_t, VERTEX_BLOCK> length_scan;
    __shared__ typename length_scan::TempStorage scratch;
    const uint32_t region = first + blockIdx.x;
    const hd_graph_region r = region_get(&graph, region);
    uint64_t before = starts[region] - base_pair;
    for (uint32_t base = 0; base < graph.region_vertices; base += VERTEX_BLOCK) {
        const uint32_t v = base + threadIdx.x;
        hd_list list = {0, 0};
        uint64_t to = 0, all = 0;
        if (v < graph.region_vertices) list = list_in(&graph, &r, v);
        length_scan(scratch).ExclusiveSum(list.end - list.begin, to, all);
        to += before;
        before += all;
        for (uint64_t at = list.begin; at < list.end; at++)
            sorted_store(pairs, to++, sorted_load((const uint32_t *)graph.edges, at));
        __syncthreads();
    }
}

static __global__ void __launch_bounds__(LOOK_BLOCK)
    graph_split(hd_mix mix, const uint32_t *pairs, uint64_t n, hd_key *keys, hd_value *values)
{
    const uint64_t stride = (uint64_t)gridDim.x * LOOK_BLOCK;
    for (uint64_t i = (uint64_t)blockIdx.x * LOOK_BLOCK + threadIdx.x; i < n; i += stride) {
        const hd_sorted_pair pair = sorted_load(pairs, i);
        if (keys != NULL) keys[i] = unmix_key(&mix, sorted_key(pair));
        if (values != NULL) values[i] = (hd_value)sorted_value(pair);
    }
}

/* ------------------------------------------------------------------------------------- inspect */

/* Whether an edge's key stands in front of it in its list. */
HD_FN bool edge_is_again(const hd_graph &graph, const hd_list &list, uint64_t at)
{
    const hd_key key = edge_key(graph.edges, at);
    return list_next(&graph, &list, list.begin, key) < at;
}

/* What damage has done to a row must not lead outside the region. */
HD_FN bool list_is_sound(const hd_graph &graph, const hd_graph_region &r, uint32_t vertex,
                         hd_list *list)
{
    const hd_list room = list_room(&graph, &r, vertex);
    *list = list_in(&graph, &r, vertex);
    const bool last = vertex + 1 == graph.region_vertices;
    return room.begin <= room.end && room.end <= r.end && (vertex != 0 || room.begin == r.begin) &&
           (!last || room.end == r.end) && list->begin <= list->end && list->end <= room.end;
}

static __global__ void __launch_bounds__(LOOK_BLOCK)
    graph_inspect(hd_graph graph, bool unique, hd_graph_census *census)
{
    const uint32_t regions = 1u << graph.region_bits;
    for (uint32_t region = blockIdx.x; region < regions; region += gridDim.x) {
        const hd_graph_region r = region_get(&graph, region);
        const bool wide = region_is_wide(&r);
        const bool lost = r.begin > r.end || r.end > graph.starts[regions] ||
                          (wide && wide_number(&r) >= graph.wide_rows);
        uint64_t edges = 0, used = 0, misplaced = 0, disordered = 0, twice = 0, kinds[8] = {0};
        for (uint32_t v = threadIdx.x; v < graph.region_vertices; v += LOOK_BLOCK) {
            hd_list list;
            if (lost || !list_is_sound(graph, r, v, &list)) {
                disordered++;
                continue;
            }
            const uint64_t length = list.end - list.begin;
            edges += length;
            used += length != 0;
#pragma unroll
            for (uint32_t k = 0; k < 8; k++) kinds[k] += list_kind(length) == k;
            atomicMax((unsigned long long *)&census->longest, (unsigned long long)length);
            for (uint64_t at = list.begin; unique && at < list.end; at++)
                twice += edge_is_again(graph, list, at);
        }
        /* A thread an edge, however long the lists: those not found where they belong are astray. */
        misplaced = edges;
        for (uint64_t at = r.begin + threadIdx.x; !lost && at < r.end; at += LOOK_BLOCK) {
            const hd_key key = edge_key(graph.edges, at);
            hd_list list;
            if (graph_region(&graph, key) == region &&
                list_is_sound(graph, r, graph_vertex(&graph, key), &list))
                misplaced -= at >= list.begin && at < list.end;
        }
        uint64_t *const to[13] = {&census->edges,      &census->used,     &census->misplaced,
                                  &census->disordered, &census->twice,    &census->lists[0],
                                  &census->lists[1],   &census->lists[2], &census->lists[3],
                                  &census->lists[4],   &census->lists[5], &census->lists[6],
                                  &census->lists[7]};
        const uint64_t mine[13] = {edges,    used,     misplaced, disordered, twice,
                                   kinds[0], kinds[1], kinds[2],  kinds[3],   kinds[4],
                                   kinds[5], kinds[6], kinds[7]};
        block_add(to, mine);
        __syncthreads();
    }
}

#endif
