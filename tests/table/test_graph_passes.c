/*
 * test_graph_passes.c: multimaps made with less scratch memory than the pairs need. They go in passes,
 * which are counted, and hold what those made in one go hold; where even one range of regions does not
 * fit, the call says so and the table is as it was.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "support/arrays.h"
#include "support/keys.h"
#include "support/multi.h"
#include "table/graph/graph.h"

#define GUARD 256
#define GUARD_BYTE 0x5a
/* In more than 20 regions on every device, also in quick runs. */
#define PAIRS UINT64_C(300001)
#define REFUSED UINT64_C(200000)
#define SEED 99

/* A workspace of so many bytes, behind which nothing may be written. */
typedef struct space {
    heddle_device *device;
    void *memory;
    uint64_t bytes;
} space;

static space space_make(const test_case *c, uint64_t bytes)
{
    space s = {c->device, NULL, bytes};
    check_ok(heddle_memory_allocate(c->device, bytes + GUARD, &s.memory));
    check_ok(heddle_memory_fill(c->device, (char *)s.memory + bytes, GUARD_BYTE, GUARD, NULL));
    return s;
}

static void space_free(space *s)
{
    uint8_t guard[GUARD];
    check_ok(heddle_memory_copy(s->device, guard, (char *)s->memory + s->bytes, GUARD, NULL));
    check_ok(heddle_device_synchronize(s->device, NULL));
    for (int i = 0; i < GUARD; i++)
        check(guard[i] == GUARD_BYTE, "byte %d behind the workspace was written", i);
    check_ok(heddle_memory_free(s->device, s->memory));
}

/* 1 / share of the workspace that a build of n pairs asks for. */
static space space_share(const multi *m, uint64_t n, uint64_t share)
{
    uint64_t bytes = 0;
    check_ok(heddle_table_build_workspace(m->table, n, &bytes));
    check(bytes != 0, "no workspace is asked for");
    return space_make(m->c, bytes / share);
}

static uint64_t passes(const heddle_table *table) { return hd_graph_of(table)->passes; }

typedef struct material {
    uint64_t n, *keys, *values;
} material;

static material material_make(const multi *m, uint64_t n, key_set set)
{
    material x = {n, keys_allocate(n), keys_allocate(n)};
    keys_fill(x.keys, n, set, m->options.key_bits, n + (uint64_t)set);
    keys_fill_values(x.values, n, 5);
    return x;
}

static void material_free(material *x)
{
    free(x->keys);
    free(x->values);
}

/* The allocation of the next call that is refused; 0: none. The arrays of the test are not the call's. */
static uint64_t refused_at;

/* Pairs [first, first + n) of the material, with this workspace. The model follows a success. */
static heddle_status give(multi *m, const material *x, uint64_t first, uint64_t n, bool build,
                          const space *s)
{
    array k = array_of(m->c, ROLE_KEYS, x->keys + first, n, m->options.key_bits);
    array v = array_of(m->c, ROLE_VALUES, x->values + first, n, m->options.value_bits);
    heddle_insert_options options = HEDDLE_INSERT_OPTIONS_INIT;
    if (s != NULL) options.workspace = s->memory;
    if (s != NULL) options.workspace_bytes = s->bytes;
    if (refused_at != 0) hd_fault_arm(refused_at);
    const heddle_status status =
        build ? heddle_table_build(m->table, array_pointer(&k), array_pointer(&v), n, &options,
                                   NULL, NULL)
              : heddle_table_insert(m->table, array_pointer(&k), array_pointer(&v), n, &options,
                                    NULL, NULL);
    if (status == HEDDLE_OK) multi_model_add(m, x->keys + first, x->values + first, n, build);
    array_free(&k);
    array_free(&v);
    return status;
}

static bool is_multimap(const test_case *c)
{
    return c->graph->container == HEDDLE_CONTAINER_MULTIMAP;
}

/* ---------------------------------------------------------------------------------------- builds */

