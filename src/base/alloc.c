/* alloc.c: see alloc.h. */
#include "base/alloc.h"

#include <stdlib.h>

static uint64_t fault_countdown;
static int fault_struck;

void hd_fault_arm(uint64_t countdown)
{
    __atomic_store_n(&fault_countdown, countdown, __ATOMIC_RELAXED);
    __atomic_store_n(&fault_struck, 0, __ATOMIC_RELAXED);
}

int hd_fault_struck(void) { return __atomic_load_n(&fault_struck, __ATOMIC_RELAXED); }

int hd_fault_due(void)
{
    if (__atomic_load_n(&fault_countdown, __ATOMIC_RELAXED) == 0) return 0;
    if (__atomic_sub_fetch(&fault_countdown, 1, __ATOMIC_RELAXED) != 0) return 0;
    __atomic_store_n(&fault_struck, 1, __ATOMIC_RELAXED);
    return 1;
}

void *hd_allocate(uint64_t bytes)
{
    if (hd_fault_due() || bytes > SIZE_MAX) return NULL;
    return malloc(bytes != 0 ? (size_t)bytes : 1);
}

void *hd_allocate_zeroed(uint64_t count, uint64_t size)
{
    if (hd_fault_due() || count > SIZE_MAX || size > SIZE_MAX) return NULL;
    return count != 0 && size != 0 ? calloc((size_t)count, (size_t)size) : calloc(1, 1);
}

void *hd_reallocate(void *memory, uint64_t bytes)
{
    if (hd_fault_due() || bytes > SIZE_MAX) return NULL;
    return realloc(memory, bytes != 0 ? (size_t)bytes : 1);
}
