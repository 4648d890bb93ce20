/* transport_ways.c: see transport.h. */
#include "base/error.h"
#include "cluster/exchange/transport.h"

#define ALIGNMENT UINT64_C(256)

static uint64_t aligned(uint64_t bytes) { return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

static uint32_t way_to(const hd_transport_exchange *x, uint32_t member)
{
    if (!x->staged) return HD_WAY_TRANSPORT;
    if (member == x->transport.member) return HD_WAY_OWN;
    return x->shared.peers[member].reads ? HD_WAY_SHARED : HD_WAY_TRANSPORT;
}

static uint32_t way_from(const hd_transport_exchange *x, uint32_t member)
{
    if (!x->staged) return HD_WAY_TRANSPORT;
    if (member == x->transport.member) return HD_WAY_OWN;
    return x->shared.peers[member].readable ? HD_WAY_SHARED : HD_WAY_TRANSPORT;
}

bool hd_ways_links(const hd_transport_exchange *x)
{
    for (uint32_t i = 0; i < x->base.members; i++)
        if (i != x->transport.member &&
            (way_to(x, i) == HD_WAY_TRANSPORT || way_from(x, i) == HD_WAY_TRANSPORT))
            return true;
    return false;
}

/* Elements that go one way, or come by one. */
static uint64_t sent_by(const hd_transport_exchange *x, const hd_delivery *d, uint32_t way)
{
    uint64_t sent = 0;
    for (uint32_t i = 0; i < x->base.members; i++) sent += way_to(x, i) == way ? d->send[i] : 0;
    return sent;
}
static uint64_t come_by(const hd_transport_exchange *x, const hd_delivery *d, uint32_t way)
{
    uint64_t come = 0;
    for (uint32_t i = 0; i < x->base.members; i++)
        come += way_from(x, i) == way ? d->receive[i] : 0;
    return come;
}

static uint64_t sum(const uint64_t *counts, uint32_t members)
{
    uint64_t all = 0;
    for (uint32_t i = 0; i < members; i++) all += counts[i];
    return all;
}

/* Where an array begins behind the ones before it, of `elements` each. */
static uint64_t place_of(const hd_delivery *d, uint32_t array, uint64_t elements)
{
    uint64_t place = 0;
    for (uint32_t a = 0; a < array; a++) place += aligned(elements * d->width[a]);
    return place;
}

static heddle_status copy(hd_transport_exchange *x, void *to, const void *from, uint64_t bytes)
{
    return bytes != 0 ? x->device->engine->copy(x->device, to, from, bytes, NULL) : HEDDLE_OK;
}

/* ------------------------------------------------------------------------------------------- out */

/*
 * Copies the elements of an array that go one way to `to`: without gaps, or, in shared memory, each to where it is in the
 * array. Those of neighbouring members go in one piece.
 */
static heddle_status copy_out(hd_transport_exchange *x, const hd_delivery *d, uint32_t a,
                              uint32_t way, char *to)
{
    const uint64_t width = d->width[a];
    const char *from = (const char *)d->from[a];
    const bool gaps = way == HD_WAY_SHARED;
    uint64_t first = 0, end = 0, packed = 0;
    heddle_status status = HEDDLE_OK;
    for (uint32_t i = 0; i <= x->base.members && status == HEDDLE_OK; i++) {
        if (i < x->base.members && way_to(x, i) == way) {
            end += d->send[i];
            continue;
        }
        status = copy(x, to + (gaps ? first : packed) * width, from + first * width,
                      (end - first) * width);
        packed += end - first;
        end = first = end + (i < x->base.members ? d->send[i] : 0);
    }
    return status;
}

/* Where the part of the shared memory for a turn begins: both have as much room. */
static uint64_t memory_place(const hd_transport_exchange *x, uint32_t turn)
{
    return turn != 0 ? x->shared.bytes / 2 / ALIGNMENT * ALIGNMENT : 0;
}

heddle_status hd_ways_pack(hd_transport_exchange *x, const hd_delivery *d)
{
    const uint64_t all = sum(d->send, x->base.members);
    x->packed ^= 1;
    if (!x->staged || sent_by(x, d, HD_WAY_SHARED) == 0) return HEDDLE_OK;
    HD_TRY(hd_shared_room(&x->shared, 2 * (place_of(d, d->arrays, all) + ALIGNMENT)));
    for (uint32_t a = 0; a < d->arrays; a++)
        HD_TRY(
            copy_out(x, d, a, HD_WAY_SHARED,
                     (char *)x->shared.memory + memory_place(x, x->packed) + place_of(d, a, all)));
    return HEDDLE_OK;
}

/* Pinned memory of so many bytes at least. */
static heddle_status pinned_room(hd_transport_exchange *x, hd_pinned *pinned, uint64_t bytes)
{
    const hd_engine *engine = x->device->engine;
    if (pinned->memory != NULL && pinned->bytes >= bytes) return HEDDLE_OK;
    if (pinned->memory != NULL) {
        engine->free_pinned(x->device, pinned->memory);
        bytes += bytes / 8;
    }
    pinned->memory = NULL;
    pinned->bytes = 0;
    HD_TRY(engine->allocate_pinned(x->device, bytes + (bytes == 0), &pinned->memory));
    pinned->bytes = bytes;
    return HEDDLE_OK;
}

heddle_status hd_ways_stage_room(hd_transport_exchange *x, const hd_delivery *d)
{
    const uint64_t all = x->staged ? sent_by(x, d, HD_WAY_TRANSPORT) : 0;
    return all != 0 ? pinned_room(x, &x->outgoing[x->packed], place_of(d, d->arrays, all))
                    : HEDDLE_OK;
}

heddle_status hd_ways_stage(hd_transport_exchange *x, const hd_delivery *d)
{
    const uint64_t all = x->staged ? sent_by(x, d, HD_WAY_TRANSPORT) : 0;
    HD_TRY(hd_ways_stage_room(x, d));
    for (uint32_t a = 0; a < d->arrays && all != 0; a++)
        HD_TRY(copy_out(x, d, a, HD_WAY_TRANSPORT,
                        (char *)x->outgoing[x->packed].memory + place_of(d, a, all)));
    return HEDDLE_OK;
}

void hd_ways_tell(const hd_transport_exchange *x, const hd_delivery *d, uint64_t *send,
                  uint32_t words)
{
    const uint64_t all = sum(d->send, x->base.members);
    uint64_t before = 0;
    for (uint32_t i = 0; i < x->base.members; i++, send += words) {
        send[HD_WORD_COUNT] = d->send[i];
        if (words != HD_WORDS_SHARED) continue;
        send[HD_WORD_BEFORE] = before;
        send[HD_WORD_ALL] = all;
        send[HD_WORD_PLACE] = memory_place(x, x->turn);
        send[HD_WORD_GENERATION] = x->shared.generation;
        before += d->send[i];
    }
}

/* -------------------------------------------------------------------------------------------- in */

heddle_status hd_ways_room(hd_transport_exchange *x, const hd_delivery *d)
{
    const uint64_t come = come_by(x, d, HD_WAY_TRANSPORT);
    return x->staged && come != 0
               ? pinned_room(x, &x->incoming[x->turn], place_of(d, d->arrays, come))
               : HEDDLE_OK;
}

/* What one member has for this one, `at` being how many elements those before it have. */
static heddle_status fetch_from(hd_transport_exchange *x, const hd_delivery *d, uint32_t member,
                                uint64_t at)
{
    const uint64_t *received =
        x->words + ((uint64_t)x->base.members + member) * HD_WORDS_SHARED; /* received ones */
    const uint64_t own_before = sum(d->send, x->transport.member);
    const bool own = way_from(x, member) == HD_WAY_OWN;
    for (uint32_t a = 0; a < d->arrays; a++) {
        const uint64_t width = d->width[a];
        const char *from =
            own ? (const char *)d->from[a] + own_before * width
                : (const char *)x->shared.peers[member].memory + received[HD_WORD_PLACE] +
                      place_of(d, a, received[HD_WORD_ALL]) + received[HD_WORD_BEFORE] * width;
        HD_TRY(copy(x, (char *)d->to[a] + at * width, from, d->receive[member] * width));
    }
    return HEDDLE_OK;
}

heddle_status hd_ways_fetch(hd_transport_exchange *x, const hd_delivery *d)
{
    heddle_status status = HEDDLE_OK;
    uint64_t at = 0;
    for (uint32_t i = 0; i < x->base.members && status == HEDDLE_OK; i++) {
        if (way_from(x, i) != HD_WAY_TRANSPORT && d->receive[i] != 0)
            status = fetch_from(x, d, i, at);
        at += d->receive[i];
    }
    return status;
}

void hd_ways_transport(hd_transport_exchange *x, const hd_delivery *d, uint32_t array,
                       const void **from, void **to)
{
    const uint32_t members = x->base.members;
    for (uint32_t i = 0; i < members; i++) {
        x->bytes[i] = way_to(x, i) == HD_WAY_TRANSPORT ? d->send[i] * d->width[array] : 0;
        x->bytes[members + i] =
            way_from(x, i) == HD_WAY_TRANSPORT ? d->receive[i] * d->width[array] : 0;
    }
    *from = d->from[array];
    *to = d->to[array];
    if (!x->staged) return;
    *from =
        (char *)x->outgoing[x->turn].memory + place_of(d, array, sent_by(x, d, HD_WAY_TRANSPORT));
    *to = (char *)x->incoming[x->turn].memory + place_of(d, array, come_by(x, d, HD_WAY_TRANSPORT));
}

/* The counterpart of copy_out, from pinned memory. */
static heddle_status copy_in(hd_transport_exchange *x, const hd_delivery *d, uint32_t a,
                             const char *from)
{
    const uint64_t width = d->width[a];
    uint64_t first = 0, end = 0, packed = 0;
    heddle_status status = HEDDLE_OK;
    for (uint32_t i = 0; i <= x->base.members && status == HEDDLE_OK; i++) {
        if (i < x->base.members && way_from(x, i) == HD_WAY_TRANSPORT) {
            end += d->receive[i];
            continue;
        }
        status =
            copy(x, (char *)d->to[a] + first * width, from + packed * width, (end - first) * width);
        packed += end - first;
        end = first = end + (i < x->base.members ? d->receive[i] : 0);
    }
    return status;
}

heddle_status hd_ways_unpack(hd_transport_exchange *x, const hd_delivery *d)
{
    const uint64_t come = come_by(x, d, HD_WAY_TRANSPORT);
    if (!x->staged || come == 0) return HEDDLE_OK;
    for (uint32_t a = 0; a < d->arrays; a++)
        HD_TRY(copy_in(x, d, a, (const char *)x->incoming[x->turn].memory + place_of(d, a, come)));
    return HEDDLE_OK;
}

void hd_ways_free(hd_transport_exchange *x)
{
    hd_pinned *const all[] = {&x->outgoing[0], &x->outgoing[1], &x->incoming[0], &x->incoming[1]};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (all[i]->memory != NULL) x->device->engine->free_pinned(x->device, all[i]->memory);
}
