/*
 * relation.h: what joins, group-by and set operations over clusters have in common: rows of one or two sides are
 * brought to the members that own their keys. A call goes like this, on every member:
 *
 *   arguments    are looked at, and all learn how many rows everybody has and which columns have nulls,
 *   partition    a number for each row: the key itself, where it is one column of 4 or 8 bytes without nulls, else
 *                a hash; rows are counted by bin, and bins get owners so that all members have as many rows;
 *   reorganise   slice by slice the way of every row is found (transfer.h),
 *   exchange     and columns and row numbers go that way.
 *   work         Each member then joins or groups what it has.
 *
 * The files:
 *
 *   relation.c        these steps: hd_relation_check, hd_relation_run
 *     bins.c          which member owns which bins, and which bins are heavy
 *     transfer.h      columns on their way to the owners, and back
 *   join.c, join.h    joins: each member joins what it has (relation/join); join_fetch.c gives the result out
 *   groups.c, groups.h   group-by (relation/groups); groups_query.c answers what the groups are asked
 *   set_operation.c   union, intersection and difference
 *
 * Heavy bins. A bin in which one side has very many rows and the other few would make its owner slow, and most of its
 * rows have one key, so no finer bins would help. Where the kind of the join allows it, the rows of the one side
 * stay on their members, and those of the other are copied to all: every row that stays still meets every row
 * of its key. A row that is copied must not be reported by itself, so the side that is copied is one whose rows
 * without a match nobody asks for.
 */
#ifndef HD_RELATION_H
#define HD_RELATION_H

#include <heddle/cluster_relations.h>

#include "cluster/relation/transfer.h"

/* A call, the same for all local members. */
typedef struct hd_relation {
    heddle_cluster *cluster;
    const char *what; /* the call's name */
    uint32_t sides, columns;
    const heddle_column *given[2]; /* the caller's */
    uint64_t rows[2];
    bool numbered[2]; /* row numbers travel with the rows */
    bool keeps_ways;  /* more columns will follow */
    bool may_stay[2]; /* heavy bins of this side may stay where they are */
    uint32_t row_bits;
    uint64_t seed;    /* of the bins; the first member's counts */
    uint64_t choices; /* options that all processes must agree upon, in one number */
    /* Arguments that are wrong: members tell each other, so that nobody waits. */
    heddle_status refused;
    char reason[256];            /* of that */
    heddle_relation_stats stats; /* written by the first local member */
} hd_relation;

/* A member's part of it. */
typedef struct hd_relating {
    hd_relation *relation;
    hd_member *member;
    bool nulls[2][HEDDLE_KEY_COLUMNS_MAX]; /* columns with flags on any member */
    uint64_t seed;
    uint64_t all_rows[2]; /* of all members */
    hd_transfer transfer[2];
    hd_moved moved[2][HD_MOVED_MAX];
    uint32_t moved_count[2];
    heddle_column columns[2][HEDDLE_KEY_COLUMNS_MAX]; /* as they have arrived */
    hd_moved *names[2]; /* the row numbers of rows that have arrived; NULL where they have none */
} hd_relating;

/* Looks at the columns of both sides, in the caller's thread; `so_far` is what other arguments came to. */
void hd_relation_check(hd_relation *relation, heddle_status so_far);
/* Brings the rows to their members. The status is agreed upon. hd_relating_end frees, also after a failure. */
heddle_status hd_relate(hd_relating *r, hd_relation *relation, hd_member *member);
void hd_relating_end(hd_relating *r);
/* The bits of local row numbers of this member, for rows that have arrived. */
uint32_t hd_relating_row_bits(const hd_relating *r);
/* Everybody learns how many results there are. The status is agreed upon. */
heddle_status hd_relate_results(const hd_relating *r, heddle_status mine, uint64_t results);

/* Lets all local members work under the cluster's lock; phases go to `seconds`, where not NULL. */
heddle_status hd_relation_run(heddle_cluster *cluster, hd_member_work work, void *context,
                              double *seconds);
/* The same for work in which members do not talk to each other: the status of any that failed. */
heddle_status hd_relation_run_apart(heddle_cluster *cluster, hd_member_work work, void *context);
/* The same by one who holds the lock. */
heddle_status hd_relation_run_held(heddle_cluster *cluster, hd_member_work work, void *context);

/* bins.c: the owners of bins for both sides, by rows counted. The status is agreed upon. */
typedef struct hd_relation_bins {
    hd_spread spread; /* before there are counts: equal ranges */
    hd_spread sides[2];
    uint64_t *own;     /* rows of this member by bin, of the left and then the right side */
    uint64_t *all;     /* of all members */
    uint64_t *weights; /* rows of both sides by bin, but for bins that stay */
    uint32_t *ways;    /* per bin: the side that stays, or HD_NOBODY_STAYS */
    uint64_t *loads;   /* rows that stay on every member */
    uint64_t *worked;  /* rows of both sides that every member works on (hd_relation_bins_work) */
    uint64_t stayed;   /* of all members */
} hd_relation_bins;
#define HD_NOBODY_STAYS 2

heddle_status hd_relation_bins_begin(hd_relation_bins *bins, const hd_relating *r);
heddle_status hd_relation_bins_divide(hd_relation_bins *bins, const hd_relating *r,
                                      heddle_status mine);
/* Rows of a side of this member, as often as they go out. */
uint64_t hd_relation_bins_sent(const hd_relation_bins *bins, const hd_relating *r, uint32_t side);
/* Rows of a side that come to this member. */
uint64_t hd_relation_bins_arrive(const hd_relation_bins *bins, const hd_relating *r, uint32_t side);
void hd_relation_bins_work(const hd_relation_bins *bins, const hd_relating *r);
void hd_relation_bins_end(hd_relation_bins *bins);

#endif
