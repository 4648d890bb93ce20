/*
 * test_join.c: joins of all kinds against a plain model: duplicates, skew, nulls, keys of several columns,
 * slices, wrong arguments, and memory that runs out.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "relation/join/join.h"
#include "support/join_model.h"
#include "support/tuned.h"

static const uint32_t widths[] = {32, 64};

/* Two tables of plain keys: the left rows are the first `left` keys. */
static join_tables tables_of(const uint64_t *keys, uint64_t left, uint64_t right, uint32_t key_bits)
{
    join_tables t = {table_of_keys(keys, left + right, key_bits), left};
    return t;
}

static void check_widths(const test_case *c, const uint64_t *keys, uint64_t left, uint64_t right)
{
    for (size_t k = 0; k < 2; k++)
        for (size_t r = 0; r < 2; r++) {
            join_tables t = tables_of(keys, left, right, widths[k]);
            join_check_kinds(c, &t, widths[r], 0);
            table_free(&t.both);
        }
}

/* --------------------------------------------------------------------------------------- results */

static void key_sets_are_joined(const test_case *c)
{
    static const uint64_t sizes[][2] = {{0, 0}, {0, 5},      {5, 0},      {1, 1},
                                        {7, 3}, {300, 1000}, {1000, 100}, {5000, 4000}};
    if (!join_can_run(c)) return;
    for (uint32_t set = 0; set < KEYS_SETS; set++)
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
            const bool equal = set == KEYS_ZEROS || set == KEYS_ONES || set == KEYS_EQUAL;
            const uint64_t shrink = equal && sizes[s][0] > 300 ? 10 : 1;
            const uint64_t left = case_size(sizes[s][0] / shrink), right = sizes[s][1] / shrink;
            uint64_t *keys = keys_allocate(left + right + 1);
            case_note("%s, %llu and %llu rows", keys_name(set), (unsigned long long)left,
                      (unsigned long long)right);
            keys_fill(keys, left + right, set, 32, 31 + set);
            if (set < KEYS_DISTINCT) /* or nothing would match */
                for (uint64_t i = 0; i < right / 2 && left != 0; i++)
                    keys[left + i] = keys[i * 7 % left];
            check_widths(c, keys, left, right);
            free(keys);
        }
}

/* Half of the rows have one key on one side, the other, or both. */
static void skew_is_joined(const test_case *c)
{
    const uint64_t n = case_size(4000);
    if (!join_can_run(c)) return;
    for (uint32_t sides = 1; sides <= 3; sides++) {
        uint64_t *keys = keys_allocate(2 * n), state = sides;
        case_note("sides %u", sides);
        for (uint64_t i = 0; i < 2 * n; i++) {
            const bool skewed = (sides >> (i >= n) & 1) != 0 && i % 2 == 0;
            keys[i] = skewed ? 77 : keys_below(&state, 2 * n);
        }
        if (sides != 3) { /* the other side has the key a few times */
            keys[sides == 1 ? n : 0] = 77;
            keys[sides == 1 ? n + 7 : 7] = 77;
        }
        /* All pairs of both sides' copies would be too many for a plain sort. */
        check_widths(c, keys, n, sides == 3 ? n / 16 : n);
        free(keys);
    }
}

/* Many tasks in a region, and tasks that are written in parts. */
static void regions_are_cut(const test_case *c)
{
    static const uint64_t limits[][3] = {{1, 1, 1}, {3, 100, 5}, {64, 7, 1000}, {1000, 1000, 40}};
    if (!join_can_run(c)) return;
    for (size_t l = 0; l < sizeof limits / sizeof limits[0]; l++) {
        const uint64_t n = l == 0 ? 60 : 500;
        uint64_t *keys = keys_allocate(2 * n), state = l;
        case_note("tasks of %llu and %llu rows", (unsigned long long)limits[l][0],
                  (unsigned long long)limits[l][1]);
        for (uint64_t i = 0; i < 2 * n; i++) keys[i] = i % 5 == 0 ? 3 : keys_below(&state, n / 2);
        tune_joins(limits[l][0], limits[l][1], limits[l][2]);
        for (size_t k = 0; k < 2; k++) {
            join_tables t = tables_of(keys, n, n, widths[k]);
            join_check_kinds(c, &t, widths[k], 0);
            join_check_kinds(c, &t, widths[k ^ 1], 1);
            join_check_kinds(c, &t, widths[k], n / 3);
            table_free(&t.both);
        }
        tune_joins(0, 0, 0);
        free(keys);
    }
}

