/*
 * test_cluster_faults.c: memory runs out on some member of a cluster. Every allocation of every call is made to
 * fail once, in turn, whichever member meets it: the call says HEDDLE_ERROR_NO_MEMORY (or does without)
 * and nobody waits for ever. The table holds what it held, or what the call says it holds, or it is marked
 * and says so; it can be emptied and used again, and nothing leaks (the address sanitizer looks).
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/tuning.h"
#include "cluster/exchange/exchange.h"
#include "support/cluster_model.h"
#include "support/keys.h"

#define FILLED 350
#define MORE 450
#define SLICE 100
#define FAULTS_MAX 3000

static uint64_t keys[FILLED + MORE], values[FILLED + MORE];
static void *narrow_keys, *narrow_values;
static uint8_t found[FILLED + MORE], outcomes[FILLED + MORE], bytes[(FILLED + MORE) * 64];
static uint64_t numbers[FILLED + MORE + 1];

static void fill_arrays(const shared_kind *kind)
{
    keys_fill(keys, FILLED + MORE, KEYS_EDGES, kind->key_bits, 191);
    shared_values(values, keys, FILLED + MORE, 3);
    narrow_keys = shared_narrow(keys, FILLED + MORE, kind->key_bits);
    narrow_values = shared_narrow(values, FILLED + MORE, kind->value_bits);
}

static const void *keys_from(const shared *s, uint64_t first)
{
    return (const char *)narrow_keys + first * s->options.key_bits / 8;
}
static const void *values_from(const shared *s, uint64_t first)
{
    return narrow_values != NULL ? (const char *)narrow_values + first * s->options.value_bits / 8
                                 : NULL;
}

/* What a call may leave behind. */
enum { AS_IT_WAS, OR_EMPTY, OR_BROKEN, OR_PARTLY };

typedef struct faulty {
    const char *name;
    heddle_status (*call)(shared *s, heddle_totals *totals);
    void (*model)(shared *s); /* what a success makes of the model; NULL: nothing */
    uint32_t leaves;          /* after a failure */
} faulty;

static heddle_status call_build(shared *s, heddle_totals *totals)
{
    return heddle_cluster_table_build(s->table, keys_from(s, FILLED), values_from(s, FILLED), MORE,
                                      NULL, totals);
}
static heddle_status call_build_outcomes(shared *s, heddle_totals *totals)
{
    heddle_insert_options options = HEDDLE_INSERT_OPTIONS_INIT;
    options.outcomes = outcomes;
    return heddle_cluster_table_build(s->table, keys_from(s, FILLED), values_from(s, FILLED), MORE,
                                      &options, totals);
}
static void model_build(shared *s)
{
    s->size = 0;
    shared_model_add(s, keys + FILLED, narrow_values != NULL ? values + FILLED : NULL, MORE, 0);
}
static heddle_status call_insert(shared *s, heddle_totals *totals)
{
    return heddle_cluster_table_insert(s->table, keys_from(s, FILLED), values_from(s, FILLED), MORE,
                                       NULL, totals);
}
static heddle_status call_insert_outcomes(shared *s, heddle_totals *totals)
{
    heddle_insert_options options = HEDDLE_INSERT_OPTIONS_INIT;
    options.outcomes = outcomes;
    options.failed = numbers;
    options.failed_capacity = MORE;
    return heddle_cluster_table_insert(s->table, keys_from(s, FILLED), values_from(s, FILLED), MORE,
                                       &options, totals);
}
static void model_insert(shared *s)
{
    shared_model_add(s, keys + FILLED, narrow_values != NULL ? values + FILLED : NULL, MORE, 0);
}
static heddle_status call_find(shared *s, heddle_totals *totals)
{
    if (s->options.value_bits == 0)
        return heddle_cluster_table_contains(s->table, narrow_keys, FILLED + MORE, found, totals);
    return heddle_cluster_table_find(s->table, narrow_keys, FILLED + MORE, bytes, found, totals);
}
static heddle_status call_count(shared *s, heddle_totals *totals)
{
    return heddle_cluster_table_count(s->table, narrow_keys, FILLED + MORE, numbers, totals);
}
static heddle_status call_retrieve(shared *s, heddle_totals *totals)
{
    uint64_t count = 0;
    (void)totals;
    if (s->options.value_bits == 0) return HEDDLE_OK;
    return heddle_cluster_table_retrieve(s->table, narrow_keys, FILLED + MORE, numbers, bytes,
                                         FILLED, &count);
}
static heddle_status call_export(shared *s, heddle_totals *totals)
{
    uint64_t count = 0;
    (void)totals;
    return heddle_cluster_table_export(s->table, bytes, NULL, FILLED, &count);
}
static heddle_status call_validate(shared *s, heddle_totals *totals)
{
    heddle_cluster_stats stats = HEDDLE_CLUSTER_STATS_INIT;
    (void)totals;
    const heddle_status status = heddle_cluster_table_get_stats(s->table, &stats);
    return status == HEDDLE_OK ? heddle_cluster_table_validate(s->table) : status;
}
static heddle_status call_erase(shared *s, heddle_totals *totals)
{
    return heddle_cluster_table_erase(s->table, narrow_keys, FILLED / 2, found, totals);
}
static void model_erase_half(shared *s)
{
    uint64_t size = 0;
    for (uint64_t i = 0; i < s->size; i++) {
        bool gone = false;
        for (uint64_t j = 0; j < FILLED / 2 && !gone; j++) gone = keys[j] == s->pairs[i].key;
        if (!gone) s->pairs[size++] = s->pairs[i];
    }
    s->size = size;
}

