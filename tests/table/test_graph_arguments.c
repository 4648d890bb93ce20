/*
 * test_graph_arguments.c: what hashgraphs take and refuse: containers, widths, options old and new,
 * policies, arrays. What is refused changes nothing.
 */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/arrays.h"
#include "support/keys.h"
#include "support/multi.h"

static void check_refused(heddle_status got, heddle_status expected, const char *what)
{
    check(got == expected, "%s gave \"%s\", not \"%s\"", what, heddle_status_string(got),
          heddle_status_string(expected));
    check(strlen(heddle_last_error()) >= 10, "%s: the reason is \"%s\"", what, heddle_last_error());
}

/* One way to ask for a table. */
typedef struct asking {
    uint32_t container, scheme, value_bits;
    heddle_status expected;
    uint32_t chosen_scheme, chosen_bits;
} asking;

static void containers(const test_case *c)
{
    enum {
        AUTO = HEDDLE_SCHEME_AUTO,
        CUCKOO = HEDDLE_SCHEME_CUCKOO,
        GRAPH = HEDDLE_SCHEME_HASHGRAPH,
        OPEN = HEDDLE_SCHEME_OPEN,
        MAP = HEDDLE_CONTAINER_MAP,
        SET = HEDDLE_CONTAINER_SET,
        MULTIMAP = HEDDLE_CONTAINER_MULTIMAP,
        COUNTER = HEDDLE_CONTAINER_COUNTER
    };
    static const asking askings[] = {
        {MULTIMAP, AUTO, 0, HEDDLE_OK, GRAPH, 32},
        {MULTIMAP, AUTO, 64, HEDDLE_OK, GRAPH, 64},
        {MULTIMAP, GRAPH, 32, HEDDLE_OK, GRAPH, 32},
        {COUNTER, AUTO, 0, HEDDLE_OK, CUCKOO, 32},
        {COUNTER, AUTO, 64, HEDDLE_OK, CUCKOO, 64},
        {COUNTER, GRAPH, 64, HEDDLE_OK, GRAPH, 64},
        {SET, GRAPH, 0, HEDDLE_OK, GRAPH, 0},
        {MAP, GRAPH, 32, HEDDLE_ERROR_UNSUPPORTED, 0, 0},
        {MULTIMAP, CUCKOO, 32, HEDDLE_ERROR_UNSUPPORTED, 0, 0},
        {MULTIMAP, OPEN, 32, HEDDLE_OK, OPEN, 32},
        {SET, GRAPH, 32, HEDDLE_ERROR_INVALID, 0, 0},
        {MULTIMAP, GRAPH, 16, HEDDLE_ERROR_INVALID, 0, 0},
    };
    for (size_t i = 0; i < sizeof askings / sizeof askings[0]; i++) {
        const asking *a = &askings[i];
        heddle_table_options o = HEDDLE_TABLE_OPTIONS_INIT;
        heddle_table *table = NULL;
        case_note("container %u, scheme %u, values of %u", a->container, a->scheme, a->value_bits);
        o.container = a->container;
        o.scheme = a->scheme;
        if (a->chosen_scheme == OPEN || a->chosen_scheme == CUCKOO)
            o.bucket = 8; /* a build of few instances has these */
        o.value_bits = a->value_bits;
        if (a->expected != HEDDLE_OK) {
            check_refused(heddle_table_create(c->device, &o, &table), a->expected, "create");
            assert_null(table);
            continue;
        }
        check_ok(heddle_table_create(c->device, &o, &table));
        check_ok(heddle_table_get_options(table, &o));
        assert_int_equal(o.scheme, a->chosen_scheme);
        assert_int_equal(o.value_bits, a->chosen_bits);
        assert_true(o.vertices == (o.scheme == GRAPH ? 1 : 0) && o.seed != 0);
        heddle_table_destroy(table);
    }
}

/* A counter is a hashgraph where it is asked for what only these have. */
static void counters_of_graphs(const test_case *c)
{
    for (int i = 0; i < 2; i++) {
        heddle_table_options o = HEDDLE_TABLE_OPTIONS_INIT;
        heddle_table *table = NULL;
        o.container = HEDDLE_CONTAINER_COUNTER;
        if (i == 0) o.vertices = 2;
        else o.flags = HEDDLE_FLAG_ORDERED;
        check_ok(heddle_table_create(c->device, &o, &table));
        check_ok(heddle_table_get_options(table, &o));
        assert_int_equal(o.scheme, HEDDLE_SCHEME_HASHGRAPH);
        assert_true(o.vertices == (i == 0 ? 2 : 1));
        heddle_table_destroy(table);
    }
}

