/*
 * test_soak.c: mixed work for a while, by 16 threads on one device: tables of every kind, filters, joins, groups, files,
 * and handles that are opened and closed. Every answer is checked. Memory, threads and open files are written down as it
 * goes on, and nothing may be left in the end. `make test` runs it for two seconds, in which thousands of handles come and
 * go. HEDDLE_SOAK_SECONDS=3600 makes it long; then memory must be flat, too. HEDDLE_SOAK_CSV names a file for what was seen.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "support/cases.h"
#include "support/counted_memory.h"
#include "support/files.h"
#include "support/keys.h"
#include "support/shared_model.h"

#define THREADS 16
#define ROWS 3000
#define KINDS_MAX 32
#define HANDLES 10000
#define LEAK_BYTES (256 << 10) /* the system's own: what it keeps of threads and of printing */

typedef struct soak {
    heddle_device *device;
    const shared_kind *kinds[KINDS_MAX];
    uint32_t kind_count;
    atomic_bool ends;
    atomic_ullong rounds, rows, handles;
} soak;

static soak all;

typedef struct worker {
    uint64_t state; /* of its random numbers */
    uint32_t number;
    char path[500];
    heddle_table *lives; /* a table that is used from the beginning to the end */
    uint64_t generation;
} worker;

/* cmocka's checks jump, which a thread must not. */
static void must(bool truth, const char *what, const char *more)
{
    if (truth) return;
    fprintf(stderr, "soak: %s: %s (%s)\n", what, more, heddle_last_error());
    abort();
}
static void ok(heddle_status status, const char *what)
{
    must(status == HEDDLE_OK, what, "failed");
}

/* ---------------------------------------------------------------------------------------- tables */

typedef struct rows_of {
    uint64_t n;
    void *keys, *values, *answers;
    uint8_t *found;
} rows_of;

/* Different keys, at most ROWS; `salt` makes others. */
static rows_of rows_make(const shared_kind *kind, uint64_t n, uint64_t salt)
{
    uint64_t *keys = malloc(n * 8), *values = malloc(n * 8);
    rows_of r = {n, NULL, NULL, malloc(n * 8), malloc(n)};
    for (uint64_t i = 0; i < n; i++) {
        keys[i] = (i + salt * ROWS) * UINT64_C(0x9e3779b97f4a7c15);
        if (kind->key_bits == 32) keys[i] = (uint32_t)(i + salt * ROWS) * 2654435761u;
        values[i] = kind->container == HEDDLE_CONTAINER_COUNTER ? 1 : keys[i] * 7 + 1;
    }
    r.keys = shared_narrow(keys, n, kind->key_bits);
    if (kind->value_bits != 0) r.values = shared_narrow(values, n, kind->value_bits);
    free(keys);
    free(values);
    return r;
}

static void rows_free(rows_of *r)
{
    free(r->keys), free(r->values), free(r->answers), free(r->found);
}

/* All of them, or none of them, and no others' values. */
static void look(heddle_table *table, const shared_kind *kind, const rows_of *r, uint64_t n,
                 bool there, const char *what)
{
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    ok(heddle_table_contains(table, r->keys, n, r->found, &totals, NULL), what);
    must(totals.found == (there ? n : 0), what, "another number of keys is found");
    for (uint64_t i = 0; i < n; i++) must(r->found[i] == there, what, "a flag is wrong");
    if (kind->value_bits == 0 || !there) return;
    ok(heddle_table_find(table, r->keys, n, r->answers, NULL, NULL, NULL), what);
    must(memcmp(r->answers, r->values, n * kind->value_bits / 8) == 0, what, "a value is wrong");
}

static void save_and_load(worker *w, heddle_table *table, const shared_kind *kind, const rows_of *r)
{
    heddle_table_options options = shared_options(kind);
    heddle_table *loaded = NULL;
    ok(heddle_table_save(table, w->path, NULL), "save");
    ok(heddle_table_load(all.device, w->path, &options, &loaded), "load");
    look(loaded, kind, r, r->n, true, "loaded");
    heddle_table_destroy(loaded);
    must(unlink(w->path) == 0, "save", "there is no file");
}

