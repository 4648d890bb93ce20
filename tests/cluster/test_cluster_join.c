/*
 * test_cluster_join.c: joins and set operations over clusters of several members against a plain model: all kinds, keys
 * of all widths, nulls, empty sides, skew, slices, wrong arguments, and memory that runs out.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "support/cluster_model.h"
#include "support/cluster_relate.h"

#define SLICE 200 /* so that a few thousand rows go in many rounds */

static const uint32_t widths[] = {32, 64};

static join_tables tables_of(const uint64_t *keys, uint64_t left, uint64_t right, uint32_t key_bits)
{
    const join_tables t = {table_of_keys(keys, left + right, key_bits), left};
    return t;
}

static void check_kinds(heddle_cluster *cluster, const join_tables *t, uint32_t row_bits,
                        uint64_t slice)
{
    const relate_share share = relate_whole(t->left, t->both.rows - t->left);
    relate_join_kinds(cluster, t, &share, row_bits, slice, relate_alone);
}

/* --------------------------------------------------------------------------------------- results */

static void join_key_sets(const char *devices, uint32_t members, void *context)
{
    static const uint64_t sizes[][2] = {{0, 0}, {0, 5}, {5, 0}, {1, 1}, {7, 3}, {900, 1500}};
    heddle_cluster *cluster = relate_open(devices, SLICE);
    (void)members, (void)context;
    for (uint32_t set = 0; set < KEYS_SETS; set++)
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
            const bool equal = set == KEYS_ZEROS || set == KEYS_ONES || set == KEYS_EQUAL;
            const uint64_t shrink = equal && sizes[s][0] > 300 ? 10 : 1;
            const uint64_t left = case_size(sizes[s][0] / shrink), right = sizes[s][1] / shrink;
            const uint32_t bits = widths[(set + s) % 2];
            uint64_t *keys = keys_allocate(left + right + 1);
            case_note("%s, %llu and %llu rows on %s", keys_name(set), (unsigned long long)left,
                      (unsigned long long)right, devices);
            keys_fill(keys, left + right, set, 32, 31 + set);
            if (set < KEYS_DISTINCT) /* or nothing would match */
                for (uint64_t i = 0; i < right / 2 && left != 0; i++)
                    keys[left + i] = keys[i * 7 % left];
            join_tables t = tables_of(keys, left, right, bits);
            check_kinds(cluster, &t, widths[s % 2], set % 2 == 0 ? 0 : 100);
            table_free(&t.both);
            free(keys);
        }
    heddle_cluster_close(cluster);
}
static void key_sets_are_joined(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < shared_members_count; i++)
        shared_run_devices(join_key_sets, NULL, shared_members[i]);
}

static void join_shapes(const char *devices, uint32_t members, void *context)
{
    heddle_cluster *cluster = relate_open(devices, SLICE);
    (void)members, (void)context;
    for (uint32_t shape = 0; shape < TABLE_SHAPES; shape++)
        for (uint64_t distinct = 30; distinct <= 1000; distinct = distinct * 30 + 100) {
            const uint64_t n = case_size(1200);
            case_note("shape %u with %llu keys on %s", shape, (unsigned long long)distinct,
                      devices);
            join_tables t = {table_make(shape, 2 * n, distinct, shape + 3), n * 2 / 3};
            check_kinds(cluster, &t, widths[shape % 2], shape % 3 == 0 ? 1 : 0);
            table_free(&t.both);
        }
    heddle_cluster_close(cluster);
}
static void keys_of_many_columns_are_joined(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < shared_members_count; i++)
        shared_run_devices(join_shapes, NULL, shared_members[i]);
}

/* -------------------------------------------------------------------------------------------- skew */

/* Half of the rows of some sides have one key, which the others have twice. */
static join_tables skewed(uint64_t left, uint64_t right, uint32_t sides, uint32_t bits)
{
    uint64_t *keys = keys_allocate(left + right), state = sides;
    for (uint64_t i = 0; i < left + right; i++) {
        const bool heavy = (sides >> (i >= left) & 1) != 0 && i % 2 == 0;
        keys[i] = heavy ? 77 : 100 + keys_below(&state, left + right);
    }
    if ((sides & 1) == 0) keys[0] = keys[left / 2] = 77;
    if ((sides & 2) == 0) keys[left] = keys[left + right / 2] = 77;
    join_tables t = tables_of(keys, left, right, bits);
    free(keys);
    return t;
}

