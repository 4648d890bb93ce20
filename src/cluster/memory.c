/* memory.c: the memory of members and the arrays of callers; see members.h. */
#include "base/error.h"
#include "cluster/members.h"

/* Whether the array lies in the memory of an accelerator of the cluster. */
static bool is_on_accelerator(const heddle_cluster *cluster, const void *user)
{
    heddle_device *device = cluster->accelerator;
    return device != NULL && device->engine->is_device_memory(device, user);
}

/* Whether a member's kernels or threads may use the array as it is. */
static bool is_direct(const hd_member *member, const void *user)
{
    const bool on_accelerator = is_on_accelerator(member->cluster, user);
    if (member->device->engine->host_memory) return !on_accelerator;
    return on_accelerator && !member->cluster->many_accelerators;
}

bool hd_member_takes(const hd_member *member, const void *user)
{
    return user == NULL || !is_on_accelerator(member->cluster, user) || is_direct(member, user);
}

heddle_status hd_member_copy(hd_member *member, void *to, const void *from, uint64_t bytes)
{
    heddle_device *device = member->device;
    if (device->engine->host_memory && member->cluster->accelerator != NULL)
        device = member->cluster->accelerator;
    HD_TRY(device->engine->copy(device, to, from, bytes, NULL));
    return device->engine->synchronize(device, NULL);
}

/* ---------------------------------------------------------------------------------- lent arrays */

/* hd_lender.context: a member, with room of its own for one array. */
typedef struct lending {
    hd_member *member;
    hd_buffer *buffer;
} lending;

static bool reaches(void *context, const void *array)
{
    return is_direct(((const lending *)context)->member, array);
}

static heddle_status take_room(void *context, uint64_t bytes, void **memory)
{
    const lending *own = (const lending *)context;
    HD_TRY(hd_buffer_room(own->buffer, own->member->device, bytes));
    *memory = own->buffer->memory;
    return HEDDLE_OK;
}

/* hd_lender.copy. The caller's array is one of the host, or of another device. */
static heddle_status convey(void *context, const hd_lent *lent, bool in)
{
    hd_member *member = ((const lending *)context)->member;
    const hd_engine *engine = member->device->engine;
    void *to = in ? lent->memory : lent->user;
    const void *from = in ? lent->user : lent->memory;
    if (!in) HD_TRY(engine->synchronize(member->device, NULL));
    if (engine->host_memory || is_on_accelerator(member->cluster, lent->user))
        return hd_member_copy(member, to, from, lent->bytes);
    return hd_conveyor_copy(&member->conveyor, to, from, lent->bytes, in);
}

heddle_status hd_member_lend(hd_member *member, const void *user, uint64_t bytes, bool read,
                             hd_buffer *buffer, hd_lent *lent)
{
    lending own = {member, buffer};
    const hd_lender lender = {&own, reaches, take_room, convey};
    return hd_lend(&lender, user, bytes, read, lent);
}

heddle_status hd_member_take_back(hd_member *member, const hd_lent *lent)
{
    lending own = {member, NULL};
    const hd_lender lender = {&own, reaches, take_room, convey};
    return hd_lend_back(&lender, lent);
}
