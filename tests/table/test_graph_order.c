/*
 * test_graph_order.c: a hashgraph with HEDDLE_FLAG_ORDERED: values ascend for every key, and the pairs come
 * out in the same order whatever order they went in, whether at once or in two batches, on every device.
 */
#include <stdlib.h>
#include <string.h>

#include "support/arrays.h"
#include "support/keys.h"

#define SEED 4711

typedef struct pairs {
    uint64_t n, *keys, *values;
} pairs;

static pairs pairs_allocate(uint64_t n)
{
    pairs p = {n, (uint64_t *)calloc(n + 1, 8), (uint64_t *)calloc(n + 1, 8)};
    return p;
}

static void pairs_free(pairs *p)
{
    free(p->keys);
    free(p->values);
}

/* Some keys once, some often, one very often: lists of all lengths. */
static pairs pairs_make(uint64_t n, uint32_t key_bits, uint32_t value_bits)
{
    pairs p = pairs_allocate(n);
    uint64_t state = 9;
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t distinct = i % 4 == 0 ? 1 : i % 4 == 1 ? 50 : n;
        p.keys[i] = low_bits(keys_below(&state, distinct) * UINT64_C(0x9e3779b97f4a7c15), key_bits);
        p.values[i] = low_bits(keys_random(&state), value_bits);
    }
    return p;
}

static pairs pairs_shuffled(const pairs *p, uint64_t seed)
{
    pairs q = pairs_allocate(p->n);
    uint64_t *order = (uint64_t *)calloc(p->n + 1, 8);
    for (uint64_t i = 0; i < p->n; i++) order[i] = i;
    keys_shuffle(order, p->n, seed);
    for (uint64_t i = 0; i < p->n; i++) {
        q.keys[i] = p->keys[order[i]];
        q.values[i] = p->values[order[i]];
    }
    free(order);
    return q;
}

static void insert(const test_case *c, heddle_table *table, const pairs *p, uint64_t first,
                   uint64_t n, uint32_t key_bits, uint32_t value_bits)
{
    array keys = array_of(c, ROLE_KEYS, p->keys + first, n, key_bits);
    array values = array_of(c, ROLE_VALUES, p->values + first, n, value_bits);
    check_ok(heddle_table_insert(table, array_pointer(&keys), array_pointer(&values), n, NULL, NULL,
                                 NULL));
    array_free(&keys);
    array_free(&values);
}

/* What comes out of a table that was given the pairs in `batches` batches. */
static pairs ordered(const test_case *c, heddle_device *device, const pairs *p, uint64_t batches,
                     uint32_t key_bits, uint32_t value_bits)
{
    heddle_table_options o = HEDDLE_TABLE_OPTIONS_INIT;
    heddle_table *table;
    test_case on = *c;
    pairs out = pairs_allocate(p->n);
    uint64_t count = 0;
    on.device = device;
    if (device->engine->host_memory) on.arrays = ARRAYS_HOST;
    o.container = HEDDLE_CONTAINER_MULTIMAP;
    o.key_bits = key_bits;
    o.value_bits = value_bits;
    o.flags = HEDDLE_FLAG_ORDERED;
    o.seed = SEED;
    o.capacity = p->n; /* so that the regions are the same, however the pairs come */
    check_ok(heddle_table_create(device, &o, &table));
    for (uint64_t b = 0; b < batches; b++)
        insert(&on, table, p, p->n * b / batches, p->n * (b + 1) / batches - p->n * b / batches,
               key_bits, value_bits);
    check_ok(heddle_table_validate(table, NULL));
    array keys = array_poisoned(&on, ROLE_KEYS, p->n * key_bits / 8, 0);
    array values = array_poisoned(&on, ROLE_VALUES, p->n * value_bits / 8, 0);
    check_ok(heddle_table_export(table, array_pointer(&keys), array_pointer(&values), p->n, &count,
                                 NULL));
    check(count == p->n, "pairs are missing");
    array_pull(&keys);
    array_pull(&values);
    for (uint64_t i = 0; i < p->n; i++) {
        out.keys[i] = array_at(&keys, i, key_bits);
        out.values[i] = array_at(&values, i, value_bits);
        check(i == 0 || out.keys[i] != out.keys[i - 1] || out.values[i] >= out.values[i - 1],
              "values do not ascend at %llu", (unsigned long long)i);
    }
    array_free(&keys);
    array_free(&values);
    heddle_table_destroy(table);
    return out;
}

static void check_same(const pairs *a, const pairs *b, const char *what)
{
    for (uint64_t i = 0; i < a->n; i++)
        check(a->keys[i] == b->keys[i] && a->values[i] == b->values[i], "%s: pair %llu differs",
              what, (unsigned long long)i);
}

static void order_is_always_the_same(const test_case *c)
{
    static const uint32_t widths[] = {32, 64};
    heddle_device *cpu;
    if (c->device->engine->graph(32, 32) == NULL) return;
    check_ok(heddle_device_open("cpu:2", &cpu));
    for (size_t k = 0; k < 4; k++) {
        const uint32_t key_bits = widths[k / 2], value_bits = widths[k % 2];
        pairs p = pairs_make(case_size(300000), key_bits, value_bits);
        pairs q = pairs_shuffled(&p, 3);
        pairs once = ordered(c, c->device, &p, 1, key_bits, value_bits);
        pairs shuffled = ordered(c, c->device, &q, 1, key_bits, value_bits);
        pairs twice = ordered(c, c->device, &p, 2, key_bits, value_bits);
        check_same(&once, &shuffled, "shuffled");
        check_same(&once, &twice, "in two batches");
        pairs elsewhere = ordered(c, cpu, &q, 1, key_bits, value_bits);
        check_same(&once, &elsewhere, "on the CPU");
        pairs_free(&elsewhere);
        pairs_free(&shuffled);
        pairs_free(&twice);
        pairs_free(&once);
        pairs_free(&p);
        pairs_free(&q);
    }
    heddle_device_close(cpu);
}

static void cuckoo_tables_have_no_order(const test_case *c)
{
    heddle_table_options o = HEDDLE_TABLE_OPTIONS_INIT;
    heddle_table *table = NULL;
    o.flags = HEDDLE_FLAG_ORDERED;
    check_status(heddle_table_create(c->device, &o, &table), HEDDLE_ERROR_UNSUPPORTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OVER_DEVICES(order_is_always_the_same),
        OVER_DEVICES(cuckoo_tables_have_no_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
