/*
 * test_bucket_list.c: what is particular to the scheme bucket_list, beside the contract of all multimaps that
 * test_graph_contents.c has: options, hot keys, growth rules, fixed pools that run out, dead room, files,
 * and appends by many threads to few lists.
 */
#define _POSIX_C_SOURCE 200809L
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/arrays.h"
#include "support/files.h"
#include "support/keys.h"
#include "support/multi.h"
#include "table/lists/lists.h"

static bool is_lists(const test_case *c) { return c->graph->scheme == HEDDLE_SCHEME_BUCKET_LIST; }

/* ---------------------------------------------------------------------------------------- options */

static void options(const test_case *c)
{
    heddle_table_options o = case_options(c);
    heddle_table *table = NULL;
    if (!is_lists(c)) return;
    check_ok(heddle_table_create(c->device, &o, &table));
    check_ok(heddle_table_get_options(table, &o));
    assert_int_equal(o.list_first, 1);
    assert_true(o.list_growth == 2 && o.load == 0.8 && o.bucket == 8 && o.hashes != 0);
    assert_true(strncmp(heddle_table_instance(table), "bucket_list_k", 13) == 0);
    heddle_table_destroy(table);
    static const struct {
        size_t field;
        uint64_t number;
        double real;
        heddle_status expected;
    } wrong[] = {
        {offsetof(heddle_table_options, list_growth), 0, 0.99, HEDDLE_ERROR_INVALID},
        {offsetof(heddle_table_options, list_growth), 0, 17, HEDDLE_ERROR_INVALID},
        {offsetof(heddle_table_options, list_growth), 0, -1, HEDDLE_ERROR_INVALID},
        {offsetof(heddle_table_options, vertices), 0, 1, HEDDLE_ERROR_INVALID},
        {offsetof(heddle_table_options, list_first), UINT64_C(1) << 40, 0, HEDDLE_ERROR_INVALID},
        {offsetof(heddle_table_options, capacity), UINT64_MAX, 0, HEDDLE_ERROR_NO_MEMORY},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        o = case_options(c);
        if (wrong[i].number != 0) memcpy((char *)&o + wrong[i].field, &wrong[i].number, 8);
        else memcpy((char *)&o + wrong[i].field, &wrong[i].real, 8);
        check_status(heddle_table_create(c->device, &o, &table), wrong[i].expected);
        assert_null(table);
    }
}

/* Other containers and other schemes' options are refused; options of older headers are understood. */
static void other_options(const test_case *c)
{
    heddle_table_options o = case_options(c);
    heddle_table *table = NULL;
    if (!is_lists(c)) return;
    o.container = HEDDLE_CONTAINER_MAP;
    check_status(heddle_table_create(c->device, &o, &table), HEDDLE_ERROR_UNSUPPORTED);
    o = case_options(c);
    o.flags = HEDDLE_FLAG_ORDERED;
    check_status(heddle_table_create(c->device, &o, &table), HEDDLE_ERROR_UNSUPPORTED);
    o = case_options(c);
    o.scheme = HEDDLE_SCHEME_HASHGRAPH;
    o.list_first = 3;
    check_status(heddle_table_create(c->device, &o, &table), HEDDLE_ERROR_INVALID);
    o = case_options(c);
    o.scheme = 4000000000u;
    check_status(heddle_table_create(c->device, &o, &table), HEDDLE_ERROR_UNSUPPORTED);
    o = case_options(c);
    o.list_first = 77; /* behind the end of what is given */
    o.size = offsetof(heddle_table_options, list_first);
    check_ok(heddle_table_create(c->device, &o, &table));
    o.size = sizeof o;
    check_ok(heddle_table_get_options(table, &o));
    assert_int_equal(o.list_first, 1);
    heddle_table_destroy(table);
}

/* ------------------------------------------------------------------------------------------- lists */

typedef struct material {
    uint64_t *keys, *values;
} material;

/* Keys of a few, one of them very often. */
static material material_make(const multi *m, uint64_t n, uint64_t distinct, uint64_t hot_in_8)
{
    material x = {keys_allocate(n + 1), keys_allocate(n + 1)};
    keys_fill(x.keys, n, KEYS_RANDOM, m->options.key_bits, n);
    keys_fill_values(x.values, n, n + 1);
    for (uint64_t i = distinct; i < n; i++) x.keys[i] = x.keys[i % distinct];
    for (uint64_t i = 0; i < n; i++)
        if (i % 8 < hot_in_8) x.keys[i] = x.keys[0];
    return x;
}

