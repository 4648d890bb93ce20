/* several_devices.c: one map over two devices. Take "cuda:0,cuda:1" where there are two GPUs. */
#include "../check.h"
#include <inttypes.h>

#define N 100000

int main(void)
{
    static uint32_t keys[N], values[N], answers[N];
    uint64_t wrong = 0;
    for (uint32_t i = 0; i < N; i++) keys[i] = 7 * i, values[i] = i;

    heddle_cluster *cluster;
    heddle_cluster_table *map;
    heddle_table_options options = HEDDLE_MAP_OPTIONS(uint32_t, uint32_t);
    heddle_cluster_stats stats = HEDDLE_CLUSTER_STATS_INIT;
    options.capacity = N;
    check(heddle_cluster_open("cpu:1,cpu:1", NULL, &cluster));
    check(heddle_cluster_table_create(cluster, &options, NULL, &map));
    check(heddle_cluster_map_build(map, keys, values, N, NULL, NULL));
    check(heddle_cluster_map_find(map, keys, N, answers, NULL, NULL));
    for (uint32_t i = 0; i < N; i++) wrong += answers[i] != values[i];

    check(heddle_cluster_table_get_stats(map, &stats));
    printf("%" PRIu64 " keys on %u members, %" PRIu64 " wrong answers\n", stats.keys, stats.members,
           wrong);
    printf("one member has a tenth more than the mean: %s\n", stats.imbalance > 0.1 ? "yes" : "no");

    heddle_cluster_table_destroy(map);
    heddle_cluster_close(cluster);
    return 0;
}
