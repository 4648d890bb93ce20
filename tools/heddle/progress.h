/* progress.h: a bar on stderr for what takes long; silent where stderr is no terminal. */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdint.h>

/* Starts a bar of `steps` steps. */
void progress_start(uint32_t steps);
/* Goes on to the next step and names it. */
void progress_step(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Goes to step number `step`, which counts from 0, and names it: where a call may leave steps out. What is left of the
   bar is shared among this step and those behind it. */
void progress_go(uint32_t step, const char *text);
/* Names the current step anew. */
void progress_label(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* How much of the current step is done, 0 to 1. */
void progress_part(double part);
/* All is done, whatever steps were left out. */
void progress_done(void);
/* Erases the bar, so that a line can be printed; the next step or part draws it again. */
void progress_hide(void);

#endif
