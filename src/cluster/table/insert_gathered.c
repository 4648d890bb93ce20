/*
 * insert_gathered.c: pairs on their way into a table of a cluster: slices are sent to the members that own their keys,
 * gathered there, and built or inserted in one call, or in pieces where there is no memory for all. The call around
 * it is insert.c.
 */
#include <string.h>

#include "base/error.h"
#include "cluster/table/insert.h"

/* What a member that guesses expects besides its share of the rows. */
#define GUESS_SHARE 32
#define GUESS_MORE 1024

/* Room for all pairs of this member, or for as many as there is memory for; *whole says which. */
static heddle_status take_room(hd_inserting *p, uint64_t rows, bool *whole)
{
    heddle_device *device = p->member->device;
    uint64_t pairs = rows != 0 ? rows : 1;
    for (;; pairs /= 2) {
        heddle_status status = hd_buffer_room(&p->keys, device, pairs * p->key_width);
        if (status == HEDDLE_OK && p->value_width != 0)
            status = hd_buffer_room(&p->values, device, pairs * p->value_width);
        if (status == HEDDLE_OK) break;
        hd_buffer_free(&p->keys);
        if (pairs <= p->slice || status != HEDDLE_ERROR_NO_MEMORY) return status;
    }
    p->capacity = pairs;
    *whole = pairs >= rows;
    return HEDDLE_OK;
}

/* Inserts or builds what has been gathered. */
static heddle_status work_off(hd_inserting *p, bool builds)
{
    heddle_table *part = hd_part_of(p->call->table, p->member);
    const void *values = p->value_width != 0 ? p->values.memory : NULL;
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    heddle_status status;
    status = builds ? heddle_table_build(part, p->keys.memory, values, p->at, &p->call->options,
                                         &totals, NULL)
                    : heddle_table_insert(part, p->keys.memory, values, p->at, &p->call->options,
                                          &totals, NULL);
    status = hd_insert_result(p, status, &totals, p->at);
    p->at = 0;
    hd_phase(p->member, HEDDLE_PHASE_WORK);
    return status;
}

/* A larger array with what is in the smaller one. */
static heddle_status enlarge(hd_inserting *p, hd_buffer *buffer, uint64_t pairs, uint32_t width)
{
    heddle_device *device = p->member->device;
    HD_BUFFER(larger);
    const hd_buffer smaller = *buffer;
    HD_TRY(hd_buffer_room(&larger, device, pairs * width));
    HD_TRY(device->engine->copy(device, larger.memory, smaller.memory, p->at * width, NULL));
    HD_TRY(device->engine->synchronize(device, NULL));
    *buffer = larger;
    larger = smaller; /* which frees itself */
    return HEDDLE_OK;
}

/* More pairs come than were expected. */
static heddle_status expect_more(hd_inserting *p, uint64_t pairs)
{
    const uint64_t wanted = pairs + pairs / 2;
    HD_TRY(enlarge(p, &p->keys, wanted, p->key_width));
    if (p->value_width != 0) HD_TRY(enlarge(p, &p->values, wanted, p->value_width));
    p->capacity = wanted;
    return HEDDLE_OK;
}

/* hd_delivery.room: behind what has been gathered. */
static heddle_status room_for_pairs(hd_delivery *d, void *context)
{
    hd_inserting *p = (hd_inserting *)context;
    if (p->flows) return hd_flowing_room(p, d);
    if (p->at + d->total > p->capacity && p->guesses) {
        HD_TRY(expect_more(p, p->at + d->total));
    } else if (p->at + d->total > p->capacity) { /* in pieces */
        hd_phase(p->member, HEDDLE_PHASE_EXCHANGE);
        HD_TRY(work_off(p, false));
        if (d->total > p->capacity) {
            bool whole;
            HD_TRY(take_room(p, d->total, &whole));
            if (!whole)
                return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for the pairs of one slice");
        }
    }
    d->to[0] = (char *)p->keys.memory + p->at * p->key_width;
    if (p->value_width != 0) d->to[1] = (char *)p->values.memory + p->at * p->value_width;
    p->at += d->total;
    p->received += d->total;
    return HEDDLE_OK;
}

