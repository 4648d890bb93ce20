/*
 * test_cluster_killed.c: one process of a cluster is killed by a signal in each phase of each call, or in the middle of a
 * message: all others get HEDDLE_ERROR_PEER, again at every further call and at once, and end in order. Processes are
 * forked and reach each other over sockets, so that it is known when one is gone; another test stops one instead, and
 * the time is up. Where a table was being written, it is marked. Some do as if their devices had memory of their own, so that
 * slices are laid out while others are on their way.
 *
 * What the children do is in support/cluster_process.h.
 */
#define _DEFAULT_SOURCE
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/tuning.h"
#include "cluster/members.h"
#include "support/cases.h"
#include "support/cluster_process.h"

#define ROWS 3000
#define SLICE 400
#define MEMBERS 3
#define UNHARMED 77 /* the exit status of a process that was to be killed and has not been */

/* ---------------------------------------------------------------------------------------- calls */

static heddle_status call_outcomes(void)
{
    heddle_insert_options options = HEDDLE_INSERT_OPTIONS_INIT;
    options.outcomes = process.found;
    return heddle_cluster_table_insert(process.table, process.keys, process.values, ROWS, &options,
                                       NULL);
}

typedef struct killed_call {
    const char *name;
    heddle_status (*call)(void);
    bool writes;     /* the table is marked */
    uint32_t phases; /* that it has, by bits */
} killed_call;

#define ALL_PHASES 15u
#define NO_PARTITION (ALL_PHASES & ~(1u << HEDDLE_PHASE_PARTITION))

static const killed_call calls[] = {
    {"build", call_build, true, ALL_PHASES},
    {"insert", call_insert, true, ALL_PHASES},
    {"insert with outcomes", call_outcomes, true, ALL_PHASES},
    {"erase", call_erase, true, ALL_PHASES},
    {"find", call_find, false, ALL_PHASES},
    {"retrieve", call_retrieve, false, ALL_PHASES},
    {"join", call_join, false, ALL_PHASES},
    {"group-by", call_group_by, false, ALL_PHASES},
    {"aggregate", call_aggregate, false, NO_PARTITION},
    {"groups of rows", call_of_rows, false, NO_PARTITION},
};
#define CALLS (sizeof calls / sizeof calls[0])
#define OVERLAPPING_CALLS 2 /* the first ones */

/* ------------------------------------------------------------------------------------- children */

/* What happens to the last process, and when. */
typedef struct fate {
    uint32_t phase;  /* HEDDLE_PHASES: none */
    int ends;        /* of that phase, until it comes */
    int64_t bytes;   /* sent, until it comes; negative: never */
    int sign;        /* SIGKILL or SIGSTOP */
    uint32_t memory; /* of all processes */
} fate;

static fate mine;

/* hd_tune.phase_watch. */
static void meet_fate(uint32_t phase)
{
    if (phase == mine.phase && --mine.ends == 0) (void)kill(getpid(), mine.sign);
}

static void make_things(void)
{
    const heddle_transport transport = mesh_transport(&process.mesh);
    const heddle_column column = HEDDLE_COLUMN(process.keys, 4);
    heddle_cluster_options group_options = HEDDLE_CLUSTER_OPTIONS_INIT;
    heddle_table_options options = HEDDLE_TABLE_OPTIONS_INIT;
    group_options.slice = SLICE;
    process.rows = ROWS;
    for (uint32_t i = 0; i < ROWS; i++) process.keys[i] = i * 7 + process.mesh.member;
    EXPECT(heddle_cluster_open_over(&transport, "cpu:1", &group_options, &process.cluster) ==
               HEDDLE_OK,
           "open");
    EXPECT(heddle_cluster_table_create(process.cluster, &options, NULL, &process.table) ==
               HEDDLE_OK,
           "create");
    EXPECT(call_insert() == HEDDLE_OK, "insert");
    EXPECT(heddle_cluster_groups_create(process.cluster, &column, 1, ROWS, NULL, &process.by) ==
               HEDDLE_OK,
           "group-by");
}

/* A process of the cluster. The last one meets its fate; what the others get is looked at. */
static void live(const mesh_sockets *sockets, uint32_t member, const killed_call *c,
                 const fate *given)
{
    heddle_status status, next;
    uint64_t size = 0;
    process_join(sockets, member, given->memory);
    make_things();
    EXPECT((process.mesh.begins != 0) == (given->memory != MEMORY_HOST), "overlap");
    if (member == MEMBERS - 1) {
        mine = *given;
        process.mesh.dies_after = given->bytes;
        hd_tune.phase_watch = meet_fate;
        (void)c->call();
        _exit(UNHARMED);
    }
    if (given->sign == SIGSTOP) process.mesh.timeout_ms = 1500; /* whoever is stopped stays so */
    status = c->call();
    EXPECT(status == HEDDLE_ERROR_PEER, "%s: status %d", c->name, (int)status);
    EXPECT(strstr(heddle_last_error(), "lost") != NULL, "%s: no reason", c->name);
    process.mesh.timeout_ms = 3600000; /* nobody waits any more */
    next = heddle_cluster_table_size(process.table, &size);
    EXPECT(next == (c->writes ? HEDDLE_ERROR_CORRUPT : HEDDLE_ERROR_PEER),
           "%s: the next call says %d", c->name, (int)next);
    EXPECT(call_join() == HEDDLE_ERROR_PEER, "%s: a lost cluster joins", c->name);
    heddle_cluster_groups_destroy(process.by);
    heddle_cluster_table_destroy(process.table);
    heddle_cluster_close(process.cluster);
    _exit(0);
}

