/* scratch_out.c: see scratch_out.h. */
#include "host/scratch_out.h"
#include "base/error.h"

heddle_status hd_scratch_stage_out(hd_scratch *scratch, void *array, uint64_t bytes,
                                   hd_scratch_out *out)
{
    heddle_device *device = scratch->device;
    out->user = array;
    out->memory = array;
    out->bytes = bytes;
    if (array == NULL || device->engine->host_memory ||
        device->engine->is_device_memory(device, array))
        return HEDDLE_OK;
    return hd_scratch_take(scratch, bytes, &out->memory);
}

heddle_status hd_scratch_bring_back(hd_scratch *scratch, const hd_scratch_out *out, void *stream)
{
    heddle_device *device = scratch->device;
    if (out->memory != out->user)
        HD_TRY(device->engine->copy(device, out->user, out->memory, out->bytes, stream));
    return device->engine->synchronize(device, stream);
}
