/*
 * transport.c: the exchange of members that are processes, over a transport (heddle/cluster.h). What
 * members agree upon travels with the numbers that they exchange anyway. How arrays go is said in transport.h.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/tuning.h"
#include "base/while_waiting.h"
#include "cluster/exchange/transport.h"
#include "cluster/members.h"

static heddle_status lose(hd_transport_exchange *x)
{
    x->lost = true;
    return hd_fail(HEDDLE_ERROR_PEER,
                   "another process of the cluster is lost or did not answer in time");
}

/* The reason of this member where it failed itself, else what is known of the other. */
static heddle_status fail_as(const hd_transport_exchange *x, uint32_t member, heddle_status status,
                             heddle_status mine)
{
    if (mine != HEDDLE_OK && member == x->transport.member) return mine;
    return hd_fail(status, "member %u: %s", member, heddle_status_string(status));
}

/* -------------------------------------------------------------------------------------- reduce */

/* One of those that failed, the same for all: a status and a member in one number. 0: none has. */
static int find_failed(const heddle_transport *transport, heddle_status mine, uint64_t *word)
{
    *word = mine != HEDDLE_OK ? (uint64_t)mine << 32 | transport->member : 0;
    return transport->reduce(transport->context, word, 1, 1);
}

static heddle_status agree(hd_transport_exchange *x, heddle_status mine)
{
    uint64_t word;
    if (x->lost || find_failed(&x->transport, mine, &word) != 0) return lose(x);
    return word == 0 ? HEDDLE_OK : fail_as(x, (uint32_t)word, (heddle_status)(word >> 32), mine);
}

static heddle_status transport_reduce(hd_exchange *exchange, uint32_t member, heddle_status mine,
                                      uint64_t *numbers, uint64_t n, uint32_t how)
{
    hd_transport_exchange *x = (hd_transport_exchange *)exchange;
    const heddle_status status = agree(x, mine);
    (void)member;
    if (status != HEDDLE_OK || n == 0) return status;
    if (x->transport.reduce(x->transport.context, numbers, n, how == HD_REDUCE_MAX) != 0)
        return lose(x);
    return HEDDLE_OK;
}

/* ---------------------------------------------------------------------------------- all to all */

/* Tells all how many elements come, and how this member is. */
static heddle_status send_counts(hd_transport_exchange *x, heddle_status mine, hd_delivery *d)
{
    const uint32_t members = x->base.members,
                   words = x->shared.any ? HD_WORDS_SHARED : HD_WORDS_PLAIN;
    uint64_t *send = x->words, *receive = x->words + (uint64_t)members * words;
    if (x->lost) return lose(x);
    memset(send, 0, (uint64_t)members * words * sizeof *send);
    if (mine == HEDDLE_OK) hd_ways_tell(x, d, send, words);
    for (uint32_t i = 0; i < members; i++) send[i * words + HD_WORD_STATUS] = (uint64_t)mine;
    if (x->transport.all_to_all_words(x->transport.context, send, receive, words) != 0)
        return lose(x);
    d->total = 0;
    for (uint32_t i = 0; i < members; i++) {
        const heddle_status status = (heddle_status)receive[i * words + HD_WORD_STATUS];
        if (status != HEDDLE_OK) return fail_as(x, i, status, mine);
    }
    for (uint32_t i = 0; i < members; i++)
        d->total += d->receive[i] = receive[i * words + HD_WORD_COUNT];
    if (x->shared.any &&
        hd_shared_follow(&x->shared, receive + HD_WORD_GENERATION, words) != HEDDLE_OK)
        return lose(x);
    return HEDDLE_OK;
}

/* Whether this member stages, whether any does, and who are shared: members may be of different kinds. */
static heddle_status learn_ways(hd_transport_exchange *x)
{
    const bool apart = hd_tune.transport_apart || !x->device->engine->host_memory;
    uint64_t any;
    x->staged = apart && x->transport.device_memory == 0;
    any = x->staged;
    if (x->transport.reduce(x->transport.context, &any, 1, 1) != 0) return lose(x);
    x->any_staged = any != 0;
    x->base.overlaps = apart && x->transport.all_to_all_begin != NULL;
    if (x->any_staged && hd_shared_learn(&x->shared, x->device, x->staged) != HEDDLE_OK)
        return lose(x);
    x->base.links = hd_ways_links(x);
    return HEDDLE_OK;
}

/* Also after a failure: others will use the memories again that earlier copies read. */
static heddle_status wait_for_copies(hd_transport_exchange *x, heddle_status mine)
{
    const heddle_status waited = x->device->engine->synchronize(x->device, NULL);
    return mine == HEDDLE_OK ? waited : mine;
}

