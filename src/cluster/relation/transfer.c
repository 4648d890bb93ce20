/* transfer.c: see transfer.h. */
#include "cluster/relation/transfer.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "cluster/send.h"

static uint32_t members_of(const hd_transfer *p) { return hd_exchange_of(p->member)->members; }

static uint64_t slice_length(const hd_transfer *p, uint64_t round)
{
    const uint64_t at = round * p->slice;
    return at >= p->n ? 0 : p->n - at < p->slice ? p->n - at : p->slice;
}

static uint64_t sum_of(const uint64_t *numbers, uint32_t n)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < n; i++) sum += numbers[i];
    return sum;
}

/* ------------------------------------------------------------------------------------------ life */

void hd_transfer_begin(hd_transfer *p, hd_member *member, uint64_t rows)
{
    memset(p, 0, sizeof *p);
    p->member = member;
    hd_member_part(member, rows, &p->first, &p->n);
    p->slice = hd_member_slice(member, false);
    if (p->n < p->slice) p->slice = p->n != 0 ? p->n : 1;
    p->rounds = (p->n + p->slice - 1) / p->slice;
}

/* The numbers of a round. */
static uint64_t *of_round(const hd_transfer *p, uint64_t *numbers, uint64_t round)
{
    return p->kept ? numbers + round * members_of(p) : numbers;
}

static heddle_status take_numbers(hd_transfer *p)
{
    const size_t members = members_of(p), each = (p->kept ? (size_t)p->rounds : 1) * members;
    p->send = (uint64_t *)hd_allocate_zeroed(2 * each + members, sizeof *p->send);
    if (p->send == NULL)
        return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory to count the rows of slices");
    p->receive = p->send + each;
    p->back = p->receive + each;
    return HEDDLE_OK;
}

void hd_transfer_end(hd_transfer *p)
{
    hd_buffer_free(&p->order);
    free(p->send);
    p->send = p->receive = p->back = NULL;
}

void hd_moved_free(hd_moved *moved)
{
    hd_buffer_free(&moved->to);
    hd_buffer_free(&moved->staged);
    hd_buffer_free(&moved->outgoing);
}

/* ---------------------------------------------------------------------------------------- moving */

/* Some columns on their way. */
typedef struct moving {
    hd_transfer *p;
    hd_moved *moved;
    uint32_t count;
    const hd_way *way; /* NULL: it is known */
    hd_router router;
    hd_buffer staged;      /* keys */
    const uint32_t *order; /* of the slice at work */
    uint64_t order_at;     /* rows that have been sent */
    uint64_t at;           /* and that have come */
} moving;

/* Finds the way of a slice. */
static heddle_status route_slice(moving *m, uint64_t round)
{
    hd_transfer *p = m->p;
    heddle_device *device = p->member->device;
    const uint64_t n = slice_length(p, round), width = m->way->key_bits / 8;
    const uint32_t members = members_of(p);
    hd_lent lent = {NULL, NULL, 0};
    if (n != 0)
        HD_TRY(hd_member_lend(p->member, (const char *)m->way->keys + round * p->slice * width,
                              n * width, true, &m->staged, &lent));
    const hd_slice keys = {lent.memory, NULL, n};
    HD_TRY(hd_lay_out(p->member, &m->router, &keys));
    memcpy(of_round(p, p->send, round), m->router.send, members * sizeof *p->send);
    m->order = (const uint32_t *)m->router.values.memory;
    const uint64_t sent = sum_of(m->router.send, members);
    if (!p->kept || sent == 0) return HEDDLE_OK;
    if (m->order_at + sent > m->way->sent)
        return hd_fail(HEDDLE_ERROR_CORRUPT, "keys have changed while they were sent");
    return device->engine->copy(device, (uint32_t *)p->order.memory + m->order_at, m->order,
                                sent * sizeof(uint32_t), NULL);
}

