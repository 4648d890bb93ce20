/* test_thread_counts.c: the same calls with one thread and with many leave the same content. */
#include <stdlib.h>
#include <string.h>

#include "support/arrays.h"
#include "support/checked.h"
#include "support/keys.h"
#include "support/sort.h"

typedef struct pair {
    uint64_t key;
    uint64_t value;
} pair;

/* All pairs of a table in the order of their keys; caller frees. */
static pair *sorted_pairs(const checked *t, uint64_t *count)
{
    const uint64_t n = model_size(t->model);
    test_case host = *t->c;
    host.arrays = ARRAYS_HOST;
    array keys = array_poisoned(&host, ROLE_KEYS, n * t->options.key_bits / 8, 0);
    array values = array_poisoned(&host, ROLE_VALUES, n * t->options.value_bits / 8, 0);
    pair *pairs = malloc((n + 1) * sizeof *pairs);
    assert_non_null(pairs);
    check_ok(heddle_table_export(t->table, array_pointer(&keys),
                                 t->options.value_bits != 0 ? array_pointer(&values) : NULL, n,
                                 count, NULL));
    for (uint64_t i = 0; i < *count; i++)
        pairs[i] = (pair){array_at(&keys, i, t->options.key_bits),
                          array_at(&values, i, t->options.value_bits)};
    sort_pairs(pairs, *count);
    array_free(&keys);
    array_free(&values);
    return pairs;
}

/* Only policies whose result does not hang on the order of arrival, with duplicates in plenty. */
static pair *run_calls(const test_case *c, const char *device_name, uint64_t *count)
{
    const uint64_t n = case_size(40009);
    uint64_t *keys = keys_allocate(n);
    uint64_t *values = keys_allocate(n);
    test_case own = *c;
    own.device_name = device_name;
    own.arrays = ARRAYS_HOST;
    check_ok(heddle_device_open(device_name, &own.device));
    checked t = checked_create(&own, NULL);
    for (uint32_t round = 0; round < 3; round++) {
        keys_fill(keys, n, round == 1 ? KEYS_ZIPF : KEYS_TWICE, c->ops->key_bits, 211 + round / 2);
        keys_fill_values(values, n, round);
        checked_insert(&t, keys, values, n, HEDDLE_POLICY_ADD + round);
        checked_erase(&t, keys, n / 3);
    }
    checked_all(&t);
    pair *pairs = sorted_pairs(&t, count);
    checked_destroy(&t);
    heddle_device_close(own.device);
    free(keys);
    free(values);
    return pairs;
}

static void same_content(const test_case *c)
{
    static const char *const others[] = {"cpu:2", "cpu:5"};
    uint64_t count_one = 0;
    if (strcmp(c->device_name, "cpu:1") != 0) return;
    pair *one = run_calls(c, "cpu:1", &count_one);
    for (uint32_t i = 0; i < 2; i++) {
        uint64_t count_many = 0;
        case_note("against %s", others[i]);
        pair *many = run_calls(c, others[i], &count_many);
        assert_int_equal(count_one, count_many);
        assert_memory_equal(one, many, count_one * sizeof *one);
        free(many);
    }
    free(one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OVER_TABLES(same_content),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
