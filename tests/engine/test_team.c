/*
 * test_team.c: how many threads the CPU engine takes where that is not its own choice: in a process that was forked after a
 * call with several threads, where no thread can be made, and beside others that use all processors.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/team.h"
#include "cpu/device/engine.h"
#include "support/cases.h"
#include "support/keys.h"

#define KEYS 100000 /* enough for several threads */

typedef struct fixture {
    heddle_device *device;
    heddle_table *table;
    uint32_t *keys, *values;
} fixture;

static fixture make(const char *name)
{
    fixture f = {NULL, NULL, malloc(KEYS * 4), malloc(KEYS * 4)};
    heddle_table_options options = HEDDLE_TABLE_OPTIONS_INIT;
    options.capacity = KEYS;
    options.bucket = 8;
    for (uint32_t i = 0; i < KEYS; i++) f.keys[i] = f.values[i] = i * 2654435761u;
    check_ok(heddle_device_open(name, &f.device));
    check_ok(heddle_table_create(f.device, &options, &f.table));
    return f;
}

static void insert_all(const fixture *f)
{
    check_ok(heddle_table_insert(f->table, f->keys, f->values, KEYS, NULL, NULL, NULL));
}

static bool finds_all(fixture *f)
{
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    return heddle_table_contains(f->table, f->keys, KEYS, NULL, &totals, NULL) == HEDDLE_OK &&
           totals.found == KEYS;
}

static void drop(fixture *f)
{
    heddle_table_destroy(f->table);
    heddle_device_close(f->device);
    free(f->keys);
    free(f->values);
}

/* What a child exits with, which has 20 seconds; 255 when it was killed. */
static int run_child(int (*work)(void *), void *context)
{
    const pid_t child = fork();
    int status = 0;
    assert_true(child >= 0);
    if (child == 0) {
        (void)alarm(20);
        _exit(work(context));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

static int ask(void *context) { return finds_all(context) ? 0 : 1; }

/* The parent's table, and one of the child's own; then a child of the child. */
static int ask_and_fork(void *context)
{
    fixture own = make("cpu:4");
    insert_all(&own);
    if (ask(context) != 0 || ask(&own) != 0) return 1;
    return run_child(ask, &own) == 0 ? 0 : 2;
}

static int open_and_insert(void *context)
{
    fixture own = make("cpu:4");
    insert_all(&own);
    return ask(context) == 0 && ask(&own) == 0 ? 0 : 1;
}

/* Where the host alone has made the runtime's threads: the library has had no region of several yet. */
static void regions_of_the_host(void **state)
{
    fixture f = make("cpu:4");
    const fixture few = {f.device, f.table, f.keys, f.values};
    int threads = 0;
    (void)state;
#pragma omp parallel num_threads(4) reduction(+ : threads)
    threads++;
    assert_int_equal(threads, 4);
    check_ok(heddle_table_insert(few.table, few.keys, few.values, 5, NULL, NULL, NULL));
    assert_int_equal(run_child(open_and_insert, &f),
                     1); /* the child's table has all keys, the parent's five */
    insert_all(&f);
    assert_int_equal(run_child(open_and_insert, &f), 0);
    drop(&f);
}

static pid_t fork_in_region(fixture *f)
{
    pid_t child = -1;
#pragma omp parallel num_threads(2)
#pragma omp master
    {
        child = fork();
        if (child == 0) {
            (void)alarm(20);
            _exit(open_and_insert(f));
        }
    }
    return child;
}

/* The runtime does not give up its threads there: the child works alone. */
static void a_fork_inside_of_a_region(void **state)
{
    fixture f = make("cpu:4");
    int status = 0;
    (void)state;
    insert_all(&f);
    const pid_t child = fork_in_region(&f);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    drop(&f);
}

static void calls_after_a_fork(void **state)
{
    fixture f = make("cpu:4");
    (void)state;
    insert_all(&f);
    assert_true(finds_all(&f));
    assert_int_equal(run_child(ask_and_fork, &f), 0);
    assert_true(finds_all(&f)); /* the parent has its threads again */
    drop(&f);
}

static int ask_a_gpu(void *context)
{
    const fixture *f = context;
    return heddle_table_clear(f->table, NULL) == HEDDLE_ERROR_DEVICE &&
                   strstr(heddle_last_error(), "fork") != NULL
               ? 0
               : 1;
}

static void a_gpu_does_not_survive_a_fork(void **state)
{
    heddle_device *device = NULL;
    (void)state;
    if (heddle_device_open("cuda:0", &device) != HEDDLE_OK) skip();
    heddle_device_close(device);
    fixture f = make("cuda:0");
    assert_int_equal(run_child(ask_a_gpu, &f), 0);
    drop(&f);
}

/* Address space for what a call allocates, and not for the stacks of threads. */
static int call_without_threads(void *context)
{
    fixture *f = context;
    struct rlimit limit = {0, 0};
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%ld", &pages) != 1) return 3;
    (void)fclose(file);
    limit.rlim_cur = limit.rlim_max = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + (24 << 20);
    if (setrlimit(RLIMIT_AS, &limit) != 0) return 4;
    if (hd_team(64) >= 64) return 5;
    return finds_all(f) ? 0 : 6;
}

static void no_thread_can_be_made(void **state)
{
    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip(); /* they need address space of their own */
#endif
    fixture f = make("cpu:64");
    insert_all(&f);
    assert_int_equal(run_child(call_without_threads, &f), 0);
    drop(&f);
}

static atomic_int busy_ends;

static void *be_busy(void *context)
{
    (void)context;
    while (!busy_ends) {
    }
    return NULL;
}

static void short_calls_leave_processors_to_others(void **state)
{
    enum { MOST = 512 };
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    pthread_t others[MOST];
    fixture f = make("cpu:4");
    bool alone = false, together = true;
    (void)state;
    if (processors > MOST) skip();
    busy_ends = 0;
    for (long i = 0; i < processors; i++)
        assert_int_equal(pthread_create(&others[i], NULL, be_busy, NULL), 0);
    for (int i = 0; i < 200 && !alone; i++) {
        (void)usleep(5000);
        alone = hd_cpu_team(f.device, 50000) == 1;
        together = together && hd_cpu_team(f.device, UINT64_C(1) << 30) == 4;
    }
    busy_ends = 1;
    for (long i = 0; i < processors; i++) (void)pthread_join(others[i], NULL);
    check(alone, "short calls take %d threads", hd_cpu_team(f.device, 50000));
    check(together, "long calls take %d threads", hd_cpu_team(f.device, UINT64_C(1) << 30));
    assert_int_equal(hd_cpu_threads(f.device, 50000), 4);
    drop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(regions_of_the_host), /* first, before the library has made threads */
        cmocka_unit_test(a_fork_inside_of_a_region),
        cmocka_unit_test(no_thread_can_be_made),
        cmocka_unit_test(calls_after_a_fork),
        cmocka_unit_test(a_gpu_does_not_survive_a_fork),
        cmocka_unit_test(short_calls_leave_processors_to_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
