/*
 * test_open_multi.c: what is particular to multimaps by open addressing: keys that leave their region,
 * tables that are full, large batches by regions, memory that runs out, files, and long random sequences.
 * That they hold what they were given test_graph_contents.c tests with all multimaps.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "support/arrays.h"
#include "support/files.h"
#include "support/keys.h"
#include "support/multi.h"
#include "support/sort.h"
#include "support/tuned.h"
#include "table/slots/regions.h"

static bool is_open_multimap(const test_case *c)
{
    return c->graph->scheme == HEDDLE_SCHEME_OPEN &&
           c->graph->container == HEDDLE_CONTAINER_MULTIMAP;
}

/* n keys of which `hot` in a hundred are one of two, and values. */
static uint64_t *hot_keys(uint64_t n, uint32_t hot, uint64_t seed)
{
    uint64_t *keys = keys_allocate(n + 1), state = seed;
    keys_fill(keys, n, KEYS_RANDOM, 32, seed);
    for (uint64_t i = 2; i < n; i++)
        if (keys_below(&state, 100) < hot) keys[i] = keys[keys_below(&state, 2)];
    return keys;
}

static uint64_t *some_values(uint64_t n, uint64_t seed)
{
    uint64_t *values = keys_allocate(n + 1);
    keys_fill_values(values, n, seed);
    return values;
}

/* ------------------------------------------------------------------------------------ frequent keys */

/* Two keys with more pairs than a region has slots; others among them; all erased and inserted again. */
static void hot_keys_leave_their_region(const test_case *c)
{
    heddle_table_stats stats = HEDDLE_TABLE_STATS_INIT;
    heddle_table_options options = case_options(c);
    const uint64_t n = 200000, few = 5;
    if (!is_open_multimap(c)) return;
    options.capacity = n;
    multi m = multi_create(c, &options);
    uint64_t *keys = hot_keys(n, 30, 3), *values = some_values(n, 3);
    multi_build(&m, keys, values, n);
    multi_check(&m);
    check_ok(heddle_table_get_stats(m.table, &stats, NULL));
    check(stats.slots / stats.regions < 3 * n / 20, "regions of %llu slots hold all of a key",
          (unsigned long long)(stats.slots / stats.regions));
    multi_look(&m, keys, few);
    multi_look(&m, keys + n / 2, 500);
    multi_erase(&m, keys, few);
    multi_check(&m);
    multi_look(&m, keys, few);
    multi_insert(&m, keys, values, n / 8);
    multi_check(&m);
    multi_look(&m, keys, few);
    multi_destroy(&m);
    free(keys);
    free(values);
}

/* ------------------------------------------------------------------------------------- full tables */

/* The pairs that outcomes call inserted, and the failed ones by index, are all there are. */
static void check_failed(multi *m, const uint64_t *keys, const uint64_t *values, uint64_t n,
                         const array *outcomes, const uint64_t *failed, uint64_t count)
{
    uint64_t *in_keys = keys_allocate(n + 1), *in_values = keys_allocate(n + 1), in = 0, out = 0;
    for (uint64_t i = 0; i < n; i++) {
        if (outcomes->host[i] == HEDDLE_OUTCOME_INSERTED) {
            in_keys[in] = keys[i];
            in_values[in++] = values[i];
        } else {
            check(outcomes->host[i] == HEDDLE_OUTCOME_FAILED, "outcome %u", outcomes->host[i]);
            out++;
        }
    }
    assert_int_equal(out, count);
    for (uint64_t i = 0; i < count; i++)
        check(failed[i] < n && outcomes->host[failed[i]] == HEDDLE_OUTCOME_FAILED,
              "pair %llu is listed as failed", (unsigned long long)failed[i]);
    multi_model_add(m, in_keys, in_values, in, false);
    multi_check(m);
    free(in_keys);
    free(in_values);
}

