/*
 * test_faults.c: memory runs out. Every allocation of every call is made to fail once, in turn: the
 * call says HEDDLE_ERROR_NO_MEMORY (or does without), the table is whole and holds what the model
 * holds, and nothing leaks (the address sanitizer looks).
 */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "support/checked.h"
#include "support/files.h"
#include "support/keys.h"

#define FILLED 200
#define FAULTS_MAX 1000 /* no call makes so many allocations */

static uint64_t old_keys[FILLED];
static uint64_t old_values[FILLED];

static checked create_filled(const test_case *c)
{
    checked t = checked_create(c, NULL);
    keys_fill(old_keys, FILLED, KEYS_EDGES, t.options.key_bits, 191);
    keys_fill_values(old_values, FILLED, 191);
    checked_insert(&t, old_keys, old_values, FILLED, HEDDLE_POLICY_KEEP);
    return t;
}

static void check_survived(heddle_status status, bool struck)
{
    check(status == HEDDLE_OK || (struck && status == HEDDLE_ERROR_NO_MEMORY), "%s: %s",
          heddle_status_string(status), heddle_last_error());
    check(status == HEDDLE_OK || strlen(heddle_last_error()) > 0, "no reason was given");
}

/* Makes one call on a fresh table for every allocation in it, until none is left to fail. */
typedef heddle_status (*faulty_call)(checked *t);

static void fail_each_allocation(const test_case *c, const char *name, faulty_call call)
{
    bool struck = true;
    for (uint64_t k = 1; struck; k++) {
        case_note("%s, allocation %llu", name, (unsigned long long)k);
        check(k < FAULTS_MAX, "there is no end of allocations");
        checked t = create_filled(c);
        hd_fault_arm(k);
        const heddle_status status = call(&t);
        struck = hd_fault_struck();
        hd_fault_arm(0);
        check_survived(status, struck);
        checked_all(&t);
        checked_destroy(&t);
    }
}

/* ---------------------------------------------------------------------- calls that only read */

/* Host arrays on purpose: on a GPU they are staged, and the buffers for that must come from
 * somewhere. */
static uint64_t key_buffer[FILLED];
static uint64_t value_buffer[FILLED];
static uint8_t flag_buffer[FILLED];

static void *buffer_of(const checked *t)
{
    for (uint64_t i = 0; i < FILLED; i++) {
        if (t->options.key_bits == 32) ((uint32_t *)(void *)key_buffer)[i] = (uint32_t)old_keys[i];
        else key_buffer[i] = old_keys[i];
    }
    return key_buffer;
}

static heddle_status call_contains(checked *t)
{
    return heddle_table_contains(t->table, buffer_of(t), FILLED, flag_buffer, NULL, NULL);
}

static heddle_status call_find(checked *t)
{
    if (!case_is_map(t->c)) return HEDDLE_OK;
    return heddle_table_find(t->table, buffer_of(t), FILLED, value_buffer, flag_buffer, NULL, NULL);
}

static heddle_status call_erase(checked *t)
{
    const heddle_status status =
        heddle_table_erase(t->table, buffer_of(t), FILLED / 2, flag_buffer, NULL, NULL);
    for (uint64_t i = 0; status == HEDDLE_OK && i < FILLED / 2; i++)
        model_erase(t->model, old_keys[i]);
    return status;
}

static heddle_status call_export(checked *t)
{
    uint64_t count = 0;
    return heddle_table_export(t->table, key_buffer, case_is_map(t->c) ? value_buffer : NULL,
                               FILLED, &count, NULL);
}

static heddle_status call_validate(checked *t) { return heddle_table_validate(t->table, NULL); }

static heddle_status call_stats(checked *t)
{
    heddle_table_stats stats = HEDDLE_TABLE_STATS_INIT;
    return heddle_table_get_stats(t->table, &stats, NULL);
}

static void reading_survives(const test_case *c)
{
    fail_each_allocation(c, "contains", call_contains);
    fail_each_allocation(c, "find", call_find);
    fail_each_allocation(c, "erase", call_erase);
    fail_each_allocation(c, "export", call_export);
    fail_each_allocation(c, "validate", call_validate);
    fail_each_allocation(c, "get_stats", call_stats);
}

/* ----------------------------------------------------------------------- calls that move pairs */

static heddle_status call_reserve(checked *t) { return heddle_table_reserve(t->table, 5000, NULL); }

static heddle_status call_rehash(checked *t) { return heddle_table_rehash(t->table, 3000, NULL); }

static heddle_status call_shrink(checked *t) { return heddle_table_rehash(t->table, 0, NULL); }

static void moving_survives(const test_case *c)
{
    fail_each_allocation(c, "reserve", call_reserve);
    fail_each_allocation(c, "rehash", call_rehash);
    fail_each_allocation(c, "shrink", call_shrink);
}

