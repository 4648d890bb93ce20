/*
 * shared.c: see shared.h. A file that has no name, in memory: others find it among the open files of the
 * process that shares it, so nothing is left behind when that one dies. A page in front of the memory says how
 * long it is and, to its owner, which file it is.
 */
#define _GNU_SOURCE
#include "cpu/device/shared.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/file_calls.h"

#define HEAD 4096

typedef struct head {
    uint64_t bytes; /* of the whole */
    int64_t process;
    int file; /* among that process's */
} head;

enum { KEY_PROCESS, KEY_FILE, KEY_BYTES };

static void *map_file(int file, uint64_t bytes)
{
    void *start = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    return start != MAP_FAILED ? start : NULL;
}

heddle_status hd_cpu_share(heddle_device *device, uint64_t bytes, void **memory,
                           uint64_t key[HD_SHARE_WORDS])
{
    const uint64_t whole = bytes + HEAD;
    const int file = hd_fault_due() ? -1 : memfd_create("heddle", MFD_CLOEXEC);
    head *start = NULL;
    (void)device;
    *memory = NULL;
    if (file >= 0 && hd_truncate(file, whole) == 0) start = (head *)map_file(file, whole);
    if (start == NULL) {
        if (file >= 0) (void)hd_close(file);
        return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no room for %llu bytes of shared memory",
                       (unsigned long long)bytes);
    }
    start->bytes = whole;
    start->process = getpid();
    start->file = file;
    for (int i = 0; i < HD_SHARE_WORDS; i++) key[i] = 0;
    key[KEY_PROCESS] = (uint64_t)start->process;
    key[KEY_FILE] = (uint64_t)file;
    key[KEY_BYTES] = whole;
    *memory = (char *)start + HEAD;
    return HEDDLE_OK;
}

/* A key of another machine may name some file of ours: then its head says something else. */
static bool is_file_of(const head *start, const uint64_t key[HD_SHARE_WORDS])
{
    return start->bytes == key[KEY_BYTES] && (uint64_t)start->process == key[KEY_PROCESS] &&
           (uint64_t)start->file == key[KEY_FILE];
}

heddle_status hd_cpu_open_shared(heddle_device *device, const uint64_t key[HD_SHARE_WORDS],
                                 void **memory)
{
    char name[64];
    head *start = NULL;
    (void)device;
    *memory = NULL;
    (void)snprintf(name, sizeof name, "/proc/%llu/fd/%llu", (unsigned long long)key[KEY_PROCESS],
                   (unsigned long long)key[KEY_FILE]);
    const int file = hd_fault_due() ? -1 : hd_open(name, O_RDWR);
    if (file >= 0 && (uint64_t)lseek(file, 0, SEEK_END) == key[KEY_BYTES])
        start = (head *)map_file(file, key[KEY_BYTES]);
    if (file >= 0) (void)hd_close(file);
    if (start != NULL && !is_file_of(start, key)) {
        munmap(start, key[KEY_BYTES]);
        start = NULL;
    }
    if (start == NULL)
        return hd_fail(HEDDLE_ERROR_DEVICE, "memory of another process cannot be opened");
    *memory = (char *)start + HEAD;
    return HEDDLE_OK;
}

void hd_cpu_unshare(heddle_device *device, void *memory)
{
    head *start;
    (void)device;
    if (memory == NULL) return;
    start = (head *)(void *)((char *)memory - HEAD);
    if (start->process == getpid()) (void)hd_close(start->file);
    munmap(start, start->bytes);
}
