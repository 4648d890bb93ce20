/*
 * test_bucket_list_faults.c: bucket lists when memory runs out and when they are damaged. Every allocation of
 * every call fails once, in turn: the call says so, and the table holds what it held and what was not
 * reported as failed. And heddle_table_validate finds what is set wrong through the library's internals.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "support/arrays.h"
#include "support/files.h"
#include "support/keys.h"
#include "support/multi.h"
#include "table/lists/lists.h"

#define FILLED UINT64_C(3000)
#define BATCH UINT64_C(4000)
#define SMALL UINT64_C(700) /* appended one by one */
#define FAULTS_MAX 400      /* no call makes so many allocations */

static uint64_t *keys, *values;

typedef struct attempt {
    multi m;
    array k, v, outcomes;
    heddle_table *other;
} attempt;

/* Makes one call; the model follows. */
typedef heddle_status (*faulty_call)(attempt *a);

static attempt attempt_make(const test_case *c)
{
    attempt a = {multi_create(c, NULL), {0}, {0}, {0}, NULL};
    multi_build(&a.m, keys, values, FILLED);
    multi_erase(&a.m, keys, 20);
    a.k = array_of(c, ROLE_KEYS, keys + FILLED / 2, BATCH, a.m.options.key_bits);
    a.v = array_of(c, ROLE_VALUES, values + FILLED / 2, BATCH, a.m.options.value_bits);
    a.outcomes = array_poisoned(c, ROLE_FLAGS, BATCH, 0xee);
    return a;
}

static void fail_each_allocation(const test_case *c, const char *name, faulty_call call)
{
    bool struck = true;
    for (uint64_t i = 1; struck; i++) {
        check_ok(heddle_device_trim(c->device)); /* else scratch is there from the last time */
        attempt a = attempt_make(c);
        check_ok(heddle_device_trim(c->device));
        case_note("%s, allocation %llu", name, (unsigned long long)i);
        check(i < FAULTS_MAX, "there is no end of allocations");
        hd_fault_arm(i);
        const heddle_status status = call(&a);
        struck = hd_fault_struck();
        hd_fault_arm(0);
        check(status == HEDDLE_OK || (struck && status == HEDDLE_ERROR_NO_MEMORY), "%s: %s",
              heddle_status_string(status), heddle_last_error());
        check(status == HEDDLE_OK || a.other == NULL, "a table came back with a failure");
        multi_check(&a.m);
        multi_look(&a.m, keys + FILLED - 50, 100);
        heddle_table_destroy(a.other);
        array_free(&a.k);
        array_free(&a.v);
        array_free(&a.outcomes);
        multi_destroy(&a.m);
    }
}

/* Pairs whose outcome says so are in; without an outcome none is. */
static heddle_status insert(attempt *a, uint64_t n)
{
    const uint64_t *k = keys + FILLED / 2, *v = values + FILLED / 2;
    uint64_t *in_keys = keys_allocate(n + 1), *in_values = keys_allocate(n + 1), in = 0;
    heddle_insert_options o = HEDDLE_INSERT_OPTIONS_INIT;
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    o.outcomes = array_pointer(&a->outcomes);
    const heddle_status status = heddle_table_insert(a->m.table, array_pointer(&a->k),
                                                     array_pointer(&a->v), n, &o, &totals, NULL);
    array_pull(&a->outcomes);
    for (uint64_t i = 0; i < n; i++)
        if (a->outcomes.host[i] == HEDDLE_OUTCOME_INSERTED) {
            in_keys[in] = k[i];
            in_values[in++] = v[i];
        }
    assert_int_equal(totals.inserted, in);
    if (status == HEDDLE_OK) assert_int_equal(in, n);
    multi_model_add(&a->m, in_keys, in_values, in, false);
    free(in_keys);
    free(in_values);
    return status;
}

static heddle_status call_insert(attempt *a) { return insert(a, BATCH); }
static heddle_status call_append(attempt *a) { return insert(a, SMALL); }

static heddle_status call_build(attempt *a)
{
    const heddle_status status = heddle_table_build(a->m.table, array_pointer(&a->k),
                                                    array_pointer(&a->v), BATCH, NULL, NULL, NULL);
    if (status == HEDDLE_OK)
        multi_model_add(&a->m, keys + FILLED / 2, values + FILLED / 2, BATCH, true);
    return status;
}

static heddle_status call_erase(attempt *a)
{
    const heddle_status status =
        heddle_table_erase(a->m.table, array_pointer(&a->k), BATCH, NULL, NULL, NULL);
    if (status == HEDDLE_OK) multi_model_erase(&a->m, keys + FILLED / 2, BATCH);
    return status;
}

static heddle_status call_read(attempt *a)
{
    static uint64_t offsets[BATCH + 1], matches[BATCH], found[BATCH], count;
    heddle_table_stats stats = HEDDLE_TABLE_STATS_INIT;
    const void *k = array_pointer(&a->k);
    heddle_status status = heddle_table_count(a->m.table, k, BATCH, matches, NULL, NULL);
    if (status == HEDDLE_OK)
        status = heddle_table_find(a->m.table, k, BATCH, found, NULL, NULL, NULL);
    if (status == HEDDLE_OK)
        status = heddle_table_retrieve(a->m.table, k, BATCH, offsets, NULL, 0, &count, NULL);
    if (status == HEDDLE_OK) status = heddle_table_get_stats(a->m.table, &stats, NULL);
    if (status == HEDDLE_OK) status = heddle_table_validate(a->m.table, NULL);
    return status;
}

static heddle_status call_rehash(attempt *a) { return heddle_table_rehash(a->m.table, 0, NULL); }

