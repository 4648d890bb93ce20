/* scratch.c: see scratch.h. */
#include "host/scratch.h"

#include "base/error.h"
#include "engine/blocks.h"

heddle_status hd_scratch_take(hd_scratch *scratch, uint64_t bytes, void **memory)
{
    heddle_device *device = scratch->device;
    *memory = NULL;
    if (scratch->count == HD_SCRATCH_MAX)
        return hd_fail(HEDDLE_ERROR_NO_MEMORY, "a call needs too many blocks of memory");
    HD_TRY(hd_block_take(device, bytes + (bytes == 0), memory));
    scratch->blocks[scratch->count++] = *memory;
    return HEDDLE_OK;
}

void *hd_scratch_keep(hd_scratch *scratch, void *memory)
{
    uint32_t at = 0;
    while (at < scratch->count && scratch->blocks[at] != memory) at++;
    if (at < scratch->count) scratch->blocks[at] = scratch->blocks[--scratch->count];
    return memory;
}

void hd_scratch_free(hd_scratch *scratch)
{
    while (scratch->count != 0) hd_block_give(scratch->device, scratch->blocks[--scratch->count]);
}
