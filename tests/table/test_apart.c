/*
 * test_apart.c: arrays of the host given to devices with memory of their own, of which there is any amount or too
 * little. Copies of arrays go first where memory is short; what is left works through them in slices or in pieces.
 * Whatever a call says, the table holds what it should.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "support/apart.h"
#include "support/arrays.h"
#include "support/keys.h"
#include "support/material.h"
#include "support/multi.h"
#include "table/graph/graph.h"

#define PAIRS UINT64_C(500001)
#define KEYS UINT64_C(400001) /* of sets and counters */
#define NEVER 4000            /* no call makes so many allocations */

#define OFTEN 7 /* one row of so many has the same key */

/* ---------------------------------------------------------------------------------- all the memory */

static void use_everything(const test_case *c)
{
    const uint64_t n = case_size(60001);
    multi m = multi_create(c, NULL);
    material x = material_make(n, m.options.key_bits, OFTEN);
    for (uint64_t round = 0; round < 3; round++) {
        multi_build(&m, x.keys, x.values, n / 2);
        multi_insert(&m, x.keys + n / 3, x.values, n / 3);
        multi_erase(&m, x.keys, n / 4);
        multi_look(&m, x.keys + n / 5, n / 2);
        multi_insert(&m, x.keys, x.values, 500);
        multi_check(&m);
    }
    multi_destroy(&m);
    material_free(&x);
}

/* Calls as they are on a GPU, with arrays of all places. */
static void plenty(const test_case *c)
{
    apart_begin(c->device);
    for (int arrays = ARRAYS_HOST; arrays <= ARRAYS_MIXED; arrays++) {
        test_case apart = *c;
        apart.arrays = (case_arrays)arrays;
        case_note("arrays %d", arrays);
        use_everything(&apart);
    }
    apart_end(c->device);
}

/* -------------------------------------------------------------------------------------- short of it */

static bool is_multimap(const test_case *c)
{
    return c->graph->container == HEDDLE_CONTAINER_MULTIMAP;
}

/* A table that holds something, or nothing, and a batch for it. */
typedef struct attempt {
    multi m;
    array k, v, outcomes;
    bool build;
    const material *x;
    uint64_t first, n; /* rows of the material */
} attempt;

typedef struct plan {
    uint32_t flags;
    uint64_t capacity, held; /* pairs that are there before, the first of the material */
    bool erased, build;
} plan;

static attempt attempt_make(const test_case *c, const material *x, const plan *p)
{
    heddle_table_options options = case_options(c);
    attempt a;
    memset(&a, 0, sizeof a);
    options.flags = p->flags;
    options.capacity = p->capacity;
    a.m = multi_create(c, &options);
    if (p->held != 0) multi_insert(&a.m, x->keys, x->values, p->held);
    if (p->erased) multi_erase(&a.m, x->keys, p->held / 3);
    a.build = p->build;
    a.x = x;
    a.first = p->build ? 0 : p->held;
    a.n = x->n - a.first;
    a.k = array_of(c, ROLE_KEYS, x->keys + a.first, a.n, a.m.options.key_bits);
    a.v = array_of(c, ROLE_VALUES, x->values + a.first, a.n, a.m.options.value_bits);
    a.outcomes = array_poisoned(c, ROLE_FLAGS, a.n, 0xee);
    return a;
}

/* On success the model follows, and the outcomes and totals are those of a multimap, set or counter. */
static heddle_status attempt_run(attempt *a)
{
    multi *m = &a->m;
    heddle_insert_options options = HEDDLE_INSERT_OPTIONS_INIT;
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    const uint64_t before = a->build ? 0 : m->size;
    const bool multimap = m->options.container == HEDDLE_CONTAINER_MULTIMAP;
    options.outcomes = array_pointer(&a->outcomes);
    const heddle_status status =
        a->build ? heddle_table_build(m->table, array_pointer(&a->k), array_pointer(&a->v), a->n,
                                      &options, &totals, NULL)
                 : heddle_table_insert(m->table, array_pointer(&a->k), array_pointer(&a->v), a->n,
                                       &options, &totals, NULL);
    if (status != HEDDLE_OK) return status;
    multi_model_add(m, a->x->keys + a->first, a->x->values + a->first, a->n, a->build);
    const uint64_t fresh = multimap ? a->n : m->size - before;
    assert_int_equal(totals.inserted, fresh);
    assert_int_equal(totals.kept + totals.updated, a->n - fresh);
    array_pull(&a->outcomes);
    uint64_t inserted = 0;
    for (uint64_t i = 0; i < a->n; i++) inserted += a->outcomes.host[i] == HEDDLE_OUTCOME_INSERTED;
    assert_int_equal(inserted, fresh);
    return status;
}

static void attempt_free(attempt *a)
{
    multi_destroy(&a->m);
    array_free(&a->k);
    array_free(&a->v);
    array_free(&a->outcomes);
}

/* The batch with so much memory beside what there is. */
static heddle_status attempt_within(const test_case *c, const material *x, const plan *p,
                                    uint64_t room, bool *parted)
{
    attempt a = attempt_make(c, x, p);
    const uint64_t vertices = a.m.table->options.capacity;
    case_note("%s, capacity %llu, %llu held%s, %llu bytes more", p->build ? "build" : "insert",
              (unsigned long long)p->capacity, (unsigned long long)p->held,
              p->erased ? ", gaps" : "", (unsigned long long)room);
    apart_limit(apart_used(c->device) + room);
    const heddle_status status = attempt_run(&a);
    apart_limit(UINT64_MAX);
    check(status == HEDDLE_OK || status == HEDDLE_ERROR_NO_MEMORY, "%s: %s",
          heddle_status_string(status), heddle_last_error());
    *parted = status == HEDDLE_OK && (is_multimap(c) ? hd_graph_of(a.m.table)->sliced
                                                     : hd_graph_of(a.m.table)->pieces > 1);
    if (status != HEDDLE_OK) assert_int_equal(a.m.table->options.capacity, vertices);
    if (*parted || status != HEDDLE_OK) {
        multi_check(&a.m);
        multi_look(&a.m, x->keys, 500);
    }
    attempt_free(&a);
    return status;
}

