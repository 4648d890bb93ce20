/* count.c: rows counted by bin, by the engine or, where there are too many bins for it, by sorting; see route.h. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "route/ways.h"

_Static_assert(HD_BIN_BITS_MAX <= HD_COUNT_BITS_MAX, "the engines count fewer bins");

static bool sorts(const hd_bin_counter *c) { return c->spread->bits > HD_COUNT_BITS_MAX; }

heddle_status hd_bin_counter_begin(hd_bin_counter *c, heddle_device *device,
                                   const hd_spread *spread, uint32_t key_bits, uint64_t slice)
{
    const hd_rows rows = {key_bits, 0, slice, false, false, false};
    const size_t bins = hd_spread_bins(spread);
    memset(c, 0, sizeof *c);
    c->device = device;
    c->spread = spread;
    c->host = (uint64_t *)hd_allocate_zeroed(bins, sizeof *c->host);
    if (c->host == NULL) return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for the counts of bins");
    c->job = hd_route_job(spread, &rows, slice);
    if (sorts(c)) return hd_router_begin(&c->router, device, spread, &rows);
    HD_TRY(hd_buffer_room(&c->counts, device, bins * sizeof *c->host));
    HD_TRY(hd_buffer_room(&c->work, device, device->engine->count_regions_work(device, &c->job)));
    c->job.work = c->work.memory;
    return device->engine->fill(device, c->counts.memory, 0, bins * sizeof *c->host, NULL);
}

/* The bins of a slice are known once it is sorted. */
static heddle_status add_sorted(hd_bin_counter *c, const void *keys, uint64_t n)
{
    HD_TRY(hd_router_plan(&c->router, keys, NULL, n));
    for (uint32_t bin = 0; bin < hd_spread_bins(c->spread); bin++)
        c->host[bin] += c->router.host_starts[bin + 1] - c->router.host_starts[bin];
    return HEDDLE_OK;
}

heddle_status hd_bin_counter_add(hd_bin_counter *c, const void *keys, uint64_t n)
{
    if (sorts(c)) return add_sorted(c, keys, n);
    c->job.keys = keys;
    c->job.n = n;
    return c->device->engine->count_regions(c->device, &c->job, (uint64_t *)c->counts.memory, NULL);
}

heddle_status hd_bin_counter_read(hd_bin_counter *c, uint64_t *counts)
{
    const uint32_t bins = hd_spread_bins(c->spread);
    if (!sorts(c)) {
        HD_TRY(c->device->engine->copy(c->device, c->host, c->counts.memory, bins * sizeof *c->host,
                                       NULL));
        HD_TRY(c->device->engine->synchronize(c->device, NULL));
    }
    for (uint32_t bin = 0; bin < bins; bin++) counts[bin] += c->host[bin];
    return HEDDLE_OK;
}

void hd_bin_counter_end(hd_bin_counter *c)
{
    hd_router_end(&c->router);
    hd_buffer_free(&c->counts);
    hd_buffer_free(&c->work);
    free(c->host);
    c->host = NULL;
}
