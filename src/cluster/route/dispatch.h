/*
 * dispatch.h: the first two phases for one slice of a member's part of a batch: find out where its rows go, and
 * lay them out by destination; and, when answers have come back the way the rows went, bring these into the order
 * of the rows. That is the work of engine/owners.h: nothing is sorted and no row numbers are kept.
 *
 * Where members reach each other's memory, rows need not be laid out first: hd_dispatch_direct writes them where they
 * go, and answers are fetched from where they are.
 */
#ifndef HD_DISPATCH_H
#define HD_DISPATCH_H

#include "cluster/members.h"
#include "route/route.h"

typedef struct hd_dispatch {
    hd_member *member;
    const hd_spread *spread;
    uint32_t key_bits, value_bits; /* of what goes with a key; 0: nothing */
    hd_buffer owners, starts, work;
    hd_buffer keys, values; /* out: of the slice, by destination */
    hd_owners batch;        /* the slice at work */
    uint64_t *host_starts;
    uint64_t *send;    /* out: keys for every member */
    uint64_t *receive; /* room for as many numbers, for an exchange */
    bool direct;       /* rows are written where they go */
    void **places;     /* then: the hd_delivery.places of the slice at work */
} hd_dispatch;

/* The arrays of a delivery that goes direct, at most: keys, values, or keys and both answers to them. */
#define HD_DIRECT_ARRAYS 3

/*
 * All memory, for slices of so many rows, is taken here. hd_dispatch_end frees it, also after a failure. `direct` where
 * the exchange allows it: slices are for hd_dispatch_direct.
 */
heddle_status hd_dispatch_begin(hd_dispatch *dispatch, hd_member *member, const hd_spread *spread,
                                uint32_t key_bits, uint32_t value_bits, uint64_t slice,
                                bool direct);
/* n rows of device memory, which stay as they are until the answers are fetched. Waits. */
heddle_status hd_dispatch_slice(hd_dispatch *dispatch, const void *keys, const void *values,
                                uint64_t n);
/*
 * Instead, all of an exchange: the rows are at their owners when it returns. The delivery says what there is room for,
 * its first arrays being keys and, if they have any, values. The status is agreed upon.
 */
heddle_status hd_dispatch_direct(hd_dispatch *dispatch, heddle_status mine, const void *keys,
                                 const void *values, uint64_t n, hd_delivery *delivery);
/* Instead: the n keys for every member; there must be room for as many times n. Waits. */
heddle_status hd_dispatch_to_all(hd_dispatch *dispatch, const void *keys, uint64_t n);
/* The answers to the slice, which came back as it went. Waits, so that the time is that of this phase. */
heddle_status hd_dispatch_fetch(hd_dispatch *dispatch, const hd_owners_answers *answers);
void hd_dispatch_end(hd_dispatch *dispatch);

#endif
