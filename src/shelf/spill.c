/* spill.c: see spill.h. */
#include "shelf/spill.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/file_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static heddle_status open_file(heddle_shelf *shelf, hd_spill *spill)
{
    int error;
    spill->file = hd_open_nameless(shelf->scratch);
    if (spill->file < 0)
        return hd_fail(HEDDLE_ERROR_IO, "cannot create a file in %s: %s", shelf->scratch,
                       strerror(errno));
    error = hd_reserve(spill->file, spill->bytes);
    if (error != 0)
        return hd_fail(HEDDLE_ERROR_IO, "cannot take %llu bytes for a batch in %s: %s",
                       (unsigned long long)spill->bytes, shelf->scratch, strerror(error));
    shelf->bytes_spilled += spill->bytes;
    return HEDDLE_OK;
}

heddle_status hd_spill_make(heddle_shelf *shelf, uint64_t bytes, bool in_file, hd_spill *spill)
{
    void *memory;
    spill->memory = NULL;
    spill->file = -1;
    spill->bytes = bytes;
    if (bytes == 0) return HEDDLE_OK;
    if (in_file) HD_TRY(open_file(shelf, spill));
    errno = ENOMEM;
    memory = hd_fault_due()
                 ? MAP_FAILED
                 : mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        in_file ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, spill->file, 0);
    if (memory == MAP_FAILED && errno != ENOMEM)
        return hd_fail(HEDDLE_ERROR_IO, "cannot map a batch in %s into memory: %s", shelf->scratch,
                       strerror(errno));
    if (memory == MAP_FAILED)
        return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for a batch of %llu bytes",
                       (unsigned long long)bytes);
    spill->memory = (char *)memory;
    return HEDDLE_OK;
}

heddle_status hd_spill_write(const hd_spill *spill, uint64_t at, const void *from, uint64_t bytes)
{
    if (spill->file < 0) {
        if (bytes != 0) memcpy(spill->memory + at, from, bytes);
        return HEDDLE_OK;
    }
    if (hd_write_at(spill->file, from, bytes, at)) return HEDDLE_OK;
    return hd_fail(HEDDLE_ERROR_IO, "cannot write a batch to the disk: %s", strerror(errno));
}

void hd_spill_done(const hd_spill *spill, uint64_t at, uint64_t bytes)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    const uint64_t begin = (at + page - 1) / page * page, end = (at + bytes) / page * page;
    /* The mapping of a file is shared: what was written to it stays. Memory would be lost. */
    if (spill->file >= 0 && spill->memory != NULL && end > begin)
        (void)madvise(spill->memory + begin, end - begin, MADV_DONTNEED);
}

void hd_spill_free(hd_spill *spill)
{
    if (spill->memory != NULL) (void)munmap(spill->memory, spill->bytes);
    if (spill->file >= 0) (void)hd_close(spill->file);
    spill->memory = NULL;
    spill->file = -1;
}
