/* file.c: see file.h. */
#include "host/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"

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
    if (bytes == 0 || fwrite(data, 1, bytes, f->file) == bytes) return HEDDLE_OK;
    return cannot("write", f->path);
}

heddle_status hd_file_damaged(const hd_file *f, const char *how)
{
    return hd_fail(HEDDLE_ERROR_FORMAT, "%s is no whole %s file: %s", f->path, f->what, how);
}

heddle_status hd_file_read(const hd_file *f, void *data, uint64_t bytes)
{
    if (bytes == 0 || fread(data, 1, bytes, f->file) == bytes) return HEDDLE_OK;
    if (ferror(f->file)) return cannot("read", f->path);
    return hd_file_damaged(f, "it ends too early");
}

heddle_status hd_file_length(const hd_file *f, uint64_t *bytes)
{
    struct stat info;
    if (fstat(fileno(f->file), &info) != 0) return cannot("read", f->path);
    *bytes = (uint64_t)info.st_size;
    return HEDDLE_OK;
}

static heddle_status write_beside(const char *path, const char *beside, const char *what,
                                  heddle_status (*write)(void *context, const hd_file *f),
                                  void *context)
{
    const hd_file f = {fopen(beside, "wb"), path, what};
    heddle_status status;
    if (f.file == NULL) return cannot("write", beside);
    status = write(context, &f);
    if (status == HEDDLE_OK && (fflush(f.file) != 0 || fsync(fileno(f.file)) != 0))
        status = cannot("write", path);
    if (fclose(f.file) != 0 && status == HEDDLE_OK) status = cannot("write", beside);
    if (status == HEDDLE_OK && rename(beside, path) != 0)
        status =
            hd_fail(HEDDLE_ERROR_IO, "cannot rename %s to %s: %s", beside, path, strerror(errno));
    if (status != HEDDLE_OK) remove(beside);
    return status;
}

heddle_status hd_file_replace(const char *path, const char *what,
                              heddle_status (*write)(void *context, const hd_file *f),
                              void *context)
{
    static const char suffix[] = ".part";
    char *beside;
    heddle_status status;
    if (path == NULL || *path == 0) return hd_fail(HEDDLE_ERROR_INVALID, "save: there is no path");
    beside = (char *)hd_allocate(strlen(path) + sizeof suffix);
    if (beside == NULL) return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory to save a %s", what);
    strcpy(beside, path);
    strcat(beside, suffix);
    status = write_beside(path, beside, what, write, context);
    free(beside);
    return status;
}

heddle_status hd_file_open(const char *path, const char *what, hd_file *f)
{
    f->path = path;
    f->what = what;
    f->file = fopen(path, "rb");
    return f->file != NULL ? HEDDLE_OK : cannot("read", path);
}
