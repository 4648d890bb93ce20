/*
 * reduce.cu: aggregates of a column by group on a CUDA device.
 *
 * Rows in order: a tile of rows (grouped.h) sums up in shared memory, one number a group. Groups that lie
 * within the tile are written; those that reach beyond it are brought together by atomics. Groups known by number:
 * rows as they lie (numbered_kernels.h). Numbers stand in `out` in a form in which atomics can work on them
 * (reduce_ways.h). A last pass turns these into results.
 */
#include "base/alloc.h"
#include "base/tuning.h"
#include "cuda/columns/columns.h"
#include "cuda/columns/grouped.h"
#include "cuda/columns/numbered_kernels.h"
#include "cuda/columns/reduce_ways.h"
#include "tile/load_cuda.h"

/* -------------------------------------------------------------------------------------- kernels */

/* Groups that reach over the beginning of a tile are summed up by several blocks: they begin with nothing. */
template <class WAY>
static __global__ void __launch_bounds__(GROUPED_BLOCK)
    reduce_begin(hd_grouped grouped, typename WAY::number *out)
{
    const uint64_t at = ((uint64_t)blockIdx.x * GROUPED_BLOCK + threadIdx.x + 1) * GROUPED_TILE;
    if (at >= grouped.n) return;
    const uint64_t group = group_at(grouped, at);
    if (grouped.starts[group] < at) out[group] = WAY::neutral();
}

/* A thread's rows of a tile, of which there are `count` from here on; at once where all are there. */
template <class ROW>
static __device__ __forceinline__ void rows_load(const ROW *from, uint32_t count, ROW *rows)
{
    const uint32_t bytes = GROUPED_ITEMS * sizeof(ROW);
    if (bytes % 16 == 0 && count >= GROUPED_ITEMS) {
#pragma unroll
        for (uint32_t i = 0; i < bytes / 16; i++)
            ((uint4 *)rows)[i] = __ldg((const uint4 *)from + i);
    } else {
#pragma unroll
        for (uint32_t i = 0; i < GROUPED_ITEMS; i++) rows[i] = i < count ? from[i] : 0;
    }
}

/* Adds what a run of rows of one group came to; a run that is `whole` has the group for itself. */
template <class WAY>
static __device__ __forceinline__ void run_add(typename WAY::number *sums, uint32_t group,
                                               typename WAY::number run, bool whole, bool any,
                                               uint32_t *anys)
{
    if (!any) return;
    if (whole) sums[group] = run;
    else WAY::add(&sums[group], run);
    if (anys != NULL) anys[group] = 1;
}

/*
 * `any`: flags of groups that have a value; where there are no nulls all have, and it is NULL.
 */
