/*
 * column_file.h: arrays in files. A column is a file of numbers that is mapped into memory: its
 * data can be given to every call that takes arrays in host memory, and is read from the file, and
 * written to it, as the call goes along. So the input of a build and the answers to a batch may be
 * larger than memory. Included by heddle.h; its rules hold here too.
 *
 *     heddle_column_file *keys;
 *     heddle_column_file_open("keys.npy", HEDDLE_COLUMN_FILE_READ, 64, &keys);
 *     heddle_table_insert(set, heddle_column_file_data(keys), NULL,
 *                         heddle_column_file_count(keys), NULL, NULL, NULL);
 *     heddle_column_file_close(keys);
 *
 * There are two kinds of files. A raw file has only the numbers, little-endian. A file of NumPy's
 * begins with a header (format versions 1 to 3, one dimension, little-endian, u1 i1 b1 u4 i4 f4 u8
 * i8 f8). It says what the elements are: heddle_column_file_element_kind. A file that begins with
 * NumPy's header is read as such, whatever its name. A file whose name ends in ".npy" must begin
 * with this header; a file that is created under such a name gets it.
 *
 * When others make a file shorter while it is mapped, a program that reads it is ended (SIGBUS);
 * so it is when the disk cannot be read. All mapped files are like that. Writing cannot run out of
 * disk: the space of a file is reserved when it is created.
 */
#include <heddle/heddle.h>

#ifndef HEDDLE_COLUMN_FILE_H
#define HEDDLE_COLUMN_FILE_H

#ifdef __cplusplus
extern "C" {
#endif

/* A file of numbers that is mapped into memory. */
typedef struct heddle_column_file heddle_column_file;

#define HEDDLE_ELEMENT_UNKNOWN 0  /* a raw file does not say what its elements are */
#define HEDDLE_ELEMENT_UNSIGNED 1 /* unsigned integers */
#define HEDDLE_ELEMENT_SIGNED 2   /* signed integers */
#define HEDDLE_ELEMENT_FLOAT 3    /* IEEE 754 numbers of 32 or 64 bits */
#define HEDDLE_ELEMENT_BOOL 4     /* flags of 8 bits, 0 or 1 */

#define HEDDLE_COLUMN_FILE_READ 0  /* the data must not be written to */
#define HEDDLE_COLUMN_FILE_WRITE 1 /* what is written to the data is written to the file */

/*
 * Maps an existing file. `element_bits` is 8, 32 or 64; 0 takes what a file of NumPy's says. A file
 * that is not there, cannot be read or is no regular file gives HEDDLE_ERROR_IO. A file gives
 * HEDDLE_ERROR_FORMAT when its length is no whole number of elements, when its header is damaged or
 * cut off or missing under a name that ends in ".npy", and when its elements have other bits than
 * were asked for. Any kind of elements is accepted: tables compare their bits, and
 * heddle_column_file_element_kind says what they are.
 */
HEDDLE_API heddle_status heddle_column_file_open(const char *path, uint32_t mode,
                                                 uint32_t element_bits,
                                                 heddle_column_file **column);
/*
 * Creates a file of `count` zeros, and maps it to be written to. Its elements are unsigned. A
 * regular file that is there is emptied first, and stays empty when the call fails; a file that the
 * call has made is removed then. When the disk has no room, or something other than a regular file
 * is there (a device, a pipe, a symbolic link), the call returns HEDDLE_ERROR_IO.
 */
HEDDLE_API heddle_status heddle_column_file_create(const char *path, uint32_t element_bits,
                                                   uint64_t count, heddle_column_file **column);
/*
 * As heddle_column_file_create, with elements of a kind: HEDDLE_ELEMENT_. NumPy's header says the
 * kind; a raw file cannot.
 */
HEDDLE_API heddle_status heddle_column_file_create_as(const char *path, uint32_t element_bits,
                                                      uint32_t element_kind, uint64_t count,
                                                      heddle_column_file **column);
/*
 * The first element, aligned to 64 bytes (of a foreign NumPy file to an element); NULL in an empty
 * column.
 */
HEDDLE_API void *heddle_column_file_data(const heddle_column_file *column);
/* The number of elements. */
HEDDLE_API uint64_t heddle_column_file_count(const heddle_column_file *column);
/* The bits of an element: 8, 32 or 64. */
HEDDLE_API uint32_t heddle_column_file_element_bits(const heddle_column_file *column);
/* What NumPy's header says that the elements are: HEDDLE_ELEMENT_. UNKNOWN in a raw file. */
HEDDLE_API uint32_t heddle_column_file_element_kind(const heddle_column_file *column);

#define HEDDLE_ADVICE_SEQUENTIAL 0 /* will be used from the front to the back: read ahead */
#define HEDDLE_ADVICE_RANDOM 1     /* in no order: do not read ahead */
#define HEDDLE_ADVICE_SOON 2       /* will be used soon: begin to read it now */
#define HEDDLE_ADVICE_DONE 3       /* not for a while: its pages may go. What was written to them
                                      stays written */

/*
 * Says how `count` elements from `first` on will be used, so that pages that are needed stay in
 * memory and others make room. Only whole pages count. A new column is SEQUENTIAL.
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
