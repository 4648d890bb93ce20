/*
 * test_cluster_independent.c: independent mode: every member holds what its part of every batch brought, and
 * answers of all members are merged by the rules of HEDDLE_MODE_INDEPENDENT. A model for every member.
 */
#include <stdlib.h>
#include <string.h>

#include "support/cluster_model.h"
#include "support/keys.h"
#include "support/sort.h"

#define SLICE 333
#define MEMBERS_MAX 8

typedef struct alone {
    shared s;                   /* the table */
    shared models[MEMBERS_MAX]; /* of the members: options and pairs alone */
} alone;

static alone alone_create(const shared_kind *kind, const char *devices)
{
    alone a;
    memset(&a, 0, sizeof a);
    shared_mode = HEDDLE_MODE_INDEPENDENT;
    a.s = shared_create(kind, devices, SLICE, NULL);
    shared_mode = HEDDLE_MODE_DISTRIBUTED;
    for (uint32_t m = 0; m < a.s.members; m++) {
        a.models[m].options = a.s.options;
        a.models[m].pairs = malloc(sizeof *a.models[m].pairs);
    }
    return a;
}

static void alone_destroy(alone *a)
{
    for (uint32_t m = 0; m < a->s.members; m++) free(a->models[m].pairs);
    shared_destroy(&a->s);
}

/* Where the part of a member begins. */
static uint64_t part_begin(const alone *a, uint64_t n, uint64_t m)
{
    const uint64_t all = a->s.members;
    return n / all * m + n % all * m / all;
}

static void write_batch(alone *a, const uint64_t *keys, const uint64_t *values, uint64_t n,
                        bool builds, bool wants)
{
    heddle_insert_options options = HEDDLE_INSERT_OPTIONS_INIT;
    void *k = shared_narrow(keys, n, a->s.options.key_bits);
    void *v = shared_narrow(values, n, a->s.options.value_bits);
    uint8_t *outcomes = calloc(n + 1, 1);
    uint64_t failed[4], inserted = 0;
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    if (wants) {
        options.outcomes = outcomes;
        options.failed = failed;
        options.failed_capacity = 4;
    }
    check_ok(builds ? heddle_cluster_table_build(a->s.table, k, v, n, &options, &totals)
                    : heddle_cluster_table_insert(a->s.table, k, v, n, &options, &totals));
    assert_int_equal(totals.inserted + totals.updated + totals.kept, n);
    for (uint64_t i = 0; i < n; i++) inserted += outcomes[i] == HEDDLE_OUTCOME_INSERTED;
    if (wants) assert_int_equal(inserted, totals.inserted);
    for (uint32_t m = 0; m < a->s.members; m++) {
        const uint64_t begin = part_begin(a, n, m), end = part_begin(a, n, m + 1);
        if (builds) a->models[m].size = 0;
        shared_model_add(&a->models[m], keys + begin, v != NULL ? values + begin : NULL,
                         end - begin, HEDDLE_POLICY_KEEP);
    }
    free(k);
    free(v);
    free(outcomes);
}

/* ---------------------------------------------------------------------------------------- look */

/* What find must give for a key, as far as that is certain: a value, or one of a list. */
static bool value_fits(const alone *a, uint64_t key, uint64_t got)
{
    uint64_t sum = 0, at;
    for (uint32_t m = 0; m < a->s.members; m++) {
        const uint64_t count = shared_model_find(&a->models[m], key, &at);
        for (uint64_t j = 0; j < count; j++) {
            if (a->s.options.container == HEDDLE_CONTAINER_COUNTER)
                sum += a->models[m].pairs[at + j].value;
            else if (a->models[m].pairs[at + j].value == got) return true;
        }
        if (count != 0 && a->s.options.container != HEDDLE_CONTAINER_COUNTER) return false;
    }
    return got == (a->s.options.value_bits == 32 ? (uint32_t)sum : sum);
}

static uint64_t count_of(const alone *a, uint64_t key)
{
    uint64_t sum = 0, at;
    for (uint32_t m = 0; m < a->s.members; m++) sum += shared_model_find(&a->models[m], key, &at);
    return sum;
}