template <class WAY, class TYPE, class ROW>
static __global__ void __launch_bounds__(GROUPED_BLOCK)
    reduce_tiles(hd_grouped grouped, const TYPE *column, const uint8_t *valid,
                 typename WAY::number *out, uint8_t *any)
{
    typedef typename WAY::number number;
    __shared__ grouped_scratch scratch;
    number *sums = (number *)block_memory();
    uint32_t *anys = any != NULL ? (uint32_t *)(sums + GROUPED_TILE) : NULL;
    const uint64_t at = (uint64_t)blockIdx.x * GROUPED_TILE + threadIdx.x * GROUPED_ITEMS;
    const uint32_t here =
        at < grouped.n ? (uint32_t)(grouped.n - at < GROUPED_ITEMS ? grouped.n - at : GROUPED_ITEMS)
                       : 0;
    alignas(16) ROW rows[GROUPED_ITEMS];
    number taken[GROUPED_ITEMS];
    bool there[GROUPED_ITEMS];
    if (here != 0) rows_load((const ROW *)grouped.rows + at, here, rows);
        /* The values are on their way while the block finds out about its groups. */
#pragma unroll
    for (int i = 0; i < GROUPED_ITEMS; i++) {
        there[i] = i < (int)here && (valid == NULL || valid[rows[i]] != 0);
        taken[i] =
            there[i] ? WAY::take(column != NULL ? column[rows[i]] : (TYPE)0) : WAY::neutral();
    }
    const grouped_tile tile = grouped_tile_of(grouped, &scratch);
    for (uint32_t i = threadIdx.x; i <= tile.more; i += GROUPED_BLOCK) {
        sums[i] = WAY::neutral();
        if (anys != NULL) anys[i] = 0;
    }
    __syncthreads();
    const uint32_t first = threadIdx.x * GROUPED_ITEMS;
    if (first < tile.count) {
        uint32_t group = grouped_find(&scratch, tile, first);
        number run = WAY::neutral();
        bool some = false, whole = false;
#pragma unroll
        for (int i = 0; i < GROUPED_ITEMS; i++) {
            if (group < tile.more && scratch.starts[group] <= first + i) {
                run_add<WAY>(sums, group++, run, whole, some, anys);
                run = WAY::neutral();
                some = false;
                whole = true;
            }
            run = WAY::both(run, taken[i]);
            some |= there[i];
        }
        run_add<WAY>(sums, group, run, false, some, anys);
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i <= tile.more; i += GROUPED_BLOCK) {
        const uint64_t group = tile.group + i;
        if (anys != NULL && anys[i] != 0) any[group] = 1;
        const bool before = i == 0 && grouped.starts[group] < tile.begin;
        const bool after = i == tile.more && grouped.starts[group + 1] > tile.begin + tile.count;
        if (before || after) WAY::add(&out[group], sums[i]);
        else out[group] = sums[i];
    }
}

template <class WAY>
static __global__ void __launch_bounds__(GROUPED_BLOCK)
    reduce_end(typename WAY::number *out, const uint8_t *any, uint64_t groups)
{
    for (uint64_t i = (uint64_t)blockIdx.x * GROUPED_BLOCK + threadIdx.x; i < groups;
         i += (uint64_t)gridDim.x * GROUPED_BLOCK)
        WAY::finish(out, i, any == NULL || any[i] != 0);
}

/* Sums become means. `counts` NULL: all rows of a group count. */
static __global__ void __launch_bounds__(GROUPED_BLOCK)
    reduce_mean(hd_grouped grouped, const unsigned long long *counts, double *out)
{
    for (uint64_t i = (uint64_t)blockIdx.x * GROUPED_BLOCK + threadIdx.x; i < grouped.groups;
         i += (uint64_t)gridDim.x * GROUPED_BLOCK) {
        const uint64_t count =
            counts != NULL ? counts[i] : grouped.starts[i + 1] - grouped.starts[i];
        out[i] = count != 0 ? out[i] / (double)count : 0;
    }
}

/* ----------------------------------------------------------------------------------------- host */

typedef struct reduction {
    const hd_grouped *grouped;
    const hd_reduce *reduce;
    uint8_t *any; /* NULL where there are no nulls */
    unsigned blocks;
    cudaStream_t stream;
    const hd_device_cuda *device;
} reduction;

template <class WAY, class TYPE> static cudaError_t reduce_by(const reduction *r, void *out)
{
    typedef typename WAY::number number;
    const hd_grouped *grouped = r->grouped;
    const size_t flags = r->any != NULL ? sizeof(uint32_t) : 0;
    const size_t bytes = GROUPED_TILE * (sizeof(number) + flags) + 16;
    reduce_begin<WAY><<<grouped_tiles(grouped) / GROUPED_BLOCK + 1, GROUPED_BLOCK, 0, r->stream>>>(
        *grouped, (number *)out);
    if (grouped->row_bits == 32)
        reduce_tiles<WAY, TYPE, uint32_t>
            <<<grouped_tiles(grouped), GROUPED_BLOCK, bytes, r->stream>>>(
                *grouped, (const TYPE *)r->reduce->column, r->reduce->valid, (number *)out, r->any);
    else
        reduce_tiles<WAY, TYPE, uint64_t>
            <<<grouped_tiles(grouped), GROUPED_BLOCK, bytes, r->stream>>>(
                *grouped, (const TYPE *)r->reduce->column, r->reduce->valid, (number *)out, r->any);
    reduce_end<WAY>
        <<<r->blocks, GROUPED_BLOCK, 0, r->stream>>>((number *)out, r->any, grouped->groups);
    return cudaGetLastError();
}

