/* error.h: the last failure of a thread, as heddle_last_error() tells it. */
#ifndef HD_ERROR_H
#define HD_ERROR_H

#include <heddle/heddle.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Keeps a sentence for heddle_last_error() and returns `status`, so that callers can `return` it. */
heddle_status hd_fail(heddle_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * Fault injection for tests: the `countdown`-th allocation from now fails (1: the next). 0 switches
 * it off. Every allocation of the library, host, pinned or device, asks hd_fault_due() first.
 */
void hd_fault_arm(uint64_t countdown);
/* 1 when the armed fault has struck since it was armed. */
int hd_fault_struck(void);
int hd_fault_due(void);

#ifdef __cplusplus
}
#endif

#endif
