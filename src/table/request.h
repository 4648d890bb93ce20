/*
 * request.h: one call on a table, as a record: what the caller brings, what it wants back, and whether
 * it waits.
 *
 * A public function fills in what its operation has and leaves all else NULL and 0. The record then goes
 * down through the room. Who works on a part of the batch (a piece, a copy in device memory) makes a
 * copy of the record and points its arrays there.
 */
#ifndef HD_REQUEST_H
#define HD_REQUEST_H

#include "engine/engine.h"

typedef struct hd_request {
    /* What the caller brings: n elements each, in host memory or on the table's device. */
    const void *keys;
    const void *values;        /* insert, build, mixed; NULL: none */
    const uint8_t *operations; /* mixed: HEDDLE_OPERATION_*; NULL: all insert */
    uint64_t n;
    heddle_insert_options options; /* insert, build, mixed */

    /* What the caller wants back: NULL where it does not. */
    void *values_out;  /* find, mixed: n values; retrieve: room for `capacity` of them */
    uint8_t *found;    /* find, erase: n flags */
    uint64_t *matches; /* count: n numbers of values */
    uint64_t *offsets; /* retrieve: n + 1, where the values of each key begin */
    uint64_t capacity; /* retrieve: values that there is room for */
    uint64_t *count;   /* retrieve: the values of all keys; host memory, always there */
    bool
        offsets_known; /* retrieve: `offsets` and `count` have been given, and the keys counted in the sums */

    /* The sums: what became of how many keys. */
    heddle_totals *
        totals; /* find, erase, count: for the caller, who then waits for them; NULL: for take_totals */
    bool waits; /* insert, mixed: whether the call has to wait; true afterwards where it did */
    hd_counts counts; /* insert, build, mixed: the sums of a call that waited */

    void *stream;
} hd_request;

#endif
