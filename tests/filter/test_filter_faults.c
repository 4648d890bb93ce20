/*
 * test_filter_faults.c: memory runs out, and arguments are wrong. Every allocation of every call on a filter
 * is made to fail once, in turn: the call says so, or does without, and the filter has lost no key.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "support/files.h"
#include "support/filters.h"
#include "support/keys.h"

#define FILLED UINT64_C(5000)
#define BATCH UINT64_C(270001) /* enough that it is sorted */
#define FAULTS_MAX 1000        /* no call makes so many allocations */

typedef struct attempt {
    const test_case *c;
    heddle_filter *filter, *other;
    array keys;
    uint64_t added; /* keys of the batch that must be there */
} attempt;

static uint64_t *keys;

typedef heddle_status (*faulty_call)(attempt *a);

static void fail_each_allocation(const test_case *c, const char *name, faulty_call call)
{
    bool struck = true;
    for (uint64_t i = 1; struck; i++) {
        attempt a = {c, filter_make(c, 32, BATCH, 0, 0, 5), NULL, {0}, 0};
        filter_add(c, a.filter, keys + BATCH, FILLED);
        check_ok(heddle_device_trim(c->device)); /* blocks are allocated anew */
        a.keys = array_of(c, ROLE_KEYS, keys, BATCH, 32);
        case_note("%s, allocation %llu", name, (unsigned long long)i);
        check(i < FAULTS_MAX, "there is no end of allocations");
        hd_fault_arm(i);
        const heddle_status status = call(&a);
        struck = hd_fault_struck();
        hd_fault_arm(0);
        check(status == HEDDLE_OK || (struck && status == HEDDLE_ERROR_NO_MEMORY), "%s: %s",
              heddle_status_string(status), heddle_last_error());
        check(status == HEDDLE_OK || a.other == NULL, "a filter came back with a failure");
        filter_has_all(c, a.filter, keys + BATCH, FILLED);
        filter_has_all(c, a.filter, keys, a.added);
        check_ok(heddle_filter_validate(a.filter, NULL));
        heddle_filter_destroy(a.other);
        heddle_filter_destroy(a.filter);
        array_free(&a.keys);
    }
}

static heddle_status call_create(attempt *a)
{
    heddle_filter_options options = HEDDLE_FILTER_OPTIONS_INIT;
    options.capacity = 1000;
    return heddle_filter_create(a->c->device, &options, &a->other);
}

static heddle_status call_add(attempt *a)
{
    const heddle_status status = heddle_filter_add(a->filter, array_pointer(&a->keys), BATCH, NULL);
    if (status == HEDDLE_OK) a->added = BATCH;
    return status;
}

static heddle_status call_read(attempt *a)
{
    static uint8_t flags[BATCH];
    static uint64_t rows[BATCH];
    static uint32_t selected[BATCH];
    uint64_t count = 0;
    heddle_filter_stats stats = HEDDLE_FILTER_STATS_INIT;
    const void *asked = array_pointer(&a->keys);
    heddle_status status = heddle_filter_contains(a->filter, asked, BATCH, flags, &count, NULL);
    if (status == HEDDLE_OK)
        status = heddle_filter_select(a->filter, asked, BATCH, selected, rows, &count, NULL);
    if (status == HEDDLE_OK) status = heddle_filter_get_stats(a->filter, &stats, NULL);
    if (status == HEDDLE_OK) status = heddle_filter_validate(a->filter, NULL);
    return status;
}

static heddle_status call_save(attempt *a)
{
    return heddle_filter_save(a->filter, files_path("fault"), NULL);
}

static heddle_status call_load(attempt *a)
{
    return heddle_filter_load(a->c->device, files_path("whole"), &a->other);
}

static void faults_lose_nothing(const test_case *c)
{
    keys = keys_allocate(BATCH + FILLED);
    keys_fill(keys, BATCH + FILLED, KEYS_RANDOM, 32, 7);
    fail_each_allocation(c, "create", call_create);
    fail_each_allocation(c, "add", call_add);
    fail_each_allocation(c, "reading", call_read);
    fail_each_allocation(c, "save", call_save);
    heddle_filter *whole = filter_make(c, 32, 1000, 0, 0, 0);
    check_ok(heddle_filter_save(whole, files_path("whole"), NULL));
    fail_each_allocation(c, "load", call_load);
    heddle_filter_destroy(whole);
    free(keys);
    files_remove();
}

/* ------------------------------------------------------------------------------------ arguments */

static void refused(const test_case *c, heddle_filter_options options)
{
    heddle_filter *filter = (heddle_filter *)&options;
    check_status(heddle_filter_create(c->device, &options, &filter), HEDDLE_ERROR_INVALID);
    assert_null(filter);
}

static void options_are_checked(const test_case *c)
{
    heddle_filter_options good = HEDDLE_FILTER_OPTIONS_INIT, o;
    heddle_filter *filter = NULL;
    good.capacity = 1600;
    refused(c, (o = good, o.size = 4, o));
    refused(c, (o = good, o.capacity = 0, o));
    refused(c, (o = good, o.key_bits = 16, o));
    refused(c, (o = good, o.hashes = 17, o));
    refused(c, (o = good, o.flags = 2, o));
    refused(c, (o = good, o.bits_per_key = 0.5, o));
    refused(c, (o = good, o.bits_per_key = 513, o));
    refused(c, (o = good, o.bits_per_key = -16, o));
    o = good;
    o.capacity = UINT64_MAX;
    check_status(heddle_filter_create(c->device, &o, &filter), HEDDLE_ERROR_NO_MEMORY);
    check_status(heddle_filter_create(c->device, NULL, &filter), HEDDLE_ERROR_INVALID);
    check_status(heddle_filter_create(NULL, &good, &filter), HEDDLE_ERROR_INVALID);
    check_status(heddle_filter_create(c->device, &good, NULL), HEDDLE_ERROR_INVALID);
    check_ok(heddle_filter_create(c->device, &good, &filter));
    check_ok(heddle_filter_get_options(filter, &o));
    assert_int_equal(o.hashes, 8);
    assert_true(o.bits_per_key == 16 && o.seed != 0 && o.capacity == 1600);
    assert_ptr_equal(heddle_filter_device(filter), c->device);
    assert_null(heddle_filter_device(NULL));
    assert_true(filter_stats(filter).bits >= 25600);
    heddle_filter_destroy(filter);
    heddle_filter_destroy(NULL);
}

