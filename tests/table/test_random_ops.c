/*
 * test_random_ops.c: long random sequences of all operations, mirrored on the model.
 *
 * A sequence is named by its seed, which a failure prints; HEDDLE_TEST_SEED=N starts from that one.
 */
#include <stdlib.h>

#include "support/checked.h"
#include "support/files.h"
#include "support/keys.h"

#define BATCH_MAX 600

typedef struct sequence {
    checked t;
    uint64_t state;
    uint64_t universe; /* keys are drawn from this many */
    key_set set;
    uint64_t pool[4 * BATCH_MAX];
    uint64_t keys[BATCH_MAX];
    uint64_t values[BATCH_MAX];
} sequence;

/* A batch of keys from the pool, in which some repeat. */
static uint64_t draw_batch(sequence *s)
{
    const uint64_t n =
        keys_below(&s->state, 8) == 0 ? keys_below(&s->state, 3) : keys_below(&s->state, BATCH_MAX);
    for (uint64_t i = 0; i < n; i++) s->keys[i] = s->pool[keys_below(&s->state, s->universe)];
    keys_fill_values(s->values, n, keys_random(&s->state));
    return n;
}

static void save_and_load(sequence *s)
{
    heddle_table *loaded = NULL;
    heddle_table_options options = s->t.options;
    options.capacity = 0;
    options.seed = 0;
    check_ok(heddle_table_save(s->t.table, files_path("random"), NULL));
    check_ok(heddle_table_load(s->t.c->device, files_path("random"), &options, &loaded));
    heddle_table_destroy(s->t.table);
    s->t.table = loaded;
}

/* Rehash and reserve may be told anything; a fixed table only ever gets room for what is in it. */
static void change_size(sequence *s, bool rehash)
{
    const uint64_t capacity = keys_below(&s->state, 2 * s->universe);
    check_ok(rehash ? heddle_table_rehash(s->t.table, capacity, NULL)
                    : heddle_table_reserve(s->t.table, capacity, NULL));
}

static void step(sequence *s)
{
    const uint64_t what = keys_below(&s->state, 100);
    const uint32_t policy = (uint32_t)keys_below(&s->state, HEDDLE_POLICY_MAX + 1);
    const uint64_t n = draw_batch(s);
    if (what < 35) checked_insert(&s->t, s->keys, s->values, n, policy);
    else if (what < 60) checked_erase(&s->t, s->keys, n);
    else if (what < 75) checked_find(&s->t, s->keys, n);
    else if (what < 85) checked_contains(&s->t, s->keys, n);
    else if (what < 89) checked_build(&s->t, s->keys, s->values, n, policy);
    else if (what < 92) change_size(s, true);
    else if (what < 95) change_size(s, false);
    else if (what < 97) save_and_load(s);
    else if (what < 98) checked_clear(&s->t);
    else checked_all(&s->t);
}

static void run_sequence(const test_case *c, uint64_t seed, uint32_t steps)
{
    sequence *s = malloc(sizeof *s);
    assert_non_null(s);
    s->state = seed;
    heddle_table_options options = case_options(c);
    options.capacity = keys_below(&s->state, BATCH_MAX);
    options.hashes = (uint32_t)keys_below(&s->state, 2) == 0 || case_is_slab(c) ? 0 : 3;
    options.load = 0.5 + 0.1 * (double)keys_below(&s->state, 5);
    options.flags = keys_below(&s->state, 3) == 0 ? HEDDLE_FLAG_FIXED : 0;
    options.seed = 1 + keys_below(&s->state, 1000000);
    s->set = (key_set)keys_below(&s->state, KEYS_DISTINCT);
    s->universe = 1 + keys_below(&s->state, 4 * BATCH_MAX);
    s->t = checked_create(c, &options);
    keys_fill(s->pool, s->universe, s->set, options.key_bits, seed);
    for (uint32_t i = 0; i < steps; i++) {
        case_note("HEDDLE_TEST_SEED=%llu, step %u, keys %s", (unsigned long long)seed, i,
                  keys_name(s->set));
        step(s);
        if (i % 16 == 15) check_ok(heddle_table_validate(s->t.table, NULL));
    }
    checked_all(&s->t);
    checked_destroy(&s->t);
    free(s);
}

static void random_sequences(const test_case *c)
{
    const char *asked = getenv("HEDDLE_TEST_SEED");
    const uint64_t first = asked != NULL ? strtoull(asked, NULL, 0) : 1;
    const uint64_t count = asked != NULL || case_quick() ? 1 : 5;
    for (uint64_t seed = first; seed < first + count; seed++) run_sequence(c, seed, 150);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OVER_TABLES(random_sequences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
