/* array.c: see array.h. On a CPU the host looks at the device's memory itself. */
#include "bench/array.h"

#include <stdlib.h>

#include "tool.h"

int bench_array_take(bench *b, uint32_t bits, uint64_t n, void **array)
{
    return tool_try(heddle_memory_allocate(b->device, n * bits / 8, array),
                    "allocating the arrays");
}

static void make_chunk(uint32_t bits, uint64_t first, uint64_t count, bench_element element,
                       const void *context, void *chunk)
{
#pragma omp parallel for schedule(static)
    for (uint64_t i = 0; i < count; i++) {
        if (bits == 64) ((uint64_t *)chunk)[i] = element(context, first + i);
        else if (bits == 8) ((uint8_t *)chunk)[i] = (uint8_t)element(context, first + i);
        else ((uint32_t *)chunk)[i] = (uint32_t)element(context, first + i);
    }
}

int bench_array_fill(bench *b, uint32_t bits, uint64_t n, bench_element element,
                     const void *context, void *array)
{
    void *chunk = malloc(BENCH_CHUNK * bits / 8);
    heddle_status status = HEDDLE_OK;
    if (chunk == NULL) {
        tool_say("no host memory for a chunk of an array");
        return TOOL_FAILED;
    }
    for (uint64_t first = 0; first < n && status == HEDDLE_OK; first += BENCH_CHUNK) {
        const uint64_t count = n - first < BENCH_CHUNK ? n - first : BENCH_CHUNK;
        make_chunk(bits, first, count, element, context, chunk);
        status = heddle_memory_copy(b->device, (uint8_t *)array + first * bits / 8, chunk,
                                    count * bits / 8, NULL);
    }
    free(chunk);
    return tool_try(status, "copying arrays to the device");
}

int bench_array_make(bench *b, uint32_t bits, uint64_t n, bench_element element,
                     const void *context, void **array)
{
    const int status = bench_array_take(b, bits, n, array);
    return status == TOOL_OK ? bench_array_fill(b, bits, n, element, context, *array) : status;
}

uint64_t bench_row_key_element(const void *rows, uint64_t row)
{
    return bench_row_key((const bench_rows *)rows, row);
}

uint64_t bench_index_element(const void *unused, uint64_t at)
{
    (void)unused;
    return at;
}

int bench_array_view(bench *b, uint32_t bits, uint64_t n, const void *array, const void **view)
{
    const uint64_t bytes = n * bits / 8;
    int status = tool_try(heddle_device_synchronize(b->device, NULL), "waiting for the device");
    *view = NULL;
    if (status != TOOL_OK) return status;
    if (b->device->engine->host_memory) {
        *view = array;
        return TOOL_OK;
    }
    void *copy = malloc(bytes + 1);
    if (copy == NULL) {
        tool_say("no host memory to look at %llu answers", (unsigned long long)n);
        return TOOL_FAILED;
    }
    status = tool_try(heddle_memory_copy(b->device, copy, array, bytes, NULL),
                      "copying answers from the device");
    if (status == TOOL_OK)
        status = tool_try(heddle_device_synchronize(b->device, NULL), "waiting for the device");
    *view = copy;
    return status;
}

void bench_array_leave(bench *b, const void *view)
{
    if (!b->device->engine->host_memory) free((void *)(uintptr_t)view);
}
