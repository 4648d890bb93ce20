/*
 * cluster.h: tables that are spread over several devices. Included by heddle.h. The rules of
 * heddle.h hold here too, except for what is said below.
 *
 *     heddle_cluster *cluster;
 *     heddle_cluster_table *map;
 *     heddle_cluster_open("cuda:0,cuda:1", NULL, &cluster);
 *     heddle_cluster_table_create(cluster, &options, NULL, &map);
 *     heddle_cluster_table_build(map, keys, values, n, NULL, NULL);
 *     heddle_cluster_table_find(map, queries, m, answers, found, NULL);
 *     heddle_cluster_table_destroy(map);
 *     heddle_cluster_close(cluster);
 *
 * A cluster has members, one for every device that it is opened with. A table of a cluster has a
 * part on every member: a table of its own, for the keys that the hash gives to that member. Every
 * call takes keys to where they live and brings the answers back in the order of the questions. The
 * answers are those of one table that holds everything.
 *
 * Arrays.   One array for the whole cluster, in host memory or in memory of any of its devices.
 *           Members work on equal parts of it.
 * Streams.  There are none: calls return when they are done. The arrays must be filled before the
 *           call.
 * Processes. A cluster may be one of several processes, each with one device, that MPI brings
 *           together (heddle/mpi.h). Each gives its own part of every batch, gets the answers to
 *           it, and exports its own pairs; totals, sizes and statistics are those of all. All
 *           processes make the same calls in the same order with the same options; a process
 *           without keys calls with none. When one of them fails, all get its status. When one does
 *           not answer, the others get HEDDLE_ERROR_PEER, and the cluster can only be closed.
 * Threads.  Calls on a cluster and its tables may come from any thread; they run one after the
 *           other.
 * Memory.   Batches go in slices, so that the scratch memory of a query does not grow with the
 *           batch. A build or insertion gathers the pairs of a member on its device first, if they
 *           fit there; else it adds them in batches that are as large as fit.
 * Failure.  A call that fails has failed on all members, with one status. The text of a call says
 *           what a failure leaves behind. A table that a failure has left half changed is marked:
 *           all calls on it except build, clear and destroy then return HEDDLE_ERROR_CORRUPT.
 */
#include <heddle/heddle.h>

#ifndef HEDDLE_CLUSTER_H
#define HEDDLE_CLUSTER_H

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------ clusters */

/* Devices that work together: the members, of this process or of several. */
typedef struct heddle_cluster heddle_cluster;

#define HEDDLE_CLUSTER_MEMBERS_MAX 1024 /* members of all processes together */

/* How a cluster works. */
typedef struct heddle_cluster_options {
    uint32_t size;       /* sizeof(heddle_cluster_options) */
    uint32_t timeout_ms; /* how long a member of another process may take to answer; 0 chooses
                            600000 */
    uint64_t slice;      /* keys of a batch that a member works on at a time; 0 lets the library
                            choose */
} heddle_cluster_options;
#define HEDDLE_CLUSTER_OPTIONS_INIT {sizeof(heddle_cluster_options), 0, 0}

/*
 * Opens a cluster of devices of this process: names as heddle_device_open takes them, separated by
 * commas. A device may be named more than once. "cpu:2,cpu:2" are two members with two threads
 * each. NULL options are the defaults.
 */
HEDDLE_API heddle_status heddle_cluster_open(const char *devices,
                                             const heddle_cluster_options *options,
                                             heddle_cluster **cluster);
/* Closes the devices. All tables of the cluster must be destroyed first. NULL is accepted. */
HEDDLE_API void heddle_cluster_close(heddle_cluster *cluster);

/* What there is to know about a cluster. */
typedef struct heddle_cluster_info {
    uint32_t size;          /* sizeof(heddle_cluster_info), set by the caller */
    uint32_t members;       /* of all processes */
    uint32_t first_member;  /* the members of this process are first_member and up */
    uint32_t local_members; /* how many of them */
    uint64_t slice;         /* keys that a member works on at a time; GPUs with the memory take more
                               */
} heddle_cluster_info;
#define HEDDLE_CLUSTER_INFO_INIT {sizeof(heddle_cluster_info), 0, 0, 0, 0}

/* Fills in `info`, whose size the caller has set. */
HEDDLE_API heddle_status heddle_cluster_get_info(heddle_cluster *cluster,
                                                 heddle_cluster_info *info);
/* The device of a member of this process, counted from 0; NULL where there is none. */
HEDDLE_API heddle_device *heddle_cluster_device(heddle_cluster *cluster, uint32_t local_member);

/* -------------------------------------------------------------------------------------- tables */

/* A table with a part on every member of a cluster. */
typedef struct heddle_cluster_table heddle_cluster_table;

