/* groups.h: a group-by over a cluster of devices, as its files see it: groups.c and groups_query.c. */
#ifndef HD_CLUSTER_GROUPS_H
#define HD_CLUSTER_GROUPS_H

#include "cluster/relation/relation.h"

/* What a member has grouped. */
typedef struct hd_by_part {
    heddle_groups *groups;
    uint32_t row_bits;     /* of the rows in it, which are numbers of arrivals */
    uint64_t count, first; /* its groups, and how many other local members have before it */
    hd_relating relating;  /* the keys and row numbers, and the way they came */
} hd_by_part;

struct heddle_cluster_groups {
    heddle_cluster *cluster;
    uint32_t columns, row_bits;
    uint64_t rows;         /* of this process */
    uint64_t count, first; /* groups of this process, and how many others have before it */
    hd_relation relation;  /* of the creation; its columns are the caller's no more */
    hd_by_part *parts;     /* of the local members */
};

#endif
