/* scratch_out.h: arrays that a call writes, wherever they lie: beside scratch.h, which is for reading. */
#ifndef HD_SCRATCH_OUT_H
#define HD_SCRATCH_OUT_H

#include "host/scratch.h"

typedef struct hd_scratch_out {
    void *user;   /* NULL: nobody wants it */
    void *memory; /* where the device can write: the same, or room in the scratch */
    uint64_t bytes;
} hd_scratch_out;

heddle_status hd_scratch_stage_out(hd_scratch *scratch, void *array, uint64_t bytes,
                                   hd_scratch_out *out);
/* Brings what was written to the caller's array, and waits. */
heddle_status hd_scratch_bring_back(hd_scratch *scratch, const hd_scratch_out *out, void *stream);

#endif