static void material_free(material *x)
{
    free(x->keys);
    free(x->values);
}

/* A million values of one key among others, at once and in parts. */
static void hot_key(const test_case *c)
{
    if (!is_lists(c)) return;
    multi m = multi_create(c, NULL);
    const uint64_t n = case_quick() ? 200000 : 2000000;
    material x = material_make(&m, n, n / 16, 4);
    multi_build(&m, x.keys, x.values, n / 2);
    multi_look(&m, x.keys, 2);
    multi_insert(&m, x.keys + n / 2, x.values + n / 2, n / 2);
    multi_check(&m);
    multi_look(&m, x.keys, 2);
    multi_look(&m, x.keys + 12, 4); /* seldom ones */
    multi_erase(&m, x.keys, 1);
    multi_check(&m);
    multi_destroy(&m);
    material_free(&x);
}

static uint64_t chained(heddle_table *table, heddle_table_stats *stats)
{
    uint64_t longer = 0;
    check_ok(heddle_table_get_stats(table, stats, NULL));
    for (int i = 1; i < HEDDLE_PROBES_MAX; i++) longer += stats->probes[i];
    return longer;
}

/* Every rule of growth, in batches that are appended and in batches that go by runs. */
static void growth_rules(const test_case *c)
{
    static const double growths[] = {1, 1.1, 2, 16};
    static const uint64_t firsts[] = {1, 3, 8, 100};
    if (!is_lists(c)) return;
    for (int i = 0; i < 16; i++) {
        heddle_table_options o = case_options(c);
        heddle_table_stats stats = HEDDLE_TABLE_STATS_INIT;
        o.list_growth = growths[i % 4];
        o.list_first = firsts[i / 4];
        case_note("growth %g, first %llu", o.list_growth, (unsigned long long)o.list_first);
        multi m = multi_create(c, &o);
        const uint64_t n = 5000, distinct = 90;
        material x = material_make(&m, n, distinct, 1);
        for (uint64_t at = 0, step = 1; at < n; at += step, step = step * 3 / 2 + 1) {
            if (step > n - at) step = n - at;
            multi_insert(&m, x.keys + at, x.values + at, step);
        }
        multi_check(&m);
        multi_look(&m, x.keys, 200);
        assert_true(chained(m.table, &stats) != 0);
        check_ok(heddle_table_rehash(m.table, 0, NULL));
        assert_int_equal(chained(m.table, &stats), 0);
        assert_int_equal(stats.marks, 0);
        multi_check(&m);
        multi_look(&m, x.keys, 200);
        multi_destroy(&m);
        material_free(&x);
    }
}

/* By runs, the values of a key stand in the order in which they came. */
static void order_of_values(const test_case *c)
{
    if (!is_lists(c) || c->arrays != ARRAYS_HOST) return;
    multi m = multi_create(c, NULL);
    enum { N = 9000 };
    uint64_t *keys = keys_allocate(N), *values = keys_allocate(N), offsets[2], count = 0;
    uint64_t key = 7, got[N];
    for (uint64_t i = 0; i < N; i++) {
        keys[i] = i % 3 == 0 ? 7 : i;
        values[i] = i;
    }
    for (int part = 0; part < 3; part++)
        multi_insert(&m, keys + part * N / 3, values + part * N / 3, N / 3);
    check_ok(heddle_table_retrieve(m.table, &key, 1, offsets, got, N, &count, NULL));
    for (uint64_t i = 0, at = 0; i < N; i++) {
        if (keys[i] != 7) continue;
        const uint64_t value = m.options.value_bits == 32 ? ((uint32_t *)(void *)got)[at] : got[at];
        check(value == i, "value %llu is %llu, not %llu", (unsigned long long)at,
              (unsigned long long)value, (unsigned long long)i);
        at++;
    }
    multi_destroy(&m);
    free(keys);
    free(values);
}

