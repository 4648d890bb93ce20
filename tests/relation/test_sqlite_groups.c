/*
 * test_sqlite_groups.c: group-bys, distinct keys and set operations on random tables against SQLite: nulls
 * in keys and values, duplicates, skew, empty tables, keys of one column and of several.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/made_groups.h"
#include "support/sort.h"
#include "support/sqlite_tables.h"

#define ROWS_MAX 400

/* A table with a column of integers and one of reals, both with nulls. */
typedef struct test_table {
    table_model keys;
    int64_t integers[ROWS_MAX];
    double reals[ROWS_MAX]; /* halves, so that sums are exact in any order */
    uint8_t valid[ROWS_MAX];
} test_table;

static test_table *make_table(sqlite3 *db, uint32_t round)
{
    static const char *const names[] = {"k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7"};
    static const uint64_t distinct[] = {1, 3, 40, 1000};
    uint64_t state = 500 + round;
    const uint64_t rows = round % 10 == 0 ? keys_below(&state, 2) : keys_below(&state, ROWS_MAX);
    test_table *t = calloc(1, sizeof *t);
    sql_column columns[10];
    uint32_t count;
    t->keys = table_make(round % TABLE_SHAPES, rows, distinct[keys_below(&state, 4)], state);
    for (uint64_t i = 0; i < rows; i++) {
        t->integers[i] = (int64_t)keys_below(&state, 2000000) - 1000000;
        t->reals[i] = (double)((int64_t)keys_below(&state, 20000) - 10000) / 2;
        t->valid[i] = keys_below(&state, 3) != 0;
    }
    for (count = 0; count < t->keys.columns; count++) {
        const column_model *from = &t->keys.column[count];
        const uint32_t w = from->width;
        const sql_type type = w == 1 || w == 2 || w == 4 || w == 8 ? SQL_UNSIGNED : SQL_BYTES;
        columns[count] = (sql_column){names[count], type, w, from->data, from->valid};
    }
    columns[count++] = (sql_column){"v", SQL_SIGNED, 8, t->integers, t->valid};
    columns[count++] = (sql_column){"r", SQL_REAL, 8, t->reals, t->valid};
    sql_table(db, "t", columns, count, rows);
    return t;
}

/* ---------------------------------------------------------------------------------------- group-by */

static void key_list(char *text, size_t size, uint32_t columns)
{
    size_t at = 0;
    for (uint32_t i = 0; i < columns; i++)
        at += (size_t)snprintf(text + at, size - at, "%sk%u", i == 0 ? "" : ", ", i);
}

static sql_answer ask_groups(sqlite3 *db, uint32_t columns)
{
    char keys[128], query[512];
    key_list(keys, sizeof keys, columns);
    snprintf(
        query, sizeof query,
        "SELECT min(row), count(*), count(v), sum(v), min(v), max(v), avg(v), count(r), sum(r), "
        "min(r), max(r), avg(r) FROM t GROUP BY %s ORDER BY min(row)",
        keys);
    return sql_ask(db, query);
}

/* One aggregate of all groups against one column of the answer. */
static void compare_aggregate(made_groups *m, const test_table *t, const sql_answer *answer,
                              uint32_t column, uint32_t aggregate, uint32_t type)
{
    const uint64_t n = t->keys.rows;
    const void *values = type == HEDDLE_TYPE_I64 ? (const void *)t->integers : t->reals;
    uint64_t *words = keys_allocate(n + 1), *out = keys_allocate(answer->rows + 1);
    uint8_t out_valid[ROWS_MAX + 1];
    memcpy(words, values, n * sizeof *words);
    check_ok(
        heddle_groups_aggregate(m->groups, aggregate, type, words, t->valid, out, out_valid, NULL));
    for (uint64_t g = 0; g < answer->rows; g++) {
        const uint64_t at = g * answer->columns + column;
        const bool is_null = answer->valid[at] == 0;
        check(aggregate == HEDDLE_AGGREGATE_COUNT || (out_valid[g] == 0) == is_null,
              "column %u: a null is wrong", column);
        check(out[g] == (is_null ? 0 : answer->numbers[at]), "column %u of group %llu is wrong",
              column, (unsigned long long)g);
    }
    free(words);
    free(out);
}

static void compare_groups(const test_case *c, const test_table *t, const sql_answer *answer,
                           uint32_t row_bits)
{
    static const uint32_t aggregates[] = {HEDDLE_AGGREGATE_COUNT, HEDDLE_AGGREGATE_SUM,
                                          HEDDLE_AGGREGATE_MIN, HEDDLE_AGGREGATE_MAX,
                                          HEDDLE_AGGREGATE_MEAN};
    const grouping model = table_group(&t->keys);
    made_groups m = made_create(c, &t->keys, &model, HEDDLE_GROUPS_BY_FIRST, row_bits);
    uint64_t *sizes = keys_allocate(answer->rows + 1);
    assert_int_equal(model.groups, answer->rows);
    check_ok(heddle_groups_sizes(m.groups, sizes, NULL));
    for (uint64_t g = 0; g < answer->rows; g++) {
        check(answer->numbers[g * answer->columns] == model.rows[model.begins[g]],
              "a group begins at another row");
        check(answer->numbers[g * answer->columns + 1] == sizes[g], "a size is wrong");
    }
    for (uint32_t i = 0; i < 5; i++) {
        compare_aggregate(&m, t, answer, 2 + i, aggregates[i], HEDDLE_TYPE_I64);
        compare_aggregate(&m, t, answer, 7 + i, aggregates[i], HEDDLE_TYPE_F64);
    }
    free(sizes);
    made_destroy(&m);
    grouping_free(&model);
}

