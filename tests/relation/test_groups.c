/*
 * test_groups.c: groups and everything they tell, against rows that are grouped by sorting: keys of every
 * shape, both orders, both widths of row numbers, arrays here and there.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/tuning.h"
#include "relation/encode/encode.h"
#include "support/made_groups.h"

static void check_keys(made_groups *m)
{
    const uint64_t count = m->model->groups;
    for (uint32_t c = 0; c < m->table->columns; c++) {
        const column_model *column = &m->table->column[c];
        const uint64_t width = column->width;
        array keys = array_poisoned(m->c, ROLE_KEYS, count * width, 0xcd);
        array valid = array_poisoned(m->c, ROLE_FLAGS, count, 0xcd);
        check_ok(heddle_groups_keys(m->groups, c, array_pointer(&keys), NULL, NULL));
        check_ok(
            heddle_groups_keys(m->groups, c, array_pointer(&keys), array_pointer(&valid), NULL));
        array_pull(&keys);
        array_pull(&valid);
        for (uint64_t g = 0; g < count; g++) {
            const uint64_t row = m->model->rows[m->model->begins[m->model_of[g]]];
            const bool there = column->valid == NULL || column->valid[row] != 0;
            check((valid.host[g] != 0) == there, "the flag of a key is wrong");
            check(!there || memcmp(keys.host + g * width, column->data + row * width, width) == 0,
                  "a key of column %u is wrong", c);
        }
        array_free(&keys);
        array_free(&valid);
    }
}

static void check_sizes(made_groups *m)
{
    const uint64_t count = m->model->groups;
    array sizes = array_poisoned(m->c, ROLE_VALUES, count * 8, 0xcd);
    check_ok(heddle_groups_sizes(m->groups, array_pointer(&sizes), NULL));
    array_pull(&sizes);
    for (uint64_t g = 0; g < count; g++) {
        const uint64_t group = m->model_of[g];
        check(array_at(&sizes, g, 64) == m->model->begins[group + 1] - m->model->begins[group],
              "a size is wrong");
    }
    array_free(&sizes);
}

static void check_rows(made_groups *m)
{
    const uint32_t bits = m->options.row_bits;
    const uint64_t n = m->table->rows, count = m->model->groups;
    array numbers = array_poisoned(m->c, ROLE_VALUES, n * bits / 8, 0xcd);
    array rows = array_poisoned(m->c, ROLE_KEYS, n * bits / 8, 0xcd);
    array begins = array_poisoned(m->c, ROLE_VALUES, (count + 1) * 8, 0xcd);
    uint64_t at = 0;
    check_ok(heddle_groups_of_rows(m->groups, array_pointer(&numbers), NULL));
    check_ok(heddle_groups_rows(m->groups, array_pointer(&begins), array_pointer(&rows), NULL));
    array_pull(&numbers);
    array_pull(&rows);
    array_pull(&begins);
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t g = array_at(&numbers, i, bits);
        check(g < count && m->model_of[g] == m->model->of_row[i], "row %llu has another group",
              (unsigned long long)i);
    }
    for (uint64_t g = 0; g < count; g++) {
        const uint64_t group = m->model_of[g];
        check(array_at(&begins, g, 64) == at, "a group begins elsewhere");
        for (uint64_t i = m->model->begins[group]; i < m->model->begins[group + 1]; i++, at++)
            check(array_at(&rows, at, bits) == m->model->rows[i], "rows of a group are wrong");
    }
    check(array_at(&begins, count, 64) == n, "the last group ends elsewhere");
    array_free(&numbers);
    array_free(&rows);
    array_free(&begins);
}

static uint64_t size_of(const made_groups *m, uint64_t g)
{
    return m->model->begins[m->model_of[g] + 1] - m->model->begins[m->model_of[g]];
}

static const made_groups *sorted_groups; /* qsort takes no context */

static int compare_sizes(const void *one, const void *other)
{
    const uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;
    const uint64_t x = size_of(sorted_groups, a), y = size_of(sorted_groups, b);
    return x != y ? (x > y ? -1 : 1) : a < b ? -1 : a > b;
}

