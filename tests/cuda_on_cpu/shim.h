/*
 * shim.h: CUDA's words for g++, so that it compiles the kernels of src/cuda. Include it before anything
 * that asks for __CUDACC__. Without __CUDA_ARCH__ the kernels take the paths of older devices: slots
 * of 16 bytes are claimed by way of BUSY, sums go by shuffles. With it, those of that device.
 */
#ifndef SHIM_H
#define SHIM_H

#include <cstring>
#include <type_traits>

#include "warps.h"

#define __CUDACC__ 1 /* here, not on the command line: the standard headers above ask for it too */
#define __host__
#define __device__
#define __global__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
/* One block runs at a time; what the last one left there is the next one's garbage. */
#define __shared__ static

#define SHIM static inline __attribute__((unused))
#define HERE int line = __builtin_LINE()

SHIM uint32_t __ballot_sync(uint32_t mask, bool mine, HERE)
{
    const warp_votes v = warps_meet(WARP_BALLOT, mask, mine, line);
    uint32_t lanes = 0;
    for (unsigned i = 0; i < 32; i++)
        if (mask >> i & 1 && v.brought[i] != 0) lanes |= 1u << i;
    return lanes;
}
SHIM bool __any_sync(uint32_t mask, bool mine, HERE)
{
    const warp_votes v = warps_meet(WARP_ANY, mask, mine, line);
    for (unsigned i = 0; i < 32; i++)
        if (mask >> i & 1 && v.brought[i] != 0) return true;
    return false;
}
SHIM uint32_t __reduce_add_sync(uint32_t mask, uint32_t mine, HERE)
{
    const warp_votes v = warps_meet(WARP_SUM, mask, mine, line);
    uint32_t sum = 0;
    for (unsigned i = 0; i < 32; i++)
        if (mask >> i & 1) sum += (uint32_t)v.brought[i];
    return sum;
}

/* What a lane outside the mask holds is undefined: here it is this. */
SHIM uint64_t shuffled(const warp_votes *v, unsigned from)
{
    return v->mask >> from & 1 ? v->brought[from] : UINT64_C(0xdeadbeefdeadbeef);
}
template <class T>
static T __shfl_sync(uint32_t mask, T mine, unsigned from, unsigned width = 32, HERE)
{
    const unsigned lane = threadIdx.x % 32;
    const warp_votes v = warps_meet(WARP_SHUFFLE, mask, mine, line);
    return (T)shuffled(&v, (lane & ~(width - 1)) | (from & (width - 1)));
}
template <class T> static T __shfl_down_sync(uint32_t mask, T mine, unsigned by, HERE)
{
    const unsigned lane = threadIdx.x % 32;
    const warp_votes v = warps_meet(WARP_SHUFFLE, mask, mine, line);
    return (T)shuffled(&v, lane + by < 32 ? lane + by : lane);
}
template <class T> static T __shfl_up_sync(uint32_t mask, T mine, unsigned by, HERE)
{
    const unsigned lane = threadIdx.x % 32;
    const warp_votes v = warps_meet(WARP_SHUFFLE, mask, mine, line);
    return (T)shuffled(&v, lane >= by ? lane - by : lane);
}
/* A double goes by its bits. */
SHIM double __shfl_down_sync(uint32_t mask, double mine, unsigned by, HERE)
{
    uint64_t bits;
    memcpy(&bits, &mine, sizeof bits);
    bits = __shfl_down_sync(mask, bits, by, line);
    memcpy(&mine, &bits, sizeof mine);
    return mine;
}
template <class T> static T __shfl_xor_sync(uint32_t mask, T mine, unsigned by, HERE)
{
    const warp_votes v = warps_meet(WARP_SHUFFLE, mask, mine, line);
    return (T)shuffled(&v, threadIdx.x % 32 ^ by);
}
/* The lanes that bring the same. */
template <class T> static uint32_t __match_any_sync(uint32_t mask, T mine, HERE)
{
    const warp_votes v = warps_meet(WARP_SHUFFLE, mask, (uint64_t)mine, line);
    uint32_t lanes = 0;
    for (unsigned i = 0; i < 32; i++)
        if (mask >> i & 1 && v.brought[i] == (uint64_t)mine) lanes |= 1u << i;
    return lanes;
}
SHIM void __syncwarp(uint32_t mask = UINT32_MAX, HERE) { warps_meet(WARP_SYNC, mask, 0, line); }
SHIM void __syncthreads(HERE) { warps_meet_block(line); }

/* One fiber runs at a time, so memory is always in order; but what a fence parts, others may see apart. */
SHIM void __threadfence() { warps_touch(); }
SHIM void __threadfence_block() { warps_touch(); }

struct alignas(8) uint2 {
    uint32_t x, y;
};
struct alignas(16) uint4 {
    uint32_t x, y, z, w;
};
SHIM uint2 make_uint2(uint32_t x, uint32_t y) { return {x, y}; }
SHIM uint4 make_uint4(uint32_t x, uint32_t y, uint32_t z, uint32_t w) { return {x, y, z, w}; }

template <class TO, class FROM> static TO shim_bits(FROM from)
{
    TO to;
    static_assert(sizeof to == sizeof from, "");
    memcpy(&to, &from, sizeof to);
    return to;
}
SHIM uint32_t __float_as_uint(float x) { return shim_bits<uint32_t>(x); }
SHIM float __uint_as_float(uint32_t x) { return shim_bits<float>(x); }
SHIM long long __double_as_longlong(double x) { return shim_bits<long long>(x); }
SHIM double __longlong_as_double(long long x) { return shim_bits<double>(x); }

SHIM int __popc(uint32_t x) { return __builtin_popcount(x); }
SHIM int __clz(int x) { return x == 0 ? 32 : __builtin_clz((unsigned)x); }
SHIM int __ffsll(long long x) { return __builtin_ffsll(x); }
SHIM uint32_t __umulhi(uint32_t a, uint32_t b) { return (uint32_t)((uint64_t)a * b >> 32); }
SHIM uint64_t __umul64hi(uint64_t a, uint64_t b)
{
    return (uint64_t)((unsigned __int128)a * b >> 64);
}
template <class T> static T __ldg(const T *at)
{
    warps_touch();
    return *at;
}

template <class T> static T __ldcs(const T *at) { return __ldg(at); }

/* The second type is not deduced: constants of any width will do. */
template <class T> struct same {
    typedef T type;
};
#define SHIM_ATOMIC(name, becomes)                                                                 \
    template <class T> static T name(T *at, typename same<T>::type x)                              \
    {                                                                                              \
        warps_touch();                                                                             \
        const T old = *at;                                                                         \
        *at = becomes;                                                                             \
        warps_touch();                                                                             \
        return old;                                                                                \
    }
SHIM_ATOMIC(atomicAdd, old + x)
SHIM_ATOMIC(atomicExch, x)
SHIM_ATOMIC(atomicMin, x < old ? x : old)
SHIM_ATOMIC(atomicMax, x > old ? x : old)
SHIM_ATOMIC(atomicAnd, old &x)
SHIM_ATOMIC(atomicOr, old | x)
SHIM_ATOMIC(atomicXor, old ^ x)

/* By bytes: also for the 16 bytes of a wide slot. */
template <class T> static T atomicCAS(T *at, typename same<T>::type from, typename same<T>::type to)
{
    warps_touch();
    const T old = *at;
    if (memcmp(&old, &from, sizeof old) == 0) *at = to;
    warps_touch();
    return old;
}

#endif