static const faulty calls[] = {
    {"build", call_build, model_build, OR_EMPTY},
    {"build with outcomes", call_build_outcomes, model_build, OR_EMPTY},
    {"insert", call_insert, model_insert, OR_PARTLY},
    {"insert with outcomes", call_insert_outcomes, model_insert, OR_PARTLY},
    {"erase", call_erase, model_erase_half, OR_BROKEN},
    {"find", call_find, NULL, AS_IT_WAS},
    {"count", call_count, NULL, AS_IT_WAS},
    {"retrieve", call_retrieve, NULL, AS_IT_WAS},
    {"export", call_export, NULL, AS_IT_WAS},
    {"validate", call_validate, NULL, AS_IT_WAS},
};

/* ------------------------------------------------------------------------------- after a failure */

static uint64_t broken, partly, emptied; /* how often: all of it must be met */

/* heddle_visitor: is not to be called. */
static uint32_t see_nothing(void *context, const void *some, const void *theirs,
                            const uint64_t *rows, uint64_t n)
{
    (void)context, (void)some, (void)theirs, (void)rows, (void)n;
    fail_msg("a broken table was visited");
    return 1;
}

/* A marked table refuses to be read, and is as good as new when it is empty. */
static void check_broken(shared *s)
{
    uint64_t size = 0;
    broken++;
    check_status(heddle_cluster_table_size(s->table, &size), HEDDLE_ERROR_CORRUPT);
    check_status(heddle_cluster_table_for_all(s->table, see_nothing, NULL), HEDDLE_ERROR_CORRUPT);
    check(strstr(heddle_last_error(), "half changed") != NULL, "%s", heddle_last_error());
    check_status(heddle_cluster_table_contains(s->table, narrow_keys, 10, found, NULL),
                 HEDDLE_ERROR_CORRUPT);
    check_ok(heddle_cluster_table_clear(s->table));
    s->size = 0;
}

/* The old pairs are all there; of the new ones as many as the call says, and with outcomes just those. */
static void check_partly(shared *s, const heddle_totals *totals, bool said)
{
    uint64_t there = 0;
    partly++;
    assert_int_equal(totals->inserted + totals->updated + totals->kept + totals->failed, MORE);
    check(totals->failed != 0, "a failure without failed keys");
    check_ok(heddle_cluster_table_contains(s->table, narrow_keys, FILLED + MORE, found, NULL));
    for (uint64_t i = 0; i < FILLED; i++) check(found[i] == 1, "an old key is gone");
    for (uint64_t i = 0; i < MORE; i++) {
        there += found[FILLED + i];
        check(!said || found[FILLED + i] == (outcomes[i] != HEDDLE_OUTCOME_FAILED),
              "key %llu: outcome %u, found %u", (unsigned long long)i, outcomes[i],
              found[FILLED + i]);
    }
    assert_int_equal(there, totals->inserted + totals->updated + totals->kept);
    check_ok(heddle_cluster_table_validate(s->table));
    check_ok(heddle_cluster_table_clear(s->table));
    s->size = 0;
}

static void check_after(shared *s, const faulty *f, heddle_status status,
                        const heddle_totals *totals)
{
    uint64_t size = 0;
    if (status == HEDDLE_OK) {
        if (f->model != NULL) f->model(s);
        return;
    }
    check(strlen(heddle_last_error()) > 0, "no reason was given");
    const heddle_status sized = heddle_cluster_table_size(s->table, &size);
    if (sized == HEDDLE_ERROR_CORRUPT) {
        check(f->leaves == OR_BROKEN || f->leaves == OR_PARTLY, "%s broke the table", f->name);
        check_broken(s);
    } else if (f->leaves == OR_EMPTY && size == 0) {
        s->size = 0;
        emptied++;
    } else if (f->leaves == OR_PARTLY && !shared_holds(s, s->pairs, s->size)) {
        check_partly(s, totals, f->call == call_insert_outcomes);
    }
}

