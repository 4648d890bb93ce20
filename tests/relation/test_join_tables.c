/*
 * test_join_tables.c: joins of two multimaps by hashgraph against all pairs of equal keys: sizes that give
 * the two graphs different regions, duplicates, erased keys, tables that are empty, wrong arguments,
 * memory that runs out.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "support/arrays.h"
#include "support/keys.h"
#include "support/sort.h"

#define SEED 77

/* A multimap and what is in it. The value of a pair is its index. */
typedef struct side {
    heddle_table *table;
    uint64_t n;
    uint64_t *keys;
    bool *gone;
} side;

static heddle_table_options multimap_options(uint32_t key_bits, uint32_t value_bits, uint64_t seed)
{
    heddle_table_options o = HEDDLE_TABLE_OPTIONS_INIT;
    o.container = HEDDLE_CONTAINER_MULTIMAP;
    o.key_bits = key_bits;
    o.value_bits = value_bits;
    o.seed = seed;
    return o;
}

/* n keys below `distinct`, spread over the range of the width. */
static side side_make(const test_case *c, uint32_t key_bits, uint32_t value_bits, uint64_t n,
                      uint64_t distinct, uint64_t seed)
{
    const heddle_table_options o = multimap_options(key_bits, value_bits, SEED);
    side s = {NULL, n, (uint64_t *)calloc(n + 1, 8), (bool *)calloc(n + 1, sizeof(bool))};
    uint64_t *values = (uint64_t *)calloc(n + 1, 8);
    for (uint64_t i = 0; i < n; i++) {
        s.keys[i] = low_bits(keys_below(&seed, distinct) * UINT64_C(0x9e3779b97f4a7c15), key_bits);
        values[i] = i;
    }
    array keys_in = array_of(c, ROLE_KEYS, s.keys, n, key_bits);
    array values_in = array_of(c, ROLE_VALUES, values, n, value_bits);
    check_ok(heddle_table_create(c->device, &o, &s.table));
    check_ok(heddle_table_build(s.table, array_pointer(&keys_in), array_pointer(&values_in), n,
                                NULL, NULL, NULL));
    array_free(&keys_in);
    array_free(&values_in);
    free(values);
    return s;
}

static void side_free(side *s)
{
    heddle_table_destroy(s->table);
    free(s->keys);
    free(s->gone);
}

static void side_erase(const test_case *c, side *s, uint32_t key_bits, uint64_t key)
{
    array keys_in = array_of(c, ROLE_KEYS, &key, 1, key_bits);
    check_ok(heddle_table_erase(s->table, array_pointer(&keys_in), 1, NULL, NULL, NULL));
    array_free(&keys_in);
    for (uint64_t i = 0; i < s->n; i++)
        if (s->keys[i] == key) s->gone[i] = true;
}

typedef struct pair {
    uint64_t left, right;
} pair;

static const uint64_t *sorted_by;
static int key_order(const void *a, const void *b)
{
    const uint64_t x = sorted_by[*(const uint64_t *)a], y = sorted_by[*(const uint64_t *)b];
    return x < y ? -1 : x > y;
}

/* All pairs of rows with equal keys, in order. */
static pair *expected_pairs(const side *a, const side *b, uint64_t *count)
{
    uint64_t *order = (uint64_t *)calloc(b->n + 1, 8), room = 16;
    pair *pairs = (pair *)calloc(room, sizeof *pairs);
    for (uint64_t i = 0; i < b->n; i++) order[i] = i;
    sorted_by = b->keys;
    qsort(order, b->n, sizeof *order, key_order);
    *count = 0;
    for (uint64_t i = 0; i < a->n; i++) {
        uint64_t low = 0, high = b->n;
        while (low < high) {
            const uint64_t middle = (low + high) / 2;
            if (b->keys[order[middle]] < a->keys[i]) low = middle + 1;
            else high = middle;
        }
        for (; low < b->n && b->keys[order[low]] == a->keys[i]; low++) {
            if (a->gone[i] || b->gone[order[low]]) continue;
            if (*count == room) pairs = (pair *)realloc(pairs, (room *= 2) * sizeof *pairs);
            pairs[*count].left = i;
            pairs[(*count)++].right = order[low];
        }
    }
    free(order);
    sort_pairs(pairs, *count);
    return pairs;
}

static void check_join(const test_case *c, const side *a, const side *b, uint32_t value_bits)
{
    uint64_t expected_count, count = 0, fetched = 0;
    pair *expected = expected_pairs(a, b, &expected_count);
    heddle_join *join;
    check_ok(heddle_join_tables(a->table, b->table, NULL, &join, NULL));
    check_ok(heddle_join_count(join, &count, NULL));
    check(count == expected_count, "%llu pairs instead of %llu", (unsigned long long)count,
          (unsigned long long)expected_count);
    array left = array_poisoned(c, ROLE_KEYS, count * value_bits / 8, 0xaa);
    array right = array_poisoned(c, ROLE_VALUES, count * value_bits / 8, 0xaa);
    if (count != 0)
        check_ok(heddle_join_fetch(join, array_pointer(&left), array_pointer(&right), count,
                                   &fetched, NULL));
    check(fetched == count, "not all was fetched at once");
    array_pull(&left);
    array_pull(&right);
    pair *got = (pair *)calloc(count + 1, sizeof *got);
    for (uint64_t i = 0; i < count; i++) {
        got[i].left = array_at(&left, i, value_bits);
        got[i].right = array_at(&right, i, value_bits);
    }
    sort_pairs(got, count);
    for (uint64_t i = 0; i < count; i++)
        check(got[i].left == expected[i].left && got[i].right == expected[i].right,
              "pair %llu is wrong", (unsigned long long)i);
    free(got);
    free(expected);
    array_free(&left);
    array_free(&right);
    heddle_join_destroy(join);
}