/* What a router sends; the pairs that come go behind what has been gathered. */
hd_delivery hd_gathered_delivery(hd_inserting *p, const hd_router *router)
{
    hd_delivery d = hd_delivery_of(router);
    d.room = room_for_pairs;
    d.context = p;
    return d;
}

/* The n pairs from `first` on, less those of hot keys. */
static heddle_status open_slice(hd_inserting *p, uint64_t first, uint64_t n, hd_slice *slice)
{
    HD_TRY(hd_insert_open(p, first, n, slice));
    return hd_hot_take(p, slice);
}

/* All slices, one after the other. Agreed upon. */
static heddle_status send_slices(hd_inserting *p, heddle_status mine, uint64_t rounds)
{
    heddle_status status = HEDDLE_OK;
    for (uint64_t i = 0; i < rounds && status == HEDDLE_OK; i++) {
        hd_delivery d = hd_gathered_delivery(p, &p->router);
        hd_slice slice = {NULL, NULL, 0};
        if (mine == HEDDLE_OK)
            mine =
                open_slice(p, i * p->slice, hd_slice_length(p->n, i * p->slice, p->slice), &slice);
        status = hd_send(p->member, mine, &p->router, &slice, &d);
        mine = HEDDLE_OK;
    }
    return status == HEDDLE_OK ? hd_member_agree(p->member, mine) : status;
}

/* Lays the slice of a round out, and brings it to where it can be sent from. */
static heddle_status ready_slice(hd_inserting *p, hd_router *router, uint64_t round, hd_delivery *d)
{
    hd_exchange *exchange = hd_exchange_of(p->member);
    const uint64_t first = round * p->slice;
    hd_slice slice = {NULL, NULL, 0};
    HD_TRY(open_slice(p, first, hd_slice_length(p->n, first, p->slice), &slice));
    HD_TRY(hd_lay_out(p->member, router, &slice));
    return exchange->ops->ready(exchange, d);
}

/*
 * The same where a slice is laid out while the one before it is on its way; where pairs flow, the one before that is
 * inserted at the same time.
 */
static heddle_status send_slices_ahead(hd_inserting *p, heddle_status mine, uint64_t rounds)
{
    hd_exchange *exchange = hd_exchange_of(p->member);
    hd_router *const turns[2] = {&p->router, &p->ahead};
    hd_delivery deliveries[2];
    heddle_status status = HEDDLE_OK;
    for (uint64_t i = 0; i < rounds && status == HEDDLE_OK; i++) {
        hd_delivery *d = &deliveries[i % 2];
        *d = hd_gathered_delivery(p, turns[i % 2]);
        if (mine == HEDDLE_OK) mine = ready_slice(p, turns[i % 2], i, d);
        if (i != 0) status = exchange->ops->end(exchange, p->member->number);
        hd_phase(p->member, HEDDLE_PHASE_EXCHANGE);
        if (status != HEDDLE_OK) return status;
        status = exchange->ops->begin(exchange, p->member->number, mine, d);
        hd_phase(p->member, HEDDLE_PHASE_EXCHANGE);
        if (status == HEDDLE_OK && i != 0) mine = hd_flowing_insert(p, (uint32_t)(i - 1) % 2);
    }
    if (status == HEDDLE_OK && rounds != 0)
        status = exchange->ops->end(exchange, p->member->number);
    hd_phase(p->member, HEDDLE_PHASE_EXCHANGE);
    if (status == HEDDLE_OK && rounds != 0 && mine == HEDDLE_OK)
        mine = hd_flowing_insert(p, (uint32_t)(rounds - 1) % 2);
    return status == HEDDLE_OK ? hd_member_agree(p->member, mine) : status;
}

