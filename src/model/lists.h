/*
 * lists.h: growing lists of values, which the multimap `bucket_list` keeps for its keys: their pool, and what a
 * batch asks of them (engine/lists.h). All memory is the device's.
 *
 *   record   of every list, by its number: the handle, which says how many values the list has and whether it
 *            is being extended, and the word of its newest bucket
 *   bucket   a run of values in one piece. Each but a list's first begins with a header: the word of the
 *            bucket before it, and how many values lie in the buckets before it, which are all full
 *   pool     chunks of memory that buckets are cut from, in units of 8 bytes. A chunk never moves
 *
 *   handle   | state (2) | number of values (62) |
 *   bucket   | capacity, a short float (23) | has a header (1) | chunk (8) | unit in the chunk (32) |
 *
 * The key table, a map from keys to list numbers, is not the engine's affair: batches come as list numbers.
 */
#ifndef HD_MODEL_LISTS_H
#define HD_MODEL_LISTS_H

#include <heddle/heddle.h>
#include <stdbool.h>

#include "model/columns.h"

typedef struct hd_list_record {
    uint64_t handle;
    uint64_t bucket;
} hd_list_record;

/* States of a list. */
enum {
    HD_LIST_EMPTY,   /* no value yet */
    HD_LIST_BLOCKED, /* somebody is adding a bucket; others try again */
    HD_LIST_READY,
    HD_LIST_FULL, /* like READY, but when it last needed a bucket the pool had none */
};

#define HD_LIST_NONE UINT64_MAX /* the number of no list */
#define HD_LIST_UNIT 8          /* bytes */
#define HD_LIST_CHUNKS 256
#define HD_LIST_CHUNK_UNITS (UINT64_C(1) << 32) /* of a chunk at most */
#define HD_LIST_RULE_MAX (UINT64_C(1) << 20)    /* values that the growth rule asks for at most */

/* What a step needs to know of the lists. */
typedef struct hd_list_pool {
    hd_list_record *records;
    char *const *chunks; /* where each chunk is */
    uint64_t first;      /* values of a first bucket */
    double growth;       /* of a bucket's capacity over that of the one before; at least 1 */
    uint32_t chunk;      /* new buckets come from this one */
    uint64_t used;       /* so many of its units are taken, for steps that a host plans */
    uint64_t *cursor;    /* the same in device memory, for appends one by one */
    uint64_t room;       /* units that it has */
} hd_list_pool;

/* What appends one by one, and kernels outside the library (model/device_view.h), share in device memory. */
typedef struct hd_list_words {
    uint64_t cursor;  /* hd_list_pool.cursor; past the chunk's room when it has run out */
    uint64_t records; /* numbers of lists that are taken; past their room when these have run out */
    uint64_t dead;    /* units of buckets that no list has any more */
    uint64_t spares;  /* lists that were made in vain; see cuda/inside/lists_writer.inl. 0: none */
} hd_list_words;

/* Lists that a step works on; HD_LIST_NONE stands for no list. */
typedef struct hd_list_numbers {
    const uint64_t *numbers;
    uint64_t n;
} hd_list_numbers;

static inline hd_list_numbers hd_list_numbers_of(const uint64_t *numbers, uint64_t n)
{
    const hd_list_numbers lists = {numbers, n};
    return lists;
}

/* Values to append one by one: values[i] to list numbers[i]. */
typedef struct hd_list_appends {
    const uint64_t *numbers;
    const void *values;
    uint64_t n;
    uint8_t *left; /* out: 1 where the chunk had no bucket for the value, else 0 */
} hd_list_appends;

/* Runs of values for lists: run g are the grouped rows [starts[g], starts[g + 1]), none of them empty. */
typedef struct hd_list_runs {
    uint64_t *numbers;      /* of the list of every run; HD_LIST_NONE: it has none yet */
    const uint64_t *starts; /* count + 1 */
    uint64_t count;
    uint64_t fresh; /* list numbers from here on are new: their records hold nothing yet */
    /* `count + 1` numbers: what each run takes of the chunk, then, summed, where that begins. */
    uint64_t *units;
    uint64_t room; /* units that there are for all of them; runs that find no more are cut short */
    bool tight;    /* new buckets have no more room than is needed now */
} hd_list_runs;

/* Where the values of a run go: `left` of them to `old`, then up to `granted` in all to `fresh`. */
typedef struct hd_list_place {
    void *old, *fresh;
    uint64_t left, granted;
} hd_list_place;

/* Rows to copy to their places. */
typedef struct hd_list_rows {
    const void *values;
    const void *rows; /* NULL: they are in order already */
    uint32_t row_bits;
    uint64_t n;
    uint8_t *outcomes; /* NULL, or HEDDLE_OUTCOME_* by row */
} hd_list_rows;

/* Values to fetch: those of list numbers[i] are number offsets[i] to offsets[i + 1] - 1 of all. */
typedef struct hd_list_fetch {
    const uint64_t *numbers;
    const uint64_t *offsets; /* count + 1 */
    uint64_t count;
    uint64_t first, n; /* which of them */
    void *values;      /* out: n of them; NULL where nobody asks */
    const void *keys;  /* NULL, or a key for every list, to be written beside each of its values */
    uint32_t key_width;
    void *keys_out;
} hd_list_fetch;

/* What a walk over lists found. */
typedef struct hd_list_census {
    uint64_t lists, values;
    uint64_t buckets;
    uint64_t full;       /* buckets without room */
    uint64_t units;      /* of these buckets */
    uint64_t chained[8]; /* lists of 1, 2, ... buckets, the last with that or more */
    uint64_t astray;     /* lists that do not exist, are empty, or were left blocked */
    uint64_t twice;      /* lists that two keys have */
    uint64_t broken;     /* lists whose buckets do not follow each other, or lead out of the pool */
    uint64_t shared;     /* buckets that overlap another */
} hd_list_census;

/* What is needed to check lists without being led astray. */
typedef struct hd_list_bounds {
    uint64_t records;           /* lists that there are */
    const uint64_t *limits;     /* units in use of every chunk, HD_LIST_CHUNKS of them */
    const uint64_t *first_bits; /* where the marks of its units begin */
    uint32_t *taken;            /* a mark for every unit of all chunks; 0 before */
    uint32_t *seen;             /* a mark for every record; 0 before */
} hd_list_bounds;

#endif
