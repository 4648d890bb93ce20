/*
 * test_arguments.c: arguments that are wrong. Each is refused with the right status and a sentence,
 * and the table that was asked is as it was before.
 */
#define HEDDLE_UNSTABLE
#include <heddle/unstable.h>

#include <stdlib.h>
#include <string.h>

#include "model/device_view.h"
#include "support/arrays.h"
#include "support/checked.h"
#include "support/keys.h"
#include "support/multi.h"

#define refused(call, expected) check_refused((call), (expected), #call, __LINE__)
#define invalid(call) refused(call, HEDDLE_ERROR_INVALID)

static void check_refused(heddle_status got, heddle_status expected, const char *call, int line)
{
    const char *reason = heddle_last_error();
    case_check_status(got, expected, call, __FILE__, line);
    check(strlen(reason) >= 10 && strchr(reason, '\n') == NULL, "%s: the reason is \"%s\"", call,
          reason);
}

#define N 10

/* A table with ten keys, and arrays fit for every call on it. */
typedef struct bench {
    checked t;
    array keys;
    array values;
    array flags;
    uint64_t count;
    heddle_totals totals;
} bench;

static bench bench_create(const test_case *c)
{
    uint64_t numbers[N];
    bench b = {.t = checked_create(c, NULL), .totals = HEDDLE_TOTALS_INIT};
    keys_fill(numbers, N, KEYS_EDGES, b.t.options.key_bits, 0);
    checked_insert(&b.t, numbers, numbers, N, HEDDLE_POLICY_KEEP);
    b.keys = array_of(c, ROLE_KEYS, numbers, N, b.t.options.key_bits);
    b.values = array_of(c, ROLE_VALUES, numbers, N, b.t.options.value_bits);
    b.flags = array_poisoned(c, ROLE_FLAGS, N, 0);
    return b;
}

static void bench_destroy(bench *b)
{
    checked_all(&b->t); /* nothing was changed */
    array_free(&b->keys);
    array_free(&b->values);
    array_free(&b->flags);
    checked_destroy(&b->t);
}

static void *off_by_one(const array *a) { return (char *)array_pointer(a) + 1; }

static void null_tables(const test_case *c)
{
    bench b = bench_create(c);
    heddle_table_stats stats = HEDDLE_TABLE_STATS_INIT;
    heddle_table_options options = HEDDLE_TABLE_OPTIONS_INIT;
    void *keys = array_pointer(&b.keys);
    void *values = array_pointer(&b.values);
    invalid(heddle_table_insert(NULL, keys, values, N, NULL, NULL, NULL));
    invalid(heddle_table_build(NULL, keys, values, N, NULL, NULL, NULL));
    invalid(heddle_table_find(NULL, keys, N, values, NULL, NULL, NULL));
    invalid(heddle_table_contains(NULL, keys, N, NULL, NULL, NULL));
    invalid(heddle_table_erase(NULL, keys, N, NULL, NULL, NULL));
    invalid(heddle_table_export(NULL, keys, NULL, N, &b.count, NULL));
    invalid(heddle_table_clear(NULL, NULL));
    invalid(heddle_table_size(NULL, &b.count, NULL));
    invalid(heddle_table_reserve(NULL, N, NULL));
    invalid(heddle_table_rehash(NULL, N, NULL));
    invalid(heddle_table_take_totals(NULL, &b.totals, NULL));
    invalid(heddle_table_get_stats(NULL, &stats, NULL));
    invalid(heddle_table_validate(NULL, NULL));
    invalid(heddle_table_save(NULL, "/tmp/never", NULL));
    invalid(heddle_table_get_options(NULL, &options));
    heddle_table_destroy(NULL);
    bench_destroy(&b);
}

