/* join_model.c: see join_model.h. */
#include "support/join_model.h"
#include "support/sort.h"

#include <stdlib.h>
#include <string.h>

bool join_can_run(const test_case *c)
{
    const hd_engine *engine = c->device->engine;
    const hd_relate_ops *relate = engine->relate(32, 32);
    return engine->columns != NULL && relate != NULL && relate->join_count != NULL &&
           relate->group != NULL;
}

/* ------------------------------------------------------------------------------------------ rows */

static join_rows rows_make(uint64_t capacity)
{
    join_rows rows = {0, keys_allocate(capacity + 1), keys_allocate(capacity + 1)};
    return rows;
}

static void rows_add(join_rows *rows, uint64_t left, uint64_t right)
{
    rows->left[rows->count] = left;
    rows->right[rows->count++] = right;
}

void join_rows_free(join_rows *rows)
{
    free(rows->left);
    free(rows->right);
    memset(rows, 0, sizeof *rows);
}

void join_rows_sort(join_rows *rows)
{
    uint64_t matches = 0;
    while (matches < rows->count && rows->left[matches] != NO_ROW && rows->right[matches] != NO_ROW)
        matches++;
    uint64_t *pairs = keys_allocate(2 * matches + 1);
    for (uint64_t i = 0; i < matches; i++) {
        pairs[2 * i] = rows->left[i];
        pairs[2 * i + 1] = rows->right[i];
    }
    sort_pairs(pairs, matches);
    for (uint64_t i = 0; i < matches; i++) {
        rows->left[i] = pairs[2 * i];
        rows->right[i] = pairs[2 * i + 1];
    }
    free(pairs);
}

/* ----------------------------------------------------------------------------------------- model */

static bool has_null(const table_model *t, uint64_t row)
{
    bool null = false;
    for (uint32_t i = 0; i < t->columns; i++)
        null = null || (t->column[i].valid != NULL && t->column[i].valid[row] == 0);
    return null;
}

/* The right rows that match a left row, or the left rows that match a right one: places of g->rows. */
typedef struct partners {
    uint64_t begin, end;
} partners;

static partners partners_of(const join_tables *t, const grouping *g, uint64_t row)
{
    const uint64_t group = g->of_row[row];
    partners p = {g->begins[group], g->begins[group + 1]};
    uint64_t border = p.begin; /* rows ascend: left ones first */
    while (border < p.end && g->rows[border] < t->left) border++;
    if (has_null(&t->both, row)) p.end = p.begin;
    else if (row < t->left) p.begin = border;
    else p.end = border;
    return p;
}

static uint64_t most_rows(const join_tables *t, const grouping *g)
{
    uint64_t most = t->both.rows;
    for (uint64_t group = 0; group < g->groups; group++) {
        uint64_t left = 0;
        for (uint64_t i = g->begins[group]; i < g->begins[group + 1]; i++)
            left += g->rows[i] < t->left;
        most += left * (g->begins[group + 1] - g->begins[group] - left);
    }
    return most;
}

static void add_alone(const join_tables *t, const grouping *g, bool matched, bool right,
                      join_rows *rows)
{
    const uint64_t begin = right ? t->left : 0, end = right ? t->both.rows : t->left;
    for (uint64_t row = begin; row < end; row++) {
        const partners p = partners_of(t, g, row);
        if ((p.begin < p.end) == matched)
            rows_add(rows, right ? NO_ROW : row, right ? row - t->left : NO_ROW);
    }
}

join_rows join_model(const join_tables *t, uint32_t kind)
{
    const grouping g = table_group(&t->both);
    join_rows rows = rows_make(most_rows(t, &g));
    if (kind == HEDDLE_JOIN_SEMI || kind == HEDDLE_JOIN_ANTI) {
        add_alone(t, &g, kind == HEDDLE_JOIN_SEMI, false, &rows);
    } else {
        for (uint64_t row = 0; row < t->left; row++) {
            const partners p = partners_of(t, &g, row);
            for (uint64_t i = p.begin; i < p.end; i++) rows_add(&rows, row, g.rows[i] - t->left);
        }
        if (kind == HEDDLE_JOIN_LEFT || kind == HEDDLE_JOIN_FULL)
            add_alone(t, &g, false, false, &rows);
        if (kind == HEDDLE_JOIN_RIGHT || kind == HEDDLE_JOIN_FULL)
            add_alone(t, &g, false, true, &rows);
    }
    grouping_free(&g);
    return rows;
}

/* --------------------------------------------------------------------------------------- library */

static array array_of_bytes(const test_case *c, uint32_t role, const uint8_t *bytes, uint64_t n)
{
    array a = array_poisoned(c, role, n, 0);
    memcpy(a.host, bytes, n);
    if (a.memory != NULL) check_ok(heddle_memory_copy(c->device, a.memory, a.host, n, NULL));
    return a;
}

