/*
 * table_options.h: what kinds of tables there are, how one is asked for, and what tables tell about
 * themselves. Included by heddle.h. A program begins with two of these:
 *
 *     container    what a table holds: a map, a set, a multimap or a counter
 *     scheme       how it is laid out; AUTO chooses by the container
 *
 * The table below says what differs by scheme. The rest of the interface is the same for all of
 * them. The page of a scheme in docs/design says how it works, what every call does there (section
 * "In the API"), and what memory and time it takes.
 *
 *                    cuckoo      open         iceberg   hashgraph   bucket list   slab
 *   map              yes         yes          yes       -           -             yes
 *   set, counter     yes         yes          yes       yes         -             yes
 *   multimap         -           yes          -         yes         yes           yes
 *   bucket           1 4 8 16 32 8 16         16 32     -           8 16 (keys)   -
 *   hashes           2 to 4      2 to 16384   3         -           -             -
 *   load             0.1-0.99    0.1-0.99     0.1-0.99  -           -             0.1-0.99
 *   HEDDLE_FLAG_*    FIXED       FIXED        FIXED     ORDERED     FIXED         FIXED
 *   an insertion     in place    in place     in place  a new graph appends       in place
 *     allocates      to grow     to grow      to grow   always      always        to grow
 *     that lacks     what fits   what fits    what fits nothing     nothing (1)   what fits
 *     memory leaves
 *   growth moves     all pairs   all pairs    all pairs all pairs   keys          nothing (2)
 *   erased keys      a mark      a mark       a mark    gone when   room until    a slot that is
 *     leave                      (3)                    rebuilt     a rehash      used again (3)
 *   values of a key  one         any order    one       any order,  as inserted   any order
 *                                                       ORDERED     (1)
 *   locate, at       -           not multimap yes       -           -             -
 *   mixed            -           -            -         -           -             yes
 *   device.cuh       yes         yes          yes       -           yes           yes
 *
 *   (1) in calls with more than 1024 pairs; of the pairs of a smaller call some may be in, in any
 *       order
 *   (2) until lists hold twice what the load asks for; then all pairs
 *   (3) in a multimap a mark or slot stays until heddle_table_rehash
 */
#ifndef HEDDLE_TABLE_OPTIONS_H
#define HEDDLE_TABLE_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#define HEDDLE_CONTAINER_MAP 1 /* keys with a value each */
#define HEDDLE_CONTAINER_SET 2 /* keys alone; further equal ones are kept out */
/* Keys with any number of values each. All pairs are kept, equal ones too. */
#define HEDDLE_CONTAINER_MULTIMAP 3
/*
 * Keys with a value that counts: 1 for every occurrence, or the value given with it, summed. Sums
 * wrap at value_bits.
 */
#define HEDDLE_CONTAINER_COUNTER 4

#define HEDDLE_SCHEME_AUTO 0        /* cuckoo; hashgraph for a multimap, and for a counter with
                                       `vertices` or HEDDLE_FLAG_ORDERED */
#define HEDDLE_SCHEME_CUCKOO 1      /* bucketed cuckoo hashing: full tables, few probes */
#define HEDDLE_SCHEME_HASHGRAPH 2   /* lists in compressed rows, made in one go: few large batches
                                       */
#define HEDDLE_SCHEME_OPEN 3        /* open addressing by buckets: pairs stay where they are */
#define HEDDLE_SCHEME_ICEBERG 4     /* a first bucket, else the emptier of two: pairs stay, full
                                       tables */
#define HEDDLE_SCHEME_BUCKET_LIST 5 /* growing lists of values beside a table of keys */
#define HEDDLE_SCHEME_SLAB 6        /* lists of slabs of 128 bytes: everything at the same time */

#define HEDDLE_FLAG_FIXED 1u /* never grow; what does not fit is reported instead */
/*
 * The values of a key are in ascending order, so that find gives the smallest, and the same pairs
 * and seed give the same order of everything on every device. Building takes longer.
 */
#define HEDDLE_FLAG_ORDERED 2u