static void check_top(made_groups *m)
{
    const uint64_t all = m->model->groups;
    const uint64_t wanted[] = {0, 1, 2, 10, all / 2, all, all + 5};
    uint64_t *order = keys_allocate(all + 1);
    for (uint64_t g = 0; g < all; g++) order[g] = g;
    sorted_groups = m;
    qsort(order, all, sizeof *order, compare_sizes);
    for (size_t w = 0; w < sizeof wanted / sizeof wanted[0]; w++) {
        const uint64_t k = wanted[w], expected = k < all ? k : all;
        array top = array_poisoned(m->c, ROLE_VALUES, expected * 8, 0xcd);
        uint64_t count = 77;
        case_note("top %llu of %llu", (unsigned long long)k, (unsigned long long)all);
        check_ok(heddle_groups_top(m->groups, k, array_pointer(&top), &count, NULL));
        array_pull(&top);
        assert_int_equal(count, expected);
        for (uint64_t i = 0; i < count; i++)
            check(array_at(&top, i, 64) == order[i], "place %llu of the largest is wrong",
                  (unsigned long long)i);
        array_free(&top);
    }
    free(order);
}

/* Groups known by number and groups of rows in order must tell the same. */
static void check_table(const test_case *c, const table_model *t)
{
    const grouping model = table_group(t);
    for (uint32_t i = 0; i < 8; i++)
        if (i < 4 || c->device->engine->relate(64, 64)->few != NULL) {
            const uint32_t order = i % 2, row_bits = i % 4 < 2 ? 32 : 64;
            hd_tune.few_groups_limit = i < 4 ? 0 : t->rows;
            made_groups m = made_create(c, t, &model, order, row_bits);
            check_keys(&m);
            check_sizes(&m);
            check_rows(&m);
            check_top(&m);
            made_destroy(&m);
        }
    hd_tune.few_groups_limit = HD_TUNING_NONE;
    grouping_free(&model);
}

/* ------------------------------------------------------------------------------------------ tests */

static void columns_of_every_shape(const test_case *c)
{
    static const uint64_t sizes[] = {0, 1, 2, 3, 1000, 10007};
    if (!can_group(c)) return;
    for (uint32_t shape = 0; shape < TABLE_SHAPES; shape++)
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
            for (uint64_t distinct = 1; distinct < 4 * sizes[s] + 2; distinct = distinct * 20 + 1) {
                table_model t = table_make(shape, sizes[s], distinct, shape + 10 * distinct);
                case_note("shape %u, %llu rows, %llu keys", shape, (unsigned long long)sizes[s],
                          (unsigned long long)distinct);
                check_table(c, &t);
                table_free(&t);
            }
}

/* Sets of keys that hurt, some of them with one key very often, in sizes that threads share. */
static void keys_of_every_kind(const test_case *c)
{
    static const uint64_t sizes[] = {255, 30011};
    if (!can_group(c)) return;
    for (uint32_t set = 0; set < KEYS_SETS; set++)
        for (uint32_t bits = 32; bits <= 64; bits += 32)
            for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
                const uint64_t n = case_size(sizes[s]);
                uint64_t *keys = keys_allocate(n);
                keys_fill(keys, n, (key_set)set, bits, 5);
                table_model t = table_of_keys(keys, n, bits);
                case_note("%s, %u bits, %llu rows", keys_name((key_set)set), bits,
                          (unsigned long long)n);
                check_table(c, &t);
                table_free(&t);
                free(keys);
            }
}

static void large_tables(const test_case *c)
{
    static const uint64_t distinct[] = {1, 3, 100, 1000, 5000, 100000, UINT64_C(1) << 40};
    const uint64_t n = case_size((UINT64_C(1) << 20) + 3);
    uint64_t *keys;
    if (!can_group(c)) return;
    keys = keys_allocate(n);
    for (size_t d = 0; d < sizeof distinct / sizeof distinct[0]; d++) {
        const uint32_t bits = d % 3 == 1 ? 64 : 32;
        uint64_t state = d + bits;
        for (uint64_t i = 0; i < n; i++)
            keys[i] = low_bits(keys_below(&state, distinct[d]) * 0x9e3779b1u, bits);
        table_model t = table_of_keys(keys, n, bits);
        const grouping model = table_group(&t);
        case_note("%u bits, %llu keys", bits, (unsigned long long)distinct[d]);
        made_groups m = made_create(c, &t, &model, d % 2, d % 4 < 2 ? 64 : 32);
        check_sizes(&m);
        check_rows(&m);
        made_destroy(&m);
        grouping_free(&model);
        table_free(&t);
    }
    free(keys);
}

