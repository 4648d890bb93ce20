/*
 * route.h: which member owns a key, and rows laid out by owner. Members are the devices of a cluster or the parts
 * of a shelf. This room knows neither: it is given a device, arrays in the device's memory and the owners.
 *
 *   spread.h, spread.c    which member owns a key: the keys' bins, the bins' owners, and how they are balanced
 *   route.h, router.c     rows laid out by owner, slice by slice, and the choice of the way
 *   by_owners.c           a way: compute the place of every row from its owner and its rank (model/owners.h)
 *   by_sorting.c          a way: sort the slice by bins, then copy the bins of every owner (model/partition.h)
 *   ways.h                what the ways and the router share
 *   count.c               how many rows there are of every bin
 *
 * The steps:
 *   hd_router_begin       takes all memory and chooses the way
 *   hd_router_plan        finds out where the rows of a slice go; `send` then says how many go to every member
 *   hd_router_lay_out     brings them there: `keys` and `values` hold the rows of member 0, then those of member 1, ...
 *   hd_router_write       instead: writes the rows of every member where that member wants them
 *   hd_router_fetch       brings answers, which came back as the rows went, into the order of the rows
 *   hd_router_end         frees
 */
#ifndef HD_ROUTE_H
#define HD_ROUTE_H

#include "host/buffer.h"
#include "route/spread.h"

/* What is laid out, and how. */
typedef struct hd_rows {
    uint32_t key_bits;
    uint32_t value_bits; /* of what goes with a key; 0: nothing */
    uint64_t slice;      /* rows at most; less than 2^32 */
    bool numbers;        /* what goes with a key is its row in the slice, of 32 bits */
    /* Every member gets its rows in their order: for hd_router_fetch and hd_router_write. */
    bool in_order;
    bool direct; /* rows are written where they go: no memory to lay them out here */
} hd_rows;

/* The arrays for which a member may learn places, at most: keys, values, or keys and both answers to them. */
#define HD_ROUTE_ARRAYS 3

struct hd_route_way;

typedef struct hd_router {
    heddle_device *device;
    const hd_spread *spread;
    hd_rows rows;
    const struct hd_route_way *way;
    const void *given_keys, *given_values; /* the slice at work */
    uint64_t n;
    hd_buffer keys, values; /* out: of the slice, by owner */
    uint64_t *send;         /* out: rows for every member */
    uint64_t *receive;      /* room for as many numbers, for an exchange */
    void **places;          /* of direct rows: room for HD_ROUTE_ARRAYS pointers for every member */
    /* The ways' own. */
    hd_buffer starts, work;
    uint64_t *host_starts; /* of every member; by sorting of every bin */
    hd_buffer pairs, spare;
    hd_buffer owners, numbers;
    hd_owners batch;
} hd_router;

/* All memory is taken here. hd_router_end frees it, also after a failure. */
heddle_status hd_router_begin(hd_router *router, heddle_device *device, const hd_spread *spread,
                              const hd_rows *rows);
/*
 * n rows of device memory, which stay as they are until they are laid out or answers are fetched. Waits. `values`
 * may be NULL where rows have none or are numbered.
 */
heddle_status hd_router_plan(hd_router *router, const void *keys, const void *values, uint64_t n);
/* Waits. Rows of a bin that belongs to all members are laid out for each. */
heddle_status hd_router_lay_out(hd_router *router);
/* Waits. places[m] is where the keys for member m begin, places[members + m] where their values do. */
heddle_status hd_router_write(hd_router *router);
/* The answers to the slice, in the order in which its rows were sent. Waits. */
heddle_status hd_router_fetch(hd_router *router, const hd_owners_answers *answers);
void hd_router_end(hd_router *router);

/* To plan and to lay out. */
heddle_status hd_router_slice(hd_router *router, const void *keys, const void *values, uint64_t n);
/* Instead: the n keys for every member; `keys` has room for as many times n. Waits. */
heddle_status hd_router_to_all(hd_router *router, const void *keys, uint64_t n);

/* ----------------------------------------------------------------------------------- counting */

/* Counts rows by bin, of at most HD_PARTITION_BITS_MAX bits. */
typedef struct hd_bin_counter {
    heddle_device *device;
    const hd_spread *spread;
    hd_partition job;
    hd_buffer counts, work;
    hd_router router; /* sorts where there are too many bins to be counted alone */
    uint64_t *host;   /* of every bin */
} hd_bin_counter;

/* For slices of at most so many keys. hd_bin_counter_end frees it, also after a failure. */
heddle_status hd_bin_counter_begin(hd_bin_counter *counter, heddle_device *device,
                                   const hd_spread *spread, uint32_t key_bits, uint64_t slice);
/* n keys of device memory, which stay as they are until the counts are read. */
heddle_status hd_bin_counter_add(hd_bin_counter *counter, const void *keys, uint64_t n);
/* Adds the rows of every bin to `counts`, host memory. Waits. */
heddle_status hd_bin_counter_read(hd_bin_counter *counter, uint64_t *counts);
void hd_bin_counter_end(hd_bin_counter *counter);

#endif