static void join_skew(const char *devices, uint32_t members, void *context)
{
    /* Which side stays, by kind: 1 the left, 2 the right. */
    static const uint32_t stays[] = {0, 3, 1, 2, 0, 1, 1};
    heddle_cluster *cluster = relate_open(devices, SLICE);
    (void)context;
    for (uint32_t sides = 1; sides <= 3; sides++) {
        /* All pairs of both sides' copies would be too many for a plain sort. */
        const uint64_t left = 4000, right = sides == 3 ? 300 : 4000;
        join_tables t = skewed(left, right, sides, widths[sides % 2]);
        const relate_share share = relate_whole(left, right);
        for (uint32_t kind = HEDDLE_JOIN_INNER; kind <= HEDDLE_JOIN_ANTI; kind++) {
            const join_call call = {kind, 64, 0};
            const bool stay = members > 1 && (stays[kind] & sides) != 0;
            case_note("skew of sides %u, kind %u on %s", sides, kind, devices);
            const heddle_relation_stats stats =
                relate_join_check(cluster, &t, &share, &call, relate_alone);
            if (sides == 3) continue; /* as it pays */
            check((stats.rows_stayed >= 2000) == stay, "%llu rows stayed",
                  (unsigned long long)stats.rows_stayed);
            assert_int_equal(stats.rows_worked > stats.rows, stay);
            if (stay) check(stats.imbalance < 0.15, "the imbalance is %.2f", stats.imbalance);
            else if (members > 4)
                check(stats.imbalance > 0.5, "an imbalance of %.2f is not said", stats.imbalance);
        }
        table_free(&t.both);
    }
    heddle_cluster_close(cluster);
}
static void skew_is_joined(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < shared_members_count; i++)
        shared_run_devices(join_skew, NULL, shared_members[i]);
}

/* Slices as the library chooses them, and rows enough for several. */
static void join_many(const char *devices, uint32_t members, void *context)
{
    const uint64_t n = case_size(300000);
    uint64_t *keys = keys_allocate(2 * n), state = 5;
    heddle_cluster *cluster = relate_open(devices, 0);
    (void)members, (void)context;
    for (uint64_t i = 0; i < 2 * n; i++) keys[i] = keys_below(&state, n);
    join_tables t = tables_of(keys, n, n, 64);
    const relate_share share = relate_whole(n, n);
    const join_call calls[] = {{HEDDLE_JOIN_INNER, 32, 0}, {HEDDLE_JOIN_FULL, 64, 5000}};
    for (size_t i = 0; i < 2; i++) {
        const heddle_relation_stats stats =
            relate_join_check(cluster, &t, &share, &calls[i], relate_alone);
        check(stats.imbalance < 0.1, "the imbalance is %.2f", stats.imbalance);
        check(stats.seconds[HEDDLE_PHASE_WORK] > 0 && stats.seconds[HEDDLE_PHASE_PARTITION] > 0,
              "no time was spent");
    }
    table_free(&t.both);
    free(keys);
    heddle_cluster_close(cluster);
}
static void many_rows_are_joined(void **state)
{
    (void)state;
    shared_run_devices(join_many, NULL, 2);
    shared_run_devices(join_many, NULL, 3);
}

/* --------------------------------------------------------------------------------- set operations */

static uint64_t count_of(const uint64_t *keys, uint64_t n, uint64_t key)
{
    uint64_t count = 0;
    for (uint64_t i = 0; i < n; i++) count += keys[i] == key;
    return count;
}

