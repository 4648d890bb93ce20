/*
 * test_cluster_one_fails.c: one process of a cluster runs out of memory, at every allocation of every call in turn, from the
 * opening of the cluster on: all processes get its status, at once and not when their time is up, and go on together.
 * A part that cannot be emptied after that marks the table for all of them.
 *
 * Processes are forked and reach each other over sockets (support/cluster_process.h).
 */
#define _DEFAULT_SOURCE
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/tuning.h"
#include "cluster/table/hot_rows.h"
#include "support/cases.h"
#include "support/cluster_process.h"
#include "table/table.h"

#define FILLED 300
#define ROWS 700
#define SLICE 200
#define MEMBERS 3
#define FAULTS_MAX 1000
#define TIMEOUT_MS 20000 /* whoever waits so long is waiting for one that has given up */

static heddle_transport transport;

/* ---------------------------------------------------------------------------------------- calls */

static heddle_status call_open(void)
{
    heddle_cluster_options options = HEDDLE_CLUSTER_OPTIONS_INIT;
    options.slice = SLICE;
    return heddle_cluster_open_over(&transport, "cpu:1", &options, &process.cluster);
}
static heddle_status call_create(void)
{
    return heddle_cluster_table_create(process.cluster, NULL, NULL, &process.table);
}
static heddle_status call_outcomes(void)
{
    heddle_insert_options options = HEDDLE_INSERT_OPTIONS_INIT;
    options.outcomes = process.found;
    return heddle_cluster_table_build(process.table, process.keys, process.values, ROWS, &options,
                                      NULL);
}
static heddle_status call_export(void)
{
    uint64_t count = 0;
    return heddle_cluster_table_export(process.table, process.answers, NULL, ROWS, &count);
}
static heddle_status call_validate(void) { return heddle_cluster_table_validate(process.table); }
static heddle_status call_set_operation(void)
{
    uint64_t count = 0;
    return heddle_cluster_set_operation(process.cluster, HEDDLE_SET_UNION, 32, process.keys, ROWS,
                                        process.keys, ROWS / 2, process.numbers, 2 * ROWS, &count);
}

typedef struct faulty {
    const char *name;
    heddle_status (*call)(void);
    bool writes; /* the table is made anew every time */
} faulty;

static const faulty calls[] = {
    {"build", call_build, true},
    {"build with outcomes", call_outcomes, true},
    {"insert", call_insert, true},
    {"erase", call_erase, true},
    {"find", call_find, false},
    {"retrieve", call_retrieve, false},
    {"export", call_export, false},
    {"validate", call_validate, false},
    {"join", call_join, false},
    {"group-by", call_group_by, false},
    {"aggregate", call_aggregate, false},
    {"groups of rows", call_of_rows, false},
    {"set operation", call_set_operation, false},
};
#define CALLS (sizeof calls / sizeof calls[0])

/* ------------------------------------------------------------------------------------- children */

/* The largest of all members'; the processes are in step whenever they come here. */
static uint64_t largest(uint64_t mine)
{
    EXPECT(transport.reduce(transport.context, &mine, 1, 1) == 0, "the processes are not in step");
    return mine;
}

/* All have the same. */
static void expect_same(uint64_t mine, const char *what)
{
    const uint64_t most = largest(mine), least = ~largest(~mine);
    EXPECT(most == least, "%s: %llu here, %llu and %llu elsewhere", what, (unsigned long long)mine,
           (unsigned long long)least, (unsigned long long)most);
}

/* Makes a call whose k-th allocation fails in one process; whether one has. */
static bool strike(const faulty *f, uint32_t failing, uint64_t k, heddle_status *status)
{
    EXPECT(k < FAULTS_MAX, "%s: there is no end of allocations", f->name);
    hd_fault_arm(process.mesh.member == failing ? k : 0);
    *status = f->call();
    const bool struck = hd_fault_struck();
    hd_fault_arm(0);
    EXPECT(*status == HEDDLE_OK || *status == HEDDLE_ERROR_NO_MEMORY, "%s, allocation %llu: %s",
           f->name, (unsigned long long)k, heddle_status_string(*status));
    expect_same((uint64_t)*status, f->name);
    return largest(struck) != 0;
}

