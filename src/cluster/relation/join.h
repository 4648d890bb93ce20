/* join.h: a join over a cluster, as its files see it: join.c and join_fetch.c. */
#ifndef HD_CLUSTER_JOIN_H
#define HD_CLUSTER_JOIN_H

#include <heddle/cluster_relations.h>

#include "cluster/members.h"

/* What a member has found. */
typedef struct hd_join_part {
    heddle_join *join;
    bool named;                /* it has the numbers of rows in the whole cluster */
    uint32_t row_bits;         /* of the rows in it; else these are numbers of arrivals, ... */
    hd_buffer names[2];        /* ... and this is what rows of the cluster they are */
    uint64_t count, slice_min; /* of the join */
    uint64_t fetched;
    hd_buffer rows[2], staged[2]; /* of a piece on its way to the caller */
} hd_join_part;

struct heddle_cluster_join {
    heddle_cluster *cluster;
    uint32_t kind, row_bits;
    hd_join_part *parts; /* of the local members */
    heddle_relation_stats stats;
};

#endif
