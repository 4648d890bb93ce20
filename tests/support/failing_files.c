/* failing_files.c: see failing_files.h. */
#undef _FORTIFY_SOURCE /* the functions below have their plain names */
#define _GNU_SOURCE
#include "support/failing_files.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "support/cases.h"

/* ------------------------------------------------------------------------------- the functions */

enum { TOLD = 1, INTERRUPTED = 2 }; /* flags: a failure must be told; a signal can end it */

/* Errors that fit a function; whether they must be told; whether a signal can end it. */
#define FUNCTIONS(F)                                                                               \
    F(open, INTERRUPTED, EMFILE, EACCES, EIO, ENOSPC)                                              \
    F(openat, INTERRUPTED, EMFILE, EACCES, EIO, ENOSPC, EOPNOTSUPP)                                \
    F(close, 0, EIO, ENOSPC)                                                                       \
    F(read, TOLD + INTERRUPTED, EIO)                                                               \
    F(pread, TOLD + INTERRUPTED, EIO)                                                              \
    F(write, TOLD + INTERRUPTED, EIO, ENOSPC, EDQUOT)                                              \
    F(pwrite, TOLD + INTERRUPTED, EIO, ENOSPC, EDQUOT)                                             \
    F(fsync, TOLD + INTERRUPTED, EIO, ENOSPC)                                                      \
    F(fdatasync, TOLD + INTERRUPTED, EIO, ENOSPC)                                                  \
    F(ftruncate, TOLD + INTERRUPTED, EIO)                                                          \
    F(posix_fallocate, TOLD + INTERRUPTED, ENOSPC, EIO)                                            \
    F(posix_fadvise, 0, EINVAL)                                                                    \
    F(fstatvfs, 0, EIO)                                                                            \
    F(rename, TOLD, EIO, ENOSPC, EACCES)                                                           \
    F(unlink, 0, EACCES, EIO)                                                                      \
    F(unlinkat, 0, EACCES, EIO)                                                                    \
    F(mmap, TOLD, ENOMEM, EACCES)                                                                  \
    F(madvise, 0, EINVAL, ENOMEM)                                                                  \
    F(msync, TOLD + INTERRUPTED, EIO)                                                              \
    F(flock, TOLD + INTERRUPTED, EWOULDBLOCK, ENOLCK)                                              \
    F(lseek, 0, EIO)                                                                               \
    F(stat, 0, EIO, EACCES)                                                                        \
    F(fstat, 0, EIO)                                                                               \
    F(lstat, 0, EIO)                                                                               \
    F(mkdir, TOLD, EACCES, ENOSPC)                                                                 \
    F(opendir, 0, EMFILE, EACCES)                                                                  \
    F(readdir, 0, EIO)                                                                             \
    F(closedir, 0, 0)                                                                              \
    F(mkostemp, 0, EMFILE, ENOSPC, EACCES)

#define NUMBER(name, ...) NUMBER_##name,
enum { FUNCTIONS(NUMBER) FUNCTION_COUNT };

typedef struct function {
    const char *name;
    int flags;
    int errors[6];
} function;
#define LINE(name, flags, ...) {#name, flags, {__VA_ARGS__}},
static const function functions[FUNCTION_COUNT] = {FUNCTIONS(LINE)};
static void *nexts[FUNCTION_COUNT];
static uint64_t calls_of[FUNCTION_COUNT];

/* The function that this one stands before: a sanitizer's or the system's. */
static void *next_of(int number)
{
    if (nexts[number] == NULL) nexts[number] = dlsym(RTLD_NEXT, functions[number].name);
    return nexts[number];
}
#define NEXT(name) (*(__typeof__(&name) *)(void *)next_pointer(NUMBER_##name))
static void **next_pointer(int number)
{
    (void)next_of(number);
    return &nexts[number];
}

/* ------------------------------------------------------------------------------------ the plan */

#define OPEN_MAX_KNOWN 1024

static bool armed;
static pthread_t owner;
static failing_plan plan;
static failing_report report;
static bool odd;
static bool is_written[OPEN_MAX_KNOWN]; /* files: by write, so that an error of close counts */
static bool is_foreign[OPEN_MAX_KNOWN]; /* of /proc: nothing depends on them */

