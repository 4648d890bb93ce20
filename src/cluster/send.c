/* send.c: see send.h. */
#include "cluster/send.h"

#include <string.h>

#include "base/error.h"

_Static_assert(HEDDLE_CLUSTER_MEMBERS_MAX <= HD_OWNERS_MAX, "the engines know fewer owners");

static heddle_status plan(hd_member *member, hd_router *router, const hd_slice *slice)
{
    HD_TRY(hd_router_plan(router, slice->keys, slice->values, slice->n));
    hd_phase(member, HEDDLE_PHASE_PARTITION);
    return HEDDLE_OK;
}

heddle_status hd_lay_out(hd_member *member, hd_router *router, const hd_slice *slice)
{
    HD_TRY(plan(member, router, slice));
    HD_TRY(hd_router_lay_out(router));
    hd_phase(member, HEDDLE_PHASE_REORGANISE);
    return HEDDLE_OK;
}

hd_delivery hd_delivery_of(const hd_router *router)
{
    hd_delivery d;
    memset(&d, 0, sizeof d);
    d.arrays = router->rows.value_bits != 0 ? 2 : 1;
    d.width[0] = router->rows.key_bits / 8;
    d.width[1] = router->rows.value_bits / 8;
    d.from[0] = router->keys.memory;
    d.from[1] = router->values.memory;
    d.send = router->send;
    d.receive = router->receive;
    d.places = router->places;
    return d;
}

static heddle_status move(hd_member *member, heddle_status mine, hd_delivery *d)
{
    hd_exchange *exchange = hd_exchange_of(member);
    const heddle_status status = exchange->ops->all_to_all(exchange, member->number, mine, d);
    hd_phase(member, HEDDLE_PHASE_EXCHANGE);
    return status;
}

heddle_status hd_send(hd_member *member, heddle_status mine, hd_router *router,
                      const hd_slice *slice, hd_delivery *d)
{
    hd_exchange *exchange = hd_exchange_of(member);
    heddle_status status = mine;
    if (!router->rows.direct)
        return move(member, mine == HEDDLE_OK ? hd_lay_out(member, router, slice) : mine, d);
    /* Everybody learns what comes, makes room and says where; then everybody writes there. */
    if (status == HEDDLE_OK) status = plan(member, router, slice);
    status = exchange->ops->offer(exchange, member->number, status, d);
    hd_phase(member, HEDDLE_PHASE_EXCHANGE);
    if (status != HEDDLE_OK) return status;
    status = hd_router_write(router);
    hd_phase(member, HEDDLE_PHASE_REORGANISE);
    status = hd_member_agree(member, status);
    hd_phase(member, HEDDLE_PHASE_EXCHANGE);
    return status;
}

static heddle_status copy_for_all(hd_member *member, hd_router *router, const hd_slice *slice)
{
    HD_TRY(hd_router_to_all(router, slice->keys, slice->n));
    hd_phase(member, HEDDLE_PHASE_REORGANISE);
    return HEDDLE_OK;
}

heddle_status hd_send_to_all(hd_member *member, heddle_status mine, hd_router *router,
                             const hd_slice *slice, hd_delivery *d)
{
    return move(member, mine == HEDDLE_OK ? copy_for_all(member, router, slice) : mine, d);
}

heddle_status hd_send_back(hd_member *member, heddle_status mine, hd_router *router, hd_delivery *d)
{
    d->send = router->receive;
    d->receive = router->send;
    return move(member, mine, d);
}

heddle_status hd_fetch(hd_member *member, hd_router *router, const hd_owners_answers *answers)
{
    HD_TRY(hd_router_fetch(router, answers));
    hd_phase(member, HEDDLE_PHASE_REORGANISE);
    return HEDDLE_OK;
}

/* ------------------------------------------------------------------------------------ counting */

static heddle_status count_slices(hd_member *member, hd_bin_counter *counter, hd_buffer *staged,
                                  const char *keys, uint64_t n)
{
    const uint64_t slice = hd_member_slice(member, true);
    const uint32_t width = counter->job.key_bits / 8;
    for (uint64_t first = 0; first < n; first += slice) {
        const uint64_t length = n - first < slice ? n - first : slice;
        hd_lent lent;
        HD_TRY(hd_member_lend(member, keys + first * width, length * width, true, staged, &lent));
        HD_TRY(hd_bin_counter_add(counter, lent.memory, length));
    }
    return HEDDLE_OK;
}

heddle_status hd_member_count(hd_member *member, const hd_spread *spread, uint32_t key_bits,
                              const void *keys, uint64_t n, uint64_t *counts)
{
    const uint64_t slice = hd_member_slice(member, true);
    hd_buffer staged = {NULL, NULL, 0};
    hd_bin_counter counter;
    heddle_status status =
        hd_bin_counter_begin(&counter, member->device, spread, key_bits, n < slice ? n : slice);
    if (status == HEDDLE_OK)
        status = count_slices(member, &counter, &staged, (const char *)keys, n);
    if (status == HEDDLE_OK) status = hd_bin_counter_read(&counter, counts);
    hd_bin_counter_end(&counter);
    hd_buffer_free(&staged);
    hd_phase(member, HEDDLE_PHASE_PARTITION);
    return status;
}
