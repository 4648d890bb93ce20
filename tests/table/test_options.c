/*
 * test_options.c: what can be asked for when a device is opened and a table is made: names, options
 * that are filled in, options that are impossible; versions and status texts.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support/cases.h"
#include "table/making.h"

static void check_refused(heddle_status got, heddle_status expected, const char *what)
{
    check(got == expected, "%s gave \"%s\", not \"%s\"", what, heddle_status_string(got),
          heddle_status_string(expected));
    check(strlen(heddle_last_error()) >= 10, "%s: the reason is \"%s\"", what, heddle_last_error());
}

static void versions_agree(void **state)
{
    char text[32];
    (void)state;
    assert_int_equal(heddle_version(), HEDDLE_VERSION_MAJOR * 1000000 +
                                           HEDDLE_VERSION_MINOR * 1000 + HEDDLE_VERSION_PATCH);
    snprintf(text, sizeof text, "%d.%d.%d", HEDDLE_VERSION_MAJOR, HEDDLE_VERSION_MINOR,
             HEDDLE_VERSION_PATCH);
    assert_string_equal(heddle_version_string(), text);
    assert_string_equal(heddle_version_string(), HEDDLE_VERSION_STRING);
    assert_int_equal(heddle_abi_version(), HEDDLE_ABI_VERSION);
}

/* Every status has a text of its own; unknown ones have one too. */
static void status_texts(void **state)
{
    (void)state;
    static const heddle_status all[] = {HEDDLE_OK,
                                        HEDDLE_ERROR_INVALID,
                                        HEDDLE_ERROR_UNSUPPORTED,
                                        HEDDLE_ERROR_TOO_SMALL,
                                        HEDDLE_ERROR_CANCELLED,
                                        HEDDLE_ERROR_NO_MEMORY,
                                        HEDDLE_ERROR_FULL,
                                        HEDDLE_ERROR_NO_DEVICE,
                                        HEDDLE_ERROR_DEVICE,
                                        HEDDLE_ERROR_PEER,
                                        HEDDLE_ERROR_IO,
                                        HEDDLE_ERROR_FORMAT,
                                        HEDDLE_ERROR_CORRUPT};
    for (uint32_t a = 0; a < sizeof all / sizeof *all; a++) {
        assert_true(strlen(heddle_status_string(all[a])) > 0);
        for (uint32_t b = 0; b < a; b++)
            assert_string_not_equal(heddle_status_string(all[a]), heddle_status_string(all[b]));
        assert_string_not_equal(heddle_status_string(all[a]), heddle_status_string(-1));
    }
    assert_true(strlen(heddle_status_string(-1)) > 0);
    assert_string_equal(heddle_status_string(-1), heddle_status_string(12345));
}

static void device_names(void **state)
{
    static const char *const senseless[] = {
        "",       "gpu",     "CPU",    "cpu:", "cpu:0",           "cpu:-1",
        "cpu:x",  "cpu:4x",  "cpu 4",  "cpuu", "cuda:",           "cuda:-1",
        "cuda:x", "cuda:0x", "auto:1", " cpu", "cpu:99999999999", "cpu:1000000"};
    heddle_device *device = NULL;
    (void)state;
    for (uint32_t i = 0; i < sizeof senseless / sizeof *senseless; i++) {
        check_refused(heddle_device_open(senseless[i], &device), HEDDLE_ERROR_INVALID,
                      senseless[i]);
        assert_null(device);
    }
    check_refused(heddle_device_open("cuda:999", &device), HEDDLE_ERROR_NO_DEVICE, "cuda:999");
    assert_null(device);
    check_refused(heddle_device_open(NULL, &device), HEDDLE_ERROR_INVALID, "NULL");
    check_refused(heddle_device_open("cpu", NULL), HEDDLE_ERROR_INVALID, "no place");
    heddle_device_close(NULL);
    if (heddle_cuda_device_count() == 0)
        check_refused(heddle_device_open("cuda", &device), HEDDLE_ERROR_NO_DEVICE, "cuda");
    else assert_int_equal(heddle_cuda_is_built(), 1);
}

