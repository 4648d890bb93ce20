/*
 * atomic.h: the atomic steps on 32- and 64-bit words that slots are made of, for both machines.
 *
 * The memory order is in the name. Words of a slot are only ever changed through these functions
 * while more than one tile works on a table.
 */
#ifndef HD_ATOMIC_H
#define HD_ATOMIC_H

#include "base/port.h"

#if defined(__CUDACC__)

HD_FN uint32_t load_acquire_32(const uint32_t *word)
{
    const uint32_t seen = *(const volatile uint32_t *)word;
    __threadfence();
    return seen;
}
HD_FN uint64_t load_acquire_64(const uint64_t *word)
{
    const uint64_t seen = *(const volatile uint64_t *)word;
    __threadfence();
    return seen;
}
HD_FN void store_release_32(uint32_t *word, uint32_t to)
{
    __threadfence();
    *(volatile uint32_t *)word = to;
}
HD_FN void store_release_64(uint64_t *word, uint64_t to)
{
    __threadfence();
    *(volatile uint64_t *)word = to;
}
HD_FN bool cas_32(uint32_t *word, uint32_t from, uint32_t to)
{
    return atomicCAS(word, from, to) == from;
}
HD_FN bool cas_64(uint64_t *word, uint64_t from, uint64_t to)
{
    return atomicCAS((unsigned long long *)word, from, to) == from;
}
/* Gives what was there before: `from`, if it has become `to`. */
HD_FN uint32_t cas_before_32(uint32_t *word, uint32_t from, uint32_t to)
{
    return atomicCAS(word, from, to);
}
HD_FN uint64_t cas_before_64(uint64_t *word, uint64_t from, uint64_t to)
{
    return atomicCAS((unsigned long long *)word, from, to);
}
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define HD_HAS_CAS_128 1
/* For words of a 64-bit key and value. */
template <class WORD> HD_FN bool cas_128(WORD *word, WORD from, WORD to)
{
    const WORD before = atomicCAS(word, from, to);
    return before.key == from.key && before.value == from.value;
}
#endif
HD_FN void add_relaxed_32(uint32_t *word, uint32_t by) { atomicAdd(word, by); }
HD_FN void add_relaxed_64(uint64_t *word, uint64_t by)
{
    atomicAdd((unsigned long long *)word, by);
}
HD_FN void min_relaxed_32(uint32_t *word, uint32_t with) { atomicMin(word, with); }
HD_FN void min_relaxed_64(uint64_t *word, uint64_t with)
{
    atomicMin((unsigned long long *)word, with);
}
HD_FN void max_relaxed_32(uint32_t *word, uint32_t with) { atomicMax(word, with); }
HD_FN void max_relaxed_64(uint64_t *word, uint64_t with)
{
    atomicMax((unsigned long long *)word, with);
}
HD_FN void and_relaxed_32(uint32_t *word, uint32_t with) { atomicAnd(word, with); }
HD_FN void and_relaxed_64(uint64_t *word, uint64_t with)
{
    atomicAnd((unsigned long long *)word, with);
}
HD_FN void or_relaxed_32(uint32_t *word, uint32_t with) { atomicOr(word, with); }
HD_FN void or_relaxed_64(uint64_t *word, uint64_t with)
{
    atomicOr((unsigned long long *)word, with);
}
/* Gives what was there before. */
HD_FN uint32_t or_acquire_32(uint32_t *word, uint32_t with)
{
    const uint32_t before = atomicOr(word, with);
    __threadfence();
    return before;
}
HD_FN void and_release_32(uint32_t *word, uint32_t with)
{
    __threadfence();
    atomicAnd(word, with);
}
HD_FN void xor_release_32(uint32_t *word, uint32_t with)
{
    __threadfence();
    atomicXor(word, with);
}
HD_FN void xor_release_64(uint64_t *word, uint64_t with)
{
    __threadfence();
    atomicXor((unsigned long long *)word, with);
}
HD_FN void store_relaxed_32(uint32_t *word, uint32_t to) { *(volatile uint32_t *)word = to; }
HD_FN void store_relaxed_64(uint64_t *word, uint64_t to) { *(volatile uint64_t *)word = to; }
HD_FN uint32_t exchange_relaxed_32(uint32_t *word, uint32_t to) { return atomicExch(word, to); }
HD_FN uint64_t fetch_add_relaxed_64(uint64_t *word, uint64_t by)
{
    return atomicAdd((unsigned long long *)word, by);
}
HD_FN uint32_t fetch_or_relaxed_32(uint32_t *word, uint32_t with) { return atomicOr(word, with); }
HD_FN uint32_t fetch_and_relaxed_32(uint32_t *word, uint32_t with) { return atomicAnd(word, with); }
HD_FN uint32_t load_relaxed_32(const uint32_t *word) { return *(const volatile uint32_t *)word; }
HD_FN uint64_t load_relaxed_64(const uint64_t *word) { return *(const volatile uint64_t *)word; }

#else