/* Room of erased lists is counted, and got rid of by itself once it is most of all. */
static void dead_room(const test_case *c)
{
    if (!is_lists(c)) return;
    multi m = multi_create(c, NULL);
    const uint64_t n = 40000;
    heddle_table_stats stats = HEDDLE_TABLE_STATS_INIT;
    material x = material_make(&m, n, n / 8, 0);
    multi_build(&m, x.keys, x.values, n);
    multi_erase(&m, x.keys, n / 40); /* of n / 8 keys */
    chained(m.table, &stats);
    const uint64_t some = stats.marks;
    assert_true(some >= n / 8 && some < stats.slots / 2);
    multi_insert(&m, x.keys, x.values, 10);
    multi_erase(&m, x.keys, n / 10);
    multi_check(&m);
    chained(m.table, &stats);
    assert_true(stats.marks > 3 * some);
    multi_insert(&m, x.keys, x.values, 2000);
    chained(m.table, &stats);
    assert_int_equal(stats.marks, 0);
    multi_check(&m);
    multi_look(&m, x.keys, 1000);
    multi_destroy(&m);
    material_free(&x);
}

/* ------------------------------------------------------------------------------------------- fixed */

/* Inserts what may not fit; the model takes what came in. Returns how many failed. */
static uint64_t insert_some(multi *m, const uint64_t *keys, const uint64_t *values, uint64_t n)
{
    array k = array_of(m->c, ROLE_KEYS, keys, n, m->options.key_bits);
    array v = array_of(m->c, ROLE_VALUES, values, n, m->options.value_bits);
    array outcomes = array_poisoned(m->c, ROLE_FLAGS, n, 0xee);
    uint64_t *failed = keys_allocate(n + 1), *in_keys = keys_allocate(n + 1),
             *in_values = keys_allocate(n + 1), in = 0;
    heddle_insert_options o = HEDDLE_INSERT_OPTIONS_INIT;
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    o.outcomes = array_pointer(&outcomes);
    o.failed = failed;
    o.failed_capacity = n;
    const heddle_status status =
        heddle_table_insert(m->table, array_pointer(&k), array_pointer(&v), n, &o, &totals, NULL);
    array_pull(&outcomes);
    check(status == (totals.failed != 0 ? HEDDLE_ERROR_FULL : HEDDLE_OK), "%s",
          heddle_status_string(status));
    for (uint64_t i = 0, listed = 0; i < n; i++) {
        if (outcomes.host[i] == HEDDLE_OUTCOME_INSERTED) {
            in_keys[in] = keys[i];
            in_values[in++] = values[i];
        } else {
            assert_int_equal(outcomes.host[i], HEDDLE_OUTCOME_FAILED);
            assert_int_equal(failed[listed++], i);
        }
    }
    assert_int_equal(totals.inserted, in);
    assert_int_equal(totals.failed, n - in);
    multi_model_add(m, in_keys, in_values, in, false);
    array_free(&k);
    array_free(&v);
    array_free(&outcomes);
    free(failed);
    free(in_keys);
    free(in_values);
    return totals.failed;
}

/* As many pairs as a fixed table was made for fit; more are reported, and nothing is lost. */
static void fixed(const test_case *c)
{
    if (!is_lists(c)) return;
    for (int kind = 0; kind < 3; kind++) {
        heddle_table_options o = case_options(c);
        heddle_table_stats stats = HEDDLE_TABLE_STATS_INIT;
        const uint64_t n = 5000;
        uint64_t failed = 0, bytes;
        o.capacity = n;
        o.flags = HEDDLE_FLAG_FIXED;
        multi m = multi_create(c, &o);
        material x = material_make(&m, 8 * n, kind == 0 ? 8 * n : n / 16, kind == 2 ? 4 : 0);
        case_note("kind %d", kind);
        chained(m.table, &stats);
        bytes = stats.bytes_total;
        assert_int_equal(insert_some(&m, x.keys, x.values, n), 0);
        multi_check(&m);
        for (uint64_t at = n; at < 8 * n; at += n)
            failed += insert_some(&m, x.keys + at, x.values + at, n);
        assert_true(failed != 0);
        multi_check(&m);
        multi_look(&m, x.keys, 500);
        chained(m.table, &stats);
        assert_int_equal(stats.bytes_total, bytes);
        assert_int_equal(stats.growths, 0);
        insert_some(&m, x.keys, x.values, 100);
        multi_check(&m);
        multi_clear(&m);
        assert_int_equal(insert_some(&m, x.keys + n, x.values + n, n), 0);
        multi_check(&m);
        check_ok(heddle_table_reserve(m.table, 8 * n, NULL));
        assert_int_equal(insert_some(&m, x.keys, x.values, 7 * n), 0);
        multi_check(&m);
        check_ok(heddle_table_rehash(m.table, 0, NULL));
        multi_check(&m);
        multi_destroy(&m);
        material_free(&x);
    }
}

