/*
 * retrieve.c: all values of every key of a batch, from a table of a cluster. First the keys are counted
 * as questions are (ask.c); the sums of the counts are the offsets. Then they are asked once more, in
 * stretches of so many values that scratch memory stays small, and the lists come back and are laid where
 * the offsets say.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "cluster/table/ask.h"
#include "table/check.h"

/* Values of a stretch, for every key of a slice; a single key may have more. */
#define VALUES_A_KEY 4

typedef struct retrieval {
    hd_question count; /* its table, keys and n are the call's */
    uint64_t *offsets;
    char *values;
    uint64_t capacity;
    uint64_t total;  /* of this process */
    uint64_t *parts; /* the values of every local member */
} retrieval;

/* A member's part of it. */
typedef struct fetching {
    retrieval *r;
    hd_member *member;
    uint32_t key_width, value_width;
    uint64_t first, n, slice; /* of the questions */
    uint64_t copies;          /* members that each question goes to */
    uint64_t *host;           /* offsets of a slice, and one more */
    hd_router router;
    hd_buffer work, sums;                        /* to add counts up */
    hd_buffer keys, offsets, matches, values;    /* of questions of others */
    hd_buffer places, back_matches, back_values; /* of this member's */
    hd_buffer staged[2];
    uint64_t *value_send, *value_receive;
    uint64_t *merged; /* independent mode: places and matches of all lists of a slice */
} fetching;

/* ------------------------------------------------------------------------------------- offsets */

/* The sums of a slice of counts, exclusive and from `carry` on, to sums[1] and up; the sum of all. */
static heddle_status add_up(fetching *f, uint64_t at, uint64_t n, uint64_t *carry)
{
    heddle_device *device = f->member->device;
    uint64_t *sums = (uint64_t *)f->sums.memory;
    const uint64_t first = *carry;
    HD_TRY(hd_member_copy(f->member, sums, &first, sizeof first));
    HD_TRY(hd_member_copy(f->member, sums + 1, f->r->offsets + f->first + at, n * sizeof *sums));
    HD_TRY(device->engine->columns->scan(hd_on(device, f->work.memory, NULL), sums, n + 1));
    HD_TRY(device->engine->synchronize(device, NULL));
    return hd_member_copy(f->member, carry, sums + n + 1, sizeof *carry);
}

/* Goes through the counts of this member; with `writes` they become offsets. */
static heddle_status sum_part(fetching *f, uint64_t *carry, bool writes)
{
    for (uint64_t at = 0; at < f->n; at += f->slice) {
        const uint64_t n = hd_slice_length(f->n, at, f->slice);
        HD_TRY(add_up(f, at, n, carry));
        if (writes)
            HD_TRY(hd_member_copy(f->member, f->r->offsets + f->first + at,
                                  (const uint64_t *)f->sums.memory + 1, n * sizeof(uint64_t)));
    }
    return HEDDLE_OK;
}

/* The offsets of this member's questions; the last member also gives the sum of all, and sees whether values fit. */
static heddle_status write_offsets(fetching *f)
{
    retrieval *r = f->r;
    uint64_t at = 0;
    for (uint32_t i = 0; i < f->member->local; i++) at += r->parts[i];
    HD_TRY(sum_part(f, &at, true));
    if (f->member->local + 1 != hd_exchange_of(f->member)->local) return HEDDLE_OK;
    r->total = at;
    HD_TRY(hd_member_copy(f->member, r->offsets + r->count.n, &at, sizeof at));
    if (r->values == NULL || at <= r->capacity) return HEDDLE_OK;
    return hd_fail(HEDDLE_ERROR_TOO_SMALL, "retrieve: %llu values do not fit into an array of %llu",
                   (unsigned long long)at, (unsigned long long)r->capacity);
}

/* Turns the counts of all members into offsets. What it returns is agreed upon. */
static heddle_status make_offsets(fetching *f)
{
    uint64_t own = 0;
    const heddle_status mine = sum_part(f, &own, false);
    f->r->parts[f->member->local] = own;
    HD_TRY(hd_member_agree(f->member, mine));
    return hd_member_agree(f->member, write_offsets(f));
}

/* ----------------------------------------------------------------------------------- stretches */

