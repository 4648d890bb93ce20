/*
 * test_public_struct.c: programs of other versions. Every struct that begins with its size is given with the
 * size of its first version, with 16 bytes more that are 0, with 16 bytes more that are not, and with
 * sizes that no version has.
 */
#include <stdlib.h>
#include <string.h>

#include "host/public_struct.h"
#include "support/cases.h"

#define MORE 16
#define GUARD 0x5a

typedef struct growing {
    const char *name;
    const hd_struct_kind *kind;
} growing;

#define GROWING(name)                                                                              \
    {                                                                                              \
#name, &hd_##name##_kind                                                                   \
    }
static const growing all[] = {
    GROWING(table_options),  GROWING(insert_options),  GROWING(table_stats),
    GROWING(totals),         GROWING(device_info),     GROWING(join_options),
    GROWING(groups_options), GROWING(relation_stats),  GROWING(filter_options),
    GROWING(filter_stats),   GROWING(cluster_options), GROWING(cluster_info),
    GROWING(spread_options), GROWING(cluster_stats),   GROWING(shelf_options),
    GROWING(shelf_stats),
};
#define KINDS (sizeof all / sizeof all[0])

/* A caller's struct of `size` bytes, which are all `byte`, and a guard behind it. */
static uint8_t *struct_of(uint32_t size, uint8_t byte)
{
    uint8_t *given = (uint8_t *)malloc(size + MORE);
    assert_non_null(given);
    memset(given, byte, size);
    memset(given + size, GUARD, MORE);
    memcpy(given, &size, sizeof size);
    return given;
}

/* Bytes [from, to) of the struct are all `byte`. */
static bool all_are(const uint8_t *bytes, uint32_t from, uint32_t to, uint8_t byte)
{
    for (uint32_t i = from; i < to; i++)
        if (bytes[i] != byte) return false;
    return true;
}

/* What is there is read, and the rest is as by default. */
static void first_versions_are_read(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < KINDS; k++) {
        const hd_struct_kind *kind = all[k].kind;
        uint8_t *given = struct_of(kind->first, 7), *own = struct_of(kind->own, 9);
        case_note("%s", all[k].name);
        assert_int_equal(hd_read_struct(own, given, kind), HEDDLE_OK);
        assert_memory_equal(own, &kind->own, sizeof kind->own);
        assert_true(all_are(own, sizeof kind->own, kind->first, 7));
        assert_true(all_are(own, kind->first, kind->own, 9));
        assert_int_equal(hd_read_struct(own, NULL, kind), HEDDLE_OK);
        free(given);
        free(own);
    }
}

static void newer_structs_may_hold_zeros(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < KINDS; k++) {
        const hd_struct_kind *kind = all[k].kind;
        uint8_t *given = struct_of(kind->own + MORE, 0), *own = struct_of(kind->own, 9);
        case_note("%s", all[k].name);
        assert_int_equal(hd_read_struct(own, given, kind), HEDDLE_OK);
        assert_memory_equal(own, &kind->own, sizeof kind->own);
        assert_true(all_are(own, sizeof kind->own, kind->own, 0));
        given[kind->own + MORE - 1] = 1;
        assert_int_equal(hd_read_struct(own, given, kind), HEDDLE_ERROR_UNSUPPORTED);
        assert_non_null(strstr(heddle_last_error(), kind->initialiser));
        free(given);
        free(own);
    }
}

static void no_version_has_these_sizes(void **state)
{
    static const uint32_t senseless[] = {0, 1, 4, 4104, UINT32_MAX};
    (void)state;
    for (uint32_t k = 0; k < KINDS; k++) {
        const hd_struct_kind *kind = all[k].kind;
        uint8_t *given = struct_of(kind->own, 0), *own = struct_of(kind->own, 9);
        case_note("%s", all[k].name);
        for (uint32_t i = 0; i <= sizeof senseless / sizeof *senseless; i++) {
            const uint32_t size =
                i < sizeof senseless / sizeof *senseless ? senseless[i] : kind->first - 8;
            memcpy(given, &size, sizeof size);
            assert_int_equal(hd_read_struct(own, given, kind), HEDDLE_ERROR_INVALID);
            assert_non_null(strstr(heddle_last_error(), kind->initialiser));
            assert_int_equal(hd_check_struct(given, kind), HEDDLE_ERROR_INVALID);
        }
        assert_int_equal(hd_check_struct(NULL, kind), HEDDLE_ERROR_INVALID);
        assert_true(all_are(own, sizeof kind->own, kind->own, 9));
        free(given);
        free(own);
    }
}