static void look_values(alone *a, const void *k, const uint64_t *keys, uint64_t n)
{
    const uint32_t bits = a->s.options.value_bits;
    uint8_t *found = malloc(n + 1), *values = malloc((n + 1) * 8);
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    uint64_t hits = 0;
    memset(values, 0xcd, (n + 1) * 8);
    check_ok(heddle_cluster_table_find(a->s.table, k, n, values, found, &totals));
    for (uint64_t i = 0; i < n; i++) {
        const bool there = count_of(a, keys[i]) != 0;
        const uint64_t got = shared_at(values, i, bits);
        check(found[i] == there, "key %#llx: found %u", (unsigned long long)keys[i], found[i]);
        check(there ? value_fits(a, keys[i], got)
                    : got == (bits == 32 ? 0xcdcdcdcd : UINT64_C(0xcdcdcdcdcdcdcdcd)),
              "key %#llx: value %#llx", (unsigned long long)keys[i], (unsigned long long)got);
        hits += there;
    }
    assert_int_equal(totals.found, hits);
    assert_int_equal(totals.absent, n - hits);
    free(found);
    free(values);
}

static void look_lists(alone *a, const void *k, const uint64_t *keys, uint64_t n)
{
    const uint32_t bits = a->s.options.value_bits;
    uint64_t *offsets = calloc(n + 1, sizeof *offsets), total = 0, at;
    check_ok(heddle_cluster_table_retrieve(a->s.table, k, n, offsets, NULL, 0, &total));
    void *values = calloc(total + 1, 8);
    check_ok(heddle_cluster_table_retrieve(a->s.table, k, n, offsets, values, total, &total));
    for (uint64_t i = 0; i < n; i++) {
        uint64_t next = offsets[i];
        for (uint32_t m = 0; m < a->s.members; m++) { /* member by member */
            const uint64_t count = shared_model_find(&a->models[m], keys[i], &at);
            uint64_t *list = malloc((count + 1) * sizeof *list);
            for (uint64_t j = 0; j < count; j++) list[j] = shared_at(values, next++, bits);
            sort_numbers(list, count);
            for (uint64_t j = 0; j < count; j++)
                check(list[j] == a->models[m].pairs[at + j].value,
                      "key %#llx: value %#llx of member %u", (unsigned long long)keys[i],
                      (unsigned long long)list[j], m);
            free(list);
        }
        check(next == offsets[i + 1], "question %llu ends at %llu", (unsigned long long)i,
              (unsigned long long)offsets[i + 1]);
    }
    free(values);
    free(offsets);
}

static void look(alone *a, const uint64_t *keys, uint64_t n)
{
    void *k = shared_narrow(keys, n, a->s.options.key_bits);
    uint8_t *found = malloc(n + 1);
    uint64_t *matches = malloc((n + 1) * sizeof *matches);
    check_ok(heddle_cluster_table_contains(a->s.table, k, n, found, NULL));
    check_ok(heddle_cluster_table_count(a->s.table, k, n, matches, NULL));
    for (uint64_t i = 0; i < n; i++)
        check(matches[i] == count_of(a, keys[i]) && found[i] == (matches[i] != 0),
              "key %#llx: %llu matches", (unsigned long long)keys[i],
              (unsigned long long)matches[i]);
    if (a->s.options.value_bits != 0) {
        look_values(a, k, keys, n);
        look_lists(a, k, keys, n);
    }
    free(k);
    free(found);
    free(matches);
}

/* All pairs, of all members. */
static void check_whole(alone *a)
{
    uint64_t size = 0, sum = 0;
    for (uint32_t m = 0; m < a->s.members; m++) {
        uint64_t own = 0;
        check_ok(heddle_table_size(heddle_cluster_table_part(a->s.table, m), &own, NULL));
        assert_int_equal(own, a->models[m].size);
        sum += own;
    }
    shared_pair *all = malloc((sum + 1) * sizeof *all);
    for (uint32_t m = 0; m < a->s.members; m++) {
        memcpy(all + size, a->models[m].pairs, a->models[m].size * sizeof *all);
        size += a->models[m].size;
    }
    sort_pairs(all, sum);
    check(shared_holds(&a->s, all, sum), "the table does not hold what it should");
    check_ok(heddle_cluster_table_size(a->s.table, &size));
    assert_int_equal(size, sum);
    check_ok(heddle_cluster_table_validate(a->s.table));
    free(all);
}

