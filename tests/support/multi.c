/* multi.c: see multi.h. The calls that look keys up are in multi_look.c. */
#include "support/multi.h"

#include <stdlib.h>
#include <string.h>

#include "support/arrays.h"
#include "support/keys.h"
#include "support/sort.h"

#define POISON_OUTCOME 0xee
#define POISON_FLAG 0xdd

static bool is_multimap(const multi *m)
{
    return m->options.container == HEDDLE_CONTAINER_MULTIMAP;
}

/* --------------------------------------------------------------------------------------- model */

static uint64_t *sorted_copy(const uint64_t *keys, uint64_t n)
{
    uint64_t *copy = keys_allocate(n + 1);
    memcpy(copy, keys, n * sizeof *copy);
    sort_numbers(copy, n);
    return copy;
}

/* One pair a key: the first of a set, the sum of a counter. */
static void fold(multi *m)
{
    uint64_t size = 0;
    for (uint64_t i = 0; i < m->size; i++) {
        if (size != 0 && m->pairs[size - 1].key == m->pairs[i].key)
            m->pairs[size - 1].value =
                low_bits(m->pairs[size - 1].value + m->pairs[i].value, m->options.value_bits);
        else m->pairs[size++] = m->pairs[i];
    }
    m->size = size;
}

void multi_model_add(multi *m, const uint64_t *keys, const uint64_t *values, uint64_t n,
                     bool replace)
{
    const uint64_t old = replace ? 0 : m->size;
    m->pairs = realloc(m->pairs, (old + n + 1) * sizeof *m->pairs);
    assert_non_null(m->pairs);
    for (uint64_t i = 0; i < n; i++) {
        m->pairs[old + i].key = low_bits(keys[i], m->options.key_bits);
        m->pairs[old + i].value = low_bits(values != NULL ? values[i] : 1, m->options.value_bits);
    }
    m->size = old + n;
    sort_pairs(m->pairs, m->size);
    if (!is_multimap(m)) fold(m);
}

void multi_model_erase(multi *m, const uint64_t *keys, uint64_t n)
{
    uint64_t *sorted = sorted_copy(keys, n);
    uint64_t size = 0;
    for (uint64_t i = 0, at = 0; i < m->size; i++) {
        while (at < n && sorted[at] < m->pairs[i].key) at++;
        if (at == n || sorted[at] != m->pairs[i].key) m->pairs[size++] = m->pairs[i];
    }
    m->size = size;
    free(sorted);
}

uint64_t *multi_keys(const multi *m, uint64_t *count)
{
    uint64_t *keys = keys_allocate(m->size + 1);
    *count = 0;
    for (uint64_t i = 0; i < m->size; i++)
        if (*count == 0 || keys[*count - 1] != m->pairs[i].key) keys[(*count)++] = m->pairs[i].key;
    return keys;
}

/* --------------------------------------------------------------------------------------- table */

multi multi_create(const test_case *c, const heddle_table_options *options)
{
    const heddle_table_options usual = case_options(c);
    multi m;
    memset(&m, 0, sizeof m);
    m.c = c;
    m.options.size = sizeof m.options;
    m.pairs = malloc(sizeof *m.pairs);
    check_ok(heddle_table_create(c->device, options != NULL ? options : &usual, &m.table));
    check_ok(heddle_table_get_options(m.table, &m.options));
    return m;
}

void multi_destroy(multi *m)
{
    heddle_table_destroy(m->table);
    free(m->pairs);
}

/* How many of a batch's keys are new and distinct: what a set or counter calls inserted. */
static uint64_t count_fresh(const multi *m, uint64_t before, uint64_t n)
{
    return is_multimap(m) ? n : m->size - before;
}

/* Of equal keys that are new the first is inserted; which one that is need not be the first. */
static void check_outcomes(const multi *m, const array *outcomes, uint64_t n, uint64_t inserted)
{
    const uint8_t old =
        m->options.container == HEDDLE_CONTAINER_SET ? HEDDLE_OUTCOME_KEPT : HEDDLE_OUTCOME_UPDATED;
    uint64_t fresh = 0;
    for (uint64_t i = 0; i < n; i++) {
        fresh += outcomes->host[i] == HEDDLE_OUTCOME_INSERTED;
        check(outcomes->host[i] == HEDDLE_OUTCOME_INSERTED || outcomes->host[i] == old,
              "outcome %u of key %llu", outcomes->host[i], (unsigned long long)i);
    }
    assert_int_equal(fresh, inserted);
}

static void check_totals(const multi *m, const heddle_totals *t, uint64_t n, uint64_t inserted)
{
    assert_int_equal(t->inserted, inserted);
    assert_int_equal(t->inserted + t->kept + t->updated, n);
    assert_int_equal(t->failed + t->found + t->absent, 0);
    assert_int_equal(m->options.container == HEDDLE_CONTAINER_SET ? t->updated : t->kept, 0);
}

static void write_batch(multi *m, const uint64_t *keys, const uint64_t *values, uint64_t n,
                        bool replace)
{
    const bool lazy = m->calls++ % 4 == 3, asks = m->calls % 3 == 0;
    const uint64_t before = replace ? 0 : m->size;
    array k = array_of(m->c, ROLE_KEYS, keys, n, m->options.key_bits);
    array v = array_of(m->c, ROLE_VALUES, values, n,
                       values != NULL && m->options.value_bits != 0 ? m->options.value_bits : 0);
    array outcomes = array_poisoned(m->c, ROLE_FLAGS, asks ? n : 0, POISON_OUTCOME);
    heddle_insert_options options = HEDDLE_INSERT_OPTIONS_INIT;
    heddle_totals totals = HEDDLE_TOTALS_INIT, *asked = lazy ? NULL : &totals;
    if (asks) options.outcomes = array_pointer(&outcomes);
    check_ok(replace ? heddle_table_build(m->table, array_pointer(&k), array_pointer(&v), n,
                                          &options, asked, NULL)
                     : heddle_table_insert(m->table, array_pointer(&k), array_pointer(&v), n,
                                           &options, asked, NULL));
    if (lazy) check_ok(heddle_table_take_totals(m->table, &totals, NULL));
    multi_model_add(m, keys, values, n, replace);
    check_totals(m, &totals, n, count_fresh(m, before, n));
    array_pull(&outcomes);
    if (asks) check_outcomes(m, &outcomes, n, totals.inserted);
    array_free(&k);
    array_free(&v);
    array_free(&outcomes);
}

