/* column_file.c: columns in files, mapped into memory; see heddle/column_file.h. */
#include "shelf/column/column_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/file_calls.h"
#include "host/file.h"

#define HEAD_MAX 8192 /* of a file, looked at for a header */

struct heddle_column_file {
    hd_column_shape shape;
    char *mapping; /* the whole file; NULL when it is empty */
    uint64_t bytes;
    bool writes;
};

static heddle_status cannot(const char *what, const char *path, int error)
{
    return hd_fail(HEDDLE_ERROR_IO, "cannot %s %s: %s", what, path, strerror(error));
}

static heddle_status check_arguments(const char *path, uint32_t bits, bool open,
                                     heddle_column_file **column)
{
    if (column == NULL)
        return hd_fail(HEDDLE_ERROR_INVALID, "column: there is no place for the column");
    *column = NULL;
    if (path == NULL || *path == 0)
        return hd_fail(HEDDLE_ERROR_INVALID, "column: there is no path");
    if (bits != 8 && bits != 32 && bits != 64 && !(open && bits == 0))
        return hd_fail(HEDDLE_ERROR_INVALID, "column: elements have 8, 32 or 64 bits, not %u",
                       bits);
    return HEDDLE_OK;
}

static heddle_status column_make(heddle_column_file **column)
{
    *column = (heddle_column_file *)hd_allocate_zeroed(1, sizeof **column);
    return *column != NULL ? HEDDLE_OK : hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for a column");
}

static bool ends_in_npy(const char *path)
{
    const size_t length = strlen(path);
    return length >= 4 && strcmp(path + length - 4, ".npy") == 0;
}

static heddle_status map_file(heddle_column_file *c, const char *path, int file)
{
    void *mapping;
    if (c->bytes == 0) return HEDDLE_OK;
    errno = ENOMEM;
    mapping = hd_fault_due() ? MAP_FAILED
                             : mmap(NULL, c->bytes, c->writes ? PROT_READ | PROT_WRITE : PROT_READ,
                                    MAP_SHARED, file, 0);
    if (mapping == MAP_FAILED)
        return hd_fail(errno == ENOMEM ? HEDDLE_ERROR_NO_MEMORY : HEDDLE_ERROR_IO,
                       "cannot map %s into memory: %s", path, strerror(errno));
    c->mapping = (char *)mapping;
    return heddle_column_file_advise(c, 0, c->shape.count, HEDDLE_ADVICE_SEQUENTIAL);
}

/* ---------------------------------------------------------------------------------------- open */

/* What the file holds, by its length and its first bytes. */
static heddle_status read_shape(heddle_column_file *c, const char *path, int file, uint32_t bits)
{
    unsigned char head[HEAD_MAX];
    struct stat info;
    int64_t there;
    if (fstat(file, &info) != 0) return cannot("read", path, errno);
    if (!S_ISREG(info.st_mode))
        return hd_fail(HEDDLE_ERROR_IO, "cannot read %s: it is no regular file", path);
    there = hd_read_at(file, head, sizeof head, 0);
    if (there < 0) return cannot("read", path, errno);
    c->bytes = (uint64_t)info.st_size;
    if ((uint64_t)there > c->bytes) /* the kernel makes its content while it is read */
        return hd_fail(HEDDLE_ERROR_IO, "cannot read %s: it cannot be mapped", path);
    if (hd_npy_is(head, (uint64_t)there)) {
        const heddle_status status = hd_npy_read(path, head, (uint64_t)there, c->bytes, &c->shape);
        if (status != HEDDLE_OK) return status;
        if (bits != 0 && bits != c->shape.element_bits)
            return hd_fail(HEDDLE_ERROR_FORMAT, "%s holds elements of %u bits, not of %u", path,
                           c->shape.element_bits, bits);
        return HEDDLE_OK;
    }
    /* Its first bytes would be taken for elements. */
    if (ends_in_npy(path))
        return hd_fail(HEDDLE_ERROR_FORMAT,
                       "%s is named as a NumPy file, but does not begin as one; give a raw file "
                       "another name",
                       path);
    if (bits == 0)
        return hd_fail(HEDDLE_ERROR_FORMAT,
                       "%s is no NumPy file and does not say how many bits its elements have",
                       path);
    if (c->bytes % (bits / 8) != 0)
        return hd_fail(HEDDLE_ERROR_FORMAT,
                       "%s has %llu bytes, which is no whole number of elements of %u bits", path,
                       (unsigned long long)c->bytes, bits);
    c->shape.element_bits = bits;
    c->shape.count = c->bytes / (bits / 8);
    return HEDDLE_OK;
}