/* --------------------------------------------------------------------------------------- parent */

/* Whether the last process met its fate; all others must have ended well. */
static bool run(const killed_call *c, const fate *f)
{
    mesh_sockets sockets;
    pid_t children[MEMBERS];
    int ends[MEMBERS];
    mesh_open(&sockets, MEMBERS);
    for (uint32_t i = 0; i < MEMBERS; i++) {
        children[i] = fork();
        if (children[i] == 0) live(&sockets, i, c, f);
    }
    mesh_close(&sockets);
    for (uint32_t i = 0; i < MEMBERS; i++) {
        /* Whoever is stopped is not waited for. */
        if (i == MEMBERS - 1 && f->sign == SIGSTOP) (void)kill(children[i], SIGKILL);
        assert_int_equal(waitpid(children[i], &ends[i], 0), children[i]);
    }
    const int last = ends[MEMBERS - 1];
    if (WIFEXITED(last) && WEXITSTATUS(last) == UNHARMED) return false;
    check(WIFSIGNALED(last) && WTERMSIG(last) == SIGKILL, "the last member ended by itself");
    for (uint32_t i = 0; i + 1 < MEMBERS; i++) {
        check(WIFEXITED(ends[i]), "member %u has crashed", i);
        assert_int_equal(WEXITSTATUS(ends[i]), 0);
    }
    return true;
}

/* Up to the so-manieth end of every phase of a call. */
static void kill_in_phases(const killed_call *c, int most, uint32_t memory)
{
    for (uint32_t phase = 0; phase < HEDDLE_PHASES; phase++)
        for (int ends = 1; ends <= most; ends++) {
            const fate f = {phase, ends, -1, SIGKILL, memory};
            if ((c->phases >> phase & 1) == 0) continue;
            /* Work is done once, when all rows are there, unless it goes slice by slice. */
            if (phase == HEDDLE_PHASE_WORK && ends > 1) continue;
            case_note("%s, end %d of phase %u, memory %u", c->name, ends, phase, memory);
            check(run(c, &f), "the phase did not come");
        }
}

static void kill_in_messages(const killed_call *c, uint32_t memory)
{
    static const int64_t bytes[] = {1, 100, 1001, 3000, 8000};
    for (size_t k = 0; k < sizeof bytes / sizeof bytes[0]; k++) {
        const fate f = {HEDDLE_PHASES, 0, bytes[k], SIGKILL, memory};
        case_note("%s, after %lld bytes, memory %u", c->name, (long long)bytes[k], memory);
        check(run(c, &f), "so many bytes were not sent");
    }
}

static void killed_in_each_phase(void **state)
{
    (void)state;
    for (size_t i = 0; i < CALLS; i++) kill_in_phases(&calls[i], 2, MEMORY_HOST);
    case_note("%s", "");
}

static void killed_in_a_message(void **state)
{
    (void)state;
    for (size_t i = 0; i < CALLS; i++) kill_in_messages(&calls[i], MEMORY_HOST);
    case_note("%s", "");
}

/* A slice is on its way while the next one is laid out, in build and insert; other calls stage theirs. */
static void killed_while_slices_overlap(void **state)
{
    (void)state;
    for (uint32_t memory = MEMORY_STAGED; memory <= MEMORY_READ; memory++)
        for (size_t i = 0; i < OVERLAPPING_CALLS; i++) {
            kill_in_phases(&calls[i], 4, memory);
            if (memory != MEMORY_READ) kill_in_messages(&calls[i], memory); /* there are none */
        }
    for (size_t i = OVERLAPPING_CALLS; i < CALLS; i++) {
        kill_in_phases(&calls[i], 1, MEMORY_STAGED);
        kill_in_phases(&calls[i], 1, MEMORY_READ);
    }
    case_note("%s", "");
}

/* It does not answer, and is not gone: the time is up. */
static void stopped(void **state)
{
    const fate f = {HEDDLE_PHASE_WORK, 1, -1, SIGSTOP, MEMORY_HOST};
    (void)state;
    for (size_t i = 0; i < CALLS; i += 3) {
        case_note("%s, stopped", calls[i].name);
        check(run(&calls[i], &f), "the phase did not come");
    }
    case_note("%s", "");
}
static void stopped_while_slices_overlap(void **state)
{
    (void)state;
    for (uint32_t memory = MEMORY_STAGED; memory <= MEMORY_READ; memory++) {
        const fate f = {HEDDLE_PHASE_REORGANISE, 3, -1, SIGSTOP, memory};
        case_note("%s, stopped, memory %u", calls[0].name, memory);
        check(run(&calls[0], &f), "the phase did not come");
    }
    case_note("%s", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {ONCE(killed_in_each_phase), ONCE(killed_in_a_message),
                                       ONCE(killed_while_slices_overlap), ONCE(stopped),
                                       ONCE(stopped_while_slices_overlap)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
