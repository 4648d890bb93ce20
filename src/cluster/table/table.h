/*
 * table.h: the room of tables of clusters, which opens here: a table with a part on every member, and what its
 * operations share. The files:
 *
 *     table.c            making tables; how every call begins and ends (hd_cluster_call)
 *     insert.h           build and insert: the dispatcher insert.c, which chooses one of
 *       insert_gathered.c        pairs are gathered where they belong, then taken in one call
 *       insert_flowing.c         slices are inserted as they come
 *       insert_with_outcomes.c   slice by slice, there and back
 *       insert_independent.c     every member its own part
 *     hot_rows.h         rows of very frequent keys folded before they are sent; hot_sample.c finds these keys
 *     ask.h              find, contains, count, erase
 *     retrieve.c         all values of every key, by two rounds of questions
 *     answers_of_all.h   independent mode: the answers of all members made one
 *     whole.c            size, export, visitors, clear, statistics, validation
 *
 * A call takes the cluster's lock and refuses a marked table (hd_cluster_call), lets every local member work on a thread
 * of its own (hd_crew_run, cluster/crew.h), and adds up what they counted. Rows and answers travel by
 * cluster/send.h.
 */
#ifndef HD_CLUSTER_TABLE_H
#define HD_CLUSTER_TABLE_H

#include "base/error.h"
#include "cluster/send.h"
#include "table/totals.h"

struct heddle_cluster_table {
    heddle_cluster *cluster;
    heddle_table_options options; /* of the parts; capacity and seed are the first one's */
    uint32_t balance;             /* HEDDLE_BALANCE_ROWS or _KEYS */
    uint64_t spread_seed;         /* the same in all processes */
    bool independent;             /* HEDDLE_MODE_INDEPENDENT */
    hd_spread spread;
    heddle_table **parts; /* of the local members */
    uint64_t *rows;       /* that each of all members was given since the table was last empty */
    uint64_t folded;      /* rows besides, that were folded with others before they were sent */
    bool broken;          /* a failure has left it half changed */
    char reason[256];     /* of that */
    double seconds[HEDDLE_PHASES];
};

static inline uint32_t hd_cluster_key_width(const heddle_cluster_table *table)
{
    return table->options.key_bits / 8;
}
static inline uint32_t hd_cluster_value_width(const heddle_cluster_table *table)
{
    return table->options.value_bits / 8;
}
static inline heddle_table *hd_part_of(const heddle_cluster_table *table, const hd_member *member)
{
    return table->parts[member->local];
}

/* What a call does to the state of a table. */
typedef struct hd_effect {
    bool repairs;  /* a broken table is welcome */
    bool repaired; /* set by the call: the table is a good one, whatever it was */
    bool breaks;   /* set by members: the call has failed and left the table half changed */
    /* NULL, or called when all members are done, before others can make calls. */
    void (*after)(void *context, heddle_status status);
} hd_effect;

/*
 * Makes a call: takes the cluster's lock, refuses a NULL table and a broken one, and lets all members work.
 * `effect` may be NULL.
 */
heddle_status hd_cluster_call(heddle_cluster_table *table, const char *what, hd_member_work work,
                              void *context, hd_effect *effect);
/*
 * For a call that no other process takes part in: refuses a NULL table and a broken one, and keeps the cluster's lock,
 * until it is released.
 */
heddle_status hd_cluster_hold(heddle_cluster_table *table, const char *what);
void hd_cluster_release(heddle_cluster_table *table);
/* Says that the call leaves the table half changed; from any member. */
static inline void hd_effect_breaks(hd_effect *effect)
{
    __atomic_store_n(&effect->breaks, true, __ATOMIC_RELAXED);
}

/* How many slices all members together have to go through; agreed upon. */
heddle_status hd_cluster_rounds(hd_member *member, heddle_status mine, uint64_t n, uint64_t slice,
                                uint64_t *rounds);
/* Sums the totals of all members up; agreed upon. */
heddle_status hd_cluster_totals(hd_member *member, heddle_status mine, heddle_totals *totals);
/* The slice that begins at round * slice of n elements. */
static inline uint64_t hd_slice_length(uint64_t n, uint64_t first, uint64_t slice)
{
    return first >= n ? 0 : n - first < slice ? n - first : slice;
}

#endif