/* Pinned memory for one array after the other, so that nothing can be missing when they are moved. */
static heddle_status room_for_widest(hd_transport_exchange *x, const hd_delivery *d)
{
    hd_delivery widest = *d;
    widest.arrays = 1;
    for (uint32_t a = 0; a < d->arrays; a++)
        if (d->width[a] > widest.width[0]) widest.width[0] = d->width[a];
    HD_TRY(hd_ways_stage_room(x, &widest));
    return hd_ways_room(x, &widest);
}

/* All know how much comes, and have room for it; what was packed for them is there. */
static heddle_status agree_on_room(hd_transport_exchange *x, heddle_status mine, hd_delivery *d,
                                   bool all_staged)
{
    x->turn = x->packed;
    HD_TRY(send_counts(x, wait_for_copies(x, mine), d));
    mine = d->room != NULL ? d->room(d, d->context) : HEDDLE_OK;
    if (mine == HEDDLE_OK) mine = all_staged ? hd_ways_room(x, d) : room_for_widest(x, d);
    if (mine == HEDDLE_OK && x->shared.any) mine = hd_shared_open(&x->shared);
    return agree(x, mine);
}

/* One array through the transport, staged on both sides where this member stages. */
static heddle_status move_array(hd_transport_exchange *x, const hd_delivery *d, uint32_t a,
                                heddle_status mine)
{
    hd_delivery one = *d;
    const void *from;
    void *to;
    one.arrays = 1;
    one.width[0] = d->width[a];
    one.from[0] = d->from[a];
    one.to[0] = d->to[a];
    if (mine == HEDDLE_OK) mine = wait_for_copies(x, hd_ways_stage(x, &one));
    hd_ways_transport(x, &one, 0, &from, &to);
    /* Also after a failure: the others are waiting. It is received when all arrays have been moved. */
    if (x->transport.all_to_all(x->transport.context, from, x->bytes, to,
                                x->bytes + x->base.members) != 0)
        return lose(x);
    return mine == HEDDLE_OK ? wait_for_copies(x, hd_ways_unpack(x, &one)) : mine;
}

static heddle_status transport_all_to_all(hd_exchange *exchange, uint32_t member,
                                          heddle_status mine, hd_delivery *d)
{
    hd_transport_exchange *x = (hd_transport_exchange *)exchange;
    (void)member;
    if (mine == HEDDLE_OK) mine = hd_ways_pack(x, d);
    HD_TRY(agree_on_room(x, mine, d, false));
    mine = hd_ways_fetch(x, d);
    for (uint32_t a = 0; a < d->arrays; a++) {
        mine = move_array(x, d, a, mine);
        if (mine == HEDDLE_ERROR_PEER) return mine;
    }
    /* Copies are all that can fail here for one member alone. */
    return x->any_staged ? agree(x, wait_for_copies(x, mine)) : HEDDLE_OK;
}

/* ---------------------------------------------------------------------------------- in two halves */

static heddle_status transport_ready(hd_exchange *exchange, const hd_delivery *d)
{
    hd_transport_exchange *x = (hd_transport_exchange *)exchange;
    HD_TRY(hd_ways_pack(x, d));
    return hd_ways_stage(x, d);
}

static heddle_status begin_array(hd_transport_exchange *x, const hd_delivery *d, uint32_t a)
{
    const void *from;
    void *to;
    hd_ways_transport(x, d, a, &from, &to);
    return x->transport.all_to_all_begin(x->transport.context, from, x->bytes, to,
                                         x->bytes + x->base.members) != 0
               ? lose(x)
               : HEDDLE_OK;
}

/* Of hd_while_waiting_set. Failures are found at the end. */
static void move_on(void *context)
{
    const hd_transport_exchange *x = (const hd_transport_exchange *)context;
    x->transport.all_to_all_progress(x->transport.context);
}

static heddle_status transport_begin(hd_exchange *exchange, uint32_t member, heddle_status mine,
                                     hd_delivery *d)
{
    hd_transport_exchange *x = (hd_transport_exchange *)exchange;
    heddle_status status = agree_on_room(x, mine, d, true);
    (void)member;
    if (status != HEDDLE_OK) return status;
    for (uint32_t a = 0; a < d->arrays && status == HEDDLE_OK; a++) status = begin_array(x, d, a);
    x->fetched = hd_ways_fetch(x, d); /* received at the end: the others are waiting */
    if (status != HEDDLE_OK) return status;
    x->under_way = d;
    if (x->transport.all_to_all_progress != NULL) hd_while_waiting_set(move_on, x);
    return HEDDLE_OK;
}

