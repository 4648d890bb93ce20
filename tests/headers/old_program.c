/*
 * old_program.c: a program of the first day of this ABI. It is compiled with interface_N.h, the interface as it was
 * then, and runs with the library of today: a table of every container, relations, a filter, a cluster, a shelf and a
 * column in a file.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include OLD_INTERFACE

#define N 1000

static uint32_t keys[N], values[N], answers[N];
static uint8_t found[N], outcomes[N];
static char folder[] = "/tmp/heddle-old-XXXXXX";

static void expect(int holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "%s: %s\n", what, heddle_last_error());
    exit(1);
}
static void ok(heddle_status status, const char *what) { expect(status == HEDDLE_OK, what); }

static const char *path_of(const char *name)
{
    static char path[64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* What every container does with the same keys, each of them twice. */
static void use_table(heddle_device *device, uint32_t container, uint32_t scheme)
{
    heddle_table_options options = HEDDLE_TABLE_OPTIONS_INIT, used = HEDDLE_TABLE_OPTIONS_INIT;
    heddle_insert_options insert = HEDDLE_INSERT_OPTIONS_INIT;
    heddle_totals totals = HEDDLE_TOTALS_INIT, taken = HEDDLE_TOTALS_INIT;
    heddle_table_stats stats = HEDDLE_TABLE_STATS_INIT;
    const int set = container == HEDDLE_CONTAINER_SET;
    const uint64_t multi = container == HEDDLE_CONTAINER_MULTIMAP;
    heddle_table *table = NULL, *loaded = NULL;
    uint64_t size = 0;
    options.container = container;
    options.scheme = scheme;
    options.value_bits = set ? 0 : 32;
    options.bucket = scheme == HEDDLE_SCHEME_AUTO ? 8 : 0;
    options.capacity = 2 * N;
    ok(heddle_table_create(device, &options, &table), "create");
    ok(heddle_table_get_options(table, &used), "get_options");
    expect(used.key_bits == 32 && used.capacity >= 2 * N && used.seed != 0, "options in use");
    insert.policy = scheme == HEDDLE_SCHEME_SLAB ? HEDDLE_POLICY_REPLACE : HEDDLE_POLICY_KEEP;
    insert.outcomes = outcomes;
    for (int again = 0; again < 2; again++)
        ok(heddle_table_insert(table, keys, set ? NULL : values, N, &insert, &totals, NULL),
           "insert");
    expect(outcomes[N / 2] != 0 && totals.inserted + totals.updated + totals.kept == N,
           "outcomes and totals");
    ok(heddle_table_contains(table, keys, N, found, &totals, NULL), "contains");
    expect(found[0] == 1 && found[N - 1] == 1 && totals.found == N, "all keys are there");
    if (!set) ok(heddle_table_find(table, keys, N, answers, found, NULL, NULL), "find");
    ok(heddle_table_size(table, &size, NULL), "size");
    expect(size == (1 + multi) * N, "so many keys");
    ok(heddle_table_get_stats(table, &stats, NULL), "get_stats");
    expect(stats.bytes_total > 0, "statistics");
    ok(heddle_table_validate(table, NULL), "validate");
    ok(heddle_table_take_totals(table, &taken, NULL), "take_totals");
    ok(heddle_table_save(table, path_of("table"), NULL), "save");
    ok(heddle_table_load(device, path_of("table"), NULL, &loaded), "load");
    ok(heddle_table_erase(loaded, keys, N / 2, found, NULL, NULL), "erase");
    ok(heddle_table_size(loaded, &size, NULL), "size after an erasure");
    expect(size == (1 + multi) * (N - N / 2), "half of the keys are left");
    heddle_table_destroy(loaded);
    heddle_table_destroy(table);
}

static void use_relations(heddle_device *device)
{
    const heddle_column column = HEDDLE_COLUMN(keys, 4);
    heddle_join_options how = HEDDLE_JOIN_OPTIONS_INIT;
    heddle_groups_options by = HEDDLE_GROUPS_OPTIONS_INIT;
    heddle_join *join = NULL;
    heddle_groups *groups = NULL;
    uint64_t count = 0, least = 0, sums[N], rows[2 * N];
    how.kind = HEDDLE_JOIN_LEFT;
    ok(heddle_join_create(device, &column, &column, 1, N, N, &how, &join, NULL), "join");
    ok(heddle_join_count(join, &count, &least), "join_count");
    ok(heddle_join_fetch(join, rows, rows + N, N, &count, NULL), "join_fetch");
    expect(count == N && rows[0] == rows[N], "every row has met itself");
    heddle_join_destroy(join);
    by.order = HEDDLE_GROUPS_BY_FIRST;
    ok(heddle_groups_create(device, &column, 1, N, &by, &groups, NULL), "groups");
    ok(heddle_groups_aggregate(groups, HEDDLE_AGGREGATE_SUM, HEDDLE_TYPE_U32, values, NULL, sums,
                               NULL, NULL),
       "groups_aggregate");
    expect(sums[7] == values[7], "sums in the order of the rows");
    heddle_groups_destroy(groups);
    ok(heddle_set_operation(device, HEDDLE_SET_UNION, 32, keys, N, keys, N, answers, N, &count,
                            NULL),
       "set_operation");
    expect(count == N, "a union with itself");
}