void multi_build(multi *m, const uint64_t *keys, const uint64_t *values, uint64_t n)
{
    write_batch(m, keys, values, n, true);
}

void multi_insert(multi *m, const uint64_t *keys, const uint64_t *values, uint64_t n)
{
    write_batch(m, keys, values, n, false);
}

void multi_clear(multi *m)
{
    check_ok(heddle_table_clear(m->table, NULL));
    m->size = 0;
}

/* Exactly one of equal keys that were there has its flag set. */
static void check_erased(const uint64_t *keys, const array *flags, uint64_t n, uint64_t distinct)
{
    uint64_t *erased = keys_allocate(n + 1), count = 0;
    for (uint64_t i = 0; i < n; i++) {
        check(flags->host[i] <= 1, "flag %u", flags->host[i]);
        if (flags->host[i] == 1) erased[count++] = keys[i];
    }
    check(count == distinct, "%llu keys erased, not %llu", (unsigned long long)count,
          (unsigned long long)distinct);
    sort_numbers(erased, count);
    for (uint64_t i = 1; i < count; i++)
        check(erased[i - 1] != erased[i], "key %#llx erased twice", (unsigned long long)erased[i]);
    free(erased);
}

void multi_erase(multi *m, const uint64_t *keys, uint64_t n)
{
    uint64_t before = 0, after = 0;
    array k = array_of(m->c, ROLE_KEYS, keys, n, m->options.key_bits);
    array flags = array_poisoned(m->c, ROLE_FLAGS, n, POISON_FLAG);
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    free(multi_keys(m, &before));
    check_ok(
        heddle_table_erase(m->table, array_pointer(&k), n, array_pointer(&flags), &totals, NULL));
    array_pull(&flags);
    multi_model_erase(m, keys, n);
    free(multi_keys(m, &after));
    assert_int_equal(totals.found, before - after);
    assert_int_equal(totals.found + totals.absent, n);
    check_erased(keys, &flags, n, before - after);
    array_free(&k);
    array_free(&flags);
}

/* --------------------------------------------------------------------------------- whole tables */

static void check_export(const multi *m, heddle_table *table)
{
    const uint32_t kb = m->options.key_bits, vb = m->options.value_bits;
    array k = array_poisoned(m->c, ROLE_KEYS, m->size * kb / 8, 0xee);
    array v = array_poisoned(m->c, ROLE_VALUES, m->size * vb / 8, 0xee);
    multi_pair *pairs = malloc((m->size + 1) * sizeof *pairs);
    uint64_t count = 0;
    check_ok(heddle_table_export(table, array_pointer(&k), vb != 0 ? array_pointer(&v) : NULL,
                                 m->size, &count, NULL));
    assert_int_equal(count, m->size);
    array_pull(&k);
    array_pull(&v);
    for (uint64_t i = 0; i < count; i++) {
        pairs[i].key = array_at(&k, i, kb);
        pairs[i].value = vb != 0 ? array_at(&v, i, vb) : 0;
    }
    sort_pairs(pairs, count);
    for (uint64_t i = 0; i < count; i++)
        check(pairs[i].key == m->pairs[i].key && pairs[i].value == low_bits(m->pairs[i].value, vb),
              "exported pair %llu is %#llx, %#llx, not %#llx, %#llx", (unsigned long long)i,
              (unsigned long long)pairs[i].key, (unsigned long long)pairs[i].value,
              (unsigned long long)m->pairs[i].key, (unsigned long long)m->pairs[i].value);
    free(pairs);
    array_free(&k);
    array_free(&v);
}

static void check_stats(const multi *m, heddle_table *table)
{
    heddle_table_stats stats = HEDDLE_TABLE_STATS_INIT;
    uint64_t lists = 0;
    check_ok(heddle_table_get_stats(table, &stats, NULL));
    assert_int_equal(stats.keys, m->size);
    assert_true(stats.bytes_total >= stats.bytes_slots);
    for (int i = 0; i < HEDDLE_PROBES_MAX; i++) lists += stats.probes[i];
    if (m->options.scheme == HEDDLE_SCHEME_HASHGRAPH) {
        assert_int_equal(lists, stats.slots);
        assert_int_equal(stats.slots - stats.probes[0], stats.full);
    } else if (m->options.scheme == HEDDLE_SCHEME_BUCKET_LIST) {
        uint64_t keys = 0;
        free(multi_keys(m, &keys));
        assert_int_equal(lists, keys);
        assert_true(stats.buckets >= keys && stats.full <= stats.buckets);
        assert_true(stats.slots >= m->size + stats.marks);
    } else {
        assert_int_equal(lists, m->size);
        assert_true(stats.slots >= m->size);
    }
}

void multi_check_table(const multi *m, heddle_table *table)
{
    uint64_t size = 0;
    check_ok(heddle_table_size(table, &size, NULL));
    assert_int_equal(size, m->size);
    check_ok(heddle_table_validate(table, NULL));
    check_export(m, table);
    check_stats(m, table);
}

void multi_check(multi *m) { multi_check_table(m, m->table); }
