/*
 * slabs.h: a slab hash: the table, its pool and its batches, as the steps of scheme/slab.h take them. All memory is the device's.
 *
 *   slab       128 bytes: slots for keys or pairs; at byte 120 the address of the next slab of the list; at byte
 *              124, in a slab of the pool, the two leading bits of the mixed keys of its list, which slots lack,
 *              and in a base slab a hint: a slab of its list, all slabs before which are full
 *   bucket     a list of slabs. The first, its base slab, lies in an array of them; the others in the pool
 *   address    of a slab in the pool: | super block (8) | block (14) | slab in the block (10) |
 *   pool       super blocks of up to 2^24 slabs, each in one piece. None of them ever moves. A bit for every
 *              slab says whether it is taken
 *
 * Slabs that are not taken are all 0, and so is a slot that never held a key. So a slab from the pool can be
 * linked into a list as it is.
 */
#ifndef HD_MODEL_SLABS_H
#define HD_MODEL_SLABS_H

#include <heddle/heddle.h>
#include <stdbool.h>

#include "model/partition.h"
#include "model/view.h"

#define HD_SLAB_BYTES 128
#define HD_SLAB_TAIL 120 /* where the address of the next slab is */
#define HD_SLAB_NOTE 124 /* where the leading bits of its keys are, or the hint */
#define HD_SLAB_NONE                                                                               \
    UINT32_C(0)           /* the address of no slab: the first of a pool is never given away */
#ifndef HD_SLAB_UNIT_BITS /* tests have smaller blocks */
#define HD_SLAB_UNIT_BITS 10
#endif
#define HD_SLAB_UNITS (UINT32_C(1) << HD_SLAB_UNIT_BITS) /* slabs of a block */
#define HD_SLAB_BLOCK_BITS 14
#define HD_SLAB_BLOCKS (UINT32_C(1) << HD_SLAB_BLOCK_BITS) /* of a super block, at most */
#define HD_SLAB_SUPERS 256
#define HD_SLAB_BLOCK_WORDS (HD_SLAB_UNITS / 32) /* of the bits of a block */

/* A super block: its slabs, and how many blocks come before it in the order of the bits. */
typedef struct hd_slab_super {
    char *slabs;
    uint32_t before;
    uint32_t blocks;
} hd_slab_super;

typedef struct hd_slab_pool {
    char *light;                 /* the slabs of the only super block, else NULL */
    const hd_slab_super *supers; /* device memory */
    uint32_t super_count;
    uint32_t blocks; /* of all of them */
    uint32_t *taken; /* a bit for every slab, HD_SLAB_BLOCK_WORDS words a block */
    uint32_t *
        spent; /* a word that is 1 once somebody has found all of them taken; 0 when some come back */
} hd_slab_pool;

/*
 * The table. buckets.slots are the base slabs; its geometry and keys as in model/view.h, with one bit of marks,
 * so that two bits of every key word are free for the state of a slot.
 */
typedef struct hd_slab_view {
    hd_view buckets;
    hd_slab_pool pool;
} hd_slab_view;

/* Operations of a batch: any mixture of the first three, or one of the others, on all pairs of every key. */
enum {
    HD_SLAB_INSERT,
    HD_SLAB_ERASE,
    HD_SLAB_FIND,
    HD_SLAB_COUNT,
    HD_SLAB_RETRIEVE,
    HD_SLAB_CLAIM,    /* of equal keys one gets the right to erase their pairs */
    HD_SLAB_ERASE_ALL /* after it: only keys that are `found` erase */
};

/* A batch: all pointers are device memory. */
typedef struct hd_slab_batch {
    const uint8_t *operations; /* of each key; NULL: all are `operation` */
    uint32_t operation;
    uint32_t policy; /* HEDDLE_POLICY_* of insertions */
    bool multi;      /* insertions put pairs of equal keys beside each other */
    bool retry;      /* only those are worked on whose outcome is FAILED */
    bool apart; /* a mixture without `multi` and `retry` is done kind by kind: see apart_least */
    const void *keys;   /* n of them */
    const void *values; /* to insert; NULL in a set, or when all are 1 */
    void *values_out; /* NULL, or where the values of lookups go; not written where there is none */
    uint8_t *outcomes; /* NULL, or HEDDLE_OUTCOME_* of each */
    uint8_t *found;    /* NULL, or 1 or 0 for keys that are looked up or erased; CLAIM needs it */
    uint64_t n;
    hd_counts *counts; /* added to */
    uint64_t *born, *died;
    uint64_t *
        revived; /* NULL, or hd_slab_words.revived: insertions may take DEAD slots, if nothing else goes on */
    uint64_t *matches;      /* COUNT: NULL, or how many pairs each key has */
    const uint64_t *places; /* RETRIEVE: where the values of each key begin in values_out */
} hd_slab_batch;

/*
 * When lists are to be compacted: so many slots are dead; or so many, and the pool is crowded (pool/slab_pool.h).
 */
typedef struct hd_slab_need {
    uint64_t dead, dead_crowded;
    /*
     * Only lists of several slabs, to make them shorter. Insertions take the dead slots that are left, which do not
     * count in `dead` again.
     */
    bool long_lists;
} hd_slab_need;

enum { HD_COMPACT_NONE, HD_COMPACT_ALL, HD_COMPACT_LONG /* lists of several slabs */ };

/* Words of a table in device memory. */
typedef struct hd_slab_words {
    /* Slots of erased keys that are vacant again or have another key, of all time. */
    uint64_t revived;
    uint64_t given;   /* slabs that went back to the pool by compaction */
    uint64_t decided; /* HD_COMPACT_*: whether the compaction at hand is worth it */
    uint64_t found,
        cleared;    /* slots that were dead before the last compaction, and that it made vacant */
    uint32_t spent; /* hd_slab_pool.spent */
} hd_slab_words;

/* What a walk over lists found. */
typedef struct hd_slab_census {
    uint64_t live, dead;
    uint64_t chained;    /* slabs of the pool in lists */
    uint64_t lengths[8]; /* lists of 1, 2, ... slabs, the last with that or more */
    /* Keys in the 1st, 2nd, ... slab of their list, the last with that or later. */
    uint64_t looks[8];
    uint64_t pending;   /* slots left half written */
    uint64_t gaps;      /* vacancies before a slot that is not vacant, and slabs behind them */
    uint64_t misplaced; /* keys in a list that is not theirs */
    uint64_t twice;     /* keys that stand in their list a second time */
    /* Addresses that lead out of the pool, to a free slab, or to one for the second time. */
    uint64_t astray;
} hd_slab_census;

#endif