/* The elements of a slice in the order of their destinations; where they are. */
static heddle_status load(moving *m, hd_moved *moved, uint64_t round, uint64_t sent,
                          const void **loaded)
{
    const hd_transfer *p = m->p;
    heddle_device *device = p->member->device;
    const hd_column_ops *columns = device->engine->columns;
    const hd_site on = hd_on(device, NULL, NULL);
    const hd_row_numbers ordered = hd_at_rows(m->order, 32, sent);
    const uint64_t row = round * p->slice;
    hd_lent lent;
    *loaded = m->router.keys.memory;
    if (moved->kind == HD_MOVED_KEYS) return HEDDLE_OK;
    HD_TRY(hd_buffer_room(&moved->outgoing, device, sent * moved->width));
    *loaded = moved->outgoing.memory;
    if (sent == 0) return HEDDLE_OK;
    if (moved->kind == HD_MOVED_ONES)
        return device->engine->fill(device, moved->outgoing.memory, 1, sent, NULL);
    if (moved->kind == HD_MOVED_NUMBERS)
        return columns->renumber(on, ordered, hd_names_of(NULL, p->base + row, moved->width * 8),
                                 moved->outgoing.memory);
    HD_TRY(hd_member_lend(p->member, moved->user + (p->first + row) * moved->width,
                          slice_length(p, round) * moved->width, true, &moved->staged, &lent));
    return columns->gather(on, hd_elements_of(lent.memory, moved->width), ordered,
                           moved->outgoing.memory);
}

/* hd_delivery.room: behind what has come. */
static heddle_status room_for_rows(hd_delivery *d, void *context)
{
    moving *m = (moving *)context;
    if (m->at + d->total > m->p->arrived)
        return hd_fail(HEDDLE_ERROR_CORRUPT, "more rows come than were counted");
    for (uint32_t i = 0; i < m->count; i++)
        d->to[i] = (char *)m->moved[i].to.memory + m->at * m->moved[i].width;
    m->at += d->total;
    return HEDDLE_OK;
}

static heddle_status load_slice(moving *m, uint64_t round, hd_delivery *d)
{
    hd_transfer *p = m->p;
    uint64_t sent;
    if (m->way != NULL) HD_TRY(route_slice(m, round));
    else m->order = (const uint32_t *)p->order.memory + m->order_at;
    sent = sum_of(d->send, members_of(p));
    for (uint32_t i = 0; i < m->count; i++) {
        d->width[i] = m->moved[i].width;
        HD_TRY(load(m, &m->moved[i], round, sent, &d->from[i]));
    }
    m->order_at += sent;
    hd_phase(p->member, HEDDLE_PHASE_REORGANISE);
    return HEDDLE_OK;
}

static heddle_status move_slice(moving *m, heddle_status mine, uint64_t round)
{
    hd_transfer *p = m->p;
    hd_exchange *exchange = hd_exchange_of(p->member);
    hd_delivery d;
    heddle_status status = mine;
    memset(&d, 0, sizeof d);
    d.arrays = m->count;
    if (mine == HEDDLE_OK) {
        d.send = of_round(p, p->send, round);
        d.receive = of_round(p, p->receive, round);
        status = load_slice(m, round, &d);
    }
    d.room = room_for_rows;
    d.context = m;
    status = exchange->ops->all_to_all(exchange, p->member->number, status, &d);
    hd_phase(p->member, HEDDLE_PHASE_EXCHANGE);
    return status;
}

static heddle_status take_room(moving *m)
{
    hd_transfer *p = m->p;
    heddle_device *device = p->member->device;
    if (m->way != NULL) {
        HD_TRY(take_numbers(p));
        if (p->kept) HD_TRY(hd_buffer_room(&p->order, device, m->way->sent * sizeof(uint32_t)));
        const hd_rows rows = {m->way->key_bits, 32, p->slice, true, false, false};
        HD_TRY(hd_router_begin(&m->router, device, m->way->spread, &rows));
    }
    for (uint32_t i = 0; i < m->count; i++)
        HD_TRY(hd_buffer_room(&m->moved[i].to, device, p->arrived * m->moved[i].width));
    return HEDDLE_OK;
}