/* ------------------------------------------------------------------------------------------- files */

static void saved(const test_case *c)
{
    heddle_table_options o = case_options(c), got = HEDDLE_TABLE_OPTIONS_INIT;
    heddle_table *loaded = NULL;
    char path[512];
    if (!is_lists(c)) return;
    o.list_first = 5;
    o.list_growth = 1.5;
    multi m = multi_create(c, &o);
    const uint64_t n = 20000;
    material x = material_make(&m, n, n / 7, 1);
    multi_insert(&m, x.keys, x.values, n);
    multi_erase(&m, x.keys, 30);
    snprintf(path, sizeof path, "%s", files_path("lists.heddle"));
    check_ok(heddle_table_save(m.table, path, NULL));
    check_ok(heddle_table_load(c->device, path, NULL, &loaded));
    multi_check_table(&m, loaded);
    check_ok(heddle_table_get_options(loaded, &got));
    assert_int_equal(got.scheme, HEDDLE_SCHEME_BUCKET_LIST);
    assert_int_equal(got.list_first, 5);
    assert_true(got.list_growth == 1.5);
    heddle_table_destroy(loaded);
    o = case_options(c);
    o.flags = HEDDLE_FLAG_FIXED;
    check_ok(heddle_table_load(c->device, path, &o, &loaded));
    multi_check_table(&m, loaded);
    heddle_table_destroy(loaded);
    o.flags = 0;
    o.scheme = HEDDLE_SCHEME_HASHGRAPH; /* a multimap is a multimap */
    check_ok(heddle_table_load(c->device, path, &o, &loaded));
    check_ok(heddle_table_validate(loaded, NULL));
    check_ok(heddle_table_save(loaded, path, NULL));
    heddle_table_destroy(loaded);
    o.scheme = HEDDLE_SCHEME_BUCKET_LIST;
    check_ok(heddle_table_load(c->device, path, &o, &loaded));
    multi_check_table(&m, loaded);
    heddle_table_destroy(loaded);
    multi_destroy(&m);
    material_free(&x);
    files_remove();
}

/* ------------------------------------------------------------------------------- many at few lists */

#define CROWD UINT64_C(300000)
#define CROWD_LISTS 3

