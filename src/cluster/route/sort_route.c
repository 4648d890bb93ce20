/* sort_route.c: see sort_route.h. */
#include "cluster/route/sort_route.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/tuning.h"

_Static_assert(HD_BIN_BITS_MAX <= HD_COUNT_BITS_MAX, "the engines count fewer bins");

static hd_partition make_job(const hd_spread *spread, uint32_t key_bits, uint32_t value_bits,
                             uint64_t n)
{
    hd_partition job;
    memset(&job, 0, sizeof job);
    job.key_bits = key_bits;
    job.value_bits = value_bits;
    job.region_bits = spread->bits;
    job.mix = spread->mix;
    job.n = n;
    return job;
}

static heddle_status take_numbers(hd_route *route)
{
    const size_t bins = hd_spread_bins(route->spread), members = route->spread->members;
    route->host_starts = (uint64_t *)hd_allocate_zeroed(bins + 1 + 2 * members, sizeof(uint64_t));
    if (route->host_starts == NULL)
        return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for the bins of a slice");
    route->send = route->host_starts + bins + 1;
    route->receive = route->send + members;
    return HEDDLE_OK;
}

/* Whether keys can be dealt out. */
static bool can_deal(const hd_route *route)
{
    const hd_engine *engine = route->member->device->engine;
    const hd_spread *spread = route->spread;
    if (hd_tune.route_sorts || engine->graph(route->key_bits, route->value_bits)->deal == NULL)
        return false;
    if (spread->members > HD_DEAL_MEMBERS_MAX) return false;
    if (spread->owners == NULL)
        return false; /* runs alone, as a shelf's places are (shelf/sorting.c) */
    for (uint32_t bin = 0; bin < hd_spread_bins(spread); bin++)
        if (spread->owners[bin] == HD_OWNER_ALL) return false;
    return true;
}

static heddle_status take_deal(hd_route *route)
{
    heddle_device *device = route->member->device;
    const uint32_t bins = hd_spread_bins(route->spread);
    route->owners = (uint8_t *)hd_allocate(bins);
    if (route->owners == NULL)
        return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for the owners of bins");
    for (uint32_t bin = 0; bin < bins; bin++)
        route->owners[bin] = (uint8_t)route->spread->owners[bin];
    return hd_buffer_room(
        &route->work, device,
        device->engine->graph(route->key_bits, route->value_bits)->deal_work(device, route->slice));
}

/* Whether more bins are sorted by than a pass tells apart: the pairs are elsewhere in between. */
static bool takes_two_passes(const heddle_device *device, uint32_t bits)
{
    return device->engine->partition_part_bits(bits) < bits;
}

static heddle_status take_sort(hd_route *route)
{
    heddle_device *device = route->member->device;
    const hd_partition job =
        make_job(route->spread, route->key_bits, route->value_bits, route->slice);
    const uint64_t pair_bytes = route->slice * hd_pair_bytes(route->key_bits, route->value_bits);
    HD_TRY(hd_buffer_room(&route->pairs, device, pair_bytes));
    if (takes_two_passes(device, job.region_bits))
        HD_TRY(hd_buffer_room(&route->spare, device, pair_bytes));
    HD_TRY(hd_buffer_room(&route->starts, device,
                          ((uint64_t)hd_spread_bins(route->spread) + 1) * sizeof(uint64_t)));
    return hd_buffer_room(&route->work, device, device->engine->partition_work(device, &job));
}

heddle_status hd_route_begin(hd_route *route, hd_member *member, const hd_spread *spread,
                             uint32_t key_bits, uint32_t value_bits, uint64_t slice)
{
    heddle_device *device = member->device;
    memset(route, 0, sizeof *route);
    route->member = member;
    route->spread = spread;
    route->key_bits = key_bits;
    route->value_bits = value_bits;
    route->slice = slice;
    HD_TRY(take_numbers(route));
    HD_TRY(can_deal(route) ? take_deal(route) : take_sort(route));
    HD_TRY(hd_buffer_room(&route->keys, device, slice * key_bits / 8));
    if (value_bits != 0) HD_TRY(hd_buffer_room(&route->values, device, slice * value_bits / 8));
    return HEDDLE_OK;
}

