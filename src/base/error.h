/* error.h: the last failure of a thread, as heddle_last_error() tells it, and how a failure leaves a function. */
#ifndef HD_ERROR_H
#define HD_ERROR_H

#include <heddle/heddle.h>
#include <stdlib.h>

#include "base/port.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Keeps a sentence for heddle_last_error() and returns `status`, so that callers can `return` it. */
HD_FOR_TOOL heddle_status hd_fail(heddle_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * Returns from this function, with the status, when a call failed. What the function holds by then frees itself
 * (HD_SCRATCH in host/scratch.h, HD_FREED), or there is nothing to free.
 */
#define HD_TRY(call)                                                                               \
    do {                                                                                           \
        const heddle_status hd_tried_ = (call);                                                    \
        if (hd_tried_ != HEDDLE_OK) return hd_tried_;                                              \
    } while (0)

/* Host memory that goes with the block in which it is declared: `char *name HD_FREED = NULL;` */
#define HD_FREED __attribute__((cleanup(hd_free_at)))
static inline void hd_free_at(void *pointer) { free(*(void **)pointer); }

#ifdef __cplusplus
}
#endif

#endif
