/* counted_memory.c: see counted_memory.h. */
#define _GNU_SOURCE
#include "support/counted_memory.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static _Atomic uint64_t now, most;

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define COUNTS 0
#elif defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define COUNTS 0
#endif
#endif
#if !defined COUNTS && defined __GLIBC__
#define COUNTS 1
#endif

uint64_t counted_memory_begin(void)
{
    most = now;
    return now;
}
uint64_t counted_memory_now(void) { return now; }
uint64_t counted_memory_most(void) { return most; }

#if COUNTS

bool counted_memory_works(void) { return true; }

static void add(uint64_t bytes)
{
    const uint64_t sum = atomic_fetch_add(&now, bytes) + bytes;
    uint64_t before = most;
    while (sum > before && !atomic_compare_exchange_weak(&most, &before, sum)) continue;
}
static void take(uint64_t bytes) { atomic_fetch_sub(&now, bytes); }

static void *added(void *memory)
{
    if (memory != NULL) add(malloc_usable_size(memory));
    return memory;
}

/* Under these names glibc has its own. */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void *memory);

void *malloc(size_t bytes) { return added(__libc_malloc(bytes)); }
void *calloc(size_t count, size_t bytes) { return added(__libc_calloc(count, bytes)); }
void *realloc(void *memory, size_t bytes)
{
    const size_t before = memory != NULL ? malloc_usable_size(memory) : 0;
    void *after = __libc_realloc(memory, bytes);
    if (after != NULL || bytes == 0) take(before);
    return added(after);
}
void free(void *memory)
{
    if (memory != NULL) take(malloc_usable_size(memory));
    __libc_free(memory);
}
void *memalign(size_t alignment, size_t bytes) { return added(__libc_memalign(alignment, bytes)); }
void *aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }
int posix_memalign(void **memory, size_t alignment, size_t bytes)
{
    void *made = memalign(alignment, bytes);
    if (made == NULL) return ENOMEM;
    *memory = made;
    return 0;
}

/* Mappings of files: what is unmapped there was never added. */
#define FILES_MAX 256
static struct {
    char *at;
    size_t bytes;
} of_files[FILES_MAX];

void *mmap(void *near, size_t bytes, int protection, int flags, int file, off_t at)
{
    void *made = (void *)syscall(SYS_mmap, near, bytes, protection, flags, file, at);
    if (made == MAP_FAILED) return made;
    if (flags & MAP_ANONYMOUS) {
        add(bytes);
        return made;
    }
    for (int i = 0; i < FILES_MAX; i++)
        if (of_files[i].at == NULL) {
            of_files[i].at = made;
            of_files[i].bytes = bytes;
            break;
        }
    return made;
}
int munmap(void *at, size_t bytes)
{
    bool file = false;
    for (int i = 0; i < FILES_MAX && !file; i++)
        if (of_files[i].at == at) {
            file = true;
            of_files[i].at = NULL;
        }
    if (!file) take(bytes);
    return (int)syscall(SYS_munmap, at, bytes);
}

#else

bool counted_memory_works(void) { return false; }

#endif