/* Every 0 lets the library choose; heddle_table_get_options says what it chose. */
typedef struct heddle_table_options {
    uint32_t size;       /* sizeof(heddle_table_options); the initialiser sets it */
    uint32_t container;  /* HEDDLE_CONTAINER_*; MAP by default */
    uint32_t scheme;     /* HEDDLE_SCHEME_*; AUTO by default */
    uint32_t key_bits;   /* 32 or 64; 32 by default. heddle/typed.h makes options from types */
    uint32_t value_bits; /* 32 or 64 (0 chooses 32), 0 in a set */
    uint32_t bucket;     /* slots in a bucket; of bucket lists in one of their table of keys */
    uint32_t hashes;     /* cuckoo: candidate buckets of a key (0 chooses 3; 4 when bucket is 1 or
                            load above 0.92). Open: buckets that a search looks at, at most (0: the
                            whole region); in a multimap buckets in a row without the key that end
                            a search, which growth may raise where one key has very many pairs */
    uint32_t flags;      /* HEDDLE_FLAG_* */
    uint64_t capacity;   /* keys to make room for, in a multimap pairs; small tables get a little
                            more. Without it a table starts small, and filling it is slower: set it
                            for a counter to about the number of different keys */
    uint64_t seed;       /* of the hash functions; 0 draws one from the system. A table that cannot
                            place its keys takes another when it grows */
    double load;         /* filled share of the slots once `capacity` keys are in, 0.1 to 0.99; 0
                            chooses 0.8. Slab: share of the slots of slabs in use; 0 chooses 0.65 */
    double vertices;     /* hashgraph: lists for every key of the capacity, in a multimap for every
                            pair, 0.125 to 4; 0 chooses 1 */
    double threshold;    /* iceberg: how full the first bucket of a key may be before the key goes
                            to another, as a share up to 1; 0 chooses 0.8 */
    uint64_t list_first; /* bucket list: values that the first bucket of a key has room for; 0
                            chooses 1 */
    double list_growth;  /* bucket list: how much larger each next bucket is, 1 to 16; 0 chooses 2
                            */
} heddle_table_options;
#define HEDDLE_TABLE_OPTIONS_INIT                                                                  \
    {sizeof(heddle_table_options), HEDDLE_CONTAINER_MAP, HEDDLE_SCHEME_AUTO, 32, 0, 0, 0, 0, 0, 0, \
     0.0, 0.0, 0.0, 0, 0.0}

/* ---------------------------------------------------------------------------------- insertions */

/*
 * What to do with a key that is already in the table. A multimap takes KEEP only. A counter takes
 * KEEP and ADD, which mean the same there. Others are refused with HEDDLE_ERROR_INVALID.
 */
#define HEDDLE_POLICY_KEEP 0    /* leave the value there */
#define HEDDLE_POLICY_REPLACE 1 /* take the new value */
#define HEDDLE_POLICY_ADD 2     /* value there + new value, wrapping */
#define HEDDLE_POLICY_MIN 3     /* the smaller, unsigned */
#define HEDDLE_POLICY_MAX 4     /* the larger, unsigned */

/*
 * What became of one key: the values in an array of outcomes. Of equal keys in a batch the one that
 * arrived first is INSERTED, which need not be the first in the array. For the first in the array
 * use HEDDLE_GROUPS_BY_FIRST.
 */
#define HEDDLE_OUTCOME_INSERTED 1
#define HEDDLE_OUTCOME_UPDATED 2
#define HEDDLE_OUTCOME_KEPT 3
#define HEDDLE_OUTCOME_FAILED 4
#define HEDDLE_OUTCOME_FOUND 5  /* heddle_table_mixed: a lookup or an erasure of a key that was
                                   there */
#define HEDDLE_OUTCOME_ABSENT 6 /* and of one that was not */

#define HEDDLE_WORKSPACE_ALIGNMENT 256 /* what heddle_memory_allocate gives */

