/*
 * columns.h: what the files that make up the CPU's column steps (engine/columns.h) share. The files:
 *
 *     columns.c           scan, select, rank, gather, scatter, top, and the table of all steps
 *     grouped.c           steps over rows in groups; order_rows.c brings rows into the order of their groups
 *     reduce.c            sums and the like by group: rows in the order of groups
 *     reduce_numbered.c   the same where the group of every row is known by number; reduce_value.h has the sums
 *     row_keys.c          keys of several columns: hashed, compared
 *     mark_few.c          which rows have one of a few keys
 *     deliver.c           lists of answers in the order of the questions
 */
#ifndef HD_COLUMNS_CPU_H
#define HD_COLUMNS_CPU_H

#include <omp.h>

#include "base/port.h"
#include "cpu/device/engine.h"

/* Elements [begin, end) of n that the calling thread of a team works on. */
typedef struct hd_share {
    uint64_t begin, end;
} hd_share;

static inline hd_share hd_share_of(uint64_t n)
{
    const uint64_t me = (uint64_t)omp_get_thread_num(), all = (uint64_t)omp_get_num_threads();
    const hd_share share = {n / all * me + n % all * me / all,
                            n / all * (me + 1) + n % all * (me + 1) / all};
    return share;
}

HD_FN uint64_t hd_row_at(const void *rows, uint32_t row_bits, uint64_t i)
{
    return row_bits == 32 ? ((const uint32_t *)rows)[i] : ((const uint64_t *)rows)[i];
}

HD_FN void hd_row_set(void *rows, uint32_t row_bits, uint64_t i, uint64_t row)
{
    if (row_bits == 32) ((uint32_t *)rows)[i] = (uint32_t)row;
    else ((uint64_t *)rows)[i] = row;
}

/* The group that holds the i-th of the grouped rows; i < grouped->n. */
static inline uint64_t hd_group_at(const hd_grouped *grouped, uint64_t i)
{
    uint64_t low = 0, high = grouped->groups; /* starts[low] <= i < starts[high] */
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        if (grouped->starts[middle] <= i) low = middle;
        else high = middle;
    }
    return low;
}

/* Elements on their way to the caches while others are worked on. */
#define HD_ROWS_AHEAD 32

/* Groups that may be known by number, at most. Of more, a table and sums are so far beyond the second-level
   cache that it is faster to bring rows together first. */
#define HD_NUMBERED_MOST (UINT64_C(1) << 19)

/* Threads that each have something of every group: the more groups, the fewer, so that bringing it together
   takes less time than the rows. */
static inline int hd_numbered_threads(const heddle_device *device, uint64_t n, uint64_t groups)
{
    const uint64_t threads = (uint64_t)hd_cpu_threads(device, n), worth = n / 4 / groups;
    return (int)(worth == 0 ? 1 : worth < threads ? worth : threads);
}

/* All of them; the parts from other files follow. */
extern const hd_column_ops hd_columns_cpu;

uint64_t hd_reduce_cpu_work(int threads);
heddle_status hd_number_cpu(hd_site on, const hd_grouped *grouped, const void *names, void *out);
heddle_status hd_describe_cpu(hd_site on, const hd_grouped *grouped, void *firsts, void *lasts,
                              uint64_t *counts);
heddle_status hd_reduce_cpu(hd_site on, const hd_grouped *grouped, const hd_reduce *reduce);
/* The same for groups known by number, and its work. */
uint64_t hd_numbered_cpu_work(heddle_device *device, uint64_t n);
heddle_status hd_reduce_numbered_cpu(hd_site on, const hd_grouped *grouped,
                                     const hd_reduce *reduce);
uint64_t hd_order_cpu_work(heddle_device *device, uint64_t n);
heddle_status hd_order_cpu(hd_site on, const hd_grouped *grouped, uint64_t *starts, void *rows);
heddle_status hd_hash_cpu(hd_site on, const hd_row_keys *keys, uint64_t n, uint64_t seed,
                          uint64_t *out);
heddle_status hd_differ_cpu(hd_site on, const hd_row_keys *keys, const hd_grouped *grouped,
                            uint64_t *count);

heddle_status hd_deliver_lists_cpu(hd_site on, const hd_answer_lists *lists);
heddle_status hd_renumber_cpu(hd_site on, hd_row_numbers rows, hd_names names, void *out);
heddle_status hd_mark_few_cpu(hd_site on, const hd_few *few, const hd_few_search *search);

#endif
