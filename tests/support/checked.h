/*
 * checked.h: a table and its model. Every call is made on both and everything it says is compared:
 * status, totals, outcomes, flags, values (poisoned beforehand, untouched where a key is absent),
 * the size afterwards. Every fourth call goes without `totals` and reads the sums that the table
 * kept instead.
 *
 * Keys and values are given as 64-bit numbers and handed over in the widths of the table. Where the
 * contract leaves the value of a key open (duplicates in one batch under KEEP and REPLACE), any
 * occurrence's value passes and the model takes it over.
 */
#ifndef TEST_CHECKED_H
#define TEST_CHECKED_H

#include "support/cases.h"
#include "support/model.h"

typedef struct checked {
    const test_case *c;
    heddle_table *table;
    model *model;
    heddle_table_options options; /* as the table runs with them when it was made */
    uint64_t calls;
    uint64_t fault; /* not 0: insert and build meet a failure at this allocation */
    bool struck;    /* whether the last such call met it */
} checked;

/* NULL options: case_options. */
checked checked_create(const test_case *c, const heddle_table_options *options);
/* Takes over a table that is there, with the model of what should be in it. */
checked checked_adopt(const test_case *c, heddle_table *table, model *m);
void checked_destroy(checked *t);

/*
 * Values may be NULL for a set. A FIXED table may be given too much, and memory may run out where a
 * fault is set: what did not fit is checked. A build that fails early leaves the old content or
 * none.
 */
heddle_totals checked_insert(checked *t, const uint64_t *keys, const uint64_t *values, uint64_t n,
                             uint32_t policy);
heddle_totals checked_build(checked *t, const uint64_t *keys, const uint64_t *values, uint64_t n,
                            uint32_t policy);
/* find in a map, contains in a set. */
heddle_totals checked_find(checked *t, const uint64_t *keys, uint64_t n);
heddle_totals checked_contains(checked *t, const uint64_t *keys, uint64_t n);
heddle_totals checked_erase(checked *t, const uint64_t *keys, uint64_t n);
void checked_clear(checked *t);

/* The table holds exactly what the model holds: size, export, find of every key, validate. */
void checked_all(checked *t);
/* The export of `table` is the content of `m`. */
void checked_export(const test_case *c, heddle_table *table, const model *m);
void checked_size(checked *t);

/* For the checks themselves. */
typedef struct lazy_totals {
    bool lazy;
    heddle_totals given;
} lazy_totals;
/* What to pass as `totals`: NULL in every fourth call. */
heddle_totals *checked_totals(checked *t, lazy_totals *totals, bool may_be_lazy);
/* After the call: the totals, from where they are. */
heddle_totals checked_taken(checked *t, lazy_totals *totals);
/* Where keys are found now, and their values: one plain call that the model does not see. */
void checked_peek(checked *t, const uint64_t *keys, uint64_t n, uint8_t *found, uint64_t *values);
/* The order that brings equal keys together: indices of keys, sorted by key. Caller frees. */
uint64_t *checked_order(const uint64_t *keys, uint64_t n);

#endif
