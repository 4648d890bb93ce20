/* cluster_process.c: see cluster_process.h. */
#include "support/cluster_process.h"
#include "base/tuning.h"

#include "cluster/exchange/exchange.h"
#include "cluster/exchange/same_machine.h"

cluster_process process;

void process_join(const mesh_sockets *sockets, uint32_t member, uint32_t memory)
{
    mesh_join(&process.mesh, sockets, member);
    process.mesh.device_memory = memory == MEMORY_TAKEN;
    hd_tune.transport_apart = memory != MEMORY_HOST;
    hd_tune.never_shared = memory != MEMORY_READ;
}

heddle_status call_build(void)
{
    return heddle_cluster_table_build(process.table, process.keys, process.values, process.rows,
                                      NULL, NULL);
}
heddle_status call_insert(void)
{
    return heddle_cluster_table_insert(process.table, process.keys, process.values, process.rows,
                                       NULL, NULL);
}
heddle_status call_erase(void)
{
    return heddle_cluster_table_erase(process.table, process.keys, process.rows, process.found,
                                      NULL);
}
heddle_status call_find(void)
{
    return heddle_cluster_table_find(process.table, process.keys, process.rows, process.answers,
                                     process.found, NULL);
}
heddle_status call_retrieve(void)
{
    uint64_t count = 0;
    return heddle_cluster_table_retrieve(process.table, process.keys, process.rows, process.numbers,
                                         process.answers, process.rows, &count);
}
heddle_status call_join(void)
{
    const heddle_column column = HEDDLE_COLUMN(process.keys, 4);
    heddle_cluster_join *join = NULL;
    const heddle_status status = heddle_cluster_join_create(
        process.cluster, &column, &column, 1, process.rows, process.rows / 2, NULL, &join);
    heddle_cluster_join_destroy(join);
    return status;
}
heddle_status call_group_by(void)
{
    const heddle_column columns[2] = {HEDDLE_COLUMN(process.keys, 4),
                                      HEDDLE_COLUMN(process.found, 1)};
    heddle_cluster_groups *other = NULL;
    const heddle_status status =
        heddle_cluster_groups_create(process.cluster, columns, 2, process.rows, NULL, &other);
    heddle_cluster_groups_destroy(other);
    return status;
}
heddle_status call_aggregate(void)
{
    return heddle_cluster_groups_aggregate(process.by, HEDDLE_AGGREGATE_SUM, HEDDLE_TYPE_U32,
                                           process.values, NULL, process.numbers, NULL);
}
heddle_status call_of_rows(void)
{
    return heddle_cluster_groups_of_rows(process.by, process.numbers);
}
