/*
 * while_waiting.h: what a thread does while it waits for a device. Messages to other processes move only when somebody asks
 * for them, and the thread that has begun them may be waiting for kernels. Engines whose devices work by themselves ask
 * (hd_while_waiting_work) until the device is done.
 */
#ifndef HD_WHILE_WAITING_H
#define HD_WHILE_WAITING_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* For this thread, from now on; NULL: nothing. */
void hd_while_waiting_set(void (*work)(void *context), void *context);
/* Whether there is anything to do. */
bool hd_while_waiting_any(void);
void hd_while_waiting_work(void);

#ifdef __cplusplus
}
#endif

#endif
