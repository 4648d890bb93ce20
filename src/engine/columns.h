/*
 * columns.h: what a device must offer for plain steps over arrays, which relational operations are put together from.
 * All memory is the device's; nothing waits unless it says so.
 */
#ifndef HD_ENGINE_COLUMNS_H
#define HD_ENGINE_COLUMNS_H

#include <heddle/heddle.h>

#include "model/columns.h"

typedef struct hd_column_ops {
    /* Bytes of `work` that suffice for any of these steps over n elements. */
    uint64_t (*work)(heddle_device *device, uint64_t n);
    /* Exclusive sums in place; the total goes to numbers[n]. */
    heddle_status (*scan)(heddle_device *device, uint64_t *numbers, uint64_t n, void *work,
                          void *stream);
    /* The indices i, ascending, with (flags[i] != 0) == wanted, and their number. `rows` may be NULL. */
    heddle_status (*select)(heddle_device *device, const uint8_t *flags, uint64_t n, bool wanted,
                            void *rows, uint32_t row_bits, uint64_t *count, void *work,
                            void *stream);
    /* ranks[i]: how many flags before i are set. */
    heddle_status (*rank)(heddle_device *device, const uint8_t *flags, uint64_t n, void *ranks,
                          uint32_t row_bits, void *work, void *stream);
    /* out[i] = column[rows[i]], elements of `width` bytes. */
    heddle_status (*gather)(heddle_device *device, const void *column, uint32_t width,
                            const void *rows, uint32_t row_bits, uint64_t n, void *out,
                            void *stream);
    /* out[rows[i]] = from[i]; from NULL: every one becomes all zero bits but the first byte, which is 1. */
    heddle_status (*scatter)(heddle_device *device, const void *from, uint32_t width,
                             const void *rows, uint32_t row_bits, uint64_t n, void *out,
                             void *stream);
    /*
     * out[row] = g for every row of every group, or names[g] where names are given; of row_bits. Every
     * row is in one group. May wait, for memory of its own.
     */
    heddle_status (*number)(heddle_device *device, const hd_grouped *grouped, const void *names,
                            void *out, void *stream);
    /* For every group: its first row, its last row, its number of rows; each may be NULL. Last rows
       need `rows`, numbers of rows need `starts`. */
    heddle_status (*describe)(heddle_device *device, const hd_grouped *grouped, void *firsts,
                              void *lasts, uint64_t *counts, void *stream);
    heddle_status (*reduce)(heddle_device *device, const hd_grouped *grouped,
                            const hd_reduce *reduce, void *work, void *stream);
    /* A 64-bit hash of every row's key, nulls included; n rows from `first` on. All engines have the same one:
       members of a cluster send equal keys to the same place by it. */
    heddle_status (*hash)(heddle_device *device, const hd_row_keys *keys, uint64_t first,
                          uint64_t n, uint64_t seed, uint64_t *out, void *stream);
    /* *count is added to: rows whose key is not that of the first row of their group. */
    heddle_status (*differ)(heddle_device *device, const hd_row_keys *keys,
                            const hd_grouped *grouped, uint64_t *count, void *stream);
    /* The indices of the k largest numbers, largest first, the lower index first among equals. May wait. */
    heddle_status (*top)(heddle_device *device, const uint64_t *numbers, uint64_t n, uint64_t k,
                         uint64_t *indices, void *work, void *stream);
    /* Groups known by number: the rows in the order of groups, ascending in each, and where groups begin,
       groups + 1 numbers. NULL where there are no such groups. */
    heddle_status (*order)(heddle_device *device, const hd_grouped *grouped, uint64_t *starts,
                           void *rows, void *work, void *stream);
    /* Lists in the order of the questions: elements [starts[i], starts[i + 1]) of `from` go to
       out + places[i] - base. */
    heddle_status (*deliver_lists)(heddle_device *device, const hd_answer_lists *lists,
                                   void *stream);
    /* out[i] = base + names[rows[i]], or base + rows[i] where names is NULL; a row that is all ones (none) stays
       all ones. Rows have row_bits, names and out have out_bits. */
    heddle_status (*renumber)(heddle_device *device, const void *rows, uint32_t row_bits,
                              uint64_t n, const void *names, uint64_t base, void *out,
                              uint32_t out_bits, void *stream);
    /* flags[i]: keys[i] is one of the few; *count is how many rows have such keys. */
    heddle_status (*mark)(heddle_device *device, const hd_few *few, const void *keys, uint64_t n,
                          uint8_t *flags, uint64_t *count, void *stream);
} hd_column_ops;

#endif
