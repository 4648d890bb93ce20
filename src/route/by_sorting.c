/*
 * by_sorting.c: rows laid out by owner by sorting: the engine's partition by regions (model/partition.h), a bin being a
 * region of the shared mix. Bins of one owner are neighbours, so sorted by bins is nearly sorted by owner. See route.h.
 */
#include <string.h>

#include "base/error.h"
#include "route/ways.h"

hd_partition hd_route_job(const hd_spread *spread, const hd_rows *rows, uint64_t n)
{
    hd_partition job;
    memset(&job, 0, sizeof job);
    job.key_bits = rows->key_bits;
    job.value_bits = rows->value_bits;
    job.region_bits = spread->bits;
    job.mix = spread->mix;
    job.n = n;
    return job;
}

/* Whether more bins are sorted by than a pass tells apart: the pairs are elsewhere in between. */
static bool takes_two_passes(const heddle_device *device, uint32_t bits)
{
    return device->engine->partition_part_bits(bits) < bits;
}

static uint64_t starts_bytes(const hd_router *router)
{
    return ((uint64_t)hd_spread_bins(router->spread) + 1) * sizeof(uint64_t);
}

static heddle_status begin(hd_router *router)
{
    heddle_device *device = router->device;
    const hd_rows *rows = &router->rows;
    const hd_partition job = hd_route_job(router->spread, rows, rows->slice);
    const uint64_t pair_bytes = rows->slice * hd_pair_bytes(rows->key_bits, rows->value_bits);
    HD_TRY(hd_buffer_room(&router->pairs, device, pair_bytes));
    if (takes_two_passes(device, job.region_bits))
        HD_TRY(hd_buffer_room(&router->spare, device, pair_bytes));
    HD_TRY(hd_buffer_room(&router->starts, device, starts_bytes(router)));
    return hd_buffer_room(&router->work, device, device->engine->partition_work(device, &job));
}

/* How many rows go where: those of a bin of all members go out as often. */
static uint64_t count_sent(hd_router *router)
{
    const hd_spread *spread = router->spread;
    uint64_t sent = 0;
    memset(router->send, 0, spread->members * sizeof *router->send);
    for (uint32_t i = 0; i < spread->run_count; i++) {
        const hd_bin_run *run = &spread->runs[i];
        const uint64_t rows = router->host_starts[run->end] - router->host_starts[run->first];
        router->send[run->owner] += rows;
        sent += rows;
    }
    return sent;
}

static heddle_status sort(hd_router *router)
{
    heddle_device *device = router->device;
    const hd_rows *rows = &router->rows;
    hd_partition job = hd_route_job(router->spread, rows, router->n);
    job.keys = router->given_keys;
    job.values = rows->numbers ? NULL : router->given_values; /* then the engine numbers them */
    job.pairs = router->pairs.memory;
    job.spare = router->spare.memory;
    job.starts = (uint64_t *)router->starts.memory;
    job.work = router->work.memory;
    HD_TRY(device->engine->partition(device, &job, NULL));
    HD_TRY(
        device->engine->copy(device, router->host_starts, job.starts, starts_bytes(router), NULL));
    HD_TRY(device->engine->synchronize(device, NULL));
    const uint64_t sent = count_sent(router);
    HD_TRY(hd_buffer_room(&router->keys, device, sent * rows->key_bits / 8));
    if (rows->value_bits == 0) return HEDDLE_OK;
    return hd_buffer_room(&router->values, device, sent * rows->value_bits / 8);
}

/* Turns the sorted pairs of some neighbouring bins back into keys and values, from `at` on. */
static heddle_status split_run(hd_router *router, uint64_t begin, uint64_t count, uint64_t at)
{
    const uint32_t kb = router->rows.key_bits, vb = router->rows.value_bits;
    const hd_graph_ops *ops = router->device->engine->graph(kb, vb);
    const char *pairs = (const char *)router->pairs.memory + begin * hd_pair_bytes(kb, vb);
    char *keys = (char *)router->keys.memory, *values = (char *)router->values.memory;
    if (count == 0) return HEDDLE_OK;
    return ops->split(router->device, &router->spread->mix, pairs, count, keys + at * kb / 8,
                      values != NULL ? values + at * vb / 8 : NULL, NULL);
}

/* Runs that follow each other in the sorted pairs go in one piece. */
static heddle_status split(hd_router *router)
{
    const hd_spread *spread = router->spread;
    uint64_t at = 0, begin = 0, end = 0;
    for (uint32_t i = 0; i < spread->run_count; i++) {
        const hd_bin_run *run = &spread->runs[i];
        const uint64_t from = router->host_starts[run->first], to = router->host_starts[run->end];
        if (from != end) {
            HD_TRY(split_run(router, begin, end - begin, at));
            at += end - begin;
            begin = from;
        }
        end = to;
    }
    return split_run(router, begin, end - begin, at);
}

const hd_route_way hd_route_by_sorting = {begin, sort, split};
