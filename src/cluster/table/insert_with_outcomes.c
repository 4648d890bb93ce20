/*
 * insert_with_outcomes.c: inserting with outcomes for single keys. Every slice is inserted when it has arrived, and
 * what became of its keys goes back as answers do (ask.c).
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "cluster/table/insert.h"

typedef struct reporting {
    hd_inserting *p;
    hd_buffer outcomes; /* of the pairs that have come */
    hd_buffer back;     /* of the slice, by destination, and */
    hd_buffer ordered;  /* in its own order */
    uint8_t *host;      /* the same, to list failed keys */
} reporting;

static bool lists_failed(const reporting *r) { return r->p->call->options.failed_capacity != 0; }

static heddle_status reporting_begin(reporting *r, hd_inserting *p)
{
    heddle_device *device = p->member->device;
    const hd_rows rows = {p->key_width * 8, p->value_width * 8, p->slice, false, true, false};
    memset(r, 0, sizeof *r);
    r->p = p;
    HD_TRY(hd_router_begin(&p->router, device, p->call->spread, &rows));
    HD_TRY(hd_buffer_room(&r->back, device, p->slice));
    HD_TRY(hd_buffer_room(&r->ordered, device, p->slice));
    if (!lists_failed(r)) return HEDDLE_OK;
    r->host = (uint8_t *)hd_allocate(p->slice);
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

/* hd_delivery.room: for the pairs that come, and for their outcomes. */
static heddle_status room_for_pairs(hd_delivery *d, void *context)
{
    reporting *r = (reporting *)context;
    hd_inserting *p = r->p;
    heddle_device *device = p->member->device;
    heddle_status status = hd_buffer_ample(&p->keys, device, d->total * p->key_width);
    if (status == HEDDLE_OK && p->value_width != 0)
        status = hd_buffer_ample(&p->values, device, d->total * p->value_width);
    if (status == HEDDLE_OK) status = hd_buffer_ample(&r->outcomes, device, d->total);
    d->to[0] = p->keys.memory;
    d->to[1] = p->values.memory;
    return status;
}

static heddle_status send_there(reporting *r, heddle_status mine, const hd_slice *slice,
                                hd_delivery *d)
{
    *d = hd_delivery_of(&r->p->router);
    d->room = room_for_pairs;
    d->context = r;
    return hd_send(r->p->member, mine, &r->p->router, slice, d);
}

/* Inserts what has come. What the part says nothing about is not in. */
static heddle_status insert_pairs(reporting *r, uint64_t n)
{
    hd_inserting *p = r->p;
    heddle_device *device = p->member->device;
    heddle_insert_options options = p->call->options;
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    heddle_status status =
        device->engine->fill(device, r->outcomes.memory, HEDDLE_OUTCOME_FAILED, n, NULL);
    options.outcomes = (uint8_t *)r->outcomes.memory;
    options.failed = NULL;
    options.failed_capacity = 0;
    if (status == HEDDLE_OK)
        status = heddle_table_insert(hd_part_of(p->call->table, p->member), p->keys.memory,
                                     p->value_width != 0 ? p->values.memory : NULL, n, &options,
                                     &totals, NULL);
    status = hd_insert_result(p, status, &totals, n);
    hd_phase(p->member, HEDDLE_PHASE_WORK);
    return status;
}

static heddle_status send_home(reporting *r, heddle_status mine)
{
    hd_delivery d;
    memset(&d, 0, sizeof d);
    d.arrays = 1;
    d.width[0] = 1;
    d.from[0] = r->outcomes.memory;
    d.to[0] = r->back.memory;
    return hd_send_back(r->p->member, mine, &r->p->router, &d);
}

/* The caller's list of failed keys is shared by the local members. */
static void list_failed(reporting *r, uint64_t first, uint64_t n)
{
    hd_insertion *call = r->p->call;
    for (uint64_t i = 0; i < n; i++) {
        if (r->host[i] != HEDDLE_OUTCOME_FAILED) continue;
        const uint64_t at = __atomic_fetch_add(&call->listed, 1, __ATOMIC_RELAXED);
        if (at >= call->options.failed_capacity) return;
        call->options.failed[at] = first + i;
    }
}

static heddle_status report(reporting *r, uint64_t first, uint64_t n)
{
    hd_inserting *p = r->p;
    uint8_t *user = p->call->options.outcomes;
    const hd_owners_answers answers = {
        (const uint8_t *)r->back.memory, NULL, 0, (uint8_t *)r->ordered.memory, NULL, NULL, NULL};
    HD_TRY(hd_fetch(p->member, &p->router, &answers));
    if (user != NULL)
        HD_TRY(hd_member_copy(p->member, user + p->first + first, r->ordered.memory, n));
    if (lists_failed(r)) {
        HD_TRY(hd_member_copy(p->member, r->host, r->ordered.memory, n));
        list_failed(r, p->first + first, n);
    }
    hd_phase(p->member, HEDDLE_PHASE_REORGANISE);
    return HEDDLE_OK;
}

/* One slice, there and back: *mine is what this member has to say before, and then what it says afterwards. */
static heddle_status insert_slice(reporting *r, heddle_status *mine, uint64_t first, uint64_t n)
{
    hd_slice slice = {NULL, NULL, 0};
    hd_delivery d;
    if (*mine == HEDDLE_OK) *mine = hd_insert_open(r->p, first, n, &slice);
    HD_TRY(send_there(r, *mine, &slice, &d));
    r->p->received += d.total;
    HD_TRY(send_home(r, insert_pairs(r, d.total)));
    *mine = n != 0 ? report(r, first, n) : HEDDLE_OK;
    return HEDDLE_OK;
}

heddle_status hd_insert_with_outcomes(hd_inserting *p, uint64_t rounds, heddle_status *agreed)
{
    reporting r;
    heddle_status mine = reporting_begin(&r, p);
    *agreed = hd_member_agree(p->member, mine);
    if (*agreed == HEDDLE_OK) {
        p->changing = true;
        if (p->call->builds) mine = heddle_table_clear(hd_part_of(p->call->table, p->member), NULL);
    }
    for (uint64_t i = 0; i < rounds && *agreed == HEDDLE_OK; i++)
        *agreed =
            insert_slice(&r, &mine, i * p->slice, hd_slice_length(p->n, i * p->slice, p->slice));
    reporting_end(&r);
    return mine;
}
