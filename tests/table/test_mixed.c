/*
 * test_mixed.c: batches of insertions, erasures and lookups at once (heddle_table_mixed) on slab hashes, on few keys
 * and on many, in tables that grow and in fixed ones that are full; long sequences of them; and flushing. What every key
 * went through in a batch must be explained by some order of its operations.
 */
#include <stdlib.h>
#include <string.h>

#include "support/arrays.h"
#include "support/checked.h"
#include "support/keys.h"
#include "support/tuned.h"
#include "table/slabs/slabs.h"
#include "table/slots/regions.h"

#define POISON 0xdb

/* A batch, and what the table made of it. */
typedef struct batch {
    uint64_t n;
    uint32_t policy;
    uint8_t *operations;
    uint64_t *keys, *values;
    uint8_t *outcomes; /* as the table says */
    uint64_t *out;
    heddle_totals totals;
} batch;

static batch batch_make(uint64_t n)
{
    batch b = {n,
               0,
               malloc(n + 1),
               keys_allocate(n),
               keys_allocate(n),
               malloc(n + 1),
               keys_allocate(n),
               HEDDLE_TOTALS_INIT};
    assert_true(b.operations != NULL && b.outcomes != NULL);
    return b;
}

static void batch_free(batch *b)
{
    free(b->operations);
    free(b->keys);
    free(b->values);
    free(b->outcomes);
    free(b->out);
}

/* Operations of all three kinds on the first `distinct` of `keys`. */
static void batch_draw(batch *b, const uint64_t *keys, uint64_t distinct, uint64_t *state)
{
    for (uint64_t i = 0; i < b->n; i++) {
        b->operations[i] = (uint8_t)keys_below(state, 3);
        b->keys[i] = keys[keys_below(state, distinct)];
        b->values[i] = keys_random(state);
    }
}

static heddle_status batch_run(const test_case *c, heddle_table *table, batch *b)
{
    heddle_table_options o = HEDDLE_TABLE_OPTIONS_INIT;
    heddle_insert_options insert = HEDDLE_INSERT_OPTIONS_INIT;
    check_ok(heddle_table_get_options(table, &o));
    array keys = array_of(c, ROLE_KEYS, b->keys, b->n, o.key_bits);
    array values = array_of(c, ROLE_VALUES, b->values, b->n, o.value_bits);
    array out = array_poisoned(c, ROLE_KEYS, b->n * o.value_bits / 8, POISON);
    array operations = array_poisoned(c, ROLE_FLAGS, b->n, 0);
    array outcomes = array_poisoned(c, ROLE_FLAGS, b->n, POISON);
    memcpy(operations.host, b->operations, b->n);
    if (operations.memory != NULL)
        check_ok(heddle_memory_copy(c->device, operations.memory, b->operations, b->n, NULL));
    insert.policy = b->policy;
    insert.outcomes = array_pointer(&outcomes);
    const heddle_status status = heddle_table_mixed(
        table, array_pointer(&operations), array_pointer(&keys), array_pointer(&values), b->n,
        o.value_bits != 0 ? array_pointer(&out) : NULL, &insert, &b->totals, NULL);
    array_pull(&outcomes);
    array_pull(&out);
    memcpy(b->outcomes, outcomes.host, b->n);
    for (uint64_t i = 0; i < b->n; i++) b->out[i] = array_at(&out, i, o.value_bits);
    array *const all[] = {&keys, &values, &out, &operations, &outcomes};
    for (int i = 0; i < 5; i++) array_free(all[i]);
    return status;
}

/* What happened to one key. */
typedef struct history {
    uint64_t placed, updated, erased, found, absent, failed;
    uint64_t sum;     /* of the values placed and added */
    bool is_possible; /* a value that it could have now was written, or it had it */
} history;

