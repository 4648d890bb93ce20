/*
 * insert_outcomes.c: inserting with outcomes for single keys. Every slice is inserted when it has arrived, and
 * what became of its keys goes back as answers do (ask.c).
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "cluster/table/insert.h"

typedef struct reporting {
    hd_writing *g;
    hd_buffer outcomes; /* of the pairs that have come */
    hd_buffer back;     /* of the slice, by destination, and */
    hd_buffer ordered;  /* in its own order */
    uint8_t *host;      /* the same, to list failed keys */
} reporting;

static bool lists_failed(const reporting *r) { return r->g->w->options.failed_capacity != 0; }

static heddle_status reporting_begin(reporting *r, hd_writing *g)
{
    heddle_device *device = g->member->device;
    heddle_status status;
    memset(r, 0, sizeof *r);
    r->g = g;
    status = hd_dispatch_begin(&g->dispatch, g->member, g->w->spread, g->key_width * 8,
                               g->value_width * 8, g->slice, false);
    if (status == HEDDLE_OK) status = hd_buffer_room(&r->back, device, g->slice);
    if (status == HEDDLE_OK) status = hd_buffer_room(&r->ordered, device, g->slice);
    if (status != HEDDLE_OK || !lists_failed(r)) return status;
    r->host = (uint8_t *)hd_allocate(g->slice);
    return r->host != NULL ? HEDDLE_OK
                           : hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory to list failed keys");
}

static void reporting_end(reporting *r)
{
    hd_buffer_free(&r->outcomes);
    hd_buffer_free(&r->back);
    hd_buffer_free(&r->ordered);
    free(r->host);
}

/* Keys and values by destination. */
static heddle_status lay_out(reporting *r, uint64_t first, uint64_t n)
{
    hd_writing *g = r->g;
    hd_window keys = {NULL, NULL, 0}, values = {NULL, NULL, 0};
    if (n != 0) HD_TRY(hd_write_windows(g, first, n, &keys, &values));
    return hd_dispatch_slice(&g->dispatch, keys.memory, values.memory, n);
}

/* hd_delivery.room: for the pairs that come, and for their outcomes. */
static heddle_status room_for_pairs(hd_delivery *d, void *context)
{
    reporting *r = (reporting *)context;
    hd_writing *g = r->g;
    heddle_device *device = g->member->device;
    heddle_status status = hd_buffer_ample(&g->keys, device, d->total * g->key_width);
    if (status == HEDDLE_OK && g->value_width != 0)
        status = hd_buffer_ample(&g->values, device, d->total * g->value_width);
    if (status == HEDDLE_OK) status = hd_buffer_ample(&r->outcomes, device, d->total);
    d->to[0] = g->keys.memory;
    d->to[1] = g->values.memory;
    return status;
}

static heddle_status send_there(reporting *r, heddle_status mine, hd_delivery *d)
{
    hd_writing *g = r->g;
    hd_exchange *exchange = hd_exchange_of(g->member);
    heddle_status status;
    memset(d, 0, sizeof *d);
    d->arrays = g->value_width != 0 ? 2 : 1;
    d->width[0] = g->key_width;
    d->width[1] = g->value_width;
    d->from[0] = g->dispatch.keys.memory;
    d->from[1] = g->dispatch.values.memory;
    d->send = g->dispatch.send;
    d->receive = g->dispatch.receive;
    d->room = room_for_pairs;
    d->context = r;
    status = exchange->ops->all_to_all(exchange, g->member->number, mine, d);
    hd_phase(g->member, HEDDLE_PHASE_EXCHANGE);
    return status;
}

/* Inserts what has come. What the part says nothing about is not in. */
static heddle_status insert_pairs(reporting *r, uint64_t n)
{
    hd_writing *g = r->g;
    heddle_device *device = g->member->device;
    heddle_insert_options options = g->w->options;
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    heddle_status status =
        device->engine->fill(device, r->outcomes.memory, HEDDLE_OUTCOME_FAILED, n, NULL);
    options.outcomes = (uint8_t *)r->outcomes.memory;
    options.failed = NULL;
    options.failed_capacity = 0;
    if (status == HEDDLE_OK)
        status = heddle_table_insert(hd_part_of(g->w->table, g->member), g->keys.memory,
                                     g->value_width != 0 ? g->values.memory : NULL, n, &options,
                                     &totals, NULL);
    status = hd_write_result(g, status, &totals, n);
    hd_phase(g->member, HEDDLE_PHASE_WORK);
    return status;
}

static heddle_status send_home(reporting *r, heddle_status mine)
{
    hd_writing *g = r->g;
    hd_exchange *exchange = hd_exchange_of(g->member);
    hd_delivery d;
    heddle_status status;
    memset(&d, 0, sizeof d);
    d.arrays = 1;
    d.width[0] = 1;
    d.from[0] = r->outcomes.memory;
    d.to[0] = r->back.memory;
    d.send = g->dispatch.receive;
    d.receive = g->dispatch.send;
    status = exchange->ops->all_to_all(exchange, g->member->number, mine, &d);
    hd_phase(g->member, HEDDLE_PHASE_EXCHANGE);
    return status;
}

/* The caller's list of failed keys is shared by the local members. */
static void list_failed(reporting *r, uint64_t first, uint64_t n)
{
    hd_write *w = r->g->w;
    for (uint64_t i = 0; i < n; i++) {
        if (r->host[i] != HEDDLE_OUTCOME_FAILED) continue;
        const uint64_t at = __atomic_fetch_add(&w->listed, 1, __ATOMIC_RELAXED);
        if (at >= w->options.failed_capacity) return;
        w->options.failed[at] = first + i;
    }
}

static heddle_status report(reporting *r, uint64_t first, uint64_t n)
{
    hd_writing *g = r->g;
    uint8_t *user = g->w->options.outcomes;
    const hd_owners_answers answers = {
        (const uint8_t *)r->back.memory, NULL, 0, (uint8_t *)r->ordered.memory, NULL, NULL, NULL};
    heddle_status status = hd_dispatch_fetch(&g->dispatch, &answers);
    if (status == HEDDLE_OK && user != NULL)
        status = hd_member_copy(g->member, user + g->first + first, r->ordered.memory, n);
    if (status == HEDDLE_OK && lists_failed(r)) {
        status = hd_member_copy(g->member, r->host, r->ordered.memory, n);
        if (status == HEDDLE_OK) list_failed(r, g->first + first, n);
    }
    hd_phase(g->member, HEDDLE_PHASE_REORGANISE);
    return status;
}

heddle_status hd_write_outcomes(hd_writing *g, uint64_t rounds, heddle_status *agreed)
{
    reporting r;
    heddle_status mine = reporting_begin(&r, g);
    *agreed = hd_member_agree(g->member, mine);
    if (*agreed == HEDDLE_OK) {
        g->changing = true;
        if (g->w->builds) mine = heddle_table_clear(hd_part_of(g->w->table, g->member), NULL);
    }
    for (uint64_t i = 0; i < rounds && *agreed == HEDDLE_OK; i++) {
        const uint64_t first = i * g->slice, n = hd_slice_length(g->n, first, g->slice);
        hd_delivery d;
        if (mine == HEDDLE_OK) mine = lay_out(&r, first, n);
        *agreed = send_there(&r, mine, &d);
        if (*agreed != HEDDLE_OK) break;
        g->received += d.total;
        *agreed = send_home(&r, insert_pairs(&r, d.total));
        if (*agreed == HEDDLE_OK && n != 0) mine = report(&r, first, n);
    }
    reporting_end(&r);
    return mine;
}