static void check_option(const test_case *c, const heddle_table_options *o, heddle_status expected,
                         const char *what)
{
    heddle_table *table = NULL;
    check_refused(heddle_table_create(c->device, o, &table), expected, what);
    assert_null(table);
}

static void options(const test_case *c)
{
    const heddle_table_options usual = case_options(c);
    heddle_table_options o;
    static const double wrong[] = {0.1, 4.5, -1, (double)NAN, (double)INFINITY};
    for (int i = 0; i < 5; i++) {
        o = usual;
        o.vertices = wrong[i];
        check_option(c, &o, HEDDLE_ERROR_INVALID, "vertices");
    }
    o = usual, o.bucket = 8;
    check_option(c, &o, HEDDLE_ERROR_INVALID, "bucket");
    o = usual, o.hashes = 3;
    check_option(c, &o, HEDDLE_ERROR_INVALID, "hashes");
    o = usual, o.load = 0.5;
    check_option(c, &o, HEDDLE_ERROR_INVALID, "load");
    o = usual, o.flags = HEDDLE_FLAG_FIXED;
    check_option(c, &o, HEDDLE_ERROR_UNSUPPORTED, "fixed");
    o = usual, o.capacity = UINT64_MAX;
    check_option(c, &o, HEDDLE_ERROR_NO_MEMORY, "capacity");
    o = usual, o.scheme = HEDDLE_SCHEME_CUCKOO, o.container = HEDDLE_CONTAINER_SET,
    o.value_bits = 0, o.vertices = 1;
    check_option(c, &o, HEDDLE_ERROR_INVALID, "vertices of a cuckoo table");
}

/* Programs built before there were vertices hand over, and get, a smaller struct. */
static void older_options(const test_case *c)
{
    struct {
        heddle_table_options o;
        uint64_t guard;
    } given;
    const uint32_t size = offsetof(heddle_table_options, vertices);
    heddle_table *table = NULL;
    given.o = case_options(c);
    given.o.size = size;
    given.o.vertices = 99; /* not the program's memory: neither read nor written */
    check_ok(heddle_table_create(c->device, &given.o, &table));
    given.o.seed = 0;
    check_ok(heddle_table_get_options(table, &given.o));
    assert_int_equal(given.o.size, size);
    assert_true(given.o.seed != 0 && given.o.vertices == 99);
    given.o.size = sizeof given.o;
    check_ok(heddle_table_get_options(table, &given.o));
    assert_true(given.o.vertices == 1);
    given.o.size = size - 4;
    check_refused(heddle_table_get_options(table, &given.o), HEDDLE_ERROR_INVALID, "INIT");
    check_option(c, &given.o, HEDDLE_ERROR_INVALID, "size");
    given.o = case_options(c);
    given.o.size = sizeof given.o + 8;
    given.guard = 1;
    check_option(c, &given.o, HEDDLE_ERROR_UNSUPPORTED, "bytes");
    heddle_table_destroy(table);
}

static void names(const test_case *c)
{
    multi m = multi_create(c, NULL);
    char expected[64];
    const char *text = strrchr(c->graph->name, ' ');
    snprintf(expected, sizeof expected, "hashgraph_%s", text + 1);
    assert_string_equal(heddle_table_instance(m.table), expected);
    assert_ptr_equal(heddle_table_device(m.table), c->device);
    multi_destroy(&m);
}

