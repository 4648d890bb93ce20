/* buffer.c: see buffer.h. */
#include "host/buffer.h"

#include "base/error.h"
#include "engine/blocks.h"

/*
 * What is asked for besides: a share, and then up to a round number, which is one of so many in a
 * power of two.
 */
#define AMPLE_MORE 64
#define AMPLE_STEPS 16

heddle_status hd_buffer_room(hd_buffer *buffer, heddle_device *device, uint64_t bytes)
{
    if (buffer->memory != NULL && buffer->bytes >= bytes) return HEDDLE_OK;
    if (buffer->memory != NULL) bytes += bytes / 8; /* rather once than for every slice */
    hd_buffer_free(buffer);
    HD_TRY(hd_block_take(device, bytes + (bytes == 0), &buffer->memory));
    buffer->device = device;
    buffer->bytes = bytes;
    return HEDDLE_OK;
}

heddle_status hd_buffer_ample(hd_buffer *buffer, heddle_device *device, uint64_t bytes)
{
    uint64_t step = 1;
    if (buffer->memory != NULL && buffer->bytes >= bytes) return HEDDLE_OK;
    bytes += bytes / AMPLE_MORE;
    while (step < bytes / AMPLE_STEPS) step *= 2;
    return hd_buffer_room(buffer, device, (bytes + step - 1) / step * step);
}

void hd_buffer_free(hd_buffer *buffer)
{
    if (buffer->memory != NULL) hd_block_give(buffer->device, buffer->memory);
    buffer->memory = NULL;
    buffer->bytes = 0;
}
