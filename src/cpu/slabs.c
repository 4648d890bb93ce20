/*
 * slabs.c: slab hashes on the CPU, for one width of keys and values. Built once for each, by a generated stub that
 * defines HD_KEY_BITS, HD_VALUE_BITS and HD_SYMBOL. Exports HD_SYMBOL alone.
 */
#include <string.h>

#include "cpu/engine_cpu.h"
#include "cpu/slab_batch.h"

static heddle_status run_batch(heddle_device *device, const hd_slab_view *view,
                               const hd_slab_batch *batch, void *stream)
{
    (void)stream;
    slab_batch(hd_cpu_threads(device, batch->n), view, batch);
    return HEDDLE_OK;
}

/* The operation is a constant in each of these calls. */
static heddle_status run_batch_all(heddle_device *device, const hd_slab_view *view,
                                   const hd_slab_batch *batch, void *stream)
{
    const int threads = hd_cpu_threads(device, batch->n);
    (void)stream;
    if (batch->operation == HD_SLAB_COUNT) slab_batch_all(HD_SLAB_COUNT, threads, view, batch);
    else if (batch->operation == HD_SLAB_RETRIEVE)
        slab_batch_all(HD_SLAB_RETRIEVE, threads, view, batch);
    else slab_batch_all(HD_SLAB_ERASE_ALL, threads, view, batch);
    return HEDDLE_OK;
}

static heddle_status compact(heddle_device *device, const hd_slab_view *view, uint64_t first,
                             uint64_t n, uint64_t *sums, void *stream)
{
    uint64_t dead = 0, given = 0;
    (void)stream;
#pragma omp parallel for schedule(static) reduction(+ : dead, given)                               \
    num_threads(hd_cpu_threads(device, n))
    for (uint64_t i = 0; i < n; i++) {
        const hd_slab_compacted done = slab_compact(view, first + i);
        dead += done.dead;
        given += done.given;
    }
    sums[0] += dead;
    sums[1] += given;
    return HEDDLE_OK;
}

static heddle_status collect(heddle_device *device, const hd_slab_view *view, uint64_t first,
                             uint64_t n, void *keys, void *values, uint64_t *cursor, void *stream)
{
    (void)stream;
#pragma omp parallel for schedule(static) num_threads(hd_cpu_threads(device, n))
    for (uint64_t i = 0; i < n; i++)
        slab_collect(view, first + i, (hd_key *)keys, (hd_value *)values, cursor);
    return HEDDLE_OK;
}

static heddle_status inspect(heddle_device *device, const hd_slab_view *view, uint64_t first,
                             uint64_t n, uint32_t *seen, hd_slab_census *census, void *stream)
{
    (void)stream;
#pragma omp parallel num_threads(hd_cpu_threads(device, n))
    {
        hd_slab_census own;
        memset(&own, 0, sizeof own);
#pragma omp for schedule(static) nowait
        for (uint64_t i = 0; i < n; i++) slab_inspect(view, first + i, seen, &own);
        for (size_t i = 0; i < sizeof own / sizeof(uint64_t); i++)
            add_relaxed_64((uint64_t *)census + i, ((const uint64_t *)&own)[i]);
    }
    return HEDDLE_OK;
}

extern const hd_slab_ops HD_SYMBOL;
const hd_slab_ops HD_SYMBOL = {
    HD_KEY_BITS, HD_VALUE_BITS, HD_SLAB_SLOTS, run_batch, run_batch_all, compact, collect, inspect,
};
