/* The public header needs nothing before it, bears being included twice, and its initialisers are
 * legal constant initialisers in C and in C++. */
#include <heddle/heddle.h>

heddle_device_info info = HEDDLE_DEVICE_INFO_INIT;
heddle_table_options table_options = HEDDLE_TABLE_OPTIONS_INIT;
heddle_insert_options insert_options = HEDDLE_INSERT_OPTIONS_INIT;
heddle_table_stats stats = HEDDLE_TABLE_STATS_INIT;
heddle_filter_options filter_options = HEDDLE_FILTER_OPTIONS_INIT;
heddle_filter_stats filter_stats = HEDDLE_FILTER_STATS_INIT;
heddle_cluster_options group_options = HEDDLE_CLUSTER_OPTIONS_INIT;
heddle_cluster_info group_info = HEDDLE_CLUSTER_INFO_INIT;
heddle_spread_options spread_options = HEDDLE_SPREAD_OPTIONS_INIT;
heddle_cluster_stats group_stats = HEDDLE_CLUSTER_STATS_INIT;
heddle_relation_stats relation_stats = HEDDLE_RELATION_STATS_INIT;
heddle_shelf_options shelf_options = HEDDLE_SHELF_OPTIONS_INIT;
heddle_shelf_stats shelf_stats = HEDDLE_SHELF_STATS_INIT;
