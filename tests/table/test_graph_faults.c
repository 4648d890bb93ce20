/*
 * test_graph_faults.c: memory runs out. Every allocation of every call on a hashgraph is made to fail
 * once, in turn: the call says so, or does without, and the table holds what it held.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "support/arrays.h"
#include "support/files.h"
#include "support/keys.h"
#include "support/multi.h"

#define FILLED UINT64_C(70000) /* with equal keys in plenty, so that wide rows are needed */
#define BATCH UINT64_C(3000)
#define FAULTS_MAX 1000 /* no call makes so many allocations */

static uint64_t *keys, *values;

typedef struct attempt {
    multi m;
    array k, v, outcomes;
    heddle_table *other;
} attempt;

/* Makes one call; on success the model follows. */
typedef heddle_status (*faulty_call)(attempt *a);

static const uint64_t *model_values(const multi *m)
{
    return m->options.value_bits != 0 ? values : NULL;
}

static attempt attempt_make(const test_case *c, bool erased)
{
    attempt a = {multi_create(c, NULL), {0}, {0}, {0}, NULL};
    multi_build(&a.m, keys, model_values(&a.m), FILLED);
    if (erased) multi_erase(&a.m, keys + FILLED - 100, 100);
    a.k = array_of(c, ROLE_KEYS, keys + FILLED - BATCH / 2, BATCH, a.m.options.key_bits);
    a.v = array_of(c, ROLE_VALUES, values + FILLED - BATCH / 2, BATCH, a.m.options.value_bits);
    a.outcomes = array_poisoned(c, ROLE_FLAGS, BATCH, 0xee);
    return a;
}

static void fail_each_allocation(const test_case *c, const char *name, bool erased,
                                 faulty_call call)
{
    bool struck = true;
    for (uint64_t i = 1; struck; i++) {
        attempt a = attempt_make(c, erased);
        case_note("%s, allocation %llu", name, (unsigned long long)i);
        check(i < FAULTS_MAX, "there is no end of allocations");
        hd_fault_arm(i);
        const heddle_status status = call(&a);
        struck = hd_fault_struck();
        hd_fault_arm(0);
        check(status == HEDDLE_OK || (struck && status == HEDDLE_ERROR_NO_MEMORY), "%s: %s",
              heddle_status_string(status), heddle_last_error());
        check(status == HEDDLE_OK || a.other == NULL, "a table came back with a failure");
        multi_check(&a.m);
        multi_look(&a.m, keys + FILLED - 50, 100);
        heddle_table_destroy(a.other);
        array_free(&a.k);
        array_free(&a.v);
        array_free(&a.outcomes);
        multi_destroy(&a.m);
    }
}

/* What a call that failed says: that no row came in. */
static void check_said(const attempt *a, heddle_status status, const heddle_totals *totals,
                       const uint64_t failed[4])
{
    const bool good = status == HEDDLE_OK;
    assert_int_equal(totals->inserted + totals->updated + totals->kept, good ? BATCH : 0);
    assert_int_equal(totals->failed, good ? 0 : BATCH);
    for (uint64_t i = 0; i < BATCH; i++)
        check((a->outcomes.host[i] == HEDDLE_OUTCOME_FAILED) != good, "outcome %llu is %u after %s",
              (unsigned long long)i, a->outcomes.host[i], heddle_status_string(status));
    for (uint64_t i = 0; i < 4; i++) assert_int_equal(failed[i], good ? UINT64_MAX : i);
}

static heddle_status write_batch(attempt *a, bool builds)
{
    heddle_insert_options o = HEDDLE_INSERT_OPTIONS_INIT;
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    uint64_t failed[4] = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};
    const void *k = array_pointer(&a->k), *v = array_pointer(&a->v);
    o.outcomes = array_pointer(&a->outcomes);
    o.failed = failed;
    o.failed_capacity = 4;
    const heddle_status status =
        builds ? heddle_table_build(a->m.table, k, v, BATCH, &o, &totals, NULL)
               : heddle_table_insert(a->m.table, k, v, BATCH, &o, &totals, NULL);
    array_pull(&a->outcomes);
    check_said(a, status, &totals, failed);
    if (status == HEDDLE_OK)
        multi_model_add(&a->m, keys + FILLED - BATCH / 2,
                        a->m.options.value_bits != 0 ? values + FILLED - BATCH / 2 : NULL, BATCH,
                        builds);
    return status;
}

static heddle_status call_build(attempt *a) { return write_batch(a, true); }
static heddle_status call_insert(attempt *a) { return write_batch(a, false); }