static void build_share(const test_case *c, const heddle_table_options *options, key_set set,
                        uint64_t n, uint64_t share)
{
    multi m = multi_create(c, options);
    material x = material_make(&m, n, set);
    space s = space_share(&m, n, share);
    case_note("%llu keys %s, workspace 1/%llu", (unsigned long long)n, keys_name(set),
              (unsigned long long)share);
    check_ok(give(&m, &x, 0, n, true, &s));
    check(share == 1 ? passes(m.table) == 1 : passes(m.table) >= share, "%llu passes",
          (unsigned long long)passes(m.table));
    multi_check(&m);
    multi_look(&m, x.keys, 1000);
    space_free(&s);
    multi_destroy(&m);
    material_free(&x);
}

static void builds(const test_case *c)
{
    heddle_table_options reserved = case_options(c);
    if (!is_multimap(c)) return;
    for (uint64_t i = 0; i < 4; i++) {
        const uint64_t shares[] = {1, 2, 5, 20};
        build_share(c, NULL, KEYS_TWICE, PAIRS, shares[i]);
        reserved.capacity = PAIRS; /* filled in place */
        build_share(c, &reserved, KEYS_RANDOM, PAIRS, shares[i]);
    }
    reserved.vertices = 4;
    build_share(c, &reserved, KEYS_TWICE, PAIRS, 5);
    build_share(c, NULL, KEYS_ZIPF, PAIRS, 2);
}

/* Few pairs: one region or two, where nothing can be divided. */
static void small_builds(const test_case *c)
{
    if (!is_multimap(c)) return;
    for (uint64_t n = 1; n < 2000; n = n * 3 + 1) {
        multi m = multi_create(c, NULL);
        material x = material_make(&m, n, KEYS_EDGES);
        uint64_t bytes = 0;
        check_ok(heddle_table_build_workspace(m.table, n, &bytes));
        for (uint64_t share = 1; share <= 64; share *= 2) {
            space s = space_make(c, bytes / share);
            case_note("%llu keys, 1/%llu", (unsigned long long)n, (unsigned long long)share);
            const heddle_status status = give(&m, &x, 0, n, true, &s);
            check(status == HEDDLE_OK || (share > 1 && status == HEDDLE_ERROR_NO_MEMORY), "%s",
                  heddle_last_error());
            multi_check(&m);
            space_free(&s);
        }
        multi_destroy(&m);
        material_free(&x);
    }
}

/* A region with wide rows among others, in a pass of its own and in one with others. */
static void crowded_builds(const test_case *c)
{
    multi m = multi_create(c, NULL);
    material x = material_make(&m, PAIRS + 100000, KEYS_RANDOM);
    if (is_multimap(c))
        for (uint64_t share = 2; share <= 4; share += 2) {
            space s = space_share(&m, x.n, share);
            for (uint64_t i = 0; i < 70000; i++) x.keys[4 * i] = x.keys[i < 5 ? 1 : 3];
            check_ok(give(&m, &x, 0, x.n, true, &s));
            check(passes(m.table) >= share, "%llu passes", (unsigned long long)passes(m.table));
            check(hd_graph_of(m.table)->storage.graph.wide_rows != 0, "no wide rows");
            multi_check(&m);
            multi_look(&m, x.keys, 3);
            space_free(&s);
        }
    multi_destroy(&m);
    material_free(&x);
}

/* ------------------------------------------------------------------------------------ insertions */

/* Half of the pairs are there, some erased; the others come with a share of the workspace. */
static void insert_share(const test_case *c, uint64_t capacity, bool erased, uint64_t share)
{
    heddle_table_options options = case_options(c);
    options.capacity = capacity;
    multi m = multi_create(c, &options);
    material x = material_make(&m, PAIRS, KEYS_TWICE);
    const uint64_t half = PAIRS / 2;
    check_ok(give(&m, &x, 0, half, false, NULL));
    if (erased) multi_erase(&m, x.keys, half / 3);
    space s = space_share(&m, PAIRS - half, share);
    case_note("insert, room for %llu, %s, workspace 1/%llu", (unsigned long long)capacity,
              erased ? "erased" : "whole", (unsigned long long)share);
    check_ok(give(&m, &x, half, PAIRS - half, false, &s));
    check(passes(m.table) >= share, "%llu passes", (unsigned long long)passes(m.table));
    multi_check(&m);
    multi_look(&m, x.keys + half, 1000);
    space_free(&s);
    multi_destroy(&m);
    material_free(&x);
}