/*
 * With less and less memory, until there is too little. Gives the least with which the batch came in slices, or a set's or
 * counter's in pieces, as it must at some point: there is then no memory for copies of the arrays, or for grouping.
 */
static uint64_t squeeze(const test_case *c, const material *x, const plan *p)
{
    const uint64_t n = p->build ? x->n : x->n - p->held;
    const uint64_t pair = (c->graph->key_bits + c->graph->value_bits) / 8;
    uint64_t room = (x->n + p->held) * (pair + 2) + n * (is_multimap(c) ? pair : 16 * pair) +
                    (UINT64_C(4) << 20);
    uint64_t found = 0, least = UINT64_MAX;
    bool parted = false;
    while (attempt_within(c, x, p, room, &parted) == HEDDLE_OK) {
        if (parted) found = room;
        least = room;
        room = room / 12 * 11;
    }
    check(found != 0,
          "nothing came in slices or pieces; %llu bytes sufficed, for %llu pairs of %llu",
          (unsigned long long)least, (unsigned long long)n, (unsigned long long)pair);
    return found;
}

/* In place, beside, into the same regions and into others, with gaps of erased pairs. */
static void multimaps(const test_case *c)
{
    const plan plans[] = {
        {0, 0, 0, false, true},
        {0, PAIRS, 0, false, true},
        {0, 0, PAIRS / 4, false, true},
        {0, 0, PAIRS / 4, false, false},
        {0, 0, PAIRS / 4, true, false},
        {0, PAIRS, PAIRS / 4, false, false},
        {0, PAIRS, PAIRS / 4, true, false},
        {HEDDLE_FLAG_ORDERED, PAIRS, PAIRS / 4, true, false},
    };
    if (!is_multimap(c) || case_spared(c)) return;
    material x = material_make(PAIRS, c->graph->key_bits, OFTEN);
    apart_begin(c->device);
    const bool all = !case_quick() && c->graph->key_bits == 32 && c->graph->value_bits == 32;
    for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i += all ? 1 : 4) {
        test_case apart = *c;
        apart.arrays = ARRAYS_HOST;
        squeeze(&apart, &x, &plans[i]);
    }
    apart_end(c->device);
    material_free(&x);
}

/*
 * Keys for sets, and for counters fewer different ones: these bring all they have together once more with every piece,
 * so that pieces spare memory where there are many rows for a key.
 */
static material material_of_keys(const test_case *c)
{
    const uint64_t few = KEYS / 16;
    material x = material_make(KEYS, c->graph->key_bits, OFTEN);
    if (c->graph->container == HEDDLE_CONTAINER_COUNTER)
        for (uint64_t i = few; i < KEYS; i++) x.keys[i] = x.keys[i % few];
    return x;
}

/* Sets and counters: a batch in pieces, with arrays of all places. */
static void pieces(const test_case *c)
{
    const plan plans[] = {
        {0, 0, 0, false, true},
        {0, 0, KEYS / 4, false, true},
        {0, 0, KEYS / 4, true, false},
        {0, KEYS, 0, false, false},
    };
    if (is_multimap(c) || case_spared(c)) return;
    material x = material_of_keys(c);
    apart_begin(c->device);
    const size_t step = case_quick() ? 3 : c->graph->key_bits == 64 ? 2 : 1;
    for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i += step) {
        test_case apart = *c;
        apart.arrays = i % 2 == 0 ? ARRAYS_HOST : ARRAYS_MIXED;
        squeeze(&apart, &x, &plans[i]);
    }
    apart_end(c->device);
    material_free(&x);
}

/* Every allocation of an insertion in slices or in pieces is refused once, or of many some. */
static void refusals(const test_case *c)
{
    if (case_spared(c)) return;
    const uint64_t n = is_multimap(c) ? PAIRS : KEYS;
    const plan p = {0, 0, n / 4, true, false};
    material x = is_multimap(c) ? material_make(n, c->graph->key_bits, OFTEN) : material_of_keys(c);
    test_case apart = *c;
    apart.arrays = ARRAYS_HOST;
    apart_begin(c->device);
    const uint64_t room = squeeze(&apart, &x, &p);
    bool struck = true;
    for (uint64_t i = 1; struck; i += (case_quick() ? 40 : 12) + i / 4) {
        attempt a = attempt_make(&apart, &x, &p);
        case_note("allocation %llu", (unsigned long long)i);
        check(i < NEVER, "there is no end of allocations");
        apart_limit(apart_used(c->device) + room);
        hd_fault_arm(i);
        const heddle_status status = attempt_run(&a);
        struck = hd_fault_struck();
        hd_fault_arm(0);
        apart_limit(UINT64_MAX);
        check(status == HEDDLE_OK || (struck && status == HEDDLE_ERROR_NO_MEMORY), "%s: %s",
              heddle_status_string(status), heddle_last_error());
        multi_check(&a.m);
        attempt_free(&a);
    }
    apart_end(c->device);
    material_free(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OVER_MULTIS(plenty),
        OVER_GRAPHS(multimaps),
        OVER_GRAPHS(pieces),
        OVER_FEW_GRAPHS(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
