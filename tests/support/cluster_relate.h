/*
 * cluster_relate.h: joins, group-bys and set operations over clusters, held against the models of join_model.h and
 * relate_model.h. A process gives a share of the rows; what it gets is checked by itself, and `sum` brings
 * numbers of all processes together.
 */
#ifndef TEST_GROUP_RELATE_H
#define TEST_GROUP_RELATE_H

#include "support/join_model.h"

/* The rows of both sides that this process gives: of a group-by, those of the first side. */
typedef struct relate_share {
    uint64_t begin[2], rows[2];
} relate_share;

relate_share relate_whole(uint64_t left, uint64_t right);

/* The sum of a number of all processes. */
typedef uint64_t (*relate_sum)(uint64_t number);
/* For groups of one process. */
uint64_t relate_alone(uint64_t number);

heddle_cluster *relate_open(const char *devices, uint64_t slice);

/* Columns of some rows of a table, in host memory that is the table's. */
void relate_columns(const table_model *t, uint64_t first, uint64_t rows, heddle_column *columns);

/* A join, fetched; right rows of semi and anti joins are NO_ROW. */
join_rows relate_join(heddle_cluster *cluster, const join_tables *t, const relate_share *share,
                      const join_call *call, heddle_relation_stats *stats);
/* One kind of join is what the model says; all kinds are. */
heddle_relation_stats relate_join_check(heddle_cluster *cluster, const join_tables *t,
                                        const relate_share *share, const join_call *call,
                                        relate_sum sum);
void relate_join_kinds(heddle_cluster *cluster, const join_tables *t, const relate_share *share,
                       uint32_t row_bits, uint64_t slice, relate_sum sum);

/* A group-by and all that it can be asked. */
heddle_relation_stats relate_by_check(heddle_cluster *cluster, const table_model *t,
                                      const relate_share *share, uint32_t row_bits, relate_sum sum);

#endif
