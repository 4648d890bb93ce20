/*
 * multi.h: a graph (set, multimap or counter) and its model. Every call is made on both and everything it
 * says is compared.
 *
 * The model is the plainest there is: all pairs, sorted by key and then by value. Keys and values are
 * given as 64-bit numbers and handed over in the widths of the table.
 */
#ifndef TEST_MULTI_H
#define TEST_MULTI_H

#include "support/cases.h"

typedef struct multi_pair {
    uint64_t key, value;
} multi_pair;

typedef struct multi {
    const test_case *c;
    heddle_table *table;
    heddle_table_options options; /* as the table was made with them */
    multi_pair *pairs;            /* the model */
    uint64_t size;
    uint64_t calls;
} multi;

/* NULL options: case_options. */
multi multi_create(const test_case *c, const heddle_table_options *options);
void multi_destroy(multi *m);

/* Values may be NULL in a set, and in a counter, where each key then counts once. */
void multi_build(multi *m, const uint64_t *keys, const uint64_t *values, uint64_t n);
void multi_insert(multi *m, const uint64_t *keys, const uint64_t *values, uint64_t n);
void multi_erase(multi *m, const uint64_t *keys, uint64_t n);
void multi_clear(multi *m);

/* contains, find, count and retrieve of these keys. */
void multi_look(multi *m, const uint64_t *keys, uint64_t n);
/* The table holds exactly what the model holds: size, export, statistics, validate. */
void multi_check(multi *m);
/* The same of another table. */
void multi_check_table(const multi *m, heddle_table *table);
/* All keys of the model, each once; caller frees. */
uint64_t *multi_keys(const multi *m, uint64_t *count);

/* What the model becomes when these pairs go in; for calls that a test makes itself. */
void multi_model_add(multi *m, const uint64_t *keys, const uint64_t *values, uint64_t n,
                     bool replace);
void multi_model_erase(multi *m, const uint64_t *keys, uint64_t n);

#endif