static bool watches(void) { return armed && pthread_equal(owner, pthread_self()); }

static bool flag_of(const bool *flags, int file)
{
    return file >= 0 && file < OPEN_MAX_KNOWN && flags[file];
}
static void set_flag(bool *flags, int file, bool value)
{
    if (file >= 0 && file < OPEN_MAX_KNOWN) flags[file] = value;
}

static uint32_t count_errors(const function *f)
{
    uint32_t n = 0;
    while (f->errors[n] != 0) n++;
    return n;
}

/* Counts a call. 0: it is made; otherwise it fails so. */
static int step(int number)
{
    const function *f = &functions[number];
    if (!watches()) return 0;
    calls_of[number]++;
    if (++report.calls == plan.at) {
        if (plan.kills) {
            (void)kill(getpid(), SIGKILL);
            for (;;) (void)pause();
        }
        report.errors = count_errors(f);
        if (plan.error < report.errors) {
            report.struck = f->name;
            report.error = f->errors[plan.error];
            report.must_be_told = (f->flags & TOLD) != 0;
            return report.error;
        }
    }
    odd = !odd;
    return plan.interrupts && odd && (f->flags & INTERRUPTED) ? EINTR : 0;
}

/* The same for functions that return -1 and set errno. */
static bool fails(int number)
{
    const int error = step(number);
    if (error != 0) errno = error;
    return error != 0;
}

/* How much of a transfer is made; false: the disk is full. */
static bool cut(size_t *bytes, bool writes)
{
    if (!watches()) return true;
    if (plan.piece != 0 && *bytes > plan.piece) *bytes = plan.piece;
    if (!writes) return true;
    if (plan.is_full) {
        if (plan.room == 0 && *bytes != 0) {
            report.struck = "write";
            report.error = errno = ENOSPC;
            report.must_be_told = true;
            return false;
        }
        if (*bytes > plan.room) *bytes = plan.room;
        plan.room -= *bytes;
    }
    report.written += *bytes;
    return true;
}

/* ------------------------------------------------------------ what a machine that stops leaves */

typedef struct node {
    dev_t device;
    ino_t number;
} node;
#define NODES 4096
static node unsynced[NODES];
static uint32_t unsynced_count;

static uint32_t find_node(const struct stat *info)
{
    uint32_t i = 0;
    while (i < unsynced_count &&
           (unsynced[i].number != info->st_ino || unsynced[i].device != info->st_dev))
        i++;
    return i;
}

static void mark(const struct stat *info, bool dirty)
{
    const uint32_t i = find_node(info);
    const bool known = i < unsynced_count;
    const node n = {info->st_dev, info->st_ino};
    if (dirty && !known && unsynced_count < NODES) unsynced[unsynced_count++] = n;
    if (!dirty && known) unsynced[i] = unsynced[--unsynced_count];
}

static void mark_file(int file, bool dirty)
{
    struct stat info;
    if (watches() && NEXT(fstat)(file, &info) == 0) mark(&info, dirty);
}

static bool is_unsynced(const char *path)
{
    struct stat info;
    return NEXT(stat)(path, &info) == 0 && find_node(&info) < unsynced_count;
}

/* Of the directory that a path is in. */
static const char *above(const char *path)
{
    static char copy[PATH_MAX];
    strncpy(copy, path, sizeof copy - 1);
    return dirname(copy);
}

static void complain(const char *what)
{
    if (report.careless == NULL) report.careless = what;
}

static void look_at_rename(const char *from, const char *to)
{
    struct stat info;
    if (!watches()) return;
    if (is_unsynced(from)) complain("a file was renamed before its content was on the disk");
    if (NEXT(stat)(to, &info) == 0 && is_unsynced(above(to)))
        complain(
            "a file was replaced before the directory with the files it names was on the disk");
    if (NEXT(stat)(above(to), &info) == 0) mark(&info, true);
}

static void look_at_removal(int directory)
{
    struct stat info;
    if (watches() && NEXT(fstat)(directory, &info) == 0 && find_node(&info) < unsynced_count)
        complain("a file was removed before what replaces it was on the disk");
}