static void overfill(const test_case *c, uint64_t capacity, uint32_t hot, uint32_t hashes)
{
    heddle_table_options options = case_options(c);
    heddle_insert_options insert = HEDDLE_INSERT_OPTIONS_INIT;
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    options.capacity = capacity;
    options.flags = HEDDLE_FLAG_FIXED;
    options.hashes = hashes;
    multi m = multi_create(c, &options);
    const uint64_t n = 2 * m.options.capacity;
    uint64_t *keys = hot_keys(n, hot, 7), *values = some_values(n, 7), *failed = keys_allocate(n);
    array k = array_of(c, ROLE_KEYS, keys, n, options.key_bits);
    array v = array_of(c, ROLE_VALUES, values, n, options.value_bits);
    array outcomes = array_poisoned(c, ROLE_FLAGS, n, 0xee);
    case_note("%llu slots, %u %% hot", (unsigned long long)m.options.capacity, hot);
    insert.outcomes = array_pointer(&outcomes);
    insert.failed = failed;
    insert.failed_capacity = n;
    check_status(heddle_table_insert(m.table, array_pointer(&k), array_pointer(&v), n, &insert,
                                     &totals, NULL),
                 HEDDLE_ERROR_FULL);
    check(strstr(heddle_last_error(), "hashgraph") != NULL, "%s", heddle_last_error());
    assert_int_equal(totals.inserted + totals.failed, n);
    array_pull(&outcomes);
    check_failed(&m, keys, values, n, &outcomes, failed, totals.failed);
    if (hot == 0) assert_true(totals.inserted * 100 >= m.options.capacity * 90);
    multi_look(&m, keys, 200);
    multi_erase(&m, keys, n / 2);
    multi_check(&m);
    multi_destroy(&m);
    array_free(&k);
    array_free(&v);
    array_free(&outcomes);
    free(keys);
    free(values);
    free(failed);
}

static void full_tables_say_so(const test_case *c)
{
    if (!is_open_multimap(c)) return;
    overfill(c, 100, 0, 0);
    overfill(c, case_size(20000), 0, 0);
    overfill(c, case_size(20000), 60, 0);
    overfill(c, case_size(20000), 30, 2);
}

/* ------------------------------------------------------------------------------------- by regions */

/* Large batches into empty and filled tables, also such whose frequent keys make the table grow. */
static void by_regions(const test_case *c)
{
    const uint64_t n = case_size(20000);
    if (!is_open_multimap(c)) return;
    tune_regions(100, UINT32_MAX);
    for (uint32_t hot = 0; hot <= 90; hot += 45) {
        multi m = multi_create(c, NULL);
        uint64_t *keys = hot_keys(2 * n, hot, 17 + hot), *values = some_values(2 * n, 17);
        case_note("%u %% hot", hot);
        multi_build(&m, keys, values, n);
        multi_check(&m);
        multi_insert(&m, keys + n, values + n, n / 2);
        multi_check(&m);
        multi_erase(&m, keys + 2, 100);
        multi_insert(&m, keys, values, n / 2);
        multi_check(&m);
        multi_look(&m, keys + n, hot == 0 ? 1000 : 3);
        multi_erase(&m, keys, 2 * n); /* empty, but for marks */
        multi_insert(&m, keys, values, n);
        multi_check(&m);
        multi_build(&m, keys + n, values + n, n); /* what was there goes */
        multi_check(&m);
        multi_destroy(&m);
        free(keys);
        free(values);
    }
    tune_regions(UINT64_MAX, UINT32_MAX);
}

/* A workspace of the size that is asked for serves; a smaller one too, in another way. */
static void workspaces(const test_case *c)
{
    const uint64_t n = case_size(40000);
    heddle_insert_options options = HEDDLE_INSERT_OPTIONS_INIT;
    uint64_t bytes = 0;
    if (!is_open_multimap(c)) return;
    tune_regions(100, UINT32_MAX);
    multi m = multi_create(c, NULL);
    uint64_t *keys = hot_keys(n, 10, 29), *values = some_values(n, 29);
    array k = array_of(c, ROLE_KEYS, keys, n, m.options.key_bits);
    array v = array_of(c, ROLE_VALUES, values, n, m.options.value_bits);
    check_ok(heddle_table_build_workspace(m.table, n, &bytes));
    check(bytes > n * (m.options.key_bits + m.options.value_bits) / 8, "%llu bytes",
          (unsigned long long)bytes);
    for (int round = 0; round < 2; round++, bytes /= 3) {
        check_ok(heddle_memory_allocate(c->device, bytes, &options.workspace));
        options.workspace_bytes = bytes;
        check_ok(heddle_table_build(m.table, array_pointer(&k), array_pointer(&v), n, &options,
                                    NULL, NULL));
        multi_model_add(&m, keys, values, n, true);
        multi_check(&m);
        check_ok(heddle_memory_free(c->device, options.workspace));
    }
    tune_regions(UINT64_MAX, UINT32_MAX);
    array_free(&k);
    array_free(&v);
    multi_destroy(&m);
    free(keys);
    free(values);
}