/* One operation of a key that has `now` after the batch, and `old` before it if it `was` there. */
static void history_add(history *h, const batch *b, uint64_t i, uint32_t bits, uint64_t now)
{
    const uint8_t outcome = b->outcomes[i];
    const uint64_t poison = low_bits(POISON * UINT64_C(0x0101010101010101), bits);
    const uint8_t present =
        b->policy == HEDDLE_POLICY_KEEP ? HEDDLE_OUTCOME_KEPT : HEDDLE_OUTCOME_UPDATED;
    if (b->operations[i] == HEDDLE_OPERATION_INSERT) {
        assert_true(outcome == HEDDLE_OUTCOME_INSERTED || outcome == HEDDLE_OUTCOME_FAILED ||
                    outcome == present);
        h->placed += outcome == HEDDLE_OUTCOME_INSERTED;
        h->updated += outcome == present;
        h->failed += outcome == HEDDLE_OUTCOME_FAILED;
        if (outcome != HEDDLE_OUTCOME_FAILED) {
            h->sum += b->values[i];
            h->is_possible |= low_bits(b->values[i], bits) == now;
        }
        assert_int_equal(b->out[i], poison);
        return;
    }
    assert_true(outcome == HEDDLE_OUTCOME_FOUND || outcome == HEDDLE_OUTCOME_ABSENT);
    const bool found = outcome == HEDDLE_OUTCOME_FOUND;
    h->absent += !found;
    h->erased += found && b->operations[i] == HEDDLE_OPERATION_ERASE;
    h->found += found && b->operations[i] == HEDDLE_OPERATION_FIND;
    if (!found || b->operations[i] == HEDDLE_OPERATION_ERASE) assert_int_equal(b->out[i], poison);
}

static void history_check(const history *h, const batch *b, uint32_t bits, bool was, uint64_t old,
                          bool is, uint64_t now)
{
    check(was + h->placed == is + h->erased, "%d there, %llu inserted, %llu erased, then %d", was,
          (unsigned long long)h->placed, (unsigned long long)h->erased, is);
    check(was || h->placed != 0 || h->updated + h->found == 0, "found, but it was never there");
    check(!was || h->erased != 0 || h->absent == 0, "missed, but it was there all the while");
    if (bits == 0 || !is) return;
    if (b->policy == HEDDLE_POLICY_ADD) {
        const uint64_t sum = low_bits((was ? old : 0) + h->sum, bits);
        check(h->erased != 0 || now == sum, "the sum is wrong");
    } else {
        check(h->is_possible || (was && now == old), "a value from nowhere");
    }
}

/* Holds a batch against what the table had before, which the model knows, and has now. */
static void batch_check(checked *t, const batch *b)
{
    const uint32_t bits = t->options.value_bits;
    uint64_t *order = checked_order(b->keys, b->n), *now = keys_allocate(b->n);
    uint8_t *is = malloc(b->n + 1);
    heddle_totals sums = HEDDLE_TOTALS_INIT;
    assert_non_null(is);
    checked_peek(t, b->keys, b->n, is, now);
    for (uint64_t i = 0; i < b->n;) {
        const uint64_t first = order[i], key = b->keys[first];
        uint64_t old = 0;
        const bool was = model_find(t->model, key, &old);
        history h = {0};
        for (; i < b->n && b->keys[order[i]] == key; i++)
            history_add(&h, b, order[i], bits, now[first]);
        history_check(&h, b, bits, was, old, is[first], now[first]);
        sums.inserted += h.placed;
        sums.updated += b->policy != HEDDLE_POLICY_KEEP ? h.updated : 0;
        sums.kept += b->policy == HEDDLE_POLICY_KEEP ? h.updated : 0;
        sums.failed += h.failed;
        sums.found += h.found + h.erased;
        sums.absent += h.absent;
        if (is[first]) model_set(t->model, key, now[first]);
        else if (was) (void)model_erase(t->model, key);
    }
    sums.probes = b->totals.probes;
    assert_memory_equal(&sums, &b->totals, sizeof sums);
    free(order);
    free(now);
    free(is);
}