static void fail_each_allocation(const shared_kind *kind, const char *devices, const faulty *f)
{
    bool struck = true;
    uint64_t failures = 0;
    for (uint64_t k = 1; struck; k += case_quick() ? 2 : 1) {
        heddle_totals totals = HEDDLE_TOTALS_INIT;
        check(k < FAULTS_MAX, "there is no end of allocations");
        shared s = shared_create(kind, devices, SLICE, NULL);
        shared_insert(&s, keys, narrow_values != NULL ? values : NULL, FILLED, HEDDLE_POLICY_KEEP,
                      false);
        for (uint32_t i = 0; i < s.members; i++) /* what is kept for the next call is given up */
            check_ok(heddle_device_trim(heddle_cluster_device(s.cluster, i)));
        case_note("%s of %s, allocation %llu", f->name, kind->name, (unsigned long long)k);
        hd_fault_arm(k);
        const heddle_status status = f->call(&s, &totals);
        struck = hd_fault_struck();
        hd_fault_arm(0);
        check(status == HEDDLE_OK || (struck && status == HEDDLE_ERROR_NO_MEMORY), "%s: %s",
              heddle_status_string(status), heddle_last_error());
        failures += status != HEDDLE_OK;
        check_after(&s, f, status, &totals);
        shared_check(&s);
        if (shared_mode == HEDDLE_MODE_DISTRIBUTED) { /* else other members would get these keys */
            shared_insert(&s, keys, narrow_values != NULL ? values : NULL, 50, HEDDLE_POLICY_KEEP,
                          false);
            shared_check(&s);
        }
        shared_destroy(&s);
    }
    const bool needs_none = f->call == call_export ||
                            (f->call == call_retrieve && kind->value_bits == 0) ||
                            (f->call == call_validate && shared_mode == HEDDLE_MODE_INDEPENDENT);
    check(failures > 0 || needs_none, "%s met no failure", f->name);
}

static void calls_survive(const shared_kind *kind, const char *devices, uint32_t members)
{
    (void)members;
    if (kind->key_bits == 64 && (case_quick() || kind->container == HEDDLE_CONTAINER_MAP)) return;
    fill_arrays(kind);
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        fail_each_allocation(kind, devices, &calls[i]);
    free(narrow_keys);
    free(narrow_values);
}
static void memory_runs_out(void **state)
{
    (void)state;
    shared_run_with(calls_survive, 3);
    check(broken != 0 && partly != 0 && emptied != 0,
          "tables were %llu times broken, %llu times partly filled, %llu times emptied",
          (unsigned long long)broken, (unsigned long long)partly, (unsigned long long)emptied);
}

/* The same where pairs and answers are copied, in one kind of table. */
static void copies_survive(const shared_kind *kind, const char *devices, uint32_t members)
{
    if (kind->container == HEDDLE_CONTAINER_MAP && kind->key_bits == 32)
        calls_survive(kind, devices, members);
}
static void memory_runs_out_of_members_that_copy(void **state)
{
    (void)state;
    hd_tune.local_copies = true;
    shared_run_with(copies_survive, 2);
    hd_tune.local_copies = false;
}

static void memory_runs_out_of_independent_members(void **state)
{
    (void)state;
    shared_mode = HEDDLE_MODE_INDEPENDENT;
    shared_run_with(calls_survive, 2);
    shared_mode = HEDDLE_MODE_DISTRIBUTED;
}

/* ------------------------------------------------------------------------------ opening and making */

static void making_survives(void **state)
{
    bool struck = true;
    (void)state;
    for (uint64_t k = 1; struck; k++) {
        heddle_cluster *cluster = NULL;
        heddle_cluster_table *table = NULL;
        hd_fault_arm(k);
        heddle_status status = heddle_cluster_open("cpu:1,cpu:2,cpu:1", NULL, &cluster);
        if (status == HEDDLE_OK) status = heddle_cluster_table_create(cluster, NULL, NULL, &table);
        struck = hd_fault_struck();
        hd_fault_arm(0);
        check(status == HEDDLE_OK || (struck && status == HEDDLE_ERROR_NO_MEMORY), "%s: %s",
              heddle_status_string(status), heddle_last_error());
        check((status == HEDDLE_OK) == (table != NULL), "a table of a failed call");
        heddle_cluster_table_destroy(table);
        heddle_cluster_close(cluster);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ONCE(memory_runs_out), ONCE(memory_runs_out_of_members_that_copy),
        ONCE(memory_runs_out_of_independent_members), ONCE(making_survives)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