static void groups_are_those_of_sqlite(const test_case *c)
{
    const uint32_t rounds = case_quick() ? 40 : 200;
    if (!can_group(c)) return;
    sqlite3 *db = sql_open();
    for (uint32_t round = 0; round < rounds; round++) {
        test_table *t = make_table(db, round);
        case_note("round %u: %llu rows", round, (unsigned long long)t->keys.rows);
        sql_answer answer = ask_groups(db, t->keys.columns);
        compare_groups(c, t, &answer, round % 2 == 0 ? 32 : 64);
        sql_answer_free(&answer);
        table_free(&t->keys);
        free(t);
    }
    sqlite3_close(db);
}

/* ------------------------------------------------------------------------------- distinct and sets */

/* The keys of one column, nulls as ULLONG_MAX, sorted: SELECT DISTINCT. */
static void distinct_keys_are_those_of_sqlite(const test_case *c)
{
    const uint32_t rounds = case_quick() ? 10 : 50;
    if (!can_group(c)) return;
    sqlite3 *db = sql_open();
    for (uint32_t round = 0; round < rounds; round++) {
        test_table *t = make_table(db, round * TABLE_SHAPES + (round % 2) * 2); /* 4 bytes */
        sql_answer answer = sql_ask(db, "SELECT DISTINCT k0 FROM t ORDER BY k0 IS NULL, k0");
        uint32_t keys[ROWS_MAX];
        uint8_t valid[ROWS_MAX];
        uint64_t got[ROWS_MAX], count = 0;
        made_groups m = made_columns(c, &t->keys);
        case_note("round %u: %llu rows", round, (unsigned long long)t->keys.rows);
        check_ok(
            heddle_groups_create(c->device, m.columns, 1, t->keys.rows, NULL, &m.groups, NULL));
        check_ok(heddle_groups_count(m.groups, &count));
        check_ok(heddle_groups_keys(m.groups, 0, keys, valid, NULL));
        assert_int_equal(count, answer.rows);
        for (uint64_t i = 0; i < count; i++) got[i] = valid[i] != 0 ? keys[i] : UINT64_MAX;
        sort_numbers(got, count);
        for (uint64_t i = 0; i < count; i++)
            check(got[i] == (answer.valid[i] != 0 ? answer.numbers[i] : UINT64_MAX),
                  "key %llu is wrong", (unsigned long long)i);
        made_destroy(&m);
        sql_answer_free(&answer);
        table_free(&t->keys);
        free(t);
    }
    sqlite3_close(db);
}

static void sets_are_those_of_sqlite(const test_case *c)
{
    static const char *const words[] = {"", "UNION", "INTERSECT", "EXCEPT"};
    const uint32_t rounds = case_quick() ? 10 : 60;
    if (!can_group(c)) return;
    sqlite3 *db = sql_open();
    for (uint32_t round = 0; round < rounds; round++) {
        uint64_t state = round;
        const uint64_t a = keys_below(&state, 150), b = keys_below(&state, 150);
        table_model t = table_make(0, a + b, 1 + keys_below(&state, 200), round);
        sql_table_of_model(db, "l", &t, 0, a);
        sql_table_of_model(db, "r", &t, a, b);
        for (uint32_t operation = HEDDLE_SET_UNION; operation <= HEDDLE_SET_DIFFERENCE;
             operation++) {
            char query[128];
            uint32_t keys[300];
            uint64_t got[300], count = 0;
            snprintf(query, sizeof query, "SELECT k0 FROM l %s SELECT k0 FROM r ORDER BY 1",
                     words[operation]);
            sql_answer answer = sql_ask(db, query);
            case_note("round %u: %s", round, words[operation]);
            check_ok(heddle_set_operation(c->device, operation, 32, t.column[0].data, a,
                                          t.column[0].data + 4 * a, b, keys, 300, &count, NULL));
            assert_int_equal(count, answer.rows);
            for (uint64_t i = 0; i < count; i++) got[i] = keys[i];
            sort_numbers(got, count);
            for (uint64_t i = 0; i < count; i++)
                check(got[i] == answer.numbers[i], "key %llu is wrong", (unsigned long long)i);
            sql_answer_free(&answer);
        }
        table_free(&t);
    }
    sqlite3_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OVER_DEVICES(groups_are_those_of_sqlite),
        OVER_DEVICES(distinct_keys_are_those_of_sqlite),
        OVER_DEVICES(sets_are_those_of_sqlite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
