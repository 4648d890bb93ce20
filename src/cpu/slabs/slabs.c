/*
 * slabs.c: slab hashes on the CPU, for one width of keys and values. Built once for each, by a generated stub that
 * defines HD_KEY_BITS, HD_VALUE_BITS and HD_SYMBOL. Exports HD_SYMBOL alone. The files:
 *
 *     slabs.c       what goes over all lists: compaction (repack.h), all pairs, the check of a table
 *     slab_runs.c   batches of operations (batch.h), compiled apart for every tile
 */
#include <string.h>

#include "cpu/device/engine.h"
#include "cpu/slabs/batch.h"
#include "cpu/slabs/repack.h"
#include "cpu/slabs/slab_runs.h"
#include "engine/registry.h"

/* What was compiled for the device's tile. */
static const hd_slab_runs *runs_of(const heddle_device *device)
{
    return HD_COMPILED_FOR(hd_slab_runs, HD_KEY_BITS, HD_VALUE_BITS,
                           ((const hd_device_cpu *)device)->tile);
}

static heddle_status run_batch(heddle_device *device, const hd_slab_view *view,
                               const hd_slab_batch *batch, void *stream)
{
    (void)stream;
    runs_of(device)->batch(hd_cpu_team(device, batch->n), view, batch);
    return HEDDLE_OK;
}

static heddle_status run_batch_all(heddle_device *device, const hd_slab_view *view,
                                   const hd_slab_batch *batch, void *stream)
{
    (void)stream;
    runs_of(device)->batch_all(hd_cpu_team(device, batch->n), view, batch);
    return HEDDLE_OK;
}

static bool is_crowded(const hd_slab_pool *pool)
{
    const uint32_t step = pool_sample_step(pool);
    uint32_t taken = 0, of = 0;
    for (uint32_t i = 0; i < pool->blocks * HD_SLAB_BLOCK_WORDS; i += step, of++)
        taken += hd_popcount32(pool->taken[i]);
    return pool_is_crowded(taken, of);
}

static heddle_status compact(heddle_device *device, const hd_slab_view *view, hd_slab_words *words,
                             const uint64_t *died, const hd_slab_need *need, void *stream)
{
    const uint64_t n = slab_lists(view), known = *died - words->revived;
    uint64_t dead = 0, given = 0;
    (void)stream;
    if (slab_dead_for(need, words, known) < need->dead &&
        (known < need->dead_crowded || !is_crowded(&view->pool)))
        return HEDDLE_OK;
#pragma omp parallel for schedule(static) reduction(+ : dead, given)                               \
    num_threads(hd_cpu_team(device, n))
    for (uint64_t first = 0; first < n; first += REPACK_LISTS)
        slab_repack_lists(view, first, n - first < REPACK_LISTS ? n : first + REPACK_LISTS,
                          need->long_lists, &dead, &given);
    words->found = known;
    words->cleared = dead;
    words->revived += dead;
    words->given += given;
    words->spent = 0;
    return HEDDLE_OK;
}

static heddle_status collect(heddle_device *device, const hd_slab_view *view, const hd_export *to,
                             void *stream)
{
    (void)stream;
#pragma omp parallel for schedule(static) num_threads(hd_cpu_team(device, to->n))
    for (uint64_t i = 0; i < to->n; i++) {
        hd_key own_keys[HD_SLAB_SLOTS];
        hd_value own_values[HD_SLAB_SLOTS];
        const uint32_t count = slab_pairs(view, to->first + i, own_keys, own_values);
        if (count == 0) continue;
        const uint64_t at = fetch_add_relaxed_64(to->cursor, count);
        memcpy((hd_key *)to->keys + at, own_keys, count * sizeof(hd_key));
        if (to->values != NULL)
            memcpy((hd_value *)to->values + at, own_values, count * sizeof(hd_value));
    }
    return HEDDLE_OK;
}

static heddle_status inspect(heddle_device *device, const hd_slab_view *view, bool unique,
                             uint32_t *seen, hd_slab_census *census, void *stream)
{
    const uint64_t n = slab_lists(view);
    (void)stream;
#pragma omp parallel num_threads(hd_cpu_team(device, n))
    {
        hd_slab_census own;
        memset(&own, 0, sizeof own);
#pragma omp for schedule(static) nowait
        for (uint64_t i = 0; i < n; i++) slab_inspect(view, i, unique, seen, &own);
        for (size_t i = 0; i < sizeof own / sizeof(uint64_t); i++)
            add_relaxed_64((uint64_t *)census + i, ((const uint64_t *)&own)[i]);
    }
    return HEDDLE_OK;
}

static heddle_status take(heddle_device *device, const hd_slab_pool *pool, uint64_t n,
                          uint32_t *addresses, void *stream)
{
    (void)stream;
#pragma omp parallel num_threads(hd_cpu_team(device, n))
    {
        hd_slab_taker taker = taker_start(pool, (uint32_t)omp_get_thread_num());
#pragma omp for schedule(static)
        for (uint64_t i = 0; i < n; i++) addresses[i] = slab_take(pool, &taker);
    }
    return HEDDLE_OK;
}

extern const hd_slab_ops HD_SYMBOL;
const hd_slab_ops HD_SYMBOL = {
    HD_KEY_BITS, HD_VALUE_BITS, HD_SLAB_SLOTS, UINT64_MAX, run_batch, run_batch_all,
    compact,     collect,       inspect,       NULL,       NULL,      take,
};
