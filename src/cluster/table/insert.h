/*
 * insert.h: what the ways to build and insert share: insert.c, insert_gather.c, insert_outcomes.c,
 * insert_independent.c.
 */
#ifndef HD_CLUSTER_WRITE_H
#define HD_CLUSTER_WRITE_H

#include "cluster/route/hot.h"
#include "cluster/table/table.h"

/* What members tell each other besides the rows of bins, behind these. */
enum {
    HD_COUNT_HELD,
    HD_COUNT_ROWS,
    HD_COUNT_WITH_VALUES,
    HD_COUNT_WITHOUT_VALUES,
    HD_COUNT_REPORTS,
    HD_COUNT_COMBINES,
    HD_COUNTS_TOLD
};

/* A call, the same for all local members. */
typedef struct hd_write {
    heddle_cluster_table *table;
    bool builds;
    const char *keys, *values;
    uint64_t n;
    heddle_insert_options options;
    uint64_t
        *counts; /* of all members: rows of every bin, unless guessed, and what HD_COUNT_* says */
    uint64_t *received; /* rows of every member */
    bool has_values;    /* pairs, not keys alone */
    bool reports;       /* somebody wants to know what became of single keys */
    bool
        combines; /* somebody has hot keys (cluster/route/hot.h), which are sent when all else is */
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
    hd_mend mend;
} hd_write;

/* A slice that has come. */
typedef struct hd_arrived {
    hd_buffer keys, values;
    uint64_t pairs;
} hd_arrived;

/* A member's part of it. */
typedef struct hd_writing {
    hd_write *w;
    hd_member *member;
    uint32_t key_width, value_width; /* 0 where no values are given */
    uint64_t first, n, slice;        /* of the pairs of the batch */
    uint64_t *counts;                /* as in hd_write */
    uint64_t *rows;                  /* of every member, and two numbers more */
    hd_dispatch dispatch;
    hd_dispatch ahead;      /* where the exchange overlaps: slices take turns */
    hd_buffer keys, values; /* pairs that have come here */
    uint64_t at, capacity;  /* how many, and how many fit */
    uint64_t received;      /* how many in all */
    bool flows;             /* instead they are inserted slice by slice (insert_flow.c) */
    hd_arrived arrived[2];  /* by turns */
    uint32_t arriving;      /* whose turn is next */
    hd_buffer staged[3];
    hd_combine combine;
    heddle_totals totals;
    bool guesses;       /* how many rows come is not counted beforehand */
    bool changing;      /* some part may not be as it was */
    bool counted;       /* and what became of every key is known */
    bool nothing;       /* the last pairs given to the part have all failed: it did nothing */
    heddle_status soft; /* FULL or NO_MEMORY: pairs have failed and are counted */
    char reason[256];   /* of that */
} hd_writing;

/* The keys and values of a slice, where the member can use them. */
heddle_status hd_write_windows(hd_writing *g, uint64_t first, uint64_t n, hd_window *keys,
                               hd_window *values);
/* What the part said to n pairs. Failures that are counted are no failures of the call yet. */
heddle_status hd_write_result(hd_writing *g, heddle_status status, heddle_totals *totals,
                              uint64_t n);
/* Independent mode: the member's own part, into its own table. The status is the member's own. */
heddle_status hd_write_alone(hd_writing *g, heddle_status *agreed);
/* Gathers all pairs and works them off. *agreed is what all members know; the status is the member's own. */
heddle_status hd_write_gathered(hd_writing *g, uint64_t rounds, heddle_status *agreed);
/*
 * Pairs that are inserted as they come: whether this member does so, which all must know before it begins, since parts
 * change while pairs are still on their way; the empty part of a build, made fit for the rows expected; room for a
 * slice; and its insertion while the next one is on its way.
 */
bool hd_flow_suits(const hd_writing *g, uint64_t rounds);
heddle_status hd_flow_begin(hd_writing *g, uint64_t expected);
heddle_status hd_flow_room(hd_writing *g, hd_delivery *d);
heddle_status hd_flow_insert(hd_writing *g, uint32_t turn);
void hd_flow_end(hd_writing *g);
/* Inserts slice by slice and brings the outcomes home. The status is the member's own. */
heddle_status hd_write_outcomes(hd_writing *g, uint64_t rounds, heddle_status *agreed);

#endif
