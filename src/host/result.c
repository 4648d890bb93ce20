/* result.c: see result.h. */
#include "host/result.h"
#include "base/error.h"

heddle_status hd_result_begin(hd_scratch *scratch, void *user, uint64_t bytes, hd_result *result)
{
    const hd_engine *engine = scratch->device->engine;
    result->user = result->memory = user;
    result->bytes = bytes;
    if (user == NULL || bytes == 0 || engine->host_memory ||
        engine->is_device_memory(scratch->device, user))
        return HEDDLE_OK;
    return hd_scratch_take(scratch, bytes, &result->memory);
}

heddle_status hd_result_end(heddle_device *device, const hd_result *result, void *stream)
{
    if (result->memory != result->user && result->bytes != 0)
        HD_TRY(device->engine->copy(device, result->user, result->memory, result->bytes, stream));
    return device->engine->synchronize(device, stream);
}
