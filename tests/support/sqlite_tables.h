/*
 * sqlite_tables.h: tables of SQLite made from columns in memory, and what its queries answer. SQLite is
 * the judge of what a join or a group-by means. Compiled where sqlite3.h is found.
 */
#ifndef TEST_SQLITE_TABLES_H
#define TEST_SQLITE_TABLES_H

#include <sqlite3.h>

#include "support/relate_model.h"

typedef enum sql_type {
    SQL_UNSIGNED, /* 1, 2, 4 or 8 bytes; SQLite sees 64 bits with a sign */
    SQL_SIGNED,   /* 4 or 8 bytes */
    SQL_REAL,     /* 4 or 8 bytes */
    SQL_BYTES,    /* any width, compared by bytes */
} sql_type;

typedef struct sql_column {
    const char *name;
    sql_type type;
    uint32_t width;
    const void *data;
    const uint8_t *valid; /* NULL: no nulls */
} sql_column;

/* A database in memory; sqlite3_close ends it. */
sqlite3 *sql_open(void);
/* Runs statements without an answer, printf style. */
void sql_run(sqlite3 *db, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Makes a table with these columns and one more in front, `row`, that numbers its rows from 0. */
void sql_table(sqlite3 *db, const char *name, const sql_column *columns, uint32_t count,
               uint64_t rows);
/* The same for rows [first, first + rows) of a table of key columns, which are called k0, k1, ... */
void sql_table_of_model(sqlite3 *db, const char *name, const table_model *t, uint64_t first,
                        uint64_t rows);

/* A query's answer: numbers, row by row. */
typedef struct sql_answer {
    uint64_t rows;
    uint32_t columns;
    uint64_t *numbers; /* integers as they are, reals by their bits */
    uint8_t *valid;    /* 0 where the answer is null */
} sql_answer;

sql_answer sql_ask(sqlite3 *db, const char *query);
void sql_answer_free(sql_answer *answer);

#endif