/* The same seed gives the same order; every order is a right one. */
static void seeds_give_orders(const test_case *c)
{
    const uint64_t n = case_size(20000);
    table_model t = table_make(4, n, n / 4, 3);
    if (!can_group(c)) return;
    made_groups m = made_columns(c, &t);
    uint64_t *first[2];
    for (int i = 0; i < 2; i++) {
        heddle_groups_options o = HEDDLE_GROUPS_OPTIONS_INIT;
        array rows;
        uint64_t count = 0;
        o.seed = 99;
        check_ok(heddle_groups_create(c->device, m.columns, t.columns, n, &o, &m.groups, NULL));
        check_ok(heddle_groups_count(m.groups, &count));
        rows = array_poisoned(c, ROLE_VALUES, count * 8, 0xcd);
        check_ok(heddle_groups_first(m.groups, array_pointer(&rows), NULL));
        array_pull(&rows);
        first[i] = made_numbers(&rows, count, 64);
        if (i == 1) assert_memory_equal(first[0], first[1], count * 8);
        array_free(&rows);
        heddle_groups_destroy(m.groups);
        m.groups = NULL;
    }
    free(first[0]);
    free(first[1]);
    made_destroy(&m);
    table_free(&t);
}

static void wrong_arguments(const test_case *c)
{
    uint64_t keys[8] = {1, 2, 3, 1, 2, 3, 4, 4}, numbers[8], count;
    heddle_column column = HEDDLE_COLUMN(keys, 8);
    heddle_groups_options o = HEDDLE_GROUPS_OPTIONS_INIT;
    heddle_groups *g = NULL;
    if (!can_group(c)) return;
#define CREATE(device, keys, columns, rows, options, place)                                        \
    check_status(heddle_groups_create(device, keys, columns, rows, options, place, NULL),          \
                 HEDDLE_ERROR_INVALID)
    CREATE(NULL, &column, 1, 8, &o, &g);
    CREATE(c->device, NULL, 1, 8, &o, &g);
    CREATE(c->device, &column, 0, 8, &o, &g);
    CREATE(c->device, &column, HEDDLE_KEY_COLUMNS_MAX + 1, 8, &o, &g);
    CREATE(c->device, &column, 1, 8, &o, NULL);
    column.width = 0;
    CREATE(c->device, &column, 1, 8, &o, &g);
    column.width = 65;
    CREATE(c->device, &column, 1, 8, &o, &g);
    column.width = 8;
    column.reserved = 1;
    CREATE(c->device, &column, 1, 8, &o, &g);
    column.reserved = 0;
    column.data = NULL;
    CREATE(c->device, &column, 1, 8, &o, &g);
    column.data = (const char *)keys + 1;
    CREATE(c->device, &column, 1, 7, &o, &g);
    column.data = keys;
    o.size = 1;
    CREATE(c->device, &column, 1, 8, &o, &g);
    o.size = sizeof o;
    o.order = 2;
    CREATE(c->device, &column, 1, 8, &o, &g);
    o.order = 0;
    o.flags = 16;
    CREATE(c->device, &column, 1, 8, &o, &g);
    o.flags = 0;
    o.row_bits = 16;
    CREATE(c->device, &column, 1, 8, &o, &g);
    o.row_bits = 32;
    CREATE(c->device, &column, 1, UINT64_C(1) << 32, &o, &g);
    o.row_bits = 64;
    CREATE(c->device, &column, 1, UINT64_MAX, &o, &g);
    CREATE(c->device, &column, 1, (UINT64_C(1) << 48) + 1, &o, &g); /* as joins and clusters */
    assert_null(g);
    if (c->device->engine->host_memory)
        check_status(heddle_groups_create(c->device, &column, 1, 8, &o, &g, keys),
                     HEDDLE_ERROR_INVALID);
    check_ok(heddle_groups_create(c->device, &column, 1, 8, NULL, &g, NULL));
    check_ok(heddle_groups_count(g, &count));
    assert_int_equal(count, 4);
    check_status(heddle_groups_count(NULL, &count), HEDDLE_ERROR_INVALID);
    check_status(heddle_groups_count(g, NULL), HEDDLE_ERROR_INVALID);
    check_status(heddle_groups_first(g, NULL, NULL), HEDDLE_ERROR_INVALID);
    check_status(heddle_groups_keys(g, 1, numbers, NULL, NULL), HEDDLE_ERROR_INVALID);
    check_status(heddle_groups_keys(g, 0, NULL, NULL, NULL), HEDDLE_ERROR_INVALID);
    check_status(heddle_groups_sizes(NULL, numbers, NULL), HEDDLE_ERROR_INVALID);
    check_status(heddle_groups_sizes(g, NULL, NULL), HEDDLE_ERROR_INVALID);
    check_status(heddle_groups_of_rows(g, NULL, NULL), HEDDLE_ERROR_INVALID);
    check_status(heddle_groups_rows(g, NULL, numbers, NULL), HEDDLE_ERROR_INVALID);
    check_status(heddle_groups_rows(g, numbers, NULL, NULL), HEDDLE_ERROR_INVALID);
    check_status(heddle_groups_top(g, 2, NULL, &count, NULL), HEDDLE_ERROR_INVALID);
    check_status(heddle_groups_top(g, 2, numbers, NULL, NULL), HEDDLE_ERROR_INVALID);
    check_ok(heddle_groups_top(g, 0, NULL, &count, NULL));
    assert_int_equal(count, 0);
    heddle_groups_destroy(g);
    heddle_groups_destroy(NULL);
}