static void check_set(heddle_cluster *cluster, uint32_t operation, uint32_t bits, const uint64_t *a,
                      uint64_t an, const uint64_t *b, uint64_t bn)
{
    void *na = shared_narrow(a, an, bits), *nb = shared_narrow(b, bn, bits);
    void *out = malloc((an + bn) * 8 + 8);
    uint64_t count = 0, expected = 0, again = 0;
    check_ok(heddle_cluster_set_operation(cluster, operation, bits, na, an, nb, bn, out, an + bn,
                                          &count));
    uint64_t *got = keys_allocate(count + 1);
    for (uint64_t i = 0; i < count; i++) {
        got[i] = shared_at(out, i, bits);
        const bool in_a = count_of(a, an, got[i]) != 0, in_b = count_of(b, bn, got[i]) != 0;
        check(operation == HEDDLE_SET_UNION          ? in_a || in_b
              : operation == HEDDLE_SET_INTERSECTION ? in_a && in_b
                                                     : in_a && !in_b,
              "a key is not of the result");
        check(count_of(got, i, got[i]) == 0, "a key is there twice");
    }
    for (uint64_t i = 0; i < an + bn; i++) { /* distinct keys that should be there */
        const uint64_t key = i < an ? a[i] : b[i - an];
        const bool fresh = i < an ? count_of(a, i, key) == 0
                                  : count_of(a, an, key) == 0 && count_of(b, i - an, key) == 0;
        const bool in_b = count_of(b, bn, key) != 0;
        if (!fresh) continue;
        expected += operation == HEDDLE_SET_UNION ||
                    (i < an && in_b == (operation == HEDDLE_SET_INTERSECTION));
    }
    assert_int_equal(count, expected);
    if (count != 0) {
        memset(out, 0xcd, count * 8);
        check_status(heddle_cluster_set_operation(cluster, operation, bits, na, an, nb, bn, out,
                                                  count - 1, &again),
                     HEDDLE_ERROR_TOO_SMALL);
        assert_int_equal(again, count);
        for (uint64_t i = 0; i < count * 8; i++) assert_int_equal(((uint8_t *)out)[i], 0xcd);
    }
    free(na);
    free(nb);
    free(out);
    free(got);
}

static void set_operations(const char *devices, uint32_t members, void *context)
{
    static const uint64_t sizes[][2] = {{0, 0}, {0, 50}, {50, 0}, {300, 500}};
    heddle_cluster *cluster = relate_open(devices, 40);
    (void)members, (void)context;
    for (size_t s = 0; s < 4; s++)
        for (uint32_t operation = HEDDLE_SET_UNION; operation <= HEDDLE_SET_DIFFERENCE;
             operation++) {
            uint64_t a[300], b[500], state = s + operation;
            for (uint64_t i = 0; i < 300; i++) a[i] = keys_below(&state, 200);
            for (uint64_t i = 0; i < 500; i++) b[i] = 100 + keys_below(&state, 300);
            check_set(cluster, operation, widths[s % 2], a, sizes[s][0], b, sizes[s][1]);
        }
    heddle_cluster_close(cluster);
}
static void sets_are_united(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < shared_members_count; i++)
        shared_run_devices(set_operations, NULL, shared_members[i]);
}

/* ------------------------------------------------------------------------------------- arguments */

static void refuse(heddle_cluster *cluster, const heddle_column *left, const heddle_column *right,
                   uint32_t columns, const heddle_join_options *options, const char *why)
{
    heddle_cluster_join *join = (heddle_cluster_join *)1;
    check_status(heddle_cluster_join_create(cluster, left, right, columns, 5, 5, options, &join),
                 HEDDLE_ERROR_INVALID);
    assert_null(join);
    check(strstr(heddle_last_error(), why) != NULL, "\"%s\" does not say \"%s\"",
          heddle_last_error(), why);
}