/* ------------------------------------------------------------------------------ memory runs out */

/* Every allocation of an insertion that grows fails once: what is not reported as failed is in. */
static void allocations_fail(const test_case *c)
{
    const uint64_t filled = 3000, n = 20000;
    uint64_t *keys = hot_keys(n, 40, 5), *values = some_values(n, 5), *failed = keys_allocate(n);
    if (!is_open_multimap(c)) goto out;
    tune_regions(5000, UINT32_MAX);
    for (uint64_t i = 1, struck = 1; struck; i++) {
        heddle_insert_options options = HEDDLE_INSERT_OPTIONS_INIT;
        heddle_totals totals = HEDDLE_TOTALS_INIT;
        uint64_t size = 0;
        multi m = multi_create(c, NULL);
        array k = array_of(c, ROLE_KEYS, keys, n, m.options.key_bits);
        array v = array_of(c, ROLE_VALUES, values, n, m.options.value_bits);
        array outcomes = array_poisoned(c, ROLE_FLAGS, n, 0xee);
        const bool asks = i % 2 == 0; /* without, the batch goes by regions */
        case_note("allocation %llu", (unsigned long long)i);
        multi_insert(&m, keys, values, filled);
        if (asks) options.outcomes = array_pointer(&outcomes);
        hd_fault_arm((i + 1) / 2);
        const heddle_status status = heddle_table_insert(
            m.table, array_pointer(&k), array_pointer(&v), n, &options, &totals, NULL);
        struck = hd_fault_struck() != 0 || i < 2;
        hd_fault_arm(0);
        check(status == HEDDLE_OK || (struck && status == HEDDLE_ERROR_NO_MEMORY), "%s: %s",
              heddle_status_string(status), heddle_last_error());
        array_pull(&outcomes);
        check_ok(heddle_table_size(m.table, &size, NULL));
        if (status == HEDDLE_OK) {
            multi_model_add(&m, keys, values, n, false);
            multi_check(&m);
        } else if (asks && totals.inserted + totals.failed == n) {
            for (uint64_t j = 0, count = 0; j < n; j++)
                if (outcomes.host[j] == HEDDLE_OUTCOME_FAILED) failed[count++] = j;
            check_failed(&m, keys, values, n, &outcomes, failed, totals.failed);
        } else {
            assert_int_equal(size, filled + totals.inserted);
            check_ok(heddle_table_validate(m.table, NULL));
        }
        multi_destroy(&m);
        array_free(&k);
        array_free(&v);
        array_free(&outcomes);
    }
    tune_regions(UINT64_MAX, UINT32_MAX);
out:
    free(keys);
    free(values);
    free(failed);
}

/* --------------------------------------------------------------------------------- all of all keys */

/* Every key of the model once, with all its values. */
static void check_all(const multi *m, const array *k, const array *offsets, const array *v,
                      uint64_t distinct)
{
    multi_pair *got = malloc((m->size + 1) * sizeof *got);
    uint64_t at = 0;
    for (uint64_t i = 0; i < distinct; i++) {
        const uint64_t end = array_at(offsets, i + 1, 64);
        check(array_at(offsets, i, 64) == at && end > at && end <= m->size, "offset %llu",
              (unsigned long long)i);
        for (; at < end; at++) {
            got[at].key = array_at(k, i, m->options.key_bits);
            got[at].value = array_at(v, at, m->options.value_bits);
        }
    }
    assert_int_equal(at, m->size);
    sort_pairs(got, m->size);
    for (uint64_t i = 0; i < m->size; i++)
        check(m->pairs[i].key == got[i].key && m->pairs[i].value == got[i].value,
              "pair %#llx, %#llx, not %#llx, %#llx", (unsigned long long)got[i].key,
              (unsigned long long)got[i].value, (unsigned long long)m->pairs[i].key,
              (unsigned long long)m->pairs[i].value);
    free(got);
}