/* Inserts or builds far more than fits, with a fault at every allocation; then once more without.
 */
static void fail_each_write(const test_case *c, bool build)
{
    const uint64_t n = case_size(3001);
    uint64_t *keys = keys_allocate(n);
    uint64_t *values = keys_allocate(n);
    bool struck = true;
    keys_fill(keys, n, KEYS_RANDOM, c->ops->key_bits, 193);
    keys_fill_values(values, n, 193);
    for (uint64_t k = 1; struck; k++) {
        case_note("%s, allocation %llu", build ? "build" : "insert", (unsigned long long)k);
        check(k < FAULTS_MAX, "there is no end of allocations");
        checked t = create_filled(c);
        t.fault = k;
        build ? checked_build(&t, keys, values, n, HEDDLE_POLICY_REPLACE)
              : checked_insert(&t, keys, values, n, HEDDLE_POLICY_REPLACE);
        struck = t.struck;
        checked_all(&t);
        t.fault = 0;
        checked_insert(&t, keys, values, n, HEDDLE_POLICY_REPLACE);
        checked_all(&t);
        checked_destroy(&t);
    }
    free(keys);
    free(values);
}

static void growing_survives(const test_case *c) { fail_each_write(c, false); }

static void building_survives(const test_case *c) { fail_each_write(c, true); }

/* ------------------------------------------------------------------------- calls that make things
 */

static void creating_survives(const test_case *c)
{
    heddle_table_options options = case_options(c);
    bool struck = true;
    options.capacity = 1000;
    for (uint64_t k = 1; struck; k++) {
        heddle_table *table = NULL;
        case_note("create, allocation %llu", (unsigned long long)k);
        check(k < FAULTS_MAX, "there is no end of allocations");
        hd_fault_arm(k);
        const heddle_status status = heddle_table_create(c->device, &options, &table);
        struck = hd_fault_struck();
        hd_fault_arm(0);
        check_survived(status, struck);
        assert_true((status == HEDDLE_OK) == (table != NULL));
        heddle_table_destroy(table);
    }
}

static void opening_survives(const test_case *c)
{
    bool struck = true;
    for (uint64_t k = 1; struck; k++) {
        heddle_device *device = NULL;
        case_note("device_open, allocation %llu", (unsigned long long)k);
        check(k < FAULTS_MAX, "there is no end of allocations");
        hd_fault_arm(k);
        const heddle_status status = heddle_device_open(c->device_name, &device);
        struck = hd_fault_struck();
        hd_fault_arm(0);
        check_survived(status, struck);
        assert_true((status == HEDDLE_OK) == (device != NULL));
        heddle_device_close(device);
    }
}

/* Device memory itself: NULL and a reason. */
static void allocating_survives(const test_case *c)
{
    void *memory = &memory;
    hd_fault_arm(1);
    const heddle_status status = heddle_memory_allocate(c->device, 4096, &memory);
    hd_fault_arm(0);
    assert_int_equal(status, HEDDLE_ERROR_NO_MEMORY);
    assert_null(memory);
    check_status(heddle_memory_allocate(c->device, UINT64_C(1) << 60, &memory),
                 HEDDLE_ERROR_NO_MEMORY);
    assert_null(memory);
    check_ok(heddle_memory_allocate(c->device, 4096, &memory));
    assert_non_null(memory);
    check_ok(heddle_memory_free(c->device, memory));
}

static heddle_status call_save(checked *t)
{
    return heddle_table_save(t->table, files_path("faults"), NULL);
}

/* A save that fails leaves no file behind; a load that fails leaves no table. */
static void saving_and_loading_survive(const test_case *c)
{
    bool struck = true;
    fail_each_allocation(c, "save", call_save);
    assert_int_equal(files_count(), 1);
    for (uint64_t k = 1; struck; k++) {
        heddle_table *table = NULL;
        case_note("load, allocation %llu", (unsigned long long)k);
        check(k < FAULTS_MAX, "there is no end of allocations");
        hd_fault_arm(k);
        const heddle_status status =
            heddle_table_load(c->device, files_path("faults"), NULL, &table);
        struck = hd_fault_struck();
        hd_fault_arm(0);
        check_survived(status, struck);
        assert_true((status == HEDDLE_OK) == (table != NULL));
        heddle_table_destroy(table);
    }
    unlink(files_path("faults"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OVER_WIDTHS(reading_survives),     OVER_TABLES(moving_survives),
        OVER_TABLES(growing_survives),     OVER_TABLES(building_survives),
        OVER_TABLES(creating_survives),    OVER_DEVICES(opening_survives),
        OVER_DEVICES(allocating_survives), OVER_WIDTHS(saving_and_loading_survive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
