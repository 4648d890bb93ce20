/*
 * test_sqlite.c: joins of random tables against SQLite, row by row: nulls, duplicates, skew, empty tables,
 * keys of one column and of several.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/join_model.h"
#include "support/sqlite_tables.h"

/* ---------------------------------------------------------------------------------- random tables */

/* Every other row becomes a copy of row 0. */
static void skew_table(table_model *t)
{
    for (uint64_t row = 2; row < t->rows; row += 2)
        for (uint32_t i = 0; i < t->columns; i++) {
            column_model *column = &t->column[i];
            memcpy(column->data + row * column->width, column->data, column->width);
            if (column->valid != NULL) column->valid[row] = column->valid[0];
        }
}

static uint64_t random_rows(uint64_t *state)
{
    switch (keys_below(state, 6)) {
    case 0: return 0;
    case 1: return 1;
    case 2: return keys_below(state, 10);
    default: return keys_below(state, 200);
    }
}

static join_tables random_tables(uint32_t round)
{
    uint64_t state = 1000 + round;
    const uint64_t left = random_rows(&state), right = random_rows(&state);
    const uint64_t distinct[] = {1, 3, 40, 1000};
    const uint64_t names = distinct[keys_below(&state, 4)];
    join_tables t = {table_make(round % TABLE_SHAPES, left + right, names, state), left};
    if (keys_below(&state, 4) == 0) skew_table(&t.both);
    case_note("round %u: %llu and %llu rows", round, (unsigned long long)left,
              (unsigned long long)right);
    return t;
}

/* ------------------------------------------------------------------------------------------ joins */

/* The query of every kind, in words that old versions of SQLite know, too; %s: equal keys. */
static const char *join_query(uint32_t kind)
{
    switch (kind) {
    case HEDDLE_JOIN_INNER: return "SELECT l.row AS a, r.row AS b FROM l JOIN r ON %s";
    case HEDDLE_JOIN_LEFT: return "SELECT l.row AS a, r.row AS b FROM l LEFT JOIN r ON %s";
    case HEDDLE_JOIN_RIGHT: return "SELECT l.row AS a, r.row AS b FROM r LEFT JOIN l ON %s";
    case HEDDLE_JOIN_FULL:
        return "SELECT l.row AS a, r.row AS b FROM l LEFT JOIN r ON %s UNION ALL "
               "SELECT NULL, r.row FROM r WHERE NOT EXISTS (SELECT 1 FROM l WHERE %s)";
    case HEDDLE_JOIN_SEMI:
        return "SELECT l.row AS a, NULL AS b FROM l WHERE EXISTS (SELECT 1 FROM r WHERE %s)";
    default:
        return "SELECT l.row AS a, NULL AS b FROM l WHERE NOT EXISTS (SELECT 1 FROM r WHERE %s)";
    }
}

static sql_answer ask_join(sqlite3 *db, uint32_t kind, uint32_t columns)
{
    char equal[512] = "", query[2048], ordered[3072];
    size_t at = 0;
    const char *form = join_query(kind);
    for (uint32_t i = 0; i < columns; i++)
        at += (size_t)snprintf(equal + at, sizeof equal - at, "%sl.k%u = r.k%u",
                               i == 0 ? "" : " AND ", i, i);
    at = 0;
    for (const char *text = form; *text != '\0'; text++) {
        if (strncmp(text, "%s", 2) == 0) {
            at += (size_t)snprintf(query + at, sizeof query - at, "%s", equal);
            text++;
        } else query[at++] = *text;
    }
    query[at] = '\0';
    snprintf(ordered, sizeof ordered,
             "SELECT a, b FROM (%s) ORDER BY a IS NULL OR b IS NULL, a IS NULL, a, b", query);
    return sql_ask(db, ordered);
}

static void compare_join(const test_case *c, sqlite3 *db, const join_tables *t,
                         const join_call *call)
{
    join_rows got = join_run(c, t, call);
    sql_answer answer = ask_join(db, call->kind, t->both.columns);
    join_rows_sort(&got);
    check(got.count == answer.rows, "kind %u: %llu rows, not %llu", call->kind,
          (unsigned long long)got.count, (unsigned long long)answer.rows);
    for (uint64_t i = 0; i < got.count; i++) {
        const uint64_t left = answer.valid[2 * i] ? answer.numbers[2 * i] : NO_ROW;
        const uint64_t right = answer.valid[2 * i + 1] ? answer.numbers[2 * i + 1] : NO_ROW;
        check(got.left[i] == left && got.right[i] == right,
              "kind %u: row %llu is (%lld, %lld), not (%lld, %lld)", call->kind,
              (unsigned long long)i, (long long)got.left[i], (long long)got.right[i],
              (long long)left, (long long)right);
    }
    sql_answer_free(&answer);
    join_rows_free(&got);
}

static void joins_are_those_of_sqlite(const test_case *c)
{
    const uint32_t rounds = case_quick() ? 40 : 160;
    if (!join_can_run(c)) return;
    sqlite3 *db = sql_open();
    for (uint32_t round = 0; round < rounds; round++) {
        join_tables t = random_tables(round);
        sql_table_of_model(db, "l", &t.both, 0, t.left);
        sql_table_of_model(db, "r", &t.both, t.left, t.both.rows - t.left);
        for (uint32_t kind = HEDDLE_JOIN_INNER; kind <= HEDDLE_JOIN_ANTI; kind++) {
            const join_call call = {kind, round % 2 == 0 ? 32 : 64, round % 3};
            compare_join(c, db, &t, &call);
        }
        table_free(&t.both);
    }
    sqlite3_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OVER_DEVICES(joins_are_those_of_sqlite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
