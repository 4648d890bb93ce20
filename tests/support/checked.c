/* checked.c: making tables, reading them as a whole; see checked.h. */
#include "support/checked.h"

#include <stdlib.h>
#include <string.h>

#include "support/arrays.h"
#include "support/keys.h"

checked checked_adopt(const test_case *c, heddle_table *table, model *m)
{
    checked t = {c, table, m, HEDDLE_TABLE_OPTIONS_INIT, 0, 0, false};
    check_ok(heddle_table_get_options(table, &t.options));
    return t;
}

checked checked_create(const test_case *c, const heddle_table_options *options)
{
    const heddle_table_options usual = case_options(c);
    heddle_table *table = NULL;
    check_ok(heddle_table_create(c->device, options != NULL ? options : &usual, &table));
    assert_string_equal(heddle_table_instance(table), c->ops->name);
    return checked_adopt(c, table, model_create());
}

void checked_destroy(checked *t)
{
    heddle_table_destroy(t->table);
    model_destroy(t->model);
    t->table = NULL;
    t->model = NULL;
}

heddle_totals *checked_totals(checked *t, lazy_totals *totals, bool may_be_lazy)
{
    memset(&totals->given, 0xcc, sizeof totals->given);
    totals->given.size = sizeof totals->given;
    totals->given.reserved = 0;
    totals->lazy = may_be_lazy && t->calls % 4 == 3;
    t->calls++;
    return totals->lazy ? NULL : &totals->given;
}

heddle_totals checked_taken(checked *t, lazy_totals *totals)
{
    static const heddle_totals nothing = HEDDLE_TOTALS_INIT;
    heddle_totals rest = HEDDLE_TOTALS_INIT;
    if (!totals->lazy) return totals->given;
    check_ok(heddle_table_peek_totals(t->table, &rest, NULL));
    check_ok(heddle_table_take_totals(t->table, &totals->given, NULL));
    assert_memory_equal(&rest, &totals->given, sizeof rest);
    check_ok(heddle_table_take_totals(t->table, &rest, NULL));
    assert_memory_equal(&rest, &nothing, sizeof rest);
    return totals->given;
}

void checked_peek(checked *t, const uint64_t *keys, uint64_t n, uint8_t *found, uint64_t *values)
{
    const uint32_t bits = t->options.value_bits;
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    array key_array = array_of(t->c, ROLE_KEYS, keys, n, t->options.key_bits);
    array value_array = array_poisoned(t->c, ROLE_VALUES, n * bits / 8, 0);
    array flags = array_poisoned(t->c, ROLE_FLAGS, n, 0);
    if (bits != 0)
        check_ok(heddle_table_find(t->table, array_pointer(&key_array), n,
                                   array_pointer(&value_array), array_pointer(&flags), &totals,
                                   NULL));
    else
        check_ok(heddle_table_contains(t->table, array_pointer(&key_array), n,
                                       array_pointer(&flags), &totals, NULL));
    array_pull(&value_array);
    array_pull(&flags);
    for (uint64_t i = 0; i < n; i++) {
        found[i] = flags.host[i];
        values[i] = array_at(&value_array, i, bits);
    }
    array_free(&key_array);
    array_free(&value_array);
    array_free(&flags);
}

static const uint64_t *sorted_keys; /* qsort hands nothing through to its comparison */

static int by_key(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a;
    const uint64_t y = *(const uint64_t *)b;
    if (sorted_keys[x] != sorted_keys[y]) return sorted_keys[x] < sorted_keys[y] ? -1 : 1;
    return x < y ? -1 : x > y;
}

uint64_t *checked_order(const uint64_t *keys, uint64_t n)
{
    uint64_t *order = keys_allocate(n);
    for (uint64_t i = 0; i < n; i++) order[i] = i;
    sorted_keys = keys;
    qsort(order, n, sizeof *order, by_key);
    return order;
}

void checked_size(checked *t)
{
    uint64_t count = 77;
    check_ok(heddle_table_size(t->table, &count, NULL));
    check(count == model_size(t->model), "the table says it has %llu keys, the model has %llu",
          (unsigned long long)count, (unsigned long long)model_size(t->model));
}

static void compare_pairs(const test_case *c, const array *keys, const array *values,
                          const model *m)
{
    const uint64_t n = model_size(m);
    model *seen = model_create();
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t key = array_at(keys, i, c->ops->key_bits);
        uint64_t value = 0;
        check(model_find(m, key, &value), "exported key %#llx was never put in",
              (unsigned long long)key);
        check(!model_find(seen, key, NULL), "key %#llx was exported twice",
              (unsigned long long)key);
        check(array_at(values, i, c->ops->value_bits) == low_bits(value, c->ops->value_bits),
              "key %#llx was exported with a wrong value", (unsigned long long)key);
        model_set(seen, key, 0);
    }
    model_destroy(seen);
}

void checked_export(const test_case *c, heddle_table *table, const model *m)
{
    const uint64_t n = model_size(m);
    uint64_t count = 0;
    array keys = array_poisoned(c, ROLE_KEYS, n * c->ops->key_bits / 8, 0xdb);
    array values = array_poisoned(c, ROLE_VALUES, n * c->ops->value_bits / 8, 0xdb);
    check_ok(heddle_table_export(table, array_pointer(&keys),
                                 case_is_map(c) ? array_pointer(&values) : NULL, n, &count, NULL));
    check(count == n, "%llu pairs exported, not %llu", (unsigned long long)count,
          (unsigned long long)n);
    array_pull(&keys);
    array_pull(&values);
    compare_pairs(c, &keys, &values, m);
    array_free(&keys);
    array_free(&values);
}

void checked_all(checked *t)
{
    const uint64_t n = model_size(t->model);
    uint64_t *keys = keys_allocate(n);
    check_ok(heddle_table_validate(t->table, NULL));
    checked_size(t);
    checked_export(t->c, t->table, t->model);
    model_export(t->model, keys, NULL);
    checked_find(t, keys, n);
    free(keys);
}

void checked_clear(checked *t)
{
    check_ok(heddle_table_clear(t->table, NULL));
    model_clear(t->model);
    checked_size(t);
}