/* All threads append to a few lists at the same time: every value is there once, in a sound list. */
static void crowd(const test_case *c)
{
    const hd_list_ops *ops = hd_engine_cpu()->lists(c->graph->value_bits);
    const uint64_t width = c->graph->value_bits / 8;
    heddle_device *device = NULL;
    if (!is_lists(c) || !c->device->engine->host_memory) return;
    check_ok(heddle_device_open("cpu:8", &device));
    const hd_site on = hd_on(device, NULL, NULL);
    for (int shortage = 0; shortage < 2; shortage++) {
        const uint64_t units = shortage ? CROWD * width / 16 : CROWD * 4;
        hd_list_record records[CROWD_LISTS];
        char *chunk = malloc(units * HD_LIST_UNIT), *chunks[HD_LIST_CHUNKS] = {chunk};
        uint64_t cursor = 0, granted = 0, offsets[CROWD_LISTS + 1] = {0}, numbers[CROWD_LISTS];
        uint64_t *all = keys_allocate(CROWD), limits[HD_LIST_CHUNKS] = {0}, in = 0;
        const uint64_t first_bits[HD_LIST_CHUNKS] = {0};
        char *values = malloc(CROWD * width), *out = malloc(CROWD * width);
        uint8_t *left = malloc(CROWD), *seen = calloc(CROWD, 1);
        uint32_t marks = 0, *taken = calloc(units / 32 + 1, 4);
        hd_list_census census;
        const hd_list_pool pool = {records, chunks, 1, 1.1, 0, 0, &cursor, units};
        memset(records, 0, sizeof records);
        memset(&census, 0, sizeof census);
        for (uint64_t i = 0; i < CROWD; i++) {
            all[i] = i % 64 == 0 ? 1 + i / 64 % 2 : 0;
            if (width == 4) ((uint32_t *)(void *)values)[i] = (uint32_t)i;
            else ((uint64_t *)(void *)values)[i] = i;
        }
        const hd_list_appends appends = {all, values, CROWD, left};
        check_ok(ops->append(on, &pool, &appends, &granted));
        for (uint64_t i = 0; i < CROWD; i++) in += left[i] == 0;
        assert_int_equal(granted, in);
        assert_true(shortage ? in < CROWD && in > CROWD / 16 : in == CROWD);
        for (uint64_t i = 0; i < CROWD_LISTS; i++) numbers[i] = i;
        const hd_list_numbers lists = hd_list_numbers_of(numbers, CROWD_LISTS);
        check_ok(ops->lengths(on, &pool, lists, offsets));
        for (uint64_t i = 0, sum = 0; i <= CROWD_LISTS; i++) {
            const uint64_t length = offsets[i];
            offsets[i] = sum;
            sum += i < CROWD_LISTS ? length : 0;
        }
        assert_int_equal(offsets[CROWD_LISTS], in);
        const hd_list_fetch fetch = {numbers, offsets, CROWD_LISTS, 0, in, out, NULL, 0, NULL};
        check_ok(ops->fetch(on, &pool, &fetch));
        for (uint64_t l = 0; l < CROWD_LISTS; l++)
            for (uint64_t at = offsets[l]; at < offsets[l + 1]; at++) {
                const uint64_t i =
                    width == 4 ? ((uint32_t *)(void *)out)[at] : ((uint64_t *)(void *)out)[at];
                check(i < CROWD && all[i] == l && left[i] == 0 && !seen[i],
                      "value %llu in list %llu", (unsigned long long)i, (unsigned long long)l);
                seen[i] = 1;
            }
        limits[0] = cursor < units ? cursor : units;
        const hd_list_bounds bounds = {CROWD_LISTS, limits, first_bits, taken, &marks};
        check_ok(ops->inspect(on, &pool, &bounds, lists, &census));
        assert_int_equal(census.values, in);
        assert_int_equal(census.astray + census.broken + census.shared + census.twice, 0);
        free(chunk);
        free(all);
        free(values);
        free(out);
        free(left);
        free(seen);
        free(taken);
    }
    heddle_device_close(device);
}

/* A file whose header asks for the largest first buckets loads in the memory that its values need. */
static void forged_first_bucket(const test_case *c)
{
    enum { HEADER = 128, LIST_FIRST = 72 };
    const uint64_t n = 500, asked = HD_LIST_RULE_MAX;
    heddle_table_options o = case_options(c);
    heddle_table *loaded = NULL;
    heddle_table_stats stats = HEDDLE_TABLE_STATS_INIT, after = HEDDLE_TABLE_STATS_INIT;
    uint64_t bytes = 0;
    char path[512];
    if (!is_lists(c)) return;
    multi m = multi_create(c, &o);
    material x = material_make(&m, n, n, 1);
    multi_insert(&m, x.keys, x.values, n);
    snprintf(path, sizeof path, "%s", files_path("lists.heddle"));
    check_ok(heddle_table_save(m.table, path, NULL));
    uint8_t *content = files_read(path, &bytes);
    memcpy(content + LIST_FIRST, &asked, sizeof asked);
    files_write_forged(path, content, bytes, HEADER);
    check_ok(heddle_table_get_stats(m.table, &stats, NULL));
    check_ok(heddle_table_load(c->device, path, NULL, &loaded));
    multi_check_table(&m, loaded);
    check_ok(heddle_table_get_stats(loaded, &after, NULL));
    check(after.bytes_total <= 16 * stats.bytes_total, "%llu bytes instead of %llu",
          (unsigned long long)after.bytes_total, (unsigned long long)stats.bytes_total);
    heddle_table_destroy(loaded);
    free(content);
    multi_destroy(&m);
    material_free(&x);
    files_remove();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OVER_MULTIS(forged_first_bucket),
        OVER_MULTIS(options),
        OVER_MULTIS(other_options),
        OVER_MULTIS(hot_key),
        OVER_MULTIS(growth_rules),
        OVER_MULTIS(order_of_values),
        OVER_MULTIS(dead_room),
        OVER_MULTIS(fixed),
        OVER_MULTIS(saved),
        OVER_MULTIS(crowd),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
