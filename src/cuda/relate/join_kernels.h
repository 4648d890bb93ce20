/*
 * join_kernels.h: the device code of joins (model/relate.h), for one width of keys and of row numbers.
 *
 * A block sorts the left rows of its task by vertex in shared memory; then its right rows pass by, one a
 * thread, and each walks the list of its vertex. There are about as many vertices as left rows, so
 * what a list holds besides matches is one row on average, however often keys repeat.
 */
#ifndef HD_JOIN_KERNELS_H
#define HD_JOIN_KERNELS_H

#include "cuda/count.h"
#include "cuda/graph/vertex_sort.h"
#include "model/relate.h"
#include "tile/load_cuda.h"

#ifndef JOIN_ITEMS
#define JOIN_ITEMS (HD_PAIR_WORDS <= 2 ? 8 : 6) /* left rows of a thread */
#endif
#define JOIN_LEFT (VERTEX_BLOCK * JOIN_ITEMS)
#define JOIN_VERTICES JOIN_LEFT
#define JOIN_RIGHT 16384
#define JOIN_ROW_WORDS ((JOIN_VERTICES + 1 + 7) / 8 * 4)

typedef hd_value hd_row; /* the values of pairs are row numbers */

/* What a block keeps in shared memory. */
typedef struct join_scratch {
    uint32_t row[JOIN_ROW_WORDS];
    uint32_t sorted[JOIN_LEFT * HD_PAIR_WORDS];
    uint32_t matched[JOIN_LEFT / 32];    /* a bit for each of the sorted left rows */
    uint32_t single[JOIN_VERTICES / 32]; /* a bit for each long list: all its rows have one key */
    typename vertex_scan::TempStorage scan;
    unsigned long long count; /* matches; when writing, matches that have a place */
} join_scratch;

/* Lists longer than this are looked through once, so that a frequent key is not compared over and over. */
#define JOIN_LONG 16

/* Finds the long lists of one key. Warps look at one list after the other. */
HD_FN void join_find_single(join_scratch *scratch)
{
    const uint32_t lane = threadIdx.x % 32;
    for (uint32_t v = threadIdx.x; v < JOIN_VERTICES; v += VERTEX_BLOCK) {
        const uint32_t begin = row_get(scratch->row, v), end = row_get(scratch->row, v + 1);
        uint32_t longs = __ballot_sync(0xffffffffu, end - begin > JOIN_LONG), single = 0;
        for (; longs != 0; longs &= longs - 1) {
            const uint32_t from = hd_lowest_bit(longs);
            const uint32_t first = __shfl_sync(0xffffffffu, begin, from);
            const uint32_t last = __shfl_sync(0xffffffffu, end, from);
            const hd_key key = sorted_key(sorted_load(scratch->sorted, first));
            bool other = false;
            for (uint32_t at = first + lane; at < last; at += 32)
                other |= sorted_key(sorted_load(scratch->sorted, at)) != key;
            if (!__any_sync(0xffffffffu, other)) single |= 1u << from;
        }
        if (lane == 0) scratch->single[v / 32] = single;
    }
    __syncthreads();
}

HD_FN void join_sort_left(join_scratch *scratch, const hd_join_job &job, const hd_join_task &task)
{
    pair_range range;
    range.first = range.second = (const uint32_t *)job.left;
    range.first_begin = task.left_begin;
    range.second_begin = 0;
    range.first_count = range.count = task.left_end - task.left_begin;
    if (threadIdx.x == 0) scratch->count = 0;
    for (uint32_t i = threadIdx.x; i < JOIN_LEFT / 32; i += VERTEX_BLOCK) scratch->matched[i] = 0;
    vertex_sort<JOIN_ITEMS, false>(range, job.region_bits, JOIN_VERTICES, scratch->row,
                                   JOIN_ROW_WORDS, scratch->sorted, &scratch->scan);
    join_find_single(scratch);
}

