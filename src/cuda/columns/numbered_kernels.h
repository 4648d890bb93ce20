/*
 * numbered_kernels.h: the device code of aggregates where the group of every row is known by number (hd_grouped);
 * reduce.cu launches it.
 *
 * A block has cells in shared memory for the groups with the lowest numbers, all of them where they fit. As groups
 * are numbered in the order in which they appear, frequent ones are among those. Rows of other groups go to `out` one
 * by one. Of few groups every cell is there several times, and lanes take turns, so that they do not wait for
 * each other. Where all rows of a warp are of one group, as in sorted columns, the warp adds once.
 *
 * Groups without a row do not exist, so counts of rows are kept only for the aggregates that ask for them and where
 * there are nulls.
 */
#ifndef HD_NUMBERED_KERNELS_H
#define HD_NUMBERED_KERNELS_H

#include "cuda/columns/reduce_ways.h"
#include "tile/load_cuda.h"

#ifndef NUMBERED_BLOCK
#define NUMBERED_BLOCK 512
#define NUMBERED_ITEMS 8 /* rows of a thread, on their way at the same time */
#endif
#define NUMBERED_TILE (NUMBERED_BLOCK * NUMBERED_ITEMS)
#define NUMBERED_LANES 0xffffffffu

typedef struct numbered_job {
    const uint32_t *numbers;
    uint64_t n, groups;
    const uint8_t *valid; /* NULL, or 0 marks a null */
    uint32_t near;        /* groups with cells in shared memory */
    uint32_t copies;      /* of every cell, a power of two, 32 at most */
} numbered_job;

/* A block's cells: of values, and behind them of counts. */
typedef struct numbered_cells {
    char *values;
    uint32_t *counts;
    uint32_t all, copies;
} numbered_cells;

/* A way without values: rows are only counted. */
struct no_values {
    typedef unsigned long long number;
};

/* How values of a way are loaded and added, also of the one that has none. */
template <class WAY, class TYPE> struct numbered_values {
    typedef typename WAY::number number;
    static const uint32_t WIDTH = sizeof(number);
    static __device__ number load(const TYPE *column, uint64_t row)
    {
        return WAY::take(__ldcs(column + row));
    }
    static __device__ number neutral() { return WAY::neutral(); }
    static __device__ number both(number a, number b) { return WAY::both(a, b); }
    static __device__ void begin(const numbered_cells &c, uint32_t i)
    {
        WAY::cell_begin(c.values, i, c.all, WAY::neutral());
    }
    static __device__ void add(const numbered_cells &c, uint32_t i, number x)
    {
        WAY::cell_add(c.values, i, c.all, x);
    }
    static __device__ number get(const numbered_cells &c, uint32_t i)
    {
        return WAY::cell_get(c.values, i, c.all);
    }
    static __device__ void add_far(number *out, uint64_t group, number x)
    {
        if (x != WAY::neutral()) WAY::add_far(&out[group], x);
    }
};
template <class TYPE> struct numbered_values<no_values, TYPE> {
    typedef unsigned long long number;
    static const uint32_t WIDTH = 0;
    static __device__ number load(const TYPE *, uint64_t) { return 0; }
    static __device__ number neutral() { return 0; }
    static __device__ number both(number, number) { return 0; }
    static __device__ void begin(const numbered_cells &, uint32_t) {}
    static __device__ void add(const numbered_cells &, uint32_t, number) {}
    static __device__ number get(const numbered_cells &, uint32_t) { return 0; }
    static __device__ void add_far(number *, uint64_t, number) {}
};

/* Bytes of the cells of one group, which the host knows, too. */
template <class VALUES> static inline uint32_t numbered_width(bool counts)
{
    return VALUES::WIDTH + (counts ? (uint32_t)sizeof(uint32_t) : 0);
}

/* The sum or the like of a warp, in its first lane. */
template <class VALUES>
static __device__ __forceinline__ typename VALUES::number
numbered_warp(typename VALUES::number mine)
{
    for (int offset = 16; offset > 0; offset /= 2)
        mine = VALUES::both(mine, __shfl_down_sync(NUMBERED_LANES, mine, offset));
    return mine;
}

/* What a thread's row, or a warp's rows, of a group came to. */
template <class VALUES, bool COUNTS>
static __device__ __forceinline__ void
numbered_add(const numbered_job &job, const numbered_cells &cells, uint32_t group,
             typename VALUES::number x, uint32_t count, typename VALUES::number *out,
             unsigned long long *counts)
{
    if (group < job.near) {
        const uint32_t cell = group * cells.copies + threadIdx.x % cells.copies;
        VALUES::add(cells, cell, x);
        if (COUNTS) atomicAdd(&cells.counts[cell], count);
    } else {
        VALUES::add_far(out, group, x);
        if (COUNTS) atomicAdd(&counts[group], (unsigned long long)count);
    }
}

/* What the block has summed up, to `out`. */
template <class VALUES, bool COUNTS>
static __device__ __forceinline__ void
numbered_bring(const numbered_job &job, const numbered_cells &cells, typename VALUES::number *out,
               unsigned long long *counts)
{
    for (uint32_t i = threadIdx.x; i < job.near; i += NUMBERED_BLOCK) {
        const uint32_t group = (uint32_t)((i + (uint64_t)blockIdx.x * 997) % job.near);
        typename VALUES::number x = VALUES::neutral();
        unsigned long long count = 0;
        for (uint32_t copy = 0; copy < cells.copies; copy++) {
            const uint32_t at = (copy + threadIdx.x) % cells.copies;
            x = VALUES::both(x, VALUES::get(cells, group * cells.copies + at));
            if (COUNTS) count += cells.counts[group * cells.copies + at];
        }
        VALUES::add_far(out, group, x);
        if (COUNTS && count != 0) atomicAdd(&counts[group], count);
    }
}