/* The mean of integers is that of doubles: no sum of them wraps. */
template <class TYPE> static cudaError_t mean_of(const reduction *r)
{
    const hd_grouped *grouped = r->grouped;
    unsigned long long *counts = NULL;
    cudaError_t error = cudaSuccess;
    if (r->reduce->valid != NULL) {
        error = hd_fault_due() ? cudaErrorMemoryAllocation
                               : cudaMallocAsync((void **)&counts, grouped->groups * sizeof *counts,
                                                 r->stream);
        if (error == cudaSuccess) error = reduce_by<count_rows<TYPE>, TYPE>(r, counts);
    }
    if (error == cudaSuccess) error = reduce_by<sum_floats<TYPE>, TYPE>(r, r->reduce->out);
    if (error == cudaSuccess)
        reduce_mean<<<r->blocks, GROUPED_BLOCK, 0, r->stream>>>(*grouped, counts,
                                                                (double *)r->reduce->out);
    if (counts != NULL) cudaFreeAsync(counts, r->stream);
    return error == cudaSuccess ? cudaGetLastError() : error;
}

template <class TYPE, class SUM> static cudaError_t reduce_type(const reduction *r)
{
    switch (r->reduce->aggregate) {
    case HEDDLE_AGGREGATE_COUNT: return reduce_by<count_rows<TYPE>, TYPE>(r, r->reduce->out);
    case HEDDLE_AGGREGATE_SUM: return reduce_by<SUM, TYPE>(r, r->reduce->out);
    case HEDDLE_AGGREGATE_MIN: return reduce_by<extreme<TYPE, true>, TYPE>(r, r->reduce->out);
    case HEDDLE_AGGREGATE_MAX: return reduce_by<extreme<TYPE, false>, TYPE>(r, r->reduce->out);
    default: return mean_of<TYPE>(r);
    }
}

/* ----------------------------------------------------------------------- groups known by number */

#define NUMBERED_SHARED (64u << 10) /* bytes of cells of a block */

template <class WAY, class TYPE, bool COUNTS>
static cudaError_t numbered_run(const reduction *r, void *out, unsigned long long *counts)
{
    typedef numbered_values<WAY, TYPE> values;
    const uint32_t width = numbered_width<values>(COUNTS);
    const uint64_t tiles = (r->grouped->n + NUMBERED_TILE - 1) / NUMBERED_TILE;
    const uint32_t shared = r->device->shared_bytes < NUMBERED_SHARED + 1024
                                ? (uint32_t)r->device->shared_bytes - 1024
                                : NUMBERED_SHARED;
    const uint64_t fit = hd_tuned(hd_tune.reduce_near_groups, shared / width);
    numbered_job job = {
        r->grouped->numbers, r->grouped->n, r->grouped->groups, r->reduce->valid, 0, 1};
    job.near = (uint32_t)(job.groups < fit ? job.groups : fit);
    while (job.copies < 32 && job.groups == job.near && job.near * 2 * job.copies * width <= shared)
        job.copies *= 2;
    const size_t bytes = (size_t)job.near * job.copies * width;
    int each = 1;
    cudaError_t error =
        cudaFuncSetAttribute(numbered_reduce<WAY, TYPE, COUNTS>,
                             cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    if (error == cudaSuccess) /* as many blocks as run at the same time */
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
            &each, numbered_reduce<WAY, TYPE, COUNTS>, NUMBERED_BLOCK, bytes);
    if (error != cudaSuccess) return error;
    const uint64_t full = (uint64_t)r->device->multiprocessors * (each > 0 ? (unsigned)each : 1);
    numbered_reduce<WAY, TYPE, COUNTS>
        <<<(unsigned)(tiles < full ? tiles : full), NUMBERED_BLOCK, bytes, r->stream>>>(
            job, (const TYPE *)r->reduce->column, (typename WAY::number *)out, counts);
    return cudaGetLastError();
}

