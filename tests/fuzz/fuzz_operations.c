/*
 * fuzz_operations.c: the bytes are a table and a sequence of calls, which the models of tests/support (checked.h, multi.h)
 * are given too; see fuzz.h. Batches are small, and hd_tune makes them go by regions all the same, so that every way of
 * an insertion is met: singly and by regions, into empty and into full, growing and fixed, in slices and in one piece.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "support/arrays.h"
#include "support/checked.h"
#include "support/keys.h"
#include "support/multi.h"
#include "support/tuned.h"

#define CASES_MOST 256
#define UNIVERSE_MOST 1024
#define STEPS_MOST 24
#define WORKSPACE_MOST 16384

typedef struct sequence {
    fuzz_bytes bytes;
    const test_case *c;
    checked t;
    multi m;
    bool many; /* the table is m's, else t's */
    uint32_t universe;
    uint64_t pool[UNIVERSE_MOST], keys[UNIVERSE_MOST], values[UNIVERSE_MOST];
    uint64_t n; /* of keys and values */
    uint32_t policy;
} sequence;

/* ------------------------------------------------------------------------------------------- cases */

static test_case cases[CASES_MOST];
static uint32_t case_count;

static void take_case(const test_case *c)
{
    fuzz_check(case_count < CASES_MOST, "there are more kinds of tables than room for them");
    cases[case_count] = *c;
    cases[case_count].device_name = "cpu:1";
    cases[case_count++].device = fuzz_device();
}

/* Every table that is compiled, on one thread, so that a sequence always goes the same way. */
static void find_cases(void)
{
    (void)setenv("HEDDLE_TEST_DEVICE", "cpu:1", 1);
    (void)setenv("CMOCKA_TEST_ABORT", "1", 1); /* a check that fails ends the program */
    cases_run(take_case, RANGE_TABLES);
    cases_run(take_case, RANGE_GRAPHS);
    cases_run(take_case, RANGE_MULTIS);
}

/* ----------------------------------------------------------------------------------------- batches */

/* n keys of the pool from one on, so many places apart; with 0 the same key n times. */
static void take_batch(sequence *s)
{
    const uint32_t from = fuzz_below(&s->bytes, UNIVERSE_MOST), step = fuzz_below(&s->bytes, 8);
    const uint32_t n = fuzz_below(&s->bytes, UNIVERSE_MOST);
    s->n = n < s->universe * 2 ? n : s->universe;
    s->policy = fuzz_below(&s->bytes, HEDDLE_POLICY_MAX + 1);
    for (uint64_t i = 0; i < s->n; i++) s->keys[i] = s->pool[(from + i * step) % s->universe];
    keys_fill_values(s->values, s->n, from + s->n);
}

/* --------------------------------------------------------- insertions that nobody asks much about */

typedef struct written {
    heddle_status status;
    uint8_t *found;
    uint64_t *now; /* values after the call */
    uint64_t inserted, failed;
    bool build;
} written;

/* All occurrences of a key, which are order[first] to order[last - 1]. */
static void check_key(sequence *s, written *w, const uint64_t *order, uint64_t first, uint64_t last)
{
    const uint64_t at = order[first], key = s->keys[at];
    const uint32_t bits = s->t.options.value_bits;
    uint64_t all = 0;
    bool existed = !w->build && model_find(s->t.model, key, &all), any = existed, given = false;
    check(w->found[at] || !existed, "key %#llx was there and is no more", (unsigned long long)key);
    if (!w->found[at]) {
        w->failed += last - first;
        return;
    }
    w->inserted += !existed;
    const bool open =
        s->policy == HEDDLE_POLICY_REPLACE || (s->policy == HEDDLE_POLICY_KEEP && !existed);
    for (uint64_t i = first; i < last && bits != 0; i++) {
        const uint64_t value = low_bits(s->values[order[i]], bits);
        given |= value == w->now[at];
        all = any ? model_combine(s->policy, all, value, bits) : value;
        any = true;
    }
    /* In a full table some occurrences of a new key may have failed. */
    if (bits != 0 && (existed || w->status == HEDDLE_OK || open))
        check(open ? given : w->now[at] == all, "key %#llx has value %#llx under policy %u",
              (unsigned long long)key, (unsigned long long)w->now[at], s->policy);
    model_set(s->t.model, key, w->now[at]);
}