static void slices_of_any_length(const test_case *c)
{
    static const uint64_t slices[] = {1, 2, 100, 5000};
    const uint64_t n = case_size(20000);
    uint64_t *keys = keys_allocate(2 * n), state = 5;
    if (!join_can_run(c)) {
        free(keys);
        return;
    }
    for (uint64_t i = 0; i < 2 * n; i++) keys[i] = keys_below(&state, n);
    for (size_t s = 0; s < sizeof slices / sizeof slices[0]; s++) {
        join_tables t = tables_of(keys, n, n, 32);
        case_note("slices of %llu", (unsigned long long)slices[s]);
        /* One row at a time would never end: as few as possible, over few unmatched rows. */
        if (slices[s] < 100) t.left = 2 * n - 50;
        join_check_kinds(c, &t, 32, slices[s]);
        table_free(&t.both);
    }
    free(keys);
}

static void many_rows_are_joined(const test_case *c)
{
    const uint64_t left = case_size(UINT64_C(1) << 20), right = case_size(700001);
    uint64_t *keys = keys_allocate(left + right);
    if (join_can_run(c)) {
        keys_fill(keys, left + right, KEYS_TWICE, 32, 91);
        const join_call full = {HEDDLE_JOIN_FULL, 32, 0}, inner = {HEDDLE_JOIN_INNER, 32, 100000};
        join_tables t = tables_of(keys, left, right, 64);
        join_check(c, &t, &full);
        table_free(&t.both);
        t = tables_of(keys, left, right, 32);
        tune_joins(5000, 3000, 0); /* several tasks a region */
        join_check(c, &t, &inner);
        table_free(&t.both);
        tune_joins(0, 0, 0);
    }
    free(keys);
}

/* All pairs of 100000 equal rows are more than anybody fetches, but they can be counted and begun. */
static void more_matches_than_memory(const test_case *c)
{
    const uint64_t n = case_size(100000), room = UINT64_C(1) << 20;
    uint32_t *keys = calloc(n, sizeof *keys);
    uint32_t *rows = calloc(2 * room, sizeof *rows);
    const heddle_column column = HEDDLE_COLUMN(keys, 4);
    heddle_join_options options = HEDDLE_JOIN_OPTIONS_INIT;
    heddle_join *join = NULL;
    uint64_t count = 0, least = 0, got = 0;
    if (join_can_run(c)) {
        options.row_bits = 32;
        check_ok(heddle_join_create(c->device, &column, &column, 1, n, n, &options, &join, NULL));
        check_ok(heddle_join_count(join, &count, &least));
        assert_int_equal(count, n * n);
        check(least <= room, "a slice has %llu rows at least", (unsigned long long)least);
        for (int i = 0; i < 3; i++) {
            check_ok(heddle_join_fetch(join, rows, rows + room, room, &got, NULL));
            check(got > 0 && got <= room, "%llu rows", (unsigned long long)got);
            for (uint64_t k = 0; k < got; k++)
                check(rows[k] < n && rows[room + k] < n, "there is no such row");
        }
        heddle_join_destroy(join);
    }
    free(rows);
    free(keys);
}

/* ----------------------------------------------------------------------------------- other columns */

static void columns_of_any_shape(const test_case *c)
{
    static const uint64_t sizes[][2] = {{0, 40}, {40, 0}, {1, 1}, {50, 700}, {3000, 2000}};
    if (!join_can_run(c)) return;
    for (uint32_t shape = 0; shape < TABLE_SHAPES; shape++)
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
            const uint64_t left = sizes[s][0], right = sizes[s][1];
            join_tables t = {table_make(shape, left + right, (left + right) / 3 + 1, 11 + shape),
                             left};
            case_note("shape %u, %llu and %llu rows", shape, (unsigned long long)left,
                      (unsigned long long)right);
            join_check_kinds(c, &t, 32, 0);
            join_check_kinds(c, &t, 64, 100);
            table_free(&t.both);
        }
}