/* How an insertion or a build goes about its keys, and what it reports of each. */
typedef struct heddle_insert_options {
    uint32_t size;            /* sizeof(heddle_insert_options) */
    uint32_t policy;          /* HEDDLE_POLICY_*; KEEP by default */
    uint8_t *outcomes;        /* NULL, or n bytes: HEDDLE_OUTCOME_* of every key */
    uint64_t *failed;         /* NULL, or host memory for the indices of keys that did not fit */
    uint64_t failed_capacity; /* how many indices `failed` has room for */
    void *workspace;          /* NULL, or device memory, aligned to 256 bytes, for scratch: of this
                                 call alone until the stream has done it, or of its CUDA graph */
    uint64_t workspace_bytes; /* its size; see heddle_table_build_workspace */
} heddle_insert_options;
#define HEDDLE_INSERT_OPTIONS_INIT \
    {sizeof(heddle_insert_options), HEDDLE_POLICY_KEEP, NULL, NULL, 0, NULL, 0}

/* The operations of heddle_table_mixed. */
#define HEDDLE_OPERATION_INSERT 0
#define HEDDLE_OPERATION_ERASE 1
#define HEDDLE_OPERATION_FIND 2

/*
 * What became of the keys of one call. Every key is counted in exactly one of the first six
 * numbers. The operations use these of them:
 *   insert, build   inserted + updated + kept + failed == n
 *   find, contains  found + absent == n
 *   erase           found + absent == n, where found keys are erased
 *   mixed           the sum of all six == n
 */
typedef struct heddle_totals {
    uint32_t size;      /* sizeof(heddle_totals), set by the caller */
    uint32_t reserved;  /* 0 */
    uint64_t inserted;  /* new keys; in a multimap every pair is new */
    uint64_t updated;   /* keys already there, and the policy replaced or combined the value */
    uint64_t kept;      /* keys already there that stayed as they were */
    uint64_t failed;    /* keys that did not fit */
    uint64_t found;     /* keys that were there */
    uint64_t absent;    /* keys that were not */
    uint64_t probes;    /* buckets looked at, all keys together; in a hashgraph pairs looked at */
    uint64_t evictions; /* pairs moved to make room */
} heddle_totals;
#define HEDDLE_TOTALS_INIT {sizeof(heddle_totals), 0, 0, 0, 0, 0, 0, 0, 0, 0}

/* ---------------------------------------------------------------------------------- statistics */

#define HEDDLE_PROBES_MAX 8 /* elements of the counts in heddle_table_stats */

/* What heddle_table_get_stats finds in a table. */
typedef struct heddle_table_stats {
    uint32_t size;    /* sizeof(heddle_table_stats), set by the caller */
    uint32_t regions; /* parts that a key never leaves */
    uint64_t keys;    /* keys in the table, in a multimap pairs */
    uint64_t slots;   /* room for keys; vertices of a hashgraph; slab: of slabs in use */
    uint64_t marks;   /* traces of keys that were pushed on from a full bucket: each may cost a
                         search one look more. They outlive the keys until an insertion after many
                         erasures, or a rehash, removes them. Bucket list: values that the room of
                         erased lists would hold. Slab: slots of erased keys */
    uint64_t buckets; /* buckets in all; vertices of a hashgraph */
    uint64_t full;    /* buckets without room; vertices with pairs; lists of several slabs */
    uint64_t bytes_slots; /* memory of the slots; of a hashgraph's pairs; of slabs in use */
    uint64_t bytes_total; /* all memory of the table on its device */
    uint64_t growths;     /* times the table has grown */
    uint64_t evictions;   /* pairs moved to make room, since the table was made */
    /*
     * probes[i]: keys found with i + 1 probes, the last with that or more. Hashgraph: vertices with
     * 0, 1, 2, 3, 4 to 7, 8 to 15, 16 to 255, more pairs. Bucket list: keys with i + 1 buckets.
     */
    uint64_t probes[HEDDLE_PROBES_MAX];
    double load;                        /* keys / slots; slab: of slabs in use */
    uint64_t chains[HEDDLE_PROBES_MAX]; /* slab: lists of i + 1 slabs, the last with that or more */
    double memory_use; /* cuckoo, open, iceberg, slab: bytes of the pairs / bytes_slots */
} heddle_table_stats;
#define HEDDLE_TABLE_STATS_INIT \
    {sizeof(heddle_table_stats), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, {0}, 0.0, {0}, 0.0}

#endif