heddle_status heddle_column_file_open(const char *path, uint32_t mode, uint32_t element_bits,
                                      heddle_column_file **column)
{
    heddle_status status = check_arguments(path, element_bits, true, column);
    heddle_column_file *c = NULL;
    int file;
    if (status != HEDDLE_OK) return status;
    if (mode > HEDDLE_COLUMN_FILE_WRITE)
        return hd_fail(HEDDLE_ERROR_INVALID, "column: there is no mode %u", mode);
    file = hd_open(path, (mode == HEDDLE_COLUMN_FILE_WRITE ? O_RDWR : O_RDONLY) | O_NONBLOCK);
    if (file < 0) return cannot("open", path, errno);
    status = column_make(&c);
    if (status == HEDDLE_OK) {
        c->writes = mode == HEDDLE_COLUMN_FILE_WRITE;
        status = read_shape(c, path, file, element_bits);
    }
    if (status == HEDDLE_OK) status = map_file(c, path, file);
    (void)hd_close(file);
    if (status == HEDDLE_OK) *column = c;
    else heddle_column_file_close(c);
    return status;
}

/* -------------------------------------------------------------------------------------- create */

/* Takes the space, so that a full disk is met now and not by a write to the mapping. */
static heddle_status fill_file(heddle_column_file *c, const char *path, int file)
{
    const int error = hd_reserve(file, c->bytes);
    if (error != 0) return cannot("make room for", path, error);
    HD_TRY(map_file(c, path, file));
    if (c->shape.npy) hd_npy_make((unsigned char *)c->mapping, &c->shape);
    return HEDDLE_OK;
}

/*
 * A new file, or a regular one that is there, emptied. Nothing else is opened: a pipe would wait for a reader, and a
 * link that somebody has planted would have its target emptied. O_NOFOLLOW is for a link that comes after the check.
 */
static heddle_status open_new(const char *path, int *file, bool *made)
{
    struct stat info;
    int error;
    *file = hd_open(path, O_RDWR | O_CREAT | O_EXCL);
    *made = *file >= 0;
    if (*made) return HEDDLE_OK;
    if (errno != EEXIST) return cannot("create", path, errno);
    HD_TRY(hd_file_check_regular(path));
    *file = hd_open(path, O_RDWR | O_NONBLOCK | O_NOFOLLOW);
    if (*file < 0) return cannot("create", path, errno);
    if (fstat(*file, &info) == 0 && S_ISREG(info.st_mode) && hd_truncate(*file, 0) == 0)
        return HEDDLE_OK;
    error = errno;
    (void)hd_close(*file);
    return cannot("empty", path, error);
}

/* After a failure: a file that this call has made goes, one that was there stays, empty. */
static void take_back(const char *path, int file, bool made)
{
    struct stat mine, there;
    (void)hd_truncate(file, 0);
    if (made && fstat(file, &mine) == 0 && lstat(path, &there) == 0 &&
        mine.st_dev == there.st_dev && mine.st_ino == there.st_ino)
        (void)unlink(path);
}