void hd_route_end(hd_route *route)
{
    hd_buffer *const all[] = {&route->pairs, &route->spare, &route->starts,
                              &route->work,  &route->keys,  &route->values};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) hd_buffer_free(all[i]);
    free(route->host_starts);
    free(route->owners);
    route->host_starts = NULL;
    route->owners = NULL;
}

static heddle_status deal(hd_route *route, const void *keys, const void *values, uint64_t n)
{
    heddle_device *device = route->member->device;
    const hd_graph_ops *ops = device->engine->graph(route->key_bits, route->value_bits);
    hd_deal d;
    memset(&d, 0, sizeof d);
    d.mix = route->spread->mix;
    d.bits = route->spread->bits;
    d.members = route->spread->members;
    d.owners = route->owners;
    d.n = n;
    d.keys = keys;
    d.values = values;
    d.work = route->work.memory;
    d.counts = route->send;
    d.keys_out = route->keys.memory;
    d.values_out = route->values.memory;
    const heddle_status status = ops->deal(device, &d, NULL);
    hd_phase(route->member, HEDDLE_PHASE_PARTITION);
    return status;
}

static heddle_status sort_by_bin(hd_route *route, const void *keys, const void *values, uint64_t n)
{
    heddle_device *device = route->member->device;
    hd_partition job = make_job(route->spread, route->key_bits, route->value_bits, n);
    heddle_status status;
    job.keys = keys;
    job.values = values;
    job.pairs = route->pairs.memory;
    job.spare = route->spare.memory;
    job.starts = (uint64_t *)route->starts.memory;
    job.work = route->work.memory;
    status = device->engine->partition(device, &job, NULL);
    if (status == HEDDLE_OK)
        status = device->engine->copy(
            device, route->host_starts, job.starts,
            ((uint64_t)hd_spread_bins(route->spread) + 1) * sizeof(uint64_t), NULL);
    if (status == HEDDLE_OK) status = device->engine->synchronize(device, NULL);
    hd_phase(route->member, HEDDLE_PHASE_PARTITION);
    return status;
}

/* Turns the sorted pairs of some neighbouring bins back into keys and values, from `at` on. */
static heddle_status split_run(hd_route *route, uint64_t begin, uint64_t count, uint64_t at)
{
    heddle_device *device = route->member->device;
    const hd_graph_ops *ops = device->engine->graph(route->key_bits, route->value_bits);
    char *values = (char *)route->values.memory;
    if (count == 0) return HEDDLE_OK;
    return ops->split(device, &route->spread->mix,
                      (const char *)route->pairs.memory +
                          begin * hd_pair_bytes(route->key_bits, route->value_bits),
                      count, (char *)route->keys.memory + at * route->key_bits / 8,
                      values != NULL ? values + at * route->value_bits / 8 : NULL, NULL);
}

/* Counts what goes where, and makes room: bins of all members go out as often. */
static heddle_status count_sent(hd_route *route)
{
    const hd_spread *spread = route->spread;
    heddle_device *device = route->member->device;
    uint64_t sent = 0;
    memset(route->send, 0, spread->members * sizeof *route->send);
    for (uint32_t i = 0; i < spread->run_count; i++) {
        const hd_bin_run *run = &spread->runs[i];
        const uint64_t rows = route->host_starts[run->end] - route->host_starts[run->first];
        route->send[run->owner] += rows;
        sent += rows;
    }
    HD_TRY(hd_buffer_room(&route->keys, device, sent * route->key_bits / 8));
    if (route->value_bits != 0)
        HD_TRY(hd_buffer_room(&route->values, device, sent * route->value_bits / 8));
    return HEDDLE_OK;
}

