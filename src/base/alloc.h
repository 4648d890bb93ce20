/*
 * alloc.h: host memory. Every allocation of libheddle goes through here, or asks hd_fault_due() first where the memory
 * comes from elsewhere (a device, mmap), so that tests can fail each of them in turn (tests/table/test_faults.c).
 * tests/headers/allocations.sh finds those that do not. libheddle_mpi (src/mpi/) is a library of its own, which cannot
 * call private functions of libheddle: its few allocations have no hook.
 */
#ifndef HD_ALLOC_H
#define HD_ALLOC_H

#include <stdint.h>

#include "base/port.h"

#ifdef __cplusplus
extern "C" {
#endif

/* As malloc, calloc and realloc, except that 0 bytes are some, so that NULL always means that there is no memory.
   free() takes it back. */
HD_FOR_TOOL void *hd_allocate(uint64_t bytes);
void *hd_allocate_zeroed(uint64_t count, uint64_t size);
void *hd_reallocate(void *memory, uint64_t bytes);

/* For tests: the `countdown`-th allocation from now fails (1: the next). 0 switches it off. */
void hd_fault_arm(uint64_t countdown);
/* 1 when the armed fault has struck since it was armed. */
int hd_fault_struck(void);
HD_FOR_TOOL int hd_fault_due(void);

#ifdef __cplusplus
}
#endif

#endif