static void wrong_arguments_are_refused(void **state)
{
    uint64_t keys[6] = {1, 2, 3, 4, 5, 6}, rows[40], count = 0;
    heddle_cluster *cluster = relate_open("cpu:1,cpu:1", 0);
    const heddle_column good = HEDDLE_COLUMN(keys, 8);
    heddle_column bad = good;
    heddle_join_options options = HEDDLE_JOIN_OPTIONS_INIT;
    heddle_cluster_join *join = NULL;
    heddle_relation_stats stats = HEDDLE_RELATION_STATS_INIT;
    (void)state;
    refuse(cluster, NULL, &good, 1, NULL, "no columns");
    refuse(cluster, &good, NULL, 1, NULL, "no columns");
    refuse(cluster, &good, &good, 0, NULL, "1 to 16 columns");
    refuse(cluster, &good, &good, 17, NULL, "1 to 16 columns");
    bad.width = 65;
    refuse(cluster, &bad, &good, 1, NULL, "width of 65");
    bad.width = 4;
    refuse(cluster, &good, &bad, 1, NULL, "8 bytes on the left and 4 on the right");
    bad = good, bad.data = NULL;
    refuse(cluster, &good, &bad, 1, NULL, "right column 0 has no data");
    bad.data = (const char *)keys + 1;
    refuse(cluster, &bad, &good, 1, NULL, "not aligned");
    bad = good, bad.reserved = 1;
    refuse(cluster, &bad, &good, 1, NULL, "reserved");
    options.kind = 7;
    refuse(cluster, &good, &good, 1, &options, "no kind of join");
    options.kind = 1, options.row_bits = 16;
    refuse(cluster, &good, &good, 1, &options, "row_bits");
    options.row_bits = 64, options.flags = 1;
    refuse(cluster, &good, &good, 1, &options, "flags");
    options.flags = 0, options.size = 3;
    refuse(cluster, &good, &good, 1, &options, "JOIN_OPTIONS_INIT");
    check_status(heddle_cluster_join_create(NULL, &good, &good, 1, 5, 5, NULL, &join),
                 HEDDLE_ERROR_INVALID);
    check_status(heddle_cluster_join_create(cluster, &good, &good, 1, 5, 5, NULL, NULL),
                 HEDDLE_ERROR_INVALID);
    options.size = sizeof options, options.kind = HEDDLE_JOIN_SEMI;
    check_ok(heddle_cluster_join_create(cluster, &good, &good, 1, 5, 6, &options, &join));
    check_status(heddle_cluster_join_fetch(join, rows, rows, 5, &count), HEDDLE_ERROR_INVALID);
    check_status(heddle_cluster_join_fetch(join, (char *)rows + 1, NULL, 5, &count),
                 HEDDLE_ERROR_INVALID);
    check_status(heddle_cluster_join_fetch(join, rows, NULL, 0, &count), HEDDLE_ERROR_TOO_SMALL);
    check_status(heddle_cluster_join_fetch(NULL, rows, NULL, 5, &count), HEDDLE_ERROR_INVALID);
    check_status(heddle_cluster_join_count(NULL, &count, NULL), HEDDLE_ERROR_INVALID);
    check_status(heddle_cluster_join_rewind(NULL), HEDDLE_ERROR_INVALID);
    const uint64_t equal[8] = {7, 7, 7, 7, 1, 2, 3, 4};
    const heddle_column pairs = HEDDLE_COLUMN(equal, 8);
    heddle_cluster_join *larger = NULL;
    uint64_t least = 0;
    check_ok(heddle_cluster_join_create(cluster, &pairs, &pairs, 1, 8, 8, NULL, &larger));
    check_ok(heddle_cluster_join_count(larger, &count, &least));
    assert_int_equal(count, 20);
    assert_int_equal(least, 16);
    check_status(heddle_cluster_join_fetch(larger, rows, rows, 15, &count), HEDDLE_ERROR_TOO_SMALL);
    assert_int_equal(count, 0);
    check_ok(heddle_cluster_join_fetch(larger, rows, NULL, 40, &count));
    assert_int_equal(count, 20);
    heddle_cluster_join_destroy(larger);
    stats.size = 1;
    check_status(heddle_cluster_join_get_stats(join, &stats), HEDDLE_ERROR_INVALID);
    check_ok(heddle_cluster_join_fetch(join, rows, NULL, 5, &count));
    assert_int_equal(count, 5);
    heddle_cluster_join_destroy(join);
    heddle_cluster_join_destroy(NULL);
    check_status(heddle_cluster_set_operation(cluster, 4, 32, NULL, 0, NULL, 0, NULL, 0, &count),
                 HEDDLE_ERROR_INVALID);
    check_status(heddle_cluster_set_operation(cluster, 1, 16, NULL, 0, NULL, 0, NULL, 0, &count),
                 HEDDLE_ERROR_INVALID);
    check_status(heddle_cluster_set_operation(cluster, 1, 32, NULL, 4, NULL, 0, NULL, 0, &count),
                 HEDDLE_ERROR_INVALID);
    heddle_cluster_close(cluster);
}

/* ---------------------------------------------------------------------------------------- faults */