static void all_of_all_keys(const test_case *c)
{
    const uint64_t sizes[] = {0, 1, 3000, case_size(60000)};
    if (c->graph->value_bits == 0) return;
    for (int s = 0; s < 4; s++) {
        uint64_t keys_there = 0, distinct = 0, pairs = 0, ignored = 0;
        uint64_t *keys = keys_allocate(sizes[s] + 1), *values = some_values(sizes[s], 41);
        multi m = multi_create(c, NULL);
        keys_fill(keys, sizes[s], KEYS_TWICE, 32, 41);
        multi_build(&m, keys, values, sizes[s]);
        free(multi_keys(&m, &keys_there));
        check_ok(
            heddle_table_retrieve_all(m.table, NULL, NULL, NULL, 0, 0, &distinct, &pairs, NULL));
        assert_int_equal(distinct, keys_there);
        assert_int_equal(pairs, m.size);
        array k = array_poisoned(c, ROLE_KEYS, distinct * m.options.key_bits / 8, 0xee);
        array o = array_poisoned(c, ROLE_FLAGS, (distinct + 1) * 8, 0xee);
        array v = array_poisoned(c, ROLE_VALUES, pairs * m.options.value_bits / 8, 0xee);
        if (pairs != 0)
            check_status(heddle_table_retrieve_all(m.table, array_pointer(&k), array_pointer(&o),
                                                   array_pointer(&v), distinct, pairs - 1, &ignored,
                                                   &pairs, NULL),
                         HEDDLE_ERROR_TOO_SMALL);
        assert_int_equal(pairs, m.size);
        if (pairs != 0) {
            check_ok(heddle_table_retrieve_all(m.table, array_pointer(&k), array_pointer(&o),
                                               array_pointer(&v), distinct, pairs, &distinct,
                                               &pairs, NULL));
            array_pull(&k);
            array_pull(&o);
            array_pull(&v);
            check_all(&m, &k, &o, &v, distinct);
        }
        array_free(&k);
        array_free(&o);
        array_free(&v);
        multi_destroy(&m);
        free(keys);
        free(values);
    }
}

/* -------------------------------------------------------------------------------- damage, sequences */

/* Marks that are gone hide the pairs behind them: validate says so. */
static void lost_marks_are_found(const test_case *c)
{
    const uint64_t n = 20000;
    if (!is_open_multimap(c) || !c->device->engine->host_memory) return;
    multi m = multi_create(c, NULL);
    uint64_t *keys = hot_keys(n, 20, 13), *values = some_values(n, 13);
    multi_build(&m, keys, values, n);
    check_ok(heddle_table_validate(m.table, NULL));
    const hd_view *view = hd_table_view(m.table);
    const hd_table_ops *ops = hd_slots(m.table)->ops;
    const uint64_t marks = ~view->key_mask;
    for (uint64_t i = 0; i < hd_geometry_slots(view, ops); i++) {
        char *slot = (char *)view->slots + i * ops->slot_bytes;
        if (ops->key_bits == 32) *(uint32_t *)(void *)slot |= (uint32_t)marks;
        else *(uint64_t *)(void *)slot |= marks;
    }
    check_status(heddle_table_validate(m.table, NULL), HEDDLE_ERROR_CORRUPT);
    check(strstr(heddle_last_error(), "search stops") != NULL, "%s", heddle_last_error());
    multi_destroy(&m);
    free(keys);
    free(values);
}

static void save_and_load(multi *m)
{
    heddle_table *loaded = NULL;
    char path[512];
    snprintf(path, sizeof path, "%s", files_path("multi.heddle"));
    check_ok(heddle_table_save(m->table, path, NULL));
    check_ok(heddle_table_load(m->c->device, path, NULL, &loaded));
    heddle_table_destroy(m->table);
    m->table = loaded;
    check_ok(heddle_table_get_options(loaded, &m->options));
    assert_int_equal(m->options.scheme, HEDDLE_SCHEME_OPEN);
}

/* n pairs, of which `of_one` have the first key. */
static uint64_t *one_frequent_key(uint64_t n, uint64_t of_one, uint64_t seed)
{
    uint64_t *keys = keys_allocate(n + 1);
    keys_fill(keys, n, KEYS_RANDOM, 32, seed);
    for (uint64_t i = 1; i < of_one; i++) keys[i * (n / of_one)] = keys[0];
    return keys;
}

/* What grows is never full, and what was saved can be loaded, however few windows a search may pass. */
static void few_windows_and_a_frequent_key(const test_case *c, uint32_t hashes, uint64_t n,
                                           uint64_t of_one, int rounds)
{
    heddle_table_options options = case_options(c);
    options.hashes = hashes;
    options.capacity = n;
    for (int round = 0; round < rounds; round++) {
        uint64_t *keys = one_frequent_key(n, of_one, 100 + (uint64_t)round);
        uint64_t *values = some_values(n, 100);
        multi m = multi_create(c, &options);
        case_note("%u windows, %llu of %llu pairs, round %d", hashes, (unsigned long long)of_one,
                  (unsigned long long)n, round);
        if (round % 2 == 0) multi_insert(&m, keys, values, n);
        else multi_build(&m, keys, values, n);
        save_and_load(&m);
        check_ok(heddle_table_rehash(m.table, 0, NULL));
        multi_check(&m);
        multi_look(&m, keys, 3);
        multi_destroy(&m);
        free(keys);
        free(values);
    }
}