static void fill_keys(const checked *t, uint64_t *keys, uint64_t n, uint64_t seed)
{
    keys_fill(keys, n, KEYS_EDGES, t->options.key_bits, seed);
}

/* ------------------------------------------------------------------------------------------- batches */

/* Lets an engine that does large mixtures kind by kind do all of them so. */
static void kinds_apart(bool apart) { tune_regions(apart ? 1 : UINT64_MAX, UINT32_MAX); }

/* On few keys everything meets; on many the table grows meanwhile. */
static void everything_at_once(const test_case *c)
{
    static const uint64_t distinct[] = {2, 100, 20000};
    const uint64_t n = case_size(16001);
    uint64_t *keys = keys_allocate(20000), state = 31;
    batch b = batch_make(n);
    for (int i = 0; i < 3; i++) {
        checked t = checked_create(c, NULL);
        fill_keys(&t, keys, distinct[i], 17);
        for (uint32_t round = 0; round < 10; round++) {
            case_note("%llu keys, round %u", (unsigned long long)distinct[i], round);
            batch_draw(&b, keys, distinct[i], &state);
            b.policy = round % 5;
            kinds_apart(round % 2 != 0);
            check_ok(batch_run(c, t.table, &b));
            batch_check(&t, &b);
        }
        kinds_apart(false);
        checked_all(&t);
        checked_destroy(&t);
    }
    batch_free(&b);
    free(keys);
}

/* One operation a key: there is only one way that this can end. */
static void every_key_once(const test_case *c)
{
    const uint64_t n = case_size(9000);
    uint64_t *keys = keys_allocate(n), state = 37;
    checked t = checked_create(c, NULL);
    batch b = batch_make(n);
    fill_keys(&t, keys, n, 19);
    for (uint32_t round = 0; round < 6; round++) {
        case_note("round %u", round);
        batch_draw(&b, keys, n, &state);
        memcpy(b.keys, keys, n * sizeof *keys);
        keys_shuffle(b.keys, n, round);
        kinds_apart(round % 2 == 0);
        check_ok(batch_run(c, t.table, &b));
        kinds_apart(false);
        for (uint64_t i = 0; i < n; i++) {
            uint64_t value = 0;
            const bool was = model_find(t.model, b.keys[i], &value);
            const uint8_t expected = b.operations[i] != HEDDLE_OPERATION_INSERT
                                         ? (was ? HEDDLE_OUTCOME_FOUND : HEDDLE_OUTCOME_ABSENT)
                                     : was ? HEDDLE_OUTCOME_KEPT
                                           : HEDDLE_OUTCOME_INSERTED;
            assert_int_equal(b.outcomes[i], expected);
            if (was && b.operations[i] == HEDDLE_OPERATION_FIND && t.options.value_bits != 0)
                assert_int_equal(b.out[i], value);
        }
        batch_check(&t, &b);
        checked_all(&t);
    }
    batch_free(&b);
    free(keys);
    checked_destroy(&t);
}

/* ----------------------------------------------------------------------------------- pools at the edge */

/* Makes all slabs of the pool but `spare` taken; gives back the bits that show which, for unhide. */
static uint32_t *hide_slabs(heddle_table *table, uint32_t spare)
{
    const hd_slab_pool *pool = &hd_slabs(table)->storage.view.pool;
    const uint64_t words = (uint64_t)pool->blocks * HD_SLAB_BLOCK_WORDS;
    uint32_t *hidden = malloc(words * sizeof *hidden);
    assert_non_null(hidden);
    memset(hidden, 0xff, words * sizeof *hidden);
    for (uint32_t i = 1; i <= spare; i++) /* far from each other, so that they are hard to find */
        hidden[i * 7 % words] &= ~(UINT32_C(1) << i % 31);
    check_ok(heddle_memory_copy(table->device, pool->taken, hidden, words * sizeof *hidden, NULL));
    return hidden;
}

