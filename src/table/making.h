/*
 * making.h: what this room offers those who make tables of their own, clusters and shelves, besides the public calls.
 */
#ifndef HD_MAKING_H
#define HD_MAKING_H

#include <heddle/heddle.h>
#include <stdbool.h>

/* The caller's options, perhaps of an older header: what they do not have is as by default. */
heddle_status hd_options_read(const heddle_table_options *given, heddle_table_options *options);
/*
 * Sets what the caller left open, and refuses what heddle_table_create would refuse whatever the capacity: also a table
 * that is not compiled for the device. A seed of 0 stays.
 */
heddle_status hd_options_complete(heddle_device *device, heddle_table_options *options);

/*
 * As heddle_table_load. With `whole` all pairs are read before they are inserted, in one batch,
 * which the CPU builds by regions; that takes host memory for them.
 */
heddle_status hd_table_load(heddle_device *device, const char *path,
                            const heddle_table_options *options, bool whole, heddle_table **table);

#endif
