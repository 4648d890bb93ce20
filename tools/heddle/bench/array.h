/* array.h: arrays in device memory: made from a function, and looked at on the host. */
#ifndef BENCH_ARRAY_H
#define BENCH_ARRAY_H

#include "bench/bench.h"
#include "bench/rows.h"

/* Element number `at` of an array. */
typedef uint64_t (*bench_element)(const void *context, uint64_t at);

/* Functions return an exit status, and have said why when it is not TOOL_OK. */

/* n elements of `bits` bits, 8, 32 or 64, not set. The caller frees them with heddle_memory_free. */
int bench_array_take(bench *b, uint32_t bits, uint64_t n, void **array);
/* Writes elements 0 to n - 1. */
int bench_array_fill(bench *b, uint32_t bits, uint64_t n, bench_element element,
                     const void *context, void *array);
/* Both. */
int bench_array_make(bench *b, uint32_t bits, uint64_t n, bench_element element,
                     const void *context, void **array);
/* The keys of rows as such an array; context: bench_rows. */
uint64_t bench_row_key_element(const void *rows, uint64_t row);
/* at itself. */
uint64_t bench_index_element(const void *unused, uint64_t at);

/* The first n elements as the host can read them, to be given back with bench_array_leave. */
int bench_array_view(bench *b, uint32_t bits, uint64_t n, const void *array, const void **view);
void bench_array_leave(bench *b, const void *view);

/* Element i of an array on the host. */
static inline uint64_t bench_at(const void *array, uint32_t bits, uint64_t i)
{
    return bits == 64 ? ((const uint64_t *)array)[i] : ((const uint32_t *)array)[i];
}

#endif
