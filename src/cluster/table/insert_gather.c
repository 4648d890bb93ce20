/*
 * insert_gather.c: pairs on their way into a table of a cluster: slices are sent to the members that own their keys,
 * gathered there, and built or inserted in one call, or in pieces where there is no memory for all. The call around
 * it is insert.c.
 */
#include <string.h>

#include "base/error.h"
#include "cluster/table/insert.h"
#include "table/table.h"

/* What a member that guesses expects besides its share of the rows. */
#define GUESS_SHARE 32
#define GUESS_MORE 1024

/* Room for all pairs of this member, or for as many as there is memory for; *whole says which. */
static heddle_status take_room(hd_writing *g, uint64_t rows, bool *whole)
{
    heddle_device *device = g->member->device;
    uint64_t pairs = rows != 0 ? rows : 1;
    for (;; pairs /= 2) {
        heddle_status status = hd_buffer_room(&g->keys, device, pairs * g->key_width);
        if (status == HEDDLE_OK && g->value_width != 0)
            status = hd_buffer_room(&g->values, device, pairs * g->value_width);
        if (status == HEDDLE_OK) break;
        hd_buffer_free(&g->keys);
        if (pairs <= g->slice || status != HEDDLE_ERROR_NO_MEMORY) return status;
    }
    g->capacity = pairs;
    *whole = pairs >= rows;
    return HEDDLE_OK;
}

/* Inserts or builds what has been gathered. */
static heddle_status work_off(hd_writing *g, bool builds)
{
    heddle_table *part = hd_part_of(g->w->table, g->member);
    const void *values = g->value_width != 0 ? g->values.memory : NULL;
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    heddle_status status;
    status = builds ? heddle_table_build(part, g->keys.memory, values, g->at, &g->w->options,
                                         &totals, NULL)
                    : heddle_table_insert(part, g->keys.memory, values, g->at, &g->w->options,
                                          &totals, NULL);
    status = hd_write_result(g, status, &totals, g->at);
    g->at = 0;
    hd_phase(g->member, HEDDLE_PHASE_WORK);
    return status;
}

/* A larger array with what is in the smaller one. */
static heddle_status enlarge(hd_writing *g, hd_buffer *buffer, uint64_t pairs, uint32_t width)
{
    heddle_device *device = g->member->device;
    hd_buffer larger = {NULL, NULL, 0};
    heddle_status status = hd_buffer_room(&larger, device, pairs * width);
    if (status == HEDDLE_OK)
        status = device->engine->copy(device, larger.memory, buffer->memory, g->at * width, NULL);
    if (status == HEDDLE_OK) status = device->engine->synchronize(device, NULL);
    if (status != HEDDLE_OK) {
        hd_buffer_free(&larger);
        return status;
    }
    hd_buffer_free(buffer);
    *buffer = larger;
    return HEDDLE_OK;
}

/* More pairs come than were expected. */
static heddle_status expect_more(hd_writing *g, uint64_t pairs)
{
    const uint64_t wanted = pairs + pairs / 2;
    HD_TRY(enlarge(g, &g->keys, wanted, g->key_width));
    if (g->value_width != 0) HD_TRY(enlarge(g, &g->values, wanted, g->value_width));
    g->capacity = wanted;
    return HEDDLE_OK;
}

/* hd_delivery.room: behind what has been gathered. */
static heddle_status room_for_pairs(hd_delivery *d, void *context)
{
    hd_writing *g = (hd_writing *)context;
    if (g->flows) return hd_flow_room(g, d);
    if (g->at + d->total > g->capacity && g->guesses) {
        HD_TRY(expect_more(g, g->at + d->total));
    } else if (g->at + d->total > g->capacity) { /* in pieces */
        hd_phase(g->member, HEDDLE_PHASE_EXCHANGE);
        HD_TRY(work_off(g, false));
        if (d->total > g->capacity) {
            bool whole;
            HD_TRY(take_room(g, d->total, &whole));
            if (!whole)
                return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for the pairs of one slice");
        }
    }
    d->to[0] = (char *)g->keys.memory + g->at * g->key_width;
    if (g->value_width != 0) d->to[1] = (char *)g->values.memory + g->at * g->value_width;
    g->at += d->total;
    g->received += d->total;
    return HEDDLE_OK;
}

