/* fuzz.c: see fuzz.h. */
#define _XOPEN_SOURCE 700
#include "fuzz.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void fuzz_fail(const char *file, int line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)fprintf(stderr, "%s:%d: ", file, line);
    (void)vfprintf(stderr, format, arguments);
    (void)fprintf(stderr, "; last error: %s\n", heddle_last_error());
    va_end(arguments);
    abort();
}

void fuzz_status(heddle_status got, heddle_status expected, const char *call, const char *file,
                 int line)
{
    if (got != expected) fuzz_fail(file, line, "%s gave \"%s\"", call, heddle_status_string(got));
}

void fuzz_refused(heddle_status status, bool missing)
{
    fuzz_check(status == HEDDLE_ERROR_FORMAT || status == HEDDLE_ERROR_UNSUPPORTED ||
                   (missing && status == HEDDLE_ERROR_IO),
               "a file is refused with \"%s\"", heddle_status_string(status));
    fuzz_check(heddle_last_error()[0] != 0, "a file is refused without a sentence");
}

heddle_device *fuzz_device(void)
{
    static heddle_device *device;
    if (device == NULL) fuzz_ok(heddle_device_open("cpu:1", &device));
    return device;
}

void *fuzz_allocate(uint64_t bytes)
{
    void *memory = malloc(bytes + 1);
    fuzz_check(memory != NULL, "no memory for %llu bytes", (unsigned long long)bytes);
    return memory;
}

/* ------------------------------------------------------------------------------------------- files */

static char directory[256];

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *place)
{
    (void)info, (void)kind, (void)place;
    (void)remove(path);
    return 0;
}

static void remove_directory(void) { (void)nftw(directory, remove_entry, 8, FTW_DEPTH | FTW_PHYS); }

static void make_directory(void)
{
    const char *above = getenv("TMPDIR");
    if (above == NULL || *above == 0) above = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    (void)snprintf(directory, sizeof directory, "%s/heddle_fuzz.XXXXXX", above);
    fuzz_check(mkdtemp(directory) != NULL, "no directory in %s", above);
    (void)atexit(remove_directory);
}

const char *fuzz_path(const char *name)
{
    static char paths[4][sizeof directory + 64];
    static uint32_t turn;
    char *const path = paths[turn++ % 4];
    if (directory[0] == 0) make_directory();
    (void)snprintf(path, sizeof paths[0], "%s/%s", directory, name);
    return path;
}

void fuzz_write(const char *path, const uint8_t *data, size_t size)
{
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    fuzz_check(file >= 0 && write(file, data, size) == (ssize_t)size, "cannot write %s", path);
    (void)close(file);
}

size_t fuzz_read(const char *path, uint8_t *data, size_t room)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t there = file >= 0 ? read(file, data, room) : -1;
    fuzz_check(there >= 0, "cannot read %s", path);
    (void)close(file);
    return (size_t)there;
}

/* ------------------------------------------------------------------------------------------- bytes */

uint64_t fuzz_take(fuzz_bytes *bytes, uint32_t width)
{
    uint64_t number = 0;
    const size_t n = bytes->left < width ? bytes->left : width;
    if (n != 0) memcpy(&number, bytes->at, n);
    bytes->at += n;
    bytes->left -= n;
    return number;
}

uint32_t fuzz_below(fuzz_bytes *bytes, uint32_t bound)
{
    return (uint32_t)(fuzz_take(bytes, bound <= 256 ? 1 : 2) % bound);
}

uint64_t fuzz_random(uint64_t *state)
{
    uint64_t x = (*state += UINT64_C(0x9e3779b97f4a7c15));
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}
