/*
 * test_churn.c: tables in which keys come and go for a long time. The marks that erased keys leave are taken
 * back, so that searches stay short; nothing moves for that.
 */
#include <stdlib.h>

#include "support/arrays.h"
#include "support/cases.h"
#include "support/keys.h"
#include "support/tuned.h"
#include "table/slots/regions.h"

/* Without help a miss then takes half as many looks again, or many times as many. */
#define ROUNDS 12

/* Against fresh marks. Marks are renewed once half the slots were erased, not at every call: 1.05 in large
 * buckets; in those of one slot, which push on the most keys, 1.21 to 1.27. */
#define LOOKS_MORE 1.35

typedef struct churn {
    const test_case *c;
    heddle_table *table;
    heddle_table_options options;
    uint64_t n;              /* keys in the table */
    uint64_t *keys, *values; /* of all rounds; those in the table are the n from `oldest` on */
    uint64_t oldest;
} churn;

static churn churn_create(const test_case *c, uint32_t flags)
{
    churn t = {c, NULL, case_options(c), case_size(20000) / 2 * 2, NULL, NULL, 0};
    const uint64_t all = t.n + ROUNDS * t.n / 2;
    t.options.capacity = t.n;
    t.options.load = 0.8;
    t.options.flags = flags;
    check_ok(heddle_table_create(c->device, &t.options, &t.table));
    check_ok(heddle_table_get_options(t.table, &t.options));
    t.keys = keys_allocate(2 * all); /* the second half is never inserted */
    t.values = keys_allocate(all);
    keys_fill(t.keys, 2 * all, KEYS_RANDOM, t.options.key_bits, 5);
    keys_fill_values(t.values, all, 5);
    return t;
}

static void churn_destroy(churn *t)
{
    heddle_table_destroy(t->table);
    free(t->keys);
    free(t->values);
}

static void add(churn *t, uint64_t first, uint64_t n)
{
    array k = array_of(t->c, ROLE_KEYS, t->keys + first, n, t->options.key_bits);
    array v = array_of(t->c, ROLE_VALUES, t->values + first, n, t->options.value_bits);
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    check_ok(heddle_table_insert(t->table, array_pointer(&k), array_pointer(&v), n, NULL, &totals,
                                 NULL));
    assert_int_equal(totals.inserted, n);
    array_free(&k);
    array_free(&v);
}

static void erase(churn *t, uint64_t first, uint64_t n)
{
    array k = array_of(t->c, ROLE_KEYS, t->keys + first, n, t->options.key_bits);
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    check_ok(heddle_table_erase(t->table, array_pointer(&k), n, NULL, &totals, NULL));
    assert_int_equal(totals.found, n);
    array_free(&k);
}

/* Looks at a bucket, all n keys from `first` on together, of which all or none are there. */
static double probes(churn *t, uint64_t first, bool present)
{
    array k = array_of(t->c, ROLE_KEYS, t->keys + first, t->n, t->options.key_bits);
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    check_ok(heddle_table_contains(t->table, array_pointer(&k), t->n, NULL, &totals, NULL));
    assert_int_equal(totals.found, present ? t->n : 0);
    array_free(&k);
    return (double)totals.probes / (double)t->n;
}

/* The keys in the table have their values. */
static void check_values(churn *t)
{
    const uint32_t bits = t->options.value_bits;
    array k = array_of(t->c, ROLE_KEYS, t->keys + t->oldest, t->n, t->options.key_bits);
    array v = array_poisoned(t->c, ROLE_VALUES, t->n * bits / 8, 0xa5);
    check_ok(
        heddle_table_find(t->table, array_pointer(&k), t->n, array_pointer(&v), NULL, NULL, NULL));
    array_pull(&v);
    for (uint64_t i = 0; i < t->n; i++)
        check(array_at(&v, i, bits) == low_bits(t->values[t->oldest + i], bits),
              "key %llu has another value", (unsigned long long)i);
    array_free(&k);
    array_free(&v);
}

