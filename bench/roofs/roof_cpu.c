/*
 * roof_cpu.c: random reads, random compare-and-swaps and a streaming copy at the memory's own pace.
 *
 * The random accesses are shaped like a batch of a table: the keys are read in order from an array,
 * one multiplication turns a key into a place, and every thread keeps FLIGHT prefetches under way.
 * A table that asks for one bucket a key and does no work on it would run at this rate. The memory
 * lies on huge pages and is touched before the clock starts: first touches are slower than any
 * table.
 */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE
#endif
#include "roofs/roof.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/error.h"
#include "cpu/device/engine.h"

#define FLIGHT 32
#define LINE 64
#define HUGE_PAGE ((uint64_t)1 << 21)

/* Memory that starts at a huge page inside a larger mapping. */
typedef struct pages {
    void *mapping;
    uint64_t mapped;
    uint8_t *memory;
} pages;

typedef struct roof {
    uint32_t threads;
    uint32_t lines;  /* cache lines of one access */
    uint64_t stride; /* bytes between two places; at least the width */
    uint64_t places; /* at most 2^32, so that a hashed 32-bit key reaches them all */
    uint64_t accesses;
    uint64_t bytes;
    const uint32_t *keys; /* accesses + FLIGHT of them */
    uint8_t *memory;
    uint8_t *target; /* of the copy */
    uint64_t pass;
} roof;

typedef void (*roof_pass)(const roof *r);

/* Sums end here, so that no read can be left out. */
static uint64_t sink;

static uint64_t slice_begin(uint64_t total, uint64_t thread, uint64_t threads)
{
    return total / threads * thread + total % threads * thread / threads;
}

static void touch(uint8_t *memory, uint64_t bytes, uint32_t threads)
{
#pragma omp parallel num_threads((int)threads)
    {
        const uint64_t of = (uint64_t)omp_get_num_threads(), me = (uint64_t)omp_get_thread_num();
        const uint64_t from = slice_begin(bytes, me, of), to = slice_begin(bytes, me + 1, of);
        memset(memory + from, 0, to - from);
    }
}

static heddle_status pages_take(uint64_t bytes, uint32_t threads, pages *taken)
{
    taken->mapping = NULL;
    if (bytes > UINT64_MAX / 4)
        return hd_fail(HEDDLE_ERROR_INVALID, "a roof over %llu bytes is too large",
                       (unsigned long long)bytes);
    taken->mapped = bytes + HUGE_PAGE;
    void *mapping = hd_fault_due() ? MAP_FAILED
                                   : mmap(NULL, taken->mapped, PROT_READ | PROT_WRITE,
                                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping == MAP_FAILED)
        return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for a roof over %llu bytes",
                       (unsigned long long)bytes);
    taken->mapping = mapping;
    taken->memory = (uint8_t *)(((uintptr_t)mapping + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1));
#ifdef MADV_HUGEPAGE
    (void)madvise(taken->memory, bytes, MADV_HUGEPAGE); /* a wish: without it the roof is lower */
#endif
    touch(taken->memory, bytes, threads);
    return HEDDLE_OK;
}

static void pages_give(pages *taken)
{
    if (taken->mapping != NULL) munmap(taken->mapping, taken->mapped);
}

/* Random keys by position (the finaliser of SplitMix64). */
static void make_keys(uint32_t *keys, uint64_t n, uint32_t threads)
{
#pragma omp parallel for num_threads((int)threads) schedule(static)
    for (uint64_t i = 0; i < n; i++) {
        uint64_t x = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
        x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
        keys[i] = (uint32_t)(x >> 32);
    }
}

static inline uint8_t *place(const roof *r, uint32_t key)
{
    return r->memory + ((uint64_t)(key * UINT32_C(0x9e3779b1)) * r->places >> 32) * r->stride;
}

/* `lines` is a constant at every call, so that the loops over the lines of an access unroll. */
static inline __attribute__((always_inline)) void gather_lines(const roof *r, uint32_t lines)
{
    uint64_t all = 0;
#pragma omp parallel num_threads((int)r->threads) reduction(+ : all)
    {
        const uint64_t of = (uint64_t)omp_get_num_threads(), me = (uint64_t)omp_get_thread_num();
        const uint64_t from = slice_begin(r->accesses, me, of),
                       to = slice_begin(r->accesses, me + 1, of);
        for (uint64_t i = from; i < to + FLIGHT; i++) {
            const uint8_t *ahead = place(r, r->keys[i]);
            for (uint32_t l = 0; l < lines; l++) __builtin_prefetch(ahead + l * LINE, 0, 3);
            if (i < from + FLIGHT) continue;
            const uint8_t *here = place(r, r->keys[i - FLIGHT]);
            for (uint32_t l = 0; l < lines; l++)
                all += *(const uint32_t *)(const void *)(here + l * LINE);
        }
    }
    __atomic_store_n(&sink, all, __ATOMIC_RELAXED);
}

static void gather_pass(const roof *r)
{
    switch (r->lines) {
    case 1: gather_lines(r, 1); break;
    case 2: gather_lines(r, 2); break;
    case 4: gather_lines(r, 4); break;
    default: gather_lines(r, 8); break;
    }
}

/*
 * The keys are the same in every pass, so a word that pass p swaps holds p until then: the first
 * swap of every word succeeds and its line is really written.
 */