static void device_info(void **state)
{
    static const char *const names[] = {"auto", "cpu", "cpu:1", "cpu:3"};
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        heddle_device *device = NULL;
        heddle_device_info info = HEDDLE_DEVICE_INFO_INIT;
        check_ok(heddle_device_open(names[i], &device));
        check_ok(heddle_device_get_info(device, &info));
        assert_true(info.kind == HEDDLE_DEVICE_CPU || (i == 0 && info.kind == HEDDLE_DEVICE_CUDA));
        assert_true(info.threads >= 1);
        assert_true(info.memory_total > 0 && info.memory_free <= info.memory_total);
        assert_true(strlen(info.name) > 0 && strlen(info.features) > 0);
        if (i >= 2) assert_int_equal(info.threads, i == 2 ? 1 : 3);
        check_ok(heddle_device_synchronize(device, NULL));
        check_refused(heddle_device_get_info(device, NULL), HEDDLE_ERROR_INVALID, "info NULL");
        check_refused(heddle_device_get_info(NULL, &info), HEDDLE_ERROR_INVALID, "device NULL");
        heddle_device_close(device);
    }
}

static void memory_calls(const test_case *c)
{
    uint8_t bytes[1000], back[1000];
    void *memory = NULL;
    for (uint32_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)(i * 7);
    check_ok(heddle_memory_allocate(c->device, sizeof bytes, &memory));
    assert_int_equal((uintptr_t)memory % 256, 0);
    check_ok(heddle_memory_copy(c->device, memory, bytes, sizeof bytes, NULL));
    check_ok(heddle_memory_fill(c->device, (char *)memory + 10, 0xaa, 20, NULL));
    check_ok(heddle_memory_copy(c->device, back, memory, sizeof back, NULL));
    check_ok(heddle_device_synchronize(c->device, NULL));
    memset(bytes + 10, 0xaa, 20);
    assert_memory_equal(back, bytes, sizeof back);
    check_refused(heddle_memory_allocate(NULL, 1, &memory), HEDDLE_ERROR_INVALID, "device NULL");
    check_refused(heddle_memory_allocate(c->device, 1, NULL), HEDDLE_ERROR_INVALID, "no place");
    check_refused(heddle_memory_copy(c->device, NULL, bytes, 1, NULL), HEDDLE_ERROR_INVALID,
                  "copy to NULL");
    check_refused(heddle_memory_copy(c->device, memory, NULL, 1, NULL), HEDDLE_ERROR_INVALID,
                  "copy from NULL");
    check_refused(heddle_memory_fill(c->device, NULL, 0, 1, NULL), HEDDLE_ERROR_INVALID,
                  "fill NULL");
    check_ok(heddle_memory_free(c->device, memory));
    check_ok(heddle_memory_free(c->device, NULL));
}

/* One option changed to something that cannot be. */
typedef struct impossible {
    const char *name;
    heddle_status expected;
    void (*change)(heddle_table_options *o);
} impossible;

#define CHANGE(name, statement)                                                                    \
    static void name(heddle_table_options *o) { statement; }
CHANGE(container_0, o->container = 0)
CHANGE(container_9, o->container = 9)
CHANGE(scheme_77, o->scheme = 77)
CHANGE(keys_of_0, o->key_bits = 0)
CHANGE(keys_of_16, o->key_bits = 16)
CHANGE(keys_of_33, o->key_bits = 33)
CHANGE(values_of_8, o->container = HEDDLE_CONTAINER_MAP; o->value_bits = 8)
CHANGE(values_of_128, o->container = HEDDLE_CONTAINER_MAP; o->value_bits = 128)
CHANGE(set_with_values, o->container = HEDDLE_CONTAINER_SET; o->value_bits = 32)
CHANGE(bucket_3, o->bucket = 3)
CHANGE(bucket_64, o->bucket = 64)
CHANGE(one_hash, o->hashes = 1)
CHANGE(many_hashes, o->hashes = o->scheme == HEDDLE_SCHEME_CUCKOO ? 5 : 16385)
CHANGE(flags_unknown, o->flags = 0x80000000u)
CHANGE(load_low, o->load = 0.05)
CHANGE(load_one, o->load = 1.0)
CHANGE(load_negative, o->load = -0.5)
CHANGE(load_nan, o->load = (double)NAN)
CHANGE(load_infinite, o->load = (double)INFINITY)
CHANGE(capacity_max, o->capacity = UINT64_MAX)
CHANGE(capacity_huge, o->capacity = UINT64_C(1) << 50)

