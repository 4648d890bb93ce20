/* dispatch.c: see dispatch.h. */
#include "cluster/route/dispatch.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

_Static_assert(HD_BIN_BITS_MAX <= HD_OWNER_BITS_MAX, "the engines know owners of fewer bins");
_Static_assert(HD_OWNERS_DIRECT *HD_BINS_A_MEMBER <= 1 << HD_OWNER_BITS_FEW,
               "few members have more bins than the engines expect");
_Static_assert(HEDDLE_CLUSTER_MEMBERS_MAX <= HD_OWNERS_MAX, "the engines know fewer owners");

#define OWNERS_AT_ONCE 4096 /* that are copied to the device */

static const hd_owners_ops *ops_of(const hd_dispatch *dispatch)
{
    return dispatch->member->device->engine->owners(dispatch->key_bits);
}

static heddle_status take_numbers(hd_dispatch *dispatch)
{
    const size_t members = dispatch->spread->members;
    dispatch->host_starts = (uint64_t *)hd_allocate_zeroed(3 * members + 1, sizeof(uint64_t));
    if (dispatch->host_starts == NULL)
        return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for the counts of a slice");
    dispatch->send = dispatch->host_starts + members + 1;
    dispatch->receive = dispatch->send + members;
    if (!dispatch->direct) return HEDDLE_OK;
    dispatch->places = (void **)hd_allocate_zeroed(HD_DIRECT_ARRAYS * members, sizeof(void *));
    return dispatch->places != NULL
               ? HEDDLE_OK
               : hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for the places of a slice");
}

/* The owners of all bins, where kernels can read them. */
static heddle_status push_owners(hd_dispatch *dispatch)
{
    heddle_device *device = dispatch->member->device;
    const hd_spread *spread = dispatch->spread;
    const uint32_t bins = hd_spread_bins(spread);
    uint16_t owners[OWNERS_AT_ONCE];
    HD_TRY(hd_buffer_room(&dispatch->owners, device, bins * sizeof *owners));
    for (uint32_t first = 0; first < bins; first += OWNERS_AT_ONCE) {
        const uint32_t count = bins - first < OWNERS_AT_ONCE ? bins - first : OWNERS_AT_ONCE;
        for (uint32_t i = 0; i < count; i++) owners[i] = (uint16_t)spread->owners[first + i];
        HD_TRY(device->engine->copy(device, (uint16_t *)dispatch->owners.memory + first, owners,
                                    count * sizeof *owners, NULL));
        HD_TRY(device->engine->synchronize(device, NULL));
    }
    return HEDDLE_OK;
}

static void make_batch(hd_dispatch *dispatch)
{
    hd_owners *batch = &dispatch->batch;
    batch->mix = dispatch->spread->mix;
    batch->bits = dispatch->spread->bits;
    batch->members = dispatch->spread->members;
    batch->owners = (const uint16_t *)dispatch->owners.memory;
    batch->starts = (uint64_t *)dispatch->starts.memory;
    batch->work = dispatch->work.memory;
}

heddle_status hd_dispatch_begin(hd_dispatch *dispatch, hd_member *member, const hd_spread *spread,
                                uint32_t key_bits, uint32_t value_bits, uint64_t slice, bool direct)
{
    heddle_device *device = member->device;
    memset(dispatch, 0, sizeof *dispatch);
    dispatch->member = member;
    dispatch->spread = spread;
    dispatch->key_bits = key_bits;
    dispatch->value_bits = value_bits;
    dispatch->direct = direct;
    HD_TRY(take_numbers(dispatch));
    HD_TRY(push_owners(dispatch));
    HD_TRY(hd_buffer_room(&dispatch->starts, device,
                          ((uint64_t)spread->members + 1) * sizeof(uint64_t)));
    HD_TRY(hd_buffer_room(&dispatch->work, device,
                          ops_of(dispatch)->work(device, spread->members, slice)));
    if (!direct) HD_TRY(hd_buffer_room(&dispatch->keys, device, slice * key_bits / 8));
    if (!direct && value_bits != 0)
        HD_TRY(hd_buffer_room(&dispatch->values, device, slice * value_bits / 8));
    make_batch(dispatch);
    return HEDDLE_OK;
}

void hd_dispatch_end(hd_dispatch *dispatch)
{
    hd_buffer *const all[] = {&dispatch->owners, &dispatch->starts, &dispatch->work,
                              &dispatch->keys, &dispatch->values};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) hd_buffer_free(all[i]);
    free(dispatch->host_starts);
    free(dispatch->places);
    dispatch->host_starts = NULL;
    dispatch->places = NULL;
}

