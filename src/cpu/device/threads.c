/*
 * threads.c: how many threads a step takes: what its items are worth, and for short steps no more than there are
 * processors that nobody else uses. The OpenMP runtime spins while it waits. Where two programs have more threads than
 * there are processors, a step of microseconds would wait for milliseconds.
 */
#define _GNU_SOURCE /* CLOCK_MONOTONIC_COARSE */
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/file_calls.h"
#include "base/team.h"
#include "cpu/device/engine.h"

#if defined(                                                                                       \
    HD_ONLY_SCALAR) /* the thread sanitizer's build: small batches are to meet several threads */
#define ITEMS_A_THREAD 32
#define SHORT_ITEMS 0
#else
#define ITEMS_A_THREAD 2048             /* below this a second thread costs more than it brings */
#define SHORT_ITEMS (UINT64_C(1) << 22) /* longer steps outlast what was seen when they began */
#endif

int hd_cpu_threads(const heddle_device *device, uint64_t items)
{
    const int most = ((const hd_device_cpu *)device)->threads;
    const uint64_t worth = items / ITEMS_A_THREAD + 1;
    return worth < (uint64_t)most ? (int)worth : most;
}

/* Threads of all programs that run or wait for a processor; 0 where the kernel does not tell. */
static long read_running(void)
{
    char text[128];
    double load;
    long running = 0;
    hd_read_text("/proc/loadavg", text, sizeof text);
    return sscanf(text, "%lf %lf %lf %ld/", &load, &load, &load, &running) == 4 ? running : 0;
}

/* Processors that nobody else uses, as seen in the last milliseconds. `team`: the caller's threads in its last step. */
static long free_processors(int team)
{
    static _Thread_local long processors, others;
    static _Thread_local struct timespec seen;
    struct timespec now;
    if (processors == 0) processors = sysconf(_SC_NPROCESSORS_ONLN);
    /* Ticks of some milliseconds, for a few nanoseconds. */
    if (clock_gettime(CLOCK_MONOTONIC_COARSE, &now) != 0 ||
        (now.tv_nsec == seen.tv_nsec && now.tv_sec == seen.tv_sec))
        return processors - others;
    seen = now;
    others = read_running() - team;
    if (others < 0) others = 0;
    return processors - others;
}

int hd_cpu_team_of(int wanted, uint64_t items)
{
    static _Thread_local int team = 1;
    if (wanted == 1) return 1;
    if (items < SHORT_ITEMS) {
        const long most = free_processors(team);
        if (most < wanted) wanted = most < 1 ? 1 : (int)most;
    }
    return team = hd_team(wanted);
}

int hd_cpu_team(const heddle_device *device, uint64_t items)
{
    return hd_cpu_team_of(hd_cpu_threads(device, items), items);
}