static heddle_status transport_end(hd_exchange *exchange, uint32_t member)
{
    hd_transport_exchange *x = (hd_transport_exchange *)exchange;
    const hd_delivery *d = x->under_way;
    heddle_status mine;
    (void)member;
    x->under_way = NULL;
    hd_while_waiting_set(NULL, NULL);
    if (x->lost || x->transport.all_to_all_end(x->transport.context) != 0) return lose(x);
    mine = wait_for_copies(x, x->fetched); /* others will use their memories again */
    if (mine == HEDDLE_OK) mine = hd_ways_unpack(x, d);
    return x->any_staged ? agree(x, mine) : HEDDLE_OK;
}

/* ---------------------------------------------------------------------------------------- life */

static void transport_close(hd_exchange *exchange)
{
    hd_transport_exchange *x = (hd_transport_exchange *)exchange;
    hd_shared_free(&x->shared, x->lost);
    if (x->transport.close != NULL) x->transport.close(x->transport.context);
    hd_ways_free(x);
    free(x->words);
    free(x->bytes);
    free(x);
}

static const hd_exchange_ops transport_ops = {
    transport_reduce, transport_all_to_all, transport_close, NULL,
    transport_ready,  transport_begin,      transport_end};

static hd_transport_exchange *make_exchange(const heddle_transport *transport)
{
    const size_t members = transport->members;
    hd_transport_exchange *x = (hd_transport_exchange *)hd_allocate_zeroed(1, sizeof *x);
    if (x == NULL) return NULL;
    x->transport = *transport;
    x->words = (uint64_t *)hd_allocate_zeroed(2 * HD_WORDS_SHARED * members, sizeof *x->words);
    x->bytes = (uint64_t *)hd_allocate_zeroed(2 * members, sizeof *x->bytes);
    x->base.ops = &transport_ops;
    x->base.members = transport->members;
    x->base.first = transport->member;
    x->base.local = 1;
    if (x->words != NULL && x->bytes != NULL &&
        hd_shared_make(&x->shared, &x->transport) == HEDDLE_OK)
        return x;
    free(x->words);
    free(x->bytes);
    free(x);
    return NULL;
}

/* Without memory for an exchange: the others, who wait to agree, are received all the same. */
static heddle_status give_up(const heddle_transport *transport)
{
    uint64_t word;
    (void)find_failed(transport, HEDDLE_ERROR_NO_MEMORY, &word);
    if (transport->close != NULL) transport->close(transport->context);
    return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for an exchange");
}

/* Makes the cluster of this process, which the others may yet do without; *made is NULL when that fails. */
static heddle_status make_cluster(hd_transport_exchange *x, const char *device,
                                  const heddle_cluster_options *options, heddle_cluster **made)
{
    heddle_cluster_options chosen;
    HD_TRY(hd_cluster_options_read(options, &chosen));
    if (x->base.members > HEDDLE_CLUSTER_MEMBERS_MAX)
        return hd_fail(HEDDLE_ERROR_INVALID, "a cluster has at most %d members",
                       HEDDLE_CLUSTER_MEMBERS_MAX);
    HD_TRY(heddle_device_open(device, &x->device));
    return hd_cluster_make(&x->base, &x->device, &chosen, made);
}

uint32_t heddle_transport_timeout(const heddle_cluster_options *options)
{
    heddle_cluster_options chosen;
    return hd_cluster_options_read(options, &chosen) == HEDDLE_OK ? chosen.timeout_ms : 0;
}

heddle_status heddle_cluster_open_over(const heddle_transport *transport, const char *device,
                                       const heddle_cluster_options *options,
                                       heddle_cluster **cluster)
{
    heddle_cluster *made = NULL;
    hd_transport_exchange *x;
    heddle_device *opened;
    heddle_status status;
    if (transport == NULL || transport->size != sizeof *transport || cluster == NULL)
        return hd_fail(
            HEDDLE_ERROR_INVALID,
            "a cluster of processes needs a transport with its size set (for MPI: MPI_Init comes "
            "first) and a place for the cluster");
    *cluster = NULL;
    x = make_exchange(transport);
    if (x == NULL) return give_up(transport);
    status = agree(x, make_cluster(x, device, options, &made));
    if (status == HEDDLE_OK) status = learn_ways(x);
    if (status == HEDDLE_OK) {
        *cluster = made;
        return HEDDLE_OK;
    }
    opened = x->device;
    if (made != NULL) {
        heddle_cluster_close(made); /* and all that is its own */
    } else {
        transport_close(&x->base);
        heddle_device_close(opened);
    }
    return status;
}