heddle_status heddle_column_file_create_as(const char *path, uint32_t element_bits,
                                           uint32_t element_kind, uint64_t count,
                                           heddle_column_file **column)
{
    heddle_status status = check_arguments(path, element_bits, false, column);
    heddle_column_file *c = NULL;
    bool made = false;
    int file;
    if (status != HEDDLE_OK) return status;
    if (hd_npy_type(element_bits, element_kind) == NULL)
        return hd_fail(HEDDLE_ERROR_INVALID, "column: there is no kind %u of elements of %u bits",
                       element_kind, element_bits);
    if (count > INT64_MAX / 16)
        return hd_fail(HEDDLE_ERROR_INVALID, "column: no file has that many elements");
    HD_TRY(open_new(path, &file, &made));
    status = column_make(&c);
    if (status == HEDDLE_OK) {
        c->writes = true;
        c->shape.npy = ends_in_npy(path);
        c->shape.offset = c->shape.npy ? HD_NPY_MADE : 0;
        c->shape.count = count;
        c->shape.element_bits = element_bits;
        if (c->shape.npy) c->shape.element_kind = element_kind;
        c->bytes = c->shape.offset + count * (element_bits / 8);
        status = fill_file(c, path, file);
    }
    if (status == HEDDLE_OK) {
        *column = c;
    } else {
        take_back(path, file, made);
        heddle_column_file_close(c);
    }
    (void)hd_close(file);
    return status;
}

heddle_status heddle_column_file_create(const char *path, uint32_t element_bits, uint64_t count,
                                        heddle_column_file **column)
{
    return heddle_column_file_create_as(path, element_bits, HEDDLE_ELEMENT_UNSIGNED, count, column);
}

void heddle_column_file_close(heddle_column_file *column)
{
    if (column == NULL) return;
    if (column->mapping != NULL) (void)munmap(column->mapping, column->bytes);
    free(column);
}

/* ------------------------------------------------------------------------------------------ use */

void *heddle_column_file_data(const heddle_column_file *column)
{
    return column == NULL || column->shape.count == 0 ? NULL
                                                      : column->mapping + column->shape.offset;
}

uint64_t heddle_column_file_count(const heddle_column_file *column)
{
    return column != NULL ? column->shape.count : 0;
}

uint32_t heddle_column_file_element_bits(const heddle_column_file *column)
{
    return column != NULL ? column->shape.element_bits : 0;
}

uint32_t heddle_column_file_element_kind(const heddle_column_file *column)
{
    return column != NULL ? column->shape.element_kind : HEDDLE_ELEMENT_UNKNOWN;
}

heddle_status heddle_column_file_advise(heddle_column_file *column, uint64_t first, uint64_t count,
                                        uint32_t advice)
{
    static const int advices[] = {MADV_SEQUENTIAL, MADV_RANDOM, MADV_WILLNEED, MADV_DONTNEED};
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t begin, end, width;
    if (column == NULL || advice > HEDDLE_ADVICE_DONE)
        return hd_fail(HEDDLE_ERROR_INVALID, "column: there is no such column or advice");
    if (first > column->shape.count || count > column->shape.count - first)
        return hd_fail(HEDDLE_ERROR_INVALID, "column: there are not so many elements");
    width = column->shape.element_bits / 8;
    begin = column->shape.offset + first * width;
    end = begin + count * width;
    /* Pages that are only partly meant are done with by nobody; they are wanted all the same. */
    if (advice == HEDDLE_ADVICE_DONE) {
        begin = (begin + page - 1) / page * page;
        if (end != column->bytes) end = end / page * page;
    } else {
        begin = begin / page * page;
    }
    /* Advice that the system does not take costs speed at most. The mapping is shared: no write is lost. */
    if (end > begin) (void)madvise(column->mapping + begin, end - begin, advices[advice]);
    return HEDDLE_OK;
}

heddle_status heddle_column_file_flush(heddle_column_file *column)
{
    if (column == NULL) return hd_fail(HEDDLE_ERROR_INVALID, "column: there is no such column");
    if (column->mapping == NULL || !column->writes) return HEDDLE_OK;
    if (hd_sync_mapping(column->mapping, column->bytes) == 0) return HEDDLE_OK;
    return hd_fail(HEDDLE_ERROR_IO, "cannot write a column to the disk: %s", strerror(errno));
}
