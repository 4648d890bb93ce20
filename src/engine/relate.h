/*
 * relate.h: what a device must offer for joins and group-bys, for keys of one width and row numbers of one width.
 * All memory is the device's; nothing waits unless it says so.
 */
#ifndef HD_ENGINE_RELATE_H
#define HD_ENGINE_RELATE_H

#include <heddle/heddle.h>

#include "model/relate.h"

typedef struct hd_relate_ops {
    uint32_t key_bits, row_bits;
    /* Left and right rows that a task may have at most, and that a region should have on average. */
    uint64_t join_left, join_right, region_rows;
    heddle_status (*join_count)(heddle_device *device, const hd_join_job *job, void *stream);
    heddle_status (*join_write)(heddle_device *device, const hd_join_job *job, void *stream);
    uint64_t (*group_work)(heddle_device *device, uint64_t n);
    /* The order of the groups is the engine's affair, but the same for the same keys and mix. */
    heddle_status (*group)(heddle_device *device, const hd_group_job *job, void *stream);
    /* The most keys that `few` takes. 0: there is no `few`, and it and its work are NULL. */
    uint64_t few_most;
    uint64_t (*few_work)(heddle_device *device, uint64_t n, uint64_t limit);
    heddle_status (*few)(heddle_device *device, hd_few_job *job, void *stream);
    /*
     * Distinct keys alone. `plan` says what memory the way of the job takes; NULL: there is none, and the
     * other two are NULL. `fetch` writes what HD_DISTINCT_* names to device memory, row numbers of row_bits.
     */
    void (*distinct_plan)(heddle_device *device, hd_distinct_job *job);
    heddle_status (*distinct)(heddle_device *device, hd_distinct_job *job, void *stream);
    heddle_status (*distinct_fetch)(heddle_device *device, const hd_distinct_job *job,
                                    uint32_t what, hd_distinct_out out, void *stream);
    uint32_t distinct_values; /* aggregates that distinct takes along, at most */
} hd_relate_ops;

#endif
