/*
 * file.h: what all saved files share. All numbers are little-endian.
 *
 *   header   fixed size: first a name of 8 characters and a version, last a checksum of the rest
 *   blocks   hd_file_block, then its arrays, one after the other; until all elements are there
 *
 * A file is whole or not there: hd_file_replace writes beside the old one. A reader checks
 * whatever it finds before it uses it, and says in words what is damaged.
 */
#ifndef HD_FILE_H
#define HD_FILE_H

#include <heddle/heddle.h>
#include <stdbool.h>

#if !defined(__BYTE_ORDER__) || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the file format is written as it lies in memory on little-endian machines"
#endif

/* What comes before the content of every block. */
typedef struct hd_file_block {
    uint64_t count;    /* elements of each of its arrays */
    uint64_t checksum; /* of the count and the arrays */
} hd_file_block;

/* An array of a block. */
typedef struct hd_file_array {
    void *data;     /* NULL where the width is 0 */
    uint64_t width; /* bytes of an element; 0: there is no such array */
} hd_file_array;
#define HD_FILE_ARRAYS 2 /* of a block */

/* How a header begins, its bytes, and which of them are 0 in this version. */
typedef struct hd_file_format {
    char magic[8];
    uint32_t version;
    uint32_t bytes;
    uint32_t zeros_at, zeros;
} hd_file_format;

typedef struct hd_file {
    int file;
    const char *path; /* as errors name it */
    const char *what; /* "table", "filter" */
} hd_file;

/*
 * A running 64-bit checksum: every word is folded in by a multiplication that any changed bit
 * upsets.
 */
uint64_t hd_file_checksum(uint64_t sum, const void *data, uint64_t bytes);

heddle_status hd_file_write(const hd_file *f, const void *data, uint64_t bytes);
/* A file that ends too early is damaged. */
heddle_status hd_file_read(const hd_file *f, void *data, uint64_t bytes);
heddle_status hd_file_length(const hd_file *f, uint64_t *bytes);
/* HEDDLE_ERROR_FORMAT: the file is no whole one. */
heddle_status hd_file_damaged(const hd_file *f, const char *how);

/* A header whose other fields are set: magic, version and checksum are filled in. */
heddle_status hd_file_write_header(const hd_file *f, const hd_file_format *format, void *header);
heddle_status hd_file_read_header(const hd_file *f, const hd_file_format *format, void *header);

heddle_status hd_file_write_block(const hd_file *f, uint64_t count,
                                  const hd_file_array arrays[HD_FILE_ARRAYS]);
/* A block of at least one and at most `most` elements, for which the arrays have room. */
heddle_status hd_file_read_block(const hd_file *f, uint64_t most,
                                 const hd_file_array arrays[HD_FILE_ARRAYS], uint64_t *count);
/* Nothing may follow. */
heddle_status hd_file_read_end(const hd_file *f);

/* Writes or reads the content of a file. */
typedef heddle_status (*hd_file_work)(void *context, const hd_file *f);
/*
 * Writes a file by `write` beside `path` and renames it when it is whole and on the disk, so that a failure
 * leaves an older file as it was. Until then it is called PATH.NUMBER.part, with a number drawn anew, and is no
 * file that was there before. Refuses a path at which something other than a regular file is.
 */
heddle_status hd_file_replace(const char *path, const char *what, hd_file_work write,
                              void *context);
/* Whether a name that goes on so behind PATH is one that hd_file_replace has made, in a process that is gone. */
bool hd_file_is_leftover(const char *behind);
/* HEDDLE_ERROR_IO where a device, a pipe or a directory is at `path`; nothing at all is fine. */
heddle_status hd_file_check_regular(const char *path);
/* Opens a file, which has to be a regular one, reads it by `read` and closes it. */
heddle_status hd_file_load(const char *path, const char *what, hd_file_work read, void *context);

#endif