/* Wrong arguments to every call; the table stays as it was. */
static void arguments(const test_case *c)
{
    uint64_t keys[8] = {1, 2, 3, 4, 5, 6, 7, 8}, values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    uint64_t numbers[16], count;
    multi m = multi_create(c, NULL);
    heddle_table *t = m.table;
    const bool is_set = m.options.container == HEDDLE_CONTAINER_SET;
    void *const v = is_set ? NULL : values;
    heddle_insert_options o = HEDDLE_INSERT_OPTIONS_INIT;
    void *const odd = (char *)keys + 1;
    const heddle_status invalid = HEDDLE_ERROR_INVALID;
    if (!c->device->engine->host_memory) {
        multi_destroy(&m);
        return;
    }
    multi_build(&m, keys, is_set ? NULL : values, 4);
    check_refused(heddle_table_build(NULL, keys, v, 4, NULL, NULL, NULL), invalid, "NULL");
    check_refused(heddle_table_build(t, NULL, v, 4, NULL, NULL, NULL), invalid, "no keys");
    check_refused(heddle_table_insert(t, odd, v, 4, NULL, NULL, NULL), invalid, "odd keys");
    check_refused(heddle_table_insert(t, keys, v, 4, NULL, NULL, keys), invalid, "stream");
    check_refused(heddle_table_insert(t, keys, v, UINT64_MAX / 8, NULL, NULL, NULL), invalid,
                  "too many");
    if (is_set)
        check_refused(heddle_table_insert(t, keys, values, 4, NULL, NULL, NULL), invalid, "values");
    if (m.options.container == HEDDLE_CONTAINER_MULTIMAP)
        check_refused(heddle_table_build(t, keys, NULL, 4, NULL, NULL, NULL), invalid, "no values");
    o.policy = HEDDLE_POLICY_MAX;
    if (!is_set)
        check_refused(heddle_table_insert(t, keys, v, 4, &o, NULL, NULL), invalid, "policy");
    o.policy = 9;
    check_refused(heddle_table_insert(t, keys, v, 4, &o, NULL, NULL), invalid, "policy 9");
    o.policy = HEDDLE_POLICY_KEEP, o.size = 3;
    check_refused(heddle_table_build(t, keys, v, 4, &o, NULL, NULL), invalid, "size");
    check_refused(heddle_table_count(t, keys, 4, NULL, NULL, NULL), invalid, "no matches");
    check_refused(heddle_table_count(t, keys, 4, odd, NULL, NULL), invalid, "odd matches");
    check_refused(heddle_table_count(NULL, keys, 4, numbers, NULL, NULL), invalid, "NULL");
    check_refused(heddle_table_retrieve(t, keys, 4, NULL, values, 8, &count, NULL), invalid,
                  "no offsets");
    check_refused(heddle_table_retrieve(t, keys, 4, numbers, values, 8, NULL, NULL), invalid,
                  "no count");
    check_refused(heddle_table_retrieve(t, NULL, 4, numbers, values, 8, &count, NULL), invalid,
                  "no keys");
    if (is_set) {
        check_refused(heddle_table_retrieve(t, keys, 4, numbers, NULL, 0, &count, NULL), invalid,
                      "retrieve from a set");
        check_refused(heddle_table_find(t, keys, 4, values, NULL, NULL, NULL), invalid,
                      "find in a set");
    }
    check_refused(heddle_table_export(t, numbers, is_set ? NULL : values, 2, &count, NULL),
                  HEDDLE_ERROR_TOO_SMALL, "export");
    assert_int_equal(count, 4);
    check_refused(heddle_table_reserve(t, UINT64_MAX, NULL), HEDDLE_ERROR_NO_MEMORY, "reserve");
    check_refused(heddle_table_rehash(t, UINT64_MAX, NULL), HEDDLE_ERROR_NO_MEMORY, "rehash");
    multi_check(&m);
    multi_destroy(&m);
}

/* What a build says it can use, it uses; with less it takes memory of its own. */
static void workspaces(const test_case *c)
{
    const uint64_t n = 50000;
    uint64_t *keys = keys_allocate(n), *values = keys_allocate(n), bytes = 0;
    heddle_insert_options o = HEDDLE_INSERT_OPTIONS_INIT;
    multi m = multi_create(c, NULL);
    const uint32_t kb = m.options.key_bits, vb = m.options.value_bits;
    keys_fill(keys, n, KEYS_TWICE, kb, 1);
    keys_fill_values(values, n, 1);
    check_ok(heddle_table_build_workspace(m.table, n, &bytes));
    check_refused(heddle_table_build_workspace(m.table, n, NULL), HEDDLE_ERROR_INVALID, "NULL");
    check_refused(heddle_table_build_workspace(m.table, UINT64_MAX, &bytes), HEDDLE_ERROR_NO_MEMORY,
                  "too many");
    if (m.options.container != HEDDLE_CONTAINER_MULTIMAP) assert_int_equal(bytes, 0);
    else assert_true(bytes >= n * (kb + vb) / 8);
    for (int part = 0; bytes != 0 && part < 2; part++) {
        array k = array_of(c, ROLE_KEYS, keys, n, kb), v = array_of(c, ROLE_VALUES, values, n, vb);
        o.workspace_bytes = part == 0 ? bytes : bytes / 2;
        check_ok(heddle_memory_allocate(c->device, o.workspace_bytes, &o.workspace));
        check_ok(
            heddle_table_build(m.table, array_pointer(&k), array_pointer(&v), n, &o, NULL, NULL));
        check_ok(heddle_memory_free(c->device, o.workspace));
        multi_model_add(&m, keys, values, n, true);
        multi_check(&m);
        array_free(&k);
        array_free(&v);
    }
    multi_destroy(&m);
    free(keys);
    free(values);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OVER_FEW_GRAPHS(containers), OVER_FEW_GRAPHS(counters_of_graphs),
        OVER_GRAPHS(options),        OVER_GRAPHS(older_options),
        OVER_GRAPHS(names),          OVER_GRAPHS(arguments),
        OVER_GRAPHS(workspaces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