#define HEDDLE_BALANCE_AUTO 0 /* rows for a multimap, keys for all others */
/*
 * Every member owns an equal range of the hash, so that different keys spread evenly. All rows of a
 * key go to one member. In large builds and insertions without outcomes and lists of failed keys,
 * a key with very many rows is folded first: each member makes one row of those in its part of the
 * batch. Results and totals are the same.
 */
#define HEDDLE_BALANCE_KEYS 1
/*
 * A build, and an insertion into an empty table, counts the rows of every part of the hash first
 * and divides it so that every member gets as many rows. One key cannot be divided: when a key
 * alone has more than a fair share of the rows, the others are spread evenly over the other
 * members. In a set, map or counter, where equal keys become one, members may then hold different
 * numbers of keys.
 */
#define HEDDLE_BALANCE_ROWS 2

#define HEDDLE_MODE_DISTRIBUTED 0 /* every key lives on one member */
/*
 * Every member has a table of its own with what its part of every batch brought; nothing is sent
 * there. One key may be on several members, and counts as often. Queries go to all members, and
 * their answers are merged on the host:
 *   contains        1 where any member has the key
 *   find            the value of the member with the lowest number that has it; in a counter the
 *                   sum
 *   count           the sum
 *   retrieve        the values of member 0, then those of member 1, ...
 *   erase           from all members; found is 1 where the element erased its key from any of them,
 *                   so that several equal keys of a batch may have a 1
 * Totals of queries are those of the merged answers. All else is as in distributed mode.
 */
#define HEDDLE_MODE_INDEPENDENT 1

/* How a table is spread over the members of a cluster. */
typedef struct heddle_spread_options {
    uint32_t size;     /* sizeof(heddle_spread_options) */
    uint32_t balance;  /* HEDDLE_BALANCE_* */
    uint64_t seed;     /* of the hash that says where a key lives; 0 draws one */
    uint32_t mode;     /* HEDDLE_MODE_* */
    uint32_t reserved; /* 0 */
} heddle_spread_options;
#define HEDDLE_SPREAD_OPTIONS_INIT \
    {sizeof(heddle_spread_options), HEDDLE_BALANCE_AUTO, 0, HEDDLE_MODE_DISTRIBUTED, 0}

/*
 * Makes an empty table with a part on every member. `options` are those of heddle_table_create,
 * with `capacity` for the whole table, of which each member gets its share and a little more. NULL
 * options are the defaults.
 */
HEDDLE_API heddle_status heddle_cluster_table_create(heddle_cluster *cluster,
                                                     const heddle_table_options *options,
                                                     const heddle_spread_options *spread,
                                                     heddle_cluster_table **table);
/*
 * As heddle_table_get_options: `capacity` is that of all parts of this process, all else is of the
 * first of them. `spread` becomes what was chosen, with the seed in use. Either may be NULL. Asks
 * no other process.
 */
HEDDLE_API heddle_status heddle_cluster_table_get_options(heddle_cluster_table *table,
                                                          heddle_table_options *options,
                                                          heddle_spread_options *spread);
/*
 * As heddle_table_check_widths. Asks no other process. heddle/typed_cluster.h asks this before
 * every call.
 */
HEDDLE_API heddle_status heddle_cluster_table_check_widths(const heddle_cluster_table *table,
                                                           uint32_t key_bits, uint32_t value_bits);
/* Frees all parts. NULL is accepted. */
HEDDLE_API void heddle_cluster_table_destroy(heddle_cluster_table *table);
/*
 * The part of a member of this process, to read from; NULL where there is none. Belongs to the
 * table.
 */
HEDDLE_API heddle_table *heddle_cluster_table_part(heddle_cluster_table *table,
                                                   uint32_t local_member);

/*
 * Empties the table and inserts n pairs, as heddle_table_build. `workspace` must be NULL. Totals
 * are those of all members. When a member fails before the pairs are where they belong, the table
 * is as it was. When a member cannot build its part, all parts are emptied. Processes that reach
 * each other by links fill sets, maps and counters while pairs are on their way: there any failure
 * empties all parts. HEDDLE_ERROR_FULL is a success in this regard: what fits is in the table. With
 * outcomes or `failed` the table is emptied first.
 */
HEDDLE_API heddle_status heddle_cluster_table_build(heddle_cluster_table *table, const void *keys,
                                                    const void *values, uint64_t n,
                                                    const heddle_insert_options *options,
                                                    heddle_totals *totals);
/*
 * Inserts n pairs, as heddle_table_insert. `workspace` must be NULL. When a member has no memory
 * for its pairs the call returns HEDDLE_ERROR_NO_MEMORY; what is not counted as failed is in the
 * table, on all members. When that happens before the pairs are where they belong, nothing has
 * changed.
 */