/* What a slice that was laid out sends; its pairs go behind what has been gathered. */
static hd_delivery delivery_of(hd_writing *g, hd_dispatch *dispatch)
{
    hd_delivery d;
    memset(&d, 0, sizeof d);
    d.arrays = g->value_width != 0 ? 2 : 1;
    d.width[0] = g->key_width;
    d.width[1] = g->value_width;
    d.room = room_for_pairs;
    d.context = g;
    d.from[0] = dispatch->keys.memory;
    d.from[1] = dispatch->values.memory;
    d.send = dispatch->send;
    d.receive = dispatch->receive;
    return d;
}

/* The *n pairs from `first` on, less those of hot keys. */
static heddle_status open_slice(hd_writing *g, uint64_t first, uint64_t *n, const void **keys,
                                const void **values)
{
    hd_window k = {NULL, NULL, 0}, v = {NULL, NULL, 0};
    const heddle_status status = *n != 0 ? hd_write_windows(g, first, *n, &k, &v) : HEDDLE_OK;
    *keys = k.memory;
    *values = v.memory;
    return status == HEDDLE_OK ? hd_combine_slice(g, keys, values, n) : status;
}

/* Lays out the n pairs from `first` on by destination. */
static heddle_status lay_out(hd_writing *g, hd_dispatch *dispatch, uint64_t first, uint64_t n)
{
    const void *keys, *values;
    HD_TRY(open_slice(g, first, &n, &keys, &values));
    return hd_dispatch_slice(dispatch, keys, values, n);
}

static heddle_status send_slice(hd_writing *g, heddle_status mine, uint64_t first, uint64_t n)
{
    hd_exchange *exchange = hd_exchange_of(g->member);
    hd_delivery d = delivery_of(g, &g->dispatch);
    heddle_status status = mine;
    if (exchange->direct) {
        const void *keys = NULL, *values = NULL;
        if (status == HEDDLE_OK) status = open_slice(g, first, &n, &keys, &values);
        return hd_dispatch_direct(&g->dispatch, status, keys, values, n, &d);
    }
    if (status == HEDDLE_OK) status = lay_out(g, &g->dispatch, first, n);
    status = exchange->ops->all_to_all(exchange, g->member->number, status, &d);
    hd_phase(g->member, HEDDLE_PHASE_EXCHANGE);
    return status;
}

/* All slices, one after the other. Agreed upon. */
static heddle_status send_slices(hd_writing *g, heddle_status mine, uint64_t rounds)
{
    heddle_status status = HEDDLE_OK;
    for (uint64_t i = 0; i < rounds && status == HEDDLE_OK; i++) {
        status = send_slice(g, mine, i * g->slice, hd_slice_length(g->n, i * g->slice, g->slice));
        mine = HEDDLE_OK;
    }
    return status == HEDDLE_OK ? hd_member_agree(g->member, mine) : status;
}

/*
 * The same where a slice is laid out while the one before it is on its way, and, where pairs flow, the one before is
 * inserted meanwhile.
 */
static heddle_status send_slices_ahead(hd_writing *g, heddle_status mine, uint64_t rounds)
{
    hd_exchange *exchange = hd_exchange_of(g->member);
    hd_dispatch *const turns[2] = {&g->dispatch, &g->ahead};
    hd_delivery deliveries[2];
    heddle_status status = HEDDLE_OK;
    for (uint64_t i = 0; i < rounds && status == HEDDLE_OK; i++) {
        if (mine == HEDDLE_OK)
            mine = lay_out(g, turns[i % 2], i * g->slice,
                           hd_slice_length(g->n, i * g->slice, g->slice));
        deliveries[i % 2] = delivery_of(g, turns[i % 2]);
        if (mine == HEDDLE_OK) mine = exchange->ops->ready(exchange, &deliveries[i % 2]);
        if (i != 0) status = exchange->ops->end(exchange, g->member->number);
        hd_phase(g->member, HEDDLE_PHASE_EXCHANGE);
        if (status != HEDDLE_OK) return status;
        status = exchange->ops->begin(exchange, g->member->number, mine, &deliveries[i % 2]);
        hd_phase(g->member, HEDDLE_PHASE_EXCHANGE);
        if (status == HEDDLE_OK && i != 0) mine = hd_flow_insert(g, (uint32_t)(i - 1) % 2);
    }
    if (status == HEDDLE_OK && rounds != 0)
        status = exchange->ops->end(exchange, g->member->number);
    hd_phase(g->member, HEDDLE_PHASE_EXCHANGE);
    if (status == HEDDLE_OK && rounds != 0 && mine == HEDDLE_OK)
        mine = hd_flow_insert(g, (uint32_t)(rounds - 1) % 2);
    return status == HEDDLE_OK ? hd_member_agree(g->member, mine) : status;
}

