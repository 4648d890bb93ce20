/* crew.h: a thread for every member of a cluster that lives in this process. */
#ifndef HD_CREW_H
#define HD_CREW_H

#include <heddle/heddle.h>
#include <stdbool.h>

typedef struct hd_crew hd_crew;

/* Runs as the `hand`-th of a crew. */
typedef void (*hd_crew_work)(void *context, uint32_t hand);

/* `hands` threads that wait for work; a crew of one has none and works on the caller's. */
heddle_status hd_crew_open(uint32_t hands, hd_crew **crew);
/* Lets every hand do the work once, at the same time, and waits for all. One caller at a time. */
void hd_crew_run(hd_crew *crew, hd_crew_work work, void *context);
/* False in a process that was forked: a fork takes no threads along, and hd_crew_run would wait for ever. */
bool hd_crew_is_here(const hd_crew *crew);
/* Ends the threads, if they are here. NULL is accepted. */
void hd_crew_close(hd_crew *crew);

#endif