/* Places for results that must be there. */
static void null_results(const test_case *c)
{
    bench b = bench_create(c);
    heddle_table *table = NULL;
    invalid(heddle_table_size(b.t.table, NULL, NULL));
    invalid(heddle_table_take_totals(b.t.table, NULL, NULL));
    invalid(heddle_table_get_stats(b.t.table, NULL, NULL));
    invalid(heddle_table_get_options(b.t.table, NULL));
    invalid(heddle_table_export(b.t.table, array_pointer(&b.keys), NULL, N, NULL, NULL));
    invalid(heddle_table_save(b.t.table, NULL, NULL));
    invalid(heddle_table_create(c->device, NULL, NULL));
    invalid(heddle_table_create(NULL, NULL, &table));
    invalid(heddle_table_load(c->device, NULL, NULL, &table));
    invalid(heddle_table_load(c->device, "/tmp/never", NULL, NULL));
    invalid(heddle_table_load(NULL, "/tmp/never", NULL, &table));
    assert_null(table);
    bench_destroy(&b);
}

static void null_and_misaligned_arrays(const test_case *c)
{
    bench b = bench_create(c);
    heddle_table *table = b.t.table;
    void *keys = array_pointer(&b.keys);
    void *values = array_pointer(&b.values);
    void *bad = off_by_one(&b.keys);
    invalid(heddle_table_insert(table, NULL, values, N, NULL, NULL, NULL));
    invalid(heddle_table_build(table, NULL, values, N, NULL, NULL, NULL));
    invalid(heddle_table_contains(table, NULL, N, NULL, NULL, NULL));
    invalid(heddle_table_erase(table, NULL, N, NULL, NULL, NULL));
    invalid(heddle_table_export(table, NULL, NULL, N, &b.count, NULL));
    invalid(heddle_table_insert(table, bad, values, N - 1, NULL, NULL, NULL));
    invalid(heddle_table_build(table, bad, values, N - 1, NULL, NULL, NULL));
    invalid(heddle_table_contains(table, bad, N - 1, NULL, NULL, NULL));
    invalid(heddle_table_erase(table, bad, N - 1, NULL, NULL, NULL));
    invalid(heddle_table_export(table, bad, NULL, N, &b.count, NULL));
    if (case_is_map(c)) {
        void *bad_values = off_by_one(&b.values);
        invalid(heddle_table_insert(table, keys, NULL, N, NULL, NULL, NULL));
        invalid(heddle_table_build(table, keys, NULL, N, NULL, NULL, NULL));
        invalid(heddle_table_find(table, keys, N, NULL, NULL, NULL, NULL));
        invalid(heddle_table_find(table, NULL, N, values, NULL, NULL, NULL));
        invalid(heddle_table_insert(table, keys, bad_values, N - 1, NULL, NULL, NULL));
        invalid(heddle_table_find(table, keys, N - 1, bad_values, NULL, NULL, NULL));
        invalid(heddle_table_export(table, keys, bad_values, N, &b.count, NULL));
    }
    invalid(heddle_table_contains(table, keys, UINT64_MAX, NULL, NULL, NULL));
    invalid(heddle_table_insert(table, keys, values, UINT64_MAX, NULL, NULL, NULL));
    bench_destroy(&b);
}

/* n = 0 needs no arrays, and does nothing. */
static void nothing_to_do(const test_case *c)
{
    bench b = bench_create(c);
    heddle_table *table = b.t.table;
    const heddle_totals nothing = HEDDLE_TOTALS_INIT;
    check_ok(heddle_table_insert(table, NULL, NULL, 0, NULL, &b.totals, NULL));
    assert_memory_equal(&b.totals, &nothing, sizeof nothing);
    check_ok(heddle_table_contains(table, NULL, 0, NULL, &b.totals, NULL));
    assert_memory_equal(&b.totals, &nothing, sizeof nothing);
    check_ok(heddle_table_erase(table, NULL, 0, NULL, &b.totals, NULL));
    assert_memory_equal(&b.totals, &nothing, sizeof nothing);
    if (case_is_map(c)) check_ok(heddle_table_find(table, NULL, 0, NULL, NULL, &b.totals, NULL));
    bench_destroy(&b);
}

/* A set has no values to give or take. */
static void sets_with_values(const test_case *c)
{
    bench b = bench_create(c);
    void *keys = array_pointer(&b.keys);
    if (!case_is_map(c)) {
        uint64_t values[N] = {0};
        invalid(heddle_table_insert(b.t.table, keys, values, N, NULL, NULL, NULL));
        invalid(heddle_table_build(b.t.table, keys, values, N, NULL, NULL, NULL));
        invalid(heddle_table_find(b.t.table, keys, N, values, NULL, NULL, NULL));
        invalid(heddle_table_export(b.t.table, keys, values, N, &b.count, NULL));
    }
    bench_destroy(&b);
}

