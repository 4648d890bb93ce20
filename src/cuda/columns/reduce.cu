/*
 * reduce.cu: aggregates of a column by group on a CUDA device.
 *
 * A tile of rows (grouped.h) sums up in shared memory, one number a group. Groups that lie within the
 * tile are written; those that reach beyond it are brought together by atomics. Numbers stand in `out`
 * in a form in which atomics can work on them: 64-bit integers and doubles for sums; for minima and
 * maxima unsigned numbers in the order of the type. A last pass turns these into results.
 */
#include "base/alloc.h"
#include "cuda/columns/columns.h"
#include "cuda/columns/grouped.h"
#include "tile/load_cuda.h"

/* --------------------------------------------------------------- types as ordered unsigned numbers */

/* NaN comes last in a minimum and first in a maximum: it is the result only where there is no number. */
template <class BITS>
static __device__ __forceinline__ BITS ordered_float(BITS bits, bool nan, bool min)
{
    const BITS top = (BITS)1 << (sizeof(BITS) * 8 - 1);
    if (nan) return min ? (BITS) ~(BITS)0 : 0;
    return bits & top ? (BITS)~bits : (BITS)(bits | top);
}
template <class BITS> static __device__ __forceinline__ BITS float_ordered(BITS ordered)
{
    const BITS top = (BITS)1 << (sizeof(BITS) * 8 - 1);
    return ordered & top ? (BITS)(ordered & ~top) : (BITS)~ordered;
}

template <class TYPE> struct order;
template <> struct order<uint32_t> {
    typedef uint32_t bits;
    static __device__ bits to(uint32_t x, bool) { return x; }
    static __device__ uint32_t from(bits x) { return x; }
};
template <> struct order<uint64_t> {
    typedef unsigned long long bits;
    static __device__ bits to(uint64_t x, bool) { return x; }
    static __device__ uint64_t from(bits x) { return x; }
};
template <> struct order<int32_t> {
    typedef uint32_t bits;
    static __device__ bits to(int32_t x, bool) { return (uint32_t)x ^ 0x80000000u; }
    static __device__ int32_t from(bits x) { return (int32_t)(x ^ 0x80000000u); }
};
template <> struct order<int64_t> {
    typedef unsigned long long bits;
    static __device__ bits to(int64_t x, bool) { return (bits)x ^ 1ull << 63; }
    static __device__ int64_t from(bits x) { return (int64_t)(x ^ 1ull << 63); }
};
template <> struct order<float> {
    typedef uint32_t bits;
    static __device__ bits to(float x, bool min)
    {
        return ordered_float<uint32_t>(__float_as_uint(x), isnan(x), min);
    }
    static __device__ float from(bits x) { return __uint_as_float(float_ordered<uint32_t>(x)); }
};
template <> struct order<double> {
    typedef unsigned long long bits;
    static __device__ bits to(double x, bool min)
    {
        return ordered_float<unsigned long long>((bits)__double_as_longlong(x), isnan(x), min);
    }
    static __device__ double from(bits x)
    {
        return __longlong_as_double((long long)float_ordered<unsigned long long>(x));
    }
};

/* ------------------------------------------------------------------------------ ways to aggregate */

template <class TYPE> struct sum_integers {
    typedef unsigned long long number; /* wraps alike for signed and unsigned */
    static __device__ number neutral() { return 0; }
    static __device__ number take(TYPE x) { return (number)(long long)x; }
    static __device__ number both(number a, number b) { return a + b; }
    static __device__ void add(number *to, number x) { atomicAdd(to, x); }
    static __device__ void finish(number *, uint64_t, bool) {}
};
template <> __device__ __forceinline__ unsigned long long sum_integers<uint32_t>::take(uint32_t x)
{
    return x;
}
template <class TYPE> struct sum_floats {
    typedef double number;
    static __device__ number neutral() { return 0; }
    static __device__ number take(TYPE x) { return (number)x; }
    static __device__ number both(number a, number b) { return a + b; }
    static __device__ void add(number *to, number x) { atomicAdd(to, x); }
    static __device__ void finish(number *, uint64_t, bool) {}
};
template <class TYPE, bool MIN> struct extreme {
    typedef typename order<TYPE>::bits number;
    static __device__ number neutral() { return MIN ? (number) ~(number)0 : 0; }
    static __device__ number take(TYPE x) { return order<TYPE>::to(x, MIN); }
    static __device__ number both(number a, number b) { return (a < b) == MIN ? a : b; }
    static __device__ void add(number *to, number x)
    {
        if (MIN) atomicMin(to, x);
        else atomicMax(to, x);
    }
    static __device__ void finish(number *out, uint64_t group, bool any)
    {
        const number x = out[group];
        TYPE *typed = (TYPE *)out;
        typed[group] = any ? order<TYPE>::from(x) : (TYPE)0;
    }
};
/* Counts rows, whatever their values. */
template <class TYPE> struct count_rows : sum_integers<TYPE> {
    static __device__ unsigned long long take(TYPE) { return 1; }
};

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

static cudaError_t reduce_any(const reduction *r)
{
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
    reduction r = {grouped, reduce, reduce->out_valid, 0, NULL};
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
