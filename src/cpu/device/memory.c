/* memory.c: see memory.h. The size of a block stands in front of it. */
#include "cpu/device/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/error.h"
#include "engine/blocks.h"

#define HEAD 256 /* room for the size, and the alignment promised */
#define HUGE_PAGE (UINT64_C(1) << 21)

static void *map_huge(uint64_t bytes)
{
    const uint64_t whole = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    /* One page more, so that the block can begin on a huge page; the ends are given back. */
    char *start = (char *)mmap(NULL, whole + HUGE_PAGE, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint64_t skip;
    if (start == MAP_FAILED) return NULL;
    skip = (HUGE_PAGE - (uint64_t)(uintptr_t)start % HUGE_PAGE) % HUGE_PAGE;
    if (skip != 0) munmap(start, skip);
    munmap(start + skip + whole, HUGE_PAGE - skip);
    madvise(start + skip, whole, MADV_HUGEPAGE);
    *(uint64_t *)(void *)(start + skip) = whole;
    return start + skip;
}

static void *allocate_small(uint64_t bytes)
{
    void *block = NULL;
    if (posix_memalign(&block, HEAD, bytes) != 0) return NULL;
    memset(block, 0, bytes);
    return block;
}

static bool allocate(uint64_t bytes, void **memory)
{
    const uint64_t whole = bytes + HEAD;
    char *block = NULL;
    if (whole > bytes && whole < (UINT64_C(1) << 62))
        block = (char *)(whole < HUGE_PAGE ? allocate_small(whole) : map_huge(whole));
    if (block == NULL) return false;
    if (whole < HUGE_PAGE) *(uint64_t *)(void *)block = 0; /* mark: from malloc */
    *memory = block + HEAD;
    return true;
}

heddle_status hd_memory_cpu_allocate(heddle_device *device, uint64_t bytes, void **memory)
{
    bool failed = hd_fault_due();
    while (!failed && !allocate(bytes, memory)) failed = !hd_blocks_drop_shared(device);
    return failed ? hd_fail(HEDDLE_ERROR_NO_MEMORY, "no room for %llu bytes of main memory",
                            (unsigned long long)bytes)
                  : HEDDLE_OK;
}

void hd_memory_cpu_free(void *memory)
{
    if (memory != NULL) {
        char *block = (char *)memory - HEAD;
        const uint64_t mapped = *(uint64_t *)(void *)block;
        if (mapped == 0) free(block);
        else munmap(block, mapped);
    }
}
