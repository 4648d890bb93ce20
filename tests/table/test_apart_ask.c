/*
 * test_apart_ask.c: questions with arrays of the host, and erasures, given to devices with memory of their own, of which
 * there is less and less: far too little for copies of the arrays, and at last too little for anything. What they
 * answer is what they answer with all the memory, or that there is none.
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

#define PAIRS UINT64_C(600001)
#define NEVER 1000 /* no call makes so many allocations */

#define OFTEN 50 /* one row of so many has the same key */

static multi filled(const test_case *c, const material *x)
{
    multi m = multi_create(c, NULL);
    multi_build(&m, x->keys, x->values, x->n / 3 * 2);
    return m;
}

/* Those whose calls are in slices or pieces. */
static bool is_meant(const test_case *c)
{
    return c->arrays == ARRAYS_HOST && (c->graph->scheme == HEDDLE_SCHEME_HASHGRAPH ||
                                        c->graph->scheme == HEDDLE_SCHEME_BUCKET_LIST);
}

/* --------------------------------------------------------------------------------------- questions */

enum { FIND, COUNT, RETRIEVE, QUESTIONS };

typedef struct asking {
    multi *m;
    array keys;
    uint64_t n, values; /* that they have in all */
} asking;

typedef struct answers {
    array out, values; /* flags, matches or offsets; values */
    heddle_totals totals;
    uint64_t count;
} answers;

/* One question, with totals as far as there are any: those of a retrieval the table keeps. */
static heddle_status ask(const asking *a, int question, answers *to)
{
    multi *m = a->m;
    const uint64_t width = m->options.value_bits / 8;
    const uint64_t out = question == FIND ? a->n : (a->n + 1) * sizeof(uint64_t);
    heddle_status status = HEDDLE_OK;
    memset(to, 0, sizeof *to);
    to->totals.size = sizeof to->totals;
    to->out = array_poisoned(m->c, ROLE_FLAGS, out, 0xee);
    to->values =
        array_poisoned(m->c, ROLE_VALUES, (question == RETRIEVE ? a->values : a->n) * width, 0xee);
    void *keys = array_pointer(&a->keys), *written = array_pointer(&to->out);
    void *values = array_pointer(&to->values);
    check_ok(heddle_table_take_totals(m->table, &to->totals, NULL));
    if (question == FIND)
        status = heddle_table_find(m->table, keys, a->n, values, written, &to->totals, NULL);
    else if (question == COUNT)
        status = heddle_table_count(m->table, keys, a->n, written, &to->totals, NULL);
    else {
        status = heddle_table_retrieve(m->table, keys, a->n, written, values, a->values, &to->count,
                                       NULL);
        check_ok(heddle_table_take_totals(m->table, &to->totals, NULL));
    }
    array_pull(&to->out);
    array_pull(&to->values);
    return status;
}

static void answers_free(answers *a)
{
    array_free(&a->out);
    array_free(&a->values);
}

static void compare(const answers *got, const answers *all)
{
    assert_int_equal(got->count, all->count);
    assert_int_equal(got->totals.found, all->totals.found);
    assert_int_equal(got->totals.absent, all->totals.absent);
    assert_memory_equal(got->out.host, all->out.host, all->out.bytes);
    if (all->values.bytes != 0)
        assert_memory_equal(got->values.host, all->values.host, all->values.bytes);
}

/* The least memory that sufficed. */
static uint64_t ask_with_less(const asking *a, int question, const answers *all, uint64_t room)
{
    heddle_device *device = a->m->c->device;
    uint64_t least = UINT64_MAX;
    heddle_status status = HEDDLE_OK;
    for (; status == HEDDLE_OK && room != 0; room = room / 3 * 2) {
        answers got;
        case_note("question %d, %llu bytes more", question, (unsigned long long)room);
        apart_limit(apart_used(device) + room);
        status = ask(a, question, &got);
        apart_limit(UINT64_MAX);
        check(status == HEDDLE_OK || status == HEDDLE_ERROR_NO_MEMORY, "%s", heddle_last_error());
        if (status == HEDDLE_OK) {
            compare(&got, all);
            least = room;
        }
        answers_free(&got);
    }
    return least;
}

/* Every allocation is refused once. */
static void ask_refused(const asking *a, int question, const answers *all, uint64_t room)
{
    heddle_device *device = a->m->c->device;
    bool struck = true;
    for (uint64_t i = 1; struck; i += (case_quick() ? 40 : 12) + i / 4) {
        answers got;
        case_note("question %d, allocation %llu", question, (unsigned long long)i);
        check(i < NEVER, "there is no end of allocations");
        apart_limit(apart_used(device) + room);
        hd_fault_arm(i);
        const heddle_status status = ask(a, question, &got);
        struck = hd_fault_struck();
        hd_fault_arm(0);
        apart_limit(UINT64_MAX);
        check(status == HEDDLE_OK || (struck && status == HEDDLE_ERROR_NO_MEMORY), "%s",
              heddle_last_error());
        if (status == HEDDLE_OK && !struck) compare(&got, all);
        else if (status == HEDDLE_OK)
            assert_memory_equal(got.out.host, all->out.host, all->out.bytes);
        answers_free(&got);
    }
}

