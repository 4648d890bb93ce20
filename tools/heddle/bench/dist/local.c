/*
 * local.c: `heddle bench dist`: clusters whose members are devices of one process; see dist.h. With
 * fewer or more members than --devices names, its devices are taken in turn.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/dist/dist.h"

#define LINK_BYTES (UINT64_C(1) << 28)
#define LINK_REPEAT 5

/* ------------------------------------------------------------------------------------ opening */

/* The names of so many devices, with commas in between; the caller frees them. */
static char *take_turns(const char *cluster, uint32_t members)
{
    const char *at = cluster;
    char *names = (char *)malloc((strlen(cluster) + 1) * members), *end = names;
    for (uint32_t i = 0; i < members && names != NULL; i++) {
        const size_t length = strcspn(at, ",");
        memcpy(end, at, length);
        end += length;
        *end++ = i + 1 < members ? ',' : 0;
        at = at[length] != 0 ? at + length + 1 : cluster;
    }
    return names;
}

static uint32_t count_names(const char *cluster)
{
    uint32_t count = 1;
    for (; *cluster != 0; cluster++) count += *cluster == ',';
    return count;
}

/* As many threads as all members have together, or the first GPU of the cluster. */
static void same_hardware(const char *cluster, char *name, size_t size)
{
    unsigned threads = 0, one = 0;
    const char *gpu = strstr(cluster, "cuda");
    if (gpu != NULL) {
        (void)snprintf(name, size, "%.*s", (int)strcspn(gpu, ","), gpu);
        return;
    }
    for (const char *at = cluster; at != NULL; at = strchr(at, ',')) {
        if (*at == ',') at++;
        threads += sscanf(at, "cpu:%u", &one) == 1 ? one : 1;
    }
    (void)snprintf(name, size, "cpu:%u", threads);
}

static int open_local(const dist_options *o, uint32_t members, dist_team *team)
{
    heddle_cluster_options options = HEDDLE_CLUSTER_OPTIONS_INIT;
    const uint32_t named = count_names(o->cluster);
    char *names = take_turns(o->cluster, members != 0 ? members : named);
    int status = names != NULL ? TOOL_OK : tool_refuse("bench: no memory for the names of devices");
    options.slice = o->slice;
    if (status == TOOL_OK && heddle_cluster_open(names, &options, &team->cluster) != HEDDLE_OK)
        status = tool_refuse("bench: %s", heddle_last_error());
    if (status == TOOL_OK && o->single[0] == 0)
        same_hardware(names, team->single, sizeof team->single);
    else if (status == TOOL_OK && strcmp(o->single, "none") != 0)
        (void)snprintf(team->single, sizeof team->single, "%s", o->single);
    free(names);
    return status;
}

/* ---------------------------------------------------------------------------------- the machine */

static int agree_local(int status) { return status; }

static bool is_same(heddle_device *one, heddle_device *other)
{
    heddle_device_info a = HEDDLE_DEVICE_INFO_INIT, b = HEDDLE_DEVICE_INFO_INIT;
    (void)heddle_device_get_info(one, &a);
    (void)heddle_device_get_info(other, &b);
    return a.kind == b.kind && a.index == b.index;
}

static uint32_t count_devices(const dist_team *team)
{
    uint32_t count = 0, before;
    heddle_device *device;
    for (uint32_t i = 0; (device = heddle_cluster_device(team->cluster, i)) != NULL; i++) {
        for (before = 0; before < i; before++)
            if (is_same(device, heddle_cluster_device(team->cluster, before))) break;
        count += before == i;
    }
    return count;
}

static double total_local(double mine, uint32_t devices) { return mine * devices; }

static heddle_status time_link(heddle_device *from, heddle_device *to, void *memory[2],
                               double *rate)
{
    double times[LINK_REPEAT];
    heddle_status status = heddle_memory_fill(from, memory[0], 1, LINK_BYTES, NULL);
    if (status == HEDDLE_OK) status = heddle_device_synchronize(from, NULL);
    for (int i = -1; i < LINK_REPEAT && status == HEDDLE_OK; i++) { /* the first does not count */
        const double begin = dist_now();
        status = heddle_memory_copy(to, memory[1], memory[0], LINK_BYTES, NULL);
        if (status == HEDDLE_OK) status = heddle_device_synchronize(to, NULL);
        times[i < 0 ? 0 : i] = dist_now() - begin;
    }
    if (status == HEDDLE_OK) *rate = (double)LINK_BYTES / dist_median(times, LINK_REPEAT);
    return status;
}

/* A copy from the first device to the next one that is another. */
static double link_local(const dist_team *team, uint32_t devices, uint32_t *ends)
{
    heddle_device *from = heddle_cluster_device(team->cluster, 0), *to = from;
    void *memory[2] = {NULL, NULL};
    double rate = 0;
    heddle_status status;
    *ends = devices;
    if (devices == 1) return 1; /* no matter */
    for (uint32_t i = 1; to != NULL && is_same(from, to); i++)
        to = heddle_cluster_device(team->cluster, i);
    status = heddle_memory_allocate(from, LINK_BYTES, &memory[0]);
    if (status == HEDDLE_OK) status = heddle_memory_allocate(to, LINK_BYTES, &memory[1]);
    if (status == HEDDLE_OK) status = time_link(from, to, memory, &rate);
    (void)tool_try(status, "measuring the link");
    (void)heddle_memory_free(from, memory[0]);
    (void)heddle_memory_free(to, memory[1]);
    return rate;
}

static int dist_command(const tool_command *command, int argc, char **argv)
{
    static const dist_place place = {open_local, agree_local, count_devices, total_local,
                                     link_local};
    dist_options o;
    const int status = dist_options_read(command, argc, argv, &o);
    return status == TOOL_OK ? dist_sweep(&o, &place, argc, argv) : status;
}

const tool_command dist_page = {
    .name = "bench dist",
    .summary = "tables, joins and group-bys over several devices, beside a single one",
    .text = dist_text,
    .options = dist_option_list,
    .option_count = DIST_OPTION_COUNT,
    .run = dist_command,
    .examples =
        "  heddle bench dist --devices cuda:0,cuda:1 --members 1,2 --scaling strong,weak --model\n",
};
