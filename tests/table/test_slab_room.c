/*
 * test_slab_room.c: the slots of erased keys in slab hashes: insertions take them, and a fixed table that is as full as
 * it was made for has room for new keys in the place of old ones, however they come and go.
 */
#include <stdlib.h>
#include <string.h>

#include "support/arrays.h"
#include "support/checked.h"
#include "support/keys.h"
#include "support/tuned.h"
#include "table/slots/regions.h"

/* In lists of one slab and of several: there are fewer dead slots then, with no compaction. */
static void slots_come_to_life(const test_case *c)
{
    static const double loads[] = {0.6, 0.85};
    const uint64_t n = case_size(20000), some = n / 16;
    uint64_t *keys = keys_allocate(n + some);
    for (int i = 0; i < 2; i++) {
        heddle_table_stats before = HEDDLE_TABLE_STATS_INIT, after = HEDDLE_TABLE_STATS_INIT;
        heddle_table_options options = case_options(c);
        options.capacity = n;
        options.load = loads[i];
        checked t = checked_create(c, &options);
        keys_fill(keys, n + some, KEYS_EDGES, t.options.key_bits, 47);
        checked_insert(&t, keys, keys, n, HEDDLE_POLICY_KEEP);
        checked_erase(&t, keys, some);
        check_ok(heddle_table_get_stats(t.table, &before, NULL));
        assert_int_equal(before.marks, some);
        checked_insert(&t, keys + n, keys + n, some, HEDDLE_POLICY_KEEP);
        checked_insert(&t, keys + some, keys + some, n - some, HEDDLE_POLICY_REPLACE);
        check_ok(heddle_table_get_stats(t.table, &after, NULL));
        check(after.marks < some * 9 / 10, "%llu dead slots, then %llu",
              (unsigned long long)before.marks, (unsigned long long)after.marks);
        assert_int_equal(after.keys, n);
        checked_all(&t);
        check_ok(heddle_table_validate(t.table, NULL));
        checked_destroy(&t);
    }
    free(keys);
}

/* A fixed table whose keys are those from `oldest` on; calls do not wait where arrays are on a GPU. */
typedef struct room {
    const test_case *c;
    heddle_table *table;
    heddle_table_options options;
    uint64_t *keys, n, oldest;
} room;

static void insert(room *r, uint64_t first, uint64_t n)
{
    array k = array_of(r->c, ROLE_KEYS, r->keys + first, n, r->options.key_bits);
    array v = array_of(r->c, ROLE_VALUES, r->keys + first, n, r->options.value_bits);
    check_ok(
        heddle_table_insert(r->table, array_pointer(&k), array_pointer(&v), n, NULL, NULL, NULL));
    array_free(&k);
    array_free(&v);
}

static void erase(room *r, uint64_t first, uint64_t n)
{
    array k = array_of(r->c, ROLE_KEYS, r->keys + first, n, r->options.key_bits);
    check_ok(heddle_table_erase(r->table, array_pointer(&k), n, NULL, NULL, NULL));
    array_free(&k);
}

/* Erases n old keys and inserts as many new ones in a mixture. */
static void renew(room *r, uint64_t erased, uint64_t inserted)
{
    const uint64_t n = erased + inserted;
    uint64_t *some = keys_allocate(n + 1);
    array operations = array_poisoned(r->c, ROLE_FLAGS, n, HEDDLE_OPERATION_INSERT);
    memcpy(some, r->keys + r->oldest, erased * sizeof *some);
    memcpy(some + erased, r->keys + r->oldest + r->n, inserted * sizeof *some);
    memset(operations.host, HEDDLE_OPERATION_ERASE, erased);
    if (operations.memory != NULL)
        check_ok(heddle_memory_copy(r->c->device, operations.memory, operations.host, n, NULL));
    array k = array_of(r->c, ROLE_KEYS, some, n, r->options.key_bits);
    array v = array_of(r->c, ROLE_VALUES, some, n, r->options.value_bits);
    check_ok(heddle_table_mixed(r->table, array_pointer(&operations), array_pointer(&k),
                                array_pointer(&v), n, NULL, NULL, NULL, NULL));
    array *const all[] = {&operations, &k, &v};
    for (int i = 0; i < 3; i++) array_free(all[i]);
    free(some);
}

/*
 * By turns: keys are erased and others inserted; a mixture does both, kind by kind or all at once; and many are erased, one
 * inserted, which may do without a compaction, and a mixture inserts the rest, which may not.
 */
static void fixed_tables_have_room(const test_case *c)
{
    const uint64_t n = case_size(60000), rounds = case_quick() ? 12 : 40;
    room r = {c, NULL, case_options(c), keys_allocate(n + rounds * n), n, 0};
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    uint64_t size = 0;
    r.options.capacity = n;
    r.options.load = 0.65;
    r.options.flags = HEDDLE_FLAG_FIXED;
    check_ok(heddle_table_create(c->device, &r.options, &r.table));
    check_ok(heddle_table_get_options(r.table, &r.options));
    keys_fill(r.keys, n + rounds * n, KEYS_RANDOM, r.options.key_bits, 53);
    insert(&r, 0, n);
    for (uint64_t round = 0; round < rounds; round++) {
        const uint64_t most = round % 4 == 3 ? n * 3 / 10 : n / 9;
        if (round % 4 == 0) {
            erase(&r, r.oldest, most);
            insert(&r, r.oldest + n, most);
        } else if (round % 4 == 3) {
            erase(&r, r.oldest, most);
            insert(&r, r.oldest + n, 1);
            r.oldest++;
            renew(&r, 0, most - 1);
            r.oldest--;
        } else {
            tune_regions(round % 4 == 1 ? 1 : UINT64_MAX, UINT32_MAX);
            renew(&r, most, most);
            tune_regions(UINT64_MAX, UINT32_MAX);
        }
        r.oldest += most;
        check_ok(heddle_table_take_totals(r.table, &totals, NULL));
        check(totals.failed == 0, "round %llu: %llu keys found no room", (unsigned long long)round,
              (unsigned long long)totals.failed);
        check_ok(heddle_table_size(r.table, &size, NULL));
        assert_int_equal(size, n);
    }
    check_ok(heddle_table_validate(r.table, NULL));
    array k = array_of(c, ROLE_KEYS, r.keys + r.oldest, n, r.options.key_bits);
    check_ok(heddle_table_contains(r.table, array_pointer(&k), n, NULL, &totals, NULL));
    assert_int_equal(totals.found, n);
    array_free(&k);
    heddle_table_destroy(r.table);
    free(r.keys);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OVER_SLABS(slots_come_to_life),
        OVER_SLABS(fixed_tables_have_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