static void unhide_slabs(heddle_table *table, uint32_t *hidden)
{
    const hd_slab_pool *pool = &hd_slabs(table)->storage.view.pool;
    const uint64_t words = (uint64_t)pool->blocks * HD_SLAB_BLOCK_WORDS;
    uint32_t *taken = malloc(words * sizeof *taken);
    assert_non_null(taken);
    check_ok(heddle_memory_copy(table->device, taken, pool->taken, words * sizeof *taken, NULL));
    for (uint64_t i = 0; i < words; i++) taken[i] &= ~hidden[i];
    taken[0] |= 1;
    check_ok(heddle_memory_copy(table->device, pool->taken, taken, words * sizeof *taken, NULL));
    check_ok(heddle_device_synchronize(table->device, NULL));
    free(taken);
    free(hidden);
}

/* Ten thousand batches on a fixed table that has next to no slabs: what fails is said, what is there stays. */
static void soak_at_the_edge(const test_case *c)
{
    const uint64_t rounds = case_quick() ? 500 : 10000, distinct = 3000;
    uint64_t *keys = keys_allocate(distinct), state = 41, failed = 0, inserted = 0;
    heddle_table_options options = case_options(c);
    heddle_table_stats before = HEDDLE_TABLE_STATS_INIT, after = HEDDLE_TABLE_STATS_INIT;
    options.capacity = 1000;
    options.flags = HEDDLE_FLAG_FIXED;
    checked t = checked_create(c, &options);
    batch b = batch_make(60);
    fill_keys(&t, keys, distinct, 23);
    check_ok(heddle_table_get_stats(t.table, &before, NULL));
    uint32_t *hidden = hide_slabs(t.table, 20);
    for (uint64_t round = 0; round < rounds; round++) {
        case_note("round %llu", (unsigned long long)round);
        batch_draw(&b, keys, distinct, &state);
        if (round / 100 % 2 == 0) /* up, then down again */
            for (uint64_t i = 0; i < b.n; i += 3) b.operations[i] = HEDDLE_OPERATION_INSERT;
        b.policy = (uint32_t)(round % 5);
        const heddle_status status = batch_run(c, t.table, &b);
        assert_true(status == HEDDLE_OK || status == HEDDLE_ERROR_FULL);
        assert_true((status == HEDDLE_OK) == (b.totals.failed == 0));
        batch_check(&t, &b);
        failed += b.totals.failed;
        inserted += b.totals.inserted;
    }
    check(failed != 0 && inserted > rounds, "%llu inserted, %llu failed",
          (unsigned long long)inserted, (unsigned long long)failed);
    unhide_slabs(t.table, hidden);
    checked_all(&t);
    check_ok(heddle_table_get_stats(t.table, &after, NULL));
    assert_int_equal(after.bytes_total, before.bytes_total);
    batch_free(&b);
    free(keys);
    checked_destroy(&t);
}

/* Keys come and go for a long time; a table that may grow stops growing once it is as large as they need. */
static void memory_stays_bounded(const test_case *c)
{
    const uint64_t window = 4000, n = 2000, rounds = case_quick() ? 40 : 300;
    uint64_t *keys = keys_allocate(window + rounds * n / 2), oldest = 0;
    heddle_table_stats early = HEDDLE_TABLE_STATS_INIT, late = HEDDLE_TABLE_STATS_INIT;
    checked t = checked_create(c, NULL);
    batch b = batch_make(n);
    fill_keys(&t, keys, window + rounds * n / 2, 29);
    checked_insert(&t, keys, keys, window, HEDDLE_POLICY_KEEP);
    for (uint64_t round = 0; round < rounds; round++) {
        for (uint64_t i = 0; i < n; i++) {
            b.operations[i] = (uint8_t)(i % 2);
            b.keys[i] = keys[oldest + i / 2 + (i % 2 == 0 ? window : 0)];
            b.values[i] = b.keys[i];
        }
        oldest += n / 2;
        check_ok(batch_run(c, t.table, &b));
        assert_int_equal(b.totals.inserted, n / 2);
        assert_int_equal(b.totals.found, n / 2);
        batch_check(&t, &b);
        if (round == 20) check_ok(heddle_table_get_stats(t.table, &early, NULL));
    }
    checked_all(&t);
    check_ok(heddle_table_get_stats(t.table, &late, NULL));
    assert_int_equal(late.keys, window);
    assert_int_equal(late.bytes_total, early.bytes_total);
    check(late.marks <= window, "%llu dead slots", (unsigned long long)late.marks);
    batch_free(&b);
    free(keys);
    checked_destroy(&t);
}

