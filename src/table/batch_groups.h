/* batch_groups.h: the rows of a batch, brought together where their keys are equal. */
#ifndef HD_BATCH_GROUPS_H
#define HD_BATCH_GROUPS_H

#include "host/scratch.h"
#include "table/table.h"

typedef struct hd_batch_groups {
    hd_grouped grouped; /* rows, row_bits, n, starts and groups are set */
    void *work;         /* what the steps of columns need for n rows */
} hd_batch_groups;

/*
 * Groups the n keys of a request, at least one, in device memory. Takes from `scratch` what the grouping
 * needs (hd_relate_ops.group_work), a row number and a byte for every row, and a number for every
 * group. Waits once.
 */
heddle_status hd_batch_group(heddle_table *table, const hd_request *r, const hd_mix *mix,
                             hd_scratch *scratch, hd_batch_groups *groups);

#endif
