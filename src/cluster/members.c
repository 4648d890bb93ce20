/* members.c: see members.h. */
#include "cluster/members.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"

/*
 * Keys of a slice. On a CPU they stay in a large cache from the first phase to the last, and are enough for members to
 * wait for each other rarely; on a GPU a slice fills the device. A large slice is for tables that do something for all they hold in every call.
 */
#define SLICE_HOST (UINT64_C(1) << 19)
#define SLICE_DEVICE (UINT64_C(1) << 24)
#define SLICE_LARGE (UINT64_C(1) << 24)
#define SLICE_MIN (UINT64_C(1) << 12)
/* At most, where slices are as long as memory allows; and the share of the free memory that one may take: there is
   the table beside it, perhaps other members on the device, and a member may be sent more than its share. */
#define SLICE_LONG (UINT64_C(1) << 26)
#define LONG_SHARE 64
/* With more members than this slices are smaller: all keys of all slices may be for one of them. */
#define MEMBERS_FEW 8

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void (*phase_watch)(uint32_t phase);

void hd_phase_watch(void (*watch)(uint32_t phase)) { phase_watch = watch; }

void hd_phase(hd_member *member, uint32_t phase)
{
    const double at = now();
    if (phase_watch != NULL) phase_watch(phase);
    member->seconds[phase] += at - member->since;
    member->since = at;
}

uint64_t hd_member_slice(const hd_member *member, bool large)
{
    const uint64_t members = hd_exchange_of(member)->members;
    uint64_t slice = large                                 ? SLICE_LARGE
                     : member->device->engine->host_memory ? SLICE_HOST
                                                           : SLICE_DEVICE;
    if (member->group->slice != 0) return member->group->slice;
    if (members > MEMBERS_FEW) slice = slice * MEMBERS_FEW / members;
    return slice > SLICE_MIN ? slice : SLICE_MIN;
}

uint64_t hd_member_long_slice(const hd_member *member, uint64_t n, uint32_t row_bytes)
{
    const hd_exchange *exchange = hd_exchange_of(member);
    heddle_device *device = member->device;
    heddle_device_info info = HEDDLE_DEVICE_INFO_INIT;
    const uint64_t slice = hd_member_slice(member, false);
    uint64_t longer = SLICE_LONG;
    if (member->group->slice != 0 || device->engine->host_memory || n <= slice) return slice;
    /* Others are reached through pinned memory of the length of a slice, and slices overlap. */
    if (exchange->links) return slice;
    if (device->engine->get_info(device, &info) != HEDDLE_OK) return slice;
    if (exchange->members > MEMBERS_FEW) longer = longer * MEMBERS_FEW / exchange->members;
    while (longer > slice && longer * row_bytes > info.memory_free / LONG_SHARE) longer /= 2;
    return longer > slice ? longer : slice;
}

void hd_member_part(const hd_member *member, uint64_t n, uint64_t *first, uint64_t *count)
{
    const uint64_t local = hd_exchange_of(member)->local, i = member->local;
    *first = n / local * i + n % local * i / local;
    *count = n / local * (i + 1) + n % local * (i + 1) / local - *first;
}

/* ---------------------------------------------------------------------------------------- work */

typedef struct job {
    heddle_group *group;
    hd_member_work work;
    void *context;
} job;

static void run_member(void *context, uint32_t hand)
{
    const job *j = (const job *)context;
    hd_member *member = &j->group->members[hand];
    member->since = now();
    member->status = j->work(member, j->context);
    if (member->status == HEDDLE_OK) return;
    strncpy(member->reason, heddle_last_error(), sizeof member->reason - 1);
}

heddle_status hd_group_run(heddle_group *group, hd_member_work work, void *context)
{
    job j = {group, work, context};
    hd_crew_run(group->crew, run_member, &j);
    if (group->members[0].status == HEDDLE_OK) return HEDDLE_OK;
    return hd_fail(group->members[0].status, "%s", group->members[0].reason);
}

/* ---------------------------------------------------------------------------------------- life */

heddle_status hd_group_options_read(const heddle_group_options *given,
                                    heddle_group_options *options)
{
    static const heddle_group_options defaults = HEDDLE_GROUP_OPTIONS_INIT;
    *options = given != NULL ? *given : defaults;
    if (options->size != sizeof *options)
        return hd_fail(HEDDLE_ERROR_INVALID,
                       "the options' size is %u, not %zu: use HEDDLE_GROUP_OPTIONS_INIT",
                       options->size, sizeof *options);
    if (options->slice > UINT32_MAX)
        return hd_fail(HEDDLE_ERROR_INVALID, "a slice has at most %u keys", UINT32_MAX);
    return HEDDLE_OK;
}

static void group_free(heddle_group *group)
{
    const uint32_t local = group->exchange->local;
    hd_crew_close(group->crew);
    group->exchange->ops->close(group->exchange); /* may hold memory of the devices */
    for (uint32_t i = 0; i < local; i++) {
        hd_conveyor_free(&group->members[i].conveyor);
        heddle_device_close(group->members[i].device);
    }
    pthread_mutex_destroy(&group->lock);
    free(group->members);
    free(group);
}