static void cas_pass(const roof *r)
{
#pragma omp parallel num_threads((int)r->threads)
    {
        const uint64_t of = (uint64_t)omp_get_num_threads(), me = (uint64_t)omp_get_thread_num();
        const uint64_t from = slice_begin(r->accesses, me, of),
                       to = slice_begin(r->accesses, me + 1, of);
        for (uint64_t i = from; i < to + FLIGHT; i++) {
            __builtin_prefetch(place(r, r->keys[i]), 1, 3);
            if (i < from + FLIGHT) continue;
            uint64_t *word = (uint64_t *)(void *)place(r, r->keys[i - FLIGHT]);
            uint64_t expected = r->pass;
            (void)__atomic_compare_exchange_n(word, &expected, r->pass + 1, false, __ATOMIC_ACQ_REL,
                                              __ATOMIC_RELAXED);
        }
    }
}

static void copy_pass(const roof *r)
{
#pragma omp parallel num_threads((int)r->threads)
    {
        const uint64_t of = (uint64_t)omp_get_num_threads(), me = (uint64_t)omp_get_thread_num();
        const uint64_t from = slice_begin(r->bytes, me, of), to = slice_begin(r->bytes, me + 1, of);
        memcpy(r->target + from, r->memory + from, to - from);
    }
}

static int compare_seconds(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median of `repeat` passes after one that does not count. */
static heddle_status time_passes(roof *r, roof_pass pass, uint32_t repeat, double work,
                                 double *rate)
{
    double *seconds = (double *)hd_allocate(repeat * sizeof *seconds);
    if (seconds == NULL) return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for %u timings", repeat);
    pass(r);
    for (uint32_t i = 0; i < repeat; i++) {
        r->pass++;
        const double begin = omp_get_wtime();
        pass(r);
        seconds[i] = omp_get_wtime() - begin;
    }
    qsort(seconds, repeat, sizeof *seconds, compare_seconds);
    const double median = (seconds[(repeat - 1) / 2] + seconds[repeat / 2]) / 2;
    *rate = median > 0 ? work / median : 0;
    free(seconds);
    return HEDDLE_OK;
}

static heddle_status measure_random(roof *r, const hd_roof_request *request, double *rate)
{
    pages keys = {NULL, 0, NULL}, memory = {NULL, 0, NULL};
    const uint64_t key_bytes = (request->accesses + FLIGHT) * sizeof(uint32_t);
    r->lines = request->width > LINE ? request->width / LINE : 1;
    r->stride = request->width;
    while (request->bytes / r->stride > (UINT64_C(1) << 32)) r->stride *= 2;
    r->places = request->bytes < r->stride ? 1 : request->bytes / r->stride;
    r->accesses = request->accesses;
    heddle_status status = pages_take(key_bytes, r->threads, &keys);
    if (status == HEDDLE_OK) status = pages_take(r->places * r->stride, r->threads, &memory);
    if (status == HEDDLE_OK) {
        make_keys((uint32_t *)(void *)keys.memory, request->accesses + FLIGHT, r->threads);
        r->keys = (const uint32_t *)(const void *)keys.memory;
        r->memory = memory.memory;
        status = time_passes(r, request->kind == HD_ROOF_GATHER ? gather_pass : cas_pass,
                             request->repeat, (double)request->accesses, rate);
    }
    pages_give(&memory);
    pages_give(&keys);
    return status;
}

static heddle_status measure_copy(roof *r, const hd_roof_request *request, double *rate)
{
    pages from = {NULL, 0, NULL}, to = {NULL, 0, NULL};
    heddle_status status = pages_take(request->bytes, r->threads, &from);
    if (status == HEDDLE_OK) status = pages_take(request->bytes, r->threads, &to);
    if (status == HEDDLE_OK) {
        r->bytes = request->bytes;
        r->memory = from.memory;
        r->target = to.memory;
        status = time_passes(r, copy_pass, request->repeat, 2.0 * (double)request->bytes, rate);
    }
    pages_give(&to);
    pages_give(&from);
    return status;
}

static heddle_status measure_partition(roof *r, const hd_roof_request *request, double *rate)
{
    hd_roof_request copy = *request;
    copy.bytes = request->accesses * request->width;
    if (copy.bytes == 0)
        return hd_fail(HEDDLE_ERROR_INVALID, "a partition's roof needs pairs and their width");
    const heddle_status status = measure_copy(r, &copy, rate);
    *rate /= 2.0 * request->width;
    return status;
}

heddle_status hd_roof_cpu(heddle_device *device, const hd_roof_request *request, double *rate)
{
    const uint32_t threads = (uint32_t)((const hd_device_cpu *)device)->threads;
    const uint32_t width = request->width;
    const uint32_t least = request->kind == HD_ROOF_CAS ? 8 : 4;
    roof r = {threads, 1, 0, 0, 0, 0, NULL, NULL, NULL, 0};
    if (request->bytes == 0 || request->repeat == 0)
        return hd_fail(HEDDLE_ERROR_INVALID, "a roof needs bytes and passes");
    if (request->kind == HD_ROOF_COPY) return measure_copy(&r, request, rate);
    if (request->kind == HD_ROOF_PARTITION) return measure_partition(&r, request, rate);
    if (request->kind != HD_ROOF_GATHER && request->kind != HD_ROOF_CAS)
        return hd_fail(HEDDLE_ERROR_INVALID, "there is no roof of kind %u", request->kind);
    if (width < least || width > 512 || (width & (width - 1)) != 0)
        return hd_fail(HEDDLE_ERROR_INVALID,
                       "a roof's width is a power of two from %u to 512, not %u", least, width);
    if (request->accesses == 0 || request->accesses > UINT64_MAX / 8 - FLIGHT)
        return hd_fail(HEDDLE_ERROR_INVALID, "a roof needs a sensible number of accesses");
    return measure_random(&r, request, rate);
}
