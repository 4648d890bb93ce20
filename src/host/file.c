/* file.c: see file.h. */
#include "host/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/file_calls.h"
#include "host/seed.h"

uint64_t hd_file_checksum(uint64_t sum, const void *data, uint64_t bytes)
{
    const unsigned char *at = (const unsigned char *)data;
    for (uint64_t i = 0; i < bytes; i += 8) {
        uint64_t word = 0;
        memcpy(&word, at + i, bytes - i < 8 ? bytes - i : 8);
        sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        sum ^= sum >> 29;
    }
    return sum ^ bytes;
}

static heddle_status cannot(const char *what, const char *path)
{
    return hd_fail(HEDDLE_ERROR_IO, "cannot %s %s: %s", what, path, strerror(errno));
}

heddle_status hd_file_write(const hd_file *f, const void *data, uint64_t bytes)
{
    return hd_write(f->file, data, bytes) ? HEDDLE_OK : cannot("write", f->path);
}

heddle_status hd_file_damaged(const hd_file *f, const char *how)
{
    return hd_fail(HEDDLE_ERROR_FORMAT, "%s is no whole %s file: %s", f->path, f->what, how);
}

heddle_status hd_file_read(const hd_file *f, void *data, uint64_t bytes)
{
    const int64_t there = hd_read(f->file, data, bytes);
    if (there < 0) return cannot("read", f->path);
    return (uint64_t)there == bytes ? HEDDLE_OK : hd_file_damaged(f, "it ends too early");
}

heddle_status hd_file_length(const hd_file *f, uint64_t *bytes)
{
    struct stat info;
    if (fstat(f->file, &info) != 0) return cannot("read", f->path);
    *bytes = (uint64_t)info.st_size;
    return HEDDLE_OK;
}

/* -------------------------------------------------------------------------------------- headers */

static uint64_t header_checksum(const hd_file_format *format, const void *header)
{
    return hd_file_checksum(0, header, format->bytes - sizeof(uint64_t));
}

heddle_status hd_file_write_header(const hd_file *f, const hd_file_format *format, void *header)
{
    char *at = (char *)header;
    uint64_t checksum;
    memcpy(at, format->magic, sizeof format->magic);
    memcpy(at + sizeof format->magic, &format->version, sizeof format->version);
    checksum = header_checksum(format, header);
    memcpy(at + format->bytes - sizeof checksum, &checksum, sizeof checksum);
    return hd_file_write(f, header, format->bytes);
}

heddle_status hd_file_read_header(const hd_file *f, const hd_file_format *format, void *header)
{
    const char *at = (const char *)header;
    uint32_t version;
    uint64_t checksum;
    HD_TRY(hd_file_read(f, header, format->bytes));
    memcpy(&version, at + sizeof format->magic, sizeof version);
    memcpy(&checksum, at + format->bytes - sizeof checksum, sizeof checksum);
    if (memcmp(at, format->magic, sizeof format->magic) != 0)
        return hd_file_damaged(f, "it does not begin like one");
    if (version != format->version)
        return hd_fail(HEDDLE_ERROR_FORMAT, "%s has version %u; this library knows version %u",
                       f->path, version, format->version);
    if (header_checksum(format, header) != checksum)
        return hd_file_damaged(f, "the checksum of its header is wrong");
    for (uint32_t i = 0; i < format->zeros; i++)
        if (at[format->zeros_at + i] != 0)
            return hd_file_damaged(f, "its header asks for what this library does not know");
    return HEDDLE_OK;
}

/* --------------------------------------------------------------------------------------- blocks */

static uint64_t block_checksum(uint64_t count, const hd_file_array arrays[HD_FILE_ARRAYS])
{
    uint64_t sum = count;
    for (int i = 0; i < HD_FILE_ARRAYS; i++)
        sum = hd_file_checksum(sum, arrays[i].data, count * arrays[i].width);
    return sum;
}

heddle_status hd_file_write_block(const hd_file *f, uint64_t count,
                                  const hd_file_array arrays[HD_FILE_ARRAYS])
{
    const hd_file_block head = {count, block_checksum(count, arrays)};
    HD_TRY(hd_file_write(f, &head, sizeof head));
    for (int i = 0; i < HD_FILE_ARRAYS; i++)
        HD_TRY(hd_file_write(f, arrays[i].data, count * arrays[i].width));
    return HEDDLE_OK;
}