/* An array of too few values gives the count and the offsets all the same. */
static void ask_in_vain(asking *a, const answers *all, uint64_t room)
{
    answers got;
    apart_limit(apart_used(a->m->c->device) + room);
    a->values--;
    check_status(ask(a, RETRIEVE, &got), HEDDLE_ERROR_TOO_SMALL);
    a->values++;
    apart_limit(UINT64_MAX);
    assert_int_equal(got.count, all->count);
    assert_memory_equal(got.out.host, all->out.host, all->out.bytes);
    answers_free(&got);
}

static void ask_all(asking *a)
{
    const heddle_table_options *o = &a->m->options;
    const uint64_t kw = o->key_bits / 8, vw = o->value_bits / 8;
    for (int question = FIND; question < QUESTIONS; question++) {
        const uint64_t values = question == RETRIEVE ? a->values : a->n;
        const uint64_t whole =
            a->n * kw + (question == FIND ? a->n : a->n * sizeof(uint64_t)) + values * vw;
        answers all;
        if (vw == 0 && question != COUNT) continue;
        check_ok(ask(a, question, &all));
        const uint64_t least = ask_with_less(a, question, &all, 4 * whole);
        check(least < whole, "question %d takes %llu bytes, its arrays %llu", question,
              (unsigned long long)least, (unsigned long long)whole);
        const uint64_t little = least > whole / 2 ? least : whole / 2; /* and not too many pieces */
        ask_refused(a, question, &all, little);
        if (question == RETRIEVE) ask_in_vain(a, &all, little);
        answers_free(&all);
    }
}

/* All keys that the material has, each once: some are not in the table. */
static void questions(const test_case *c)
{
    if (!is_meant(c) || case_spared(c)) return;
    apart_begin(c->device);
    material x = material_make(PAIRS, c->graph->key_bits, OFTEN);
    multi m = filled(c, &x), every = filled(c, &x);
    multi_insert(&every, x.keys, x.values, x.n);
    asking a = {&m, {0}, 0, 0};
    uint64_t *keys = multi_keys(&every, &a.n);
    multi_destroy(&every);
    multi_look(&m, keys, a.n);
    a.values = m.size;
    a.keys = array_of(c, ROLE_KEYS, keys, a.n, c->graph->key_bits);
    ask_all(&a);
    multi_check(&m);
    array_free(&a.keys);
    free(keys);
    multi_destroy(&m);
    material_free(&x);
    apart_end(c->device);
}

/* ---------------------------------------------------------------------------------------- erasures */

/* Erases the keys of all rows but the first ones; on failure nothing has gone. A fault of 0 is none. */
static heddle_status erase_within(const test_case *c, const material *x, uint64_t room,
                                  uint64_t fault, bool *struck)
{
    const uint64_t n = x->n - x->n / 6, *keys = x->keys + x->n / 6;
    multi m = filled(c, x);
    array k = array_of(c, ROLE_KEYS, keys, n, c->graph->key_bits);
    array flags = array_poisoned(c, ROLE_FLAGS, n, 0xee);
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    uint64_t before = 0, after = 0, flagged = 0;
    free(multi_keys(&m, &before));
    apart_limit(apart_used(c->device) + room);
    hd_fault_arm(fault);
    const heddle_status status =
        heddle_table_erase(m.table, array_pointer(&k), n, array_pointer(&flags), &totals, NULL);
    *struck = fault != 0 && hd_fault_struck();
    hd_fault_arm(0);
    apart_limit(UINT64_MAX);
    if (status == HEDDLE_OK) {
        multi_model_erase(&m, keys, n);
        free(multi_keys(&m, &after));
        array_pull(&flags);
        for (uint64_t i = 0; i < n; i++) flagged += flags.host[i];
        assert_int_equal(totals.found, before - after);
        assert_int_equal(totals.found + totals.absent, n);
        assert_int_equal(flagged, totals.found);
    } else check_status(status, HEDDLE_ERROR_NO_MEMORY);
    multi_check(&m);
    multi_destroy(&m);
    array_free(&k);
    array_free(&flags);
    return status;
}

static void erasures(const test_case *c)
{
    if (!is_meant(c) || case_spared(c)) return;
    material x = material_make(PAIRS, c->graph->key_bits, OFTEN);
    const uint64_t whole = (x.n - x.n / 6) * (c->graph->key_bits / 8 + 1);
    uint64_t room = 2 * whole, least = UINT64_MAX;
    bool struck = false;
    apart_begin(c->device);
    while (erase_within(c, &x, room, 0, &struck) == HEDDLE_OK) {
        least = room;
        room = room / 6 * 5;
    }
    check(least < whole, "it takes %llu bytes, its arrays %llu", (unsigned long long)least,
          (unsigned long long)whole);
    struck = true;
    for (uint64_t i = 1; struck; i += (case_quick() ? 40 : 12) + i / 4)
        (void)erase_within(c, &x, least, i, &struck);
    apart_end(c->device);
    material_free(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OVER_MULTIS(questions),
        OVER_MULTIS(erasures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