static heddle_status move_all(moving *m, heddle_status mine)
{
    heddle_status status = HEDDLE_OK;
    if (mine == HEDDLE_OK) mine = take_room(m);
    for (uint64_t i = 0; i < m->p->rounds && status == HEDDLE_OK; i++)
        status = move_slice(m, mine, i);
    if (status == HEDDLE_OK && mine == HEDDLE_OK && m->at != m->p->arrived)
        mine = hd_fail(HEDDLE_ERROR_CORRUPT, "fewer rows come than were counted");
    hd_router_end(&m->router);
    hd_buffer_free(&m->staged);
    for (uint32_t i = 0; i < m->count; i++) {
        hd_buffer_free(&m->moved[i].staged);
        hd_buffer_free(&m->moved[i].outgoing);
    }
    return status == HEDDLE_OK ? hd_member_agree(m->p->member, mine) : status;
}

heddle_status hd_transfer_send(hd_transfer *p, heddle_status mine, const hd_way *way,
                               hd_moved *moved, uint32_t count)
{
    moving m;
    memset(&m, 0, sizeof m);
    m.p = p;
    m.moved = moved;
    m.count = count;
    m.way = way;
    return move_all(&m, mine);
}

heddle_status hd_transfer_send_more(hd_transfer *p, heddle_status mine, hd_moved *moved,
                                    uint32_t count)
{
    moving m;
    memset(&m, 0, sizeof m);
    m.p = p;
    m.moved = moved;
    m.count = count;
    return move_all(&m, mine);
}

/* ------------------------------------------------------------------------------------- going back */

/* An array on its way home. */
typedef struct returning {
    hd_transfer *p;
    const char *from;
    uint32_t width;
    char *user;
    uint64_t order_at, at;
    hd_buffer incoming, staged;
} returning;

/* Brings the elements of a slice into the order of its rows. */
static heddle_status unload(returning *b, uint64_t round)
{
    hd_transfer *p = b->p;
    heddle_device *device = p->member->device;
    const uint64_t n = slice_length(p, round);
    hd_lent lent;
    if (n == 0) return HEDDLE_OK;
    HD_TRY(hd_member_lend(p->member, b->user + (p->first + round * p->slice) * b->width,
                          n * b->width, false, &b->staged, &lent));
    HD_TRY(device->engine->columns->scatter(
        hd_on(device, NULL, NULL), hd_elements_of(b->incoming.memory, b->width),
        hd_at_rows((const uint32_t *)p->order.memory + b->order_at, 32, n), lent.memory));
    HD_TRY(device->engine->synchronize(device, NULL));
    HD_TRY(hd_member_take_back(p->member, &lent));
    b->order_at += n;
    hd_phase(p->member, HEDDLE_PHASE_REORGANISE);
    return HEDDLE_OK;
}

/* `mine` is what this member has to say before, and what it says afterwards. The status is agreed upon. */
static heddle_status return_slice(returning *b, heddle_status *mine, uint64_t round)
{
    hd_transfer *p = b->p;
    hd_exchange *exchange = hd_exchange_of(p->member);
    hd_delivery d;
    heddle_status status;
    memset(&d, 0, sizeof d);
    d.arrays = 1;
    d.width[0] = b->width;
    d.from[0] = b->from + b->at * b->width;
    d.to[0] = b->incoming.memory;
    d.send = of_round(p, p->receive, round);
    d.receive = p->back;
    status = exchange->ops->all_to_all(exchange, p->member->number, *mine, &d);
    hd_phase(p->member, HEDDLE_PHASE_EXCHANGE);
    if (status != HEDDLE_OK) return status;
    b->at += sum_of(d.send, exchange->members);
    *mine = unload(b, round);
    return HEDDLE_OK;
}

heddle_status hd_transfer_return(hd_transfer *p, heddle_status mine, const void *from,
                                 uint32_t width, char *user)
{
    returning b;
    heddle_status status = HEDDLE_OK;
    memset(&b, 0, sizeof b);
    b.p = p;
    b.from = (const char *)from;
    b.width = width;
    b.user = user;
    if (mine == HEDDLE_OK) mine = hd_buffer_room(&b.incoming, p->member->device, p->slice * width);
    for (uint64_t i = 0; i < p->rounds && status == HEDDLE_OK; i++)
        status = return_slice(&b, &mine, i);
    if (status == HEDDLE_OK) status = hd_member_agree(p->member, mine);
    hd_buffer_free(&b.incoming);
    hd_buffer_free(&b.staged);
    return status;
}