static heddle_status call_reserve(attempt *a)
{
    return heddle_table_reserve(a->m.table, 50 * FILLED, NULL);
}

static heddle_status call_save(attempt *a)
{
    return heddle_table_save(a->m.table, files_path("fault"), NULL);
}

static heddle_status call_load(attempt *a)
{
    return heddle_table_load(a->m.c->device, files_path("whole"), NULL, &a->other);
}

static heddle_status call_create(attempt *a)
{
    heddle_table_options o = case_options(a->m.c);
    o.capacity = 1000;
    return heddle_table_create(a->m.c->device, &o, &a->other);
}

static void material_make(const test_case *c)
{
    keys = keys_allocate(FILLED + BATCH);
    values = keys_allocate(FILLED + BATCH);
    keys_fill(keys, FILLED + BATCH, KEYS_TWICE, c->graph->key_bits, 7);
    keys_fill_values(values, FILLED + BATCH, 7);
    for (uint64_t i = 100; i < FILLED; i += 3) keys[i] = keys[i % 90];
}

static void faults(const test_case *c)
{
    if (c->graph->scheme != HEDDLE_SCHEME_BUCKET_LIST) return;
    material_make(c);
    fail_each_allocation(c, "insert", call_insert);
    fail_each_allocation(c, "append", call_append);
    fail_each_allocation(c, "build", call_build);
    fail_each_allocation(c, "erase", call_erase);
    fail_each_allocation(c, "reading", call_read);
    fail_each_allocation(c, "rehash", call_rehash);
    fail_each_allocation(c, "reserve", call_reserve);
    fail_each_allocation(c, "create", call_create);
    fail_each_allocation(c, "save", call_save);
    attempt a = attempt_make(c);
    check_ok(heddle_table_save(a.m.table, files_path("whole"), NULL));
    fail_each_allocation(c, "load", call_load);
    array_free(&a.k);
    array_free(&a.v);
    array_free(&a.outcomes);
    multi_destroy(&a.m);
    free(keys);
    free(values);
    files_remove();
}

/* ------------------------------------------------------------------------------------------ damage */

static void read_word(const multi *m, const uint64_t *at, uint64_t *word)
{
    check_ok(heddle_memory_copy(m->c->device, word, at, sizeof *word, NULL));
    check_ok(heddle_device_synchronize(m->c->device, NULL));
}

/* Sets a word of device memory wrong, asks, and sets it right. */
static void set_wrong(const multi *m, uint64_t *at, uint64_t flip, const char *what)
{
    uint64_t word;
    case_note("%s, bits %#llx", what, (unsigned long long)flip);
    read_word(m, at, &word);
    word ^= flip;
    check_ok(heddle_memory_copy(m->c->device, at, &word, sizeof word, NULL));
    check_status(heddle_table_validate(m->table, NULL), HEDDLE_ERROR_CORRUPT);
    assert_true(strlen(heddle_last_error()) > 10);
    word ^= flip;
    check_ok(heddle_memory_copy(m->c->device, at, &word, sizeof word, NULL));
    check_ok(heddle_table_validate(m->table, NULL));
}

static void damage(const test_case *c)
{
    if (c->graph->scheme != HEDDLE_SCHEME_BUCKET_LIST) return;
    material_make(c);
    multi m = multi_create(c, NULL);
    multi_build(&m, keys, values, FILLED);
    multi_insert(&m, keys, values, FILLED);
    hd_lists_storage *s = &hd_lists(m.table)->storage;
    uint64_t linked = 0;
    for (uint64_t i = 0; i < s->records_used; i += s->records_used / 23) {
        uint64_t *record = (uint64_t *)(void *)(s->records + i), bucket;
        set_wrong(&m, record, 1, "a count");
        set_wrong(&m, record, UINT64_C(1) << 61, "a count");
        set_wrong(&m, record, UINT64_C(1) << 63, "a state");
        set_wrong(&m, record + 1, UINT64_C(1) << 39, "a chunk");
        set_wrong(&m, record + 1, UINT64_C(1) << 31, "a unit");
        read_word(&m, record + 1, &bucket);
        if ((bucket >> 40 & 1) == 0) continue;
        linked++;
        uint64_t *header =
            (uint64_t *)(void *)(s->chunks[bucket >> 32 & 255].memory + (bucket & UINT32_MAX) * 8);
        set_wrong(&m, header, UINT64_C(1) << 30, "a link");
        set_wrong(&m, header, UINT64_C(1) << 63, "a link");
        set_wrong(&m, header + 1, 1, "a begin");
        set_wrong(&m, header + 1, UINT64_C(1) << 50, "a begin");
    }
    assert_true(linked > 3);
    /* Two keys with one list, and buckets in two lists. */
    uint64_t first, second;
    read_word(&m, &s->records[0].bucket, &first);
    read_word(&m, &s->records[1].bucket, &second);
    set_wrong(&m, &s->records[0].bucket, first ^ second, "a bucket of another list");
    s->pairs++;
    check_status(heddle_table_validate(m.table, NULL), HEDDLE_ERROR_CORRUPT);
    s->pairs--;
    s->key_count++;
    check_status(heddle_table_validate(m.table, NULL), HEDDLE_ERROR_CORRUPT);
    s->key_count--;
    s->dead += hd_lists_used(s);
    check_status(heddle_table_validate(m.table, NULL), HEDDLE_ERROR_CORRUPT);
    s->dead -= hd_lists_used(s);
    multi_check(&m);
    multi_destroy(&m);
    free(keys);
    free(values);
}

int main(void)
{
    const struct CMUnitTest tests[] = {OVER_MULTIS(faults), OVER_MULTIS(damage)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