static void streams_on_the_cpu(const test_case *c)
{
    int stream = 0; /* any address will do: it is refused before it is looked at */
    if (!c->device->engine->host_memory) return;
    bench b = bench_create(c);
    heddle_table *table = b.t.table;
    heddle_table_stats stats = HEDDLE_TABLE_STATS_INIT;
    void *keys = array_pointer(&b.keys);
    void *values = array_pointer(&b.values);
    invalid(heddle_table_insert(table, keys, values, N, NULL, NULL, &stream));
    invalid(heddle_table_build(table, keys, values, N, NULL, NULL, &stream));
    if (case_is_map(c)) invalid(heddle_table_find(table, keys, N, values, NULL, NULL, &stream));
    invalid(heddle_table_contains(table, keys, N, NULL, NULL, &stream));
    invalid(heddle_table_erase(table, keys, N, NULL, NULL, &stream));
    invalid(heddle_table_export(table, keys, NULL, N, &b.count, &stream));
    invalid(heddle_table_clear(table, &stream));
    invalid(heddle_table_size(table, &b.count, &stream));
    invalid(heddle_table_reserve(table, 1000, &stream));
    invalid(heddle_table_rehash(table, 1000, &stream));
    invalid(heddle_table_take_totals(table, &b.totals, &stream));
    invalid(heddle_table_get_stats(table, &stats, &stream));
    invalid(heddle_table_validate(table, &stream));
    invalid(heddle_table_save(table, "/tmp/never", &stream));
    invalid(heddle_device_synchronize(c->device, &stream));
    invalid(heddle_memory_copy(c->device, keys, keys, 1, &stream));
    invalid(heddle_memory_fill(c->device, keys, 0, 1, &stream));
    bench_destroy(&b);
}

/* Structs of a size that this library does not know. */
static void struct_sizes(const test_case *c)
{
    bench b = bench_create(c);
    const uint32_t wrong[] = {0, 1, 4, UINT32_MAX};
    for (uint32_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        heddle_table *table = NULL;
        heddle_table_options options = case_options(c);
        heddle_table_stats stats = HEDDLE_TABLE_STATS_INIT;
        heddle_device_info info = HEDDLE_DEVICE_INFO_INIT;
        heddle_insert_options insert = HEDDLE_INSERT_OPTIONS_INIT;
        heddle_totals totals = HEDDLE_TOTALS_INIT;
        case_note("size %u", wrong[i]);
        options.size = stats.size = info.size = insert.size = totals.size = wrong[i];
        invalid(heddle_table_create(c->device, &options, &table));
        assert_null(table);
        invalid(heddle_table_get_options(b.t.table, &options));
        invalid(heddle_table_get_stats(b.t.table, &stats, NULL));
        invalid(heddle_device_get_info(c->device, &info));
        invalid(heddle_table_contains(b.t.table, array_pointer(&b.keys), N, NULL, &totals, NULL));
        invalid(heddle_table_take_totals(b.t.table, &totals, NULL));
        invalid(heddle_table_insert(b.t.table, array_pointer(&b.keys), array_pointer(&b.values), N,
                                    &insert, NULL, NULL));
        invalid(heddle_table_build(b.t.table, array_pointer(&b.keys), array_pointer(&b.values), N,
                                   &insert, NULL, NULL));
    }
    bench_destroy(&b);
}