/* One side may have flags where the other has none, and all rows may be null. */
static void nulls_match_nothing(const test_case *c)
{
    const uint64_t n = 600;
    if (!join_can_run(c)) return;
    for (uint32_t every = 1; every <= 3; every++) {
        uint64_t *keys = keys_allocate(2 * n), state = every;
        for (uint64_t i = 0; i < 2 * n; i++) keys[i] = keys_below(&state, 40);
        for (size_t k = 0; k < 2; k++) {
            join_tables t = tables_of(keys, n, n, widths[k]);
            uint8_t *valid = t.both.column[0].valid = malloc(2 * n);
            for (uint64_t i = 0; i < 2 * n; i++)
                valid[i] = (uint8_t)(i < n && i % every == 0 ? 0 : 1 + i % 9);
            case_note("every %u. left row is null", every);
            join_check_kinds(c, &t, 32, 0);
            memset(valid, 1, n);
            for (uint64_t i = n; i < 2 * n; i++) valid[i] = (uint8_t)(i % every != 0);
            case_note("every %u. right row is null", every);
            join_check_kinds(c, &t, 64, 0);
            table_free(&t.both);
        }
        free(keys);
    }
}

/* ------------------------------------------------------------------------------------- arguments */

static void either_array_may_be_missing(const test_case *c)
{
    uint32_t keys[8] = {1, 2, 3, 4, 3, 1, 1, 9};
    const heddle_column left = HEDDLE_COLUMN(keys, 4), right = HEDDLE_COLUMN(keys + 4, 4);
    heddle_join *join = NULL;
    uint64_t rows[8], count = 0, got = 0;
    if (!join_can_run(c)) return;
    check_ok(heddle_join_create(c->device, &left, &right, 1, 4, 4, NULL, &join, NULL));
    check_ok(heddle_join_count(join, &count, NULL));
    assert_int_equal(count, 3);
    check_ok(heddle_join_fetch(join, rows, NULL, 8, &got, NULL));
    assert_int_equal(got, 3);
    assert_int_equal(rows[0] + rows[1] + rows[2], 2); /* rows 0, 0 and 2 */
    check_ok(heddle_join_rewind(join));
    check_ok(heddle_join_fetch(join, NULL, rows, 3, &got, NULL));
    assert_int_equal(rows[0] + rows[1] + rows[2], 3); /* rows 0, 1 and 2 */
    check_ok(heddle_join_fetch(join, NULL, rows, 3, &got, NULL));
    assert_int_equal(got, 0);
    check_ok(heddle_join_rewind(join));
    check_ok(heddle_join_fetch(join, NULL, NULL, 3, &got, NULL));
    assert_int_equal(got, 3);
    heddle_join_destroy(join);
    heddle_join_destroy(NULL);
}

typedef struct create_call {
    heddle_column left[2], right[2];
    uint64_t left_rows, right_rows;
    uint32_t columns;
    heddle_join_options options;
} create_call;

static uint32_t some_keys[8];

static create_call good_call(void)
{
    const heddle_column column = HEDDLE_COLUMN(some_keys, 4);
    const heddle_join_options options = HEDDLE_JOIN_OPTIONS_INIT;
    const create_call call = {{column, column}, {column, column}, 4, 4, 1, options};
    return call;
}

static void refuse(const test_case *c, const create_call *call)
{
    heddle_join *join = (heddle_join *)(void *)some_keys;
    check_status(heddle_join_create(c->device, call->left, call->right, call->columns,
                                    call->left_rows, call->right_rows, &call->options, &join, NULL),
                 HEDDLE_ERROR_INVALID);
    assert_null(join);
    assert_true(strlen(heddle_last_error()) > 10);
}