template <class VALUES, bool COUNTS>
static __device__ __forceinline__ numbered_cells numbered_begin(const numbered_job &job)
{
    numbered_cells cells;
    cells.copies = job.copies;
    cells.all = job.near * job.copies;
    cells.values = block_memory();
    cells.counts = (uint32_t *)(cells.values + (size_t)cells.all * VALUES::WIDTH);
    for (uint32_t i = threadIdx.x; i < cells.all; i += NUMBERED_BLOCK) {
        VALUES::begin(cells, i);
        if (COUNTS) cells.counts[i] = 0;
    }
    __syncthreads();
    return cells;
}

/* All rows of the warp are of one group: it adds once. */
template <class VALUES, bool COUNTS>
static __device__ __forceinline__ void
numbered_add_warp(const numbered_job &job, const numbered_cells &cells, uint32_t group,
                  const typename VALUES::number *taken, const bool *there,
                  typename VALUES::number *out, unsigned long long *counts)
{
    typename VALUES::number x = VALUES::neutral();
    uint32_t count = 0;
#pragma unroll
    for (int i = 0; i < NUMBERED_ITEMS; i++) {
        x = VALUES::both(x, taken[i]);
        count += there[i];
    }
    x = numbered_warp<VALUES>(x);
    if (COUNTS)
        for (int offset = 16; offset > 0; offset /= 2)
            count += __shfl_down_sync(NUMBERED_LANES, count, offset);
    if (threadIdx.x % 32 == 0)
        numbered_add<VALUES, COUNTS>(job, cells, group, x, count, out, counts);
}

template <class WAY, class TYPE, bool COUNTS>
static __global__ void __launch_bounds__(NUMBERED_BLOCK, 2)
    numbered_reduce(numbered_job job, const TYPE *column, typename WAY::number *out,
                    unsigned long long *counts)
{
    typedef numbered_values<WAY, TYPE> values;
    const numbered_cells cells = numbered_begin<values, COUNTS>(job);
    const uint64_t tiles = (job.n + NUMBERED_TILE - 1) / NUMBERED_TILE;
    for (uint64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const uint64_t begin = tile * NUMBERED_TILE + threadIdx.x;
        uint32_t groups[NUMBERED_ITEMS];
        typename WAY::number taken[NUMBERED_ITEMS];
        bool there[NUMBERED_ITEMS], same = true;
#pragma unroll
        for (int i = 0; i < NUMBERED_ITEMS; i++) {
            const uint64_t row = begin + (uint64_t)i * NUMBERED_BLOCK;
            there[i] = row < job.n;
            groups[i] = there[i] ? __ldcs(job.numbers + row) : 0;
            if (there[i] && job.valid != NULL) there[i] = __ldcs(job.valid + row) != 0;
            taken[i] = there[i] ? values::load(column, row) : values::neutral();
        }
        const uint32_t first = __shfl_sync(NUMBERED_LANES, groups[0], 0);
#pragma unroll
        for (int i = 0; i < NUMBERED_ITEMS; i++) same &= groups[i] == first || !there[i];
        if (!__any_sync(NUMBERED_LANES, !same)) {
            numbered_add_warp<values, COUNTS>(job, cells, first, taken, there, out, counts);
            continue;
        }
#pragma unroll
        for (int i = 0; i < NUMBERED_ITEMS; i++)
            if (there[i])
                numbered_add<values, COUNTS>(job, cells, groups[i], taken[i], 1, out, counts);
    }
    __syncthreads();
    numbered_bring<values, COUNTS>(job, cells, out, counts);
}

/* `out` before anything is added. */
template <class NUMBER>
static __global__ void __launch_bounds__(NUMBERED_BLOCK)
    numbered_fill(NUMBER *out, NUMBER neutral, uint64_t groups)
{
    for (uint64_t i = (uint64_t)blockIdx.x * NUMBERED_BLOCK + threadIdx.x; i < groups;
         i += (uint64_t)gridDim.x * NUMBERED_BLOCK)
        out[i] = neutral;
}

/* Flags of groups that have a value, from their counts. */
static __global__ void __launch_bounds__(NUMBERED_BLOCK)
    numbered_any(const unsigned long long *counts, uint64_t groups, uint8_t *any)
{
    for (uint64_t i = (uint64_t)blockIdx.x * NUMBERED_BLOCK + threadIdx.x; i < groups;
         i += (uint64_t)gridDim.x * NUMBERED_BLOCK)
        any[i] = counts[i] != 0;
}

/* Sums become means, in the same place. */
template <class TOTAL>
static __global__ void __launch_bounds__(NUMBERED_BLOCK)
    numbered_mean_end(const unsigned long long *counts, uint64_t groups, void *out)
{
    for (uint64_t i = (uint64_t)blockIdx.x * NUMBERED_BLOCK + threadIdx.x; i < groups;
         i += (uint64_t)gridDim.x * NUMBERED_BLOCK) {
        TOTAL sum;
        memcpy(&sum, (const char *)out + i * sizeof sum, sizeof sum);
        ((double *)out)[i] = counts[i] != 0 ? (double)sum / (double)counts[i] : 0;
    }
}

#endif