/* Half of the keys, the older one, makes way for others, ROUNDS times. */
static void go_round(churn *t)
{
    add(t, 0, t->n);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        case_note("round %u", round);
        erase(t, t->oldest, t->n / 2);
        add(t, t->oldest + t->n, t->n / 2);
        t->oldest += t->n / 2;
        check_ok(heddle_table_validate(t->table, NULL));
    }
}

/* How many marks may be left where so many are needed. Dead slots of slabs are used again, and lengthen no list. */
static uint64_t marks_most(const churn *t, uint64_t needed)
{
    return t->options.scheme == HEDDLE_SCHEME_SLAB ? t->n / 2 : 3 * needed + 100;
}

/* Against the same table with marks for its keys alone. */
static void stay_short(const test_case *c, uint32_t flags)
{
    churn t = churn_create(c, flags);
    heddle_table_stats worn = HEDDLE_TABLE_STATS_INIT, fresh = HEDDLE_TABLE_STATS_INIT;
    const uint64_t absent = t.n + ROUNDS * t.n / 2;
    go_round(&t);
    (void)probes(&t, t.oldest, true);
    if (t.options.value_bits != 0) check_values(&t);
    const double before = probes(&t, absent, false);
    check_ok(heddle_table_get_stats(t.table, &worn, NULL));
    check_ok(heddle_table_rehash(t.table, t.n, NULL));
    check_ok(heddle_table_get_stats(t.table, &fresh, NULL));
    const double after = probes(&t, absent, false);
    assert_int_equal(worn.keys, t.n);
    assert_int_equal(worn.growths, 0);
    check(before <= LOOKS_MORE * after, "a miss takes %.3f looks, %.3f in a table without traces",
          before, after);
    check(worn.marks <= marks_most(&t, fresh.marks), "%llu marks, %llu are needed",
          (unsigned long long)worn.marks, (unsigned long long)fresh.marks);
    churn_destroy(&t);
}

static void growing_tables(const test_case *c) { stay_short(c, 0); }
static void fixed_tables(const test_case *c) { stay_short(c, HEDDLE_FLAG_FIXED); }

/* Batches that go by regions, where the engine fills tables on from which keys were erased. */
static void by_regions(const test_case *c)
{
    tune_regions(1, UINT32_MAX);
    stay_short(c, HEDDLE_FLAG_FIXED);
    tune_regions(UINT64_MAX, UINT32_MAX);
}

/* The slots of n keys from `first` on. */
static array locate(churn *t, uint64_t first, uint64_t n)
{
    array k = array_of(t->c, ROLE_KEYS, t->keys + first, n, t->options.key_bits);
    array s = array_poisoned(t->c, ROLE_VALUES, n * sizeof(uint64_t), 0xa5);
    check_ok(heddle_table_locate(t->table, array_pointer(&k), n, (uint64_t *)array_pointer(&s),
                                 NULL, NULL));
    array_pull(&s);
    array_free(&k);
    return s;
}

/* Handles of the younger half are good after the older one came anew some times and marks were renewed. */
static void handles_stay(const test_case *c)
{
    churn t = churn_create(c, HEDDLE_FLAG_FIXED);
    const uint64_t half = t.n / 2;
    if (t.options.scheme == HEDDLE_SCHEME_CUCKOO) { /* which moves pairs */
        churn_destroy(&t);
        return;
    }
    add(&t, 0, t.n);
    array before = locate(&t, half, half);
    for (int i = 0; i < 3; i++) {
        erase(&t, 0, half);
        add(&t, 0, half);
    }
    array after = locate(&t, half, half);
    for (uint64_t i = 0; i < half; i++)
        check(array_at(&before, i, 64) == array_at(&after, i, 64) &&
                  array_at(&after, i, 64) < t.options.capacity,
              "key %llu has moved", (unsigned long long)i);
    array_free(&before);
    array_free(&after);
    churn_destroy(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OVER_TABLES(growing_tables),
        OVER_TABLES(fixed_tables),
        OVER_TABLES(by_regions),
        OVER_INSTANCES(handles_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