/* The empty table is filled where it is. */
static heddle_status call_refill(attempt *a)
{
    check_ok(heddle_table_clear(a->m.table, NULL));
    a->m.size = 0;
    return call_insert(a);
}

static heddle_status call_erase(attempt *a)
{
    const heddle_status status =
        heddle_table_erase(a->m.table, array_pointer(&a->k), BATCH, NULL, NULL, NULL);
    if (status == HEDDLE_OK) multi_model_erase(&a->m, keys + FILLED - BATCH / 2, BATCH);
    return status;
}

static heddle_status call_read(attempt *a)
{
    static uint64_t offsets[BATCH + 1], matches[BATCH], count;
    static uint8_t flags[BATCH];
    heddle_table_stats stats = HEDDLE_TABLE_STATS_INIT;
    heddle_status status =
        heddle_table_contains(a->m.table, array_pointer(&a->k), BATCH, flags, NULL, NULL);
    if (status == HEDDLE_OK)
        status = heddle_table_count(a->m.table, array_pointer(&a->k), BATCH, matches, NULL, NULL);
    if (status == HEDDLE_OK && a->m.options.value_bits != 0)
        status = heddle_table_retrieve(a->m.table, array_pointer(&a->k), BATCH, offsets, NULL, 0,
                                       &count, NULL);
    if (status == HEDDLE_OK) status = heddle_table_get_stats(a->m.table, &stats, NULL);
    if (status == HEDDLE_OK) status = heddle_table_validate(a->m.table, NULL);
    return status;
}

static heddle_status call_export(attempt *a)
{
    uint64_t *k = keys_allocate(a->m.size + 1), *v = keys_allocate(a->m.size + 1), count;
    const heddle_status status = heddle_table_export(
        a->m.table, k, a->m.options.value_bits != 0 ? v : NULL, a->m.size, &count, NULL);
    free(k);
    free(v);
    return status;
}

static heddle_status call_rehash(attempt *a) { return heddle_table_rehash(a->m.table, 0, NULL); }

static heddle_status call_reserve(attempt *a)
{
    return heddle_table_reserve(a->m.table, 10 * FILLED, NULL);
}

static heddle_status call_save(attempt *a)
{
    return heddle_table_save(a->m.table, files_path("fault"), NULL);
}

static heddle_status call_load(attempt *a)
{
    return heddle_table_load(a->m.c->device, files_path("whole"), NULL, &a->other);
}

static heddle_status call_create(attempt *a)
{
    heddle_table_options o = case_options(a->m.c);
    o.capacity = 1000;
    return heddle_table_create(a->m.c->device, &o, &a->other);
}

static void material_make(const test_case *c)
{
    keys = keys_allocate(FILLED + BATCH);
    values = keys_allocate(FILLED + BATCH);
    keys_fill(keys, FILLED + BATCH, KEYS_RANDOM, c->graph->key_bits, 7);
    keys_fill_values(values, FILLED + BATCH, 7);
    for (uint64_t i = 0; i < FILLED - BATCH; i++) keys[i] = keys[0];
}

static void material_free(void)
{
    free(keys);
    free(values);
}

static void writing_survives(const test_case *c)
{
    material_make(c);
    fail_each_allocation(c, "build", false, call_build);
    fail_each_allocation(c, "insert", false, call_insert);
    fail_each_allocation(c, "insert after erase", true, call_insert);
    fail_each_allocation(c, "refill", true, call_refill);
    fail_each_allocation(c, "erase", false, call_erase);
    fail_each_allocation(c, "second erase", true, call_erase);
    fail_each_allocation(c, "rehash", true, call_rehash);
    fail_each_allocation(c, "reserve", true, call_reserve);
    material_free();
}

static void reading_survives(const test_case *c)
{
    material_make(c);
    fail_each_allocation(c, "reading", true, call_read);
    fail_each_allocation(c, "export", true, call_export);
    fail_each_allocation(c, "create", false, call_create);
    fail_each_allocation(c, "save", true, call_save);
    attempt a = attempt_make(c, false);
    check_ok(heddle_table_save(a.m.table, files_path("whole"), NULL));
    fail_each_allocation(c, "load", false, call_load);
    array_free(&a.k);
    array_free(&a.v);
    array_free(&a.outcomes);
    multi_destroy(&a.m);
    material_free();
    files_remove();
}

int main(void)
{
    const struct CMUnitTest tests[] = {OVER_FEW_GRAPHS(writing_survives),
                                       OVER_FEW_GRAPHS(reading_survives)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