static void work_table(worker *w)
{
    const shared_kind *kind = all.kinds[keys_below(&w->state, all.kind_count)];
    heddle_table_options options = shared_options(kind);
    heddle_table *table = NULL;
    rows_of r =
        rows_make(kind, 100 + keys_below(&w->state, ROWS - 100), keys_below(&w->state, 100));
    options.capacity = keys_below(&w->state, ROWS);
    if (options.capacity == 0) options.capacity = 1;
    ok(heddle_table_create(all.device, &options, &table), kind->name);
    ok(heddle_table_insert(table, r.keys, r.values, r.n, NULL, NULL, NULL), kind->name);
    look(table, kind, &r, r.n, true, kind->name);
    if (keys_below(&w->state, 4) == 0) save_and_load(w, table, kind, &r);
    ok(heddle_table_erase(table, r.keys, r.n / 2, NULL, NULL, NULL), kind->name);
    look(table, kind, &r, r.n / 2, false, kind->name);
    if (keys_below(&w->state, 8) == 0) ok(heddle_table_validate(table, NULL), kind->name);
    heddle_table_destroy(table);
    rows_free(&r);
    all.rows += r.n;
}

/* A few generations of keys live in a table at a time; it must not grow with those that have been. */
static void work_old_table(worker *w)
{
    const shared_kind *kind = all.kinds[w->number % all.kind_count];
    const uint64_t salt = w->generation % 100, old = (w->generation + 96) % 100;
    heddle_table_options options = shared_options(kind);
    rows_of r = rows_make(kind, ROWS, salt), gone = rows_make(kind, ROWS, old);
    if (w->lives == NULL) ok(heddle_table_create(all.device, &options, &w->lives), kind->name);
    if (w->generation >= 4) {
        look(w->lives, kind, &gone, ROWS, true, "an old generation");
        ok(heddle_table_erase(w->lives, gone.keys, ROWS, NULL, NULL, NULL), kind->name);
    }
    ok(heddle_table_insert(w->lives, r.keys, r.values, ROWS, NULL, NULL, NULL), kind->name);
    look(w->lives, kind, &r, ROWS, true, "a new generation");
    w->generation++;
    rows_free(&r);
    rows_free(&gone);
    all.rows += ROWS;
}

/* --------------------------------------------------------------------------------- everything else */

static void work_filter(worker *w)
{
    const shared_kind kind = {"filter", HEDDLE_CONTAINER_SET, 0, 64, 0};
    heddle_filter_options options = HEDDLE_FILTER_OPTIONS_INIT;
    heddle_filter *filter = NULL, *loaded = NULL;
    rows_of r = rows_make(&kind, ROWS, keys_below(&w->state, 100));
    uint64_t count = 0;
    options.capacity = ROWS;
    options.seed = case_seed();
    ok(heddle_filter_create(all.device, &options, &filter), "filter");
    ok(heddle_filter_add(filter, r.keys, ROWS, NULL), "filter");
    ok(heddle_filter_save(filter, w->path, NULL), "filter");
    ok(heddle_filter_load(all.device, w->path, &loaded), "filter");
    ok(heddle_filter_contains(loaded, r.keys, ROWS, NULL, &count, NULL), "filter");
    must(count == ROWS, "filter", "a key is not found");
    must(unlink(w->path) == 0, "filter", "there is no file");
    heddle_filter_destroy(loaded);
    heddle_filter_destroy(filter);
    rows_free(&r);
    all.rows += ROWS;
}

