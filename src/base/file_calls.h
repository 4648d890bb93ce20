/*
 * file_calls.h: calls of the operating system on files, as all of the library makes them. A signal does not end them
 * (EINTR), and what is read or written in part is gone on with. A failure leaves its reason in errno.
 *
 * There are no other ways to a file in the library: tests/support/failing_files.h stands between these functions and
 * the system, and fails each call in turn. tests/tool/test_file_functions.sh holds the library to that.
 */
#ifndef HD_FILE_CALLS_H
#define HD_FILE_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* As open and openat, with O_CLOEXEC, and 0666 for a new file; -1 after a failure. */
int hd_open(const char *path, int flags);
int hd_open_at(int directory, const char *name, int flags);
/*
 * Opens a regular file to be read. Anything else at the path is refused at once with `errno` 0: to open a pipe waits
 * for a writer.
 */
int hd_open_regular(const char *path);
/*
 * A file without a name in the directory, to be read and written. It vanishes with the process. Where the file system
 * has none such, it has a name for a moment: HD_NAMELESS and six characters.
 */
int hd_open_nameless(const char *directory);
#define HD_NAMELESS "spill_"
/* Linux has closed the file in any case. */
int hd_close(int file);

/* Reads as many bytes as there are, `bytes` at most; their number, -1 after a failure. */
int64_t hd_read(int file, void *to, uint64_t bytes);
int64_t hd_read_at(int file, void *to, uint64_t bytes, uint64_t at);
/* Writes all bytes. */
bool hd_write(int file, const void *from, uint64_t bytes);
bool hd_write_at(int file, const void *from, uint64_t bytes, uint64_t at);

int hd_truncate(int file, uint64_t bytes);
/* Waits until the file, or the mapping, is on the disk. */
int hd_sync(int file);
int hd_sync_mapping(void *mapping, uint64_t bytes);
/* As flock. */
int hd_lock(int file, int operation);
/* Takes the space of a file; 0, or what went wrong. */
int hd_reserve(int file, uint64_t bytes);

/* The first bytes of a short text, such as the kernel has in /proc, with a 0 behind it; "" where there is none. */
void hd_read_text(const char *path, char *text, uint64_t room);

#ifdef __cplusplus
}
#endif

#endif
