/*
 * team.c: see team.h. The OpenMP runtime keeps threads for every thread that calls it. Before it makes more of them for
 * this thread, as many are made here for a moment: where that fails the region gets fewer. gcc's runtime keeps those of
 * the last region of several threads alone: a smaller region ends the others, and the next larger one makes them anew.
 * So what counts is the size of the last region. A smaller region of the host's own goes unnoticed. Before a fork
 * gcc's runtime gives up the threads that it keeps for the forking thread, whoever had it make them, so that parent and
 * child make theirs anew. It does not do that inside of a parallel region: a child that was forked there works alone.
 * clang's runtime minds forks by itself.
 */
#include "base/team.h"

#include <omp.h>
#include <pthread.h>
#include <stdbool.h>

#define AT_ONCE 64 /* threads made in one go */

static _Thread_local int team =
    1; /* what the runtime has for this thread; it may have more, never fewer */

#if !defined(__clang__)
static _Thread_local bool paused, alone;

static void before_fork(void)
{
    paused = omp_pause_resource_all(omp_pause_soft) == 0;
    if (paused) team = 1;
}

/* The runtime counts on threads that the child does not have. */
static void in_child(void) { alone = alone || !paused; }

static void watch(void) { (void)pthread_atfork(before_fork, NULL, in_child); }
#else
static const bool alone = false;
static void watch(void) {}
#endif

void hd_team_mind_forks(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, watch);
}

static void *wait_for_gate(void *gate)
{
    (void)pthread_mutex_lock((pthread_mutex_t *)gate);
    (void)pthread_mutex_unlock((pthread_mutex_t *)gate);
    return NULL;
}

/* How many of so many threads can be made besides those that there are: all of them live at the same time. */
static int try_threads(int wanted)
{
    pthread_t threads[AT_ONCE];
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    const int most = wanted < AT_ONCE ? wanted : AT_ONCE;
    int made = 0, more = 0;
    (void)pthread_mutex_lock(&gate);
    while (made < most && pthread_create(&threads[made], NULL, wait_for_gate, &gate) == 0) made++;
    if (made == AT_ONCE && wanted > AT_ONCE) more = try_threads(wanted - AT_ONCE);
    (void)pthread_mutex_unlock(&gate);
    for (int i = 0; i < made; i++) (void)pthread_join(threads[i], NULL);
    (void)pthread_mutex_destroy(&gate);
    return made + more;
}

static int enlarge(int wanted)
{
    wanted = team + try_threads(wanted - team);
    if (wanted == 1) return 1;
/* The runtime makes them now, while there is room for them. A compiler leaves out a region that does nothing. */
#pragma omp parallel num_threads(wanted)
    {
        __asm__ volatile("" ::: "memory");
    }
    team = wanted;
    return team;
}

int hd_team(int wanted)
{
    if (alone || wanted <= 1) return 1; /* a region of one thread leaves the others as they are */
    if (wanted > team) return enlarge(wanted);
    return team = wanted;
}
