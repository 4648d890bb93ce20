/*
 * send.h: the rows of a slice on their way to the members that own their keys, and answers on the way back. Rows are
 * laid out by owner (route/route.h) and moved (cluster/exchange/exchange.h); members that reach each other's memory write
 * their rows where they go instead. Every step is counted in its phase.
 */
#ifndef HD_SEND_H
#define HD_SEND_H

#include "cluster/members.h"

/* Rows in memory of the member; `values` may be NULL. */
typedef struct hd_slice {
    const void *keys, *values;
    uint64_t n;
} hd_slice;

/* Lays the slice out by owner; the router's `send` says how many rows go to every member. */
heddle_status hd_lay_out(hd_member *member, hd_router *router, const hd_slice *slice);
/* The delivery of what a router lays out: keys, and values if there are any. The caller adds `room` or `to`. */
hd_delivery hd_delivery_of(const hd_router *router);
/*
 * Lays the slice out and sends it, or writes it where it goes if the router is direct: then the rows are at their owners
 * when it returns. Of a direct delivery more arrays may be announced than are sent. The status is agreed upon.
 */
heddle_status hd_send(hd_member *member, heddle_status mine, hd_router *router,
                      const hd_slice *slice, hd_delivery *delivery);
/* The same for keys that go to every member. */
heddle_status hd_send_to_all(hd_member *member, heddle_status mine, hd_router *router,
                             const hd_slice *slice, hd_delivery *delivery);
/* Sends answers the way that the router's rows came; the delivery says what. The status is agreed upon. */
heddle_status hd_send_back(hd_member *member, heddle_status mine, hd_router *router,
                           hd_delivery *delivery);
/* Brings answers that have come back into the order of the rows. */
heddle_status hd_fetch(hd_member *member, hd_router *router, const hd_owners_answers *answers);
/* Counts the caller's n keys by bin, in slices; adds to `counts`, host memory. */
heddle_status hd_member_count(hd_member *member, const hd_spread *spread, uint32_t key_bits,
                              const void *keys, uint64_t n, uint64_t *counts);

#endif
