/* scratch.h: device memory that a call needs until it returns, freed in one go on every path. */
#ifndef HD_SCRATCH_H
#define HD_SCRATCH_H

#include "engine/engine.h"

#define HD_SCRATCH_MAX 96

typedef struct hd_scratch {
    heddle_device *device;
    uint32_t count;
    void *blocks[HD_SCRATCH_MAX];
} hd_scratch;

/* `bytes` of device memory; 0 bytes are some, so that the pointer is never NULL. */
heddle_status hd_scratch_take(hd_scratch *scratch, uint64_t bytes, void **memory);
/*
 * Where the device can read the `bytes` at `array`: there, or in a copy of it, which is made in stream
 * order. NULL stays NULL.
 */
heddle_status hd_scratch_stage(hd_scratch *scratch, const void *array, uint64_t bytes,
                               const void **staged, void *stream);
/* Gives all blocks back, which waits for the device as hd_block_give does. */
void hd_scratch_free(hd_scratch *scratch);

/*
 * A scratch on a device that frees itself when the block of code ends in which it is declared. Where the device may still
 * be reading what the host is about to change or free, the function waits for its stream first, as ever.
 */
#define HD_SCRATCH(name, device)                                                                   \
    hd_scratch name __attribute__((cleanup(hd_scratch_free))) = {device, 0, {NULL}}

#endif