/* ----------------------------------------------------------------------------------------- faults */

static heddle_status make_and_ask(const test_case *c, const made_groups *m)
{
    uint64_t numbers[512], begins[512], count;
    uint8_t keys[512 * 16];
    heddle_groups *g = NULL;
    heddle_status status = heddle_groups_create(c->device, m->columns, m->table->columns,
                                                m->table->rows, &m->options, &g, NULL);
    assert_true((g != NULL) == (status == HEDDLE_OK));
    if (status == HEDDLE_OK) status = heddle_groups_first(g, numbers, NULL);
    if (status == HEDDLE_OK) status = heddle_groups_keys(g, 1, keys, keys, NULL);
    if (status == HEDDLE_OK) status = heddle_groups_sizes(g, numbers, NULL);
    if (status == HEDDLE_OK) status = heddle_groups_of_rows(g, numbers, NULL);
    if (status == HEDDLE_OK) status = heddle_groups_rows(g, begins, numbers, NULL);
    if (status == HEDDLE_OK) status = heddle_groups_top(g, 10, numbers, &count, NULL);
    heddle_groups_destroy(g);
    return status;
}

static void memory_may_run_out(const test_case *c)
{
    table_model t = table_make(3, 300, 100, 8);
    if (!can_group(c)) return;
    made_groups m = made_columns(c, &t);
    for (uint32_t i = 0; i < 4; i++) {
        const uint32_t order = i % 2;
        bool struck = true;
        hd_tune.few_groups_limit = i < 2 ? 0 : t.rows;
        m.options = (heddle_groups_options)HEDDLE_GROUPS_OPTIONS_INIT;
        m.options.order = order;
        for (uint64_t k = 1; struck; k++) {
            case_note("order %u, allocation %llu", order, (unsigned long long)k);
            hd_fault_arm(k);
            const heddle_status status = make_and_ask(c, &m);
            struck = hd_fault_struck();
            hd_fault_arm(0);
            check(status == (struck ? HEDDLE_ERROR_NO_MEMORY : HEDDLE_OK), "%s: %s",
                  heddle_status_string(status), heddle_last_error());
        }
    }
    hd_tune.few_groups_limit = HD_TUNING_NONE;
    made_destroy(&m);
    table_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OVER_DEVICES(columns_of_every_shape), OVER_DEVICES(keys_of_every_kind),
        OVER_DEVICES(large_tables),           OVER_DEVICES(seeds_give_orders),
        OVER_DEVICES(wrong_arguments),        OVER_DEVICES(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