static void flushing(const test_case *c)
{
    const uint64_t n = case_size(20000);
    uint64_t *keys = keys_allocate(n);
    heddle_table_stats s = HEDDLE_TABLE_STATS_INIT, full = HEDDLE_TABLE_STATS_INIT;
    heddle_table_options options = case_options(c);
    options.capacity = n / 4; /* lists of several slabs */
    checked t = checked_create(c, &options);
    fill_keys(&t, keys, n, 43);
    checked_insert(&t, keys, keys, n / 4, HEDDLE_POLICY_KEEP);
    check_ok(heddle_table_get_stats(t.table, &full, NULL));
    checked_erase(&t, keys, n / 5);
    check_ok(heddle_table_get_stats(t.table, &s, NULL));
    assert_int_equal(s.marks, n / 5);
    assert_int_equal(s.bytes_slots, full.bytes_slots);
    check_ok(heddle_table_flush(t.table, NULL));
    check_ok(heddle_table_get_stats(t.table, &s, NULL));
    assert_int_equal(s.marks, 0);
    assert_true(s.full <= full.full && s.bytes_slots <= full.bytes_slots);
    assert_true(full.full == 0 || s.bytes_slots < full.bytes_slots);
    checked_all(&t);
    checked_destroy(&t);
    free(keys);
}

/* ---------------------------------------------------------------------------- multimaps and counters */

static bool is_slab(const test_case *c) { return c->graph->scheme == HEDDLE_SCHEME_SLAB; }

/* How many pairs each of `n` keys has, and one value of each. */
static void ask(const test_case *c, heddle_table *table, const uint64_t *keys, uint64_t n,
                uint64_t *matches, uint64_t *values)
{
    const uint32_t bits = c->graph->value_bits;
    array k = array_of(c, ROLE_KEYS, keys, n, c->graph->key_bits);
    array m = array_poisoned(c, ROLE_KEYS, n * sizeof *matches, POISON);
    array v = array_poisoned(c, ROLE_KEYS, n * bits / 8, 0);
    check_ok(
        heddle_table_count(table, array_pointer(&k), n, (uint64_t *)array_pointer(&m), NULL, NULL));
    check_ok(heddle_table_find(table, array_pointer(&k), n, array_pointer(&v), NULL, NULL, NULL));
    array_pull(&m);
    array_pull(&v);
    for (uint64_t i = 0; i < n; i++) {
        matches[i] = array_at(&m, i, 64);
        values[i] = array_at(&v, i, bits);
    }
    array_free(&k);
    array_free(&m);
    array_free(&v);
}

