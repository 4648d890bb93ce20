/*
 * view.h: a table of slots and a batch of keys, as a compiled table's operations (hd_table_ops) take them.
 *
 * A view is handed to kernels by value. Its geometry, with all counts exact:
 *
 *   regions         = 2^region_bits, region_bits > mark_bits >= 1
 *   buckets         = regions * region_buckets
 *   slots           = buckets * HD_BUCKET
 *   region of a key = the leading region_bits bits of its mixed key (hash.h)
 *
 * All candidate buckets of a key lie in its region, so regions can be worked on apart. In a multimap they
 * lie in the regions that share the leading 1 + mark_bits bits (scheme/multi.inl).
 */
#ifndef HD_TABLE_VIEW_H
#define HD_TABLE_VIEW_H

#include <stdint.h>

/* The parameters of the bijective mix of keys; see hash.h. */
typedef struct hd_mix {
    uint64_t add;      /* added before the first round */
    uint64_t mul[2];   /* odd */
    uint64_t unmul[2]; /* their inverses modulo 2^64, valid modulo 2^32 too */
} hd_mix;

typedef struct hd_view {
    void *slots;     /* packed words, or the keys where values lie apart */
    void *values;    /* the values where they lie apart, else NULL */
    uint32_t *locks; /* iceberg: a bit for every bucket, all 0 between calls; else NULL */
    uint32_t region_bits;
    uint32_t region_buckets; /* buckets in a region, at least 4 */
    uint32_t hashes;         /* candidate buckets of a key; multimap: see scheme/multi.inl */
    uint32_t kicks;          /* evictions a settling key may cause, at most HD_KICKS_MAX */
    uint32_t threshold;      /* iceberg: slots of a bucket for keys whose first bucket it is */
    uint32_t mark_bits;      /* of every key word, used for marks (hash.h): 1, 2, 4 or 8 */
    uint64_t key_mask;       /* the bits of a key word that are not marks */
    hd_mix mix;
} hd_view;

#define HD_KICKS_MAX 256
#define HD_WINDOWS_MAX 16384 /* of a walk in an open table; no region has as many */
#define HD_MARK_BITS_MAX 8

/*
 * Sums of what a batch did, in device memory. ASKED counts keys looked up or erased; those of them
 * that were not FOUND were absent.
 */
enum {
    HD_INSERTED,
    HD_UPDATED,
    HD_KEPT,
    HD_FAILED,
    HD_ASKED,
    HD_FOUND,
    HD_PROBES,
    HD_EVICTIONS,
    HD_LATER, /* pairs that hd_table_ops.fill left out */
    HD_COUNTS
};

typedef struct hd_counts {
    uint64_t at[HD_COUNTS];
} hd_counts;

/*
 * FOUND and PROBES beyond the first of lookups, in shares that blocks of a GPU add to by turns: if all added to one
 * word they would wait for each other. In lines of memory of their own.
 */
#define HD_COUNT_SHARES 16
typedef struct hd_count_share {
    uint64_t found, more;
    uint64_t apart[14];
} hd_count_share;

/* Adds the shares to the sums. */
static inline void hd_counts_gather(hd_counts *counts, const hd_count_share shares[HD_COUNT_SHARES])
{
    for (int i = 0; i < HD_COUNT_SHARES; i++) {
        counts->at[HD_FOUND] += shares[i].found;
        counts->at[HD_PROBES] += shares[i].more;
    }
}

/* One slice of a batch. All pointers are device memory; n fits the table's workspace. */
typedef struct hd_batch {
    const void *keys;
    const void *values; /* insert: values to take; NULL in a set, or when all are 1 */
    void *values_out;   /* find, at: where values go */
    uint8_t *found;     /* find, contains, erase, at: NULL or one flag a key */
    uint64_t *slots;    /* locate: where the numbers of slots go; at: those that are asked for */
    void *keys_out;     /* at: NULL, or where keys go */
    uint8_t *outcomes;  /* insert: HEDDLE_OUTCOME_* of every key, NULL when nobody asks */
    uint64_t n;
    uint32_t policy;   /* insert: HEDDLE_POLICY_* */
    uint32_t retry;    /* insert: only keys whose outcome is FAILED are worked on */
    hd_counts *counts; /* added to */
    hd_count_share
        *shares;     /* of lookups: HD_COUNT_SHARES that may be added to in place of `counts` */
    uint64_t *tally; /* insert: new keys are added to it; erase: erased keys; NULL: nobody counts */
    uint32_t *heads; /* insert: a list of deferred keys for every region, HD_NO_KEY when empty */
    uint32_t *next;  /* insert: the links of those lists, one a key of the slice; in a multimap
                        room for other notes, or NULL */
    uint64_t *matches;      /* count, in a multimap: how many values each key has */
    const uint64_t *places; /* retrieve, in a multimap: where the values of each key begin */
    /* Rehome and settle: the table, host memory, whose slots from `first` on hold the pairs; NULL: the pairs are keys and
       values. */
    const hd_view *from;
    uint64_t first;
    /* Place and settle: the pairs are these sorted ones (partition.h) and their number is in device memory; `n` is what
       it may be at most. NULL: keys and values. */
    const void *listed;
    const uint64_t *listed_count;
} hd_batch;

#define HD_NO_KEY UINT32_MAX

/* What a walk over all slots found; see hd_table_ops.inspect. */
typedef struct hd_census {
    uint64_t keys;
    uint64_t marks;     /* cleared marks */
    uint64_t full;      /* buckets without room */
    uint64_t probes[8]; /* keys by the number of probes that find them, less one */
    uint64_t misplaced; /* keys in a bucket that is none of theirs */
    /* Keys behind a bucket at which a search stops; 0 in multimaps: hd_census_unmet. */
    uint64_t unreachable;
    uint64_t twice; /* keys that a search finds in another slot than this one */
    uint64_t busy;  /* slots left half written */
} hd_census;

/* Keys that are in their buckets and that no search meets. */
static inline uint64_t hd_census_unmet(const hd_census *census)
{
    uint64_t others = census->misplaced;
    for (int i = 0; i < 8; i++) others += census->probes[i];
    return census->keys - others;
}

#endif
