/*
 * team.h: how many threads a parallel region of the caller may have. Every region asks, with the number that it would like.
 * The OpenMP runtime alone would end the process where a thread cannot be made, and would wait without end in a process
 * that was forked after a region.
 */
#ifndef HD_TEAM_H
#define HD_TEAM_H

#include "base/port.h"

#ifdef __cplusplus
extern "C" {
#endif

/* To be called before the first region: from then on forks are met. */
void hd_team_mind_forks(void);
/* At least 1, at most `wanted`: the threads that the runtime has for the calling thread, or can make now. */
HD_FOR_TOOL int hd_team(int wanted);

#ifdef __cplusplus
}
#endif

#endif
