/*
 * by_owners.c: rows laid out by owner by the engine's own steps (engine/owners.h): nothing is sorted, and the rows of a
 * member keep their order, so that answers find back. Up to HD_OWNERS_MAX members, each bin with one owner. See route.h.
 */
#include "base/error.h"
#include "route/ways.h"

_Static_assert(HD_BIN_BITS_MAX <= HD_OWNER_BITS_MAX, "the engines know owners of fewer bins");
_Static_assert(HD_OWNERS_DIRECT *HD_BINS_A_MEMBER <= 1 << HD_OWNER_BITS_FEW,
               "few members have more bins than the engines expect");

#define OWNERS_AT_ONCE 4096 /* that are copied to the device */

const hd_owners_ops *hd_route_ops(const hd_router *router)
{
    return router->device->engine->owners(router->rows.key_bits);
}

/* The owners of all bins, where kernels can read them. */
static heddle_status push_owners(hd_router *router)
{
    heddle_device *device = router->device;
    const hd_spread *spread = router->spread;
    const uint32_t bins = hd_spread_bins(spread);
    uint16_t owners[OWNERS_AT_ONCE];
    HD_TRY(hd_buffer_room(&router->owners, device, bins * sizeof *owners));
    for (uint32_t first = 0; first < bins; first += OWNERS_AT_ONCE) {
        const uint32_t count = bins - first < OWNERS_AT_ONCE ? bins - first : OWNERS_AT_ONCE;
        for (uint32_t i = 0; i < count; i++) owners[i] = (uint16_t)spread->owners[first + i];
        HD_TRY(device->engine->copy(device, (uint16_t *)router->owners.memory + first, owners,
                                    count * sizeof *owners, NULL));
        HD_TRY(device->engine->synchronize(device, NULL));
    }
    return HEDDLE_OK;
}

/* What take_numbers works with. */
typedef struct numbering {
    hd_buffer flags, count, work;
} numbering;

/* 0, 1, ...: the rows whose flag is set, when all are. */
static heddle_status number_rows(hd_router *router, numbering *s)
{
    heddle_device *device = router->device;
    const hd_column_ops *columns = device->engine->columns;
    const uint64_t n = router->rows.slice;
    HD_TRY(hd_buffer_room(&router->numbers, device, n * sizeof(uint32_t)));
    HD_TRY(hd_buffer_room(&s->flags, device, n));
    HD_TRY(hd_buffer_room(&s->count, device, sizeof(uint64_t)));
    HD_TRY(hd_buffer_room(&s->work, device, columns->work(device, n)));
    HD_TRY(device->engine->fill(device, s->flags.memory, 1, n, NULL));
    return columns->select(hd_on(device, s->work.memory, NULL),
                           hd_flags_of((const uint8_t *)s->flags.memory, n, true),
                           router->numbers.memory, 32, (uint64_t *)s->count.memory);
}

/* The numbers of the rows of a slice, which go with the keys as values do. */
static heddle_status take_numbers(hd_router *router)
{
    numbering s = {{NULL, NULL, 0}, {NULL, NULL, 0}, {NULL, NULL, 0}};
    const heddle_status status = number_rows(router, &s);
    hd_buffer_free(&s.flags);
    hd_buffer_free(&s.count);
    hd_buffer_free(&s.work);
    return status;
}

static uint64_t starts_bytes(const hd_router *router)
{
    return ((uint64_t)router->spread->members + 1) * sizeof(uint64_t);
}

static heddle_status begin(hd_router *router)
{
    heddle_device *device = router->device;
    const hd_spread *spread = router->spread;
    hd_owners *batch = &router->batch;
    HD_TRY(push_owners(router));
    if (router->rows.numbers) HD_TRY(take_numbers(router));
    HD_TRY(hd_buffer_room(&router->starts, device, starts_bytes(router)));
    HD_TRY(hd_buffer_room(&router->work, device,
                          hd_route_ops(router)->work(device, spread->members, router->rows.slice)));
    batch->mix = spread->mix;
    batch->bits = spread->bits;
    batch->members = spread->members;
    batch->owners = (const uint16_t *)router->owners.memory;
    batch->starts = (uint64_t *)router->starts.memory;
    batch->work = router->work.memory;
    return HEDDLE_OK;
}

static heddle_status plan(hd_router *router)
{
    heddle_device *device = router->device;
    router->batch.keys = router->given_keys;
    router->batch.n = router->n;
    if (router->rows.numbers) router->given_values = router->numbers.memory;
    HD_TRY(hd_route_ops(router)->plan(device, &router->batch, NULL));
    HD_TRY(device->engine->copy(device, router->host_starts, router->batch.starts,
                                starts_bytes(router), NULL));
    HD_TRY(device->engine->synchronize(device, NULL));
    for (uint32_t i = 0; i < router->spread->members; i++)
        router->send[i] = router->host_starts[i + 1] - router->host_starts[i];
    return HEDDLE_OK;
}

static heddle_status lay_out(hd_router *router)
{
    const hd_owners_sent sent = {router->keys.memory,
                                 router->rows.value_bits != 0 ? router->given_values : NULL,
                                 router->values.memory,
                                 router->rows.value_bits / 8,
                                 NULL,
                                 NULL};
    return hd_route_ops(router)->send(router->device, &router->batch, &sent, NULL);
}

const hd_route_way hd_route_by_owners = {begin, plan, lay_out};