static void work_join(worker *w)
{
    uint32_t left[ROWS], right[ROWS];
    uint64_t *rows = malloc(2 * ROWS * sizeof *rows), count = 0, fetched = 0;
    const uint64_t begin = keys_below(&w->state, ROWS);
    const heddle_column l = HEDDLE_COLUMN(left, 4), r = HEDDLE_COLUMN(right, 4);
    heddle_join *join = NULL;
    for (uint32_t i = 0; i < ROWS; i++) {
        left[i] = i;
        right[i] = (uint32_t)begin + i / 2; /* each twice */
    }
    ok(heddle_join_create(all.device, &l, &r, 1, ROWS, ROWS, NULL, &join, NULL), "join");
    ok(heddle_join_count(join, &count, NULL), "join");
    const uint64_t expected = ROWS - begin < ROWS / 2 ? 2 * (ROWS - begin) : ROWS;
    must(count == expected, "join", "another number of rows");
    ok(heddle_join_fetch(join, rows, NULL, 2 * ROWS, &fetched, NULL), "join");
    must(fetched == count, "join", "not all rows come");
    for (uint64_t i = 0; i < fetched; i++) must(rows[i] >= begin, "join", "a row does not match");
    heddle_join_destroy(join);
    free(rows);
    all.rows += ROWS;
}

static void work_groups(worker *w)
{
    uint32_t keys[ROWS];
    uint64_t sizes[ROWS], count = 0, sum = 0;
    const uint32_t different = 1 + (uint32_t)keys_below(&w->state, ROWS);
    const heddle_column column = HEDDLE_COLUMN(keys, 4);
    heddle_groups *groups = NULL;
    for (uint32_t i = 0; i < ROWS; i++) keys[i] = i % different;
    ok(heddle_groups_create(all.device, &column, 1, ROWS, NULL, &groups, NULL), "groups");
    ok(heddle_groups_count(groups, &count), "groups");
    must(count == different, "groups", "another number of groups");
    ok(heddle_groups_sizes(groups, sizes, NULL), "groups");
    for (uint64_t i = 0; i < count; i++) sum += sizes[i];
    must(sum == ROWS, "groups", "rows are missing");
    heddle_groups_destroy(groups);
    all.rows += ROWS;
}

/* A device of its own, and a table there that is never used, or once. */
static void work_handles(worker *w)
{
    const shared_kind *kind = all.kinds[keys_below(&w->state, all.kind_count)];
    heddle_table_options options = shared_options(kind);
    heddle_device *device = NULL;
    heddle_table *table = NULL;
    options.capacity = 1;
    ok(heddle_device_open("cpu:1", &device), "device");
    ok(heddle_table_create(device, &options, &table), kind->name);
    heddle_table_destroy(table);
    heddle_device_close(device);
    all.handles += 2;
}

static void *work(void *context)
{
    static void (*const works[])(worker * w) = {work_table,   work_table,  work_old_table,
                                                work_filter,  work_join,   work_groups,
                                                work_handles, work_handles};
    worker *w = context;
    while (!all.ends) {
        works[keys_below(&w->state, sizeof works / sizeof works[0])](w);
        all.rounds++;
    }
    heddle_table_destroy(w->lives);
    return NULL;
}

/* ------------------------------------------------------------------------------------ what is seen */

static double now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

static uint64_t resident_kib(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL) return 0;
    if (fscanf(file, "%*u %lu", &pages) != 1) pages = 0;
    (void)fclose(file);
    return pages * ((uint64_t)sysconf(_SC_PAGESIZE) >> 10);
}

static uint32_t entries(const char *path)
{
    uint32_t n = 0;
    DIR *directory = opendir(path);
    if (directory == NULL) return 0;
    while (readdir(directory) != NULL) n++;
    closedir(directory);
    return n - 2;
}

/* What the process has, from time to time. */
typedef struct watch {
    FILE *csv;
    double began, seconds;
    uint64_t early, late; /* the most resident memory in the first and in the last third, KiB */
} watch;

