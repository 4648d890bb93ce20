/*
 * test_encode.c: rows of any columns brought together and numbered by key, against a plain model; also
 * where the hash of rows is made bad, so that the answer must come from comparing.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/tuning.h"
#include "relation/encode/encode.h"
#include "support/relate_model.h"

static bool has_groups(const test_case *c)
{
    const hd_relate_ops *relate = c->device->engine->relate(64, 32);
    return c->device->engine->columns != NULL && relate != NULL && relate->group != NULL;
}

/* Columns of the device for rows [first, first + n) of a model's table. */
static void push_columns(const test_case *c, const table_model *t, uint64_t first, uint64_t n,
                         hd_column *columns)
{
    for (uint32_t i = 0; i < t->columns; i++) {
        const column_model *from = &t->column[i];
        void *data = NULL, *valid = NULL;
        check_ok(heddle_memory_allocate(c->device, n * from->width + 1, &data));
        check_ok(heddle_memory_copy(c->device, data, from->data + first * from->width,
                                    n * from->width, NULL));
        if (from->valid != NULL) {
            check_ok(heddle_memory_allocate(c->device, n + 1, &valid));
            check_ok(heddle_memory_copy(c->device, valid, from->valid + first, n, NULL));
        }
        columns[i].data = data;
        columns[i].width = from->width;
        columns[i].valid = valid;
    }
}

static void free_columns(const test_case *c, uint32_t count, const hd_column *columns)
{
    for (uint32_t i = 0; i < count; i++) {
        check_ok(heddle_memory_free(c->device, (void *)(uintptr_t)columns[i].data));
        check_ok(heddle_memory_free(c->device, (void *)(uintptr_t)columns[i].valid));
    }
}

static heddle_status encode(const test_case *c, const hd_row_keys *keys, uint64_t rows,
                            uint32_t bits, uint64_t *numbers, uint64_t *count)
{
    array out = array_poisoned(c, ROLE_VALUES, rows * bits / 8, 0xcd);
    void *memory = NULL;
    check_ok(heddle_memory_allocate(c->device, rows * 8 + 1, &memory));
    const hd_row_source from = {c->device, keys, rows, bits, 11, NULL, 0, false, NULL};
    const heddle_status status = hd_encode_rows(&from, memory, count);
    check_ok(heddle_memory_copy(c->device, out.host, memory, rows * bits / 8, NULL));
    check_ok(heddle_device_synchronize(c->device, NULL));
    for (uint64_t i = 0; i < rows; i++) numbers[i] = array_at(&out, i, bits);
    check_ok(heddle_memory_free(c->device, memory));
    array_free(&out);
    return status;
}

/* Numbers are right when they name the model's groups one to one. */
static void check_numbers(const table_model *t, const uint64_t *numbers, uint64_t count)
{
    const grouping g = table_group(t);
    uint64_t *names = keys_allocate(g.groups + 1);
    assert_int_equal(count, g.groups);
    memset(names, 0xff, g.groups * sizeof *names);
    for (uint64_t row = 0; row < t->rows; row++) {
        const uint64_t group = g.of_row[row];
        check(numbers[row] < count, "a number is too large");
        if (names[group] == UINT64_MAX) names[group] = numbers[row];
        check(names[group] == numbers[row], "row %llu is apart from its equals",
              (unsigned long long)row);
    }
    /* As many names as groups, and all below the count: they are different when all occur. */
    uint8_t *seen = calloc(count + 1, 1);
    for (uint64_t group = 0; group < count; group++) {
        check(seen[names[group]] == 0, "two groups have one number");
        seen[names[group]] = 1;
    }
    free(seen);
    free(names);
    grouping_free(&g);
}

static void encode_split(const test_case *c, const table_model *t, uint64_t border, uint32_t bits)
{
    hd_row_keys keys;
    uint64_t *numbers = keys_allocate(t->rows + 1), count = 77;
    memset(&keys, 0, sizeof keys);
    keys.columns = t->columns;
    keys.n = border;
    push_columns(c, t, 0, border, keys.first);
    push_columns(c, t, border, t->rows - border, keys.second);
    for (int few = 0; few < 2; few++) { /* rows in order; groups known by number */
        hd_tune.few_groups_limit = few ? t->rows : 0;
        check_ok(encode(c, &keys, t->rows, bits, numbers, &count));
        check_numbers(t, numbers, count);
    }
    hd_tune.few_groups_limit = HD_TUNING_NONE;
    free_columns(c, t->columns, keys.first);
    free_columns(c, t->columns, keys.second);
    free(numbers);
}

