/*
 * calls.h: `heddle shelf`: tables larger than memory from column files, without a program of one's own.
 *
 *   options.c  reads the options and opens nothing
 *   calls.c    opens the device, the shelf and the files, makes the call, says what came of it
 */
#ifndef SHELF_CALLS_H
#define SHELF_CALLS_H

#include "tool.h"

enum {
    SHELF_BUILD,
    SHELF_INSERT,
    SHELF_FIND,
    SHELF_COUNT,
    SHELF_ERASE,
    SHELF_EXPORT,
    SHELF_STATS,
    SHELF_VALIDATE,
    SHELF_COMMANDS
};

typedef struct shelf_options {
    uint32_t command; /* SHELF_* */
    const char *directory, *device, *scratch;
    const char *keys, *values, *found, *matches; /* files; NULL: none */
    uint32_t container, scheme, key_bits, value_bits, policy;
    uint64_t memory, seed;
} shelf_options;

/* Makes the call; returns an exit status. */
int shelf_run(const shelf_options *options);

#endif