static void check_written(sequence *s, written *w, const heddle_totals *totals)
{
    const bool fixed = (s->t.options.flags & HEDDLE_FLAG_FIXED) != 0;
    uint64_t *const order = checked_order(s->keys, s->n);
    check(w->status == HEDDLE_OK || (fixed && w->status == HEDDLE_ERROR_FULL), "status \"%s\": %s",
          heddle_status_string(w->status), heddle_last_error());
    checked_peek(&s->t, s->keys, s->n, w->found, w->now);
    if (w->build) {
        /* What the batch does not name is gone. */
        model_clear(s->t.model);
    }
    for (uint64_t first = 0, last; first < s->n; first = last) {
        for (last = first; last < s->n && s->keys[order[last]] == s->keys[order[first]];) last++;
        check_key(s, w, order, first, last);
    }
    assert_int_equal(totals->inserted, w->inserted);
    assert_int_equal(totals->inserted + totals->updated + totals->kept + totals->failed, s->n);
    check(totals->failed >= w->failed && (totals->failed == 0) == (w->status == HEDDLE_OK),
          "%llu keys failed", (unsigned long long)totals->failed);
    free(order);
    checked_size(&s->t);
}

/* Without outcomes a call may go by regions; with a small workspace it does so in slices. */
static void write_plainly(sequence *s, bool build)
{
    const uint64_t bytes = UINT64_C(256) * fuzz_below(&s->bytes, WORKSPACE_MOST / 256);
    heddle_insert_options options = HEDDLE_INSERT_OPTIONS_INIT;
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    uint8_t found[UNIVERSE_MOST];
    uint64_t now[UNIVERSE_MOST];
    written w = {HEDDLE_OK, found, now, 0, 0, build};
    array k = array_of(s->c, ROLE_KEYS, s->keys, s->n, s->t.options.key_bits);
    array v = array_of(s->c, ROLE_VALUES, s->values, s->n, s->t.options.value_bits);
    options.policy = s->policy;
    if (bytes != 0) check_ok(heddle_memory_allocate(s->c->device, bytes, &options.workspace));
    options.workspace_bytes = bytes;
    w.status = (build ? heddle_table_build : heddle_table_insert)(
        s->t.table, array_pointer(&k), array_pointer(&v), s->n, &options, &totals, NULL);
    check_ok(heddle_memory_free(s->c->device, options.workspace));
    check_written(s, &w, &totals);
    array_free(&k);
    array_free(&v);
}

/* ------------------------------------------------------------------------------- other calls on maps */

/* count, and of maps retrieve. */
static void count_and_retrieve(sequence *s)
{
    uint64_t matches[UNIVERSE_MOST], offsets[UNIVERSE_MOST + 1], count = 0, expected = 0;
    uint64_t values[UNIVERSE_MOST];
    array k = array_of(s->c, ROLE_KEYS, s->keys, s->n, s->t.options.key_bits);
    check_ok(heddle_table_count(s->t.table, array_pointer(&k), s->n, matches, NULL, NULL));
    for (uint64_t i = 0; i < s->n; i++) {
        check(matches[i] == model_find(s->t.model, s->keys[i], NULL), "key %#llx has %llu matches",
              (unsigned long long)s->keys[i], (unsigned long long)matches[i]);
        expected += matches[i];
    }
    if (s->t.options.value_bits != 0) {
        check_ok(heddle_table_retrieve(s->t.table, array_pointer(&k), s->n, offsets, values,
                                       UNIVERSE_MOST, &count, NULL));
        assert_int_equal(count, expected);
        assert_int_equal(offsets[s->n], expected);
    }
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    check_ok(heddle_table_take_totals(s->t.table, &totals, NULL));
    array_free(&k);
}