static void frequent_keys_grow_and_load(const test_case *c)
{
    const uint64_t n = case_size(50000);
    if (!is_open_multimap(c)) return;
    few_windows_and_a_frequent_key(c, 2, 2000, 700, 20);
    few_windows_and_a_frequent_key(c, 8, n, 2 * n / 5, 4);
    few_windows_and_a_frequent_key(c, 0, 2000, 2000, 4);
    few_windows_and_a_frequent_key(c, 0, n, n, 2);
    files_remove();
}

/* Windows without room are counted: none in an empty table, and all that the pairs of one key fill. */
static void full_windows_are_counted(const test_case *c)
{
    heddle_table_options options = case_options(c);
    heddle_table_stats stats = HEDDLE_TABLE_STATS_INIT;
    const uint64_t n = 500;
    if (!is_open_multimap(c)) return;
    uint64_t *keys = keys_allocate(n), *values = keys_allocate(n);
    for (uint64_t i = 0; i < n; i++) keys[i] = 7;
    keys_fill_values(values, n, 7);
    options.capacity = 4 * n;
    multi m = multi_create(c, &options);
    check_ok(heddle_table_get_stats(m.table, &stats, NULL));
    assert_int_equal(stats.full, 0);
    multi_insert(&m, keys, values, n);
    check_ok(heddle_table_get_options(m.table, &options));
    check_ok(heddle_table_get_stats(m.table, &stats, NULL));
    check(stats.full >= n / options.bucket / 2 && stats.full <= n / options.bucket,
          "%llu windows of %u are full of %llu pairs", (unsigned long long)stats.full,
          options.bucket, (unsigned long long)n);
    multi_destroy(&m);
    free(keys), free(values);
}

/* A pair of a multimap stays where it is, except that its key names several. */
static void no_handles(const test_case *c)
{
    uint64_t keys[1] = {0}, slots[1] = {0};
    if (!is_open_multimap(c)) return;
    multi m = multi_create(c, NULL);
    check_status(heddle_table_locate(m.table, keys, 1, slots, NULL, NULL),
                 HEDDLE_ERROR_UNSUPPORTED);
    check(strstr(heddle_last_error(), "several pairs") != NULL, "%s", heddle_last_error());
    multi_destroy(&m);
}

static void random_sequences(const test_case *c)
{
    const uint64_t universe = 2000, most = 1500;
    if (!is_open_multimap(c)) return;
    for (uint64_t seed = 1; seed <= (case_quick() ? 3u : 10u); seed++) {
        multi m = multi_create(c, NULL);
        uint64_t *pool = hot_keys(universe, 20, seed), *values = some_values(universe, seed);
        uint64_t state = seed;
        for (int step = 0; step < 25; step++) {
            const uint64_t n = keys_below(&state, most), at = keys_below(&state, universe - n);
            case_note("seed %llu, step %d", (unsigned long long)seed, step);
            switch (keys_below(&state, 8)) {
            case 0: multi_erase(&m, pool + at, n); break;
            case 1: multi_erase(&m, pool + at, n / 16); break;
            case 2: check_ok(heddle_table_rehash(m.table, 0, NULL)); break;
            case 3: check_ok(heddle_table_reserve(m.table, 2 * m.size, NULL)); break;
            case 4: save_and_load(&m); break;
            default: multi_insert(&m, pool + at, values + at, n); break;
            }
            multi_check(&m);
            multi_look(&m, pool + at, n / 8);
        }
        multi_destroy(&m);
        free(pool);
        free(values);
    }
    files_remove();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OVER_MULTIS(hot_keys_leave_their_region),
        OVER_MULTIS(full_tables_say_so),
        OVER_MULTIS(by_regions),
        OVER_MULTIS(workspaces),
        OVER_MULTIS(allocations_fail),
        OVER_MULTIS(all_of_all_keys),
        OVER_MULTIS(lost_marks_are_found),
        OVER_MULTIS(frequent_keys_grow_and_load),
        OVER_MULTIS(full_windows_are_counted),
        OVER_MULTIS(no_handles),
        OVER_MULTIS(random_sequences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
