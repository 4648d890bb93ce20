/*
 * test_concurrent.c: several threads at once, on tables of their own and reading one table
 * together.
 *
 * cmocka's checks leave by longjmp and so must not run in other threads: a worker notes what went
 * wrong and the test looks at the notes after all have ended.
 */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/cases.h"
#include "support/files.h"
#include "support/keys.h"

#define WORKERS 4

typedef struct worker {
    const test_case *c;
    heddle_device *device;
    heddle_table *table; /* the one table that all read */
    uint64_t n;          /* keys in it */
    uint32_t id;
    pthread_t thread;
    char error[200]; /* "" while all is well */
} worker;

/* Notes the first failure and leaves the worker's function. */
#define want(w, condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            snprintf((w)->error, sizeof(w)->error, "line %d: %s (%s)", __LINE__, #condition,       \
                     heddle_last_error());                                                         \
            return false;                                                                          \
        }                                                                                          \
    } while (0)

static void put(void *array, uint64_t i, uint32_t bits, uint64_t number)
{
    if (bits == 32) ((uint32_t *)array)[i] = (uint32_t)number;
    else ((uint64_t *)array)[i] = number;
}

static uint64_t get(const void *array, uint64_t i, uint32_t bits)
{
    return bits == 32 ? ((const uint32_t *)array)[i] : ((const uint64_t *)array)[i];
}

/* Key i of thread `id`; its value is 3 times the key. Threads share no key. */
static uint64_t key_of(uint32_t id, uint64_t i) { return i * WORKERS + id; }

typedef struct buffers {
    void *keys;
    void *values;
    uint8_t *flags;
} buffers;

static buffers buffers_fill(const worker *w, uint32_t id, uint64_t n)
{
    buffers b = {malloc(n * 8), malloc(n * 8), malloc(n)};
    for (uint64_t i = 0; i < n; i++) {
        put(b.keys, i, w->c->ops->key_bits, key_of(id, i));
        put(b.values, i, 64, 0);
        if (case_is_map(w->c)) put(b.values, i, w->c->ops->value_bits, 3 * key_of(id, i));
    }
    return b;
}

static void buffers_free(buffers *b)
{
    free(b->keys);
    free(b->values);
    free(b->flags);
}

/* The first n keys are there with their values. */
static bool all_found(worker *w, heddle_table *table, const buffers *b, uint64_t n)
{
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    const uint32_t bits = w->c->ops->value_bits;
    memset(b->flags, 0, n);
    if (bits == 0) {
        want(w, heddle_table_contains(table, b->keys, n, b->flags, &totals, NULL) == HEDDLE_OK);
    } else {
        memset(b->values, 0, n * 8);
        want(w,
             heddle_table_find(table, b->keys, n, b->values, b->flags, &totals, NULL) == HEDDLE_OK);
    }
    want(w, totals.found == n && totals.absent == 0);
    for (uint64_t i = 0; i < n; i++) {
        want(w, b->flags[i] == 1);
        if (bits != 0) {
            const uint64_t value = 3 * get(b->keys, i, w->c->ops->key_bits);
            want(w, get(b->values, i, bits) == (bits == 32 ? (uint32_t)value : value));
        }
    }
    return true;
}

/* ---------------------------------------------------------------------- tables of their own */

static bool use_table(worker *w, heddle_table *table, const buffers *b, uint64_t n)
{
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    uint64_t size = 0;
    const void *values = case_is_map(w->c) ? b->values : NULL;
    want(w, heddle_table_insert(table, b->keys, values, n, NULL, &totals, NULL) == HEDDLE_OK);
    want(w, totals.inserted == n);
    want(w, all_found(w, table, b, n));
    want(w, heddle_table_rehash(table, 2 * n, NULL) == HEDDLE_OK);
    want(w, heddle_table_validate(table, NULL) == HEDDLE_OK);
    want(w, all_found(w, table, b, n));
    want(w, heddle_table_erase(table, b->keys, n / 2, b->flags, &totals, NULL) == HEDDLE_OK);
    want(w, totals.found == n / 2);
    want(w, heddle_table_size(table, &size, NULL) == HEDDLE_OK && size == n - n / 2);
    want(w, heddle_table_contains(table, b->keys, n, NULL, &totals, NULL) == HEDDLE_OK);
    want(w, totals.found == n - n / 2);
    return true;
}

static void *work_alone(void *argument)
{
    worker *w = argument;
    heddle_table_options options = case_options(w->c);
    for (uint32_t round = 0; round < 3 && w->error[0] == '\0'; round++) {
        heddle_table *table = NULL;
        buffers b = buffers_fill(w, w->id, w->n);
        if (heddle_table_create(w->device, &options, &table) != HEDDLE_OK)
            snprintf(w->error, sizeof w->error, "create: %s", heddle_last_error());
        else use_table(w, table, &b, w->n);
        heddle_table_destroy(table);
        buffers_free(&b);
    }
    return NULL;
}

static void run_workers(worker *workers, uint32_t count, void *(*work)(void *))
{
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    for (uint32_t i = 0; i < count; i++) assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
    for (uint32_t i = 0; i < count; i++)
        check(workers[i].error[0] == '\0', "thread %u: %s", i, workers[i].error);
}