/* The models without a key. */
static void forget(alone *a, uint64_t key)
{
    for (uint32_t m = 0; m < a->s.members; m++) {
        shared *model = &a->models[m];
        uint64_t at;
        const uint64_t count = shared_model_find(model, key, &at);
        memmove(model->pairs + at, model->pairs + at + count,
                (model->size - at - count) * sizeof *model->pairs);
        model->size -= count;
    }
}

static void erase(alone *a, const uint64_t *keys, uint64_t n)
{
    void *k = shared_narrow(keys, n, a->s.options.key_bits);
    uint8_t *found = calloc(n + 1, 1);
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    uint64_t flags = 0;
    check_ok(heddle_cluster_table_erase(a->s.table, k, n, found, &totals));
    for (uint64_t i = 0; i < n; i++) { /* no key is there twice */
        check(found[i] == (count_of(a, keys[i]) != 0), "erase: key %#llx: %u",
              (unsigned long long)keys[i], found[i]);
        flags += found[i];
    }
    assert_int_equal(totals.found, flags);
    assert_int_equal(totals.absent, n - flags);
    for (uint64_t i = 0; i < n; i++) forget(a, keys[i]);
    free(k);
    free(found);
}

/*
 * Every member says 1 for one of the equal keys of a batch, and members that have the key need not choose the same one. So
 * there are as many ones as members that have it, or fewer, and one at least.
 */
static void erase_copies(alone *a, uint64_t key)
{
    enum { COPIES = 50 };
    uint64_t keys[COPIES], flags = 0, holders = 0, at;
    uint8_t found[COPIES];
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    for (uint32_t i = 0; i < COPIES; i++) keys[i] = key;
    for (uint32_t m = 0; m < a->s.members; m++)
        holders += shared_model_find(&a->models[m], key, &at) != 0;
    void *k = shared_narrow(keys, COPIES, a->s.options.key_bits);
    check_ok(heddle_cluster_table_erase(a->s.table, k, COPIES, found, &totals));
    for (uint32_t i = 0; i < COPIES; i++) flags += found[i];
    check(flags <= holders && (flags != 0) == (holders != 0),
          "%llu of %u equal keys are erased by %llu members", (unsigned long long)flags, COPIES,
          (unsigned long long)holders);
    assert_int_equal(totals.found, flags);
    assert_int_equal(totals.absent, COPIES - flags);
    forget(a, key);
    free(k);
}

static void go_through(const shared_kind *kind, const char *devices, uint32_t members)
{
    const uint64_t n = case_size(members < 7 ? 5001 : 1401);
    alone a = alone_create(kind, devices);
    uint64_t *keys = keys_allocate(2 * n), *values = keys_allocate(2 * n);
    keys_fill(keys, 2 * n, KEYS_EDGES, kind->key_bits, 3);
    shared_values(values, keys, n, 3);
    write_batch(&a, keys, values, n, true, false);
    check_whole(&a);
    look(&a, keys, 2 * n);
    keys_shuffle(keys, n, 9); /* other members get them now */
    shared_values(values, keys, n, 4);
    write_batch(&a, keys, values, n / 2, false, true);
    check_whole(&a);
    look(&a, keys, 2 * n);
    erase(&a, keys + n / 4, n / 5);
    check_whole(&a);
    for (uint64_t i = 0; i < 5; i++) erase_copies(&a, keys[i]);
    erase_copies(&a, keys[n / 4]); /* which is gone */
    check_whole(&a);
    look(&a, keys, 2 * n < 1000 ? 2 * n : 1000);
    write_batch(&a, keys, values, 100, true, true);
    check_whole(&a);
    write_batch(&a, NULL, NULL, 0, false, false);
    check_whole(&a);
    free(keys);
    free(values);
    alone_destroy(&a);
}
static void members_answer_together(void **state)
{
    (void)state;
    for (uint32_t members = 1; members <= 4; members++) shared_run_with(go_through, members);
    shared_run_with(go_through, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {ONCE(members_answer_together)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
