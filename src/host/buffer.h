/*
 * buffer.h: scratch memory of a device that grows on demand. What a buffer held is lost when it
 * grows.
 */
#ifndef HD_BUFFER_H
#define HD_BUFFER_H

#include "engine/engine.h"

typedef struct hd_buffer {
    heddle_device *device;
    void *memory;
    uint64_t bytes;
} hd_buffer;

heddle_status hd_buffer_room(hd_buffer *buffer, heddle_device *device, uint64_t bytes);
/*
 * The same for sizes that vary a little from slice to slice and from call to call: somewhat more,
 * and the same amount nearly always, so that the memory of the last time will do.
 */
heddle_status hd_buffer_ample(hd_buffer *buffer, heddle_device *device, uint64_t bytes);
/* A buffer without memory is left as it is. */
void hd_buffer_free(hd_buffer *buffer);

/* An empty buffer that frees itself when the block ends in which it is declared. */
#define HD_BUFFER(name) hd_buffer name __attribute__((cleanup(hd_buffer_free))) = {NULL, NULL, 0}

#endif