/* Where in the sorted left rows the matches of a key can be. */
typedef struct join_list {
    uint32_t begin, end;
    bool single; /* a long list of one key */
} join_list;

HD_FN join_list join_list_of(const join_scratch *scratch, const hd_join_job &job, hd_key mixed)
{
    const uint32_t vertex = vertex_of(mixed, job.region_bits, JOIN_VERTICES);
    join_list list;
    list.begin = row_get(scratch->row, vertex);
    list.end = row_get(scratch->row, vertex + 1);
    list.single =
        list.end - list.begin > JOIN_LONG && (scratch->single[vertex / 32] >> vertex % 32 & 1);
    return list;
}

HD_FN bool join_is_match(const join_scratch *scratch, uint32_t at, hd_key mixed)
{
    return sorted_key(sorted_load(scratch->sorted, at)) == mixed;
}

/* ---------------------------------------------------------------------------------------- count */

HD_FN void join_mark(join_scratch *scratch, uint32_t at)
{
    if ((*(volatile uint32_t *)&scratch->matched[at / 32] >> at % 32 & 1) == 0)
        atomicOr(&scratch->matched[at / 32], 1u << at % 32);
}

/* How many rows of a list have the key. */
HD_FN uint32_t join_count_list(const join_scratch *scratch, const join_list &list, hd_key mixed)
{
    uint32_t matches = 0;
    if (list.single) return join_is_match(scratch, list.begin, mixed) ? list.end - list.begin : 0;
    for (uint32_t at = list.begin; at < list.end; at++)
        matches += join_is_match(scratch, at, mixed);
    return matches;
}

template <bool MARK_LEFT>
static __device__ __forceinline__ uint32_t join_count_row(join_scratch *scratch,
                                                          const hd_join_job &job, hd_key mixed)
{
    const join_list list = join_list_of(scratch, job, mixed);
    const uint32_t matches = join_count_list(scratch, list, mixed);
    if (!MARK_LEFT || matches == 0) return matches;
    /* The last row of a list of one key is marked after all others. */
    if (list.single &&
        (*(volatile uint32_t *)&scratch->matched[(list.end - 1) / 32] >> (list.end - 1) % 32 & 1))
        return matches;
    for (uint32_t at = list.begin; at < list.end; at++)
        if (list.single || join_is_match(scratch, at, mixed)) join_mark(scratch, at);
    return matches;
}

template <bool MARK_LEFT>
static __global__ void __launch_bounds__(VERTEX_BLOCK, 2) join_count(hd_join_job job)
{
    join_scratch *scratch = (join_scratch *)block_memory();
    const hd_join_task task = job.tasks[blockIdx.x];
    unsigned long long matches = 0;
    join_sort_left(scratch, job, task);
    for (uint64_t i = task.right_begin + threadIdx.x; i < task.right_end; i += VERTEX_BLOCK) {
        const hd_sorted_pair right = sorted_load((const uint32_t *)job.right, i);
        const uint32_t mine = join_count_row<MARK_LEFT>(scratch, job, sorted_key(right));
        matches += mine;
        if (job.right_matched != NULL && mine != 0) job.right_matched[sorted_value(right)] = 1;
    }
    for (int offset = 16; offset > 0; offset /= 2)
        matches += __shfl_down_sync(0xffffffffu, matches, offset);
    if (threadIdx.x % 32 == 0 && matches != 0) atomicAdd(&scratch->count, matches);
    __syncthreads();
    if (threadIdx.x == 0) job.places[blockIdx.x] = scratch->count;
    if (MARK_LEFT)
        for (uint32_t i = threadIdx.x; i < task.left_end - task.left_begin; i += VERTEX_BLOCK)
            if (scratch->matched[i / 32] >> i % 32 & 1)
                job.left_matched[sorted_value(sorted_load(scratch->sorted, i))] = 1;
}