/* Sums or the like of all groups; counts, where they are wanted, are zeros. */
template <class WAY, class TYPE>
static cudaError_t numbered_by(const reduction *r, unsigned long long *counts)
{
    typedef typename WAY::number number;
    number *out = (number *)r->reduce->out;
    numbered_fill<number>
        <<<r->blocks, NUMBERED_BLOCK, 0, r->stream>>>(out, WAY::neutral(), r->grouped->groups);
    return counts != NULL ? numbered_run<WAY, TYPE, true>(r, out, counts)
                          : numbered_run<WAY, TYPE, false>(r, out, counts);
}

template <class WAY, class TYPE>
static cudaError_t numbered_whole(const reduction *r, unsigned long long *counts)
{
    const cudaError_t error = numbered_by<WAY, TYPE>(r, counts);
    if (error != cudaSuccess) return error;
    if (r->any != NULL)
        numbered_any<<<r->blocks, NUMBERED_BLOCK, 0, r->stream>>>(counts, r->grouped->groups,
                                                                  r->any);
    reduce_end<WAY><<<r->blocks, GROUPED_BLOCK, 0, r->stream>>>(
        (typename WAY::number *)r->reduce->out, r->any, r->grouped->groups);
    return cudaGetLastError();
}

/* Integers of 32 bits are summed up as integers, since no sum of fewer than 2^32 of them wraps. */
template <class SUM, class TYPE, class TOTAL>
static cudaError_t numbered_mean(const reduction *r, unsigned long long *counts)
{
    const cudaError_t error = numbered_by<SUM, TYPE>(r, counts);
    if (error != cudaSuccess) return error;
    if (r->any != NULL)
        numbered_any<<<r->blocks, NUMBERED_BLOCK, 0, r->stream>>>(counts, r->grouped->groups,
                                                                  r->any);
    numbered_mean_end<TOTAL>
        <<<r->blocks, NUMBERED_BLOCK, 0, r->stream>>>(counts, r->grouped->groups, r->reduce->out);
    return cudaGetLastError();
}

template <class TYPE, class SUM, class TOTAL>
static cudaError_t numbered_type(const reduction *r, unsigned long long *counts)
{
    switch (r->reduce->aggregate) {
    case HEDDLE_AGGREGATE_SUM: return numbered_whole<SUM, TYPE>(r, counts);
    case HEDDLE_AGGREGATE_MIN: return numbered_whole<extreme<TYPE, true>, TYPE>(r, counts);
    case HEDDLE_AGGREGATE_MAX: return numbered_whole<extreme<TYPE, false>, TYPE>(r, counts);
    default:
        return sizeof(TYPE) == 4 && r->grouped->n <= UINT32_MAX
                   ? numbered_mean<SUM, TYPE, TOTAL>(r, counts)
                   : numbered_mean<sum_floats<TYPE>, TYPE, double>(r, counts);
    }
}

static cudaError_t numbered_count(const reduction *r)
{
    unsigned long long *out = (unsigned long long *)r->reduce->out;
    cudaError_t error = cudaMemsetAsync(out, 0, r->grouped->groups * sizeof *out, r->stream);
    if (error == cudaSuccess) error = numbered_run<no_values, uint32_t, true>(r, NULL, out);
    if (error == cudaSuccess && r->any != NULL)
        numbered_any<<<r->blocks, NUMBERED_BLOCK, 0, r->stream>>>(out, r->grouped->groups, r->any);
    return error == cudaSuccess ? cudaGetLastError() : error;
}