/* --------------------------------------------------------------------------------- arm, disarm */

void failing_arm(const failing_plan *p)
{
    static const failing_report none;
    for (int i = 0; i < FUNCTION_COUNT; i++) (void)next_of(i);
    plan = *p;
    report = none;
    odd = false;
    unsynced_count = 0;
    memset(is_written, 0, sizeof is_written);
    owner = pthread_self();
    armed = true;
}

failing_report failing_disarm(void)
{
    armed = false;
    return report;
}

uint64_t failing_calls(const char *name)
{
    uint64_t calls = 0;
    for (int i = 0; i < FUNCTION_COUNT; i++)
        if (strcmp(functions[i].name, name) == 0) calls = calls_of[i];
    return calls;
}

uint32_t failing_open_files(void)
{
    uint32_t count = 0;
    for (int file = 0; file < OPEN_MAX_KNOWN; file++) count += fcntl(file, F_GETFD) != -1;
    return count;
}

/* -------------------------------------------------------------------- open, close, and the path */

#define MODE_OF(flags, last, mode)                                                                 \
    do {                                                                                           \
        va_list list;                                                                              \
        va_start(list, last);                                                                      \
        if ((flags) & (O_CREAT | O_TMPFILE)) mode = va_arg(list, mode_t);                          \
        va_end(list);                                                                              \
    } while (0)

static int opened(int file, const char *path)
{
    if (watches()) {
        set_flag(is_written, file, false);
        set_flag(is_foreign, file, strncmp(path, "/proc/", 6) == 0);
    }
    return file;
}

int open(const char *path, int flags, ...)
{
    mode_t mode = 0;
    MODE_OF(flags, flags, mode);
    return fails(NUMBER_open) ? -1 : opened(NEXT(open)(path, flags, mode), path);
}
int openat(int directory, const char *path, int flags, ...)
{
    mode_t mode = 0;
    MODE_OF(flags, flags, mode);
    return fails(NUMBER_openat) ? -1 : opened(NEXT(openat)(directory, path, flags, mode), path);
}
int mkostemp(char *path, int flags)
{
    return fails(NUMBER_mkostemp) ? -1 : opened(NEXT(mkostemp)(path, flags), path);
}
int close(int file)
{
    const bool written = flag_of(is_written, file);
    const int error = step(NUMBER_close);
    const int result = NEXT(close)(file);
    if (error == 0) return result;
    if (error != EINTR) report.must_be_told = written;
    errno = error;
    return -1;
}
int rename(const char *from, const char *to)
{
    if (fails(NUMBER_rename)) return -1;
    look_at_rename(from, to);
    return NEXT(rename)(from, to);
}
int unlink(const char *path) { return fails(NUMBER_unlink) ? -1 : NEXT(unlink)(path); }
int unlinkat(int directory, const char *path, int flags)
{
    if (fails(NUMBER_unlinkat)) return -1;
    look_at_removal(directory);
    return NEXT(unlinkat)(directory, path, flags);
}
int mkdir(const char *path, mode_t mode)
{
    return fails(NUMBER_mkdir) ? -1 : NEXT(mkdir)(path, mode);
}
int stat(const char *path, struct stat *info)
{
    return fails(NUMBER_stat) ? -1 : NEXT(stat)(path, info);
}
int lstat(const char *path, struct stat *info)
{
    return fails(NUMBER_lstat) ? -1 : NEXT(lstat)(path, info);
}
int fstat(int file, struct stat *info)
{
    return fails(NUMBER_fstat) ? -1 : NEXT(fstat)(file, info);
}
int fstatvfs(int file, struct statvfs *info)
{
    return fails(NUMBER_fstatvfs) ? -1 : NEXT(fstatvfs)(file, info);
}
DIR *opendir(const char *path) { return fails(NUMBER_opendir) ? NULL : NEXT(opendir)(path); }
struct dirent *readdir(DIR *entries)
{
    return fails(NUMBER_readdir) ? NULL : NEXT(readdir)(entries);
}
int closedir(DIR *entries)
{
    (void)step(NUMBER_closedir);
    return NEXT(closedir)(entries);
}

