/*
 * lent.h: arrays of a caller's that a call lends to its device, and takes back. An array that the
 * device can use is used where it lies. Of any other the device gets a copy, in stream order, or
 * room for results, which are copied to the caller when the call ends.
 *
 *   hd_lend_in      an array that the device reads
 *   hd_lend_out     an array that the device writes; hd_take_back brings what it wrote
 *
 * These take room from a scratch. Where the room comes from elsewhere, or copies go another way (a
 * member of a cluster), an hd_lender says how: hd_lend, and hd_lend_back.
 */
#ifndef HD_LENT_H
#define HD_LENT_H

#include "host/scratch.h"

typedef struct hd_lent {
    void *user;     /* the caller's array; NULL: there is none, and nothing happens */
    void *memory;   /* where the device reads and writes: the same, or room elsewhere */
    uint64_t bytes; /* 0: `memory` is `user` */
} hd_lent;

/* Whether the device can use the array where it lies. NULL and the CPU can always. */
bool hd_is_direct(heddle_device *device, const void *array);

/* *memory is where the device can read the `bytes` at `array`. */
heddle_status hd_lend_in(hd_scratch *scratch, const void *array, uint64_t bytes,
                         const void **memory, void *stream);
/* lent->memory is where the device can write; nothing is in it yet. */
heddle_status hd_lend_out(hd_scratch *scratch, void *array, uint64_t bytes, hd_lent *lent);
/* Brings what was written to the caller, and waits for the stream. */
heddle_status hd_take_back(heddle_device *device, const hd_lent *lent, void *stream);

/* Another way to lend arrays. `context` is the lender's own. */
typedef struct hd_lender {
    void *context;
    /* Whether the device can use the array, which is not NULL, where it lies. */
    bool (*is_direct)(void *context, const void *array);
    /* Room of the device's for one array; it stays the lender's. */
    heddle_status (*room)(void *context, uint64_t bytes, void **memory);
    /* Copies to the room (`in`), or to the caller, after all work of the device. */
    heddle_status (*copy)(void *context, const hd_lent *lent, bool in);
} hd_lender;

/* With `reads` the room has what is in the array. */
heddle_status hd_lend(const hd_lender *lender, const void *array, uint64_t bytes, bool reads,
                      hd_lent *lent);
/* Brings what was written to the caller, where it is not there yet. */
heddle_status hd_lend_back(const hd_lender *lender, const hd_lent *lent);

#endif
