/*
 * check.h: whether a call's arguments can be used. Tables, clusters and shelves refuse an insertion
 * by the same function and in the same words. `what` names the operation in these.
 */
#ifndef HD_CHECK_H
#define HD_CHECK_H

#include "table/request.h"

/* The table is there, and its device knows the stream. */
heddle_status hd_check_table(const heddle_table *table, const void *stream, const char *what);
/* n elements are there and aligned. `what` names the elements. */
heddle_status hd_check_array(const void *array, uint64_t n, uint32_t width, const char *what);

/*
 * Arrays of these widths (value_bits 0: not looked at) are those of an object with keys and values of `has_keys` and
 * `has_values` bits. `what` names the object: "table".
 */
heddle_status hd_check_widths(const char *what, uint32_t has_keys, uint32_t has_values,
                              uint32_t key_bits, uint32_t value_bits);

/*
 * An insertion (keys, values, n and options of the request) that a table of these options takes,
 * which are complete: as heddle_table_get_options has them. A workspace has to lie on `device`;
 * where that is NULL none is taken.
 */
heddle_status hd_check_insertion(const heddle_table_options *options, const hd_request *request,
                                 heddle_device *device, const char *what);
/* The same of a mixed batch, which has operations and perhaps a place for values besides. */
heddle_status hd_check_mixture(const heddle_table_options *options, const hd_request *request,
                               heddle_device *device, const char *what);

#endif