/* A mixed batch in which every key stands once, so that the order does not matter. */
static void mix(sequence *s)
{
    uint8_t operations[UNIVERSE_MOST], outcomes[UNIVERSE_MOST];
    const uint32_t bits = s->t.options.value_bits;
    heddle_insert_options options = HEDDLE_INSERT_OPTIONS_INIT;
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    uint64_t random = s->n;
    s->n = s->n < s->universe ? s->n : s->universe;
    memcpy(s->keys, s->pool, s->n * sizeof *s->keys);
    for (uint64_t i = 0; i < s->n; i++) operations[i] = (uint8_t)(fuzz_random(&random) % 4);
    options.policy = s->policy;
    options.outcomes = outcomes;
    array k = array_of(s->c, ROLE_KEYS, s->keys, s->n, s->t.options.key_bits);
    array v = array_of(s->c, ROLE_VALUES, s->values, s->n, bits);
    array out = array_poisoned(s->c, ROLE_VALUES, s->n * bits / 8, 0xdb);
    const heddle_status status =
        heddle_table_mixed(s->t.table, operations, array_pointer(&k), array_pointer(&v), s->n,
                           bits != 0 ? array_pointer(&out) : NULL, &options, &totals, NULL);
    check(status == HEDDLE_OK ||
              ((s->t.options.flags & HEDDLE_FLAG_FIXED) != 0 && status == HEDDLE_ERROR_FULL),
          "mixed gave \"%s\"", heddle_status_string(status));
    array_pull(&out);
    for (uint64_t i = 0; i < s->n; i++) {
        uint64_t old = 0;
        const uint64_t key = s->keys[i], value = low_bits(s->values[i], bits);
        const bool there = model_find(s->t.model, key, &old),
                   inserts = operations[i] == HEDDLE_OPERATION_INSERT;
        const uint8_t written_as =
            s->policy == HEDDLE_POLICY_KEEP ? HEDDLE_OUTCOME_KEPT : HEDDLE_OUTCOME_UPDATED;
        const uint8_t expected = inserts ? (there ? written_as : HEDDLE_OUTCOME_INSERTED)
                                         : (there ? HEDDLE_OUTCOME_FOUND : HEDDLE_OUTCOME_ABSENT);
        if (status == HEDDLE_ERROR_FULL && outcomes[i] == HEDDLE_OUTCOME_FAILED) continue;
        check(outcomes[i] == expected, "operation %u of key %#llx: outcome %u, not %u",
              operations[i], (unsigned long long)key, outcomes[i], expected);
        if (bits != 0 && there && operations[i] >= HEDDLE_OPERATION_FIND)
            check(array_at(&out, i, bits) == old, "key %#llx: value %#llx", (unsigned long long)key,
                  (unsigned long long)array_at(&out, i, bits));
        if (inserts)
            model_set(s->t.model, key, there ? model_combine(s->policy, old, value, bits) : value);
        if (operations[i] == HEDDLE_OPERATION_ERASE) (void)model_erase(s->t.model, key);
    }
    array_free(&k);
    array_free(&v);
    array_free(&out);
    checked_size(&s->t);
}

/* ---------------------------------------------------------------------------------------- sequence */

static heddle_table **table_of(sequence *s) { return s->many ? &s->m.table : &s->t.table; }

static void save_and_load(sequence *s)
{
    heddle_table_options options = s->many ? s->m.options : s->t.options;
    heddle_table *loaded = NULL;
    const bool own = fuzz_below(&s->bytes, 2) == 0;
    options.capacity = 0;
    options.seed = 1 + fuzz_below(&s->bytes, 256);
    check_ok(heddle_table_save(*table_of(s), fuzz_path("table"), NULL));
    check_ok(heddle_table_load(s->c->device, fuzz_path("table"), own ? &options : NULL, &loaded));
    heddle_table_destroy(*table_of(s));
    *table_of(s) = loaded;
}

static void change_size(sequence *s, bool rehash)
{
    const uint64_t capacity = fuzz_below(&s->bytes, 2 * UNIVERSE_MOST);
    check_ok(rehash ? heddle_table_rehash(*table_of(s), capacity, NULL)
                    : heddle_table_reserve(*table_of(s), capacity, NULL));
}

static void step_checked(sequence *s, uint32_t what)
{
    switch (what) {
    case 0: checked_insert(&s->t, s->keys, s->values, s->n, s->policy); break;
    case 1:
    case 2: write_plainly(s, false); break;
    case 3: write_plainly(s, true); break;
    case 4: checked_build(&s->t, s->keys, s->values, s->n, s->policy); break;
    case 5:
    case 6: checked_erase(&s->t, s->keys, s->n); break;
    case 7: checked_find(&s->t, s->keys, s->n); break;
    case 8: checked_contains(&s->t, s->keys, s->n); break;
    case 9: count_and_retrieve(s); break;
    case 10: checked_clear(&s->t); break;
    case 11:
        if (case_is_slab(s->c)) mix(s);
        else check_ok(heddle_table_flush(s->t.table, NULL));
        break;
    default: checked_all(&s->t); break;
    }
}

