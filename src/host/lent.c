/* lent.c: see lent.h. The usual lender is a scratch, on a stream. */
#include "host/lent.h"

#include "base/error.h"

heddle_status hd_lend(const hd_lender *lender, const void *array, uint64_t bytes, bool reads,
                      hd_lent *lent)
{
    lent->user = lent->memory = (void *)(uintptr_t)array;
    lent->bytes = bytes;
    if (array == NULL || bytes == 0 || lender->is_direct(lender->context, array)) return HEDDLE_OK;
    HD_TRY(lender->room(lender->context, bytes, &lent->memory));
    return reads ? lender->copy(lender->context, lent, true) : HEDDLE_OK;
}

heddle_status hd_lend_back(const hd_lender *lender, const hd_lent *lent)
{
    return lent->memory != lent->user ? lender->copy(lender->context, lent, false) : HEDDLE_OK;
}

bool hd_is_direct(heddle_device *device, const void *array)
{
    return array == NULL || device->engine->host_memory ||
           device->engine->is_device_memory(device, array);
}

/* ------------------------------------------------------------------------------- from a scratch */

typedef struct scratch_lender {
    hd_scratch *scratch;
    void *stream;
} scratch_lender;

static bool reaches(void *context, const void *array)
{
    return hd_is_direct(((const scratch_lender *)context)->scratch->device, array);
}

static heddle_status take_room(void *context, uint64_t bytes, void **memory)
{
    return hd_scratch_take(((const scratch_lender *)context)->scratch, bytes, memory);
}

/* hd_lender.copy, in: in stream order, without a wait. */
static heddle_status copy_in(void *context, const hd_lent *lent, bool in)
{
    const scratch_lender *own = (const scratch_lender *)context;
    heddle_device *device = own->scratch->device;
    (void)in;
    return device->engine->copy(device, lent->memory, lent->user, lent->bytes, own->stream);
}

heddle_status hd_lend_in(hd_scratch *scratch, const void *array, uint64_t bytes,
                         const void **memory, void *stream)
{
    scratch_lender own = {scratch, stream};
    const hd_lender lender = {&own, reaches, take_room, copy_in};
    hd_lent lent;
    HD_TRY(hd_lend(&lender, array, bytes, true, &lent));
    *memory = lent.memory;
    return HEDDLE_OK;
}

heddle_status hd_lend_out(hd_scratch *scratch, void *array, uint64_t bytes, hd_lent *lent)
{
    scratch_lender own = {scratch, NULL};
    const hd_lender lender = {&own, reaches, take_room, copy_in};
    return hd_lend(&lender, array, bytes, false, lent);
}

heddle_status hd_take_back(heddle_device *device, const hd_lent *lent, void *stream)
{
    if (lent->memory != lent->user)
        HD_TRY(device->engine->copy(device, lent->user, lent->memory, lent->bytes, stream));
    return device->engine->synchronize(device, stream);
}
