/*
 * threads.c: how many threads a step takes: what its items are worth, and for short steps no more than there are
 * processors that nobody else uses. The OpenMP runtime spins while it waits. Where two programs have more threads than
 * there are processors, a step of microseconds would wait for milliseconds.
 */
#define _GNU_SOURCE /* CLOCK_MONOTONIC_COARSE, CPU_COUNT */
#include <sched.h>
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
#define SMALL_MOST 4 /* short steps in a row that work alone rather than end threads */

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

/* Processors that the calling thread may run on: a container or taskset may have left it a few of `all`. */
static long allowed_processors(long all)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return all; /* there are more than a set has */
    const long allowed = CPU_COUNT(&set);
    return allowed < all ? allowed : all;
}

/*
 * Processors that nobody else uses, as seen in the last milliseconds. `team`: the caller's threads in its last step. Others
 * are taken to be spread evenly over all processors, of which the caller may have some.
 */
static long free_processors(int team)
{
    static _Thread_local long all, unused;
    static _Thread_local struct timespec seen;
    struct timespec now;
    /* Ticks of some milliseconds, for a few nanoseconds. */
    if (all != 0 && (clock_gettime(CLOCK_MONOTONIC_COARSE, &now) != 0 ||
                     (now.tv_nsec == seen.tv_nsec && now.tv_sec == seen.tv_sec)))
        return unused;
    if (all == 0) {
        all = sysconf(_SC_NPROCESSORS_ONLN);
        if (all < 1) all = 1;
        (void)clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    }
    seen = now;
    const long allowed = allowed_processors(all), others = read_running() - team;
    unused = allowed - (others > 0 ? (others * allowed + all - 1) / all : 0);
    return unused;
}

/*
 * A smaller region has the runtime end threads that the next larger one makes anew, which takes longer than a short step. So
 * a short step that needs few of them works alone, and they stay, until several in a row have been small.
 */
int hd_cpu_team_of(int wanted, uint64_t items)
{
    static _Thread_local int last = 1, kept = 1, small;
    if (wanted == 1) return 1;
    if (items < SHORT_ITEMS) {
        const long most = free_processors(last);
        if (most < wanted) wanted = most < 1 ? 1 : (int)most;
        if (wanted < kept && small < SMALL_MOST) {
            small++;
            wanted = 1;
        }
    }
    last = hd_team(wanted);
    if (last == 1) return 1;
    kept = last;
    small = 0;
    return last;
}

int hd_cpu_team(const heddle_device *device, uint64_t items)
{
    return hd_cpu_team_of(hd_cpu_threads(device, items), items);
}