/* How many rows go to every member. */
static heddle_status count_rows(hd_dispatch *dispatch, const void *keys, uint64_t n)
{
    heddle_device *device = dispatch->member->device;
    const uint32_t members = dispatch->spread->members;
    heddle_status status;
    dispatch->batch.keys = keys;
    dispatch->batch.n = n;
    status = ops_of(dispatch)->plan(device, &dispatch->batch, NULL);
    if (status == HEDDLE_OK)
        status = device->engine->copy(device, dispatch->host_starts, dispatch->batch.starts,
                                      ((uint64_t)members + 1) * sizeof(uint64_t), NULL);
    if (status == HEDDLE_OK) status = device->engine->synchronize(device, NULL);
    for (uint32_t i = 0; i < members; i++)
        dispatch->send[i] = dispatch->host_starts[i + 1] - dispatch->host_starts[i];
    hd_phase(dispatch->member, HEDDLE_PHASE_PARTITION);
    return status;
}

static heddle_status send_rows(hd_dispatch *dispatch, const hd_owners_sent *sent)
{
    heddle_device *device = dispatch->member->device;
    heddle_status status = ops_of(dispatch)->send(device, &dispatch->batch, sent, NULL);
    if (status == HEDDLE_OK) status = device->engine->synchronize(device, NULL);
    hd_phase(dispatch->member, HEDDLE_PHASE_REORGANISE);
    return status;
}

heddle_status hd_dispatch_slice(hd_dispatch *dispatch, const void *keys, const void *values,
                                uint64_t n)
{
    const hd_owners_sent sent = {dispatch->keys.memory,
                                 dispatch->value_bits != 0 ? values : NULL,
                                 dispatch->values.memory,
                                 dispatch->value_bits / 8,
                                 NULL,
                                 NULL};
    HD_TRY(count_rows(dispatch, keys, n));
    return send_rows(dispatch, &sent);
}

heddle_status hd_dispatch_direct(hd_dispatch *dispatch, heddle_status mine, const void *keys,
                                 const void *values, uint64_t n, hd_delivery *delivery)
{
    hd_member *member = dispatch->member;
    hd_exchange *exchange = hd_exchange_of(member);
    const hd_owners_sent sent = {NULL,
                                 dispatch->value_bits != 0 ? values : NULL,
                                 NULL,
                                 dispatch->value_bits / 8,
                                 dispatch->places,
                                 dispatch->places + exchange->members};
    heddle_status status = mine;
    if (status == HEDDLE_OK) status = count_rows(dispatch, keys, n);
    delivery->send = dispatch->send;
    delivery->receive = dispatch->receive;
    delivery->places = dispatch->places;
    status = exchange->ops->offer(exchange, member->number, status, delivery);
    hd_phase(member, HEDDLE_PHASE_EXCHANGE);
    if (status != HEDDLE_OK) return status;
    status = hd_member_agree(member, send_rows(dispatch, &sent));
    hd_phase(member, HEDDLE_PHASE_EXCHANGE);
    return status;
}

heddle_status hd_dispatch_to_all(hd_dispatch *dispatch, const void *keys, uint64_t n)
{
    heddle_device *device = dispatch->member->device;
    const uint64_t bytes = n * dispatch->key_bits / 8;
    heddle_status status = HEDDLE_OK;
    for (uint32_t i = 0; i < dispatch->spread->members; i++) {
        dispatch->send[i] = n;
        if (status == HEDDLE_OK && n != 0)
            status = device->engine->copy(device, (char *)dispatch->keys.memory + i * bytes, keys,
                                          bytes, NULL);
    }
    if (status == HEDDLE_OK) status = device->engine->synchronize(device, NULL);
    hd_phase(dispatch->member, HEDDLE_PHASE_REORGANISE);
    return status;
}

heddle_status hd_dispatch_fetch(hd_dispatch *dispatch, const hd_owners_answers *answers)
{
    heddle_device *device = dispatch->member->device;
    heddle_status status = ops_of(dispatch)->fetch(device, &dispatch->batch, answers, NULL);
    if (status == HEDDLE_OK) status = device->engine->synchronize(device, NULL);
    hd_phase(dispatch->member, HEDDLE_PHASE_REORGANISE);
    return status;
}