static bool can_run(const test_case *c)
{
    return c->device->engine->graph(32, 32) != NULL && c->device->engine->relate(32, 32) != NULL;
}

static void tables_are_joined(const test_case *c)
{
    static const uint64_t sizes[][3] = {
        {0, 0, 1},          {0, 100, 10},         {1, 1, 1}, {100, 100, 30}, {3000, 100, 700},
        {50000, 900, 3000}, {40000, 60000, 50000}};
    static const uint32_t widths[] = {32, 64};
    if (!can_run(c)) return;
    for (size_t k = 0; k < 4; k++)
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            const uint32_t key_bits = widths[k / 2], value_bits = widths[k % 2];
            side a = side_make(c, key_bits, value_bits, sizes[i][0], sizes[i][2], 1 + i);
            side b = side_make(c, key_bits, value_bits, sizes[i][1], sizes[i][2], 100 + i);
            case_note("%u/%u bits, sizes %zu", key_bits, value_bits, i);
            check_join(c, &a, &b, value_bits);
            check_join(c, &b, &a, value_bits);
            check_join(c, &a, &a, value_bits);
            if (a.n != 0) side_erase(c, &a, key_bits, a.keys[0]);
            if (b.n != 0) side_erase(c, &b, key_bits, b.keys[b.n / 2]);
            check_join(c, &a, &b, value_bits);
            side_free(&a);
            side_free(&b);
        }
}

static void wrong_tables_are_refused(const test_case *c)
{
    heddle_table *good = NULL, *other = NULL;
    heddle_join *join = NULL;
    heddle_join_options o = HEDDLE_JOIN_OPTIONS_INIT;
    heddle_table_options t = multimap_options(32, 32, SEED);
    if (!can_run(c)) return;
    check_ok(heddle_table_create(c->device, &t, &good));
    check_status(heddle_join_tables(good, good, NULL, NULL, NULL), HEDDLE_ERROR_INVALID);
    check_status(heddle_join_tables(NULL, good, NULL, &join, NULL), HEDDLE_ERROR_INVALID);
    check_status(heddle_join_tables(good, NULL, NULL, &join, NULL), HEDDLE_ERROR_INVALID);
    check_status(heddle_join_tables(good, good, &o, &join, NULL), HEDDLE_ERROR_INVALID);
    o.row_bits = 32;
    o.kind = HEDDLE_JOIN_LEFT;
    check_status(heddle_join_tables(good, good, &o, &join, NULL), HEDDLE_ERROR_UNSUPPORTED);
    t.seed = SEED + 1;
    check_ok(heddle_table_create(c->device, &t, &other));
    check_status(heddle_join_tables(good, other, NULL, &join, NULL), HEDDLE_ERROR_INVALID);
    heddle_table_destroy(other);
    t = multimap_options(32, 64, SEED);
    check_ok(heddle_table_create(c->device, &t, &other));
    check_status(heddle_join_tables(good, other, NULL, &join, NULL), HEDDLE_ERROR_INVALID);
    heddle_table_destroy(other);
    t.container = HEDDLE_CONTAINER_SET;
    t.scheme = HEDDLE_SCHEME_HASHGRAPH;
    t.value_bits = 0;
    check_ok(heddle_table_create(c->device, &t, &other));
    check_status(heddle_join_tables(good, other, NULL, &join, NULL), HEDDLE_ERROR_UNSUPPORTED);
    check(join == NULL, "a refused join leaves a handle");
    heddle_table_destroy(other);
    heddle_table_destroy(good);
}

static void missing_memory_is_told(const test_case *c)
{
    bool struck = true;
    if (!can_run(c)) return;
    side a = side_make(c, 32, 32, 3000, 500, 5), b = side_make(c, 32, 32, 2000, 500, 6);
    side_erase(c, &a, 32, a.keys[0]);
    for (uint64_t fault = 1; struck; fault++) {
        heddle_join *join = NULL;
        hd_fault_arm(fault);
        const heddle_status status = heddle_join_tables(a.table, b.table, NULL, &join, NULL);
        struck = hd_fault_struck() != 0;
        hd_fault_arm(0);
        check(status == (struck ? HEDDLE_ERROR_NO_MEMORY : HEDDLE_OK), "status %d at fault %llu",
              status, (unsigned long long)fault);
        heddle_join_destroy(join);
    }
    check_join(c, &a, &b, 32);
    side_free(&a);
    side_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OVER_DEVICES(tables_are_joined),
        OVER_DEVICES(wrong_tables_are_refused),
        OVER_DEVICES(missing_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
