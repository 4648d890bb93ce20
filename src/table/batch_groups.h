/* batch_groups.h: the rows of a batch, brought together where their keys are equal. */
#ifndef HD_BATCH_GROUPS_H
#define HD_BATCH_GROUPS_H

#include "host/scratch.h"
#include "table/table.h"

/*
 * Groups n rows of the table's keys, at least one, by the engine: rows, row_bits, n, starts and groups of
 * `grouped` are set. Takes what the grouping needs (hd_relate_ops.group_work), a row number and a byte for
 * every row and a number for every group from `scratch`, and waits once. *work is what the steps of columns
 * need for n rows.
 */
heddle_status hd_batch_group(heddle_table *table, const hd_mix *mix, const void *keys, uint64_t n,
                             hd_scratch *scratch, hd_grouped *grouped, void **work, void *stream);

#endif