static void tables_of_one_device(const test_case *c)
{
    worker workers[WORKERS];
    if (c->arrays != ARRAYS_HOST) return;
    memset(workers, 0, sizeof workers);
    for (uint32_t i = 0; i < WORKERS; i++)
        workers[i] = (worker){.c = c, .device = c->device, .n = case_size(6001), .id = i};
    run_workers(workers, WORKERS, work_alone);
}

static void tables_of_several_devices(const test_case *c)
{
    worker workers[WORKERS];
    if (c->arrays != ARRAYS_HOST) return;
    memset(workers, 0, sizeof workers);
    for (uint32_t i = 0; i < WORKERS; i++) {
        workers[i] = (worker){.c = c, .n = case_size(6001), .id = i};
        check_ok(heddle_device_open(i == 3 ? "cpu:1" : c->device_name, &workers[i].device));
    }
    run_workers(workers, WORKERS, work_alone);
    for (uint32_t i = 0; i < WORKERS; i++) heddle_device_close(workers[i].device);
}

/* --------------------------------------------------------------------------- one table for all */

static bool read_whole(worker *w)
{
    const uint64_t n = w->n;
    heddle_table_stats stats = HEDDLE_TABLE_STATS_INIT;
    uint64_t count = 0;
    uint64_t sum = 0;
    uint64_t *keys = keys_allocate(n);
    const heddle_status exported = heddle_table_export(w->table, keys, NULL, n, &count, NULL);
    for (uint64_t i = 0; exported == HEDDLE_OK && i < n; i++)
        sum += get(keys, i, w->c->ops->key_bits);
    free(keys);
    want(w, exported == HEDDLE_OK && count == n);
    want(w, sum == WORKERS * (n * (n - 1) / 2)); /* of thread 0's keys, each once */
    want(w, heddle_table_get_stats(w->table, &stats, NULL) == HEDDLE_OK);
    uint64_t reached = 0;
    for (int i = 0; i < HEDDLE_PROBES_MAX; i++) reached += stats.probes[i];
    want(w, stats.keys == n && reached == n);
    want(w, heddle_table_validate(w->table, NULL) == HEDDLE_OK);
    want(w, heddle_table_size(w->table, &count, NULL) == HEDDLE_OK && count == n);
    return true;
}

static bool save_and_load(worker *w)
{
    char path[300];
    heddle_table *loaded = NULL;
    uint64_t size = 0;
    snprintf(path, sizeof path, "%s/concurrent_%u", files_directory(), w->id);
    want(w, heddle_table_save(w->table, path, NULL) == HEDDLE_OK);
    want(w, heddle_table_load(w->device, path, NULL, &loaded) == HEDDLE_OK);
    const heddle_status sized = heddle_table_size(loaded, &size, NULL);
    heddle_table_destroy(loaded);
    want(w, sized == HEDDLE_OK && size == w->n);
    return true;
}

static void *read_together(void *argument)
{
    worker *w = argument;
    buffers b = buffers_fill(w, 0, w->n);
    for (uint32_t round = 0; round < 20 && w->error[0] == '\0'; round++) {
        if (!all_found(w, w->table, &b, w->n)) break;
        if ((round + w->id) % 2 == 0) read_whole(w);
        if (round % 10 == 9) save_and_load(w);
    }
    buffers_free(&b);
    return NULL;
}

static void readers_of_one_table(const test_case *c)
{
    worker workers[WORKERS];
    heddle_table *table = NULL;
    heddle_table_options options = case_options(c);
    if (c->arrays != ARRAYS_HOST) return;
    files_directory(); /* before threads ask for it */
    memset(workers, 0, sizeof workers);
    check_ok(heddle_table_create(c->device, &options, &table));
    for (uint32_t i = 0; i < WORKERS; i++)
        workers[i] =
            (worker){.c = c, .device = c->device, .table = table, .n = case_size(6001), .id = i};
    buffers b = buffers_fill(&workers[0], 0, workers[0].n);
    check_ok(heddle_table_insert(table, b.keys, case_is_map(c) ? b.values : NULL, workers[0].n,
                                 NULL, NULL, NULL));
    run_workers(workers, WORKERS, read_together);
    buffers_free(&b);
    heddle_table_destroy(table);
}

/* --------------------------------------------------------------------------------- last errors */

static void *fail_once(void *argument)
{
    worker *w = argument;
    heddle_device *device = NULL;
    char expected[64];
    snprintf(expected, sizeof expected, "device_%u", w->id);
    if (strlen(heddle_last_error()) != 0)
        snprintf(w->error, sizeof w->error, "a new thread has the last error \"%s\"",
                 heddle_last_error());
    for (uint32_t i = 0; i < 1000 && w->error[0] == '\0'; i++) {
        heddle_device_open(expected, &device);
        if (strstr(heddle_last_error(), expected) == NULL)
            snprintf(w->error, sizeof w->error, "the last error is \"%s\"", heddle_last_error());
    }
    return NULL;
}

/* Each thread has a last error of its own. */
static void last_errors_are_apart(void **state)
{
    worker workers[WORKERS];
    (void)state;
    memset(workers, 0, sizeof workers);
    for (uint32_t i = 0; i < WORKERS; i++) workers[i].id = i;
    run_workers(workers, WORKERS, fail_once);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OVER_TABLES(tables_of_one_device),
        OVER_WIDTHS(tables_of_several_devices),
        OVER_TABLES(readers_of_one_table),
        ONCE(last_errors_are_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
