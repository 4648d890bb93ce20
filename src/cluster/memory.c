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

/* Between a buffer of the member and a caller's array that it cannot use: of the host, or of another device. */
static heddle_status convey(hd_member *member, void *to, const void *from, uint64_t bytes,
                            const void *user)
{
    if (member->device->engine->host_memory || is_on_accelerator(member->cluster, user))
        return hd_member_copy(member, to, from, bytes);
    return hd_conveyor_copy(&member->conveyor, to, from, bytes, from == user);
}

heddle_status hd_window_open(hd_member *member, const void *user, uint64_t bytes, bool read,
                             hd_buffer *buffer, hd_window *window)
{
    window->user = (void *)(uintptr_t)user;
    window->memory = window->user;
    window->bytes = bytes;
    if (user == NULL || bytes == 0 || is_direct(member, user)) return HEDDLE_OK;
    HD_TRY(hd_buffer_room(buffer, member->device, bytes));
    {
        window->memory = buffer->memory;
        if (read) HD_TRY(convey(member, window->memory, user, bytes, user));
    }
    return HEDDLE_OK;
}

heddle_status hd_window_close(hd_member *member, const hd_window *window)
{
    if (window->memory == window->user) return HEDDLE_OK;
    HD_TRY(member->device->engine->synchronize(member->device, NULL));
    return convey(member, window->user, window->memory, window->bytes, window->user);
}
