/*
 * checked_write.c: insert and build against the model; see checked.h.
 *
 * A batch is checked key by key: all occurrences of one key together, since only together they say
 * what must have become of it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "support/arrays.h"
#include "support/checked.h"
#include "support/keys.h"

#define POISON_OUTCOME 0xee
#define POISON_INDEX UINT64_C(0xdbdbdbdbdbdbdbdb)

/* heddle_table_insert and heddle_table_build have one type. */
typedef heddle_status (*write_call)(heddle_table *, const void *, const void *, uint64_t,
                                    const heddle_insert_options *, heddle_totals *, void *);

typedef struct write_batch {
    const uint64_t *keys;
    const uint64_t *values; /* in a set, any numbers: not looked at */
    uint64_t n;
    uint32_t policy;
    const uint8_t *outcomes;
    const uint8_t *found_after;
    const uint64_t *values_after;
} write_batch;

/* All occurrences of one key: b->keys[order[i]] for i in [first, last). */
typedef struct write_group {
    const uint64_t *order;
    uint64_t first;
    uint64_t last;
    uint64_t count[HEDDLE_OUTCOME_FAILED + 1]; /* occurrences by outcome */
} write_group;

static uint64_t given_value(const checked *t, const write_batch *b, uint64_t i)
{
    return t->options.value_bits == 0 ? 0 : low_bits(b->values[i], t->options.value_bits);
}

/* The outcomes of a key's occurrences agree with whether it was there. */
static void check_outcomes(const write_batch *b, const write_group *g, bool existed)
{
    const unsigned long long key = b->keys[g->order[g->first]];
    const uint64_t n = g->last - g->first;
    const uint64_t failed = g->count[HEDDLE_OUTCOME_FAILED];
    const uint64_t inserted = g->count[HEDDLE_OUTCOME_INSERTED];
    const bool changes = b->policy != HEDDLE_POLICY_KEEP;
    check(!existed || (inserted == 0 && failed == 0),
          "key %#llx was there: %llu inserted, %llu failed", key, (unsigned long long)inserted,
          (unsigned long long)failed);
    check(existed || inserted == (failed < n),
          "key %#llx was not there: %llu of %llu inserted, %llu failed", key,
          (unsigned long long)inserted, (unsigned long long)n, (unsigned long long)failed);
    check(g->count[changes ? HEDDLE_OUTCOME_KEPT : HEDDLE_OUTCOME_UPDATED] == 0,
          "key %#llx: %s under policy %u", key, changes ? "kept" : "updated", b->policy);
    for (uint64_t i = g->first; i < g->last; i++)
        check(b->found_after[g->order[i]] == (existed || inserted == 1),
              "key %#llx: in the table afterwards: %u", key, b->found_after[g->order[i]]);
}

/* The value the key has now is one that the policy allows. */
static void check_value(const checked *t, const write_batch *b, const write_group *g, bool existed,
                        uint64_t old)
{
    const uint64_t now = b->values_after[g->order[g->first]];
    const bool one_of_many =
        b->policy == HEDDLE_POLICY_REPLACE || (b->policy == HEDDLE_POLICY_KEEP && !existed);
    bool fits = false;
    bool any = existed;
    uint64_t all = old;
    for (uint64_t i = g->first; i < g->last; i++) {
        const uint64_t given = given_value(t, b, g->order[i]);
        if (b->outcomes[g->order[i]] == HEDDLE_OUTCOME_FAILED) continue;
        fits |= given == now;
        all = any ? model_combine(b->policy, all, given, t->options.value_bits) : given;
        any = true;
    }
    check(one_of_many ? fits : now == all,
          "key %#llx has value %#llx under policy %u; was there: %u, %llu given",
          (unsigned long long)b->keys[g->order[g->first]], (unsigned long long)now, b->policy,
          existed, (unsigned long long)(g->last - g->first));
}

static void check_group(checked *t, const write_batch *b, write_group *g)
{
    const uint64_t key = b->keys[g->order[g->first]];
    uint64_t old = 0;
    const bool existed = model_find(t->model, key, &old);
    for (uint64_t i = g->first; i < g->last; i++) g->count[b->outcomes[g->order[i]]]++;
    check_outcomes(b, g, existed);
    if (!b->found_after[g->order[g->first]]) return;
    if (t->options.value_bits != 0) check_value(t, b, g, existed, old);
    model_set(t->model, key, b->values_after[g->order[g->first]]);
}

static void check_groups(checked *t, const write_batch *b)
{
    uint64_t *order = checked_order(b->keys, b->n);
    for (uint64_t first = 0, last; first < b->n; first = last) {
        for (last = first; last < b->n && b->keys[order[last]] == b->keys[order[first]];) last++;
        write_group group = {order, first, last, {0}};
        check_group(t, b, &group);
    }
    free(order);
}

/* Totals count what the outcomes say. */
static void check_write_totals(const write_batch *b, const heddle_totals *totals)
{
    uint64_t count[HEDDLE_OUTCOME_FAILED + 1] = {0};
    for (uint64_t i = 0; i < b->n; i++) {
        check(b->outcomes[i] >= HEDDLE_OUTCOME_INSERTED && b->outcomes[i] <= HEDDLE_OUTCOME_FAILED,
              "outcome %llu is %u", (unsigned long long)i, b->outcomes[i]);
        count[b->outcomes[i]]++;
    }
    assert_int_equal(totals->inserted, count[HEDDLE_OUTCOME_INSERTED]);
    assert_int_equal(totals->updated, count[HEDDLE_OUTCOME_UPDATED]);
    assert_int_equal(totals->kept, count[HEDDLE_OUTCOME_KEPT]);
    assert_int_equal(totals->failed, count[HEDDLE_OUTCOME_FAILED]);
    assert_int_equal(totals->inserted + totals->updated + totals->kept + totals->failed, b->n);
    assert_int_equal(totals->found, 0);
    assert_int_equal(totals->absent, 0);
    check(totals->probes >= b->n, "%llu probes for %llu keys", (unsigned long long)totals->probes,
          (unsigned long long)b->n);
}