/* No byte beyond the caller's struct is written; what only a newer one has is 0. */
static void as_much_is_written_as_fits(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < KINDS; k++) {
        const hd_struct_kind *kind = all[k].kind;
        const uint32_t sizes[] = {kind->first, kind->own, kind->own + MORE};
        uint8_t *own = struct_of(kind->own, 9);
        case_note("%s", all[k].name);
        for (uint32_t i = 0; i < 3; i++) {
            uint8_t *given = struct_of(sizes[i], 7);
            const uint32_t known = sizes[i] < kind->own ? sizes[i] : kind->own;
            assert_int_equal(hd_check_struct(given, kind), HEDDLE_OK);
            hd_write_struct(given, own, kind);
            assert_memory_equal(given, &sizes[i], sizeof sizes[i]);
            assert_true(all_are(given, sizeof sizes[i], known, 9));
            assert_true(all_are(given, known, sizes[i], 0));
            assert_true(all_are(given, sizes[i], sizes[i] + MORE, GUARD));
            free(given);
        }
        free(own);
    }
}

/* The same through the interface: a program with larger structs than this library's. */
static void a_newer_program(void **state)
{
    struct {
        heddle_table_options o;
        uint64_t more[2];
    } options = {HEDDLE_TABLE_OPTIONS_INIT, {0, 0}};
    struct {
        heddle_insert_options o;
        uint64_t more[2];
    } insert = {HEDDLE_INSERT_OPTIONS_INIT, {0, 0}};
    struct {
        heddle_totals t;
        uint64_t more[2];
    } totals = {HEDDLE_TOTALS_INIT, {5, 5}};
    const uint32_t key = 3, value = 4;
    heddle_device *device = NULL;
    heddle_table *table = NULL;
    (void)state;
    options.o.size = sizeof options, insert.o.size = sizeof insert, totals.t.size = sizeof totals;
    assert_int_equal(heddle_device_open("cpu:1", &device), HEDDLE_OK);
    options.more[1] = 1;
    assert_int_equal(heddle_table_create(device, &options.o, &table), HEDDLE_ERROR_UNSUPPORTED);
    options.more[1] = 0;
    assert_int_equal(heddle_table_create(device, &options.o, &table), HEDDLE_OK);
    insert.more[0] = 1;
    assert_int_equal(heddle_table_insert(table, &key, &value, 1, &insert.o, &totals.t, NULL),
                     HEDDLE_ERROR_UNSUPPORTED);
    insert.more[0] = 0;
    assert_int_equal(heddle_table_insert(table, &key, &value, 1, &insert.o, &totals.t, NULL),
                     HEDDLE_OK);
    assert_int_equal(totals.t.size, sizeof totals);
    assert_int_equal(totals.t.inserted, 1);
    assert_int_equal(totals.more[0], 0);
    assert_int_equal(totals.more[1], 0);
    totals.t.reserved = 1;
    assert_int_equal(heddle_table_insert(table, &key, &value, 1, &insert.o, &totals.t, NULL),
                     HEDDLE_ERROR_INVALID);
    assert_non_null(strstr(heddle_last_error(), "reserved"));
    heddle_table_destroy(table);
    heddle_device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_versions_are_read),
        cmocka_unit_test(newer_structs_may_hold_zeros),
        cmocka_unit_test(no_version_has_these_sizes),
        cmocka_unit_test(as_much_is_written_as_fits),
        cmocka_unit_test(a_newer_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