static const impossible impossibles[] = {
    {"container 0", HEDDLE_ERROR_INVALID, container_0},
    {"container 9", HEDDLE_ERROR_INVALID, container_9},
    {"scheme 77", HEDDLE_ERROR_UNSUPPORTED, scheme_77},
    {"keys of 0 bits", HEDDLE_ERROR_INVALID, keys_of_0},
    {"keys of 16 bits", HEDDLE_ERROR_INVALID, keys_of_16},
    {"keys of 33 bits", HEDDLE_ERROR_INVALID, keys_of_33},
    {"values of 8 bits", HEDDLE_ERROR_INVALID, values_of_8},
    {"values of 128 bits", HEDDLE_ERROR_INVALID, values_of_128},
    {"a set with values", HEDDLE_ERROR_INVALID, set_with_values},
    {"buckets of 3", HEDDLE_ERROR_UNSUPPORTED, bucket_3},
    {"buckets of 64", HEDDLE_ERROR_UNSUPPORTED, bucket_64},
    {"one hash", HEDDLE_ERROR_INVALID, one_hash},
    {"too many hashes", HEDDLE_ERROR_INVALID, many_hashes},
    {"unknown flags", HEDDLE_ERROR_INVALID, flags_unknown},
    {"load 0.05", HEDDLE_ERROR_INVALID, load_low},
    {"load 1", HEDDLE_ERROR_INVALID, load_one},
    {"load -0.5", HEDDLE_ERROR_INVALID, load_negative},
    {"load NaN", HEDDLE_ERROR_INVALID, load_nan},
    {"load infinite", HEDDLE_ERROR_INVALID, load_infinite},
    {"capacity 2^64 - 1", HEDDLE_ERROR_NO_MEMORY, capacity_max},
    {"capacity 2^50", HEDDLE_ERROR_NO_MEMORY, capacity_huge},
};

static void impossible_options(const test_case *c)
{
    for (uint32_t i = 0; i < sizeof impossibles / sizeof *impossibles; i++) {
        heddle_table *table = NULL;
        heddle_table_options options = case_options(c);
        impossibles[i].change(&options);
        check_refused(heddle_table_create(c->device, &options, &table), impossibles[i].expected,
                      impossibles[i].name);
        assert_null(table);
    }
}

/* A table can be told impossible sizes later on, too, and stays as it was. */
static void impossible_sizes_later(const test_case *c)
{
    heddle_table *table = NULL;
    heddle_table_options options = case_options(c);
    check_ok(heddle_table_create(c->device, &options, &table));
    check_refused(heddle_table_reserve(table, UINT64_MAX, NULL), HEDDLE_ERROR_NO_MEMORY, "reserve");
    check_refused(heddle_table_rehash(table, UINT64_MAX, NULL), HEDDLE_ERROR_NO_MEMORY, "rehash");
    check_refused(heddle_table_reserve(table, UINT64_C(1) << 43, NULL), HEDDLE_ERROR_NO_MEMORY,
                  "reserve 2^43");
    check_ok(heddle_table_validate(table, NULL));
    heddle_table_destroy(table);
}