/* The list of failed keys names each index with outcome FAILED once, and nothing else. */
static void check_failed_list(const write_batch *b, const uint64_t *failed, uint64_t count,
                              bool rest_untouched)
{
    uint8_t *named = calloc(b->n + 1, 1);
    assert_non_null(named);
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t index = failed[i];
        check(index < b->n, "failed index %llu of %llu keys", (unsigned long long)index,
              (unsigned long long)b->n);
        check(b->outcomes[index] == HEDDLE_OUTCOME_FAILED && !named[index],
              "index %llu in the failed list", (unsigned long long)index);
        named[index] = 1;
    }
    for (uint64_t i = count; rest_untouched && i < b->n; i++)
        check(failed[i] == POISON_INDEX, "entry %llu of the failed list was written",
              (unsigned long long)i);
    free(named);
}

/* One call, with everything it is given and gives. */
typedef struct write_made {
    heddle_status status;
    heddle_totals totals;
    bool lazy;    /* without totals and list */
    bool refused; /* for want of memory, before it did anything */
} write_made;

static bool all_poison(const array *outcomes)
{
    for (uint64_t i = 0; i < outcomes->bytes; i++) {
        if (outcomes->host[i] != POISON_OUTCOME) return false;
    }
    return true;
}

/* The status says what the totals say. */
static void check_write_status(const checked *t, const write_made *made)
{
    const bool fixed = (t->options.flags & HEDDLE_FLAG_FIXED) != 0;
    const uint64_t failed = made->totals.failed;
    heddle_status expected = HEDDLE_OK;
    if (failed != 0) expected = fixed ? HEDDLE_ERROR_FULL : HEDDLE_ERROR_NO_MEMORY;
    check(failed == 0 || fixed || t->struck, "%llu keys failed in a table that may grow",
          (unsigned long long)failed);
    /* a call that nobody asked to wait need not know that keys failed, but may */
    if (made->lazy && made->status == HEDDLE_OK) return;
    case_check_status(made->status, expected, "insert or build", __FILE__, __LINE__);
}

static write_made make_call(checked *t, const write_batch *b, write_call call, array *outcomes)
{
    heddle_insert_options options = HEDDLE_INSERT_OPTIONS_INIT;
    lazy_totals totals;
    write_made made = {HEDDLE_OK, {0}, false, false};
    array keys = array_of(t->c, ROLE_KEYS, b->keys, b->n, t->options.key_bits);
    array values = array_of(t->c, ROLE_VALUES, b->values, b->n, t->options.value_bits);
    uint64_t *failed = keys_allocate(b->n);
    heddle_totals *to = checked_totals(t, &totals, t->fault == 0);
    memset(failed, 0xdb, b->n * sizeof *failed);
    options.policy = b->policy;
    options.outcomes = array_pointer(outcomes);
    options.failed = to != NULL ? failed : NULL;
    options.failed_capacity = to != NULL ? b->n : 0;
    hd_fault_arm(t->fault);
    made.status =
        call(t->table, array_pointer(&keys), array_pointer(&values), b->n, &options, to, NULL);
    t->struck = hd_fault_struck();
    hd_fault_arm(0);
    array_pull(outcomes);
    made.lazy = totals.lazy;
    made.refused = t->struck && made.status == HEDDLE_ERROR_NO_MEMORY && all_poison(outcomes);
    if (!made.refused) {
        made.totals = checked_taken(t, &totals);
        check_write_status(t, &made);
        if (to != NULL) /* a build that took several seeds may have listed more at first */
            check_failed_list(b, failed, made.totals.failed, call == heddle_table_insert);
    }
    free(failed);
    array_free(&keys);
    array_free(&values);
    return made;
}

static heddle_totals write_checked(checked *t, const uint64_t *keys, const uint64_t *values,
                                   uint64_t n, uint32_t policy, write_call call)
{
    array outcomes = array_poisoned(t->c, ROLE_FLAGS, n, POISON_OUTCOME);
    write_batch b = {keys, values, n, policy, outcomes.host, NULL, NULL};
    const write_made made = make_call(t, &b, call, &outcomes);
    if (call == heddle_table_build) {
        uint64_t size = 0;
        check_ok(heddle_table_size(t->table, &size, NULL));
        if (!made.refused || size == 0) model_clear(t->model);
    }
    if (!made.refused) {
        uint8_t *found = malloc(n + 1);
        uint64_t *values_after = keys_allocate(n);
        assert_non_null(found);
        check_write_totals(&b, &made.totals);
        checked_peek(t, keys, n, found, values_after);
        b.found_after = found;
        b.values_after = values_after;
        check_groups(t, &b);
        free(found);
        free(values_after);
    }
    checked_size(t);
    array_free(&outcomes);
    return made.totals;
}

heddle_totals checked_insert(checked *t, const uint64_t *keys, const uint64_t *values, uint64_t n,
                             uint32_t policy)
{
    return write_checked(t, keys, values, n, policy, heddle_table_insert);
}

heddle_totals checked_build(checked *t, const uint64_t *keys, const uint64_t *values, uint64_t n,
                            uint32_t policy)
{
    return write_checked(t, keys, values, n, policy, heddle_table_build);
}
