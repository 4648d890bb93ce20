/*
 * column_file.h: arrays in files (heddle/column_file.h), raw or as NumPy keeps them. The files:
 *
 *     column_file.c   opening, making, growing and closing; the file is mapped into memory
 *     npy.c           the header of a NumPy file: read, and made
 *
 * heddle_column_file_open maps the file, asks hd_npy_is, and hd_npy_read for the shape; heddle_column_file_create
 * writes the header of hd_npy_make first. This header declares npy.c.
 */
#ifndef HD_COLUMN_FILE_H
#define HD_COLUMN_FILE_H

#include <heddle/heddle.h>
#include <stdbool.h>

#define HD_NPY_MADE 128 /* bytes of the headers that are made here, enough for every count */

/* What a file is. */
typedef struct hd_column_shape {
    bool npy;
    uint64_t offset; /* of the first element */
    uint64_t count;
    uint32_t element_bits;
    uint32_t element_kind; /* HEDDLE_ELEMENT_; UNKNOWN in a raw file */
} hd_column_shape;

/*
 * Reads the header of a NumPy file, of which the first `there` bytes are given and which has `bytes` in all.
 * `path` is for errors.
 */
heddle_status hd_npy_read(const char *path, const unsigned char *head, uint64_t there,
                          uint64_t bytes, hd_column_shape *shape);
/* NumPy's name for elements, such as "<u4"; NULL when there are none of these bits and kind. */
const char *hd_npy_type(uint32_t bits, uint32_t kind);
bool hd_npy_is(const unsigned char *head, uint64_t there);
void hd_npy_make(unsigned char head[HD_NPY_MADE], const hd_column_shape *shape);

#endif
