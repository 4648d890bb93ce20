/* tile_here.h: whether this machine runs what the program was compiled for, by HD_TILE_*; without one, all do. */
#ifndef HEDDLE_TEST_TILE_HERE_H
#define HEDDLE_TEST_TILE_HERE_H

#include <stdbool.h>

#define TILE_SKIPPED 77 /* what the program gives back to say that it is not */

static inline bool tile_runs_here(void)
{
#if defined(HD_TILE_AVX512)
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("bmi2");
#elif defined(HD_TILE_AVX2)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
#else
    return true;
#endif
}

#endif
