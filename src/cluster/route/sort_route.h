/*
 * sort_route.h: the first two phases for one slice of a member's part of a batch: sort it by bins, and lay it
 * out by destination. The sort is the engine's partition by regions (model/partition.h): a bin is a region
 * of the shared mix. Bins of one owner are neighbours, so sorted by bins is nearly sorted by destination.
 * An engine that can deals the keys out at once instead (hd_deal, engine/graph.h): a CPU, unless some bins go to all.
 */
#ifndef HD_ROUTE_H
#define HD_ROUTE_H

#include "cluster/members.h"
#include "cluster/route/owners.h"

typedef struct hd_route {
    hd_member *member;
    const hd_spread *spread;
    uint32_t key_bits;
    uint32_t value_bits; /* of what goes with a key: values, row numbers of 32 bits, or 0 */
    uint64_t slice;      /* keys at most */
    uint8_t *owners;     /* of every bin, where keys are dealt out; NULL: they are sorted */
    hd_buffer pairs, spare, starts, work;
    hd_buffer keys, values; /* out: of the slice, by destination */
    uint64_t *host_starts;  /* of every bin */
    uint64_t *send;         /* out: keys for every member */
    uint64_t *receive;      /* room for as many numbers, for an exchange */
} hd_route;

/* All memory is taken here. hd_route_end frees it, also after a failure. */
heddle_status hd_route_begin(hd_route *route, hd_member *member, const hd_spread *spread,
                             uint32_t key_bits, uint32_t value_bits, uint64_t slice);
/* `values` NULL: the value of a key is its row in the slice. n keys of device memory. */
heddle_status hd_route_slice(hd_route *route, const void *keys, const void *values, uint64_t n);
void hd_route_end(hd_route *route);

/* Counts the member's n keys by bin, at most 2^HD_COUNT_BITS_MAX of them, in slices; adds to `counts`, host memory. */
heddle_status hd_route_count(hd_member *member, const hd_spread *spread, uint32_t key_bits,
                             const void *keys, uint64_t n, uint64_t *counts);

#endif