static void watch_once(watch *w)
{
    const double at = now() - w->began;
    const uint64_t resident = resident_kib();
    if (at < w->seconds / 3 && resident > w->early) w->early = resident;
    if (at > w->seconds * 2 / 3 && resident > w->late) w->late = resident;
    if (w->csv == NULL) return;
    fprintf(w->csv, "%.1f,%llu,%llu,%u,%u,%llu,%llu,%llu\n", at, (unsigned long long)resident,
            (unsigned long long)counted_memory_now() >> 10, entries("/proc/self/task"),
            entries("/proc/self/fd"), (unsigned long long)all.rounds, (unsigned long long)all.rows,
            (unsigned long long)all.handles);
    (void)fflush(w->csv);
}

static watch watch_begin(double seconds)
{
    const char *path = getenv("HEDDLE_SOAK_CSV");
    watch w = {path != NULL ? fopen(path, "w") : NULL, now(), seconds, 0, 0};
    if (w.csv != NULL)
        fprintf(w.csv, "seconds,resident_kib,allocated_kib,threads,files,rounds,rows,handles\n");
    return w;
}

/* 16 threads work for so many seconds, and until so many handles have come and gone. */
static watch soak_for(double seconds, uint64_t handles)
{
    static worker workers[THREADS];
    pthread_t threads[THREADS];
    watch w = watch_begin(seconds);
    const double step = seconds / 400 > 0.1 ? seconds / 400 : 0.1;
    memset(workers, 0, sizeof workers);
    all.ends = false;
    all.rounds = all.rows = all.handles = 0;
    check_ok(heddle_device_open("cpu:2", &all.device));
    for (uint32_t i = 0; i < THREADS; i++) {
        char name[40];
        snprintf(name, sizeof name, "soak_%u", i);
        snprintf(workers[i].path, sizeof workers[i].path, "%s", files_path(name));
        workers[i].state = i + 1;
        workers[i].number = i;
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    while (now() - w.began < seconds || all.handles < handles) {
        (void)usleep((useconds_t)(step * 1e6));
        watch_once(&w);
    }
    all.ends = true;
    for (uint32_t i = 0; i < THREADS; i++) (void)pthread_join(threads[i], NULL);
    heddle_device_close(all.device);
    if (w.csv != NULL) (void)fclose(w.csv);
    return w;
}

static void nothing_is_left(void **state)
{
    const char *text = getenv("HEDDLE_SOAK_SECONDS");
    const double seconds = text != NULL ? atof(text) : 1;
    (void)state;
    for (uint32_t i = 0; i < shared_kind_count && all.kind_count < KINDS_MAX; i++)
        if (shared_is_compiled(&shared_kinds[i])) all.kinds[all.kind_count++] = &shared_kinds[i];
    assert_true(all.kind_count > 0);
    (void)soak_for(0.2, 100); /* what is made once and kept is there after that */
    const uint64_t before = counted_memory_begin();
    const uint32_t files = entries("/proc/self/fd"), threads = entries("/proc/self/task");
    const watch w = soak_for(seconds, case_quick() ? HANDLES / 5 : HANDLES);
    const uint64_t after = counted_memory_now();
    printf("%.0f s, %llu rounds, %llu rows, %llu handles; resident: %llu KiB, then %llu; %lld "
           "bytes are left\n",
           now() - w.began, (unsigned long long)all.rounds, (unsigned long long)all.rows,
           (unsigned long long)all.handles, (unsigned long long)w.early, (unsigned long long)w.late,
           (long long)(after - before));
    assert_int_equal(entries("/proc/self/fd"), files);
    check(entries("/proc/self/task") <= threads, "threads are left");
    assert_int_equal(files_count(), 0);
    check(!counted_memory_works() || after < before + LEAK_BYTES, "%llu bytes are left",
          (unsigned long long)(after - before));
    if (seconds >= 60)
        check(w.late < w.early + w.early / 4 + 16384, "memory grew from %llu to %llu KiB",
              (unsigned long long)w.early, (unsigned long long)w.late);
}

int main(void)
{
    const struct CMUnitTest tests[] = {ONCE(nothing_is_left)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
