/* sqlite_tables.c: see sqlite_tables.h. */
#include "support/sqlite_tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(sqlite3 *db, int code)
{
    check(code == SQLITE_OK || code == SQLITE_DONE || code == SQLITE_ROW, "SQLite: %s",
          sqlite3_errmsg(db));
}

sqlite3 *sql_open(void)
{
    sqlite3 *db = NULL;
    must(db, sqlite3_open(":memory:", &db));
    return db;
}

void sql_run(sqlite3 *db, const char *format, ...)
{
    char text[4096];
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    check(length >= 0 && (size_t)length < sizeof text, "the statement is too long");
    must(db, sqlite3_exec(db, text, NULL, NULL, NULL));
}

/* ---------------------------------------------------------------------------------------- tables */

static void bind_unsigned(sqlite3_stmt *insert, int at, const uint8_t *element, uint32_t width)
{
    uint64_t number = 0;
    memcpy(&number, element, width); /* little end first */
    sqlite3_bind_int64(insert, at, (sqlite3_int64)number);
}

static void bind_signed(sqlite3_stmt *insert, int at, const uint8_t *element, uint32_t width)
{
    int32_t narrow;
    int64_t wide;
    memcpy(&narrow, element, sizeof narrow);
    wide = narrow;
    if (width == 8) memcpy(&wide, element, sizeof wide);
    sqlite3_bind_int64(insert, at, wide);
}

static void bind_real(sqlite3_stmt *insert, int at, const uint8_t *element, uint32_t width)
{
    float narrow;
    double wide;
    memcpy(&narrow, element, sizeof narrow);
    wide = (double)narrow;
    if (width == 8) memcpy(&wide, element, sizeof wide);
    sqlite3_bind_double(insert, at, wide);
}

static void bind_element(sqlite3_stmt *insert, int at, const sql_column *column, uint64_t row)
{
    const uint8_t *element = (const uint8_t *)column->data + row * column->width;
    if (column->valid != NULL && column->valid[row] == 0) {
        sqlite3_bind_null(insert, at);
        return;
    }
    switch (column->type) {
    case SQL_UNSIGNED: bind_unsigned(insert, at, element, column->width); break;
    case SQL_SIGNED: bind_signed(insert, at, element, column->width); break;
    case SQL_REAL: bind_real(insert, at, element, column->width); break;
    default: sqlite3_bind_blob(insert, at, element, (int)column->width, SQLITE_TRANSIENT);
    }
}

static sqlite3_stmt *prepare_insert(sqlite3 *db, const char *name, uint32_t columns)
{
    char text[256];
    sqlite3_stmt *insert = NULL;
    size_t at = (size_t)snprintf(text, sizeof text, "INSERT INTO %s VALUES (?", name);
    for (uint32_t i = 0; i < columns; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, ", ?");
    snprintf(text + at, sizeof text - at, ")");
    must(db, sqlite3_prepare_v2(db, text, -1, &insert, NULL));
    return insert;
}

void sql_table(sqlite3 *db, const char *name, const sql_column *columns, uint32_t count,
               uint64_t rows)
{
    /* Columns without a type keep what they are given. */
    sql_run(db, "DROP TABLE IF EXISTS %s; CREATE TABLE %s (row)", name, name);
    for (uint32_t i = 0; i < count; i++)
        sql_run(db, "ALTER TABLE %s ADD COLUMN %s", name, columns[i].name);
    sql_run(db, "BEGIN");
    sqlite3_stmt *insert = prepare_insert(db, name, count);
    for (uint64_t row = 0; row < rows; row++) {
        sqlite3_bind_int64(insert, 1, (sqlite3_int64)row);
        for (uint32_t i = 0; i < count; i++) bind_element(insert, (int)i + 2, &columns[i], row);
        must(db, sqlite3_step(insert));
        sqlite3_reset(insert);
    }
    sqlite3_finalize(insert);
    sql_run(db, "COMMIT");
}

void sql_table_of_model(sqlite3 *db, const char *name, const table_model *t, uint64_t first,
                        uint64_t rows)
{
    static const char *const names[HEDDLE_KEY_COLUMNS_MAX] = {
        "k0", "k1", "k2",  "k3",  "k4",  "k5",  "k6",  "k7",
        "k8", "k9", "k10", "k11", "k12", "k13", "k14", "k15"};
    sql_column columns[HEDDLE_KEY_COLUMNS_MAX];
    for (uint32_t i = 0; i < t->columns; i++) {
        const column_model *from = &t->column[i];
        const bool number =
            from->width == 1 || from->width == 2 || from->width == 4 || from->width == 8;
        columns[i] = (sql_column){names[i], number ? SQL_UNSIGNED : SQL_BYTES, from->width,
                                  from->data + first * from->width,
                                  from->valid != NULL ? from->valid + first : NULL};
    }
    sql_table(db, name, columns, t->columns, rows);
}

/* --------------------------------------------------------------------------------------- answers */

static uint64_t answer_number(sqlite3_stmt *query, int column)
{
    const double real = sqlite3_column_double(query, column);
    uint64_t bits;
    if (sqlite3_column_type(query, column) != SQLITE_FLOAT)
        return (uint64_t)sqlite3_column_int64(query, column);
    memcpy(&bits, &real, sizeof bits);
    return bits;
}

sql_answer sql_ask(sqlite3 *db, const char *query)
{
    sql_answer answer = {0, 0, NULL, NULL};
    sqlite3_stmt *statement = NULL;
    uint64_t capacity = 0;
    must(db, sqlite3_prepare_v2(db, query, -1, &statement, NULL));
    answer.columns = (uint32_t)sqlite3_column_count(statement);
    for (int code = sqlite3_step(statement); code != SQLITE_DONE; code = sqlite3_step(statement)) {
        must(db, code);
        if (answer.rows == capacity) {
            capacity = capacity * 2 + 64;
            answer.numbers =
                realloc(answer.numbers, capacity * answer.columns * sizeof *answer.numbers);
            answer.valid = realloc(answer.valid, capacity * answer.columns);
        }
        for (uint32_t i = 0; i < answer.columns; i++) {
            const uint64_t at = answer.rows * answer.columns + i;
            answer.valid[at] = sqlite3_column_type(statement, (int)i) != SQLITE_NULL;
            answer.numbers[at] = answer_number(statement, (int)i);
        }
        answer.rows++;
    }
    sqlite3_finalize(statement);
    return answer;
}

void sql_answer_free(sql_answer *answer)
{
    free(answer->numbers);
    free(answer->valid);
    memset(answer, 0, sizeof *answer);
}