static void encodes_columns(const test_case *c)
{
    static const uint64_t sizes[] = {0, 1, 2, 1000, 20001};
    if (!has_groups(c)) return;
    for (uint32_t shape = 0; shape < TABLE_SHAPES; shape++)
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
            const uint64_t n = case_size(sizes[s]);
            table_model t = table_make(shape, n, n / 3 + 1, 100 + shape);
            case_note("shape %u, %llu rows", shape, (unsigned long long)n);
            encode_split(c, &t, n, 32);
            encode_split(c, &t, n / 3, 32);
            encode_split(c, &t, 0, 64);
            table_free(&t);
        }
}

/* With few bits left, or none, all that tells keys apart is the comparison. */
static void bad_hashes_do_not_matter(const test_case *c)
{
    static const uint64_t masks[] = {0, 1, 0xff, UINT64_C(0xfff) << 52, UINT64_C(0xffffff)};
    if (!has_groups(c)) return;
    for (size_t m = 0; m < sizeof masks / sizeof masks[0]; m++) {
        hd_tune.row_hash_mask = masks[m];
        for (uint32_t shape = 0; shape < TABLE_SHAPES; shape++) {
            table_model t = table_make(shape, case_size(1500), 500, 7 * shape + m);
            case_note("mask %llx, shape %u", (unsigned long long)masks[m], shape);
            encode_split(c, &t, 1234 < t.rows ? 1234 : t.rows, 32);
            encode_split(c, &t, t.rows, 64);
            table_free(&t);
        }
    }
    hd_tune.row_hash_mask = HD_TUNING_NONE;
}

/* Elements that differ in their last byte only, and a null beside the same bytes. */
static void wide_elements_are_compared_whole(const test_case *c)
{
    const uint64_t n = 500;
    table_model t = {.columns = 1, .rows = n};
    if (!has_groups(c)) return;
    t.column[0].width = 64;
    t.column[0].data = calloc(n, 64);
    t.column[0].valid = calloc(n, 1);
    for (uint64_t i = 0; i < n; i++) {
        t.column[0].data[i * 64 + 63] = (uint8_t)(i % 50);
        t.column[0].valid[i] =
            (uint8_t)(i % 7 != 0 ? i % 5 + 1 : 0); /* any number but 0 is valid */
    }
    encode_split(c, &t, n, 32);
    hd_tune.row_hash_mask = 3;
    encode_split(c, &t, 100, 64);
    hd_tune.row_hash_mask = HD_TUNING_NONE;
    table_free(&t);
}

static void memory_may_run_out(const test_case *c)
{
    static const uint64_t masks[] = {UINT64_MAX, 1};
    if (!has_groups(c)) return;
    for (size_t m = 0; m < 2; m++) {
        table_model t = table_make(3, 200, 50, 5);
        hd_row_keys keys;
        uint64_t *numbers = keys_allocate(t.rows), count = 0;
        bool struck = true;
        memset(&keys, 0, sizeof keys);
        keys.columns = t.columns;
        keys.n = t.rows;
        push_columns(c, &t, 0, t.rows, keys.first);
        hd_tune.row_hash_mask = masks[m];
        for (uint64_t k = 1; struck; k++) {
            case_note("allocation %llu", (unsigned long long)k);
            void *memory = NULL;
            check_ok(heddle_memory_allocate(c->device, t.rows * 4, &memory));
            const hd_row_source from = {c->device, &keys, t.rows, 32, 3, NULL, 0, false, NULL};
            hd_fault_arm(k);
            const heddle_status status = hd_encode_rows(&from, memory, &count);
            struck = hd_fault_struck();
            hd_fault_arm(0);
            check(status == (struck ? HEDDLE_ERROR_NO_MEMORY : HEDDLE_OK), "%s",
                  heddle_last_error());
            check_ok(heddle_memory_free(c->device, memory));
        }
        check_ok(encode(c, &keys, t.rows, 32, numbers, &count));
        check_numbers(&t, numbers, count);
        hd_tune.row_hash_mask = HD_TUNING_NONE;
        free_columns(c, t.columns, keys.first);
        free(numbers);
        table_free(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OVER_DEVICES(encodes_columns),
        OVER_DEVICES(bad_hashes_do_not_matter),
        OVER_DEVICES(wide_elements_are_compared_whole),
        OVER_DEVICES(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
