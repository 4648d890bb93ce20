/*
 * local.c: the exchange of members that are devices of one process (exchange.h).
 *
 * A member posts what it has, waits until all have, and fetches what is meant for it from the others'
 * memory: device to device where both are of one kind or one is the host. Copies between two GPUs go straight from one to
 * the other where these can be peers; elsewhere the driver takes them through the host's memory. No memory of its own is needed. Where all members are the
 * host, or the same GPU, they may write to each other's memory themselves.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/tuning.h"
#include "cluster/exchange/exchange.h"

/* What one member has posted. */
typedef struct post {
    heddle_status came;    /* the status it came with */
    heddle_status fetched; /* the status of its fetching */
    hd_delivery *delivery;
    uint64_t *numbers;
    char reason[256]; /* why either failed */
} post;

typedef struct local_exchange {
    hd_exchange base;
    heddle_device **devices;
    post *posts;
    pthread_mutex_t lock;
    pthread_cond_t all_here;
    uint32_t waiting;
    uint64_t turn; /* how often all have met */
} local_exchange;

static local_exchange *local_of(hd_exchange *exchange) { return (local_exchange *)exchange; }

/* Waits until all members are here. */
static void meet(local_exchange *x)
{
    pthread_mutex_lock(&x->lock);
    const uint64_t turn = x->turn;
    if (++x->waiting == x->base.members) {
        x->waiting = 0;
        x->turn++;
        pthread_cond_broadcast(&x->all_here);
    } else {
        while (x->turn == turn) pthread_cond_wait(&x->all_here, &x->lock);
    }
    pthread_mutex_unlock(&x->lock);
}

static void keep_reason(post *p, heddle_status status)
{
    if (status == HEDDLE_OK) return;
    strncpy(p->reason, heddle_last_error(), sizeof p->reason - 1);
    p->reason[sizeof p->reason - 1] = 0;
}

/* The status of the first member that failed, and its reason. */
static heddle_status agreed(const local_exchange *x, bool fetched)
{
    for (uint32_t i = 0; i < x->base.members; i++) {
        const post *p = &x->posts[i];
        const heddle_status status = fetched ? p->fetched : p->came;
        if (status != HEDDLE_OK) return hd_fail(status, "%s", p->reason);
    }
    return HEDDLE_OK;
}

/* -------------------------------------------------------------------------------------- reduce */

static void add_up(uint64_t *to, const uint64_t *from, uint64_t n, uint32_t how)
{
    if (how == HD_REDUCE_SUM)
        for (uint64_t i = 0; i < n; i++) to[i] += from[i];
    else
        for (uint64_t i = 0; i < n; i++) to[i] = from[i] > to[i] ? from[i] : to[i];
}

static heddle_status local_reduce(hd_exchange *exchange, uint32_t member, heddle_status mine,
                                  uint64_t *numbers, uint64_t n, uint32_t how)
{
    local_exchange *x = local_of(exchange);
    post *p = &x->posts[member];
    p->came = mine;
    p->numbers = numbers;
    keep_reason(p, mine);
    meet(x);
    const heddle_status status = agreed(x, false);
    if (status == HEDDLE_OK && member == 0)
        for (uint32_t i = 1; i < exchange->members; i++)
            add_up(numbers, x->posts[i].numbers, n, how);
    meet(x);
    if (status == HEDDLE_OK && member != 0 && n != 0)
        memcpy(numbers, x->posts[0].numbers, n * sizeof *numbers);
    if (n != 0) meet(x); /* the first member's numbers are its own again */
    return status;
}

/* ---------------------------------------------------------------------------------- all to all */

/* Copies between the memories of two members; the one that is not the host knows how. */
static heddle_status fetch(const local_exchange *x, uint32_t to_member, void *to,
                           uint32_t from_member, const void *from, uint64_t bytes)
{
    heddle_device *device = x->devices[to_member];
    if (bytes == 0) return HEDDLE_OK;
    if (device->engine->host_memory) device = x->devices[from_member];
    HD_TRY(device->engine->copy(device, to, from, bytes, NULL));
    if (device != x->devices[to_member]) HD_TRY(device->engine->synchronize(device, NULL));
    return HEDDLE_OK;
}

/* The elements of one sender, of all arrays; they go to the places from `at` on. */
static heddle_status fetch_from(const local_exchange *x, uint32_t me, uint32_t sender,
                                const hd_delivery *d, uint64_t at)
{
    const hd_delivery *theirs = x->posts[sender].delivery;
    uint64_t first = 0;
    for (uint32_t i = 0; i < me; i++) first += theirs->send[i];
    for (uint32_t a = 0; a < d->arrays; a++)
        HD_TRY(fetch(x, me, (char *)d->to[a] + at * d->width[a], sender,
                     (const char *)theirs->from[a] + first * d->width[a],
                     d->receive[sender] * d->width[a]));
    return HEDDLE_OK;
}

