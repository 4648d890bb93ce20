/*
 * test_graph_contents.c: hashgraphs, as sets, multimaps and counters, hold what they were given: builds,
 * insertions, erasures and lookups on every container and width, against a plain model.
 */
#include <stdlib.h>
#include <string.h>

#include "support/arrays.h"
#include "support/keys.h"
#include "support/multi.h"

/* Keys and values, twice as many as are inserted at first. */
typedef struct material {
    uint64_t n;
    uint64_t *keys, *values;
} material;

static material material_make(const multi *m, uint64_t n, key_set set, uint64_t seed)
{
    material x = {n, keys_allocate(2 * n + 1), keys_allocate(2 * n + 1)};
    keys_fill(x.keys, 2 * n, set, m->options.key_bits, seed);
    keys_fill_values(x.values, 2 * n, seed);
    return x;
}

static void material_free(material *x)
{
    free(x->keys);
    free(x->values);
}

/* A counter is given weights in one test and none in the other. */
static const uint64_t *values_for(const multi *m, const material *x, bool weighted)
{
    if (m->options.value_bits == 0) return NULL;
    return m->options.container == HEDDLE_CONTAINER_COUNTER && !weighted ? NULL : x->values;
}

/* Queries: keys that are there, keys that may not be, in no order. A long list is asked for rarely. */
static void look_around(multi *m, const material *x)
{
    const uint64_t most = x->n < 2000 ? 2 * x->n : 4000;
    const bool heavy = m->size > 100000 && m->size / 64 > most;
    multi_look(m, x->keys, heavy ? 3 : most);
}

static void run_set(const test_case *c, uint64_t n, key_set set)
{
    multi m = multi_create(c, NULL);
    material x = material_make(&m, n, set, n + (uint64_t)set);
    const uint64_t *values = values_for(&m, &x, (n & 1) != 0);
    const bool few = set == KEYS_ZEROS || set == KEYS_ONES || set == KEYS_EQUAL;
    case_note("%llu keys %s", (unsigned long long)n, keys_name(set));
    multi_build(&m, x.keys, values, n);
    multi_check(&m);
    if (few && n > 3000) multi_look(&m, x.keys, 2);
    else look_around(&m, &x);
    multi_insert(&m, x.keys + n / 2, values != NULL ? values + n / 2 : NULL, n);
    multi_check(&m);
    multi_erase(&m, x.keys + n / 4, n / 3);
    multi_check(&m);
    if (!few || n <= 3000) look_around(&m, &x);
    multi_insert(&m, x.keys, values, n / 3);
    multi_check(&m);
    multi_destroy(&m);
    material_free(&x);
}

static void key_sets(const test_case *c)
{
    for (int set = 0; set < KEYS_SETS; set++) run_set(c, case_size(3001), (key_set)set);
}

static void small_sizes(const test_case *c)
{
    static const uint64_t sizes[] = {0, 1, 2, 3, 7, 8, 9, 31, 32, 33, 65, 100, 257};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        run_set(c, sizes[i], KEYS_EDGES);
        run_set(c, sizes[i], KEYS_ZIPF);
        run_set(c, sizes[i], KEYS_ONES);
    }
}

/* Around the numbers of pairs at which a graph has one region more in every two. */
static void region_limits(const test_case *c)
{
    const hd_graph_ops *ops = c->device->engine->graph(c->graph->key_bits, c->graph->value_bits);
    for (uint64_t regions = 2; regions <= 4; regions *= 2) {
        run_set(c, regions * ops->region_pairs - 1, KEYS_RANDOM);
        run_set(c, regions * ops->region_pairs + 1, KEYS_TWICE);
    }
}

/* Whether a key's pairs are found one look after the other. */
static bool walks(const test_case *c)
{
    return c->graph->scheme == HEDDLE_SCHEME_OPEN || c->graph->scheme == HEDDLE_SCHEME_SLAB;
}

static void large(const test_case *c)
{
    if (case_spared(c)) return;
    run_set(c, case_size(UINT64_C(1) << 18), KEYS_TWICE);
    run_set(c, case_size(walks(c) ? 30001 : 100001), KEYS_ZIPF);
}

/* More edges in a region than 16-bit numbers can tell: wide rows, beside narrow ones. Where the pairs of a
   key have no list every one of them is a walk along the others, so there are fewer. */
static void wide_alone(const test_case *c)
{
    if (!case_spared(c)) run_set(c, walks(c) ? 7001 : 70001, KEYS_EQUAL);
}

static void wide_rows(const test_case *c)
{
    multi m = multi_create(c, NULL);
    const uint64_t n = 400000, hot = 150000;
    material x = material_make(&m, n, KEYS_RANDOM, 5);
    const uint64_t *values = values_for(&m, &x, true);
    for (uint64_t i = 0; i < hot; i++) x.keys[i * 2] = x.keys[i % 2 * 2 + 1];
    multi_build(&m, x.keys, values, n);
    multi_check(&m);
    multi_look(&m, x.keys, 4);
    multi_look(&m, x.keys + 2 * hot, 3000);
    multi_erase(&m, x.keys + hot, hot / 2);
    multi_check(&m);
    multi_insert(&m, x.keys + hot, values != NULL ? values + hot : NULL, n);
    multi_check(&m);
    multi_erase(&m, x.keys + 1, 1);
    multi_check(&m);
    multi_look(&m, x.keys, 4);
    multi_destroy(&m);
    material_free(&x);
}