heddle_status hd_file_read_block(const hd_file *f, uint64_t most,
                                 const hd_file_array arrays[HD_FILE_ARRAYS], uint64_t *count)
{
    hd_file_block head;
    HD_TRY(hd_file_read(f, &head, sizeof head));
    if (head.count == 0 || head.count > most) return hd_file_damaged(f, "a block has a wrong size");
    for (int i = 0; i < HD_FILE_ARRAYS; i++)
        HD_TRY(hd_file_read(f, arrays[i].data, head.count * arrays[i].width));
    if (block_checksum(head.count, arrays) != head.checksum)
        return hd_file_damaged(f, "the checksum of a block is wrong");
    *count = head.count;
    return HEDDLE_OK;
}

heddle_status hd_file_read_end(const hd_file *f)
{
    char more;
    const int64_t there = hd_read(f->file, &more, 1);
    if (there < 0) return cannot("read", f->path);
    return there == 0 ? HEDDLE_OK : hd_file_damaged(f, "it goes on behind its end");
}

/* ---------------------------------------------------------------------------------- whole files */

#define BESIDE_BYTES 24 /* of ".", a number of 16 digits, ".part" and the end */
#define BESIDE_TRIES 16 /* more names that are taken already are no accident */

bool hd_file_is_leftover(const char *behind)
{
    const size_t length = strlen(behind);
    if (strcmp(behind, ".part") == 0) return true; /* of older libraries */
    return length == BESIDE_BYTES - 2 && *behind == '.' &&
           strspn(behind + 1, "0123456789abcdef") == 16 && strcmp(behind + 17, ".part") == 0;
}

heddle_status hd_file_check_regular(const char *path)
{
    struct stat info;
    if (lstat(path, &info) != 0 || S_ISREG(info.st_mode)) return HEDDLE_OK;
    return hd_fail(HEDDLE_ERROR_IO, "cannot write %s: it is no regular file%s", path,
                   S_ISLNK(info.st_mode) ? " but a symbolic link" : "");
}

/* Opens a new file whose name nobody can know beforehand: `beside` is the path, with room for the rest. */
static int open_beside(char *beside)
{
    char *const name = beside + strlen(beside);
    int file = -1;
    for (int i = 0; i < BESIDE_TRIES && file < 0; i++) {
        (void)snprintf(name, BESIDE_BYTES, ".%016llx.part", (unsigned long long)hd_seed_draw());
        file = hd_open(beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW);
        if (file < 0 && errno != EEXIST) break;
    }
    return file;
}

static heddle_status write_beside(const char *path, char *beside, const char *what,
                                  hd_file_work write, void *context)
{
    const hd_file f = {open_beside(beside), path, what};
    heddle_status status;
    if (f.file < 0) return cannot("write", beside);
    status = write(context, &f);
    if (status == HEDDLE_OK && hd_sync(f.file) != 0) status = cannot("write", path);
    if (hd_close(f.file) != 0 && status == HEDDLE_OK) status = cannot("write", path);
    if (status == HEDDLE_OK && rename(beside, path) != 0)
        status =
            hd_fail(HEDDLE_ERROR_IO, "cannot rename %s to %s: %s", beside, path, strerror(errno));
    if (status != HEDDLE_OK) (void)unlink(beside);
    return status;
}

heddle_status hd_file_replace(const char *path, const char *what, hd_file_work write, void *context)
{
    char *beside;
    heddle_status status;
    if (path == NULL || *path == 0) return hd_fail(HEDDLE_ERROR_INVALID, "save: there is no path");
    HD_TRY(hd_file_check_regular(path));
    beside = (char *)hd_allocate(strlen(path) + BESIDE_BYTES);
    if (beside == NULL) return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory to save a %s", what);
    strcpy(beside, path);
    status = write_beside(path, beside, what, write, context);
    free(beside);
    return status;
}

static heddle_status open_file(const char *path, const char *what, hd_file *f)
{
    f->path = path;
    f->what = what;
    f->file = hd_open_regular(path);
    if (f->file >= 0) return HEDDLE_OK;
    if (errno != 0) return cannot("read", path);
    return hd_fail(HEDDLE_ERROR_IO, "cannot read %s: it is no regular file", path);
}

heddle_status hd_file_load(const char *path, const char *what, hd_file_work read, void *context)
{
    hd_file f;
    heddle_status status;
    HD_TRY(open_file(path, what, &f));
    status = read(context, &f);
    (void)hd_close(f.file);
    return status;
}
