/*
 * route.h: which member owns a key, and rows laid out by owner. Members are the devices of a cluster or the parts
 * of a shelf. This room knows neither: it is given a device, arrays of the device's memory and the owners.
 *
 *   spread.h, spread.c    which member owns a key: the keys' bins, the bins' owners, and how they are balanced
 *   route.h, router.c     rows laid out by owner, slice by slice, and the choice of the way
 *   by_sorting.c          a way: sort the slice by bins, then copy the bins of every owner
 *   by_dealing.c          a way: find the owner of every key, and write the key behind those the owner has
 *   count.c               how many rows there are of every bin
 *
 * The steps:
 *   hd_router_begin       takes all memory and chooses the way
 *   hd_router_plan        finds out where the rows of a slice go; `send` then says how many go to every member
 *   hd_router_lay_out     brings them there: `keys` and `values` hold the rows of member 0, then those of member 1, ...
 *   hd_router_end         frees
 */
#ifndef HD_ROUTE_H
#define HD_ROUTE_H

#include "host/buffer.h"
#include "route/spread.h"

/* What is laid out. */
typedef struct hd_rows {
    uint32_t key_bits;
    uint32_t value_bits; /* of what goes with a key; 0: nothing */
    uint64_t slice;      /* rows at most; less than 2^32 */
} hd_rows;

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
    /* The ways' own. */
    hd_buffer pairs, spare, starts, work;
    uint64_t *host_starts; /* by sorting: of every bin */
    uint8_t *owners;       /* by dealing: of every bin */
} hd_router;

/* All memory is taken here. hd_router_end frees it, also after a failure. */
heddle_status hd_router_begin(hd_router *router, heddle_device *device, const hd_spread *spread,
                              const hd_rows *rows);
/*
 * n rows of device memory, which stay as they are until they are laid out. `values` NULL where rows have some: the
 * value of a key is its row in the slice, of 32 bits. Waits.
 */
heddle_status hd_router_plan(hd_router *router, const void *keys, const void *values, uint64_t n);
/* Waits. Rows of a bin that belongs to all members are laid out for each. */
heddle_status hd_router_lay_out(hd_router *router);
void hd_router_end(hd_router *router);

/* Both steps. */
heddle_status hd_router_slice(hd_router *router, const void *keys, const void *values, uint64_t n);

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
