/* members.c: see members.h. */
#include "cluster/members.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/tuning.h"
#include "host/public_struct.h"

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

void hd_phases_begin(hd_member *member) { member->since = now(); }

void hd_phase(hd_member *member, uint32_t phase)
{
    const double at = now();
    if (hd_tune.phase_watch != NULL) hd_tune.phase_watch(phase);
    member->seconds[phase] += at - member->since;
    member->since = at;
}

uint64_t hd_member_slice(const hd_member *member, bool large)
{
    const uint64_t members = hd_exchange_of(member)->members;
    uint64_t slice = large                                 ? SLICE_LARGE
                     : member->device->engine->host_memory ? SLICE_HOST
                                                           : SLICE_DEVICE;
    if (member->cluster->slice != 0) return member->cluster->slice;
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
    if (member->cluster->slice != 0 || device->engine->host_memory || n <= slice) return slice;
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

/* ---------------------------------------------------------------------------------------- life */

heddle_status hd_cluster_options_read(const heddle_cluster_options *given,
                                      heddle_cluster_options *options)
{
    static const heddle_cluster_options defaults = HEDDLE_CLUSTER_OPTIONS_INIT;
    *options = defaults;
    HD_TRY(hd_read_struct(options, given, &hd_cluster_options_kind));
    if (options->slice > UINT32_MAX)
        return hd_fail(HEDDLE_ERROR_INVALID, "a slice has at most %u keys", UINT32_MAX);
    return HEDDLE_OK;
}

static void cluster_free(heddle_cluster *cluster)
{
    const uint32_t local = cluster->exchange->local;
    hd_crew_close(cluster->crew);
    cluster->exchange->ops->close(cluster->exchange); /* may hold memory of the devices */
    for (uint32_t i = 0; i < local; i++) {
        hd_conveyor_free(&cluster->members[i].conveyor);
        heddle_device_close(cluster->members[i].device);
    }
    pthread_mutex_destroy(&cluster->lock);
    free(cluster->members);
    free(cluster);
}

/* Which devices there are besides the host's. */
static void find_accelerators(heddle_cluster *cluster)
{
    int32_t first = -1;
    for (uint32_t i = 0; i < cluster->exchange->local; i++) {
        heddle_device *device = cluster->members[i].device;
        heddle_device_info info = HEDDLE_DEVICE_INFO_INIT;
        if (device->engine->host_memory) continue;
        if (cluster->accelerator == NULL) cluster->accelerator = device;
        if (device->engine->get_info(device, &info) != HEDDLE_OK) cluster->many_accelerators = true;
        if (first >= 0 && info.index != first) cluster->many_accelerators = true;
        first = info.index;
    }
}

heddle_status hd_cluster_make(hd_exchange *exchange, heddle_device **devices,
                              const heddle_cluster_options *options, heddle_cluster **cluster)
{
    const uint32_t local = exchange->local;
    heddle_cluster *g = (heddle_cluster *)hd_allocate_zeroed(1, sizeof *g);
    heddle_status status;
    if (g != NULL) g->members = (hd_member *)hd_allocate_zeroed(local, sizeof *g->members);
    if (g == NULL || g->members == NULL) {
        free(g);
        return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for a cluster");
    }
    status = hd_crew_open(g->members, local, &g->crew);
    if (status != HEDDLE_OK) {
        free(g->members);
        free(g);
        return status;
    }
    g->exchange = exchange;
    g->slice = options->slice;
    pthread_mutex_init(&g->lock, NULL);
    for (uint32_t i = 0; i < local; i++) {
        g->members[i].cluster = g;
        g->members[i].local = i;
        g->members[i].number = exchange->first + i;
        g->members[i].device = devices[i];
        hd_conveyor_init(&g->members[i].conveyor, devices[i], local);
    }
    find_accelerators(g);
    *cluster = g;
    return HEDDLE_OK;
}

void heddle_cluster_close(heddle_cluster *cluster)
{
    if (cluster != NULL) cluster_free(cluster);
}

/* Opens the devices of a list of names; all or none. */
static heddle_status open_devices(const char *names, heddle_device **devices, uint32_t *count)
{
    heddle_status status = HEDDLE_OK;
    *count = 0;
    while (status == HEDDLE_OK) {
        const size_t length = strcspn(names, ",");
        char name[64];
        if (*count == HEDDLE_CLUSTER_MEMBERS_MAX)
            status = hd_fail(HEDDLE_ERROR_INVALID, "a cluster has at most %d members",
                             HEDDLE_CLUSTER_MEMBERS_MAX);
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

heddle_status heddle_cluster_open(const char *devices, const heddle_cluster_options *options,
                                  heddle_cluster **cluster)
{
    heddle_device *opened[HEDDLE_CLUSTER_MEMBERS_MAX];
    hd_exchange *exchange = NULL;
    heddle_cluster_options chosen;
    uint32_t count = 0;
    heddle_status status;
    if (devices == NULL || cluster == NULL)
        return hd_fail(HEDDLE_ERROR_INVALID,
                       "heddle_cluster_open needs names of devices and a place for the cluster");
    *cluster = NULL;
    status = hd_cluster_options_read(options, &chosen);
    if (status == HEDDLE_OK) status = open_devices(devices, opened, &count);
    if (status != HEDDLE_OK) return status;
    status = hd_local_exchange_open(opened, count, &exchange);
    if (status == HEDDLE_OK) status = hd_cluster_make(exchange, opened, &chosen, cluster);
    if (status == HEDDLE_OK) return HEDDLE_OK;
    if (exchange != NULL) exchange->ops->close(exchange);
    while (count != 0) heddle_device_close(opened[--count]);
    return status;
}

heddle_status heddle_cluster_get_info(heddle_cluster *cluster, heddle_cluster_info *info)
{
    heddle_cluster_info own = HEDDLE_CLUSTER_INFO_INIT;
    if (cluster == NULL) return hd_fail(HEDDLE_ERROR_INVALID, "get_info: the cluster is NULL");
    HD_TRY(hd_check_struct(info, &hd_cluster_info_kind));
    own.members = cluster->exchange->members;
    own.first_member = cluster->exchange->first;
    own.local_members = cluster->exchange->local;
    own.slice = hd_member_slice(&cluster->members[0], false);
    hd_write_struct(info, &own, &hd_cluster_info_kind);
    return HEDDLE_OK;
}

heddle_device *heddle_cluster_device(heddle_cluster *cluster, uint32_t local_member)
{
    return cluster != NULL && local_member < cluster->exchange->local
               ? cluster->members[local_member].device
               : NULL;
}