/* ---------------------------------------------------------------------------------------- write */

/* Rows with more matches than this are written by the whole warp. */
#define JOIN_ALONE 4

HD_FN void join_put(const hd_join_job &job, uint64_t place, uint64_t left, uint64_t right)
{
    if (job.left_rows != NULL) ((hd_row *)job.left_rows)[place] = (hd_row)left;
    if (job.right_rows != NULL) ((hd_row *)job.right_rows)[place] = (hd_row)right;
}

/* The matches of one right row, from `place` on, by all lanes. */
HD_FN void join_write_together(const join_scratch *scratch, const hd_join_job &job, hd_key mixed,
                               uint64_t right, join_list list, uint64_t place)
{
    const uint32_t lane = threadIdx.x % 32;
    for (uint32_t base = list.begin; base < list.end; base += 32) {
        const uint32_t at = base + lane;
        const bool match = at < list.end && join_is_match(scratch, at, mixed);
        const uint32_t all = __ballot_sync(0xffffffffu, match);
        if (match)
            join_put(job, place + __popc(all & ((1u << lane) - 1)),
                     sorted_value(sorted_load(scratch->sorted, at)), right);
        place += __popc(all);
    }
}

/* The matches of the right rows of one warp, one row a lane; rows that are not `mine` have none. */
HD_FN void join_write_warp(join_scratch *scratch, const hd_join_job &job,
                           const hd_sorted_pair &pair, bool mine, uint64_t begin)
{
    const uint32_t lane = threadIdx.x % 32;
    const hd_key mixed = sorted_key(pair);
    const uint64_t right = sorted_value(pair);
    join_list list = {0, 0, false};
    uint32_t matches = 0;
    if (mine) {
        list = join_list_of(scratch, job, mixed);
        matches = join_count_list(scratch, list, mixed);
    }
    uint32_t before = matches; /* becomes the sum of the lanes up to this one */
    for (int offset = 1; offset < 32; offset *= 2) {
        const uint32_t other = __shfl_up_sync(0xffffffffu, before, offset);
        if (lane >= (uint32_t)offset) before += other;
    }
    unsigned long long place = 0;
    if (lane == 31) place = begin + atomicAdd(&scratch->count, (unsigned long long)before);
    place = __shfl_sync(0xffffffffu, place, 31) + before - matches;
    const bool many = matches > JOIN_ALONE;
    if (!many && matches != 0)
        for (uint32_t at = list.begin; at < list.end; at++)
            if (join_is_match(scratch, at, mixed))
                join_put(job, place++, sorted_value(sorted_load(scratch->sorted, at)), right);
    for (uint32_t left = __ballot_sync(0xffffffffu, many); left != 0; left &= left - 1) {
        const uint32_t from = hd_lowest_bit(left);
        const join_list others = {__shfl_sync(0xffffffffu, list.begin, from),
                                  __shfl_sync(0xffffffffu, list.end, from), false};
        join_write_together(scratch, job, __shfl_sync(0xffffffffu, mixed, from),
                            __shfl_sync(0xffffffffu, (unsigned long long)right, from), others,
                            __shfl_sync(0xffffffffu, place, from));
    }
}

static __global__ void __launch_bounds__(VERTEX_BLOCK, 2) join_write(hd_join_job job)
{
    join_scratch *scratch = (join_scratch *)block_memory();
    const hd_join_task task = job.tasks[blockIdx.x];
    const uint64_t begin = job.places[blockIdx.x];
    join_sort_left(scratch, job, task);
    for (uint64_t base = task.right_begin; base < task.right_end; base += VERTEX_BLOCK) {
        const uint64_t i = base + threadIdx.x;
        const bool mine = i < task.right_end;
        hd_sorted_pair pair = {{0}};
        if (mine) pair = sorted_load((const uint32_t *)job.right, i);
        join_write_warp(scratch, job, pair, mine, begin);
    }
}

#endif
