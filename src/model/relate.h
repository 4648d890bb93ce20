/*
 * relate.h: the work of joins and group-bys: tasks and jobs for engine/relate.h. All memory is the device's.
 *
 * A join sorts both sides by region (partition.h; the value of a pair is its row number) and then works
 * on tasks: some rows of the left and some of the right side of one region. A task's left rows fit
 * fast local memory, where they are hashed; its right rows pass by.
 */
#ifndef HD_MODEL_RELATE_H
#define HD_MODEL_RELATE_H

#include <heddle/heddle.h>

#include "model/columns.h"
#include "model/partition.h"

typedef struct hd_join_task {
    uint64_t left_begin, left_end; /* pairs; at most join_left of them */
    uint64_t right_begin, right_end;
} hd_join_task;

typedef struct hd_join_job {
    uint32_t region_bits;
    uint32_t count; /* tasks */
    const void *left, *right;
    const hd_join_task *tasks;
    uint8_t *left_matched,
        *right_matched; /* count: one flag a row, set to 1 where a row has a match; or NULL */
    uint64_t *
        places; /* count + 1; join_count: out, the matches of each task; join_write: where its pairs go */
    void *left_rows,
        *right_rows; /* join_write: out, row numbers of the matches; either may be NULL */
} hd_join_job;

/* Rows brought together by key. */
typedef struct hd_group_job {
    const void *keys; /* the caller's */
    uint64_t n;
    hd_mix mix;
    void *rows;     /* out: all row numbers, group by group, ascending within a group */
    uint8_t *heads; /* out: 1 where a group begins, else 0; aligned to 4 */
    void *work;     /* group_work bytes */
} hd_group_job;

/*
 * Rows numbered by key, while the keys are few. Many questions about groups need no more than that, and it
 * is much faster than to bring rows together.
 */
typedef struct hd_few_job {
    const void *keys; /* the caller's */
    uint64_t n;
    hd_mix mix;
    uint64_t limit; /* keys at most */
    uint32_t
        *numbers; /* out: of every row; keys are numbered in the order in which they first appear */
    void *firsts; /* out: the first row of every key; room for `limit` */
    uint64_t groups; /* out: keys; 0 when there are more than `limit` */
    void *work;      /* few_work bytes */
} hd_few_job;

/*
 * The distinct keys of an array, and what is asked of each key: nothing is known of the single rows then, so
 * none of them is written. The answer stays in `kept`, in a form of the engine's, until it is fetched.
 */
typedef struct hd_distinct_job {
    const void *keys; /* the caller's */
    uint64_t n;
    hd_mix mix;
    bool sizes, firsts; /* asked for: the number of rows of every key, its first row */
    bool ordered;       /* keys in the order of their first rows; else in any order */
    bool few;           /* which way: keys are few, or any number */
    const hd_reduce
        *values; /* columns that are aggregated by key; nobody looks at `out` and `out_valid` */
    uint32_t value_count;
    /* Set by distinct_plan. */
    uint64_t room;        /* keys at most */
    uint32_t region_bits; /* of the regions that keys are sorted by */
    uint64_t kept_bytes, work_bytes;
    void *kept, *work; /* as many bytes */
    uint64_t groups;   /* out: keys; 0 when this way does not take them */
} hd_distinct_job;

/* What distinct_fetch writes, one for every key. */
enum {
    HD_DISTINCT_KEYS,
    HD_DISTINCT_SIZES, /* uint64_t */
    HD_DISTINCT_FIRSTS,
    HD_DISTINCT_VALUES /* and more: as hd_reduce.out */
};

typedef struct hd_distinct_out {
    void *memory;
    uint32_t row_bits; /* of first rows */
    uint8_t *valid;    /* NULL, or of values as hd_reduce.out_valid */
} hd_distinct_out;

#endif