HD_FN uint32_t load_acquire_32(const uint32_t *word)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}
HD_FN uint64_t load_acquire_64(const uint64_t *word)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}
HD_FN void store_release_32(uint32_t *word, uint32_t to)
{
    __atomic_store_n(word, to, __ATOMIC_RELEASE);
}
HD_FN void store_release_64(uint64_t *word, uint64_t to)
{
    __atomic_store_n(word, to, __ATOMIC_RELEASE);
}
HD_FN bool cas_32(uint32_t *word, uint32_t from, uint32_t to)
{
    return __atomic_compare_exchange_n(word, &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}
HD_FN bool cas_64(uint64_t *word, uint64_t from, uint64_t to)
{
    return __atomic_compare_exchange_n(word, &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}
HD_FN uint32_t cas_before_32(uint32_t *word, uint32_t from, uint32_t to)
{
    __atomic_compare_exchange_n(word, &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
    return from;
}
HD_FN uint64_t cas_before_64(uint64_t *word, uint64_t from, uint64_t to)
{
    __atomic_compare_exchange_n(word, &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
    return from;
}
HD_FN void add_relaxed_32(uint32_t *word, uint32_t by)
{
    __atomic_fetch_add(word, by, __ATOMIC_RELAXED);
}
HD_FN void add_relaxed_64(uint64_t *word, uint64_t by)
{
    __atomic_fetch_add(word, by, __ATOMIC_RELAXED);
}
HD_FN void min_relaxed_32(uint32_t *word, uint32_t with)
{
    uint32_t seen = __atomic_load_n(word, __ATOMIC_RELAXED);
    while (with < seen && !__atomic_compare_exchange_n(word, &seen, with, true, __ATOMIC_RELAXED,
                                                       __ATOMIC_RELAXED)) {
    }
}
HD_FN void min_relaxed_64(uint64_t *word, uint64_t with)
{
    uint64_t seen = __atomic_load_n(word, __ATOMIC_RELAXED);
    while (with < seen && !__atomic_compare_exchange_n(word, &seen, with, true, __ATOMIC_RELAXED,
                                                       __ATOMIC_RELAXED)) {
    }
}
HD_FN void max_relaxed_32(uint32_t *word, uint32_t with)
{
    uint32_t seen = __atomic_load_n(word, __ATOMIC_RELAXED);
    while (with > seen && !__atomic_compare_exchange_n(word, &seen, with, true, __ATOMIC_RELAXED,
                                                       __ATOMIC_RELAXED)) {
    }
}
HD_FN void max_relaxed_64(uint64_t *word, uint64_t with)
{
    uint64_t seen = __atomic_load_n(word, __ATOMIC_RELAXED);
    while (with > seen && !__atomic_compare_exchange_n(word, &seen, with, true, __ATOMIC_RELAXED,
                                                       __ATOMIC_RELAXED)) {
    }
}
HD_FN void and_relaxed_32(uint32_t *word, uint32_t with)
{
    __atomic_fetch_and(word, with, __ATOMIC_RELAXED);
}
HD_FN void and_relaxed_64(uint64_t *word, uint64_t with)
{
    __atomic_fetch_and(word, with, __ATOMIC_RELAXED);
}
HD_FN void or_relaxed_64(uint64_t *word, uint64_t with)
{
    __atomic_fetch_or(word, with, __ATOMIC_RELAXED);
}
HD_FN uint32_t load_relaxed_32(const uint32_t *word)
{
    return __atomic_load_n(word, __ATOMIC_RELAXED);
}
HD_FN uint64_t load_relaxed_64(const uint64_t *word)
{
    return __atomic_load_n(word, __ATOMIC_RELAXED);
}
HD_FN uint32_t or_acquire_32(uint32_t *word, uint32_t with)
{
    return __atomic_fetch_or(word, with, __ATOMIC_ACQUIRE);
}
HD_FN void and_release_32(uint32_t *word, uint32_t with)
{
    __atomic_fetch_and(word, with, __ATOMIC_RELEASE);
}
HD_FN void xor_release_32(uint32_t *word, uint32_t with)
{
    __atomic_fetch_xor(word, with, __ATOMIC_RELEASE);
}
HD_FN void xor_release_64(uint64_t *word, uint64_t with)
{
    __atomic_fetch_xor(word, with, __ATOMIC_RELEASE);
}
HD_FN void store_relaxed_32(uint32_t *word, uint32_t to)
{
    __atomic_store_n(word, to, __ATOMIC_RELAXED);
}
HD_FN void store_relaxed_64(uint64_t *word, uint64_t to)
{
    __atomic_store_n(word, to, __ATOMIC_RELAXED);
}
HD_FN uint32_t exchange_relaxed_32(uint32_t *word, uint32_t to)
{
    return __atomic_exchange_n(word, to, __ATOMIC_RELAXED);
}
HD_FN uint64_t fetch_add_relaxed_64(uint64_t *word, uint64_t by)
{
    return __atomic_fetch_add(word, by, __ATOMIC_RELAXED);
}
HD_FN uint32_t fetch_or_relaxed_32(uint32_t *word, uint32_t with)
{
    return __atomic_fetch_or(word, with, __ATOMIC_RELAXED);
}
HD_FN uint32_t fetch_and_relaxed_32(uint32_t *word, uint32_t with)
{
    return __atomic_fetch_and(word, with, __ATOMIC_RELAXED);
}

#endif
#endif
