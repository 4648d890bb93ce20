/*
 * insert.h: build and insert into tables of clusters: one dispatcher, and four ways beside it.
 *
 *   insert.c                the dispatcher: agrees what is to be done, chooses the way, sums up what became of the keys
 *   insert_gathered.c       the usual way: pairs are gathered where they belong, and built or inserted in one call
 *   insert_flowing.c        of that, where links are slow: pairs are inserted slice by slice, as they come
 *   insert_with_outcomes.c  the outcomes of single keys go home: slice by slice, there and back
 *   insert_independent.c    independent mode: every member its own part of the batch, into its own table
 *   hot_rows.h              rows of hot keys are folded before they are sent: hot_rows.c; found by hot_sample.c
 *
 * The steps (insert_in_phases): count_bins, divide, choose_slices; one way; conclude.
 */
#ifndef HD_CLUSTER_INSERT_H
#define HD_CLUSTER_INSERT_H

#include "cluster/table/hot_rows.h"
#include "cluster/table/table.h"

/* What is summed up over all members besides the rows of bins, behind these. */
enum {
    HD_SUM_HELD,
    HD_SUM_ROWS,
    HD_SUM_WITH_VALUES,
    HD_SUM_WITHOUT_VALUES,
    HD_SUM_REPORTS,
    HD_SUM_HOT,
    HD_SUMS
};

/* A call, the same for all local members. */
typedef struct hd_insertion {
    heddle_cluster_table *table;
    bool builds;
    const char *keys, *values;
    uint64_t n;
    heddle_insert_options options;
    /* Of all members: rows of every bin, unless guessed, and what HD_SUM_* says. */
    uint64_t *counts;
    uint64_t *received; /* rows of every member */
    bool has_values;    /* pairs, not keys alone */
    bool reports;       /* somebody wants to know what became of single keys */
    /* Somebody has hot keys (cluster/table/hot_rows.h), which are sent when all else is. */
    bool has_hot;
    uint64_t folded;         /* rows that were not sent, since they are in those of hot keys */
    hd_spread fresh;         /* new owners of bins, where they change */
    const hd_spread *spread; /* the one that the call goes by */
    bool from_empty;         /* the table holds nothing but what this call brings */
    bool emptied;            /* all parts have been emptied since */
    bool counted;            /* what became of every key is known */
    uint64_t listed;         /* failed keys in options.failed */
    heddle_totals totals;
    heddle_status refused; /* the caller's structs have a wrong size; the others learn it */
    char reason[256];
    hd_effect effect;
} hd_insertion;

/* A slice that has come. */
typedef struct hd_arrived {
    hd_buffer keys, values;
    uint64_t pairs;
} hd_arrived;

/* A member's part of it. */
typedef struct hd_inserting {
    hd_insertion *call;
    hd_member *member;
    uint32_t key_width, value_width; /* 0 where no values are given */
    uint64_t first, n, slice;        /* of the pairs of the batch */
    uint64_t *counts;                /* as in hd_insertion */
    uint64_t *rows;                  /* of every member, and two numbers more */
    hd_router router;
    hd_router ahead;        /* where the exchange overlaps: slices take turns */
    hd_buffer keys, values; /* pairs that have come here */
    uint64_t at, capacity;  /* how many, and how many fit */
    uint64_t received;      /* how many in all */
    bool flows;             /* instead they are inserted slice by slice (insert_flowing.c) */
    hd_arrived arrived[2];  /* by turns */
    uint32_t arriving;      /* whose turn is next */
    hd_buffer staged[3];
    hd_hot_rows hot;
    heddle_totals totals;
    bool guesses;       /* how many rows come is not counted beforehand */
    bool changing;      /* some part may not be as it was */
    bool counted;       /* and what became of every key is known */
    bool nothing;       /* the last pairs given to the part have all failed: it did nothing */
    heddle_status soft; /* FULL or NO_MEMORY: pairs have failed and are counted */
    char reason[256];   /* of that */
} hd_inserting;

/* The n keys and values from `first` on, where the member can use them. */
heddle_status hd_insert_open(hd_inserting *p, uint64_t first, uint64_t n, hd_slice *slice);
/* What the part said to n pairs. Failures that are counted are no failures of the call yet. */
heddle_status hd_insert_result(hd_inserting *p, heddle_status status, heddle_totals *totals,
                               uint64_t n);
/* Independent mode: the member's own part, into its own table. The status is the member's own. */
heddle_status hd_insert_independent(hd_inserting *p, heddle_status *agreed);
/* hd_delivery of rows whose pairs go behind what has been gathered here. */
hd_delivery hd_gathered_delivery(hd_inserting *p, const hd_router *router);
/* Gathers all pairs and works them off. *agreed is what all members know; the status is the member's own. */
heddle_status hd_insert_gathered(hd_inserting *p, uint64_t rounds, heddle_status *agreed);
/*
 * Pairs that are inserted as they come: whether this member does so, which all must know before it begins, since parts
 * change while pairs are still on their way; the empty part of a build, made fit for the rows expected; room for a
 * slice; and its insertion while the next one is on its way.
 */
bool hd_flowing_suits(const hd_inserting *p, uint64_t rounds);
heddle_status hd_flowing_begin(hd_inserting *p, uint64_t expected);
heddle_status hd_flowing_room(hd_inserting *p, hd_delivery *d);
heddle_status hd_flowing_insert(hd_inserting *p, uint32_t turn);
void hd_flowing_end(hd_inserting *p);
/* Inserts slice by slice and brings the outcomes home. The status is the member's own. */
heddle_status hd_insert_with_outcomes(hd_inserting *p, uint64_t rounds, heddle_status *agreed);

#endif