static void insertions(const test_case *c)
{
    if (!is_multimap(c)) return;
    for (uint64_t share = 2; share <= 8; share += 3) {
        insert_share(c, 0, false, share); /* regions become more */
        insert_share(c, PAIRS, false, share);
    }
    insert_share(c, 0, true, 2);
    insert_share(c, PAIRS, true, 2);
}

/* A key whose pairs in the table and in the batch are few each, and together too many for a narrow row. */
static void crowded_insertions(const test_case *c)
{
    const uint64_t half = PAIRS / 2, hot = HD_NARROW_MAX / 2 + 1000;
    heddle_table_options options = case_options(c);
    options.capacity = PAIRS;
    if (!is_multimap(c)) return;
    multi m = multi_create(c, &options);
    material x = material_make(&m, PAIRS, KEYS_RANDOM);
    for (uint64_t i = 0; i < hot; i++) x.keys[i] = x.keys[half + i] = x.keys[PAIRS - 1];
    check_ok(give(&m, &x, 0, half, false, NULL));
    assert_int_equal(hd_graph_of(m.table)->storage.graph.wide_rows, 0);
    space s = space_share(&m, PAIRS - half, 2);
    check_ok(give(&m, &x, half, PAIRS - half, false, &s));
    check(passes(m.table) >= 2, "%llu passes", (unsigned long long)passes(m.table));
    assert_int_not_equal(hd_graph_of(m.table)->storage.graph.wide_rows, 0);
    multi_check(&m);
    multi_look(&m, x.keys + PAIRS - 3, 3);
    space_free(&s);
    multi_destroy(&m);
    material_free(&x);
}

/* ---------------------------------------------------------------------------------------- errors */

/* Nothing parts equal keys. The table keeps what it has. */
static void too_small(const test_case *c)
{
    multi m = multi_create(c, NULL);
    material x = material_make(&m, PAIRS, KEYS_EQUAL);
    material other = material_make(&m, 5000, KEYS_TWICE);
    if (is_multimap(c)) {
        space whole = space_share(&m, PAIRS, 1), half = space_share(&m, PAIRS, 2);
        space none = space_make(c, 256);
        check_ok(give(&m, &other, 0, other.n, true, NULL));
        check_status(give(&m, &x, 0, PAIRS, true, &half), HEDDLE_ERROR_NO_MEMORY);
        check(strstr(heddle_last_error(), "bytes") != NULL, "%s", heddle_last_error());
        multi_check(&m);
        check_status(give(&m, &x, 0, PAIRS, false, &half), HEDDLE_ERROR_NO_MEMORY);
        multi_check(&m);
        check_status(give(&m, &other, 0, 100, true, &none), HEDDLE_ERROR_NO_MEMORY);
        check(strstr(heddle_last_error(), "bytes") != NULL, "%s", heddle_last_error());
        multi_check(&m);
        check_ok(give(&m, &x, 0, PAIRS, true, &whole));
        check(passes(m.table) == 1, "%llu passes", (unsigned long long)passes(m.table));
        multi_check(&m);
        space_free(&whole);
        space_free(&half);
        space_free(&none);
    }
    multi_destroy(&m);
    material_free(&x);
    material_free(&other);
}

/* An empty table that is filled in place is empty again after a failure. */
static void too_small_in_place(const test_case *c)
{
    heddle_table_options options = case_options(c);
    options.capacity = PAIRS;
    multi m = multi_create(c, &options);
    material x = material_make(&m, PAIRS, KEYS_EQUAL);
    if (is_multimap(c)) {
        space half = space_share(&m, PAIRS, 2);
        check_status(give(&m, &x, 0, PAIRS, true, &half), HEDDLE_ERROR_NO_MEMORY);
        multi_check(&m);
        multi_look(&m, x.keys, 2);
        space_free(&half);
    }
    multi_destroy(&m);
    material_free(&x);
}