static cudaError_t numbered_any_type(const reduction *r, unsigned long long *counts)
{
    switch (r->reduce->type) {
    case HEDDLE_TYPE_U32:
        return numbered_type<uint32_t, sum_integers<uint32_t>, uint64_t>(r, counts);
    case HEDDLE_TYPE_I32: return numbered_type<int32_t, sum_integers<int32_t>, int64_t>(r, counts);
    case HEDDLE_TYPE_F32: return numbered_type<float, sum_floats<float>, double>(r, counts);
    case HEDDLE_TYPE_U64:
        return numbered_type<uint64_t, sum_integers<uint64_t>, uint64_t>(r, counts);
    case HEDDLE_TYPE_I64: return numbered_type<int64_t, sum_integers<int64_t>, int64_t>(r, counts);
    default: return numbered_type<double, sum_floats<double>, double>(r, counts);
    }
}

static cudaError_t reduce_numbered(const reduction *r)
{
    const uint64_t bytes = r->grouped->groups * sizeof(uint64_t);
    unsigned long long *counts = NULL;
    cudaError_t error = cudaSuccess;
    if (r->reduce->aggregate == HEDDLE_AGGREGATE_COUNT) return numbered_count(r);
    if (r->any != NULL || r->reduce->aggregate == HEDDLE_AGGREGATE_MEAN) {
        error = hd_fault_due() ? cudaErrorMemoryAllocation
                               : cudaMallocAsync((void **)&counts, bytes, r->stream);
        if (error == cudaSuccess) error = cudaMemsetAsync(counts, 0, bytes, r->stream);
    }
    if (error == cudaSuccess) error = numbered_any_type(r, counts);
    if (counts != NULL) cudaFreeAsync(counts, r->stream);
    return error;
}

static cudaError_t reduce_any(const reduction *r)
{
    if (r->grouped->numbers != NULL) return reduce_numbered(r);
    switch (r->reduce->type) {
    case HEDDLE_TYPE_U32: return reduce_type<uint32_t, sum_integers<uint32_t>>(r);
    case HEDDLE_TYPE_I32: return reduce_type<int32_t, sum_integers<int32_t>>(r);
    case HEDDLE_TYPE_F32: return reduce_type<float, sum_floats<float>>(r);
    case HEDDLE_TYPE_U64: return reduce_type<uint64_t, sum_integers<uint64_t>>(r);
    case HEDDLE_TYPE_I64: return reduce_type<int64_t, sum_integers<int64_t>>(r);
    default: return reduce_type<double, sum_floats<double>>(r);
    }
}

heddle_status hd_reduce_cuda(hd_site on, const hd_grouped *grouped, const hd_reduce *reduce)
{
    reduction r = {grouped, reduce, reduce->out_valid, 0, NULL, (const hd_device_cuda *)on.device};
    uint8_t *own = NULL;
    cudaError_t error = cudaSuccess;
    const heddle_status status = hd_cuda_enter(on.device, on.stream, &r.stream);
    if (status != HEDDLE_OK || grouped->groups == 0) return status;
    r.blocks = (unsigned)((grouped->groups + GROUPED_BLOCK - 1) / GROUPED_BLOCK);
    if (r.blocks > (unsigned)((hd_device_cuda *)on.device)->multiprocessors * 16)
        r.blocks = (unsigned)((hd_device_cuda *)on.device)->multiprocessors * 16;
    if (reduce->valid == NULL) { /* no group is empty */
        r.any = NULL;
        if (reduce->out_valid != NULL)
            error = cudaMemsetAsync(reduce->out_valid, 1, grouped->groups, r.stream);
    } else {
        if (r.any == NULL) {
            error = hd_fault_due() ? cudaErrorMemoryAllocation
                                   : cudaMallocAsync((void **)&own, grouped->groups, r.stream);
            r.any = own;
        }
        if (error == cudaSuccess) error = cudaMemsetAsync(r.any, 0, grouped->groups, r.stream);
    }
    if (error == cudaSuccess) error = reduce_any(&r);
    if (own != NULL) cudaFreeAsync(own, r.stream);
    return hd_cuda_check(error, "cannot aggregate");
}
