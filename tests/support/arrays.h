/*
 * arrays.h: arrays as a call of the library is given them, in host memory or in device memory.
 *
 * An array ends exactly where its memory ends under the address sanitizer, and in guard bytes that
 * must survive elsewhere, so that a write past its end is noticed.
 */
#ifndef TEST_ARRAYS_H
#define TEST_ARRAYS_H

#include "support/cases.h"

typedef struct array {
    heddle_device *device;
    uint64_t bytes;
    uint8_t *host;
    void *memory; /* the same on the device; NULL where the call is given `host` */
} array;

/* Arrays of one call by the part they play: with mixed arrays, odd roles lie on the device. */
enum { ROLE_KEYS, ROLE_VALUES, ROLE_FLAGS };

/* An array whose bytes all are `poison`. */
array array_poisoned(const test_case *c, uint32_t role, uint64_t bytes, uint8_t poison);
/* An array of n unsigned numbers of `bits` bits; bits 0 makes none (array_pointer gives NULL). */
array array_of(const test_case *c, uint32_t role, const uint64_t *numbers, uint64_t n,
               uint32_t bits);
/* What to hand to the call. */
void *array_pointer(const array *a);
/* Brings what the call wrote back to a->host, and checks the guards. */
void array_pull(array *a);
/* The i-th number of `bits` bits in a->host. */
uint64_t array_at(const array *a, uint64_t i, uint32_t bits);
void array_free(array *a);

/* `number` cut to its low `bits` bits; 0 for no bits. */
uint64_t low_bits(uint64_t number, uint32_t bits);

#endif
