/*
 * test_cluster_processes.c: tables and relations of clusters of processes hold and answer what they should, whatever memory
 * their devices have: the host's, their own, which is staged, or their own that the transport takes as it is, as MPI does
 * that knows of CUDA (host memory stands for it here). Processes of all four kinds go together.
 *
 * Processes are forked and reach each other over sockets (support/cluster_process.h).
 */
#define _DEFAULT_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/cases.h"
#include "support/cluster_process.h"

#define ROWS 400  /* of every process, which no other has */
#define COMMON 80 /* that all have besides */
#define GIVEN (ROWS + COMMON)
#define SLICE 150
#define GROUPS 97

#define MEMORY_BY_TURNS (MEMORY_READ + 1) /* every process that of its number modulo 4 */

static uint32_t keys[GIVEN], values[GIVEN];
static uint32_t asked[2 * MESH_MAX * GIVEN], answers[2 * MESH_MAX * GIVEN];
static uint64_t matches[2 * MESH_MAX * GIVEN];
static uint8_t found[2 * MESH_MAX * GIVEN];

static uint32_t value_of(uint32_t key) { return key * 3 + 1; }
/* Keys below are common, then come those of all members in turn. */
static uint32_t key_end(void) { return COMMON + process.mesh.members * ROWS; }

static void make_rows(void)
{
    for (uint32_t i = 0; i < GIVEN; i++) {
        keys[i] =
            i < COMMON ? i : COMMON + (i - COMMON) * process.mesh.members + process.mesh.member;
        values[i] = value_of(keys[i]);
    }
}

/* --------------------------------------------------------------------------------------- tables */

/* How often the table holds a key, of which those below `erased` are gone. */
static uint64_t times(uint32_t key, uint32_t erased, bool independent)
{
    if (key < erased || key >= key_end()) return 0;
    return independent && key < COMMON ? process.mesh.members : 1;
}

static void look(heddle_cluster_table *table, uint32_t erased, bool independent)
{
    const uint32_t n = key_end() + 50;
    uint64_t size = 0, sum = 0;
    for (uint32_t i = 0; i < n; i++) { /* every process in another order */
        asked[i] = (i * 17 + process.mesh.member * 5) % n;
        sum += times(i, erased, independent);
    }
    EXPECT(heddle_cluster_table_size(table, &size) == HEDDLE_OK && size == sum, "size %llu",
           (unsigned long long)size);
    EXPECT(heddle_cluster_table_validate(table) == HEDDLE_OK, "validate");
    EXPECT(heddle_cluster_table_find(table, asked, n, answers, found, NULL) == HEDDLE_OK, "find");
    EXPECT(heddle_cluster_table_count(table, asked, n, matches, NULL) == HEDDLE_OK, "count");
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t is = times(asked[i], erased, independent);
        EXPECT(found[i] == (is != 0) && matches[i] == is, "key %u: found %u, %llu times", asked[i],
               found[i], (unsigned long long)matches[i]);
        EXPECT(is == 0 || answers[i] == value_of(asked[i]), "key %u: value %u", asked[i],
               answers[i]);
    }
}

static void use_table(bool independent)
{
    heddle_spread_options spread = HEDDLE_SPREAD_OPTIONS_INIT;
    heddle_cluster_table *table = NULL;
    const uint32_t third = GIVEN / 3, erased = COMMON / 2;
    spread.mode = independent ? HEDDLE_MODE_INDEPENDENT : HEDDLE_MODE_DISTRIBUTED;
    EXPECT(heddle_cluster_table_create(process.cluster, NULL, &spread, &table) == HEDDLE_OK,
           "create");
    EXPECT(heddle_cluster_table_build(table, keys, values, third, NULL, NULL) == HEDDLE_OK,
           "build");
    EXPECT(heddle_cluster_table_insert(table, keys + third, values + third, GIVEN - third, NULL,
                                       NULL) == HEDDLE_OK,
           "insert");
    look(table, 0, independent);
    EXPECT(heddle_cluster_table_erase(table, keys, process.mesh.member == 0 ? erased : 0, NULL,
                                      NULL) == HEDDLE_OK,
           "erase");
    look(table, erased, independent);
    EXPECT(heddle_cluster_table_build(table, keys, values, GIVEN, NULL, NULL) == HEDDLE_OK, "anew");
    look(table, 0, independent);
    heddle_cluster_table_destroy(table);
}

/* ------------------------------------------------------------------------------------ relations */

static uint64_t sum_of_all(uint64_t mine)
{
    const heddle_transport transport = mesh_transport(&process.mesh);
    EXPECT(transport.reduce(transport.context, &mine, 1, 0) == 0, "reduce");
    return mine;
}