/* The next questions: as many as a slice has, or as have no more values than suit. Their offsets are in `host`. */
static heddle_status next_stretch(fetching *f, uint64_t at, uint64_t *count)
{
    const uint64_t most = f->slice * VALUES_A_KEY;
    uint64_t n = hd_slice_length(f->n, at, f->slice);
    if (n != 0)
        HD_TRY(hd_member_copy(f->member, f->host, f->r->offsets + f->first + at,
                              (n + 1) * sizeof(uint64_t)));
    while (n > 1 && f->host[n] - f->host[0] > most) n--;
    *count = n;
    return HEDDLE_OK;
}

/* hd_delivery.room: for the keys that come, and what is said about them. */
static heddle_status room_for_keys(hd_delivery *d, void *context)
{
    fetching *f = (fetching *)context;
    heddle_device *device = f->member->device;
    HD_TRY(hd_buffer_room(&f->keys, device, d->total * f->key_width));
    HD_TRY(hd_buffer_room(&f->offsets, device, (d->total + 1) * sizeof(uint64_t)));
    HD_TRY(hd_buffer_room(&f->matches, device, d->total * sizeof(uint64_t)));
    d->to[0] = f->keys.memory;
    return HEDDLE_OK;
}

/* The questions; and the places of their lists, which are laid out likewise and stay here. */
static heddle_status open_slice(fetching *f, uint64_t at, uint64_t n, hd_slice *slice)
{
    hd_lent keys = {NULL, NULL, 0}, places = {NULL, NULL, 0};
    if (n != 0)
        HD_TRY(hd_member_lend(f->member, f->r->count.keys + (f->first + at) * f->key_width,
                              n * f->key_width, true, &f->staged[0], &keys));
    slice->keys = keys.memory;
    slice->n = n;
    if (n != 0 && f->copies == 1)
        HD_TRY(hd_member_lend(f->member, f->r->offsets + f->first + at, n * sizeof(uint64_t), true,
                              &f->places, &places));
    slice->values = places.memory;
    return HEDDLE_OK;
}

static heddle_status ask(fetching *f, heddle_status mine, uint64_t at, uint64_t n, uint64_t *asked)
{
    hd_delivery d = hd_delivery_of(&f->router);
    hd_slice slice = {NULL, NULL, 0};
    heddle_status status = mine;
    if (status == HEDDLE_OK) status = open_slice(f, at, n, &slice);
    d.arrays = 1;
    d.room = room_for_keys;
    d.context = f;
    status = f->copies != 1 ? hd_send_to_all(f->member, status, &f->router, &slice, &d)
                            : hd_send(f->member, status, &f->router, &slice, &d);
    *asked = d.total;
    return status;
}

/* How many values go to every member: the offsets where its questions end tell. */
static heddle_status count_values(fetching *f)
{
    const uint64_t *offsets = (const uint64_t *)f->offsets.memory;
    uint64_t questions = 0, before = 0;
    for (uint32_t i = 0; i < hd_exchange_of(f->member)->members; i++) {
        uint64_t end = before;
        questions += f->router.receive[i];
        if (f->router.receive[i] != 0)
            HD_TRY(hd_member_copy(f->member, &end, offsets + questions, sizeof end));
        f->value_send[i] = end - before;
        before = end;
    }
    return HEDDLE_OK;
}

/* The lists of n questions. */
static heddle_status look_up(fetching *f, uint64_t n)
{
    heddle_table *part = hd_part_of(f->r->count.table, f->member);
    uint64_t *offsets = (uint64_t *)f->offsets.memory;
    uint64_t count = 0;
    HD_TRY(heddle_table_count(part, f->keys.memory, n, (uint64_t *)f->matches.memory, NULL, NULL));
    HD_TRY(heddle_table_retrieve(part, f->keys.memory, n, offsets, NULL, 0, &count, NULL));
    HD_TRY(hd_buffer_room(&f->values, f->member->device, count * f->value_width));
    HD_TRY(heddle_table_retrieve(part, f->keys.memory, n, offsets, f->values.memory, count, &count,
                                 NULL));
    HD_TRY(count_values(f));
    hd_phase(f->member, HEDDLE_PHASE_WORK);
    return HEDDLE_OK;
}