static void open_and_create(uint32_t failing)
{
    const faulty open = {"open", call_open, false}, create = {"create", call_create, false};
    heddle_status status;
    uint64_t failures = 0;
    for (uint64_t k = 1; strike(&open, failing, k, &status); k++) {
        failures += status != HEDDLE_OK;
        heddle_cluster_close(process.cluster);
    }
    EXPECT(failures > 2, "open met no failure");
    failures = 0;
    for (uint64_t k = 1; strike(&create, failing, k, &status); k++) {
        failures += status != HEDDLE_OK;
        heddle_cluster_table_destroy(process.table);
    }
    EXPECT(failures > 2, "create met no failure");
}

static void fill_table(void)
{
    EXPECT(heddle_cluster_table_clear(process.table) == HEDDLE_OK, "clear");
    EXPECT(heddle_cluster_table_insert(process.table, process.keys, process.values, FILLED, NULL,
                                       NULL) == HEDDLE_OK,
           "fill");
    EXPECT(heddle_device_trim(heddle_cluster_device(process.cluster, 0)) == HEDDLE_OK, "trim");
}

/* Every allocation of a call. */
static void fail_each(const faulty *f, uint32_t failing)
{
    bool struck = true;
    fill_table();
    for (uint64_t k = 1; struck; k++) {
        heddle_status status;
        uint64_t size = 0;
        if (f->writes) fill_table();
        struck = strike(f, failing, k, &status);
        const heddle_status sized = heddle_cluster_table_size(process.table, &size);
        EXPECT(sized == HEDDLE_OK || sized == HEDDLE_ERROR_CORRUPT,
               "%s: size, after allocation %llu", f->name, (unsigned long long)k);
        expect_same((uint64_t)sized, f->name);
        expect_same(size, f->name);
        EXPECT(sized == HEDDLE_OK || strlen(heddle_last_error()) != 0, "no reason");
        EXPECT(f->writes || (sized == HEDDLE_OK && size == MEMBERS * FILLED),
               "%s changes the table", f->name);
    }
}

/* A kind of table whose parts cannot be built, nor emptied while `stuck`. */
static const hd_table_kind *usual;
static hd_table_kind unusual;
static heddle_status build_says;
static bool stuck, building, tried; /* the last: to build it, in one call or slice by slice */

static heddle_status build_never(heddle_table *part, hd_request *request)
{
    (void)part, (void)request;
    tried = true;
    return hd_fail(build_says, "never");
}
static heddle_status insert_never(heddle_table *part, hd_request *request)
{
    if (!building || request->n == 0) return usual->insert(part, request);
    request->waits = true;
    return build_never(part, request);
}
static heddle_status clear_unless_stuck(heddle_table *part, void *stream)
{
    return stuck && tried ? hd_fail(HEDDLE_ERROR_DEVICE, "stuck") : usual->clear(part, stream);
}

/* A build that one process cannot finish empties all parts. */
static void fail_to_build(heddle_status says, bool is_stuck)
{
    uint64_t size = 0;
    fill_table();
    build_says = says;
    stuck = is_stuck;
    building = true;
    EXPECT(call_build() == says, "build does not say %s", heddle_status_string(says));
    stuck = building = tried = false;
    const heddle_status sized = heddle_cluster_table_size(process.table, &size);
    EXPECT(sized == (is_stuck ? HEDDLE_ERROR_CORRUPT : HEDDLE_OK) && size == 0,
           "after a build that failed: %s, %llu keys", heddle_status_string(sized),
           (unsigned long long)size);
}

