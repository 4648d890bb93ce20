/* router.c: rows laid out by owner: memory, and the choice of the way; see route.h. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/tuning.h"
#include "route/ways.h"

/*
 * The engine's own steps, which keep the order of rows, take a byte or two for each bin's owner. Owners that are given by
 * runs alone, as a shelf's parts are, may be more than that, and a bin of all members has no single one.
 */
static bool sorts(const hd_router *router)
{
    const hd_spread *spread = router->spread;
    if (router->rows.in_order) return false;
    if (hd_tune.route_sorts || spread->owners == NULL || spread->members > HD_OWNERS_MAX)
        return true;
    for (uint32_t bin = 0; bin < hd_spread_bins(spread); bin++)
        if (spread->owners[bin] == HD_OWNER_ALL) return true;
    return false;
}

static heddle_status take_counts(hd_router *router)
{
    const size_t members = router->spread->members, bins = hd_spread_bins(router->spread);
    const size_t starts = (members > bins ? members : bins) + 1;
    router->send = (uint64_t *)hd_allocate_zeroed(2 * members + starts, sizeof(uint64_t));
    if (router->send == NULL)
        return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for the counts of a slice");
    router->receive = router->send + members;
    router->host_starts = router->receive + members;
    if (!router->rows.direct) return HEDDLE_OK;
    router->places = (void **)hd_allocate_zeroed(HD_ROUTE_ARRAYS * members, sizeof(void *));
    return router->places != NULL
               ? HEDDLE_OK
               : hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for the places of a slice");
}

heddle_status hd_router_begin(hd_router *router, heddle_device *device, const hd_spread *spread,
                              const hd_rows *rows)
{
    memset(router, 0, sizeof *router);
    router->device = device;
    router->spread = spread;
    router->rows = *rows;
    router->way = sorts(router) ? &hd_route_by_sorting : &hd_route_by_owners;
    HD_TRY(take_counts(router));
    HD_TRY(router->way->begin(router));
    if (rows->direct) return HEDDLE_OK;
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

heddle_status hd_router_write(hd_router *router)
{
    const hd_owners_sent sent = {
        NULL,           router->rows.value_bits != 0 ? router->given_values : NULL,
        NULL,           router->rows.value_bits / 8,
        router->places, router->places + router->spread->members};
    HD_TRY(hd_route_ops(router)->send(router->device, &router->batch, &sent, NULL));
    return router->device->engine->synchronize(router->device, NULL);
}

heddle_status hd_router_fetch(hd_router *router, const hd_owners_answers *answers)
{
    HD_TRY(hd_route_ops(router)->fetch(router->device, &router->batch, answers, NULL));
    return router->device->engine->synchronize(router->device, NULL);
}

heddle_status hd_router_slice(hd_router *router, const void *keys, const void *values, uint64_t n)
{
    HD_TRY(hd_router_plan(router, keys, values, n));
    return hd_router_lay_out(router);
}

heddle_status hd_router_to_all(hd_router *router, const void *keys, uint64_t n)
{
    heddle_device *device = router->device;
    const uint64_t bytes = n * router->rows.key_bits / 8;
    for (uint32_t i = 0; i < router->spread->members; i++) {
        router->send[i] = n;
        if (n != 0)
            HD_TRY(device->engine->copy(device, (char *)router->keys.memory + i * bytes, keys,
                                        bytes, NULL));
    }
    return device->engine->synchronize(device, NULL);
}

void hd_router_end(hd_router *router)
{
    hd_buffer *const all[] = {&router->keys,  &router->values, &router->starts, &router->work,
                              &router->pairs, &router->spare,  &router->owners, &router->numbers};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) hd_buffer_free(all[i]);
    free(router->send); /* and the other numbers */
    free(router->places);
    router->send = router->receive = router->host_starts = NULL;
    router->places = NULL;
}