/* Hot keys, when all slices are there. Agreed upon. */
static heddle_status send_hot(hd_writing *g)
{
    hd_exchange *exchange = hd_exchange_of(g->member);
    heddle_status status = hd_combine_lay_out(g);
    hd_delivery d = delivery_of(g, &g->combine.dispatch);
    status = exchange->ops->all_to_all(exchange, g->member->number, status, &d);
    hd_phase(g->member, HEDDLE_PHASE_EXCHANGE);
    if (status == HEDDLE_OK) hd_combine_count(g, d.total);
    return status;
}

/* How many rows come to this member: counted, or by its share of the bins and a little more. */
static uint64_t expected_rows(const hd_writing *g)
{
    const hd_spread *spread = g->w->spread;
    const uint32_t bins = hd_spread_bins(spread);
    uint64_t own = 0, rows;
    if (!g->guesses) return hd_spread_load(spread, g->w->counts, g->member->number);
    for (uint32_t i = 0; i < spread->run_count; i++)
        if (spread->runs[i].owner == g->member->number)
            own += spread->runs[i].end - spread->runs[i].first;
    rows = (uint64_t)((double)g->w->counts[bins + HD_COUNT_ROWS] * (double)own / bins);
    return rows + rows / GUESS_SHARE + GUESS_MORE;
}

/* Whether parts change before all pairs have come: some member inserts in pieces, as all do then, or as they come. */
typedef struct manner {
    bool pieces, flows;
} manner;

static heddle_status begin_dispatches(hd_writing *g)
{
    const hd_exchange *exchange = hd_exchange_of(g->member);
    const uint32_t key_bits = g->w->table->options.key_bits, value_bits = g->value_width * 8;
    HD_TRY(hd_dispatch_begin(&g->dispatch, g->member, g->w->spread, key_bits, value_bits, g->slice,
                             exchange->direct));
    if (exchange->overlaps)
        HD_TRY(hd_dispatch_begin(&g->ahead, g->member, g->w->spread, key_bits, value_bits, g->slice,
                                 false));
    return HEDDLE_OK;
}

/* Agreed upon. */
static heddle_status prepare_gather(hd_writing *g, uint64_t rounds, manner *how)
{
    hd_exchange *exchange = hd_exchange_of(g->member);
    uint64_t told[2];
    bool whole = true;
    heddle_status status = HEDDLE_OK;
    g->flows = hd_flow_suits(g, rounds);
    if (!g->flows) status = take_room(g, expected_rows(g), &whole);
    if (status == HEDDLE_OK && g->guesses && !whole)
        status = hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory to gather pairs");
    if (status == HEDDLE_OK) status = begin_dispatches(g);
    if (status == HEDDLE_OK) status = hd_combine_begin(g);
    told[0] = !whole;
    told[1] = g->flows;
    status = exchange->ops->reduce(exchange, g->member->number, status, told, 2, HD_REDUCE_SUM);
    how->pieces = told[0] != 0;
    how->flows = told[1] != 0;
    return status;
}

/* Where parts change early. The status is the member's own. */
static heddle_status prepare_part(hd_writing *g, const manner *how)
{
    if (!how->pieces && !how->flows) return HEDDLE_OK;
    g->changing = true;
    if (g->flows) return hd_flow_begin(g, expected_rows(g));
    return g->w->builds ? heddle_table_clear(hd_part_of(g->w->table, g->member), NULL) : HEDDLE_OK;
}

heddle_status hd_write_gathered(hd_writing *g, uint64_t rounds, heddle_status *agreed)
{
    manner how;
    heddle_status mine, status = prepare_gather(g, rounds, &how);
    if (status == HEDDLE_OK) {
        mine = prepare_part(g, &how);
        status = hd_exchange_of(g->member)->overlaps ? send_slices_ahead(g, mine, rounds)
                                                     : send_slices(g, mine, rounds);
    }
    if (status == HEDDLE_OK && g->w->combines) status = send_hot(g);
    *agreed = status;
    if (status != HEDDLE_OK) return status;
    hd_dispatch_end(&g->dispatch); /* the tables may need the memory */
    hd_dispatch_end(&g->ahead);
    g->changing = true;
    hd_phase(g->member, HEDDLE_PHASE_EXCHANGE);
    return g->flows ? HEDDLE_OK : work_off(g, !how.pieces && g->w->builds);
}
