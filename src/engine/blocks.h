/*
 * blocks.h: device memory for scratch, which a device keeps between calls. Fresh memory is slow: a CPU
 * clears every page of it at the first touch, a GPU maps it and waits. So a block that a call gives back
 * is kept for the next one, up to a share of the device's memory, and dropped when memory runs out.
 */
#ifndef HD_BLOCKS_H
#define HD_BLOCKS_H

#include <heddle/heddle.h>
#include <stdbool.h>

#include "base/port.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A block of at least `bytes`. It belongs to the caller until it is given back. */
HD_FOR_TOOL heddle_status hd_block_take(heddle_device *device, uint64_t bytes, void **memory);
/* Waits for the device, as freeing does, and keeps the block for others. NULL is accepted. */
HD_FOR_TOOL void hd_block_give(heddle_device *device, void *memory);
/* Frees the blocks that nobody has; false when there were none. */
bool hd_blocks_drop(heddle_device *device);
/* The same of all devices that have their memory in common with this one: a GPU may be opened more than once. */
bool hd_blocks_drop_shared(heddle_device *device);
/* A device has been opened, and is about to be closed. */
heddle_status hd_blocks_note(heddle_device *device);
void hd_blocks_forget(heddle_device *device);

#ifdef __cplusplus
}
#endif

#endif
