/*
 * cluster_relations.h: joins, group-by and set operations on columns that are spread over a cluster
 * of devices or ranks. Included by cluster.h. Keys, nulls, kinds of joins and aggregates are those
 * of relations.h; clusters, streams, threads and failures are those of cluster.h: one array for all
 * members of a process, no streams, calls that fail on all members or on none. A call that fails
 * changes nothing.
 *
 *     heddle_column left = HEDDLE_COLUMN(orders, 8), right = HEDDLE_COLUMN(customers, 8);
 *     heddle_cluster_join *join;
 *     heddle_cluster_join_create(cluster, &left, &right, 1, n, m, NULL, &join);
 *     heddle_cluster_join_count(join, &count, NULL);
 *     ... arrays of `count` row numbers ...
 *     heddle_cluster_join_fetch(join, left_rows, right_rows, count, &fetched);
 *     heddle_cluster_join_destroy(join);
 *
 * Every row goes to the member that owns its key, and each member joins or groups the rows that it
 * got.
 *
 * Row numbers. Rows are numbered over the whole cluster. In a cluster of one process the number is
 *           the row of the arrays as given. Between processes (libheddle_mpi) the rows of rank 0
 *           come first, then those of rank 1, and so on: row r of this process has the number
 *           first_row + r, with first_row of the statistics.
 * Results.  Each process gets the results of its own members: every row of the result on exactly
 *           one of them, in no particular order. All processes make the calls that create a join or
 *           a group-by, and the calls that say so in their text. All other calls a process makes
 *           alone, as often as it likes.
 * Arrays.   In host memory or in memory of any device of the cluster. Columns of keys may be
 *           changed or freed when the call that takes them returns.
 */
#include <heddle/heddle.h>

#ifndef HEDDLE_CLUSTER_RELATIONS_H
#define HEDDLE_CLUSTER_RELATIONS_H