/* Sets and counters take memory of their own, whatever they are given. */
static void others_do_without(const test_case *c)
{
    multi m = multi_create(c, NULL);
    material x = material_make(&m, 20000, KEYS_TWICE);
    space s = space_make(c, 300);
    if (!is_multimap(c)) {
        uint64_t bytes = 1;
        check_ok(heddle_table_build_workspace(m.table, x.n, &bytes));
        assert_int_equal(bytes, 0);
        check_ok(give(&m, &x, 0, x.n / 2, true, &s));
        check_ok(give(&m, &x, x.n / 2, x.n / 2, false, &s));
        multi_check(&m);
    }
    space_free(&s);
    multi_destroy(&m);
    material_free(&x);
}

/* ----------------------------------------------------------------------------------------- order */

/* All pairs of a table as they come out: keys, then values where these are aligned. */
static array export_all(const multi *m)
{
    const uint64_t keys = (m->size * m->options.key_bits / 8 + 7) / 8 * 8;
    array all = array_poisoned(m->c, ROLE_KEYS, keys + m->size * m->options.value_bits / 8, 0);
    uint64_t count = 0;
    check_ok(heddle_table_export(m->table, array_pointer(&all), (char *)array_pointer(&all) + keys,
                                 m->size, &count, NULL));
    assert_int_equal(count, m->size);
    array_pull(&all);
    return all;
}

/* A table of the material: a third, then the rest, with a share of the workspace or without one. */
static multi make_thirds(const test_case *c, const material *x, uint32_t flags, uint64_t capacity,
                         uint64_t share)
{
    heddle_table_options options = case_options(c);
    options.flags = flags;
    options.seed = SEED;
    options.capacity = capacity;
    multi m = multi_create(c, &options);
    for (uint64_t i = 0; i < 2; i++) {
        const uint64_t first = i * (x->n / 3), n = i == 0 ? x->n / 3 : x->n - first;
        space s = share != 0 ? space_share(&m, n, share) : space_make(c, 0);
        check_ok(give(&m, x, first, n, false, share != 0 ? &s : NULL));
        check(share == 0 ? passes(m.table) == 1 : passes(m.table) >= share, "%llu passes",
              (unsigned long long)passes(m.table));
        space_free(&s);
    }
    return m;
}

static void check_same_order(const test_case *c, uint32_t flags, uint64_t capacity)
{
    material x = {PAIRS, keys_allocate(PAIRS), keys_allocate(PAIRS)};
    keys_fill(x.keys, PAIRS, KEYS_TWICE, c->graph->key_bits, 3);
    keys_fill_values(x.values, PAIRS, 3);
    for (uint64_t i = 0; i < PAIRS; i += 3)
        x.keys[i] = x.keys[i % 300 + 1]; /* some lists are long */
    multi whole = make_thirds(c, &x, flags, capacity, 0);
    multi parts = make_thirds(c, &x, flags, capacity, 4);
    array a = export_all(&whole), b = export_all(&parts);
    check(memcmp(a.host, b.host, a.bytes) == 0, "the order of pairs differs");
    multi_check(&parts);
    array_free(&a);
    array_free(&b);
    multi_destroy(&whole);
    multi_destroy(&parts);
    material_free(&x);
}

/* The same pairs in the same order, as made in one go. On the CPU that holds without the flag, too. */
static void order(const test_case *c)
{
    if (!is_multimap(c)) return;
    check_same_order(c, HEDDLE_FLAG_ORDERED, 0);
    check_same_order(c, HEDDLE_FLAG_ORDERED, PAIRS);
    if (!c->device->engine->host_memory) return;
    check_same_order(c, 0, 0);
    check_same_order(c, 0, PAIRS);
}

/* ---------------------------------------------------------------------------------------- memory */

/* A device that has no more than so many bytes at a time. */
static uint64_t memory_limit;
static const hd_engine *full_engine;

