/*
 * partition.h: sorting pairs by the region of their key, the first step of every bulk build.
 *
 * Memory is fast in order and slow at random. So a bulk build first brings the pairs of each region
 * together and then works on one region at a time in fast local memory. HashGraph's bins and the key
 * ranges of several devices are the same step at other scales.
 *
 * A sorted pair is its mixed key (hash.h) and its value, side by side without padding: 4, 8, 12 or
 * 16 bytes. The order within a region is the engine's affair.
 */
#ifndef HD_MODEL_PARTITION_H
#define HD_MODEL_PARTITION_H

#include <stdbool.h>

#include "model/view.h"

typedef struct hd_partition {
    uint32_t key_bits;
    uint32_t value_bits;  /* 0: keys alone */
    uint32_t region_bits; /* at most HD_PARTITION_BITS_MAX */
    hd_mix mix;
    const void *keys;   /* n of them, device memory like all that follows */
    const void *values; /* n, or NULL: the value of a pair is then its row, first_row and up */
    uint64_t first_row;
    bool ones; /* without values: the value of every pair is 1 instead */
    uint64_t n;
    void *pairs;      /* out: the pairs, region by region */
    void *spare;      /* room for as many more, which may be used on the way */
    uint64_t *starts; /* out: where every region's pairs begin; regions + 1 numbers */
    void *work;       /* as many bytes as partition_work says */
    /* Of the step HD_SORT_REGIONS alone: these regions, and starts[first_region]. */
    uint32_t first_region, end_region;
    uint64_t first_pair;
} hd_partition;

#define HD_PARTITION_BITS_MAX 20
/* Of regions that keys are counted by alone (hd_engine.count_regions). */
#define HD_COUNT_BITS_MAX 16

/*
 * A partition in steps, for when there is no room for all sorted pairs. All pairs are brought into
 * `spare` part by part; a part is 2^(region_bits - part bits) neighbouring regions. Then the regions of
 * some parts after the other are sorted into `pairs`, whose memory may be used for others once the
 * pairs there have been dealt with. A part of `spare` is free when its regions have been sorted. The
 * keys may come in batches. `work` has as many bytes as partition_step_work says for all pairs, and is
 * left alone in between, as are the starts.
 */
enum {
    HD_SORT_BEGIN, /* nothing has been counted */
    HD_SORT_TALLY, /* counts the n keys of a batch */
    HD_SORT_PLAN,  /* every batch has been counted; n is the number of all pairs, as in COUNT */
    HD_SORT_SPREAD, /* brings the n pairs of a batch into `spare`; every batch that was counted, once */
    HD_SORT_COUNT, /* every batch has been spread: sets the starts */
    HD_SORT_REGIONS, /* sorts the n pairs of regions [first_region, end_region), which are whole parts:
                        pair number i, counted as the starts do, goes to i - hd_partition_base */
};

/*
 * A partition that counts nothing first: every region has room for the same number of pairs, a little more than come
 * to it by chance, and pairs beyond are listed. It takes a pass less, and nobody need know a count before the next
 * step begins.
 */
typedef struct hd_scatter {
    hd_partition
        job; /* keys and values, n, region_bits and mix; `pairs`: out; nothing else of it */
    /* Set by scatter_plan: the room of a region, of a part of the first of two passes, and bytes. */
    uint64_t room, part_room;
    uint64_t pairs_bytes, spare_bytes, work_bytes;
    void *spare, *work;      /* as many bytes */
    uint64_t *starts, *ends; /* out: of every region; ends[i] may pass starts[i] + room */
    void *over; /* out: sorted pairs that found no room, n at most; NULL: they are only counted */
    uint64_t *over_count; /* out: how many */
} hd_scatter;

/* The number of the pair that comes first in `pairs`: whole lines of memory are written. */
static inline uint64_t hd_partition_base(uint64_t first_pair) { return first_pair / 16 * 16; }

/* Pairs sorted by region, as a build takes them. */
typedef struct hd_sorted {
    const void *pairs;
    const uint64_t *starts, *ends; /* of every region, or of every one in the list */
    const uint32_t *regions;       /* a list of `count` regions to work on; NULL: all of them */
    uint32_t count;
    uint64_t limit; /* regions with more pairs than this are left out and counted in HD_LATER */
    /*
     * NULL, or room for all pairs: those that found no place, as sorted pairs. No pair is lost then, and a table
     * that was not filled by regions before may be filled on (hd_table_ops.fill).
     */
    void *failed;
    /* How many; added to. To fill a multimap afresh may overwrite the sorted pairs and `starts`. */
    uint64_t *failed_count;
    uint64_t least; /* 0, or: regions with no more pairs than this are left out */
    uint64_t room;  /* 0, or: pairs of a region beyond so many are elsewhere (hd_scatter) */
    const uint64_t *
        unless; /* NULL, or: when this is not 0 nothing is to be done (a build whose scatter was not even) */
    bool retried; /* what is listed in `failed` will be tried again: it does not count as failed */
} hd_sorted;

/* A part of a crowded region: pairs that one block folds together (hd_table_ops.fold). */
typedef struct hd_fold_task {
    uint64_t begin, end; /* of the source */
    uint32_t cursor;     /* where its results go on: the index of a cursor */
} hd_fold_task;

/* Pairs taken out of a table: those of its slots, or slabs, [first, first + n). All pointers are device memory. */
typedef struct hd_export {
    uint64_t first, n;
    void *keys, *values; /* where they go, at the cursor; no values: NULL */
    uint64_t *cursor;    /* moved on */
} hd_export;

/* What hd_table_ops.fold is given; all of it is device memory. */
typedef struct hd_fold {
    const void *source; /* sorted pairs */
    const hd_fold_task *tasks;
    uint32_t count;
    void *pairs;       /* where results go, at the cursors */
    uint64_t *cursors; /* moved on */
} hd_fold;

static inline uint32_t hd_pair_bytes(uint32_t key_bits, uint32_t value_bits)
{
    return (key_bits + value_bits) / 8;
}

#endif