/* Runs that follow each other in the sorted pairs go in one piece. */
static heddle_status lay_out(hd_route *route)
{
    const hd_spread *spread = route->spread;
    heddle_status status = count_sent(route);
    uint64_t at = 0, begin = 0, end = 0;
    for (uint32_t i = 0; i < spread->run_count && status == HEDDLE_OK; i++) {
        const hd_bin_run *run = &spread->runs[i];
        const uint64_t from = route->host_starts[run->first], to = route->host_starts[run->end];
        if (from != end) {
            status = split_run(route, begin, end - begin, at);
            at += end - begin;
            begin = from;
        }
        end = to;
    }
    return status == HEDDLE_OK ? split_run(route, begin, end - begin, at) : status;
}

heddle_status hd_route_slice(hd_route *route, const void *keys, const void *values, uint64_t n)
{
    heddle_device *device = route->member->device;
    heddle_status status = HEDDLE_OK;
    if (route->owners != NULL) {
        status = deal(route, keys, values, n);
    } else {
        status = sort_by_bin(route, keys, values, n);
        if (status == HEDDLE_OK) status = lay_out(route);
    }
    if (status == HEDDLE_OK) status = device->engine->synchronize(device, NULL);
    hd_phase(route->member, HEDDLE_PHASE_REORGANISE);
    return status;
}

/* ----------------------------------------------------------------------------------- counting */

typedef struct counting {
    hd_member *member;
    hd_partition job;
    hd_buffer counts, work, staged;
} counting;

static heddle_status take_counters(counting *c, uint64_t bytes)
{
    heddle_device *device = c->member->device;
    heddle_status status = hd_buffer_room(&c->counts, device, bytes);
    if (status == HEDDLE_OK)
        status =
            hd_buffer_room(&c->work, device, device->engine->count_regions_work(device, &c->job));
    if (status == HEDDLE_OK)
        status = device->engine->fill(device, c->counts.memory, 0, bytes, NULL);
    c->job.work = c->work.memory;
    return status;
}

static heddle_status count_slices(counting *c, const char *keys, uint64_t n, uint64_t slice)
{
    heddle_device *device = c->member->device;
    const uint32_t width = c->job.key_bits / 8;
    heddle_status status = HEDDLE_OK;
    for (uint64_t first = 0; first < n && status == HEDDLE_OK; first += slice) {
        hd_window window;
        c->job.n = n - first < slice ? n - first : slice;
        status = hd_window_open(c->member, keys + first * width, c->job.n * width, true, &c->staged,
                                &window);
        c->job.keys = window.memory;
        if (status == HEDDLE_OK)
            status =
                device->engine->count_regions(device, &c->job, (uint64_t *)c->counts.memory, NULL);
    }
    return status;
}

/* Brings what was counted to the host and adds it. */
static heddle_status read_counts(counting *c, uint32_t bins, uint64_t *counts)
{
    heddle_device *device = c->member->device;
    uint64_t *counted = (uint64_t *)hd_allocate(bins * sizeof *counted);
    heddle_status status;
    if (counted == NULL) return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for the counts of bins");
    status = device->engine->copy(device, counted, c->counts.memory, bins * sizeof *counted, NULL);
    if (status == HEDDLE_OK) status = device->engine->synchronize(device, NULL);
    for (uint32_t i = 0; i < bins && status == HEDDLE_OK; i++) counts[i] += counted[i];
    free(counted);
    return status;
}

heddle_status hd_route_count(hd_member *member, const hd_spread *spread, uint32_t key_bits,
                             const void *keys, uint64_t n, uint64_t *counts)
{
    const uint64_t slice = hd_member_slice(member, true);
    const uint32_t bins = hd_spread_bins(spread);
    counting c;
    heddle_status status;
    memset(&c, 0, sizeof c);
    c.member = member;
    c.job = make_job(spread, key_bits, 0, n);
    status = take_counters(&c, bins * sizeof *counts);
    if (status == HEDDLE_OK) status = count_slices(&c, (const char *)keys, n, slice);
    if (status == HEDDLE_OK) status = read_counts(&c, bins, counts);
    hd_buffer_free(&c.counts);
    hd_buffer_free(&c.work);
    hd_buffer_free(&c.staged);
    hd_phase(member, HEDDLE_PHASE_PARTITION);
    return status;
}
