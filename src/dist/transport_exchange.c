/*
 * transport_exchange.c: the exchange of members that are processes, over a transport (heddle/group.h). What
 * members agree upon travels with the numbers that they exchange anyway. Memory of a device goes through
 * pinned host memory unless the transport can take it.
 */
#include <stdlib.h>
#include <string.h>

#include "dist/members.h"
#include "engine/error.h"

typedef struct transport_exchange {
    hd_exchange base;
    heddle_transport transport;
    heddle_device *device; /* NULL until it is open */
    bool lost;             /* a member no longer answers */
    bool staged;           /* memory of the device goes through pinned memory */
    bool any_staged;       /* that of some member does */
    uint64_t *words;       /* two to send to every member, and two from every member */
    uint64_t *bytes;       /* that go to every member, and that come */
    struct {
        void *memory; /* pinned */
        uint64_t bytes;
    } outgoing, incoming;
    const hd_delivery *under_way; /* begun and not ended */
    heddle_status copied;         /* what became of its arrays on the way out */
} transport_exchange;

static heddle_status lose(transport_exchange *x)
{
    x->lost = true;
    return hd_fail(HEDDLE_ERROR_PEER,
                   "another process of the group is lost or did not answer in time");
}

/* The reason of this member where it failed itself, else what is known of the other. */
static heddle_status fail_as(const transport_exchange *x, uint32_t member, heddle_status status,
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

static heddle_status agree(transport_exchange *x, heddle_status mine)
{
    uint64_t word;
    if (x->lost || find_failed(&x->transport, mine, &word) != 0) return lose(x);
    return word == 0 ? HEDDLE_OK : fail_as(x, (uint32_t)word, (heddle_status)(word >> 32), mine);
}

static heddle_status transport_reduce(hd_exchange *exchange, uint32_t member, heddle_status mine,
                                      uint64_t *numbers, uint64_t n, uint32_t how)
{
    transport_exchange *x = (transport_exchange *)exchange;
    const heddle_status status = agree(x, mine);
    (void)member;
    if (status != HEDDLE_OK || n == 0) return status;
    if (x->transport.reduce(x->transport.context, numbers, n, how == HD_REDUCE_MAX) != 0)
        return lose(x);
    return HEDDLE_OK;
}

/* ---------------------------------------------------------------------------------- all to all */

/* Tells all how many elements come, and how this member is. */
static heddle_status send_counts(transport_exchange *x, heddle_status mine, hd_delivery *d)
{
    const uint32_t members = x->base.members;
    uint64_t *send = x->words, *receive = x->words + 2 * (uint64_t)members;
    if (x->lost) return lose(x);
    for (uint32_t i = 0; i < members; i++) {
        send[2 * i] = (uint64_t)mine;
        send[2 * i + 1] = mine == HEDDLE_OK ? d->send[i] : 0;
    }
    if (x->transport.all_to_all_words(x->transport.context, send, receive, 2) != 0) return lose(x);
    d->total = 0;
    for (uint32_t i = 0; i < members; i++)
        if (receive[2 * i] != HEDDLE_OK) return fail_as(x, i, (heddle_status)receive[2 * i], mine);
    for (uint32_t i = 0; i < members; i++) d->total += d->receive[i] = receive[2 * i + 1];
    return HEDDLE_OK;
}

static bool apart_always;

void hd_transport_exchange_apart_always(bool always) { apart_always = always; }

/* Whether this member stages, and whether any does: members may be of different kinds. */
static heddle_status learn_staging(transport_exchange *x)
{
    const bool apart = apart_always || !x->device->engine->host_memory;
    uint64_t any;
    x->staged = apart && x->transport.device_memory == 0;
    any = x->staged;
    if (x->transport.reduce(x->transport.context, &any, 1, 1) != 0) return lose(x);
    x->any_staged = any != 0;
    x->base.overlaps = apart && x->transport.all_to_all_begin != NULL;
    return HEDDLE_OK;
}

/* Pinned memory of so many bytes at least. */
static heddle_status pinned_room(transport_exchange *x, void **memory, uint64_t *has,
                                 uint64_t bytes)
{
    const hd_engine *engine = x->device->engine;
    heddle_status status;
    if (*has >= bytes && *memory != NULL) return HEDDLE_OK;
    if (*memory != NULL) engine->free_pinned(x->device, *memory);
    *memory = NULL;
    *has = 0;
    status = engine->allocate_pinned(x->device, bytes + (bytes == 0), memory);
    if (status == HEDDLE_OK) *has = bytes;
    return status;
}

static uint64_t elements_sent(const transport_exchange *x, const hd_delivery *d)
{
    uint64_t sent = 0;
    for (uint32_t i = 0; i < x->base.members; i++) sent += d->send[i];
    return sent;
}

/* Room to stage elements of so many bytes. */
static heddle_status stage_room(transport_exchange *x, const hd_delivery *d, uint32_t width)
{
    heddle_status status;
    if (!x->staged) return HEDDLE_OK;
    status = pinned_room(x, &x->outgoing.memory, &x->outgoing.bytes, elements_sent(x, d) * width);
    return status == HEDDLE_OK
               ? pinned_room(x, &x->incoming.memory, &x->incoming.bytes, d->total * width)
               : status;
}

/* One array after the other is staged. */
static uint32_t widest(const hd_delivery *d)
{
    uint32_t width = 0;
    for (uint32_t a = 0; a < d->arrays; a++) width = d->width[a] > width ? d->width[a] : width;
    return width;
}

/* All of them are. */
static uint32_t widths_before(const hd_delivery *d, uint32_t array)
{
    uint32_t width = 0;
    for (uint32_t a = 0; a < array; a++) width += d->width[a];
    return width;
}

static heddle_status copy_now(transport_exchange *x, void *to, const void *from, uint64_t bytes)
{
    const hd_engine *engine = x->device->engine;
    heddle_status status = HEDDLE_OK;
    if (bytes != 0) status = engine->copy(x->device, to, from, bytes, NULL);
    return status == HEDDLE_OK ? engine->synchronize(x->device, NULL) : status;
}

/* Says how many bytes of an array go to and come from every member. */
static void count_bytes(transport_exchange *x, const hd_delivery *d, uint32_t a)
{
    const uint32_t members = x->base.members;
    for (uint32_t i = 0; i < members; i++) {
        x->bytes[i] = d->send[i] * d->width[a];
        x->bytes[members + i] = d->receive[i] * d->width[a];
    }
}

static heddle_status move_array(transport_exchange *x, const hd_delivery *d, uint32_t a)
{
    const uint64_t sent = elements_sent(x, d) * d->width[a];
    const void *from = d->from[a];
    void *to = d->to[a];
    heddle_status status = HEDDLE_OK;
    count_bytes(x, d, a);
    if (x->staged) {
        status = copy_now(x, x->outgoing.memory, from, sent);
        from = x->outgoing.memory;
        to = x->incoming.memory;
    }
    /* Also after a failure: the others are waiting. It is told when all arrays have been moved. */
    if (x->transport.all_to_all(x->transport.context, from, x->bytes, to,
                                x->bytes + x->base.members) != 0)
        return lose(x);
    if (status == HEDDLE_OK && x->staged)
        status = copy_now(x, d->to[a], to, d->total * d->width[a]);
    return status;
}

/* All know how much comes, and have room for it. */
static heddle_status agree_on_room(transport_exchange *x, heddle_status mine, hd_delivery *d,
                                   bool all_staged)
{
    heddle_status status;
    if (mine == HEDDLE_OK) mine = x->device->engine->synchronize(x->device, NULL);
    status = send_counts(x, mine, d);
    if (status != HEDDLE_OK) return status;
    mine = d->room != NULL ? d->room(d, d->context) : HEDDLE_OK;
    if (mine == HEDDLE_OK)
        mine = stage_room(x, d, all_staged ? widths_before(d, d->arrays) : widest(d));
    return agree(x, mine);
}

static heddle_status transport_all_to_all(hd_exchange *exchange, uint32_t member,
                                          heddle_status mine, hd_delivery *d)
{
    transport_exchange *x = (transport_exchange *)exchange;
    const heddle_status status = agree_on_room(x, mine, d, false);
    (void)member;
    if (status != HEDDLE_OK) return status;
    mine = HEDDLE_OK;
    for (uint32_t a = 0; a < d->arrays; a++) {
        const heddle_status moved = move_array(x, d, a);
        if (moved == HEDDLE_ERROR_PEER) return moved;
        if (mine == HEDDLE_OK) mine = moved;
    }
    /* Copies of staged arrays are all that can fail here for one member alone. */
    return x->any_staged ? agree(x, mine) : HEDDLE_OK;
}

/* ---------------------------------------------------------------------------------- in two halves */

static heddle_status begin_array(transport_exchange *x, const hd_delivery *d, uint32_t a)
{
    const uint64_t sent = elements_sent(x, d);
    const void *from = d->from[a];
    void *to = d->to[a];
    count_bytes(x, d, a);
    if (x->staged) {
        from = (char *)x->outgoing.memory + sent * widths_before(d, a);
        to = (char *)x->incoming.memory + d->total * widths_before(d, a);
        const heddle_status status =
            copy_now(x, (void *)(uintptr_t)from, d->from[a], sent * d->width[a]);
        if (x->copied == HEDDLE_OK)
            x->copied = status; /* told at the end: the others are waiting */
    }
    return x->transport.all_to_all_begin(x->transport.context, from, x->bytes, to,
                                         x->bytes + x->base.members) != 0
               ? lose(x)
               : HEDDLE_OK;
}

static heddle_status transport_begin(hd_exchange *exchange, uint32_t member, heddle_status mine,
                                     hd_delivery *d)
{
    transport_exchange *x = (transport_exchange *)exchange;
    heddle_status status = agree_on_room(x, mine, d, true);
    (void)member;
    x->copied = HEDDLE_OK;
    for (uint32_t a = 0; a < d->arrays && status == HEDDLE_OK; a++) status = begin_array(x, d, a);
    if (status == HEDDLE_OK) x->under_way = d;
    return status;
}

static heddle_status transport_end(hd_exchange *exchange, uint32_t member)
{
    transport_exchange *x = (transport_exchange *)exchange;
    const hd_delivery *d = x->under_way;
    heddle_status mine = x->copied;
    (void)member;
    x->under_way = NULL;
    if (x->lost || x->transport.all_to_all_end(x->transport.context) != 0) return lose(x);
    for (uint32_t a = 0; a < d->arrays && x->staged && mine == HEDDLE_OK; a++)
        mine = copy_now(x, d->to[a], (char *)x->incoming.memory + d->total * widths_before(d, a),
                        d->total * d->width[a]);
    return x->any_staged ? agree(x, mine) : HEDDLE_OK;
}

/* ---------------------------------------------------------------------------------------- life */

static void transport_close(hd_exchange *exchange)
{
    transport_exchange *x = (transport_exchange *)exchange;
    if (x->transport.close != NULL) x->transport.close(x->transport.context);
    if (x->outgoing.memory != NULL) x->device->engine->free_pinned(x->device, x->outgoing.memory);
    if (x->incoming.memory != NULL) x->device->engine->free_pinned(x->device, x->incoming.memory);
    free(x->words);
    free(x->bytes);
    free(x);
}

static const hd_exchange_ops transport_ops = {
    transport_reduce, transport_all_to_all, transport_close, NULL, transport_begin, transport_end};

static transport_exchange *make_exchange(const heddle_transport *transport)
{
    const size_t members = transport->members;
    transport_exchange *x = hd_fault_due() ? NULL : (transport_exchange *)calloc(1, sizeof *x);
    if (x == NULL) return NULL;
    x->transport = *transport;
    x->words = (uint64_t *)calloc(4 * members, sizeof *x->words);
    x->bytes = (uint64_t *)calloc(2 * members, sizeof *x->bytes);
    x->base.ops = &transport_ops;
    x->base.members = transport->members;
    x->base.first = transport->member;
    x->base.local = 1;
    if (x->words != NULL && x->bytes != NULL) return x;
    free(x->words);
    free(x->bytes);
    free(x);
    return NULL;
}

/* Without memory for an exchange: the others, who wait to agree, are told all the same. */
static heddle_status give_up(const heddle_transport *transport)
{
    uint64_t word;
    (void)find_failed(transport, HEDDLE_ERROR_NO_MEMORY, &word);
    if (transport->close != NULL) transport->close(transport->context);
    return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for an exchange");
}

/* Makes the group of this process, which the others may yet do without; *made is NULL when that fails. */
static heddle_status make_group(transport_exchange *x, const char *device,
                                const heddle_group_options *options, heddle_group **made)
{
    heddle_group_options chosen;
    heddle_status status = hd_group_options_read(options, &chosen);
    if (status == HEDDLE_OK && x->base.members > HEDDLE_GROUP_MEMBERS_MAX)
        status = hd_fail(HEDDLE_ERROR_INVALID, "a group has at most %d members",
                         HEDDLE_GROUP_MEMBERS_MAX);
    if (status == HEDDLE_OK) status = heddle_device_open(device, &x->device);
    return status == HEDDLE_OK ? hd_group_make(&x->base, &x->device, &chosen, made) : status;
}

heddle_status heddle_group_open_over(const heddle_transport *transport, const char *device,
                                     const heddle_group_options *options, heddle_group **group)
{
    heddle_group *made = NULL;
    transport_exchange *x;
    heddle_device *opened;
    heddle_status status;
    if (transport == NULL || transport->size != sizeof *transport || group == NULL)
        return hd_fail(
            HEDDLE_ERROR_INVALID,
            "a group of processes needs a transport with its size set (for MPI: MPI_Init comes "
            "first) and a place for the group");
    *group = NULL;
    x = make_exchange(transport);
    if (x == NULL) return give_up(transport);
    status = agree(x, make_group(x, device, options, &made));
    if (status == HEDDLE_OK) status = learn_staging(x);
    if (status == HEDDLE_OK) {
        *group = made;
        return HEDDLE_OK;
    }
    opened = x->device;
    if (made != NULL) {
        heddle_group_close(made); /* and all that is its own */
    } else {
        transport_close(&x->base);
        heddle_device_close(opened);
    }
    return status;
}
