/*
 * join.h: a join of two relations. Both sides are sorted by region, tasks are cut from the regions
 * (model/relate.h), and their matches are counted. Fetching then writes task after task. Flags say which
 * rows have no match; a creation turns them into lists of rows at once. The files:
 *
 *     join.c     arguments, and the steps of a creation
 *     sides.c    from the caller's columns to pairs sorted by region
 *     tasks.c    tasks, their matches, and the rows without
 *     fetch.c    slices of the result
 *     tables.c   tables in place of columns
 *
 * heddle_join_create calls hd_join_create_named, which calls hd_join_sort (encode/ where keys are not
 * plain, then the engine's `partition`), hd_join_make_tasks, hd_join_count_matches (the engine's
 * `join_count`) and hd_join_list_rows. heddle_join_fetch calls the engine's `join_write`.
 */
#ifndef HD_JOIN_H
#define HD_JOIN_H

#include "engine/engine.h"
#include "host/scratch.h"

enum { HD_LEFT, HD_RIGHT };

typedef struct hd_join_side {
    uint64_t rows;    /* of the caller's table */
    uint64_t keys;    /* of them that have no null in their key: the others match nothing */
    void *pairs;      /* device: mixed keys and row numbers, by region */
    bool borrowed;    /* the pairs are a table's */
    uint64_t *starts; /* host: where the regions begin */
    uint8_t *matched; /* device, one a row, while the join is created; NULL where nobody asks */
    void *list;       /* device: the rows to be fetched after the matches */
    uint64_t listed;
} hd_join_side;

/* How far fetching has come. */
typedef struct hd_join_cursor {
    uint32_t task;
    uint64_t done;      /* right rows of that task, where it is written in parts */
    uint64_t listed[2]; /* of the lists */
} hd_join_cursor;

struct heddle_join {
    heddle_device *device;
    const hd_engine *engine;
    const hd_relate_ops *ops;
    uint32_t kind; /* HEDDLE_JOIN_* */
    uint32_t row_bits;
    hd_mix mix;
    uint32_t region_bits;
    uint32_t hashed; /* the side that is the left one to the engine: the one with fewer rows */
    hd_join_side sides[2];

    uint32_t tasks_count; /* those with matches, once they are counted */
    hd_join_task *tasks, *device_tasks;
    uint64_t *places;       /* host: sums of the matches before each task, tasks_count + 1 */
    uint64_t *slice_places; /* host: the same from the first task of a slice on */
    uint64_t *device_places;
    hd_join_task *device_parts; /* of a task that is written in parts; NULL where there is none */
    uint64_t *device_part_places;
    uint64_t slice_min;
    hd_join_cursor cursor;
};

/* A task with more matches is written in parts, each of some of its right rows. */
uint64_t hd_join_part_matches(void);
#define HD_JOIN_PARTS 64 /* counted and written together */

/* Rows that a task has at most of a side, as the engine names the sides. */
uint64_t hd_join_limit(const heddle_join *join, uint32_t engine_side);

/* What the caller joins by. */
typedef struct hd_join_keys {
    const heddle_column *columns[2];
    uint32_t count;   /* columns of a side */
    uint64_t rows[2]; /* of the caller's tables */
    /* Numbers of row_bits that stand for the rows, device memory; NULL: their own. */
    const void *names[2];
} hd_join_keys;

/*
 * heddle_join_create with names for the rows, which the result then has in place of row numbers: an inner
 * join needs no others. They may be freed when it returns, like the columns.
 */
heddle_status hd_join_create_named(heddle_device *device, const hd_join_keys *keys,
                                   const heddle_join_options *options, heddle_join **join,
                                   void *stream);

/* Whether the join needs to know which rows of a side have a match, and whether matches are fetched. */
bool hd_join_flags(const heddle_join *join, uint32_t side);
bool hd_join_has_pairs(const heddle_join *join);

/* The steps of a creation, in this order. What they leave in the join is freed with it. */
heddle_status hd_join_sort(heddle_join *join, const hd_join_keys *keys, uint64_t seed,
                           void *stream);
heddle_status hd_join_make_tasks(heddle_join *join);
heddle_status hd_join_count_matches(heddle_join *join, void *stream);
heddle_status hd_join_list_rows(heddle_join *join, void *stream);

/* A job over tasks that lie on the device, from the first one on. */
hd_join_job hd_join_job_of(const heddle_join *join, const hd_join_task *tasks, uint32_t count,
                           uint64_t *places);

static inline uint32_t hd_join_row_bytes(const heddle_join *join) { return join->row_bits / 8; }

#endif
