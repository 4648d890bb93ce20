#ifndef HEDDLE_TABLE_OPTIONS_H
#define HEDDLE_TABLE_OPTIONS_H
#include <stddef.h>
#include <stdint.h>
#define HEDDLE_CONTAINER_MAP 1
#define HEDDLE_CONTAINER_SET 2
#define HEDDLE_CONTAINER_MULTIMAP 3
#define HEDDLE_CONTAINER_COUNTER 4
#define HEDDLE_SCHEME_AUTO 0
#define HEDDLE_SCHEME_CUCKOO 1
#define HEDDLE_SCHEME_HASHGRAPH 2
#define HEDDLE_SCHEME_OPEN 3
#define HEDDLE_SCHEME_ICEBERG 4
#define HEDDLE_SCHEME_BUCKET_LIST 5
#define HEDDLE_SCHEME_SLAB 6
#define HEDDLE_FLAG_FIXED 1u
#define HEDDLE_FLAG_ORDERED 2u
typedef struct heddle_table_options {
    uint32_t size;
    uint32_t container;
    uint32_t scheme;
    uint32_t key_bits;
    uint32_t value_bits;
    uint32_t bucket;
    uint32_t hashes;
    uint32_t flags;
    uint64_t capacity;
    uint64_t seed;
    double load;
    double vertices;
    double threshold;
    uint64_t list_first;
    double list_growth;
} heddle_table_options;
#define HEDDLE_TABLE_OPTIONS_INIT                                                                  \
    {sizeof(heddle_table_options), HEDDLE_CONTAINER_MAP, HEDDLE_SCHEME_AUTO, 32, 0, 0, 0, 0, 0, 0, \
     0.0, 0.0, 0.0, 0, 0.0}
#define HEDDLE_POLICY_KEEP 0
#define HEDDLE_POLICY_REPLACE 1
#define HEDDLE_POLICY_ADD 2
#define HEDDLE_POLICY_MIN 3
#define HEDDLE_POLICY_MAX 4
#define HEDDLE_OUTCOME_INSERTED 1
#define HEDDLE_OUTCOME_UPDATED 2
#define HEDDLE_OUTCOME_KEPT 3
#define HEDDLE_OUTCOME_FAILED 4
#define HEDDLE_OUTCOME_FOUND 5
#define HEDDLE_OUTCOME_ABSENT 6
#define HEDDLE_WORKSPACE_ALIGNMENT 256
typedef struct heddle_insert_options {
    uint32_t size;
    uint32_t policy;
    uint8_t *outcomes;
    uint64_t *failed;
    uint64_t failed_capacity;
    void *workspace;
    uint64_t workspace_bytes;
} heddle_insert_options;
#define HEDDLE_INSERT_OPTIONS_INIT \
    {sizeof(heddle_insert_options), HEDDLE_POLICY_KEEP, NULL, NULL, 0, NULL, 0}
#define HEDDLE_OPERATION_INSERT 0
#define HEDDLE_OPERATION_ERASE 1
#define HEDDLE_OPERATION_FIND 2
typedef struct heddle_totals {
    uint32_t size;
    uint32_t reserved;
    uint64_t inserted;
    uint64_t updated;
    uint64_t kept;
    uint64_t failed;
    uint64_t found;
    uint64_t absent;
    uint64_t probes;
    uint64_t evictions;
} heddle_totals;
#define HEDDLE_TOTALS_INIT {sizeof(heddle_totals), 0, 0, 0, 0, 0, 0, 0, 0, 0}
#define HEDDLE_PROBES_MAX 8
typedef struct heddle_table_stats {
    uint32_t size;
    uint32_t regions;
    uint64_t keys;
    uint64_t slots;
    uint64_t marks;
    uint64_t buckets;
    uint64_t full;
    uint64_t bytes_slots;
    uint64_t bytes_total;
    uint64_t growths;
    uint64_t evictions;
    uint64_t probes[HEDDLE_PROBES_MAX];
    double load;
    uint64_t chains[HEDDLE_PROBES_MAX];
    double memory_use;
} heddle_table_stats;
#define HEDDLE_TABLE_STATS_INIT \
    {sizeof(heddle_table_stats), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, {0}, 0.0, {0}, 0.0}