/* Arrays of another width than the table's: refused by what typed.h asks first. */
static void typed_widths(const test_case *c)
{
    bench b = bench_create(c);
    heddle_table *t = b.t.table;
    const uint32_t key_bits = b.t.options.key_bits, value_bits = b.t.options.value_bits;
    uint64_t size = 0;
    check_ok(heddle_table_check_widths(t, key_bits, 0));
    check_ok(heddle_table_check_widths(t, key_bits, value_bits));
    invalid(heddle_table_check_widths(NULL, key_bits, value_bits));
    invalid(heddle_table_check_widths(t, 96 - key_bits, 0));
    if (value_bits != 0) invalid(heddle_table_check_widths(t, key_bits, 96 - value_bits));
    if (key_bits == 64) {
        uint32_t narrow[N] = {0};
        invalid(heddle_set_contains(t, narrow, N, NULL, NULL, NULL));
        invalid(heddle_set_erase(t, narrow, N, NULL, NULL, NULL));
        invalid(heddle_map_insert(t, narrow, narrow, N, NULL, NULL, NULL));
    } else {
        uint64_t wide[N] = {0};
        invalid(heddle_set_contains(t, wide, N, NULL, NULL, NULL));
        invalid(heddle_set_export(t, wide, N, &size, NULL));
        invalid(heddle_map_find(t, wide, N, wide, NULL, NULL, NULL));
        check(strstr(heddle_last_error(), "64") != NULL, "%s", heddle_last_error());
    }
    bench_destroy(&b);
}

static void insert_options(const test_case *c)
{
    bench b = bench_create(c);
    uint64_t failed[3] = {0};
    heddle_insert_options options = HEDDLE_INSERT_OPTIONS_INIT;
    void *keys = array_pointer(&b.keys);
    void *values = array_pointer(&b.values);
    options.policy = HEDDLE_POLICY_MAX + 1;
    invalid(heddle_table_insert(b.t.table, keys, values, N, &options, NULL, NULL));
    options.policy = UINT32_MAX;
    invalid(heddle_table_build(b.t.table, keys, values, N, &options, NULL, NULL));
    options.policy = HEDDLE_POLICY_KEEP;
    options.failed_capacity = 2;
    invalid(heddle_table_insert(b.t.table, keys, values, N, &options, NULL, NULL));
    options.failed = (uint64_t *)(void *)((char *)failed + 4);
    invalid(heddle_table_insert(b.t.table, keys, values, N, &options, NULL, NULL));
    bench_destroy(&b);
}

static void workspaces(const test_case *c)
{
    bench b = bench_create(c);
    heddle_insert_options options = HEDDLE_INSERT_OPTIONS_INIT;
    void *keys = array_pointer(&b.keys);
    void *values = array_pointer(&b.values), *memory = NULL;
    static _Alignas(HEDDLE_WORKSPACE_ALIGNMENT) char host[HEDDLE_WORKSPACE_ALIGNMENT];
    check_ok(heddle_memory_allocate(c->device, 4 * HEDDLE_WORKSPACE_ALIGNMENT, &memory));
    options.workspace_bytes = 1;
    invalid(heddle_table_build(b.t.table, keys, values, N, &options, NULL, NULL));
    options.workspace = (char *)memory + 8;
    invalid(heddle_table_build(b.t.table, keys, values, N, &options, NULL, NULL));
    options.workspace = host;
    options.workspace_bytes = sizeof host;
    if (c->device->engine->host_memory)
        check_ok(heddle_table_build(b.t.table, keys, values, N, &options, NULL, NULL));
    else invalid(heddle_table_build(b.t.table, keys, values, N, &options, NULL, NULL));
    options.workspace = memory;
    check_ok(heddle_table_build(b.t.table, keys, values, N, &options, NULL, NULL));
    check_ok(heddle_memory_free(c->device, memory));
    bench_destroy(&b);
}

