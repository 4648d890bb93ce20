/* result.h: arrays that a call fills for the caller, wherever they lie. */
#ifndef HD_RESULT_H
#define HD_RESULT_H

#include "host/scratch.h"

typedef struct hd_result {
    void *user;
    void *memory; /* where the device writes: the same, or memory that is copied in the end */
    uint64_t bytes;
} hd_result;

/* `user` may be NULL: then so is `memory`. */
heddle_status hd_result_begin(hd_scratch *scratch, void *user, uint64_t bytes, hd_result *result);
/* Brings what was written to the caller, and waits for the stream. */
heddle_status hd_result_end(heddle_device *device, const hd_result *result, void *stream);

#endif