#endif
#ifndef HEDDLE_HEDDLE_H
#define HEDDLE_HEDDLE_H
#include <stddef.h>
#include <stdint.h>
#if defined(_WIN32)
#define HEDDLE_API
#elif defined(__GNUC__)
#define HEDDLE_API __attribute__((visibility("default")))
#else
#define HEDDLE_API
#endif
#ifdef __cplusplus
extern "C" {
#endif
#define HEDDLE_VERSION_MAJOR 0
#define HEDDLE_VERSION_MINOR 1
#define HEDDLE_VERSION_PATCH 0
#define HEDDLE_VERSION_STRING "0.1.0"
#define HEDDLE_ABI_VERSION 1
HEDDLE_API uint32_t heddle_version(void);
HEDDLE_API const char *heddle_version_string(void);
HEDDLE_API uint32_t heddle_abi_version(void);
typedef int32_t heddle_status;
#define HEDDLE_OK 0
#define HEDDLE_ERROR_INVALID 1
#define HEDDLE_ERROR_UNSUPPORTED 2
#define HEDDLE_ERROR_TOO_SMALL 3
#define HEDDLE_ERROR_CANCELLED 4
#define HEDDLE_ERROR_NO_MEMORY 20
#define HEDDLE_ERROR_FULL 21
#define HEDDLE_ERROR_NO_DEVICE 40
#define HEDDLE_ERROR_DEVICE 41
#define HEDDLE_ERROR_PEER 42
#define HEDDLE_ERROR_IO 60
#define HEDDLE_ERROR_FORMAT 61
#define HEDDLE_ERROR_CORRUPT 62
HEDDLE_API const char *heddle_status_string(heddle_status status);
HEDDLE_API const char *heddle_last_error(void);
typedef struct heddle_device heddle_device;
HEDDLE_API heddle_status heddle_device_open(const char *name, heddle_device **device);
HEDDLE_API void heddle_device_close(heddle_device *device);
#define HEDDLE_DEVICE_CPU 1
#define HEDDLE_DEVICE_CUDA 2
typedef struct heddle_device_info {
    uint32_t size;
    uint32_t kind;
    int32_t index;
    uint32_t threads;
    uint64_t memory_total;
    uint64_t memory_free;
    char name[128];
    char features[128];
} heddle_device_info;
#define HEDDLE_DEVICE_INFO_INIT {sizeof(heddle_device_info), 0, 0, 0, 0, 0, {0}, {0}}
HEDDLE_API heddle_status heddle_device_get_info(heddle_device *device, heddle_device_info *info);
HEDDLE_API uint32_t heddle_cuda_device_count(void);
HEDDLE_API uint32_t heddle_cuda_is_built(void);
HEDDLE_API heddle_status heddle_device_trim(heddle_device *device);
HEDDLE_API heddle_status heddle_device_synchronize(heddle_device *device, void *stream);
HEDDLE_API heddle_status heddle_memory_allocate(heddle_device *device, uint64_t bytes,
                                                void **memory);
HEDDLE_API heddle_status heddle_memory_free(heddle_device *device, void *memory);
HEDDLE_API heddle_status heddle_memory_copy(heddle_device *device, void *to, const void *from,
                                            uint64_t bytes, void *stream);
HEDDLE_API heddle_status heddle_memory_fill(heddle_device *device, void *memory, uint8_t byte,
                                            uint64_t bytes, void *stream);
typedef struct heddle_table heddle_table;
HEDDLE_API heddle_status heddle_table_create(heddle_device *device,
                                             const heddle_table_options *options,
                                             heddle_table **table);
HEDDLE_API void heddle_table_destroy(heddle_table *table);
HEDDLE_API heddle_status heddle_table_get_options(heddle_table *table,
                                                  heddle_table_options *options);
HEDDLE_API const char *heddle_table_instance(const heddle_table *table);
HEDDLE_API heddle_device *heddle_table_device(const heddle_table *table);
HEDDLE_API heddle_status heddle_table_insert(heddle_table *table, const void *keys,
                                             const void *values, uint64_t n,
                                             const heddle_insert_options *options,
                                             heddle_totals *totals, void *stream);
HEDDLE_API heddle_status heddle_table_build(heddle_table *table, const void *keys,
                                            const void *values, uint64_t n,
                                            const heddle_insert_options *options,
                                            heddle_totals *totals, void *stream);
HEDDLE_API heddle_status heddle_table_build_workspace(heddle_table *table, uint64_t n,
                                                      uint64_t *bytes);
HEDDLE_API heddle_status heddle_table_find(heddle_table *table, const void *keys, uint64_t n,
                                           void *values, uint8_t *found, heddle_totals *totals,
                                           void *stream);
HEDDLE_API heddle_status heddle_table_contains(heddle_table *table, const void *keys, uint64_t n,
                                               uint8_t *found, heddle_totals *totals, void *stream);
HEDDLE_API heddle_status heddle_table_erase(heddle_table *table, const void *keys, uint64_t n,
                                            uint8_t *found, heddle_totals *totals, void *stream);
HEDDLE_API heddle_status heddle_table_count(heddle_table *table, const void *keys, uint64_t n,
                                            uint64_t *matches, heddle_totals *totals, void *stream);
HEDDLE_API heddle_status heddle_table_retrieve(heddle_table *table, const void *keys, uint64_t n,
                                               uint64_t *offsets, void *values, uint64_t capacity,
                                               uint64_t *count, void *stream);
HEDDLE_API heddle_status heddle_table_export(heddle_table *table, void *keys, void *values,
                                             uint64_t capacity, uint64_t *size, void *stream);
HEDDLE_API heddle_status heddle_table_clear(heddle_table *table, void *stream);
HEDDLE_API heddle_status heddle_table_size(heddle_table *table, uint64_t *size, void *stream);
HEDDLE_API heddle_status heddle_table_check_widths(const heddle_table *table, uint32_t key_bits,
                                                   uint32_t value_bits);
HEDDLE_API heddle_status heddle_table_reserve(heddle_table *table, uint64_t capacity, void *stream);
HEDDLE_API heddle_status heddle_table_rehash(heddle_table *table, uint64_t capacity, void *stream);
HEDDLE_API heddle_status heddle_table_take_totals(heddle_table *table, heddle_totals *totals,
                                                  void *stream);
HEDDLE_API heddle_status heddle_table_peek_totals(heddle_table *table, heddle_totals *totals,
                                                  void *stream);
HEDDLE_API heddle_status heddle_table_get_stats(heddle_table *table, heddle_table_stats *stats,
                                                void *stream);
HEDDLE_API heddle_status heddle_table_validate(heddle_table *table, void *stream);
HEDDLE_API heddle_status heddle_table_save(heddle_table *table, const char *path, void *stream);
HEDDLE_API heddle_status heddle_table_load(heddle_device *device, const char *path,
                                           const heddle_table_options *options,
                                           heddle_table **table);
#ifdef __cplusplus
}
#endif
#endif
#ifndef HEDDLE_TABLE_MORE_H
#define HEDDLE_TABLE_MORE_H
#ifdef __cplusplus
extern "C" {
#endif
HEDDLE_API heddle_status heddle_table_mixed(heddle_table *table, const uint8_t *operations,
                                            const void *keys, const void *values, uint64_t n,
                                            void *values_out, const heddle_insert_options *options,
                                            heddle_totals *totals, void *stream);
HEDDLE_API heddle_status heddle_table_flush(heddle_table *table, void *stream);
HEDDLE_API heddle_status heddle_table_retrieve_all(heddle_table *table, void *keys,
                                                   uint64_t *offsets, void *values,
                                                   uint64_t key_capacity, uint64_t value_capacity,
                                                   uint64_t *key_count, uint64_t *value_count,
                                                   void *stream);
#define HEDDLE_NO_SLOT UINT64_MAX
HEDDLE_API heddle_status heddle_table_locate(heddle_table *table, const void *keys, uint64_t n,
                                             uint64_t *slots, heddle_totals *totals, void *stream);
HEDDLE_API heddle_status heddle_table_at(heddle_table *table, const uint64_t *slots, uint64_t n,
                                         void *keys, void *values, uint8_t *found, void *stream);
typedef uint32_t (*heddle_visitor)(void *context, const void *keys, const void *values,
                                   const uint64_t *rows, uint64_t n);
HEDDLE_API heddle_status heddle_table_for_all(heddle_table *table, heddle_visitor visit,
                                              void *context, void *stream);
HEDDLE_API heddle_status heddle_table_for_each(heddle_table *table, const void *keys, uint64_t n,
                                               heddle_visitor visit, void *context, void *stream);
#ifdef __cplusplus
}
#endif
#endif
#ifndef HEDDLE_RELATIONS_H
#define HEDDLE_RELATIONS_H
#ifdef __cplusplus
extern "C" {
#endif
typedef struct heddle_column {
    const void *data;
    const uint8_t *valid;
    uint32_t width;
    uint32_t reserved;
} heddle_column;
#define HEDDLE_KEY_COLUMNS_MAX 16
#define HEDDLE_COLUMN(data, width) {(data), NULL, (width), 0}
#define HEDDLE_ROW_NONE_32 UINT32_MAX
#define HEDDLE_ROW_NONE_64 UINT64_MAX
typedef struct heddle_join heddle_join;
#define HEDDLE_JOIN_INNER 1
#define HEDDLE_JOIN_LEFT 2
#define HEDDLE_JOIN_RIGHT 3
#define HEDDLE_JOIN_FULL 4
#define HEDDLE_JOIN_SEMI 5
#define HEDDLE_JOIN_ANTI 6
typedef struct heddle_join_options {
    uint32_t size;
    uint32_t kind;
    uint32_t row_bits;
    uint32_t flags;
    uint64_t seed;
} heddle_join_options;
#define HEDDLE_JOIN_OPTIONS_INIT {sizeof(heddle_join_options), HEDDLE_JOIN_INNER, 64, 0, 0}
HEDDLE_API heddle_status heddle_join_create(heddle_device *device, const heddle_column *left,
                                            const heddle_column *right, uint32_t columns,
                                            uint64_t left_rows, uint64_t right_rows,
                                            const heddle_join_options *options, heddle_join **join,
                                            void *stream);
HEDDLE_API heddle_status heddle_join_tables(heddle_table *left, heddle_table *right,
                                            const heddle_join_options *options, heddle_join **join,
                                            void *stream);
HEDDLE_API heddle_status heddle_join_count(const heddle_join *join, uint64_t *count,
                                           uint64_t *slice_min);
HEDDLE_API heddle_status heddle_join_fetch(heddle_join *join, void *left, void *right,
                                           uint64_t capacity, uint64_t *count, void *stream);
HEDDLE_API heddle_status heddle_join_rewind(heddle_join *join);
HEDDLE_API void heddle_join_destroy(heddle_join *join);
typedef struct heddle_groups heddle_groups;
#define HEDDLE_GROUPS_UNORDERED 0
#define HEDDLE_GROUPS_BY_FIRST 1
typedef struct heddle_groups_options {
    uint32_t size;
    uint32_t order;
    uint32_t row_bits;
    uint32_t flags;
    uint64_t seed;
} heddle_groups_options;
#define HEDDLE_GROUPS_OPTIONS_INIT \
    {sizeof(heddle_groups_options), HEDDLE_GROUPS_UNORDERED, 64, 0, 0}
HEDDLE_API heddle_status heddle_groups_create(heddle_device *device, const heddle_column *keys,
                                              uint32_t columns, uint64_t rows,
                                              const heddle_groups_options *options,
                                              heddle_groups **groups, void *stream);
HEDDLE_API void heddle_groups_destroy(heddle_groups *groups);
HEDDLE_API heddle_status heddle_groups_count(const heddle_groups *groups, uint64_t *count);
HEDDLE_API heddle_status heddle_groups_first(heddle_groups *groups, void *rows, void *stream);
HEDDLE_API heddle_status heddle_groups_keys(heddle_groups *groups, uint32_t column, void *keys,
                                            uint8_t *valid, void *stream);
HEDDLE_API heddle_status heddle_groups_sizes(heddle_groups *groups, uint64_t *sizes, void *stream);
HEDDLE_API heddle_status heddle_groups_of_rows(heddle_groups *groups, void *numbers, void *stream);
HEDDLE_API heddle_status heddle_groups_rows(heddle_groups *groups, uint64_t *begins, void *rows,
                                            void *stream);
HEDDLE_API heddle_status heddle_groups_top(heddle_groups *groups, uint64_t k, uint64_t *numbers,
                                           uint64_t *count, void *stream);
#define HEDDLE_TYPE_U32 1
#define HEDDLE_TYPE_I32 2
#define HEDDLE_TYPE_F32 3
#define HEDDLE_TYPE_U64 4
#define HEDDLE_TYPE_I64 5
#define HEDDLE_TYPE_F64 6
#define HEDDLE_AGGREGATE_COUNT 1
#define HEDDLE_AGGREGATE_SUM 2
#define HEDDLE_AGGREGATE_MIN 3
#define HEDDLE_AGGREGATE_MAX 4
#define HEDDLE_AGGREGATE_MEAN 5
HEDDLE_API heddle_status heddle_groups_aggregate(heddle_groups *groups, uint32_t aggregate,
                                                 uint32_t type, const void *values,
                                                 const uint8_t *valid, void *out,
                                                 uint8_t *out_valid, void *stream);
#define HEDDLE_SET_UNION 1
#define HEDDLE_SET_INTERSECTION 2
#define HEDDLE_SET_DIFFERENCE 3
HEDDLE_API heddle_status heddle_set_operation(heddle_device *device, uint32_t operation,
                                              uint32_t key_bits, const void *a, uint64_t a_count,
                                              const void *b, uint64_t b_count, void *keys,
                                              uint64_t capacity, uint64_t *count, void *stream);
#ifdef __cplusplus
}
#endif
#endif
#ifndef HEDDLE_FILTER_H
#define HEDDLE_FILTER_H
#ifdef __cplusplus
extern "C" {
#endif
typedef struct heddle_filter heddle_filter;
#define HEDDLE_FILTER_DIRECT 1u
typedef struct heddle_filter_options {
    uint32_t size;
    uint32_t key_bits;
    uint32_t hashes;
    uint32_t flags;
    uint64_t capacity;
    double bits_per_key;
    uint64_t seed;
} heddle_filter_options;
#define HEDDLE_FILTER_OPTIONS_INIT {sizeof(heddle_filter_options), 32, 0, 0, 0, 0.0, 0}
HEDDLE_API heddle_status heddle_filter_create(heddle_device *device,
                                              const heddle_filter_options *options,
                                              heddle_filter **filter);
HEDDLE_API void heddle_filter_destroy(heddle_filter *filter);
HEDDLE_API heddle_status heddle_filter_get_options(const heddle_filter *filter,
                                                   heddle_filter_options *options);
HEDDLE_API heddle_device *heddle_filter_device(const heddle_filter *filter);
HEDDLE_API heddle_status heddle_filter_add(heddle_filter *filter, const void *keys, uint64_t n,
                                           void *stream);
HEDDLE_API heddle_status heddle_filter_contains(heddle_filter *filter, const void *keys, uint64_t n,
                                                uint8_t *found, uint64_t *count, void *stream);
HEDDLE_API heddle_status heddle_filter_select(heddle_filter *filter, const void *keys, uint64_t n,
                                              void *selected, uint64_t *rows, uint64_t *count,
                                              void *stream);
HEDDLE_API heddle_status heddle_filter_merge(heddle_filter *into, heddle_filter *from,
                                             void *stream);
HEDDLE_API heddle_status heddle_filter_clear(heddle_filter *filter, void *stream);
typedef struct heddle_filter_stats {
    uint32_t size;
    uint32_t hashes;
    uint64_t bits;
    uint64_t bits_set;
    uint64_t keys_added;
    double rate_expected;
    double rate_found;
} heddle_filter_stats;
#define HEDDLE_FILTER_STATS_INIT {sizeof(heddle_filter_stats), 0, 0, 0, 0, 0.0, 0.0}
HEDDLE_API heddle_status heddle_filter_get_stats(heddle_filter *filter, heddle_filter_stats *stats,
                                                 void *stream);
HEDDLE_API heddle_status heddle_filter_validate(heddle_filter *filter, void *stream);
HEDDLE_API heddle_status heddle_filter_save(heddle_filter *filter, const char *path, void *stream);
HEDDLE_API heddle_status heddle_filter_load(heddle_device *device, const char *path,
                                            heddle_filter **filter);
#ifdef __cplusplus
}
#endif
#endif
#ifndef HEDDLE_CLUSTER_H
#define HEDDLE_CLUSTER_H
#ifdef __cplusplus
extern "C" {
#endif
typedef struct heddle_cluster heddle_cluster;
#define HEDDLE_CLUSTER_MEMBERS_MAX 1024
typedef struct heddle_cluster_options {
    uint32_t size;
    uint32_t timeout_ms;
    uint64_t slice;
} heddle_cluster_options;
#define HEDDLE_CLUSTER_OPTIONS_INIT {sizeof(heddle_cluster_options), 0, 0}
HEDDLE_API heddle_status heddle_cluster_open(const char *devices,
                                             const heddle_cluster_options *options,
                                             heddle_cluster **cluster);
HEDDLE_API void heddle_cluster_close(heddle_cluster *cluster);
typedef struct heddle_cluster_info {
    uint32_t size;
    uint32_t members;
    uint32_t first_member;
    uint32_t local_members;
    uint64_t slice;
} heddle_cluster_info;
#define HEDDLE_CLUSTER_INFO_INIT {sizeof(heddle_cluster_info), 0, 0, 0, 0}
HEDDLE_API heddle_status heddle_cluster_get_info(heddle_cluster *cluster,
                                                 heddle_cluster_info *info);
HEDDLE_API heddle_device *heddle_cluster_device(heddle_cluster *cluster, uint32_t local_member);
typedef struct heddle_cluster_table heddle_cluster_table;
#define HEDDLE_BALANCE_AUTO 0
#define HEDDLE_BALANCE_KEYS 1
#define HEDDLE_BALANCE_ROWS 2
#define HEDDLE_MODE_DISTRIBUTED 0
#define HEDDLE_MODE_INDEPENDENT 1
typedef struct heddle_spread_options {
    uint32_t size;
    uint32_t balance;
    uint64_t seed;
    uint32_t mode;
    uint32_t reserved;
} heddle_spread_options;
#define HEDDLE_SPREAD_OPTIONS_INIT \
    {sizeof(heddle_spread_options), HEDDLE_BALANCE_AUTO, 0, HEDDLE_MODE_DISTRIBUTED, 0}
HEDDLE_API heddle_status heddle_cluster_table_create(heddle_cluster *cluster,
                                                     const heddle_table_options *options,
                                                     const heddle_spread_options *spread,
                                                     heddle_cluster_table **table);
HEDDLE_API heddle_status heddle_cluster_table_get_options(heddle_cluster_table *table,
                                                          heddle_table_options *options,
                                                          heddle_spread_options *spread);
HEDDLE_API void heddle_cluster_table_destroy(heddle_cluster_table *table);
HEDDLE_API heddle_table *heddle_cluster_table_part(heddle_cluster_table *table,
                                                   uint32_t local_member);
HEDDLE_API heddle_status heddle_cluster_table_build(heddle_cluster_table *table, const void *keys,
                                                    const void *values, uint64_t n,
                                                    const heddle_insert_options *options,
                                                    heddle_totals *totals);
HEDDLE_API heddle_status heddle_cluster_table_insert(heddle_cluster_table *table, const void *keys,
                                                     const void *values, uint64_t n,
                                                     const heddle_insert_options *options,
                                                     heddle_totals *totals);
HEDDLE_API heddle_status heddle_cluster_table_find(heddle_cluster_table *table, const void *keys,
                                                   uint64_t n, void *values, uint8_t *found,
                                                   heddle_totals *totals);
HEDDLE_API heddle_status heddle_cluster_table_contains(heddle_cluster_table *table,
                                                       const void *keys, uint64_t n, uint8_t *found,
                                                       heddle_totals *totals);
HEDDLE_API heddle_status heddle_cluster_table_erase(heddle_cluster_table *table, const void *keys,
                                                    uint64_t n, uint8_t *found,
                                                    heddle_totals *totals);
HEDDLE_API heddle_status heddle_cluster_table_count(heddle_cluster_table *table, const void *keys,
                                                    uint64_t n, uint64_t *matches,
                                                    heddle_totals *totals);
HEDDLE_API heddle_status heddle_cluster_table_retrieve(heddle_cluster_table *table,
                                                       const void *keys, uint64_t n,
                                                       uint64_t *offsets, void *values,
                                                       uint64_t capacity, uint64_t *count);
HEDDLE_API heddle_status heddle_cluster_table_export(heddle_cluster_table *table, void *keys,
                                                     void *values, uint64_t capacity,
                                                     uint64_t *size);
HEDDLE_API heddle_status heddle_cluster_table_for_all(heddle_cluster_table *table,
                                                      heddle_visitor visit, void *context);
HEDDLE_API heddle_status heddle_cluster_table_clear(heddle_cluster_table *table);
HEDDLE_API heddle_status heddle_cluster_table_size(heddle_cluster_table *table, uint64_t *size);
#define HEDDLE_PHASE_PARTITION 0
#define HEDDLE_PHASE_REORGANISE 1
#define HEDDLE_PHASE_EXCHANGE 2
#define HEDDLE_PHASE_WORK 3
#define HEDDLE_PHASES 4
typedef struct heddle_cluster_stats {
    uint32_t size;
    uint32_t members;
    uint64_t keys;
    uint64_t keys_least;
    uint64_t keys_most;
    uint64_t slots;
    uint64_t bytes_total;
    double imbalance;
    uint64_t rows;
    double row_imbalance;
    double seconds[HEDDLE_PHASES];
} heddle_cluster_stats;
#define HEDDLE_CLUSTER_STATS_INIT \
    {sizeof(heddle_cluster_stats), 0, 0, 0, 0, 0, 0, 0.0, 0, 0.0, {0.0, 0.0, 0.0, 0.0}}
HEDDLE_API heddle_status heddle_cluster_table_get_stats(heddle_cluster_table *table,
                                                        heddle_cluster_stats *stats);
HEDDLE_API heddle_status heddle_cluster_table_validate(heddle_cluster_table *table);
#ifdef __cplusplus
}
#endif
#endif
#ifndef HEDDLE_CLUSTER_RELATIONS_H
#define HEDDLE_CLUSTER_RELATIONS_H
#ifdef __cplusplus
extern "C" {
#endif
typedef struct heddle_relation_stats {
    uint32_t size;
    uint32_t members;
    uint64_t rows;
    uint64_t first_row[2];
    uint64_t rows_worked;
    uint64_t rows_most;
    uint64_t rows_stayed;
    double imbalance;
    uint64_t results;
    uint64_t results_most;
    double seconds[HEDDLE_PHASES];
} heddle_relation_stats;
#define HEDDLE_RELATION_STATS_INIT \
    {sizeof(heddle_relation_stats), 0, 0, {0, 0}, 0, 0, 0, 0.0, 0, 0, {0.0, 0.0, 0.0, 0.0}}
typedef struct heddle_cluster_join heddle_cluster_join;
HEDDLE_API heddle_status heddle_cluster_join_create(heddle_cluster *cluster,
                                                    const heddle_column *left,
                                                    const heddle_column *right, uint32_t columns,
                                                    uint64_t left_rows, uint64_t right_rows,
                                                    const heddle_join_options *options,
                                                    heddle_cluster_join **join);
HEDDLE_API heddle_status heddle_cluster_join_count(heddle_cluster_join *join, uint64_t *count,
                                                   uint64_t *slice_min);
HEDDLE_API heddle_status heddle_cluster_join_fetch(heddle_cluster_join *join, void *left,
                                                   void *right, uint64_t capacity, uint64_t *count);
HEDDLE_API heddle_status heddle_cluster_join_rewind(heddle_cluster_join *join);
HEDDLE_API heddle_status heddle_cluster_join_get_stats(heddle_cluster_join *join,
                                                       heddle_relation_stats *stats);
HEDDLE_API void heddle_cluster_join_destroy(heddle_cluster_join *join);
typedef struct heddle_cluster_groups heddle_cluster_groups;
HEDDLE_API heddle_status heddle_cluster_groups_create(heddle_cluster *cluster,
                                                      const heddle_column *keys, uint32_t columns,
                                                      uint64_t rows,
                                                      const heddle_groups_options *options,
                                                      heddle_cluster_groups **by);
HEDDLE_API void heddle_cluster_groups_destroy(heddle_cluster_groups *by);
HEDDLE_API heddle_status heddle_cluster_groups_count(heddle_cluster_groups *by, uint64_t *count,
                                                     uint64_t *first);
HEDDLE_API heddle_status heddle_cluster_groups_first(heddle_cluster_groups *by, void *rows);
HEDDLE_API heddle_status heddle_cluster_groups_keys(heddle_cluster_groups *by, uint32_t column,
                                                    void *keys, uint8_t *valid);
HEDDLE_API heddle_status heddle_cluster_groups_sizes(heddle_cluster_groups *by, uint64_t *sizes);
HEDDLE_API heddle_status heddle_cluster_groups_of_rows(heddle_cluster_groups *by, void *numbers);
HEDDLE_API heddle_status heddle_cluster_groups_aggregate(heddle_cluster_groups *by,
                                                         uint32_t aggregate, uint32_t type,
                                                         const void *values, const uint8_t *valid,
                                                         void *out, uint8_t *out_valid);
HEDDLE_API heddle_status heddle_cluster_groups_get_stats(heddle_cluster_groups *by,
                                                         heddle_relation_stats *stats);
HEDDLE_API heddle_status heddle_cluster_set_operation(heddle_cluster *cluster, uint32_t operation,
                                                      uint32_t key_bits, const void *a,
                                                      uint64_t a_count, const void *b,
                                                      uint64_t b_count, void *keys,
                                                      uint64_t capacity, uint64_t *count);
#ifdef __cplusplus
}
#endif
#endif
#ifndef HEDDLE_COLUMN_FILE_H
#define HEDDLE_COLUMN_FILE_H
#ifdef __cplusplus
extern "C" {
#endif
typedef struct heddle_column_file heddle_column_file;
#define HEDDLE_COLUMN_FILE_READ 0
#define HEDDLE_COLUMN_FILE_WRITE 1
HEDDLE_API heddle_status heddle_column_file_open(const char *path, uint32_t mode,
                                                 uint32_t element_bits,
                                                 heddle_column_file **column);
HEDDLE_API heddle_status heddle_column_file_create(const char *path, uint32_t element_bits,
                                                   uint64_t count, heddle_column_file **column);
HEDDLE_API void *heddle_column_file_data(const heddle_column_file *column);
HEDDLE_API uint64_t heddle_column_file_count(const heddle_column_file *column);
HEDDLE_API uint32_t heddle_column_file_element_bits(const heddle_column_file *column);
#define HEDDLE_ADVICE_SEQUENTIAL 0
#define HEDDLE_ADVICE_RANDOM 1
#define HEDDLE_ADVICE_SOON 2
#define HEDDLE_ADVICE_DONE 3
HEDDLE_API heddle_status heddle_column_file_advise(heddle_column_file *column, uint64_t first,
                                                   uint64_t count, uint32_t advice);
HEDDLE_API heddle_status heddle_column_file_flush(heddle_column_file *column);
HEDDLE_API void heddle_column_file_close(heddle_column_file *column);
#ifdef __cplusplus
}
#endif
#endif
#ifndef HEDDLE_SHELF_H
#define HEDDLE_SHELF_H
#ifdef __cplusplus
extern "C" {
#endif
typedef struct heddle_shelf heddle_shelf;
#define HEDDLE_SHELF_COUNT 0
#define HEDDLE_SHELF_SORT 1
#define HEDDLE_SHELF_WORK 2
#define HEDDLE_SHELF_DELIVER 3
#define HEDDLE_SHELF_COMMIT 4
#define HEDDLE_SHELF_PHASES 5
typedef uint32_t (*heddle_progress)(void *context, uint32_t phase, uint64_t done, uint64_t total);
#define HEDDLE_SHELF_READ_ONLY 1u
typedef struct heddle_shelf_options {
    uint32_t size;
    uint32_t flags;
    uint64_t memory;
    uint64_t seed;
    const char *scratch;
    heddle_progress progress;
    void *context;
} heddle_shelf_options;
#define HEDDLE_SHELF_OPTIONS_INIT {sizeof(heddle_shelf_options), 0, 0, 0, NULL, NULL, NULL}
HEDDLE_API heddle_status heddle_shelf_create(heddle_device *device, const char *directory,
                                             const heddle_table_options *table,
                                             const heddle_shelf_options *options,
                                             heddle_shelf **shelf);
HEDDLE_API heddle_status heddle_shelf_open(heddle_device *device, const char *directory,
                                           const heddle_shelf_options *options,
                                           heddle_shelf **shelf);
HEDDLE_API void heddle_shelf_close(heddle_shelf *shelf);
HEDDLE_API heddle_status heddle_shelf_get_options(heddle_shelf *shelf,
                                                  heddle_table_options *options);
HEDDLE_API heddle_status heddle_shelf_build(heddle_shelf *shelf, const void *keys,
                                            const void *values, uint64_t n,
                                            const heddle_insert_options *options,
                                            heddle_totals *totals);
HEDDLE_API heddle_status heddle_shelf_insert(heddle_shelf *shelf, const void *keys,
                                             const void *values, uint64_t n,
                                             const heddle_insert_options *options,
                                             heddle_totals *totals);
HEDDLE_API heddle_status heddle_shelf_find(heddle_shelf *shelf, const void *keys, uint64_t n,
                                           void *values, uint8_t *found, heddle_totals *totals);
HEDDLE_API heddle_status heddle_shelf_contains(heddle_shelf *shelf, const void *keys, uint64_t n,
                                               uint8_t *found, heddle_totals *totals);
HEDDLE_API heddle_status heddle_shelf_count(heddle_shelf *shelf, const void *keys, uint64_t n,
                                            uint64_t *matches, heddle_totals *totals);
HEDDLE_API heddle_status heddle_shelf_erase(heddle_shelf *shelf, const void *keys, uint64_t n,
                                            uint8_t *found, heddle_totals *totals);
HEDDLE_API heddle_status heddle_shelf_retrieve(heddle_shelf *shelf, const void *keys, uint64_t n,
                                               uint64_t *offsets, void *values, uint64_t capacity,
                                               uint64_t *count);
HEDDLE_API heddle_status heddle_shelf_export(heddle_shelf *shelf, void *keys, void *values,
                                             uint64_t capacity, uint64_t *size);
HEDDLE_API heddle_status heddle_shelf_for_all(heddle_shelf *shelf, heddle_visitor visit,
                                              void *context);
HEDDLE_API heddle_status heddle_shelf_clear(heddle_shelf *shelf);
HEDDLE_API heddle_status heddle_shelf_size(heddle_shelf *shelf, uint64_t *size);
typedef struct heddle_shelf_stats {
    uint32_t size;
    uint32_t parts;
    uint32_t parts_filled;
    uint32_t parts_loaded;
    uint64_t keys;
    uint64_t keys_most;
    uint64_t keys_limit;
    uint64_t memory;
    uint64_t bytes_loaded;
    uint64_t bytes_files;
    uint64_t bytes_read;
    uint64_t bytes_written;
    uint64_t bytes_spilled;
    uint64_t divided;
    double seconds[HEDDLE_SHELF_PHASES];
} heddle_shelf_stats;
#define HEDDLE_SHELF_STATS_INIT \
    {sizeof(heddle_shelf_stats), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, {0.0, 0.0, 0.0, 0.0, 0.0}}
HEDDLE_API heddle_status heddle_shelf_get_stats(heddle_shelf *shelf, heddle_shelf_stats *stats);
HEDDLE_API heddle_status heddle_shelf_validate(heddle_shelf *shelf);
#ifdef __cplusplus
}
#endif
#endif