/* Numbers of values, then the values. */
static heddle_status send_back(fetching *f, heddle_status mine, uint64_t values)
{
    hd_exchange *exchange = hd_exchange_of(f->member);
    hd_delivery d;
    heddle_status status = mine;
    if (status == HEDDLE_OK)
        status = hd_buffer_room(&f->back_values, f->member->device, values * f->value_width);
    memset(&d, 0, sizeof d);
    d.arrays = 1;
    d.width[0] = sizeof(uint64_t);
    d.from[0] = f->matches.memory;
    d.to[0] = f->back_matches.memory;
    status = hd_send_back(f->member, status, &f->router, &d);
    if (status != HEDDLE_OK) return status;
    d.width[0] = f->value_width;
    d.from[0] = f->values.memory;
    d.to[0] = f->back_values.memory;
    d.send = f->value_send;
    d.receive = f->value_receive;
    status = exchange->ops->all_to_all(exchange, f->member->number, HEDDLE_OK, &d);
    hd_phase(f->member, HEDDLE_PHASE_EXCHANGE);
    return status;
}

/* In independent mode a question has a list from every member: one behind the other. */
static heddle_status make_places(fetching *f, uint64_t n)
{
    const uint64_t lists = n * f->copies;
    uint64_t *at = f->merged, *matches = f->merged + f->slice * f->copies;
    HD_TRY(hd_member_copy(f->member, matches, f->back_matches.memory, lists * sizeof *matches));
    for (uint64_t i = 0; i < lists; i++) at[i] = i < n ? f->host[i] : at[i - n] + matches[i - n];
    HD_TRY(hd_buffer_room(&f->places, f->member->device, lists * sizeof *at));
    return hd_member_copy(f->member, f->places.memory, at, lists * sizeof *at);
}

/* Lays the lists of a stretch of n questions out. */
static heddle_status lay_lists(fetching *f, uint64_t n)
{
    heddle_device *device = f->member->device;
    const hd_site on = hd_on(device, f->work.memory, NULL);
    const uint64_t base = f->host[0], values = f->host[n] - f->host[0];
    hd_answer_lists lists;
    hd_lent out;
    if (values == 0) return HEDDLE_OK;
    if (f->copies != 1) HD_TRY(make_places(f, n));
    HD_TRY(hd_member_lend(f->member, f->r->values + base * f->value_width, values * f->value_width,
                          false, &f->staged[1], &out));
    HD_TRY(device->engine->columns->scan(on, (uint64_t *)f->back_matches.memory, n * f->copies));
    lists.n = n * f->copies;
    lists.elements = values;
    lists.starts = (const uint64_t *)f->back_matches.memory;
    lists.from = f->back_values.memory;
    lists.width = f->value_width;
    lists.places = (const uint64_t *)(f->copies != 1 ? f->places.memory : f->router.values.memory);
    lists.base = base;
    lists.out = out.memory;
    HD_TRY(device->engine->columns->deliver_lists(on, &lists));
    HD_TRY(device->engine->synchronize(device, NULL));
    return hd_member_take_back(f->member, &out);
}

/* Members have different numbers of stretches: they go on until all are through. Agreed upon. */
static heddle_status fetch_values(fetching *f)
{
    hd_exchange *exchange = hd_exchange_of(f->member);
    heddle_status mine = HEDDLE_OK, status = HEDDLE_OK;
    if (f->r->values == NULL) f->n = 0; /* others want theirs */
    for (uint64_t at = 0;;) {
        uint64_t left = f->n - at, n = 0, asked = 0;
        status = exchange->ops->reduce(exchange, f->member->number, mine, &left, 1, HD_REDUCE_MAX);
        if (status != HEDDLE_OK || left == 0) return status;
        mine = next_stretch(f, at, &n);
        status = ask(f, mine, at, n, &asked);
        if (status == HEDDLE_OK)
            status = send_back(f, look_up(f, asked), n != 0 ? f->host[n] - f->host[0] : 0);
        if (status != HEDDLE_OK) return status;
        mine = n != 0 ? lay_lists(f, n) : HEDDLE_OK;
        at += n;
        hd_phase(f->member, HEDDLE_PHASE_REORGANISE);
    }
}

/* ------------------------------------------------------------------------------------ the call */