static void use_filter(heddle_device *device)
{
    heddle_filter_options options = HEDDLE_FILTER_OPTIONS_INIT;
    heddle_filter_stats stats = HEDDLE_FILTER_STATS_INIT;
    heddle_filter *filter = NULL;
    uint64_t count = 0;
    options.capacity = N;
    ok(heddle_filter_create(device, &options, &filter), "filter_create");
    ok(heddle_filter_add(filter, keys, N, NULL), "filter_add");
    ok(heddle_filter_contains(filter, keys, N, found, &count, NULL), "filter_contains");
    ok(heddle_filter_get_stats(filter, &stats, NULL), "filter_get_stats");
    expect(count == N && stats.keys_added == N, "a filter forgets no key");
    heddle_filter_destroy(filter);
}

static void use_cluster(void)
{
    heddle_table_options options = HEDDLE_TABLE_OPTIONS_INIT;
    heddle_spread_options spread = HEDDLE_SPREAD_OPTIONS_INIT;
    heddle_cluster_options opening = HEDDLE_CLUSTER_OPTIONS_INIT;
    heddle_cluster_stats stats = HEDDLE_CLUSTER_STATS_INIT;
    heddle_cluster *cluster = NULL;
    heddle_cluster_table *table = NULL;
    options.value_bits = 32;
    ok(heddle_cluster_open("cpu:1,cpu:1", &opening, &cluster), "cluster_open");
    ok(heddle_cluster_table_create(cluster, &options, &spread, &table), "cluster_table_create");
    ok(heddle_cluster_table_insert(table, keys, values, N, NULL, NULL), "cluster_table_insert");
    ok(heddle_cluster_table_find(table, keys, N, answers, found, NULL), "cluster_table_find");
    ok(heddle_cluster_table_get_stats(table, &stats), "cluster_table_get_stats");
    expect(memcmp(answers, values, sizeof answers) == 0 && stats.members == 2, "two members");
    heddle_cluster_table_destroy(table);
    heddle_cluster_close(cluster);
}

static void use_files(heddle_device *device)
{
    heddle_table_options options = HEDDLE_TABLE_OPTIONS_INIT;
    heddle_shelf_options opening = HEDDLE_SHELF_OPTIONS_INIT;
    heddle_shelf_stats stats = HEDDLE_SHELF_STATS_INIT;
    heddle_shelf *shelf = NULL;
    heddle_column_file *column = NULL;
    options.value_bits = 32;
    ok(heddle_shelf_create(device, path_of("shelf"), &options, &opening, &shelf), "shelf_create");
    ok(heddle_shelf_insert(shelf, keys, values, N, NULL, NULL), "shelf_insert");
    heddle_shelf_close(shelf);
    ok(heddle_shelf_open(device, path_of("shelf"), &opening, &shelf), "shelf_open");
    ok(heddle_shelf_find(shelf, keys, N, answers, found, NULL), "shelf_find");
    ok(heddle_shelf_get_stats(shelf, &stats), "shelf_get_stats");
    expect(memcmp(answers, values, sizeof answers) == 0 && stats.keys == N,
           "a shelf keeps its pairs");
    heddle_shelf_close(shelf);
    ok(heddle_column_file_create(path_of("column.npy"), 32, N, &column), "column_file_create");
    memcpy(heddle_column_file_data(column), keys, sizeof keys);
    ok(heddle_column_file_flush(column), "column_file_flush");
    expect(heddle_column_file_count(column) == N, "a column of so many elements");
    heddle_column_file_close(column);
}

int main(void)
{
    heddle_device *device = NULL;
    heddle_device_info info = HEDDLE_DEVICE_INFO_INIT;
    char remove[64];
    expect(heddle_abi_version() == HEDDLE_ABI_VERSION, "the library has another ABI");
    expect(mkdtemp(folder) != NULL, "no folder for files");
    for (uint32_t i = 0; i < N; i++) {
        keys[i] = i * 2654435761u;
        values[i] = i;
    }
    ok(heddle_device_open("cpu:2", &device), "device_open");
    ok(heddle_device_get_info(device, &info), "device_get_info");
    expect(info.threads == 2 && info.kind == HEDDLE_DEVICE_CPU, "the device");
    use_table(device, HEDDLE_CONTAINER_MAP, HEDDLE_SCHEME_AUTO);
    use_table(device, HEDDLE_CONTAINER_SET, HEDDLE_SCHEME_AUTO);
    use_table(device, HEDDLE_CONTAINER_COUNTER, HEDDLE_SCHEME_AUTO);
    use_table(device, HEDDLE_CONTAINER_MULTIMAP, HEDDLE_SCHEME_HASHGRAPH);
    use_table(device, HEDDLE_CONTAINER_MULTIMAP, HEDDLE_SCHEME_BUCKET_LIST);
    use_table(device, HEDDLE_CONTAINER_MAP, HEDDLE_SCHEME_SLAB);
    use_relations(device);
    use_filter(device);
    use_cluster();
    use_files(device);
    heddle_device_close(device);
    snprintf(remove, sizeof remove, "rm -rf %s", folder);
    expect(system(remove) == 0, "the folder stays");
    printf("a program of ABI %d runs with heddle %s\n", HEDDLE_ABI_VERSION,
           heddle_version_string());
    return 0;
}