static void wrong_options_are_refused(const test_case *c)
{
    create_call call = good_call();
    call.options.size--;
    refuse(c, &call);
    call = good_call();
    call.options.kind = 0;
    refuse(c, &call);
    call.options.kind = 7;
    refuse(c, &call);
    call = good_call();
    call.options.row_bits = 16;
    refuse(c, &call);
    call = good_call();
    call.options.flags = 1;
    refuse(c, &call);
    call = good_call();
    call.options.row_bits = 32;
    call.right_rows = UINT64_C(1) << 32;
    refuse(c, &call);
    call = good_call();
    call.left_rows = UINT64_MAX;
    refuse(c, &call);
}

static void wrong_columns_are_refused(const test_case *c)
{
    create_call call = good_call();
    heddle_join *join = NULL;
    call.columns = 0;
    refuse(c, &call);
    call.columns = HEDDLE_KEY_COLUMNS_MAX + 1;
    refuse(c, &call);
    call = good_call();
    call.columns = 2;
    call.right[1].width = 8;
    refuse(c, &call);
    call = good_call();
    call.left[0].width = call.right[0].width = 0;
    refuse(c, &call);
    call.left[0].width = call.right[0].width = 65;
    refuse(c, &call);
    call = good_call();
    call.right[0].data = NULL;
    refuse(c, &call);
    call = good_call();
    call.left[0].reserved = 1;
    refuse(c, &call);
    call = good_call();
    check_status(heddle_join_create(c->device, NULL, call.right, 1, 4, 4, NULL, &join, NULL),
                 HEDDLE_ERROR_INVALID);
    check_status(heddle_join_create(c->device, call.left, NULL, 1, 4, 4, NULL, &join, NULL),
                 HEDDLE_ERROR_INVALID);
    check_status(heddle_join_create(c->device, call.left, call.right, 1, 4, 4, NULL, NULL, NULL),
                 HEDDLE_ERROR_INVALID);
    check_status(heddle_join_create(NULL, call.left, call.right, 1, 4, 4, NULL, &join, NULL),
                 HEDDLE_ERROR_INVALID);
    if (c->device->engine->host_memory)
        check_status(
            heddle_join_create(c->device, call.left, call.right, 1, 4, 4, NULL, &join, some_keys),
            HEDDLE_ERROR_INVALID);
}

static void wrong_fetches_are_refused(const test_case *c)
{
    create_call call = good_call();
    heddle_join *join = NULL;
    uint64_t rows[16], count = 99, least = 0;
    if (!join_can_run(c)) return;
    check_ok(heddle_join_create(c->device, call.left, call.right, 1, 4, 4, NULL, &join, NULL));
    check_ok(heddle_join_count(join, &count, &least));
    assert_int_equal(count, 16);
    assert_int_equal(least, 16);
    check_status(heddle_join_fetch(join, rows, rows, 15, &count, NULL), HEDDLE_ERROR_TOO_SMALL);
    check_status(heddle_join_fetch(join, rows, rows, 16, NULL, NULL), HEDDLE_ERROR_INVALID);
    check_status(heddle_join_fetch(join, (char *)rows + 1, rows, 16, &count, NULL),
                 HEDDLE_ERROR_INVALID);
    check_status(heddle_join_fetch(join, rows, (char *)rows + 2, 16, &count, NULL),
                 HEDDLE_ERROR_INVALID);
    check_status(heddle_join_fetch(NULL, rows, rows, 16, &count, NULL), HEDDLE_ERROR_INVALID);
    check_status(heddle_join_count(NULL, &count, NULL), HEDDLE_ERROR_INVALID);
    check_status(heddle_join_count(join, NULL, NULL), HEDDLE_ERROR_INVALID);
    check_status(heddle_join_rewind(NULL), HEDDLE_ERROR_INVALID);
    check_ok(heddle_join_fetch(join, rows, NULL, 16, &count, NULL)); /* nothing was lost */
    assert_int_equal(count, 16);
    heddle_join_destroy(join);
    call.options.kind = HEDDLE_JOIN_SEMI;
    check_ok(
        heddle_join_create(c->device, call.left, call.right, 1, 4, 4, &call.options, &join, NULL));
    check_status(heddle_join_fetch(join, rows, rows, 16, &count, NULL), HEDDLE_ERROR_INVALID);
    heddle_join_destroy(join);
}