/* Where one part cannot be emptied either all know it. */
static void fail_and_be_stuck(uint32_t failing)
{
    heddle_table *part = heddle_cluster_table_part(process.table, 0);
    usual = part->kind;
    unusual = *usual;
    unusual.build = build_never;
    unusual.insert = insert_never;
    unusual.clear = clear_unless_stuck;
    if (process.mesh.member == failing) part->kind = &unusual;
    for (int is_stuck = 0; is_stuck < 2; is_stuck++) {
        fail_to_build(HEDDLE_ERROR_NO_MEMORY, is_stuck != 0);
        fail_to_build(HEDDLE_ERROR_DEVICE, is_stuck != 0);
    }
    part->kind = usual;
    fill_table();
}

/* Builds and insertions whose hot keys are folded before they are sent. */
static void fail_to_fold(uint32_t failing)
{
    hd_tune.hot_rows_least = ROWS;
    for (uint32_t i = 0; i < ROWS; i++)
        if (i % 3 != 0) process.keys[i] = i % 3;
    const uint64_t before = hd_tune.hot_rows_folded;
    for (size_t i = 0; i < CALLS; i++)
        if (calls[i].call == call_build || calls[i].call == call_insert)
            fail_each(&calls[i], failing);
    EXPECT(hd_tune.hot_rows_folded > before, "nothing was folded");
    hd_tune.hot_rows_least = HD_TUNING_NONE;
}

static void live(const mesh_sockets *sockets, uint32_t member, uint32_t failing, uint32_t memory)
{
    const heddle_column column = HEDDLE_COLUMN(process.keys, 4);
    void (*close_mesh)(void *);
    process_join(sockets, member, memory);
    process.mesh.timeout_ms = TIMEOUT_MS;
    process.rows = ROWS;
    transport = mesh_transport(&process.mesh);
    close_mesh = transport.close;
    transport.close = NULL; /* it outlives groups */
    for (uint32_t i = 0; i < ROWS; i++) process.keys[i] = i * MEMBERS + member;
    open_and_create(failing);
    EXPECT(heddle_cluster_groups_create(process.cluster, &column, 1, ROWS, NULL, &process.by) ==
               HEDDLE_OK,
           "group-by");
    for (size_t i = 0; i < CALLS; i++) fail_each(&calls[i], failing);
    fail_and_be_stuck(failing);
    fail_to_fold(failing);
    heddle_cluster_groups_destroy(process.by);
    heddle_cluster_table_destroy(process.table);
    heddle_cluster_close(process.cluster);
    close_mesh(&process.mesh);
    _exit(0);
}

/* --------------------------------------------------------------------------------------- parent */

static void run(uint32_t failing, uint32_t memory)
{
    mesh_sockets sockets;
    pid_t children[MEMBERS];
    mesh_open(&sockets, MEMBERS);
    for (uint32_t i = 0; i < MEMBERS; i++) {
        children[i] = fork();
        if (children[i] == 0) live(&sockets, i, failing, memory);
    }
    mesh_close(&sockets);
    for (uint32_t i = 0; i < MEMBERS; i++) {
        int end;
        assert_int_equal(waitpid(children[i], &end, 0), children[i]);
        check(WIFEXITED(end) && WEXITSTATUS(end) == 0, "member %u has not ended well", i);
    }
}

static void all_fail_together(void **state)
{
    (void)state;
    run(0, MEMORY_HOST);
    run(MEMBERS - 1, MEMORY_HOST);
}

/* Arrays are staged, or the transport takes memory of devices, or others read it; slices overlap. */
static void all_fail_together_apart(void **state)
{
    (void)state;
    run(0, MEMORY_STAGED);
    run(MEMBERS - 1, MEMORY_STAGED);
    run(0, MEMORY_TAKEN);
    run(0, MEMORY_READ);
    run(MEMBERS - 1, MEMORY_READ);
}

int main(void)
{
    const struct CMUnitTest tests[] = {ONCE(all_fail_together), ONCE(all_fail_together_apart)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