/* Everything goes and comes again, with and without memory that was there. */
static void emptied(const test_case *c)
{
    heddle_table_options options = case_options(c);
    options.capacity = 5000;
    multi m = multi_create(c, &options);
    material x = material_make(&m, 5000, KEYS_TWICE, 77);
    const uint64_t *values = values_for(&m, &x, true);
    multi_check(&m);
    multi_look(&m, x.keys, 100);
    for (int round = 0; round < 2; round++) {
        multi_build(&m, x.keys, values, 3000);
        multi_erase(&m, x.keys, 2 * x.n);
        assert_int_equal(m.size, 0);
        multi_check(&m);
        multi_look(&m, x.keys, 100);
        multi_insert(&m, x.keys, values, 4000);
        multi_check(&m);
        multi_clear(&m);
        multi_check(&m);
        multi_build(&m, x.keys, values, 0);
        multi_check(&m);
        multi_insert(&m, x.keys, values, 10000);
        multi_erase(&m, x.keys, 10);
        multi_clear(&m);
        multi_look(&m, x.keys, 100);
    }
    multi_build(&m, x.keys, values, 100);
    multi_build(&m, x.keys, values, 0);
    multi_check(&m);
    multi_destroy(&m);
    material_free(&x);
}

/* Many insertions, few erasures: the graph gets more regions on the way. */
static void grown(const test_case *c)
{
    if (case_spared(c)) return;
    multi m = multi_create(c, NULL);
    const uint64_t n = case_size(60000);
    material x = material_make(&m, n, KEYS_TWICE, 13);
    const uint64_t *values = values_for(&m, &x, true);
    for (uint64_t at = 0, step = 1; at + step < 2 * n; at += step, step += step / 2 + 1) {
        multi_insert(&m, x.keys + at, values != NULL ? values + at : NULL, step);
        if (at % 3 == 0) multi_erase(&m, x.keys + at / 2, step / 4);
    }
    multi_check(&m);
    check_ok(heddle_table_rehash(m.table, 0, NULL));
    multi_check(&m);
    check_ok(heddle_table_reserve(m.table, 4 * n, NULL));
    multi_check(&m);
    multi_insert(&m, x.keys, values, n / 2);
    multi_check(&m);
    multi_erase(&m, x.keys, n / 4);
    check_ok(heddle_table_rehash(m.table, 0, NULL));
    multi_check(&m);
    look_around(&m, &x);
    multi_destroy(&m);
    material_free(&x);
}

/* Fewer and more lists than keys. */
static void vertices(const test_case *c)
{
    static const double shares[] = {0.125, 0.5, 2, 4};
    for (int i = 0; i < 4; i++) {
        heddle_table_options options = case_options(c);
        options.vertices = shares[i];
        multi m = multi_create(c, &options);
        material x = material_make(&m, case_size(20000), KEYS_TWICE, 3);
        case_note("%g vertices a key", shares[i]);
        multi_build(&m, x.keys, values_for(&m, &x, true), x.n);
        multi_check(&m);
        look_around(&m, &x);
        check_ok(heddle_table_get_options(m.table, &options));
        assert_true(options.vertices == shares[i]);
        assert_true((double)options.capacity >= shares[i] * (double)x.n ||
                    m.options.container != HEDDLE_CONTAINER_MULTIMAP);
        multi_destroy(&m);
        material_free(&x);
    }
}

/* After a build the table keeps lists and pairs, and nothing else. */
static void lean(const test_case *c)
{
    heddle_table_options options = case_options(c);
    heddle_table_stats stats = HEDDLE_TABLE_STATS_INIT;
    const uint64_t n = (UINT64_C(1) << 18) + 77;
    multi m = multi_create(c, &options);
    material x = material_make(&m, n, KEYS_RANDOM, 9);
    const uint64_t pair = (m.options.key_bits + m.options.value_bits) / 8;
    multi_build(&m, x.keys, values_for(&m, &x, true), n);
    check_ok(heddle_table_get_stats(m.table, &stats, NULL));
    assert_true((double)stats.bytes_total <= (4.5 + (double)pair) * (double)n + 16384);
    multi_destroy(&m);
    material_free(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OVER_MULTIS(key_sets), OVER_MULTIS(small_sizes), OVER_FEW_GRAPHS(region_limits),
        OVER_MULTIS(large),    OVER_MULTIS(wide_alone),  OVER_FEW_GRAPHS(wide_rows),
        OVER_MULTIS(emptied),  OVER_MULTIS(grown),       OVER_FEW_GRAPHS(vertices),
        OVER_GRAPHS(lean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