/* How much comes from whom, and room for it. */
static heddle_status expect(const local_exchange *x, uint32_t me, hd_delivery *d)
{
    d->total = 0;
    for (uint32_t i = 0; i < x->base.members; i++) {
        d->receive[i] = x->posts[i].delivery->send[me];
        d->total += d->receive[i];
    }
    return d->room != NULL ? d->room(d, d->context) : HEDDLE_OK;
}

static heddle_status receive(const local_exchange *x, uint32_t me, hd_delivery *d)
{
    uint64_t at = 0;
    heddle_status status = expect(x, me, d);
    for (uint32_t i = 0; i < x->base.members && status == HEDDLE_OK; i++) {
        status = fetch_from(x, me, i, d, at);
        at += d->receive[i];
    }
    if (status != HEDDLE_OK) return status;
    return x->devices[me]->engine->synchronize(x->devices[me], NULL);
}

/* Posts a delivery, and does `serve` for it when all have posted theirs. */
static heddle_status
meet_with(local_exchange *x, uint32_t member, heddle_status mine, hd_delivery *delivery,
          heddle_status (*serve)(const local_exchange *, uint32_t, hd_delivery *))
{
    post *p = &x->posts[member];
    if (mine == HEDDLE_OK) /* what is posted is there */
        mine = x->devices[member]->engine->synchronize(x->devices[member], NULL);
    p->came = mine;
    p->delivery = delivery;
    keep_reason(p, mine);
    meet(x);
    heddle_status status = agreed(x, false);
    if (status == HEDDLE_OK) {
        p->fetched = serve(x, member, delivery);
        keep_reason(p, p->fetched);
    }
    meet(x);
    if (status != HEDDLE_OK) return status;
    status = agreed(x, true);
    if (status != HEDDLE_OK) meet(x); /* all have read the reason */
    return status;
}

static heddle_status local_all_to_all(hd_exchange *exchange, uint32_t member, heddle_status mine,
                                      hd_delivery *delivery)
{
    return meet_with(local_of(exchange), member, mine, delivery, receive);
}

/* The others have made room: theirs for what comes from this member, behind what comes from those before it. */
static heddle_status local_offer(hd_exchange *exchange, uint32_t member, heddle_status mine,
                                 hd_delivery *delivery)
{
    local_exchange *x = local_of(exchange);
    HD_TRY(meet_with(x, member, mine, delivery, expect));
    for (uint32_t m = 0; m < exchange->members; m++) {
        const hd_delivery *theirs = x->posts[m].delivery;
        uint64_t before = 0;
        for (uint32_t i = 0; i < member; i++) before += theirs->receive[i];
        for (uint32_t a = 0; a < delivery->arrays; a++)
            delivery->places[(uint64_t)a * exchange->members + m] =
                (char *)theirs->to[a] + before * delivery->width[a];
    }
    return HEDDLE_OK;
}

/* ---------------------------------------------------------------------------------------- life */

static void local_close(hd_exchange *exchange)
{
    local_exchange *x = local_of(exchange);
    pthread_mutex_destroy(&x->lock);
    pthread_cond_destroy(&x->all_here);
    free(x->devices);
    free(x->posts);
    free(x);
}

static const hd_exchange_ops local_ops = {
    local_reduce, local_all_to_all, local_close, local_offer, NULL, NULL, NULL};

/* Whether two of `count` members reach each other's memory; a GPU does that with a few. */
static bool reaches(const heddle_device *device, const heddle_device *other, uint32_t count)
{
    return device->engine == other->engine && device->engine->shares_memory(device, other) &&
           (device->engine->host_memory || count <= HD_OWNERS_DIRECT);
}

/* Every member fetches from all others. */
static void connect_all(heddle_device *const *devices, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < count; j++)
            if (devices[i]->engine == devices[j]->engine)
                devices[i]->engine->connect(devices[i], devices[j]);
}

heddle_status hd_local_exchange_open(heddle_device *const *devices, uint32_t count,
                                     hd_exchange **exchange)
{
    local_exchange *x = (local_exchange *)hd_allocate_zeroed(1, sizeof *x);
    if (x != NULL) {
        x->devices = (heddle_device **)hd_allocate(count * sizeof *x->devices);
        x->posts = (post *)hd_allocate_zeroed(count, sizeof *x->posts);
    }
    if (x == NULL || x->devices == NULL || x->posts == NULL) {
        if (x != NULL) {
            free(x->devices);
            free(x->posts);
        }
        free(x);
        return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for an exchange");
    }
    memcpy(x->devices, devices, count * sizeof *x->devices);
    connect_all(devices, count);
    pthread_mutex_init(&x->lock, NULL);
    pthread_cond_init(&x->all_here, NULL);
    x->base.ops = &local_ops;
    x->base.members = x->base.local = count;
    x->base.direct = !hd_tune.local_copies;
    for (uint32_t i = 0; i < count; i++) x->base.direct &= reaches(devices[0], devices[i], count);
    *exchange = &x->base;
    return HEDDLE_OK;
}
