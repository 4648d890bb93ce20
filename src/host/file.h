/* file.h: what all saved files share: a checksum, errors in words, and that a file is whole or not there. */
#ifndef HD_FILE_H
#define HD_FILE_H

#include <heddle/heddle.h>
#include <stdbool.h>
#include <stdio.h>

#if !defined(__BYTE_ORDER__) || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the file format is written as it lies in memory on little-endian machines"
#endif

/* What comes before the content of every block. */
typedef struct hd_file_block {
    uint64_t count;
    uint64_t checksum;
} hd_file_block;

typedef struct hd_file {
    FILE *file;
    const char *path; /* as errors name it */
    const char *what; /* "table", "filter" */
} hd_file;

/* A running 64-bit checksum: every word is folded in by a multiplication that any changed bit upsets. */
uint64_t hd_file_checksum(uint64_t sum, const void *data, uint64_t bytes);

heddle_status hd_file_write(const hd_file *f, const void *data, uint64_t bytes);
/* A file that ends too early is damaged. */
heddle_status hd_file_read(const hd_file *f, void *data, uint64_t bytes);
heddle_status hd_file_length(const hd_file *f, uint64_t *bytes);
/* HEDDLE_ERROR_FORMAT: the file is no whole one. */
heddle_status hd_file_damaged(const hd_file *f, const char *how);

/*
 * Writes a file by `write` beside `path` and renames it when it is whole and on the disk, so that a failure
 * leaves an older file as it was. Until then it is called PATH.NUMBER.part, with a number drawn anew, and is no
 * file that was there before. Refuses a path at which something other than a regular file is.
 */
heddle_status hd_file_replace(const char *path, const char *what,
                              heddle_status (*write)(void *context, const hd_file *f),
                              void *context);
/* Whether a name that goes on so behind PATH is one that hd_file_replace has made, in a process that is gone. */
bool hd_file_is_leftover(const char *behind);
/* HEDDLE_ERROR_IO where a device, a pipe or a directory is at `path`; nothing at all is fine. */
heddle_status hd_file_check_regular(const char *path);
/* Takes the space of an open file; 0, or what went wrong (errno). Signals do not end it. */
int hd_file_reserve(int file, uint64_t bytes);
/* Opens a file for reading; the caller closes f->file. */
heddle_status hd_file_open(const char *path, const char *what, hd_file *f);

#endif