/* Every 0 is replaced by what was chosen, and what was asked for stays. */
static void options_are_completed(const test_case *c)
{
    heddle_table *table = NULL;
    heddle_table_options options = case_options(c);
    heddle_table_options chosen = HEDDLE_TABLE_OPTIONS_INIT;
    options.capacity = 1000;
    check_ok(heddle_table_create(c->device, &options, &table));
    check_ok(heddle_table_get_options(table, &chosen));
    assert_int_equal(chosen.size, sizeof chosen);
    assert_int_equal(chosen.container, options.container);
    assert_int_equal(chosen.scheme, options.scheme);
    assert_int_equal(chosen.key_bits, options.key_bits);
    assert_int_equal(chosen.value_bits, options.value_bits);
    assert_int_equal(chosen.bucket, options.bucket);
    if (options.scheme != HEDDLE_SCHEME_OPEN)
        assert_int_equal(chosen.hashes, options.bucket == 1 ? 4 : 3);
    else assert_int_equal(chosen.hashes, 16384);
    assert_int_equal(chosen.flags, 0);
    assert_true(chosen.load == 0.8);
    assert_true(chosen.threshold == (options.scheme == HEDDLE_SCHEME_ICEBERG ? 0.8 : 0));
    assert_int_not_equal(chosen.seed, 0);
    assert_true((double)chosen.capacity * 0.8 >= 1000.0);
    assert_string_equal(heddle_table_instance(table), c->ops->name);
    assert_ptr_equal(heddle_table_device(table), c->device);
    heddle_table_destroy(table);
    options.seed = 77;
    options.hashes = options.scheme == HEDDLE_SCHEME_ICEBERG ? 3 : 2;
    options.load = 0.33;
    options.flags = HEDDLE_FLAG_FIXED;
    check_ok(heddle_table_create(c->device, &options, &table));
    check_ok(heddle_table_get_options(table, &chosen));
    assert_int_equal(chosen.seed, 77);
    assert_int_equal(chosen.hashes, options.hashes);
    assert_int_equal(chosen.flags, HEDDLE_FLAG_FIXED);
    assert_true(chosen.load == 0.33);
    heddle_table_destroy(table);
}

static void same_options(const heddle_table_options *a, const heddle_table_options *b)
{
    check(a->container == b->container && a->scheme == b->scheme && a->key_bits == b->key_bits &&
              a->value_bits == b->value_bits && a->flags == b->flags,
          "another table");
    check(a->bucket == b->bucket && a->hashes == b->hashes, "%u, %u; %u, %u", a->bucket, a->hashes,
          b->bucket, b->hashes);
    check(a->load == b->load && a->vertices == b->vertices && a->threshold == b->threshold,
          "another load, or threshold, or other vertices");
    check(a->list_first == b->list_first && a->list_growth == b->list_growth, "other lists");
}

/* These options completed without a table, and by one that is made with them. */
static void completed_twice(heddle_device *device, const heddle_table_options *options)
{
    heddle_table_options alone = *options, made = HEDDLE_TABLE_OPTIONS_INIT;
    heddle_table *table = NULL;
    const heddle_status expected = heddle_table_create(device, options, &table);
    check_status(hd_options_complete(device, &alone), expected);
    if (expected != HEDDLE_OK) return;
    check_ok(heddle_table_get_options(table, &made));
    same_options(&alone, &made);
    heddle_table_destroy(table);
}

/* hd_options_complete chooses what a table chooses, and refuses what a table refuses. */
static void completed_without_a_table(const test_case *c)
{
    static const uint32_t values[] = {0, 32, 64};
    const uint32_t changes = sizeof impossibles / sizeof *impossibles - 2; /* not the capacities */
    for (uint32_t kind = 0; kind < 4 * 7 * 2 * 3; kind++)
        for (uint32_t change = 0; change <= changes; change++) {
            heddle_table_options o = HEDDLE_TABLE_OPTIONS_INIT;
            o.container = HEDDLE_CONTAINER_MAP + kind % 4;
            o.scheme = kind / 4 % 7;
            o.key_bits = kind / 28 % 2 != 0 ? 64 : 32;
            o.value_bits = values[kind / 56];
            o.seed = 5;
            if (change != changes) impossibles[change].change(&o);
            case_note("container %u, scheme %u, %u and %u bits, change %u", o.container, o.scheme,
                      o.key_bits, o.value_bits, change);
            completed_twice(c->device, &o);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ONCE(versions_agree),
        ONCE(status_texts),
        ONCE(device_names),
        ONCE(device_info),
        OVER_DEVICES(memory_calls),
        OVER_DEVICES(impossible_options),
        OVER_DEVICES(impossible_sizes_later),
        OVER_INSTANCES(options_are_completed),
        OVER_DEVICES(completed_without_a_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