/* A multimap has a pair for every insertion, less one for every erasure that found one; a counter their sum. */
static void other_containers(const test_case *c)
{
    enum { KEYS = 50 };
    const bool counter = is_slab(c) && c->graph->container == HEDDLE_CONTAINER_COUNTER;
    uint64_t keys[KEYS], had[KEYS] = {0}, has[KEYS], values[KEYS], state = 47;
    heddle_table_options options = case_options(c);
    heddle_table *table = NULL;
    if (!is_slab(c)) return;
    check_ok(heddle_table_create(c->device, &options, &table));
    batch b = batch_make(case_size(3000));
    keys_fill(keys, KEYS, KEYS_EDGES, options.key_bits, 53);
    for (uint32_t round = 0; round < 8; round++) {
        uint64_t all = 0, size = 0;
        case_note("round %u", round);
        batch_draw(&b, keys, KEYS, &state);
        for (uint64_t i = 0; i < b.n; i++) b.values[i] = 1 + i % 5;
        for (uint64_t i = 0; i < b.n && counter; i++) /* or nobody could say what they come to */
            if (b.operations[i] == HEDDLE_OPERATION_ERASE) b.operations[i] = HEDDLE_OPERATION_FIND;
        check_ok(batch_run(c, table, &b));
        for (uint64_t i = 0; i < b.n; i++) {
            uint64_t at = 0;
            while (keys[at] != b.keys[i]) at++;
            if (b.operations[i] == HEDDLE_OPERATION_INSERT) had[at] += counter ? b.values[i] : 1;
            if (b.operations[i] == HEDDLE_OPERATION_ERASE)
                had[at] -= b.outcomes[i] == HEDDLE_OUTCOME_FOUND;
        }
        ask(c, table, keys, KEYS, has, values);
        for (uint64_t k = 0; k < KEYS; k++) {
            assert_int_equal(counter ? values[k] : has[k], had[k]);
            all += has[k];
        }
        check_ok(heddle_table_size(table, &size, NULL));
        assert_int_equal(size, all);
        check_ok(heddle_table_validate(table, NULL));
    }
    batch_free(&b);
    heddle_table_destroy(table);
}

/* ------------------------------------------------------------------------------------------- arguments */

static void wrong_arguments(const test_case *c)
{
    const uint8_t operations[4] = {0, 1, 2, 0};
    uint64_t words[4] = {1, 2, 3, 4}, out[4];
    heddle_insert_options insert = HEDDLE_INSERT_OPTIONS_INIT;
    heddle_table_options options = case_options(c);
    heddle_table *table = NULL;
    check_status(heddle_table_mixed(NULL, operations, words, words, 4, out, NULL, NULL, NULL),
                 HEDDLE_ERROR_INVALID);
    check_ok(heddle_table_create(c->device, &options, &table));
    void *const values = case_is_map(c) ? words : NULL;
    if (!case_is_slab(c)) {
        check_status(
            heddle_table_mixed(table, operations, words, values, 4, NULL, NULL, NULL, NULL),
            HEDDLE_ERROR_UNSUPPORTED);
        check_ok(heddle_table_flush(table, NULL));
        heddle_table_destroy(table);
        return;
    }
    check_status(heddle_table_mixed(table, NULL, words, values, 4, NULL, NULL, NULL, NULL),
                 HEDDLE_ERROR_INVALID);
    check_status(heddle_table_mixed(table, operations, NULL, values, 4, NULL, NULL, NULL, NULL),
                 HEDDLE_ERROR_INVALID);
    check_status(
        heddle_table_mixed(table, operations, (char *)words + 1, values, 3, NULL, NULL, NULL, NULL),
        HEDDLE_ERROR_INVALID);
    check_status(heddle_table_mixed(table, operations, words, case_is_map(c) ? NULL : words, 4,
                                    NULL, NULL, NULL, NULL),
                 HEDDLE_ERROR_INVALID);
    if (!case_is_map(c))
        check_status(heddle_table_mixed(table, operations, words, NULL, 4, out, NULL, NULL, NULL),
                     HEDDLE_ERROR_INVALID);
    insert.policy = 5;
    check_status(heddle_table_mixed(table, operations, words, values, 4, NULL, &insert, NULL, NULL),
                 HEDDLE_ERROR_INVALID);
    check_ok(heddle_table_mixed(table, NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL));
    check_ok(heddle_table_validate(table, NULL));
    heddle_table_destroy(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OVER_SLABS(everything_at_once),   OVER_SLABS(every_key_once), OVER_SLABS(soak_at_the_edge),
        OVER_SLABS(memory_stays_bounded), OVER_SLABS(flushing),       OVER_MULTIS(other_containers),
        OVER_WIDTHS(wrong_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
