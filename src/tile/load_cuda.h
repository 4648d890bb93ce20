/* load_cuda.h: reading 4, 8 or 16 bytes of a table at once. */
#ifndef HD_CUDA_LOAD_H
#define HD_CUDA_LOAD_H

#include <cstring>

#include "base/port.h"

template <int BYTES> struct hd_vector;
template <> struct hd_vector<4> {
    typedef unsigned int type;
};
template <> struct hd_vector<8> {
    typedef uint2 type;
};
template <> struct hd_vector<16> {
    typedef uint4 type;
};

HD_FN void prefetch_l2(const void *from) { asm volatile("prefetch.global.L2 [%0];" ::"l"(from)); }

/*
 * While nobody writes: the read-only path. Not past the first-level cache (L1::no_allocate), though a random access is
 * hardly met again there: the second-level cache would keep such lines for a shorter time, too.
 */
HD_FN void load_nc(unsigned int *to, const void *from)
{
    asm volatile("ld.global.nc.u32 %0, [%1];" : "=r"(*to) : "l"(from));
}
HD_FN void load_nc(uint2 *to, const void *from)
{
    asm volatile("ld.global.nc.v2.u32 {%0, %1}, [%2];" : "=r"(to->x), "=r"(to->y) : "l"(from));
}
HD_FN void load_nc(uint4 *to, const void *from)
{
    asm volatile("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to->x), "=r"(to->y), "=r"(to->z), "=r"(to->w)
                 : "l"(from));
}

template <int BYTES> static __device__ __forceinline__ void load_frozen(void *to, const void *from)
{
    typename hd_vector<BYTES>::type piece;
    load_nc(&piece, from);
    memcpy(to, &piece, BYTES);
}

/*
 * While others write: from the second-level cache, which all see alike. The elements are 64 bits
 * wide, because a vector load is only whole element by element, and a 64-bit key must not be seen
 * half old and half new.
 */
HD_FN void load_cg(unsigned int *to, const void *from)
{
    asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(*to) : "l"(from) : "memory");
}
HD_FN void load_cg(uint2 *to, const void *from)
{
    unsigned long long element;
    asm volatile("ld.global.cg.u64 %0, [%1];" : "=l"(element) : "l"(from) : "memory");
    memcpy(to, &element, 8);
}
HD_FN void load_cg(uint4 *to, const void *from)
{
    unsigned long long elements[2];
    asm volatile("ld.global.cg.v2.u64 {%0, %1}, [%2];"
                 : "=l"(elements[0]), "=l"(elements[1])
                 : "l"(from)
                 : "memory");
    memcpy(to, elements, 16);
}

template <int BYTES> static __device__ __forceinline__ void load_shared(void *to, const void *from)
{
    typename hd_vector<BYTES>::type piece;
    load_cg(&piece, from);
    memcpy(to, &piece, BYTES);
}

/*
 * The same for 16 bytes of 128 that lanes read together, and of which a part will be written soon. All 128 come into the
 * second-level cache at once, and stay there until others that were only read have gone.
 */
HD_FN void load_slab_16(void *to, const void *from)
{
#if __CUDA_ARCH__ >= 800
    unsigned long long elements[2], stay;
    asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(stay));
    asm volatile("ld.relaxed.gpu.global.L2::cache_hint.L2::128B.v2.u64 {%0, %1}, [%2], %3;"
                 : "=l"(elements[0]), "=l"(elements[1])
                 : "l"(from), "l"(stay)
                 : "memory");
    memcpy(to, elements, 16);
#else
    load_shared<16>(to, from);
#endif
}

/* 16 bytes of the block's shared memory, while other threads write there; whole in elements of 8. */
HD_FN void load_block_16(void *to, const void *from)
{
    unsigned long long elements[2];
    asm volatile("ld.shared.v2.u64 {%0, %1}, [%2];"
                 : "=l"(elements[0]), "=l"(elements[1])
                 : "r"((uint32_t)__cvta_generic_to_shared(from))
                 : "memory");
    memcpy(to, elements, 16);
}

/* The shared memory that the launch has given to the block. */
HD_FN char *block_memory(void)
{
    extern __shared__ uint4 hd_block_memory[];
    return (char *)hd_block_memory;
}

#endif
