/*
 * test_idle_memory.c: scratch memory that a device keeps for its next call is given up when memory is short, also for
 * another device that has the same memory: members of a cluster are such devices. A child process is given a limit.
 */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/blocks.h"
#include "support/cases.h"

#define BLOCK (UINT64_C(256) << 20)
#define LEFT (UINT64_C(64) << 20)

/* Bytes of address space that this process has. */
static uint64_t used_bytes(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%lu", &pages) != 1) pages = 0;
    if (file != NULL) (void)fclose(file);
    return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* 0: the second device got what the first kept; 1: it did not; others: something before went wrong. */
static int live(bool lent)
{
    heddle_device *first = NULL, *second = NULL;
    void *kept = NULL, *wanted = NULL;
    struct rlimit limit;
    if (heddle_device_open("cpu:1", &first) != HEDDLE_OK) return 2;
    if (heddle_device_open("cpu:1", &second) != HEDDLE_OK) return 2;
    if (hd_block_take(first, BLOCK, &kept) != HEDDLE_OK) return 3;
    if (!lent) hd_block_give(first, kept);
    if (used_bytes() < BLOCK) return 4; /* it is not kept */
    limit.rlim_cur = limit.rlim_max = used_bytes() + LEFT;
    if (setrlimit(RLIMIT_AS, &limit) != 0) return 5;
    return heddle_memory_allocate(second, BLOCK, &wanted) == HEDDLE_OK ? 0 : 1;
}

static int end_of(bool lent)
{
    int end = 0;
    const pid_t child = fork();
    if (child == 0) _exit(live(lent));
    assert_int_equal(waitpid(child, &end, 0), child);
    assert_true(WIFEXITED(end));
    return WEXITSTATUS(end);
}

static void idle_memory_is_shared(void **state)
{
    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip(); /* they need more address space than any limit leaves */
#endif
    assert_int_equal(end_of(false), 0);
    assert_int_equal(end_of(true), 1); /* memory in use stays with its device */
}

/* What has been given back is what the next call of the same size gets, whatever the size. */
static void kept_memory_is_found_again(void **state)
{
    heddle_device *device = NULL;
    (void)state;
    check_ok(heddle_device_open("cpu:1", &device));
    for (uint64_t bytes = 1000; bytes < UINT64_C(1) << 25; bytes += bytes / 37 + 1) {
        void *first = NULL, *again = NULL;
        check_ok(hd_block_take(device, bytes, &first));
        hd_block_give(device, first);
        check_ok(hd_block_take(device, bytes, &again));
        check(again == first, "%llu bytes are not found again", (unsigned long long)bytes);
        hd_block_give(device, again);
        hd_blocks_drop(device);
    }
    heddle_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(idle_memory_is_shared),
                                       cmocka_unit_test(kept_memory_is_found_again)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