static void arguments_are_checked(const test_case *c)
{
    uint32_t some[2] = {1, 2};
    uint64_t count = 3, rows[2];
    heddle_filter_stats stats = HEDDLE_FILTER_STATS_INIT;
    heddle_filter *filter = filter_make(c, 32, 100, 0, 0, 1);
    char *odd = (char *)some + 1;
    check_status(heddle_filter_add(NULL, some, 2, NULL), HEDDLE_ERROR_INVALID);
    check_status(heddle_filter_add(filter, NULL, 2, NULL), HEDDLE_ERROR_INVALID);
    check_status(heddle_filter_add(filter, odd, 1, NULL), HEDDLE_ERROR_INVALID);
    check_ok(heddle_filter_add(filter, NULL, 0, NULL));
    check_status(heddle_filter_contains(NULL, some, 2, NULL, NULL, NULL), HEDDLE_ERROR_INVALID);
    check_status(heddle_filter_contains(filter, NULL, 2, NULL, &count, NULL), HEDDLE_ERROR_INVALID);
    check_ok(heddle_filter_contains(filter, NULL, 0, NULL, &count, NULL));
    assert_int_equal(count, 0);
    check_status(heddle_filter_select(filter, some, 2, NULL, rows, NULL, NULL),
                 HEDDLE_ERROR_INVALID);
    check_status(heddle_filter_select(filter, some, 1, odd, rows, &count, NULL),
                 HEDDLE_ERROR_INVALID);
    check_ok(heddle_filter_select(filter, NULL, 0, NULL, NULL, &count, NULL));
    check_status(heddle_filter_clear(NULL, NULL), HEDDLE_ERROR_INVALID);
    check_status(heddle_filter_validate(NULL, NULL), HEDDLE_ERROR_INVALID);
    stats.size = 1;
    check_status(heddle_filter_get_stats(filter, &stats, NULL), HEDDLE_ERROR_INVALID);
    check_status(heddle_filter_save(NULL, "x", NULL), HEDDLE_ERROR_INVALID);
    if (c->device->engine->host_memory)
        check_status(heddle_filter_add(filter, some, 2, some), HEDDLE_ERROR_INVALID);
    assert_int_equal(filter_stats(filter).keys_added, 0);
    heddle_filter_destroy(filter);
}

/* Typed calls refuse arrays of another width. */
static void widths_are_checked(const test_case *c)
{
    heddle_filter_options options = HEDDLE_FILTER_OPTIONS(uint64_t);
    heddle_filter *filter = NULL;
    uint32_t narrow[2] = {1, 2};
    int64_t wide[2] = {1, 2};
    uint64_t count = 0;
    options.capacity = 100;
    check_ok(heddle_filter_create(c->device, &options, &filter));
    check_status(heddle_filter_add_keys(NULL, wide, 2, NULL), HEDDLE_ERROR_INVALID);
    check_status(heddle_filter_add_keys(filter, narrow, 2, NULL), HEDDLE_ERROR_INVALID);
    assert_non_null(strstr(heddle_last_error(), "keys of 32 bits, the filter keys of 64"));
    check_status(heddle_filter_contains_keys(filter, narrow, 2, NULL, &count, NULL),
                 HEDDLE_ERROR_INVALID);
    check_status(heddle_filter_select_keys(filter, wide, 2, narrow, NULL, &count, NULL),
                 HEDDLE_ERROR_INVALID);
    check_ok(heddle_filter_add_keys(filter, wide, 2, NULL));
    check_ok(heddle_filter_select_keys(filter, wide, 2, (int64_t *)NULL, NULL, &count, NULL));
    assert_int_equal(count, 2);
    heddle_filter_destroy(filter);
}

/* Filters are merged only when a key has the same bits in both. */
static void merges_are_checked(const test_case *c)
{
    heddle_filter *filter = filter_make(c, 32, 100, 8, 0, 1);
    heddle_filter *others[] = {filter,
                               NULL,
                               filter_make(c, 64, 100, 8, 0, 1),
                               filter_make(c, 32, 100, 7, 0, 1),
                               filter_make(c, 32, 100, 8, 32, 1),
                               filter_make(c, 32, 100, 8, 0, 2)};
    for (uint32_t i = 0; i < 6; i++)
        check_status(heddle_filter_merge(filter, others[i], NULL), HEDDLE_ERROR_INVALID);
    check_status(heddle_filter_merge(NULL, filter, NULL), HEDDLE_ERROR_INVALID);
    for (uint32_t i = 2; i < 6; i++) heddle_filter_destroy(others[i]);
    heddle_filter_destroy(filter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OVER_DEVICES(faults_lose_nothing),   OVER_DEVICES(options_are_checked),
        OVER_DEVICES(arguments_are_checked), OVER_DEVICES(widths_are_checked),
        OVER_DEVICES(merges_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
