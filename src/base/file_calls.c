/* file_calls.c: see file_calls.h. */
#define _GNU_SOURCE /* O_TMPFILE */
#include "base/file_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

static bool interrupted(int64_t result) { return result < 0 && errno == EINTR; }

/* ------------------------------------------------------------------------------- open and close */

int hd_open_at(int directory, const char *name, int flags)
{
    int file;
    do file = openat(directory, name, flags | O_CLOEXEC, 0666);
    while (interrupted(file));
    return file;
}

int hd_open(const char *path, int flags) { return hd_open_at(AT_FDCWD, path, flags); }

int hd_close(int file) { return close(file) == 0 || errno == EINTR ? 0 : -1; }

static void close_silently(int file)
{
    const int error = errno;
    (void)hd_close(file);
    errno = error;
}

int hd_open_regular(const char *path)
{
    struct stat info;
    const int file = hd_open(path, O_RDONLY | O_NONBLOCK);
    if (file < 0) return -1;
    if (fstat(file, &info) == 0) {
        if (S_ISREG(info.st_mode)) return file;
        errno = 0;
    }
    close_silently(file);
    return -1;
}

/* Where the file system has no files without a name: one that loses its name at once. */
static int open_unlinked(const char *directory)
{
    char path[PATH_MAX];
    int file;
    do {
        if (snprintf(path, sizeof path, "%s/" HD_NAMELESS "XXXXXX", directory) >= PATH_MAX) {
            errno = ENAMETOOLONG;
            return -1;
        }
        file = mkostemp(path, O_CLOEXEC);
    } while (interrupted(file));
    if (file >= 0) (void)unlink(path);
    return file;
}

int hd_open_nameless(const char *directory)
{
    const int file = hd_open(directory, O_RDWR | O_TMPFILE);
    if (file >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)) return file;
    return open_unlinked(directory);
}

/* ------------------------------------------------------------------------------- read and write */

#define MOVE_MAX (UINT64_C(1) << 30) /* bytes of one call */

static size_t step_of(uint64_t left) { return (size_t)(left < MOVE_MAX ? left : MOVE_MAX); }

int64_t hd_read(int file, void *to, uint64_t bytes)
{
    uint64_t done = 0;
    while (done < bytes) {
        const ssize_t more = read(file, (char *)to + done, step_of(bytes - done));
        if (interrupted(more)) continue;
        if (more < 0) return -1;
        if (more == 0) break;
        done += (uint64_t)more;
    }
    return (int64_t)done;
}

int64_t hd_read_at(int file, void *to, uint64_t bytes, uint64_t at)
{
    uint64_t done = 0;
    while (done < bytes) {
        const ssize_t more =
            pread(file, (char *)to + done, step_of(bytes - done), (off_t)(at + done));
        if (interrupted(more)) continue;
        if (more < 0) return -1;
        if (more == 0) break;
        done += (uint64_t)more;
    }
    return (int64_t)done;
}

/* A call that has written nothing would be made again for ever. */
static bool stopped(int64_t written)
{
    if (written == 0) errno = EIO;
    return written <= 0;
}

bool hd_write(int file, const void *from, uint64_t bytes)
{
    for (uint64_t done = 0; done < bytes;) {
        const ssize_t more = write(file, (const char *)from + done, step_of(bytes - done));
        if (interrupted(more)) continue;
        if (stopped(more)) return false;
        done += (uint64_t)more;
    }
    return true;
}

bool hd_write_at(int file, const void *from, uint64_t bytes, uint64_t at)
{
    for (uint64_t done = 0; done < bytes;) {
        const ssize_t more =
            pwrite(file, (const char *)from + done, step_of(bytes - done), (off_t)(at + done));
        if (interrupted(more)) continue;
        if (stopped(more)) return false;
        done += (uint64_t)more;
    }
    return true;
}

/* ------------------------------------------------------------------------------------- the rest */

int hd_truncate(int file, uint64_t bytes)
{
    int result;
    do result = ftruncate(file, (off_t)bytes);
    while (interrupted(result));
    return result;
}

int hd_sync(int file)
{
    int result;
    do result = fsync(file);
    while (interrupted(result));
    return result;
}

int hd_sync_mapping(void *mapping, uint64_t bytes)
{
    int result;
    do result = msync(mapping, bytes, MS_SYNC);
    while (interrupted(result));
    return result;
}

int hd_lock(int file, int operation)
{
    int result;
    do result = flock(file, operation);
    while (interrupted(result));
    return result;
}

/* In steps, since an interrupted one may undo all that it has done. */
#define RESERVE_STEP (UINT64_C(64) << 20)
int hd_reserve(int file, uint64_t bytes)
{
    struct statvfs disk;
    int error = 0;
    /* What cannot fit must not fill the disk first. A file system without blocks has no such limit. */
    if (fstatvfs(file, &disk) == 0 && disk.f_blocks != 0 && bytes / disk.f_frsize > disk.f_bfree)
        return ENOSPC;
    for (uint64_t at = 0; at < bytes && error == 0; at += RESERVE_STEP) {
        const uint64_t step = bytes - at < RESERVE_STEP ? bytes - at : RESERVE_STEP;
        do error = posix_fallocate(file, (off_t)at, (off_t)step);
        while (error == EINTR);
    }
    return error;
}

void hd_read_text(const char *path, char *text, uint64_t room)
{
    const int file = hd_open(path, O_RDONLY);
    const int64_t length = file >= 0 ? hd_read(file, text, room - 1) : 0;
    if (file >= 0) (void)hd_close(file);
    text[length > 0 ? length : 0] = '\0';
}