/* Every allocation of a join fails once: the call fails on all members, and the next one succeeds. */
static void fail_join(const char *devices, uint32_t members, void *context)
{
    const join_tables *t = (const join_tables *)context;
    const uint64_t right = t->both.rows - t->left;
    bool struck = true;
    uint64_t failures = 0;
    for (uint64_t k = 1; struck; k++) {
        heddle_column left_columns[HEDDLE_KEY_COLUMNS_MAX], right_columns[HEDDLE_KEY_COLUMNS_MAX];
        heddle_join_options options = HEDDLE_JOIN_OPTIONS_INIT;
        heddle_cluster *cluster = relate_open(devices, SLICE);
        heddle_cluster_join *join = NULL;
        uint64_t count = 0, got = 0;
        uint64_t *rows = keys_allocate(20 * t->both.rows);
        options.kind = HEDDLE_JOIN_LEFT;
        relate_columns(&t->both, 0, t->left, left_columns);
        relate_columns(&t->both, t->left, right, right_columns);
        case_note("allocation %llu of a join on %s", (unsigned long long)k, devices);
        hd_fault_arm(k);
        heddle_status status = heddle_cluster_join_create(
            cluster, left_columns, right_columns, t->both.columns, t->left, right, &options, &join);
        check((status == HEDDLE_OK) == (join != NULL), "a join of a failed call");
        if (status == HEDDLE_OK) {
            check_ok(heddle_cluster_join_count(join, &count, NULL));
            check(count < 10 * t->both.rows, "there are too many rows");
            status = heddle_cluster_join_fetch(join, rows, rows + count, count, &got);
        }
        struck = hd_fault_struck();
        hd_fault_arm(0);
        check(status == HEDDLE_OK || (struck && status == HEDDLE_ERROR_NO_MEMORY), "%s: %s",
              heddle_status_string(status), heddle_last_error());
        failures += status != HEDDLE_OK;
        if (join != NULL && status != HEDDLE_OK) { /* the fetch failed: once more */
            check_ok(heddle_cluster_join_rewind(join));
            check_ok(heddle_cluster_join_fetch(join, rows, rows + count, count, &got));
        }
        if (join != NULL) assert_int_equal(got, count);
        heddle_cluster_join_destroy(join);
        if (k % 8 == 1) check_kinds(cluster, t, 64, 0);
        free(rows);
        heddle_cluster_close(cluster);
    }
    check(failures > 20 * members, "only %llu failures", (unsigned long long)failures);
}

static void memory_runs_out(void **state)
{
    (void)state;
    join_tables heavy = skewed(900, 300, 1, 32);
    join_tables wide = {table_make(5, 900, 300, 7), 400};
    shared_run_devices(fail_join, &heavy, 3);
    shared_run_devices(fail_join, &wide, 2);
    table_free(&heavy.both);
    table_free(&wide.both);
}

static void fail_set(const char *devices, uint32_t members, void *context)
{
    uint32_t a[700], b[500], out[1200];
    bool struck = true;
    uint64_t failures = 0;
    (void)members, (void)context;
    for (uint32_t i = 0; i < 700; i++) a[i] = i * 3;
    for (uint32_t i = 0; i < 500; i++) b[i] = i * 2;
    for (uint64_t k = 1; struck; k++) {
        heddle_cluster *cluster = relate_open(devices, SLICE);
        uint64_t count = 0;
        case_note("allocation %llu of a set operation on %s", (unsigned long long)k, devices);
        hd_fault_arm(k);
        const heddle_status status = heddle_cluster_set_operation(
            cluster, HEDDLE_SET_INTERSECTION, 32, a, 700, b, 500, out, 1200, &count);
        struck = hd_fault_struck();
        hd_fault_arm(0);
        check(status == HEDDLE_OK || (struck && status == HEDDLE_ERROR_NO_MEMORY), "%s: %s",
              heddle_status_string(status), heddle_last_error());
        failures += status != HEDDLE_OK;
        check_ok(heddle_cluster_set_operation(cluster, HEDDLE_SET_INTERSECTION, 32, a, 700, b, 500,
                                              out, 1200, &count));
        assert_int_equal(count, 167);
        heddle_cluster_close(cluster);
    }
    check(failures > 10, "only %llu failures", (unsigned long long)failures);
}
static void memory_runs_out_of_set_operations(void **state)
{
    (void)state;
    shared_run_devices(fail_set, NULL, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ONCE(key_sets_are_joined), ONCE(keys_of_many_columns_are_joined),
        ONCE(skew_is_joined),      ONCE(many_rows_are_joined),
        ONCE(sets_are_united),     ONCE(wrong_arguments_are_refused),
        ONCE(memory_runs_out),     ONCE(memory_runs_out_of_set_operations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
