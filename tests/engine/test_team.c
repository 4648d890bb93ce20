/*
 * test_team.c: how many threads the CPU engine takes where that is not its own choice: in a process that was forked after a
 * call with several threads, where no thread can be made, and beside others that use all processors; and that what cannot
 * live on in such a process is refused there.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
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
#include "support/files.h"
#include "support/keys.h"
#include "support/shelf_model.h"

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

static int use_cluster(void *context)
{
    heddle_cluster_table *table = context;
    heddle_cluster *own = NULL;
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    uint32_t key = 5;
    if (heddle_cluster_table_contains(table, &key, 1, NULL, &totals) != HEDDLE_ERROR_INVALID)
        return 1;
    if (strstr(heddle_last_error(), "fork") == NULL) return 2;
    heddle_cluster_table_destroy(table);
    if (heddle_cluster_open("cpu:1,cpu:1", NULL, &own) != HEDDLE_OK) return 3;
    heddle_cluster_close(own);
    return 0;
}

/* The threads of its members are in the parent alone: a child that waited for them would wait for ever. */
static void a_cluster_stays_with_its_process(void **state)
{
    heddle_table_options options = HEDDLE_TABLE_OPTIONS_INIT;
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    heddle_cluster *cluster = NULL;
    heddle_cluster_table *table = NULL;
    uint32_t key = 5, value = 6;
    (void)state;
    options.bucket = 8;
    check_ok(heddle_cluster_open("cpu:1,cpu:1", NULL, &cluster));
    check_ok(heddle_cluster_table_create(cluster, &options, NULL, &table));
    check_ok(heddle_cluster_table_insert(table, &key, &value, 1, NULL, NULL));
    assert_int_equal(run_child(use_cluster, table), 0);
    check_ok(heddle_cluster_table_contains(table, &key, 1, NULL, &totals));
    assert_int_equal(totals.found, 1);
    heddle_cluster_table_destroy(table);
    heddle_cluster_close(cluster);
}

static int use_shelf(void *context)
{
    const uint32_t key = 7, value = 8;
    uint64_t size = 0;
    if (heddle_shelf_insert(context, &key, &value, 1, NULL, NULL) != HEDDLE_ERROR_INVALID) return 1;
    if (strstr(heddle_last_error(), "fork") == NULL) return 2;
    if (heddle_shelf_size(context, &size) != HEDDLE_ERROR_INVALID) return 3;
    heddle_shelf_close(context);
    return 0;
}

static int read_shelf(void *context)
{
    const uint32_t key = 5;
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    if (heddle_shelf_contains(context, &key, 1, NULL, &totals) != HEDDLE_OK) return 1;
    return totals.found == 1 ? 0 : 2;
}

/* Its lock keeps others away, and a child is none: both would change the same files. */
static void a_shelf_stays_with_its_process(void **state)
{
    const uint32_t key = 5, value = 6;
    heddle_table_options options = HEDDLE_TABLE_OPTIONS_INIT;
    heddle_shelf_options how = HEDDLE_SHELF_OPTIONS_INIT;
    heddle_device *device = NULL;
    heddle_shelf *shelf = NULL;
    char path[500];
    (void)state;
    snprintf(path, sizeof path, "%s", files_path("forked"));
    options.bucket = 8;
    how.memory = 1 << 20;
    check_ok(heddle_device_open("cpu:1", &device));
    check_ok(heddle_shelf_create(device, path, &options, &how, &shelf));
    check_ok(heddle_shelf_insert(shelf, &key, &value, 1, NULL, NULL));
    assert_int_equal(run_child(use_shelf, shelf), 0);
    assert_int_equal(read_shelf(shelf), 0);
    heddle_shelf_close(shelf);
    how.flags = HEDDLE_SHELF_READ_ONLY;
    check_ok(heddle_shelf_open(device, path, &how, &shelf));
    assert_int_equal(run_child(read_shelf, shelf), 0);
    heddle_shelf_close(shelf);
    heddle_device_close(device);
    shelved_remove(path);
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

/* Leaves address space for what a call allocates, and not for the stacks of threads. 0 when it worked. */
static int limit_memory(void)
{
    struct rlimit limit = {0, 0};
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%ld", &pages) != 1) return 3;
    (void)fclose(file);
    limit.rlim_cur = limit.rlim_max = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + (24 << 20);
    return setrlimit(RLIMIT_AS, &limit) != 0 ? 4 : 0;
}

static int call_without_threads(void *context)
{
    fixture *f = context;
    const int limited = limit_memory();
    if (limited != 0) return limited;
    if (hd_team(64) >= 64) return 5;
    return finds_all(f) ? 0 : 6;
}

/* As every region of the library does it. */
static int region_of(int wanted)
{
    int threads = 0;
#pragma omp parallel num_threads(hd_team(wanted)) reduction(+ : threads)
    threads++;
    return threads;
}

/* The runtime ends threads that the small region does not need, and would end the process where it cannot make them again. */
static int large_small_limit_large(void *context)
{
    fixture *f = context;
    if (region_of(64) != 64 || region_of(2) != 2) return 1;
    (void)usleep(100000); /* until they are gone */
    const int limited = limit_memory();
    if (limited != 0) return limited;
    if (region_of(1) != 1 || region_of(64) >= 64) return 5;
    return finds_all(f) ? 0 : 6;
}

/* They are there when hd_team has promised them, and not only when the region begins. */
static void promised_threads_are_made(void **state)
{
    uint32_t threads = 0;
    (void)state;
    assert_int_equal(hd_team(6), 6);
    DIR *tasks = opendir("/proc/self/task");
    if (tasks == NULL) skip();
    while (readdir(tasks) != NULL) threads++;
    closedir(tasks);
    check(threads - 2 >= 6, "there are %u threads", threads - 2);
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
    assert_int_equal(run_child(large_small_limit_large, &f), 0);
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

/* One that may run on one processor alone takes one thread, whatever else is idle. */
static void short_calls_keep_to_their_processors(void **state)
{
    cpu_set_t before, one;
    fixture f = make("cpu:4");
    (void)state;
    if (sched_getaffinity(0, sizeof before, &before) != 0) skip();
    CPU_ZERO(&one);
    for (size_t i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++)
        if (CPU_ISSET(i, &before)) CPU_SET(i, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    (void)usleep(20000); /* what was seen before is old by then */
    assert_int_equal(hd_cpu_team(f.device, 50000), 1);
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
    insert_all(&f);
    assert_true(finds_all(&f));
    drop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(regions_of_the_host), /* first, before the library has made threads */
        cmocka_unit_test(a_fork_inside_of_a_region),
        cmocka_unit_test(promised_threads_are_made),
        cmocka_unit_test(no_thread_can_be_made),
        cmocka_unit_test(calls_after_a_fork),
        cmocka_unit_test(a_cluster_stays_with_its_process),
        cmocka_unit_test(a_shelf_stays_with_its_process),
        cmocka_unit_test(a_gpu_does_not_survive_a_fork),
        cmocka_unit_test(short_calls_leave_processors_to_others),
        cmocka_unit_test(short_calls_keep_to_their_processors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
