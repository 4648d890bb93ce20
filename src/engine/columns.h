/*
 * columns.h: what a device must offer for plain steps over arrays, which relational operations are put together from.
 * All memory is the device's; nothing waits unless it says so.
 */
#ifndef HD_ENGINE_COLUMNS_H
#define HD_ENGINE_COLUMNS_H

#include <heddle/heddle.h>

#include "model/columns.h"

typedef struct hd_column_ops {
    /* Bytes of work memory that suffice for any of these steps over n elements. Steps that need some say so. */
    uint64_t (*work)(heddle_device *device, uint64_t n);
    /* Exclusive sums in place; the total goes to numbers[n]. Needs work memory. */
    heddle_status (*scan)(hd_site on, uint64_t *numbers, uint64_t n);
    /* The rows whose flags are wanted, ascending, and their number. `rows` may be NULL. Needs work memory. */
    heddle_status (*select)(hd_site on, hd_flags flags, void *rows, uint32_t row_bits,
                            uint64_t *count);
    /* ranks[i]: how many flags before i are set. Needs work memory. */
    heddle_status (*rank)(hd_site on, const uint8_t *flags, uint64_t n, void *ranks,
                          uint32_t row_bits);
    /* out[i] = column[rows[i]]. */
    heddle_status (*gather)(hd_site on, hd_elements column, hd_row_numbers rows, void *out);
    /* out[rows[i]] = from[i]; from.data NULL: every one becomes all zero bits but the first byte, which is 1. */
    heddle_status (*scatter)(hd_site on, hd_elements from, hd_row_numbers rows, void *out);
    /*
     * out[row] = g for every row of every group, or names[g] where names are given; of row_bits. Every
     * row is in one group. May wait, for memory of its own.
     */
    heddle_status (*number)(hd_site on, const hd_grouped *grouped, const void *names, void *out);
    /* For every group: its first row, its last row, its number of rows; each may be NULL. Last rows
       need `rows`, numbers of rows need `starts`. */
    heddle_status (*describe)(hd_site on, const hd_grouped *grouped, void *firsts, void *lasts,
                              uint64_t *counts);
    /* Needs work memory. */
    heddle_status (*reduce)(hd_site on, const hd_grouped *grouped, const hd_reduce *reduce);
    /* A 64-bit hash of every row's key, nulls included; of n rows. All engines have the same one: members of
       a cluster send equal keys to the same place by it. */
    heddle_status (*hash)(hd_site on, const hd_row_keys *keys, uint64_t n, uint64_t seed,
                          uint64_t *out);
    /* *count is added to: rows whose key is not that of the first row of their group. */
    heddle_status (*differ)(hd_site on, const hd_row_keys *keys, const hd_grouped *grouped,
                            uint64_t *count);
    /* The indices of the k largest numbers, largest first, the lower index first among equals. May wait. */
    heddle_status (*top)(hd_site on, const uint64_t *numbers, uint64_t n, uint64_t k,
                         uint64_t *indices);
    /* Groups known by number: the rows in the order of groups, ascending in each, and where groups begin,
       groups + 1 numbers. Needs work memory. May wait, for memory of its own. NULL where there are no such groups. */
    heddle_status (*order)(hd_site on, const hd_grouped *grouped, uint64_t *starts, void *rows);
    /* Lists in the order of the questions: elements [starts[i], starts[i + 1]) of `from` go to
       out + places[i] - base. */
    heddle_status (*deliver_lists)(hd_site on, const hd_answer_lists *lists);
    /* out[i] = the name of rows[i], of names.bits; a row that is all ones (none) stays all ones. */
    heddle_status (*renumber)(hd_site on, hd_row_numbers rows, hd_names names, void *out);
    heddle_status (*mark)(hd_site on, const hd_few *few, const hd_few_search *search);
} hd_column_ops;

#endif
