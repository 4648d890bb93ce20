/*
 * column_file.h: arrays in files. A column is a file of numbers that is mapped into memory: its
 * data can be given to every call that takes arrays in host memory, and is read from the file, and
 * written to it, as the call goes along. So the input of a build and the answers to a batch may be
 * larger than memory. Included by heddle.h, whose rules hold here too.
 *
 *     heddle_column_file *keys;
 *     heddle_column_file_open("keys.npy", HEDDLE_COLUMN_FILE_READ, 64, &keys);
 *     heddle_table_insert(set, heddle_column_file_data(keys), NULL, heddle_column_file_count(keys),
 *     NULL, NULL, NULL); heddle_column_file_close(keys);
 *
 * Two kinds of files: raw, which is nothing but the numbers, little-endian; and NumPy's, which
 * begin with a header (format versions 1 to 3, one dimension, little-endian, u1 i1 b1 u4 i4 u8 i8).
 * Signs are not looked at. A file that begins as NumPy's do is one, whatever its name; one that is
 * created is one if its name ends in ".npy".
 *
 * A file that others make shorter while it is mapped ends the program that reads it (SIGBUS), as
 * does a disk that cannot be read: this is how mapped files are. Writing cannot run out of disk:
 * the space of a file is reserved when it is created.
 */
#include <heddle/heddle.h>

#ifndef HEDDLE_COLUMN_FILE_H
#define HEDDLE_COLUMN_FILE_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct heddle_column_file heddle_column_file;

#define HEDDLE_COLUMN_FILE_READ 0  /* the data must not be written to */
#define HEDDLE_COLUMN_FILE_WRITE 1 /* what is written to the data is written to the file */

/*
 * Maps an existing file. `element_bits` is 8, 32 or 64; 0 takes what a file of NumPy's says. A file
 * that is not there, cannot be read or is no regular file gives HEDDLE_ERROR_IO. One that is no
 * whole number of elements, whose header is damaged or cut off, or that holds other elements than
 * were asked for, gives HEDDLE_ERROR_FORMAT.
 */
HEDDLE_API heddle_status heddle_column_file_open(const char *path, uint32_t mode,
                                                 uint32_t element_bits,
                                                 heddle_column_file **column);
/*
 * Creates a file of `count` zeros, and maps it to be written to. A regular file that is there is
 * emptied first, and stays empty when the call fails; a file that the call has made is removed
 * then. When the disk has no room, or something other than a regular file is there (a device, a
 * pipe), the call returns HEDDLE_ERROR_IO.
 */
HEDDLE_API heddle_status heddle_column_file_create(const char *path, uint32_t element_bits,
                                                   uint64_t count, heddle_column_file **column);
/*
 * The first element, aligned to 64 bytes (of a foreign NumPy file to an element); NULL in an empty
 * column.
 */
HEDDLE_API void *heddle_column_file_data(const heddle_column_file *column);
HEDDLE_API uint64_t heddle_column_file_count(const heddle_column_file *column);
HEDDLE_API uint32_t heddle_column_file_element_bits(const heddle_column_file *column);

#define HEDDLE_ADVICE_SEQUENTIAL 0 /* will be used from the front to the back: read ahead */
#define HEDDLE_ADVICE_RANDOM 1     /* in no order: do not read ahead */
#define HEDDLE_ADVICE_SOON 2       /* will be used soon: begin to read it now */
#define HEDDLE_ADVICE_DONE 3       /* not for a while: its pages may go. What was written to them
                                      stays written */

/*
 * Says how `count` elements from `first` on will be used, so that what is needed stays in memory
 * and what is not makes room. Whole pages alone are meant. A new column is SEQUENTIAL.
 */
HEDDLE_API heddle_status heddle_column_file_advise(heddle_column_file *column, uint64_t first,
                                                   uint64_t count, uint32_t advice);
/* Waits until all that was written is on the disk. */
HEDDLE_API heddle_status heddle_column_file_flush(heddle_column_file *column);
/* Ends the mapping; the file stays. Does not wait for the disk. NULL is accepted. */
HEDDLE_API void heddle_column_file_close(heddle_column_file *column);

#ifdef __cplusplus
}
#endif

#endif
