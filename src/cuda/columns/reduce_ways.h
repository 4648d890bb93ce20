/*
 * reduce_ways.h: what is done with the values of a group: numbers that atomics can work on, 64-bit integers and
 * doubles for sums; for minima and maxima unsigned numbers in the order of the type.
 */
#ifndef HD_CUDA_REDUCE_WAYS_H
#define HD_CUDA_REDUCE_WAYS_H

#include <math.h>

#include "base/port.h"
#include "engine/columns.h"

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

/*
 * Besides: cells of a block that many threads add to. A cell is at [i] of `cells`, and where a number is of two words
 * at [i + all], too: shared memory adds words by itself, but 64 bits only by comparing and trying again.
 */
template <class NUMBER> struct whole_cells {
    static __device__ void cell_begin(void *cells, uint32_t i, uint32_t, NUMBER neutral)
    {
        ((NUMBER *)cells)[i] = neutral;
    }
    static __device__ NUMBER cell_get(const void *cells, uint32_t i, uint32_t)
    {
        return ((const NUMBER *)cells)[i];
    }
};

template <class TYPE> struct sum_integers {
    typedef unsigned long long number; /* wraps alike for signed and unsigned */
    static __device__ void cell_begin(void *cells, uint32_t i, uint32_t all, number)
    {
        ((uint32_t *)cells)[i] = ((uint32_t *)cells)[i + all] = 0;
    }
    static __device__ number cell_get(const void *cells, uint32_t i, uint32_t all)
    {
        const uint32_t *words = (const uint32_t *)cells;
        return (number)words[i + all] << 32 | words[i];
    }
    static __device__ void cell_add(void *cells, uint32_t i, uint32_t all, number x)
    {
        uint32_t *words = (uint32_t *)cells;
        const uint32_t low = (uint32_t)x, before = atomicAdd(&words[i], low);
        const uint32_t high = (uint32_t)(x >> 32) + (before + low < before);
        if (high != 0) atomicAdd(&words[i + all], high);
    }
    static __device__ void add_far(number *to, number x) { atomicAdd(to, x); }
    static __host__ __device__ number neutral() { return 0; }
    static __device__ number take(TYPE x) { return (number)(long long)x; }
    static __device__ number both(number a, number b) { return a + b; }
    static __device__ void add(number *to, number x) { atomicAdd(to, x); }
    static __device__ void finish(number *, uint64_t, bool) {}
};
template <> __device__ __forceinline__ unsigned long long sum_integers<uint32_t>::take(uint32_t x)
{
    return x;
}
template <class TYPE> struct sum_floats : whole_cells<double> {
    typedef double number;
    static __device__ void cell_add(void *cells, uint32_t i, uint32_t, number x)
    {
        atomicAdd((number *)cells + i, x);
    }
    static __device__ void add_far(number *to, number x) { atomicAdd(to, x); }
    static __host__ __device__ number neutral() { return 0; }
    static __device__ number take(TYPE x) { return (number)x; }
    static __device__ number both(number a, number b) { return a + b; }
    static __device__ void add(number *to, number x) { atomicAdd(to, x); }
    static __device__ void finish(number *, uint64_t, bool) {}
};
template <class TYPE, bool MIN> struct extreme : whole_cells<typename order<TYPE>::bits> {
    typedef typename order<TYPE>::bits number;
    /* Most numbers are not the least so far. One that was read from the first-level cache may be old, never too small. */
    static __device__ void add_far(number *to, number x)
    {
        const number seen = *to;
        if (x != seen && (x < seen) == MIN) add(to, x);
    }
    static __device__ void cell_add(void *cells, uint32_t i, uint32_t, number x)
    {
        number *to = (number *)cells + i;
        const number seen = *(volatile number *)to;
        if (x != seen && (x < seen) == MIN) add(to, x);
    }
    static __host__ __device__ number neutral() { return MIN ? (number) ~(number)0 : 0; }
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

#endif