static heddle_status allocate_some(heddle_device *device, uint64_t bytes, void **memory)
{
    if (bytes > memory_limit) return hd_fail(HEDDLE_ERROR_NO_MEMORY, "beyond the test's limit");
    return full_engine->allocate(device, bytes, memory);
}

static void short_device(const test_case *c)
{
    heddle_table_options options = case_options(c);
    options.capacity = PAIRS;
    multi m = multi_create(c, &options);
    material x = material_make(&m, PAIRS, KEYS_TWICE);
    const uint64_t pair = hd_pair_bytes(m.options.key_bits, m.options.value_bits);
    hd_engine scarce = *c->device->engine;
    if (is_multimap(c)) {
        array k = array_of(c, ROLE_KEYS, x.keys, PAIRS, m.options.key_bits);
        array v = array_of(c, ROLE_VALUES, x.values, PAIRS, m.options.value_bits);
        const bool staged = c->arrays != ARRAYS_DEVICE && !scarce.host_memory;
        full_engine = c->device->engine;
        scarce.allocate = allocate_some;
        memory_limit = PAIRS * pair / 4;
        check_ok(heddle_device_trim(c->device));
        c->device->engine = &scarce;
        const heddle_status status = heddle_table_build(m.table, array_pointer(&k),
                                                        array_pointer(&v), PAIRS, NULL, NULL, NULL);
        c->device->engine = full_engine;
        check_ok(status);
        multi_model_add(&m, x.keys, x.values, PAIRS, true);
        check(passes(m.table) >= 4, "%llu passes", (unsigned long long)passes(m.table));
        check(hd_graph_of(m.table)->sliced == staged, "copies of host arrays, or slices");
        multi_check(&m);
        array_free(&k);
        array_free(&v);
    }
    multi_destroy(&m);
    material_free(&x);
}

/* Every allocation of a build or insertion in passes is refused once. */
static void refuse_each(const test_case *c, uint32_t flags, uint64_t capacity, bool erased,
                        bool bounded)
{
    bool struck = true;
    for (uint64_t i = 1; struck; i++) {
        heddle_table_options options = case_options(c);
        options.flags = flags;
        options.capacity = capacity;
        multi m = multi_create(c, &options);
        material x = material_make(&m, REFUSED, KEYS_TWICE);
        check_ok(give(&m, &x, 0, x.n / 2, true, NULL));
        if (erased) multi_erase(&m, x.keys, 100);
        space s = space_share(&m, x.n / 2, 2);
        case_note("allocation %llu", (unsigned long long)i);
        check(i < 1000, "there is no end of allocations");
        refused_at = i;
        const heddle_status status = give(&m, &x, x.n / 2, x.n / 2, false, bounded ? &s : NULL);
        struck = hd_fault_struck();
        hd_fault_arm(0);
        refused_at = 0;
        check(status == HEDDLE_OK || (struck && status == HEDDLE_ERROR_NO_MEMORY), "%s: %s",
              heddle_status_string(status), heddle_last_error());
        multi_check(&m);
        multi_look(&m, x.keys, 100);
        space_free(&s);
        multi_destroy(&m);
        material_free(&x);
    }
}

static void refusals(const test_case *c)
{
    if (!is_multimap(c)) return;
    refuse_each(c, 0, 0, true, true);
    refuse_each(c, 0, REFUSED, true, true);
    refuse_each(c, HEDDLE_FLAG_ORDERED, 0, false, true);
    refuse_each(c, HEDDLE_FLAG_ORDERED, REFUSED, true, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OVER_GRAPHS(builds),
        OVER_GRAPHS(small_builds),
        OVER_GRAPHS(crowded_builds),
        OVER_GRAPHS(insertions),
        OVER_GRAPHS(crowded_insertions),
        OVER_GRAPHS(too_small),
        OVER_GRAPHS(too_small_in_place),
        OVER_GRAPHS(others_do_without),
        OVER_GRAPHS(order),
        OVER_GRAPHS(short_device),
        OVER_FEW_GRAPHS(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