/* A view of another size or of another table is none, nor is one that no kernel could use. */
static void views(const test_case *c)
{
    bench b = bench_create(c);
    hd_device_view view, untouched;
    const heddle_table_options *o = &b.t.options;
    memset(&view, 0xa5, sizeof view);
    untouched = view;
    invalid(heddle_table_get_view(NULL, o->scheme, o->key_bits, o->value_bits, o->bucket, &view,
                                  sizeof view));
    invalid(heddle_table_get_view(b.t.table, o->scheme, o->key_bits, o->value_bits, o->bucket, NULL,
                                  sizeof view));
    invalid(heddle_table_get_view(b.t.table, o->scheme, o->key_bits, o->value_bits, o->bucket,
                                  &view, sizeof view - 8));
    if (c->device->engine->host_memory) {
        refused(heddle_table_get_view(b.t.table, o->scheme, o->key_bits, o->value_bits, o->bucket,
                                      &view, sizeof view),
                HEDDLE_ERROR_UNSUPPORTED);
    } else {
        invalid(heddle_table_get_view(b.t.table, o->scheme, 96 - o->key_bits, o->value_bits,
                                      o->bucket, &view, sizeof view));
        invalid(heddle_table_get_view(b.t.table, o->scheme, o->key_bits, o->value_bits,
                                      2 * o->bucket, &view, sizeof view));
        assert_memory_equal(&view, &untouched, sizeof view);
        check_ok(heddle_table_get_view(b.t.table, o->scheme, o->key_bits, o->value_bits, o->bucket,
                                       &view, sizeof view));
        assert_memory_not_equal(&view, &untouched, sizeof view);
        view = untouched;
    }
    assert_memory_equal(&view, &untouched, sizeof view);
    bench_destroy(&b);
}

/* The same of what is no map or set: which of them kernels can use, and by which name. */
static void views_of_multimaps(const test_case *c)
{
    const heddle_table_options wanted = case_options(c);
    multi m = multi_create(c, &wanted);
    union {
        hd_device_view slots;
        hd_device_lists lists;
        hd_device_slabs slabs;
    } view, untouched;
    heddle_table_options o = HEDDLE_TABLE_OPTIONS_INIT;
    check_ok(heddle_table_get_options(m.table, &o));
    const uint64_t bytes = o.scheme == HEDDLE_SCHEME_BUCKET_LIST ? sizeof(hd_device_lists)
                           : o.scheme == HEDDLE_SCHEME_SLAB      ? sizeof(hd_device_slabs)
                                                                 : sizeof(hd_device_view);
    const bool many = o.container == HEDDLE_CONTAINER_MULTIMAP &&
                      (o.scheme == HEDDLE_SCHEME_OPEN || o.scheme == HEDDLE_SCHEME_SLAB);
    const uint32_t named = o.scheme | (many ? HEDDLE_VIEW_MULTIMAP : 0);
    memset(&view, 0xa5, sizeof view);
    untouched = view;
    invalid(heddle_table_get_view(m.table, named, o.key_bits, o.value_bits, o.bucket, &view,
                                  bytes - 8));
    if (c->device->engine->host_memory || o.scheme == HEDDLE_SCHEME_HASHGRAPH) {
        refused(
            heddle_table_get_view(m.table, named, o.key_bits, o.value_bits, o.bucket, &view, bytes),
            HEDDLE_ERROR_UNSUPPORTED);
        assert_memory_equal(&view, &untouched, sizeof view);
    } else {
        const uint32_t other =
            named == HEDDLE_SCHEME_OPEN ? named | HEDDLE_VIEW_MULTIMAP : HEDDLE_SCHEME_OPEN;
        invalid(heddle_table_get_view(m.table, other, o.key_bits, o.value_bits, o.bucket, &view,
                                      sizeof(hd_device_view)));
        invalid(heddle_table_get_view(m.table, named, o.key_bits, 96 - o.value_bits, o.bucket,
                                      &view, bytes));
        invalid(heddle_table_get_view(m.table, named, o.key_bits, o.value_bits, 2 * o.bucket, &view,
                                      bytes));
        assert_memory_equal(&view, &untouched, sizeof view);
        check_ok(heddle_table_get_view(m.table, named, o.key_bits, o.value_bits, o.bucket, &view,
                                       bytes));
        assert_memory_not_equal(&view, &untouched, sizeof view);
        check_ok(heddle_table_validate(m.table, NULL));
    }
    multi_destroy(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OVER_TABLES(null_tables),
        OVER_WIDTHS(null_results),
        OVER_TABLES(null_and_misaligned_arrays),
        OVER_TABLES(nothing_to_do),
        OVER_TABLES(sets_with_values),
        OVER_TABLES(streams_on_the_cpu),
        OVER_WIDTHS(struct_sizes),
        OVER_WIDTHS(typed_widths),
        OVER_WIDTHS(insert_options),
        OVER_WIDTHS(workspaces),
        OVER_INSTANCES(views),
        OVER_MULTIS(views_of_multimaps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