/* ------------------------------------------------------------------------------------- the way */

/* How many rows come to this member: counted, or by its share of the bins and a little more. */
static uint64_t expected_rows(const hd_inserting *p)
{
    const hd_spread *spread = p->call->spread;
    const uint32_t bins = hd_spread_bins(spread);
    uint64_t own = 0, rows;
    if (!p->guesses) return hd_spread_load(spread, p->call->counts, p->member->number);
    for (uint32_t i = 0; i < spread->run_count; i++)
        if (spread->runs[i].owner == p->member->number)
            own += spread->runs[i].end - spread->runs[i].first;
    rows = (uint64_t)((double)p->call->counts[bins + HD_SUM_ROWS] * (double)own / bins);
    return rows + rows / GUESS_SHARE + GUESS_MORE;
}

/* Whether parts change before all pairs have come: some member inserts in pieces, as all do then, or as they come. */
typedef struct manner {
    bool pieces, flows;
} manner;

static heddle_status begin_routers(hd_inserting *p)
{
    const hd_exchange *exchange = hd_exchange_of(p->member);
    hd_rows rows = {p->key_width * 8, p->value_width * 8, p->slice, false, true, exchange->direct};
    HD_TRY(hd_router_begin(&p->router, p->member->device, p->call->spread, &rows));
    rows.direct = false;
    return exchange->overlaps
               ? hd_router_begin(&p->ahead, p->member->device, p->call->spread, &rows)
               : HEDDLE_OK;
}

/* All memory; *whole: there is room for all pairs, or they flow. */
static heddle_status take_memory(hd_inserting *p, bool *whole)
{
    *whole = true;
    if (!p->flows) HD_TRY(take_room(p, expected_rows(p), whole));
    if (p->guesses && !*whole) return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory to gather pairs");
    HD_TRY(begin_routers(p));
    return hd_hot_begin(p);
}

/* All learn how some do it. Agreed upon. */
static heddle_status prepare(hd_inserting *p, uint64_t rounds, manner *how)
{
    hd_exchange *exchange = hd_exchange_of(p->member);
    uint64_t members[2]; /* that insert in pieces, and as pairs come */
    bool whole = true;
    heddle_status status;
    p->flows = hd_flowing_suits(p, rounds);
    status = take_memory(p, &whole);
    members[0] = !whole;
    members[1] = p->flows;
    status = exchange->ops->reduce(exchange, p->member->number, status, members, 2, HD_REDUCE_SUM);
    how->pieces = members[0] != 0;
    how->flows = members[1] != 0;
    return status;
}

/* Where parts change early. The status is the member's own. */
static heddle_status prepare_part(hd_inserting *p, const manner *how)
{
    if (!how->pieces && !how->flows) return HEDDLE_OK;
    p->changing = true;
    if (p->flows) return hd_flowing_begin(p, expected_rows(p));
    return p->call->builds ? heddle_table_clear(hd_part_of(p->call->table, p->member), NULL)
                           : HEDDLE_OK;
}

heddle_status hd_insert_gathered(hd_inserting *p, uint64_t rounds, heddle_status *agreed)
{
    const bool ahead = hd_exchange_of(p->member)->overlaps;
    heddle_status mine;
    manner how;
    *agreed = prepare(p, rounds, &how);
    HD_TRY(*agreed);
    mine = prepare_part(p, &how);
    *agreed = ahead ? send_slices_ahead(p, mine, rounds) : send_slices(p, mine, rounds);
    if (*agreed == HEDDLE_OK && p->call->has_hot) *agreed = hd_hot_send(p);
    HD_TRY(*agreed);
    hd_router_end(&p->router); /* the tables may need the memory */
    hd_router_end(&p->ahead);
    p->changing = true;
    hd_phase(p->member, HEDDLE_PHASE_EXCHANGE);
    return p->flows ? HEDDLE_OK : work_off(p, !how.pieces && p->call->builds);
}