#ifdef __cplusplus
extern "C" {
#endif

/* How a join or group-by went. */
typedef struct heddle_relation_stats {
    uint32_t size;         /* sizeof(heddle_relation_stats), set by the caller */
    uint32_t members;      /* of all processes */
    uint64_t rows;         /* of both sides, of all members */
    uint64_t first_row[2]; /* the number of this process's first row; of the left and the right side
                              */
    uint64_t rows_worked;  /* rows that members worked on: `rows`, and the copies of rows for heavy
                              keys */
    uint64_t rows_most;    /* of the member with the most */
    uint64_t rows_stayed;  /* rows of heavy keys that stayed where they were */
    double imbalance;      /* rows_most / (rows_worked / members) - 1 */
    uint64_t results;      /* rows or groups of all members */
    uint64_t results_most; /* of the member with the most */
    double seconds[HEDDLE_PHASES]; /* of the creation: mean of the members of this process */
} heddle_relation_stats;
#define HEDDLE_RELATION_STATS_INIT \
    {sizeof(heddle_relation_stats), 0, 0, {0, 0}, 0, 0, 0, 0.0, 0, 0, {0.0, 0.0, 0.0, 0.0}}

/* --------------------------------------------------------------------------------------- joins */

/* A join, and the rows of its result that this process's members have found. */
typedef struct heddle_cluster_join heddle_cluster_join;

/*
 * As heddle_join_create, over a cluster: all processes make this call, each with its own rows of
 * both sides, with the same columns and options. A column has nulls when it has flags in any of the
 * processes. NULL options are the defaults; with row_bits 32 all row numbers of the cluster must be
 * less than 2^32 - 1. The seed of the first process counts.
 *
 * Skew. Rows are spread by their number. Where very many rows of one side have a key that is rare
 * on the other, they stay where they are, and the few rows of the other side are copied to all
 * members: the left ones stay in inner, left, semi and anti joins, the right ones in inner and
 * right joins. In a full join, and where a key is frequent on both sides, its rows are on one
 * member; the statistics say how uneven that is.
 *
 * Memory of every member: 4 bytes for a row that it is given, keys and row numbers of the rows that
 * it works on and what heddle_join_create needs for them; the row numbers stay until the join is
 * destroyed.
 */
HEDDLE_API heddle_status heddle_cluster_join_create(heddle_cluster *cluster,
                                                    const heddle_column *left,
                                                    const heddle_column *right, uint32_t columns,
                                                    uint64_t left_rows, uint64_t right_rows,
                                                    const heddle_join_options *options,
                                                    heddle_cluster_join **join);
/*
 * *count becomes the number of rows of the result that this process's members have found.
 * *slice_min, where not NULL, becomes the number of rows that the arrays of
 * heddle_cluster_join_fetch must at least have room for.
 */
HEDDLE_API heddle_status heddle_cluster_join_count(heddle_cluster_join *join, uint64_t *count,
                                                   uint64_t *slice_min);
/*
 * Writes the next rows of this process's result, at most `capacity`, and their number to *count, 0
 * when all have been fetched. `right` is NULL in semi and anti joins; elsewhere either may be NULL.
 * HEDDLE_ROW_NONE_* stands for no match. With room for less than slice_min rows the call returns
 * HEDDLE_ERROR_TOO_SMALL and nothing is lost.
 */
HEDDLE_API heddle_status heddle_cluster_join_fetch(heddle_cluster_join *join, void *left,
                                                   void *right, uint64_t capacity, uint64_t *count);
/* Begins to fetch from the beginning again; also after a fetch that failed. */
HEDDLE_API heddle_status heddle_cluster_join_rewind(heddle_cluster_join *join);
/* How the creation went. */
HEDDLE_API heddle_status heddle_cluster_join_get_stats(heddle_cluster_join *join,
                                                       heddle_relation_stats *stats);
/* Before its cluster is closed. NULL is accepted. */
HEDDLE_API void heddle_cluster_join_destroy(heddle_cluster_join *join);

/* -------------------------------------------------------------------------- group-by and unique */

/* A group-by, and the groups that this process's members own. */
typedef struct heddle_cluster_groups heddle_cluster_groups;

/*
 * As heddle_groups_create, over a cluster: brings the rows with equal keys together, each key on
 * one member. All processes make this call, each with its own rows. The groups of this process are
 * numbered from 0 in its arrays, and from *first of heddle_cluster_groups_count among those of all
 * processes. They are in no particular order: `order` must be HEDDLE_GROUPS_UNORDERED, and `flags`
 * HEDDLE_GROUPS_ANYTHING. All rows of a key are worked on by one member; the statistics say how
 * uneven that is.
 *
 * Memory of every member: 4 bytes for a row that it is given, and for those that it works on keys,
 * row numbers and what heddle_groups_create needs; all of it until the group-by is destroyed.
 */
HEDDLE_API heddle_status heddle_cluster_groups_create(heddle_cluster *cluster,
                                                      const heddle_column *keys, uint32_t columns,
                                                      uint64_t rows,
                                                      const heddle_groups_options *options,
                                                      heddle_cluster_groups **groups);
/* Before its cluster is closed. NULL is accepted. */
HEDDLE_API void heddle_cluster_groups_destroy(heddle_cluster_groups *groups);
/*
 * *count becomes the number of groups of this process. *first, where not NULL, becomes the number
 * of groups of all processes before it.
 */
HEDDLE_API heddle_status heddle_cluster_groups_count(heddle_cluster_groups *groups, uint64_t *count,
                                                     uint64_t *first);
/* The lowest row of every group of this process: row numbers of row_bits. */
HEDDLE_API heddle_status heddle_cluster_groups_first(heddle_cluster_groups *groups, void *rows);
/* The key of every group of this process in one of the key columns, as heddle_groups_keys. */
HEDDLE_API heddle_status heddle_cluster_groups_keys(heddle_cluster_groups *groups, uint32_t column,
                                                    void *keys, uint8_t *valid);
/* The number of rows of every group of this process: rows of all processes. */
HEDDLE_API heddle_status heddle_cluster_groups_sizes(heddle_cluster_groups *groups,
                                                     uint64_t *sizes);
/*
 * The group of every row of this process: numbers of row_bits, counted over all processes. All
 * processes make this call.
 */
HEDDLE_API heddle_status heddle_cluster_groups_of_rows(heddle_cluster_groups *groups,
                                                       void *numbers);
/*
 * As heddle_groups_aggregate: `values` and `valid` are those of this process's rows, as many as it
 * gave at the creation; out[g] and out_valid[g] are those of its groups. All processes make this
 * call. Values go the way that the keys went, which is cheaper than finding it anew.
 */
HEDDLE_API heddle_status heddle_cluster_groups_aggregate(heddle_cluster_groups *groups,
                                                         uint32_t aggregate, uint32_t type,
                                                         const void *values, const uint8_t *valid,
                                                         void *out, uint8_t *out_valid);
/* How the creation went. */
HEDDLE_API heddle_status heddle_cluster_groups_get_stats(heddle_cluster_groups *groups,
                                                         heddle_relation_stats *stats);

/*
 * -------------------------------------------------------------------------------- set operations
 */

/*
 * As heddle_set_operation, over a cluster: all processes make this call, each with its own parts of
 * a and b. Each gets the distinct keys of the result that its members own, in no particular order;
 * so every key is in the array of one process. When the array of one process is too small, no array
 * is written, all processes return HEDDLE_ERROR_TOO_SMALL, and *count of each is what it needs.
 */
HEDDLE_API heddle_status heddle_cluster_set_operation(heddle_cluster *cluster, uint32_t operation,
                                                      uint32_t key_bits, const void *a,
                                                      uint64_t a_count, const void *b,
                                                      uint64_t b_count, void *keys,
                                                      uint64_t capacity, uint64_t *count);

#ifdef __cplusplus
}
#endif

#endif
