/* test_visit.c: heddle_table_for_all and heddle_table_for_each give every pair once, and stop when told. */
#include <stdlib.h>
#include <string.h>

#include "support/arrays.h"
#include "support/keys.h"
#include "support/multi.h"
#include "support/sort.h"

/* What a visitor has seen. */
typedef struct seen {
    const multi *m;
    const uint64_t *keys; /* of the batch; NULL: all pairs */
    multi_pair *pairs;
    uint64_t *rows;
    uint64_t count, most; /* it ends the call after so many */
    uint64_t calls;
} seen;

static uint64_t number_at(const void *numbers, uint64_t i, uint32_t bits)
{
    return bits == 32 ? ((const uint32_t *)numbers)[i] : ((const uint64_t *)numbers)[i];
}

static uint32_t note(void *context, const void *keys, const void *values, const uint64_t *rows,
                     uint64_t n)
{
    seen *s = (seen *)context;
    const heddle_table_options *o = &s->m->options;
    s->calls++;
    assert_true(n != 0 && (values == NULL) == (o->value_bits == 0));
    assert_true((rows == NULL) == (s->keys == NULL));
    for (uint64_t i = 0; i < n; i++) {
        multi_pair *pair = &s->pairs[s->count];
        pair->key = number_at(keys, i, o->key_bits);
        pair->value = values != NULL ? number_at(values, i, o->value_bits) : 0;
        if (rows != NULL) {
            assert_int_equal(low_bits(s->keys[rows[i]], o->key_bits), pair->key);
            s->rows[s->count] = rows[i];
        }
        s->count++;
    }
    return s->count >= s->most;
}

static void check_equal(const multi *m, const multi_pair *got, const multi_pair *expected,
                        uint64_t n)
{
    const uint32_t bits = m->options.value_bits;
    for (uint64_t i = 0; i < n; i++)
        check(got[i].key == expected[i].key &&
                  (bits == 0 || got[i].value == low_bits(expected[i].value, bits)),
              "pair %llu is %#llx, %#llx", (unsigned long long)i, (unsigned long long)got[i].key,
              (unsigned long long)got[i].value);
}

static void check_all(multi *m)
{
    seen s = {m, NULL, calloc(m->size + 1, sizeof(multi_pair)), NULL, 0, UINT64_MAX, 0};
    check_ok(heddle_table_for_all(m->table, note, &s, NULL));
    assert_int_equal(s.count, m->size);
    sort_pairs(s.pairs, s.count);
    check_equal(m, s.pairs, m->pairs, m->size);
    free(s.pairs);
}

/* The pairs of key number `row`, of the model. */
static uint64_t model_first(const multi *m, uint64_t key)
{
    uint64_t low = 0, high = m->size;
    while (low < high) {
        const uint64_t middle = (low + high) / 2;
        if (m->pairs[middle].key < key) low = middle + 1;
        else high = middle;
    }
    return low;
}

static void check_each(multi *m, const uint64_t *keys, uint64_t n)
{
    uint64_t expected = 0, at = 0;
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t key = low_bits(keys[i], m->options.key_bits);
        for (uint64_t j = model_first(m, key); j < m->size && m->pairs[j].key == key; j++)
            expected++;
    }
    seen s = {m,
              keys,
              calloc(expected + 1, sizeof(multi_pair)),
              calloc(expected + 1, sizeof(uint64_t)),
              0,
              UINT64_MAX,
              0};
    array k = array_of(m->c, ROLE_KEYS, keys, n, m->options.key_bits);
    check_ok(heddle_table_for_each(m->table, array_pointer(&k), n, note, &s, NULL));
    assert_int_equal(s.count, expected);
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t key = low_bits(keys[i], m->options.key_bits);
        const uint64_t first = model_first(m, key);
        uint64_t count = 0;
        while (at + count < s.count && s.rows[at + count] == i) count++;
        sort_pairs(s.pairs + at, count);
        check_equal(m, s.pairs + at, m->pairs + first, count);
        assert_true(first + count == m->size || m->pairs[first + count].key != key);
        at += count;
    }
    assert_int_equal(at, s.count);
    array_free(&k);
    free(s.pairs);
    free(s.rows);
}

static void pairs_come_once(const test_case *c)
{
    multi m = multi_create(c, NULL);
    const uint64_t n = case_size(20001);
    uint64_t *keys = keys_allocate(2 * n), *values = keys_allocate(2 * n);
    keys_fill(keys, 2 * n, KEYS_TWICE, m.options.key_bits, 5);
    keys_fill_values(values, 2 * n, 5);
    check_all(&m);
    check_each(&m, keys, 10);
    multi_build(&m, keys, m.options.value_bits != 0 ? values : NULL, n);
    check_all(&m);
    check_each(&m, keys + n / 2, n);
    check_each(&m, keys, 0);
    multi_destroy(&m);
    free(keys);
    free(values);
}

static void a_visitor_can_stop(const test_case *c)
{
    multi m = multi_create(c, NULL);
    const uint64_t n = 20000;
    uint64_t *keys = keys_allocate(n);
    seen s = {&m, NULL, calloc(n, sizeof(multi_pair)), calloc(n, sizeof(uint64_t)), 0, 1, 0};
    keys_fill(keys, n, KEYS_SEQUENCE, m.options.key_bits, 5);
    multi_build(&m, keys, m.options.value_bits != 0 ? keys : NULL, n);
    check_ok(heddle_table_for_all(m.table, note, &s, NULL));
    assert_int_equal(s.calls, 1);
    array k = array_of(c, ROLE_KEYS, keys, n, m.options.key_bits);
    s.keys = keys, s.calls = 0, s.count = 0;
    check_ok(heddle_table_for_each(m.table, array_pointer(&k), n, note, &s, NULL));
    assert_int_equal(s.calls, 1);
    check_status(heddle_table_for_all(m.table, NULL, NULL, NULL), HEDDLE_ERROR_INVALID);
    check_status(heddle_table_for_each(m.table, array_pointer(&k), n, NULL, NULL, NULL),
                 HEDDLE_ERROR_INVALID);
    check_status(heddle_table_for_each(m.table, NULL, n, note, &s, NULL), HEDDLE_ERROR_INVALID);
    array_free(&k);
    multi_destroy(&m);
    free(s.pairs);
    free(s.rows);
    free(keys);
}

int main(void)
{
    const struct CMUnitTest tests[] = {OVER_MULTIS(pairs_come_once),
                                       OVER_MULTIS(a_visitor_can_stop)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
