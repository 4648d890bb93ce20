/*
 * striking.h: what every test with failing_files.h does: a call is made with a plan, and what it says is compared with
 * what has happened to it.
 */
#ifndef TEST_STRIKING_H
#define TEST_STRIKING_H

#include "support/cases.h"
#include "support/failing_files.h"

#define STRIKES_MAX 20000 /* no call makes so many calls of the system */

/* A call of the library. */
typedef heddle_status (*strike_call)(void *context);

/* The status and what has happened. Fails the test when a file stays open, or when the status does not fit. */
typedef struct strike {
    heddle_status status;
    failing_report report;
} strike;
strike strike_once(const failing_plan *plan, strike_call call, void *context);

/* What is held after each call; `context` as above. */
typedef void (*strike_check)(void *context, const strike *s);

/*
 * With every call of the system failed in turn, by every error that fits it. When these are more calls than `most`, it is
 * about so many of them, each with one error, and the last ones, in which a change is committed. Returns how often a
 * call failed.
 */
uint64_t strike_everywhere(strike_call call, strike_check held, void *context, uint64_t most);
/* With calls that signals end and with transfers in pieces, `stride`-th by `stride`-th way: the call is OK. */
void strike_gently(strike_call call, strike_check held, void *context, uint64_t stride);
/* With every number of bytes left on the disk, in `steps` steps, up to what the call writes. */
uint64_t strike_full(strike_call call, strike_check held, void *context, uint64_t steps);
/*
 * In child processes that are killed before every call of the system, or before about `most` of them and the last ones.
 * `held` is given HEDDLE_OK for a child that came to its end, and HEDDLE_ERROR_PEER for one that was killed.
 */
uint64_t strike_dead(strike_call call, strike_check held, void *context, uint64_t most);

/* Files in memory, where there is such a file system: nothing waits for a disk. To be called before the tests. */
void strike_in_memory(void);

#endif