/* All keys of one side that are not common meet themselves. */
static void use_join(void)
{
    const heddle_column column = HEDDLE_COLUMN(keys + COMMON, 4);
    heddle_relation_stats stats = HEDDLE_RELATION_STATS_INIT;
    heddle_cluster_join *join = NULL;
    EXPECT(heddle_cluster_join_create(process.cluster, &column, &column, 1, ROWS, ROWS / 2, NULL,
                                      &join) == HEDDLE_OK,
           "join");
    EXPECT(heddle_cluster_join_get_stats(join, &stats) == HEDDLE_OK, "stats");
    EXPECT(stats.results == (uint64_t)process.mesh.members * (ROWS / 2), "%llu matches",
           (unsigned long long)stats.results);
    heddle_cluster_join_destroy(join);
}

static void use_group_by(void)
{
    static uint32_t few[GIVEN];
    static uint64_t sums[GIVEN];
    const heddle_column column = HEDDLE_COLUMN(few, 4);
    heddle_cluster_groups *by = NULL;
    uint64_t count = 0, given = 0, got = 0;
    for (uint32_t i = 0; i < GIVEN; i++) {
        few[i] = keys[i] % GROUPS;
        given += values[i];
    }
    EXPECT(heddle_cluster_groups_create(process.cluster, &column, 1, GIVEN, NULL, &by) == HEDDLE_OK,
           "group-by");
    EXPECT(heddle_cluster_groups_count(by, &count, NULL) == HEDDLE_OK, "groups");
    EXPECT(heddle_cluster_groups_aggregate(by, HEDDLE_AGGREGATE_SUM, HEDDLE_TYPE_U32, values, NULL,
                                           sums, NULL) == HEDDLE_OK,
           "aggregate");
    for (uint64_t i = 0; i < count; i++) got += sums[i];
    EXPECT(sum_of_all(count) == GROUPS, "%llu groups here", (unsigned long long)count);
    EXPECT(sum_of_all(got) == sum_of_all(given), "sums of clusters");
    heddle_cluster_groups_destroy(by);
}

/* ------------------------------------------------------------------------------------ processes */

static void live(const mesh_sockets *sockets, uint32_t member, uint32_t memory)
{
    heddle_cluster_options options = HEDDLE_CLUSTER_OPTIONS_INIT;
    heddle_transport transport;
    const uint32_t mine = memory == MEMORY_BY_TURNS ? member % 4 : memory;
    process_join(sockets, member, mine);
    transport = mesh_transport(&process.mesh);
    options.slice = SLICE;
    make_rows();
    EXPECT(heddle_cluster_open_over(&transport, "cpu:1", &options, &process.cluster) == HEDDLE_OK,
           "open");
    use_table(false);
    EXPECT((process.mesh.begins != 0) == (mine != MEMORY_HOST), "%llu arrays were moved in halves",
           (unsigned long long)process.mesh.begins);
    EXPECT((process.mesh.asked != 0) == (mine != MEMORY_HOST), "nobody asked for messages");
    EXPECT((process.mesh.begun_bytes != 0) ==
               (process.mesh.members > 1 && mine != MEMORY_HOST && memory != MEMORY_READ),
           "%llu bytes went to others", (unsigned long long)process.mesh.begun_bytes);
    use_table(true);
    use_join();
    use_group_by();
    heddle_cluster_close(process.cluster);
    _exit(0);
}

static void run(uint32_t members, uint32_t memory)
{
    mesh_sockets sockets;
    pid_t children[MESH_MAX];
    case_note("%u members, memory %u", members, memory);
    assert_in_range(members, 1, MESH_MAX);
    mesh_open(&sockets, members);
    for (uint32_t i = 0; i < members; i++) {
        children[i] = fork();
        if (children[i] == 0) live(&sockets, i, memory);
    }
    mesh_close(&sockets);
    for (uint32_t i = 0; i < members; i++) {
        int end;
        assert_int_equal(waitpid(children[i], &end, 0), children[i]);
        check(WIFEXITED(end) && WEXITSTATUS(end) == 0, "member %u has not ended well", i);
    }
    case_note("%s", "");
}

static void all_kinds_of_memory(void **state)
{
    (void)state;
    for (uint32_t memory = MEMORY_HOST; memory <= MEMORY_BY_TURNS; memory++) {
        run(1, memory);
        run(3, memory);
    }
    run(8, MEMORY_BY_TURNS); /* two of each kind */
}

int main(void)
{
    const struct CMUnitTest tests[] = {ONCE(all_kinds_of_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
