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

/* ---------------------------------------------------------------------------------------- rows */

heddle_status hd_member_route(hd_member *member, hd_router *router, const void *keys, uint64_t n)
{
    HD_TRY(hd_router_plan(router, keys, NULL, n));
    hd_phase(member, HEDDLE_PHASE_PARTITION);
    HD_TRY(hd_router_lay_out(router));
    hd_phase(member, HEDDLE_PHASE_REORGANISE);
    return HEDDLE_OK;
}

static heddle_status count_slices(hd_member *member, hd_bin_counter *counter, hd_buffer *staged,
                                  const char *keys, uint64_t n)
{
    const uint64_t slice = hd_member_slice(member, true);
    const uint32_t width = counter->job.key_bits / 8;
    for (uint64_t first = 0; first < n; first += slice) {
        const uint64_t length = n - first < slice ? n - first : slice;
        hd_window window;
        HD_TRY(hd_window_open(member, keys + first * width, length * width, true, staged, &window));
        HD_TRY(hd_bin_counter_add(counter, window.memory, length));
    }
    return HEDDLE_OK;
}

heddle_status hd_member_count(hd_member *member, const hd_spread *spread, uint32_t key_bits,
                              const void *keys, uint64_t n, uint64_t *counts)
{
    const uint64_t slice = hd_member_slice(member, true);
    hd_buffer staged = {NULL, NULL, 0};
    hd_bin_counter counter;
    heddle_status status =
        hd_bin_counter_begin(&counter, member->device, spread, key_bits, n < slice ? n : slice);
    if (status == HEDDLE_OK)
        status = count_slices(member, &counter, &staged, (const char *)keys, n);
    if (status == HEDDLE_OK) status = hd_bin_counter_read(&counter, counts);
    hd_bin_counter_end(&counter);
    hd_buffer_free(&staged);
    hd_phase(member, HEDDLE_PHASE_PARTITION);
    return status;
}
