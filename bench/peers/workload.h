// The keys every contestant gets, and the check of every answer.
//
// Keys are a bijective mix of a counter: distinct and pseudo-random without a table of those seen.
// A value is a function of its key and never all ones, so that an answer can be checked from the
// query alone and all ones can mean "nothing was written here".
#pragma once

#include "memory.h"

#include <cstdint>
#include <utility>

inline uint32_t mix(uint32_t x) // bijective; constants by Chris Wellons' hash prospector
{
    x ^= x >> 16;
    x *= 0x21f0aaadu;
    x ^= x >> 15;
    x *= 0xd35a2d97u;
    return x ^ (x >> 15);
}

inline uint64_t mix(uint64_t x) // bijective; the finaliser of splitmix64
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

template <class K> K value_of(K key)
{
    return (key * K(0x2c1b3c6d) ^ (key >> 7)) & (K(-1) >> 1);
}
template <class K> constexpr K nothing = K(-1);

template <class K> struct Workload {
    uint64_t n;
    int threads;
    HugeArray<K> keys, values; // what is built
    HugeArray<K> queries;      // the same keys in another order
    HugeArray<K> absent;       // n keys that are not among them
    HugeArray<K> answers;      // where finds write
    K reserved; // in neither: for tables that need a key of their own to mark empty slots

    Workload(uint64_t count, int thread_count)
        : n(count), threads(thread_count), keys(n, threads), values(n, threads),
          queries(n, threads), absent(n, threads), answers(n, threads), reserved(mix(K(2 * n)))
    {
#pragma omp parallel for num_threads(threads) schedule(static)
        for (uint64_t i = 0; i < n; i++) {
            keys[i] = queries[i] = mix(K(i));
            values[i] = value_of(keys[i]);
            absent[i] = mix(K(n + i));
        }
        for (uint64_t i = n - 1; i > 0; i--) { // Fisher and Yates
            uint64_t random = mix(uint64_t(i) ^ 0x5eed000000000000u);
            std::swap(queries[i], queries[uint64_t((unsigned __int128)random * (i + 1) >> 64)]);
        }
    }

    void wipe_answers() const
    {
#pragma omp parallel for num_threads(threads) schedule(static)
        for (uint64_t i = 0; i < n; i++)
            answers[i] = nothing<K>;
    }
    // Every query answered with its own value?
    bool all_found() const
    {
        uint64_t wrong = 0;
#pragma omp parallel for num_threads(threads) schedule(static) reduction(+ : wrong)
        for (uint64_t i = 0; i < n; i++)
            wrong += answers[i] != value_of(queries[i]);
        return wrong == 0;
    }
    // No answer written?
    bool all_missed() const
    {
        uint64_t wrong = 0;
#pragma omp parallel for num_threads(threads) schedule(static) reduction(+ : wrong)
        for (uint64_t i = 0; i < n; i++)
            wrong += answers[i] != nothing<K>;
        return wrong == 0;
    }
};
