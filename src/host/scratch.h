/*
 * scratch.h: device memory that a call needs until it returns. HD_SCRATCH frees it when its block
 * ends, on every path, so that a function with a scratch can leave by HD_TRY.
 */
#ifndef HD_SCRATCH_H
#define HD_SCRATCH_H

#include "engine/engine.h"

#define HD_SCRATCH_MAX 96

typedef struct hd_scratch {
    heddle_device *device;
    uint32_t count;
    void *blocks[HD_SCRATCH_MAX];
} hd_scratch;

/* A scratch of the device that goes with the block in which it is declared. */
#define HD_SCRATCH(name, device)                                                                   \
    hd_scratch name __attribute__((cleanup(hd_scratch_free))) = {(device), 0, {NULL}}

/* `bytes` of device memory; 0 bytes are some, so that the pointer is never NULL. */
heddle_status hd_scratch_take(hd_scratch *scratch, uint64_t bytes, void **memory);
/*
 * Takes a block out of the scratch: it is the caller's now, who gives it back by hd_block_give.
 * Returns it.
 */
void *hd_scratch_keep(hd_scratch *scratch, void *memory);
/* Gives all of it back; the scratch can be used again. */
void hd_scratch_free(hd_scratch *scratch);

#endif