join_columns join_columns_make(const test_case *c, const table_model *t, uint64_t first,
                               uint64_t rows)
{
    join_columns made;
    memset(&made, 0, sizeof made);
    made.count = t->columns;
    for (uint32_t i = 0; i < t->columns; i++) {
        const column_model *from = &t->column[i];
        made.data[i] =
            array_of_bytes(c, ROLE_KEYS + i, from->data + first * from->width, rows * from->width);
        made.columns[i].data = array_pointer(&made.data[i]);
        made.columns[i].width = from->width;
        if (from->valid == NULL) continue;
        made.valid[i] = array_of_bytes(c, ROLE_VALUES + i, from->valid + first, rows);
        made.columns[i].valid = array_pointer(&made.valid[i]);
    }
    return made;
}

void join_columns_free(join_columns *columns)
{
    for (uint32_t i = 0; i < columns->count; i++) {
        array_pull(&columns->data[i]);
        array_free(&columns->data[i]);
        if (columns->columns[i].valid == NULL) continue;
        array_pull(&columns->valid[i]);
        array_free(&columns->valid[i]);
    }
}

static uint64_t row_at(const array *a, uint64_t i, uint32_t bits)
{
    const uint64_t row = array_at(a, i, bits);
    return bits == 32 && row == HEDDLE_ROW_NONE_32 ? NO_ROW : row;
}

/* Fetches everything that is left. */
static void fetch_rows(const test_case *c, heddle_join *join, const join_call *call,
                       uint64_t capacity, join_rows *rows, uint64_t expected)
{
    const uint32_t width = call->row_bits / 8;
    const bool pairs = call->kind != HEDDLE_JOIN_SEMI && call->kind != HEDDLE_JOIN_ANTI;
    uint64_t got = 1;
    while (got != 0) {
        array left = array_poisoned(c, ROLE_KEYS, capacity * width, 0xcd);
        array right = array_poisoned(c, ROLE_VALUES, pairs ? capacity * width : 0, 0xcd);
        check_ok(heddle_join_fetch(join, array_pointer(&left), pairs ? array_pointer(&right) : NULL,
                                   capacity, &got, NULL));
        array_pull(&left);
        array_pull(&right);
        check(got <= capacity && rows->count + got <= expected, "too many rows were fetched");
        check(got != 0 || rows->count == expected, "only %llu of %llu rows were fetched",
              (unsigned long long)rows->count, (unsigned long long)expected);
        for (uint64_t i = 0; i < got; i++)
            rows_add(rows, row_at(&left, i, call->row_bits),
                     pairs ? row_at(&right, i, call->row_bits) : NO_ROW);
        array_free(&left);
        array_free(&right);
    }
}

join_rows join_run(const test_case *c, const join_tables *t, const join_call *call)
{
    const uint64_t right_rows = t->both.rows - t->left;
    join_columns left = join_columns_make(c, &t->both, 0, t->left);
    join_columns right = join_columns_make(c, &t->both, t->left, right_rows);
    heddle_join_options options = HEDDLE_JOIN_OPTIONS_INIT;
    heddle_join *join = NULL;
    uint64_t count = 0, least = 0, capacity;
    options.kind = call->kind;
    options.row_bits = call->row_bits;
    check_ok(heddle_join_create(c->device, left.columns, right.columns, left.count, t->left,
                                right_rows, &options, &join, NULL));
    check_ok(heddle_join_count(join, &count, &least));
    check((least == 0) == (count == 0) && least <= count, "a slice of %llu rows makes no sense",
          (unsigned long long)least);
    capacity = call->slice == 0 ? count : call->slice > least ? call->slice : least;
    join_rows rows = rows_make(count);
    fetch_rows(c, join, call, capacity, &rows, count);
    if (call->slice != 0 && count != 0) { /* from the beginning again, and in one piece */
        check_ok(heddle_join_rewind(join));
        rows.count = 0;
        fetch_rows(c, join, call, count, &rows, count);
    }
    heddle_join_destroy(join);
    join_columns_free(&left);
    join_columns_free(&right);
    return rows;
}

void join_check(const test_case *c, const join_tables *t, const join_call *call)
{
    join_rows expected = join_model(t, call->kind), got = join_run(c, t, call);
    join_rows_sort(&got);
    check(got.count == expected.count, "%llu rows, not %llu", (unsigned long long)got.count,
          (unsigned long long)expected.count);
    for (uint64_t i = 0; i < got.count; i++)
        check(got.left[i] == expected.left[i] && got.right[i] == expected.right[i],
              "row %llu is (%lld, %lld), not (%lld, %lld)", (unsigned long long)i,
              (long long)got.left[i], (long long)got.right[i], (long long)expected.left[i],
              (long long)expected.right[i]);
    join_rows_free(&got);
    join_rows_free(&expected);
}

void join_check_kinds(const test_case *c, const join_tables *t, uint32_t row_bits, uint64_t slice)
{
    for (uint32_t kind = HEDDLE_JOIN_INNER; kind <= HEDDLE_JOIN_ANTI; kind++) {
        const join_call call = {kind, row_bits, slice};
        join_check(c, t, &call);
    }
}
