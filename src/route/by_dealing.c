/* by_dealing.c: rows laid out by owner in one pass, a CPU's way (hd_deal, model/graph.h); see route.h. */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "route/ways.h"

static const hd_graph_ops *ops_of(const hd_router *router)
{
    return router->device->engine->graph(router->rows.key_bits, router->rows.value_bits);
}

static heddle_status begin(hd_router *router)
{
    heddle_device *device = router->device;
    const uint32_t bins = hd_spread_bins(router->spread);
    router->owners = (uint8_t *)hd_allocate(bins);
    if (router->owners == NULL)
        return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for the owners of bins");
    for (uint32_t bin = 0; bin < bins; bin++)
        router->owners[bin] = (uint8_t)router->spread->owners[bin];
    return hd_buffer_room(&router->work, device,
                          ops_of(router)->deal_work(device, router->rows.slice));
}

static heddle_status deal(hd_router *router)
{
    hd_deal d;
    memset(&d, 0, sizeof d);
    d.mix = router->spread->mix;
    d.bits = router->spread->bits;
    d.members = router->spread->members;
    d.owners = router->owners;
    d.n = router->n;
    d.keys = router->given_keys;
    d.values = router->given_values;
    d.work = router->work.memory;
    d.counts = router->send;
    d.keys_out = router->keys.memory;
    d.values_out = router->values.memory;
    return ops_of(router)->deal(router->device, &d, NULL);
}

/* All has been done. */
static heddle_status lay_out(hd_router *router)
{
    (void)router;
    return HEDDLE_OK;
}

const hd_route_way hd_route_by_dealing = {begin, deal, lay_out};