/* ---------------------------------------------------------------------------------------- memory */

static void check_fault(heddle_status status, bool struck)
{
    check(status == (struck ? HEDDLE_ERROR_NO_MEMORY : HEDDLE_OK), "%s", heddle_last_error());
}

/* Fetches with a failure at one allocation, and then what there is: nothing was lost. */
static bool fetch_with_fault(heddle_join *join, bool pairs, uint64_t k)
{
    uint64_t count = 0, got = 0;
    check_ok(heddle_join_count(join, &count, NULL));
    uint64_t *rows = keys_allocate(2 * count + 1);
    void *second = pairs ? rows + count : NULL;
    hd_fault_arm(k);
    const heddle_status status = heddle_join_fetch(join, rows, second, count, &got, NULL);
    const bool struck = hd_fault_struck();
    hd_fault_arm(0);
    check_fault(status, struck);
    assert_int_equal(got, struck ? 0 : count);
    if (struck) check_ok(heddle_join_fetch(join, rows, second, count, &got, NULL));
    assert_int_equal(got, count);
    free(rows);
    return struck;
}

/* Creates or fetches with a failure at one allocation; true when it struck. */
static bool join_with_fault(const test_case *c, const join_tables *t, uint32_t kind, uint64_t k,
                            bool in_fetch)
{
    const uint64_t right_rows = t->both.rows - t->left;
    join_columns left = join_columns_make(c, &t->both, 0, t->left);
    join_columns right = join_columns_make(c, &t->both, t->left, right_rows);
    heddle_join_options options = HEDDLE_JOIN_OPTIONS_INIT;
    heddle_join *join = NULL;
    options.kind = kind;
    hd_fault_arm(in_fetch ? 0 : k);
    const heddle_status status =
        heddle_join_create(c->device, left.columns, right.columns, left.count, t->left, right_rows,
                           &options, &join, NULL);
    bool struck = hd_fault_struck();
    hd_fault_arm(0);
    check_fault(status, struck);
    assert_true((status == HEDDLE_OK) == (join != NULL));
    if (in_fetch) struck = fetch_with_fault(join, kind != HEDDLE_JOIN_SEMI, k);
    heddle_join_destroy(join);
    join_columns_free(&left);
    join_columns_free(&right);
    return struck;
}

static void memory_may_run_out(const test_case *c)
{
    static const uint32_t shapes[] = {0, 2, 5};
    if (!join_can_run(c)) return;
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
        for (uint32_t kind = HEDDLE_JOIN_FULL; kind <= HEDDLE_JOIN_SEMI; kind++)
            for (int in_fetch = 0; in_fetch < 2; in_fetch++) {
                join_tables t = {table_make(shapes[s], 400, 30, 3), 250};
                bool struck = true;
                tune_joins(20, 30, 50);
                for (uint64_t k = 1; struck; k++) {
                    case_note("shape %u, kind %u, allocation %llu of %s", shapes[s], kind,
                              (unsigned long long)k, in_fetch ? "fetch" : "create");
                    check(k < 1000, "there is no end of allocations");
                    struck = join_with_fault(c, &t, kind, k, in_fetch != 0);
                }
                tune_joins(0, 0, 0);
                table_free(&t.both);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OVER_DEVICES(key_sets_are_joined),
        OVER_DEVICES(skew_is_joined),
        OVER_DEVICES(regions_are_cut),
        OVER_DEVICES(slices_of_any_length),
        OVER_DEVICES(many_rows_are_joined),
        OVER_DEVICES(more_matches_than_memory),
        OVER_DEVICES(columns_of_any_shape),
        OVER_DEVICES(nulls_match_nothing),
        OVER_DEVICES(either_array_may_be_missing),
        OVER_DEVICES(wrong_options_are_refused),
        OVER_DEVICES(wrong_columns_are_refused),
        OVER_DEVICES(wrong_fetches_are_refused),
        OVER_DEVICES(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