HEDDLE_API heddle_status heddle_cluster_table_insert(heddle_cluster_table *table, const void *keys,
                                                     const void *values, uint64_t n,
                                                     const heddle_insert_options *options,
                                                     heddle_totals *totals);
/*
 * As heddle_table_find and heddle_table_contains: values of absent keys are left as they are. When
 * a call fails, some may be written.
 */
HEDDLE_API heddle_status heddle_cluster_table_find(heddle_cluster_table *table, const void *keys,
                                                   uint64_t n, void *values, uint8_t *found,
                                                   heddle_totals *totals);
HEDDLE_API heddle_status heddle_cluster_table_contains(heddle_cluster_table *table,
                                                       const void *keys, uint64_t n, uint8_t *found,
                                                       heddle_totals *totals);
/*
 * As heddle_table_erase. When a member fails after others have erased keys, the table is marked as
 * half changed; else nothing has changed.
 */
HEDDLE_API heddle_status heddle_cluster_table_erase(heddle_cluster_table *table, const void *keys,
                                                    uint64_t n, uint8_t *found,
                                                    heddle_totals *totals);
/* As heddle_table_count. */
HEDDLE_API heddle_status heddle_cluster_table_count(heddle_cluster_table *table, const void *keys,
                                                    uint64_t n, uint64_t *matches,
                                                    heddle_totals *totals);
/* As heddle_table_retrieve. */
HEDDLE_API heddle_status heddle_cluster_table_retrieve(heddle_cluster_table *table,
                                                       const void *keys, uint64_t n,
                                                       uint64_t *offsets, void *values,
                                                       uint64_t capacity, uint64_t *count);
/* As heddle_table_export: the pairs of all members of this process, member by member. */
HEDDLE_API heddle_status heddle_cluster_table_export(heddle_cluster_table *table, void *keys,
                                                     void *values, uint64_t capacity,
                                                     uint64_t *size);
/*
 * As heddle_table_for_all (heddle/table_more.h): the pairs of all members of this process, member
 * by member. Asks no other process. The visitor must not use the cluster.
 */
HEDDLE_API heddle_status heddle_cluster_table_for_all(heddle_cluster_table *table,
                                                      heddle_visitor visit, void *context);
/* Empties all parts. A table that was marked as half changed can be used again. */
HEDDLE_API heddle_status heddle_cluster_table_clear(heddle_cluster_table *table);
/* The keys of all members, in a multimap the pairs. */
HEDDLE_API heddle_status heddle_cluster_table_size(heddle_cluster_table *table, uint64_t *size);

/* The phases that a call consists of. */
#define HEDDLE_PHASE_PARTITION 0  /* counting rows by bin, and those of a slice by member */
#define HEDDLE_PHASE_REORGANISE 1 /* keys and values in the order of their destinations, and answers
                                     back in order */
#define HEDDLE_PHASE_EXCHANGE 2   /* moving, and waiting for the others */
#define HEDDLE_PHASE_WORK 3       /* the members' tables at work */
#define HEDDLE_PHASES 4

/* What heddle_cluster_table_get_stats finds out, and how the last call went. */
typedef struct heddle_cluster_stats {
    uint32_t size;        /* sizeof(heddle_cluster_stats), set by the caller */
    uint32_t members;     /* of all processes */
    uint64_t keys;        /* in all members, in a multimap pairs */
    uint64_t keys_least;  /* of the member with the fewest */
    uint64_t keys_most;   /* of the member with the most */
    uint64_t slots;       /* of all members, as in heddle_table_stats */
    uint64_t bytes_total; /* all memory of the table, on all devices */
    double imbalance;     /* keys_most / (keys / members) - 1 */
    uint64_t rows;        /* pairs that builds and insertions were given since the table was last
                             empty */
    /*
     * The rows that were sent to the member that got most / their mean - 1. Rows of very frequent
     * keys that were folded before count once for every member that had some. Where nearly all rows
     * were folded, few are sent, and the number says little.
     */
    double row_imbalance;
    double seconds[HEDDLE_PHASES]; /* of the last call on this table: mean of the members of this
                                      process */
} heddle_cluster_stats;
#define HEDDLE_CLUSTER_STATS_INIT \
    {sizeof(heddle_cluster_stats), 0, 0, 0, 0, 0, 0, 0.0, 0, 0.0, {0.0, 0.0, 0.0, 0.0}}

/* Goes through the parts of all members; a call of all processes. */
HEDDLE_API heddle_status heddle_cluster_table_get_stats(heddle_cluster_table *table,
                                                        heddle_cluster_stats *stats);
/*
 * heddle_table_validate of every part, and that every key is on the member that owns it. Takes
 * scratch memory for the keys.
 */
HEDDLE_API heddle_status heddle_cluster_table_validate(heddle_cluster_table *table);

#ifdef __cplusplus
}
#endif

#endif
