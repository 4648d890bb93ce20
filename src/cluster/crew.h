/* crew.h: the local members of a cluster at work, each on a thread of its own. */
#ifndef HD_CREW_H
#define HD_CREW_H

#include <heddle/heddle.h>

typedef struct hd_member hd_member; /* cluster/members.h */
typedef struct hd_crew hd_crew;

typedef heddle_status (*hd_member_work)(hd_member *member, void *context);

/* A thread for each of `count` members, which waits for work; a single member works on the caller's thread. */
heddle_status hd_crew_open(hd_member *members, uint32_t count, hd_crew **crew);
/*
 * Lets every member do the work once, at the same time, and waits for all. Keeps each member's status and its reason, and
 * returns those of the first member. One caller at a time: calls on clusters hold the cluster's lock. Fails in a process
 * that was forked: a fork takes no threads along.
 */
heddle_status hd_crew_run(hd_crew *crew, hd_member_work work, void *context);
/* Ends the threads, if they are in this process. NULL is accepted. */
void hd_crew_close(hd_crew *crew);

#endif