/* Which devices there are besides the host's. */
static void find_accelerators(heddle_group *group)
{
    int32_t first = -1;
    for (uint32_t i = 0; i < group->exchange->local; i++) {
        heddle_device *device = group->members[i].device;
        heddle_device_info info = HEDDLE_DEVICE_INFO_INIT;
        if (device->engine->host_memory) continue;
        if (group->accelerator == NULL) group->accelerator = device;
        if (device->engine->get_info(device, &info) != HEDDLE_OK) group->many_accelerators = true;
        if (first >= 0 && info.index != first) group->many_accelerators = true;
        first = info.index;
    }
}

heddle_status hd_group_make(hd_exchange *exchange, heddle_device **devices,
                            const heddle_group_options *options, heddle_group **group)
{
    const uint32_t local = exchange->local;
    heddle_group *g = hd_fault_due() ? NULL : (heddle_group *)calloc(1, sizeof *g);
    heddle_status status;
    if (g != NULL) g->members = (hd_member *)calloc(local, sizeof *g->members);
    if (g == NULL || g->members == NULL) {
        free(g);
        return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for a group");
    }
    status = hd_crew_open(local, &g->crew);
    if (status != HEDDLE_OK) {
        free(g->members);
        free(g);
        return status;
    }
    g->exchange = exchange;
    g->slice = options->slice;
    pthread_mutex_init(&g->lock, NULL);
    for (uint32_t i = 0; i < local; i++) {
        g->members[i].group = g;
        g->members[i].local = i;
        g->members[i].number = exchange->first + i;
        g->members[i].device = devices[i];
        hd_conveyor_init(&g->members[i].conveyor, devices[i], local);
    }
    find_accelerators(g);
    *group = g;
    return HEDDLE_OK;
}

void heddle_group_close(heddle_group *group)
{
    if (group != NULL) group_free(group);
}

/* Opens the devices of a list of names; all or none. */
static heddle_status open_devices(const char *names, heddle_device **devices, uint32_t *count)
{
    heddle_status status = HEDDLE_OK;
    *count = 0;
    while (status == HEDDLE_OK) {
        const size_t length = strcspn(names, ",");
        char name[64];
        if (*count == HEDDLE_GROUP_MEMBERS_MAX)
            status = hd_fail(HEDDLE_ERROR_INVALID, "a group has at most %d members",
                             HEDDLE_GROUP_MEMBERS_MAX);
        else if (length >= sizeof name)
            status = hd_fail(HEDDLE_ERROR_INVALID, "no device is called \"%.64s...\"", names);
        if (status != HEDDLE_OK) break;
        memcpy(name, names, length);
        name[length] = 0;
        status = heddle_device_open(name, &devices[*count]);
        if (status == HEDDLE_OK) ++*count;
        if (status != HEDDLE_OK || names[length] == 0) break;
        names += length + 1;
    }
    if (status != HEDDLE_OK)
        while (*count != 0) heddle_device_close(devices[--*count]);
    return status;
}

heddle_status heddle_group_open(const char *devices, const heddle_group_options *options,
                                heddle_group **group)
{
    heddle_device *opened[HEDDLE_GROUP_MEMBERS_MAX];
    hd_exchange *exchange = NULL;
    heddle_group_options chosen;
    uint32_t count = 0;
    heddle_status status;
    if (devices == NULL || group == NULL)
        return hd_fail(HEDDLE_ERROR_INVALID,
                       "heddle_group_open needs names of devices and a place for the group");
    *group = NULL;
    status = hd_group_options_read(options, &chosen);
    if (status == HEDDLE_OK) status = open_devices(devices, opened, &count);
    if (status != HEDDLE_OK) return status;
    status = hd_local_exchange_open(opened, count, &exchange);
    if (status == HEDDLE_OK) status = hd_group_make(exchange, opened, &chosen, group);
    if (status == HEDDLE_OK) return HEDDLE_OK;
    if (exchange != NULL) exchange->ops->close(exchange);
    while (count != 0) heddle_device_close(opened[--count]);
    return status;
}

heddle_status heddle_group_get_info(heddle_group *group, heddle_group_info *info)
{
    if (group == NULL || info == NULL || info->size != sizeof *info)
        return hd_fail(HEDDLE_ERROR_INVALID,
                       "heddle_group_get_info needs a group and an info with its size set");
    info->members = group->exchange->members;
    info->first_member = group->exchange->first;
    info->local_members = group->exchange->local;
    info->slice = hd_member_slice(&group->members[0], false);
    return HEDDLE_OK;
}

heddle_device *heddle_group_device(heddle_group *group, uint32_t local_member)
{
    return group != NULL && local_member < group->exchange->local
               ? group->members[local_member].device
               : NULL;
}