static heddle_status fetching_begin(fetching *f, retrieval *r, hd_member *member)
{
    const heddle_cluster_table *table = r->count.table;
    heddle_device *device = member->device;
    const uint64_t members = hd_exchange_of(member)->members;
    memset(f, 0, sizeof *f);
    f->r = r;
    f->member = member;
    f->key_width = hd_cluster_key_width(table);
    f->value_width = hd_cluster_value_width(table);
    hd_member_part(member, r->count.n, &f->first, &f->n);
    f->copies = table->independent ? members : 1;
    f->slice = (hd_member_slice(member, false) + f->copies - 1) / f->copies;
    if (f->n < f->slice) f->slice = f->n != 0 ? f->n : 1;
    HD_TRY(hd_check_array(r->offsets, r->count.n + 1, sizeof(uint64_t), "offsets"));
    if (r->values != NULL) HD_TRY(hd_check_array(r->values, r->capacity, f->value_width, "values"));
    if (r->parts == NULL)
        return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for the sums of members");
    const hd_rows rows = {
        table->options.key_bits, f->copies != 1 ? 0 : 64, f->slice * f->copies, false, true, false};
    f->host = (uint64_t *)hd_allocate_zeroed(f->slice * (1 + 2 * f->copies) + 1 + 2 * members,
                                             sizeof(uint64_t));
    if (f->host == NULL) return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for offsets");
    f->value_send = f->host + f->slice + 1;
    f->value_receive = f->value_send + members;
    f->merged = f->value_receive + members;
    HD_TRY(hd_buffer_room(&f->sums, device, (f->slice + 2) * sizeof(uint64_t)));
    HD_TRY(hd_buffer_room(&f->back_matches, device, (rows.slice + 1) * sizeof(uint64_t)));
    HD_TRY(hd_buffer_room(&f->work, device, device->engine->columns->work(device, rows.slice + 1)));
    return hd_router_begin(&f->router, device, &table->spread, &rows);
}

static void fetching_end(fetching *f)
{
    hd_buffer *const all[] = {&f->work,      &f->sums,      &f->keys,       &f->offsets,
                              &f->matches,   &f->values,    &f->places,     &f->back_matches,
                              &f->staged[0], &f->staged[1], &f->back_values};
    hd_router_end(&f->router);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) hd_buffer_free(all[i]);
    free(f->host);
}

/* hd_member_work. */
static heddle_status retrieve_part(hd_member *member, void *context)
{
    retrieval *r = (retrieval *)context;
    hd_exchange *exchange = hd_exchange_of(member);
    uint64_t wanted = r->values != NULL;
    fetching f;
    heddle_status status = fetching_begin(&f, r, member);
    status = exchange->ops->reduce(exchange, member->number, status, &wanted, 1, HD_REDUCE_MAX);
    if (status == HEDDLE_OK) status = hd_ask(member, &r->count);
    if (status == HEDDLE_OK) status = make_offsets(&f);
    if (status == HEDDLE_OK && wanted != 0) status = fetch_values(&f);
    fetching_end(&f);
    return status;
}

heddle_status heddle_cluster_table_retrieve(heddle_cluster_table *table, const void *keys,
                                            uint64_t n, uint64_t *offsets, void *values,
                                            uint64_t capacity, uint64_t *count)
{
    retrieval r;
    heddle_status status;
    if (table == NULL) return hd_fail(HEDDLE_ERROR_INVALID, "retrieve: the table is NULL");
    if (count == NULL)
        return hd_fail(HEDDLE_ERROR_INVALID, "retrieve: there is no place for the count");
    if (table->options.value_bits == 0)
        return hd_fail(HEDDLE_ERROR_INVALID, "retrieve: a set has no values to retrieve");
    memset(&r, 0, sizeof r);
    r.count = hd_question_make(table, HD_ASK_COUNT, keys, n, NULL);
    r.count.values = (char *)offsets;
    r.count.width = sizeof *offsets;
    r.offsets = offsets;
    r.values = (char *)values;
    r.capacity = capacity;
    r.parts = (uint64_t *)hd_allocate_zeroed(table->cluster->exchange->local, sizeof *r.parts);
    status = hd_cluster_call(table, "retrieve", retrieve_part, &r, NULL);
    *count = r.total;
    free(r.parts);
    return status;
}
