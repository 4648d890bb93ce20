/*
 * exchange.h: how the members of a cluster reach each other. All that is done over several devices is
 * written against this little interface, whether members are devices of one process (local.c)
 * or ranks of MPI (src/mpi/).
 *
 * A member is one device with one part of every table and one part of every batch. All members make the
 * same calls in the same order, each from a thread of its own.
 *
 * Failures are agreed upon. A member brings the status of what it did before to every call; when that of
 * any member is not HEDDLE_OK, nothing is moved and the call returns the same status to all of them, with
 * the reason of a member that failed. So all members leave a loop at the same place, and nobody waits for
 * one that has left.
 *
 * The files of this room:
 *
 *     local.c            members of one process: they fetch from each other's memory
 *     transport.h        members of several processes, over a heddle_transport:
 *       transport.c        agrees, and moves arrays
 *       transport_ways.c   brings them out of and into the memory of a device
 *       same_machine.h     processes of one machine read each other's shared memory
 *
 * A slice goes through `all_to_all`, or through `begin` and `end`, between which the caller does something else. Where
 * all reach each other's memory, rows are written to their places at once (`offer`).
 *
 * An exchange that has lost a member (a rank that died, a time-out) says HEDDLE_ERROR_PEER and is broken:
 * every further call says the same at once.
 */
#ifndef HD_EXCHANGE_H
#define HD_EXCHANGE_H

#include "engine/engine.h"

typedef struct hd_exchange hd_exchange;

#define HD_ARRAYS_MAX 33 /* that one call moves: columns of keys, their flags, row numbers */

/* What a member sends and receives: arrays of device memory of as many elements each. */
typedef struct hd_delivery {
    uint32_t arrays;
    uint32_t width[HD_ARRAYS_MAX];   /* bytes of an element */
    const void *from[HD_ARRAYS_MAX]; /* the elements for member 0, then those for member 1, ... */
    const uint64_t *send;            /* how many for every member */
    uint64_t *receive;               /* out: how many from every member */
    uint64_t total;                  /* out: their sum */
    void *to[HD_ARRAYS_MAX]; /* where they go, those from member 0 first; `room` may set it */
    /* NULL, or called when `receive` and `total` are known and before anything is moved. */
    heddle_status (*room)(struct hd_delivery *delivery, void *context);
    void *context;
    /* Of `offer`, out: where the elements for member m of array a begin, in places[a * members + m]. */
    void **places;
} hd_delivery;

enum { HD_REDUCE_SUM, HD_REDUCE_MAX };

typedef struct hd_exchange_ops {
    /* Every one of n numbers in host memory becomes the sum, or the largest, of all members'. n may be 0. */
    heddle_status (*reduce)(hd_exchange *exchange, uint32_t member, heddle_status mine,
                            uint64_t *numbers, uint64_t n, uint32_t how);
    /* All to all with varying numbers of elements. Returns when the arrays are there. */
    heddle_status (*all_to_all)(hd_exchange *exchange, uint32_t member, heddle_status mine,
                                hd_delivery *delivery);
    void (*close)(hd_exchange *exchange);
    /*
     * The first half of all_to_all where members reach each other's memory (direct), `from` being of no interest:
     * everybody learns how much comes, makes room, and learns where its elements go. It writes them there
     * itself and agrees with the others that all have: until then they may read the delivery and its `receive`, too.
     * What it learnt holds until the next exchange of arrays. NULL where members do not reach each other.
     */
    heddle_status (*offer)(hd_exchange *exchange, uint32_t member, heddle_status mine,
                           hd_delivery *delivery);
    /*
     * all_to_all in parts, of at most HEDDLE_TRANSPORT_ARRAYS arrays, where an exchange `overlaps`. `ready` begins to bring
     * what a delivery sends out of the device, while another may be under way; its status is brought to `begin`.
     * Between `begin` and `end` the delivery and what it moves are left alone, and no other call comes but `ready`. The
     * statuses of both are agreed upon. After a failure of `begin` there is nothing to end. When `end` returns
     * the arrays are there for whatever is given to the device's own stream from then on.
     */
    heddle_status (*ready)(hd_exchange *exchange, const hd_delivery *delivery);
    heddle_status (*begin)(hd_exchange *exchange, uint32_t member, heddle_status mine,
                           hd_delivery *delivery);
    heddle_status (*end)(hd_exchange *exchange, uint32_t member);
} hd_exchange_ops;

/* An exchange's own kind begins with this. */
struct hd_exchange {
    const hd_exchange_ops *ops;
    uint32_t members;
    uint32_t first, local; /* members [first, first + local) are of this process */
    bool direct;           /* every member can read and write the memory of every other */
    bool overlaps;         /* this member can work on its device while arrays are moved */
    bool links;            /* some others are reached only by a transport */
};

/* The members are all of this process: one for every device, which stay the caller's. */
heddle_status hd_local_exchange_open(heddle_device *const *devices, uint32_t count,
                                     hd_exchange **exchange);

/* All members come with a status and leave with the same one. */
static inline heddle_status hd_agree(hd_exchange *exchange, uint32_t member, heddle_status mine)
{
    return exchange->ops->reduce(exchange, member, mine, NULL, 0, HD_REDUCE_SUM);
}

#endif
