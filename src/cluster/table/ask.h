/* ask.h: questions to a table of a cluster, for operations that are made of them. */
#ifndef HD_CLUSTER_ASK_H
#define HD_CLUSTER_ASK_H

#include "cluster/table/table.h"

enum { HD_ASK_FIND, HD_ASK_ERASE, HD_ASK_COUNT };

/* A call, the same for all local members. */
typedef struct hd_question {
    heddle_cluster_table *table;
    uint32_t kind;
    const char *keys;
    uint64_t n;
    char *values;   /* find; matches of count */
    uint32_t width; /* bytes of one of these; 0 where nobody wants them */
    uint8_t *found; /* find, erase; may be NULL */
    heddle_totals totals;
    const heddle_totals *place; /* where the caller wants them, or NULL */
    hd_effect effect;
    bool erased; /* some member of this process has erased keys */
} hd_question;

hd_question hd_question_make(heddle_cluster_table *table, uint32_t kind, const void *keys,
                             uint64_t n, uint8_t *found);
/* A member's part of it; all members together. The status is agreed upon. */
heddle_status hd_ask(hd_member *member, hd_question *question);

#endif