static void step_multi(sequence *s, uint32_t what)
{
    const bool counts = s->m.options.container == HEDDLE_CONTAINER_COUNTER && s->policy == 0;
    const uint64_t *const values = counts ? NULL : s->values;
    switch (what) {
    case 0:
    case 1:
    case 2: multi_insert(&s->m, s->keys, values, s->n); break;
    case 3:
    case 4: multi_build(&s->m, s->keys, values, s->n); break;
    case 5:
    case 6: multi_erase(&s->m, s->keys, s->n); break;
    case 7:
    case 8:
    case 9: multi_look(&s->m, s->keys, s->n); break;
    case 10: multi_clear(&s->m); break;
    default: multi_check(&s->m); break;
    }
}

static void step(sequence *s)
{
    const uint32_t what = fuzz_below(&s->bytes, 16);
    take_batch(s);
    if (what == 13) save_and_load(s);
    else if (what >= 14) change_size(s, what == 14);
    else if (s->many) step_multi(s, what);
    else step_checked(s, what);
    check_ok(heddle_table_validate(*table_of(s), NULL));
}

static heddle_table_options read_options(sequence *s)
{
    static const double loads[] = {0, 0.1, 0.5, 0.7, 0.9, 0.99};
    static const double vertices[] = {0, 0.125, 0.5, 1, 4};
    heddle_table_options o = case_options(s->c);
    o.capacity = fuzz_below(&s->bytes, UNIVERSE_MOST);
    o.seed = 1 + fuzz_take(&s->bytes, 2);
    const uint32_t load = fuzz_below(&s->bytes, 6), way = fuzz_below(&s->bytes, 256);
    if (o.scheme == HEDDLE_SCHEME_HASHGRAPH) {
        o.vertices = vertices[load % 5];
        o.flags = way & 1 && o.container != HEDDLE_CONTAINER_SET ? HEDDLE_FLAG_ORDERED : 0;
        return o;
    }
    o.load = loads[load];
    if (o.scheme == HEDDLE_SCHEME_BUCKET_LIST) {
        o.list_first = way % 5;
        o.list_growth = way & 8 ? 1 : 0;
    }
    if (o.scheme == HEDDLE_SCHEME_CUCKOO && way & 2) o.hashes = 2 + way / 4 % 3;
    if (o.scheme == HEDDLE_SCHEME_ICEBERG && way & 2) o.threshold = way & 4 ? 0.1 : 1;
    if (!s->many && way % 3 == 0) o.flags = HEDDLE_FLAG_FIXED;
    return o;
}

static void tune(sequence *s)
{
    static const uint64_t least[] = {UINT64_MAX, 1, 16, 128};
    static const uint32_t crowded[] = {UINT32_MAX, 1, 2};
    const uint32_t way = fuzz_below(&s->bytes, 12);
    tune_regions(least[way % 4], crowded[way / 4]);
}

/* At a high load the library may choose larger buckets, which a build of few tables does not have. */
static bool is_compiled(const heddle_table_options *options)
{
    heddle_table *table = NULL;
    const heddle_status status = heddle_table_create(fuzz_device(), options, &table);
    heddle_table_destroy(table);
    check(status == HEDDLE_OK || status == HEDDLE_ERROR_UNSUPPORTED, "a table is refused: %s",
          heddle_last_error());
    return status == HEDDLE_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static sequence s;
    if (case_count == 0) find_cases();
    s.bytes = (fuzz_bytes){data, size};
    s.c = &cases[fuzz_below(&s.bytes, case_count)];
    s.many = s.c->graph != NULL;
    tune(&s);
    const key_set set = (key_set)fuzz_below(&s.bytes, KEYS_DISTINCT);
    s.universe = 1 + fuzz_below(&s.bytes, UNIVERSE_MOST);
    const heddle_table_options options = read_options(&s);
    keys_fill(s.pool, s.universe, set, options.key_bits, options.seed);
    if (!is_compiled(&options)) return 0;
    if (s.many) s.m = multi_create(s.c, &options);
    else s.t = checked_create(s.c, &options);
    for (uint32_t i = 0; s.bytes.left != 0 && i < STEPS_MOST; i++) step(&s);
    if (s.many) multi_check(&s.m);
    else checked_all(&s.t);
    if (s.many) multi_destroy(&s.m);
    else checked_destroy(&s.t);
    tune_regions(UINT64_MAX, UINT32_MAX);
    return 0;
}
