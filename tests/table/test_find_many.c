/*
 * test_find_many.c: the contract of find and contains with so many queries that a CPU writes the answers past its
 * caches, in whole runs: runs of keys that are all there, of keys of which none is, and of both kinds, to arrays that
 * begin at a cache line and to arrays that do not.
 */
#include <stdlib.h>
#include <string.h>

#include "support/arrays.h"
#include "support/cases.h"

#define HELD 3000
#define QUERIES ((UINT64_C(1) << 20) + 77) /* more than PAST_CACHES there */
#define RUN 64                             /* as in src/cpu/slots/lookup_stream.inl */
#define LINE 64
#define POISON 0xa5

static void put(void *to, uint64_t i, uint32_t bits, uint64_t number)
{
    memcpy((char *)to + i * bits / 8, &number, bits / 8);
}

static uint64_t get(const void *from, uint64_t i, uint32_t bits)
{
    uint64_t number = 0;
    memcpy(&number, (const char *)from + i * bits / 8, bits / 8);
    return number;
}

static uint64_t key_of(uint64_t number) { return number * 7919 + 3; }
static uint64_t value_of(uint64_t number) { return ~(number * 31); }

/* Which key is asked for; those from HELD on are absent. */
static uint64_t asked(uint64_t query)
{
    const uint64_t number = query * 2654435761u % HELD;
    switch (query / RUN % 4) {
    case 0: return number + HELD;
    case 1: return number + (query % 3 == 0 ? HELD : 0);
    case 2: return number + (query % RUN == RUN - 1 ? HELD : 0);
    default: return number;
    }
}

static heddle_table *make_table(const test_case *c)
{
    heddle_table_options options = case_options(c);
    heddle_table *table = NULL;
    char *keys = malloc(HELD * 8), *values = malloc(HELD * 8);
    for (uint64_t i = 0; i < HELD; i++) {
        put(keys, i, options.key_bits, key_of(i));
        put(values, i, 64, 0);
        if (options.value_bits != 0) put(values, i, options.value_bits, value_of(i));
    }
    check_ok(heddle_table_create(c->device, &options, &table));
    check_ok(heddle_table_insert(table, keys, options.value_bits != 0 ? values : NULL, HELD, NULL,
                                 NULL, NULL));
    free(keys);
    free(values);
    return table;
}

/* The answers, element for element; nothing is written beside them. */
static void check_answers(const test_case *c, const char *values, const uint8_t *found)
{
    const uint32_t bits = c->ops->value_bits;
    for (uint64_t i = 0; i < QUERIES; i++) {
        const uint64_t number = asked(i);
        const bool there = number < HELD;
        const uint64_t untouched = low_bits(UINT64_C(0xa5a5a5a5a5a5a5a5), bits);
        if (found != NULL)
            check(found[i] == there, "query %llu: found %u", (unsigned long long)i, found[i]);
        if (bits != 0)
            check(get(values, i, bits) == (there ? low_bits(value_of(number), bits) : untouched),
                  "query %llu: value %llx", (unsigned long long)i,
                  (unsigned long long)get(values, i, bits));
    }
    if (found != NULL) assert_int_equal(found[QUERIES], POISON);
    if (bits != 0) assert_int_equal((uint8_t)values[QUERIES * bits / 8], POISON);
}

static void many_queries(const test_case *c)
{
    const uint32_t bits = c->ops->value_bits;
    const uint64_t bytes = (QUERIES * 8 / LINE + 3) * LINE;
    if (c->arrays != ARRAYS_HOST) return;
    heddle_table *table = make_table(c);
    char *keys = malloc(QUERIES * 8), *values = aligned_alloc(LINE, bytes);
    uint8_t *found = aligned_alloc(LINE, bytes);
    uint64_t there = 0;
    for (uint64_t i = 0; i < QUERIES; i++) {
        put(keys, i, c->ops->key_bits, key_of(asked(i)));
        there += asked(i) < HELD;
    }
    for (uint32_t way = 0; way < 4; way++) {
        char *values_here = values + (way & 1) * bits / 8;
        uint8_t *found_here = way & 2 ? NULL : found + (way & 1);
        heddle_totals totals = HEDDLE_TOTALS_INIT;
        case_note("beside a cache line %u, flags %u", way & 1, found_here != NULL);
        memset(values, POISON, bytes);
        memset(found, POISON, bytes);
        if (bits != 0)
            check_ok(
                heddle_table_find(table, keys, QUERIES, values_here, found_here, &totals, NULL));
        else check_ok(heddle_table_contains(table, keys, QUERIES, found_here, &totals, NULL));
        assert_int_equal(totals.found, there);
        assert_int_equal(totals.absent, QUERIES - there);
        check_answers(c, values_here, found_here);
        for (char *at = values; at < values_here; at++) assert_int_equal((uint8_t)*at, POISON);
        assert_true(found_here == found || *found == POISON);
    }
    heddle_table_destroy(table);
    free(keys);
    free(values);
    free(found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {OVER_WIDTHS(many_queries)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
