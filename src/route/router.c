/* router.c: rows laid out by owner: memory, and the choice of the way; see route.h. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/tuning.h"
#include "route/ways.h"

/* Whether keys can be dealt out. */
static bool can_deal(const hd_router *router)
{
    const hd_spread *spread = router->spread;
    const hd_graph_ops *ops =
        router->device->engine->graph(router->rows.key_bits, router->rows.value_bits);
    if (hd_tune.route_sorts || ops->deal == NULL) return false;
    if (spread->members > HD_DEAL_MEMBERS_MAX) return false;
    if (spread->owners == NULL) return false; /* runs alone, as a shelf's parts are */
    for (uint32_t bin = 0; bin < hd_spread_bins(spread); bin++)
        if (spread->owners[bin] == HD_OWNER_ALL) return false;
    return true;
}

static heddle_status take_numbers(hd_router *router)
{
    const size_t members = router->spread->members;
    router->send = (uint64_t *)hd_allocate_zeroed(2 * members, sizeof(uint64_t));
    if (router->send == NULL)
        return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for the counts of a slice");
    router->receive = router->send + members;
    return HEDDLE_OK;
}

heddle_status hd_router_begin(hd_router *router, heddle_device *device, const hd_spread *spread,
                              const hd_rows *rows)
{
    memset(router, 0, sizeof *router);
    router->device = device;
    router->spread = spread;
    router->rows = *rows;
    router->way = can_deal(router) ? &hd_route_by_dealing : &hd_route_by_sorting;
    HD_TRY(take_numbers(router));
    HD_TRY(router->way->begin(router));
    HD_TRY(hd_buffer_room(&router->keys, device, rows->slice * rows->key_bits / 8));
    if (rows->value_bits != 0)
        HD_TRY(hd_buffer_room(&router->values, device, rows->slice * rows->value_bits / 8));
    return HEDDLE_OK;
}

heddle_status hd_router_plan(hd_router *router, const void *keys, const void *values, uint64_t n)
{
    router->given_keys = keys;
    router->given_values = values;
    router->n = n;
    return router->way->plan(router);
}

heddle_status hd_router_lay_out(hd_router *router)
{
    HD_TRY(router->way->lay_out(router));
    return router->device->engine->synchronize(router->device, NULL);
}

heddle_status hd_router_slice(hd_router *router, const void *keys, const void *values, uint64_t n)
{
    HD_TRY(hd_router_plan(router, keys, values, n));
    return hd_router_lay_out(router);
}

void hd_router_end(hd_router *router)
{
    hd_buffer *const all[] = {&router->pairs, &router->spare, &router->starts,
                              &router->work,  &router->keys,  &router->values};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) hd_buffer_free(all[i]);
    free(router->host_starts);
    free(router->owners);
    free(router->send);
    router->host_starts = router->send = router->receive = NULL;
    router->owners = NULL;
}