/* ------------------------------------------------------------------------------- read and write */

/* An error that nothing depends on. */
static ssize_t failed(int file)
{
    if (flag_of(is_foreign, file)) report.must_be_told = false;
    return -1;
}

ssize_t read(int file, void *to, size_t bytes)
{
    if (fails(NUMBER_read)) return failed(file);
    (void)cut(&bytes, false);
    return NEXT(read)(file, to, bytes);
}
ssize_t pread(int file, void *to, size_t bytes, off_t at)
{
    if (fails(NUMBER_pread)) return failed(file);
    (void)cut(&bytes, false);
    return NEXT(pread)(file, to, bytes, at);
}
ssize_t write(int file, const void *from, size_t bytes)
{
    if (fails(NUMBER_write) || !cut(&bytes, true)) return -1;
    set_flag(is_written, file, true);
    mark_file(file, true);
    return NEXT(write)(file, from, bytes);
}
ssize_t pwrite(int file, const void *from, size_t bytes, off_t at)
{
    if (fails(NUMBER_pwrite) || !cut(&bytes, true)) return -1;
    mark_file(file, true);
    return NEXT(pwrite)(file, from, bytes, at);
}
int fsync(int file)
{
    if (fails(NUMBER_fsync)) return -1;
    mark_file(file, false);
    return NEXT(fsync)(file);
}
int fdatasync(int file)
{
    if (fails(NUMBER_fdatasync)) return -1;
    mark_file(file, false);
    return NEXT(fdatasync)(file);
}
int ftruncate(int file, off_t bytes)
{
    return fails(NUMBER_ftruncate) ? -1 : NEXT(ftruncate)(file, bytes);
}
off_t lseek(int file, off_t at, int from)
{
    return fails(NUMBER_lseek) ? -1 : NEXT(lseek)(file, at, from);
}
int posix_fallocate(int file, off_t at, off_t bytes)
{
    const int error = step(NUMBER_posix_fallocate);
    size_t room = (size_t)bytes;
    if (error != 0) return error;
    if (watches() && plan.is_full && (uint64_t)bytes > plan.room) plan.room = 0;
    if (!cut(&room, true)) return ENOSPC;
    return NEXT(posix_fallocate)(file, at, bytes);
}
int posix_fadvise(int file, off_t at, off_t bytes, int advice)
{
    const int error = step(NUMBER_posix_fadvise);
    return error != 0 ? error : NEXT(posix_fadvise)(file, at, bytes, advice);
}
int flock(int file, int operation)
{
    return fails(NUMBER_flock) ? -1 : NEXT(flock)(file, operation);
}

/* Of files only. */
void *mmap(void *near, size_t bytes, int protection, int flags, int file, off_t at)
{
    if (file >= 0 && fails(NUMBER_mmap)) return MAP_FAILED;
    return NEXT(mmap)(near, bytes, protection, flags, file, at);
}
/* Of memory, too: advice that is not taken must not matter anywhere. */
int madvise(void *at, size_t bytes, int advice)
{
    return fails(NUMBER_madvise) ? -1 : NEXT(madvise)(at, bytes, advice);
}
int msync(void *at, size_t bytes, int flags)
{
    return fails(NUMBER_msync) ? -1 : NEXT(msync)(at, bytes, flags);
}

/* --------------------------------------------------------------- what _FORTIFY_SOURCE makes of them */

int __open_2(const char *path, int flags);
int __openat_2(int directory, const char *path, int flags);
ssize_t __read_chk(int file, void *to, size_t bytes, size_t room);
ssize_t __pread_chk(int file, void *to, size_t bytes, off_t at, size_t room);

int __open_2(const char *path, int flags) { return open(path, flags); }
int __openat_2(int directory, const char *path, int flags)
{
    return openat(directory, path, flags);
}
ssize_t __read_chk(int file, void *to, size_t bytes, size_t room)
{
    check(bytes <= room, "read writes past the end of an array");
    return read(file, to, bytes);
}
ssize_t __pread_chk(int file, void *to, size_t bytes, off_t at, size_t room)
{
    check(bytes <= room, "pread writes past the end of an array");
    return pread(file, to, bytes, at);
}
