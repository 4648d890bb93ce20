/*
 * spill.h: arrays for a batch that is being sorted: in memory, or, when they are too large, in files without a
 * name, which vanish with the process. The space of a file is taken when it is made, so that a full disk is
 * met there and not later.
 */
#ifndef HD_SPILL_H
#define HD_SPILL_H

#include "shelf/shelf.h"

typedef struct hd_spill {
    char *memory; /* the array, in memory or mapped; NULL: there is none */
    uint64_t bytes;
    int file; /* -1: in memory */
} hd_spill;
#define HD_SPILL_NONE                                                                              \
    {                                                                                              \
        NULL, 0, -1                                                                                \
    }

/* `bytes` may be 0. hd_spill_free frees it, also after a failure. */
heddle_status hd_spill_make(heddle_shelf *shelf, uint64_t bytes, bool in_file, hd_spill *spill);
/* Puts bytes into the array, not by way of the mapping, so that they do not stay in memory. */
heddle_status hd_spill_write(const hd_spill *spill, uint64_t at, const void *from, uint64_t bytes);
/* These bytes are not needed for a while. */
void hd_spill_done(const hd_spill *spill, uint64_t at, uint64_t bytes);
void hd_spill_free(hd_spill *spill);

#endif
