/*
 * test_settle.c: keys that are inserted while nobody else is in their region: by settle, which in a call gets only the few
 * keys that place has deferred, and by a fill into a table that holds keys. Here every key is deferred. They come to empty
 * tables, tables with room and full ones, and the chains of evictions are short, so that many of them are undone.
 *
 * After each call the keys that had room are found, with their values, and the others are not; no pair from before is
 * lost; and the marks lead a search to every key.
 */
#include "bare.h"

#include <heddle/table_options.h>

/* What is known of a table: which of the keys at hand it holds, and their values. */
typedef struct known {
    bool in[N];
    uint64_t values[N];
    answers a;
} known;

static uint64_t narrow(uint64_t value, uint32_t bits)
{
    return bits < 64 ? value & ((UINT64_C(1) << bits) - 1) : value;
}

static uint64_t value_of(const uint64_t *array, uint64_t i, uint32_t bits)
{
    if (bits == 0) return 0;
    return bits == 32 ? ((const uint32_t *)(const void *)array)[i] : array[i];
}

/* Puts all keys into the lists of their regions: where every slot is taken, place can do nothing else. */
static void defer(const test_case *c, bare *b, const hd_batch *batch)
{
    hd_view taken = b->view;
    hd_batch all = *batch;
    answers *ignored = malloc(sizeof *ignored);
    assert_non_null(ignored);
    memset(&ignored->counts, 0, sizeof ignored->counts);
    all.counts = &ignored->counts;
    all.outcomes = NULL;
    all.tally = NULL;
    taken.slots = allocate(b->slots * b->ops->slot_bytes);
    memset(taken.slots, 0, b->slots * b->ops->slot_bytes);
    if (b->ops->value_bytes != 0) taken.values = allocate(b->slots * b->ops->value_bytes);
    check_ok(b->ops->place(c->device, &taken, &all, NULL));
    if (b->ops->value_bytes != 0) free(taken.values);
    free(taken.slots);
    free(ignored);
}

/* Lets keys settle and says how many had room; `kicks` evictions may be made for each. */
static uint64_t settle(const test_case *c, bare *b, uint64_t first, uint64_t n, uint32_t policy,
                       uint32_t kicks, known *k)
{
    hd_batch batch = batch_of(b, first, n, &k->a);
    const uint32_t usual = b->view.kicks;
    const uint64_t before = b->inserted;
    batch.policy = policy;
    batch.outcomes = k->a.flags;
    batch.tally = &b->inserted;
    defer(c, b, &batch);
    b->view.kicks = kicks;
    check_ok(b->ops->settle(c->device, &b->view, &batch, NULL));
    b->view.kicks = usual;
    for (uint64_t i = 0; i < UINT64_C(1) << b->view.region_bits; i++)
        check(b->heads[i] == HD_NO_KEY, "settle left keys in the list of region %llu",
              (unsigned long long)i);
    const uint64_t *at = k->a.counts.at;
    const uint64_t present = at[HD_KEPT] + at[HD_UPDATED];
    assert_int_equal(b->inserted - before, at[HD_INSERTED]);
    assert_int_equal(at[HD_INSERTED] + present + at[HD_FAILED], n);
    return at[HD_INSERTED] + present;
}

/* What the outcomes say of keys that are all different, where those that are there get a sum. */
static void note(const bare *b, uint64_t first, uint64_t n, known *k)
{
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t value = value_of(values, first + i, b->ops->value_bits);
        const uint8_t expected =
            k->in[first + i] ? HEDDLE_OUTCOME_UPDATED : HEDDLE_OUTCOME_INSERTED;
        if (k->a.flags[i] == HEDDLE_OUTCOME_FAILED && !k->in[first + i]) continue;
        check(k->a.flags[i] == expected, "key %llu: outcome %u, not %u",
              (unsigned long long)(first + i), k->a.flags[i], expected);
        if (k->in[first + i]) k->values[first + i] += value;
        else k->values[first + i] = value;
        k->in[first + i] = true;
    }
}

/* The same of a fill, which gives no outcomes: what is found now had room. */
static uint64_t fill_on(const test_case *c, bare *b, uint64_t first, uint64_t n, uint32_t kicks,
                        known *k)
{
    const uint32_t usual = b->view.kicks;
    const uint64_t before = b->inserted;
    uint64_t held = 0, room = 0;
    b->view.kicks = kicks;
    fill_from(c, b, first, n, HEDDLE_POLICY_ADD, false, &k->a);
    b->view.kicks = usual;
    const hd_counts counts = k->a.counts;
    look_up(c, b->ops, b, CONTAINS, first, n, &k->a);
    for (uint64_t i = 0; i < n; i++) {
        held += k->in[first + i];
        room += k->a.flags[i];
        k->a.flags[i] = !k->a.flags[i]     ? HEDDLE_OUTCOME_FAILED
                        : k->in[first + i] ? HEDDLE_OUTCOME_UPDATED
                                           : HEDDLE_OUTCOME_INSERTED;
    }
    assert_int_equal(b->inserted - before, counts.at[HD_INSERTED]);
    assert_int_equal(counts.at[HD_UPDATED], held);
    assert_int_equal(counts.at[HD_INSERTED], room - held);
    assert_int_equal(counts.at[HD_FAILED], n - room);
    return room;
}

/* The table holds the keys that are known, and no others. */
static void compare(const test_case *c, bare *b, known *k)
{
    const hd_census census = inspect(c, b->ops, b);
    uint64_t count = 0;
    assert_int_equal(census.misplaced + census.unreachable + census.twice + census.busy, 0);
    look_up(c, b->ops, b, b->ops->value_bits != 0 ? FIND : CONTAINS, 0, N, &k->a);
    for (uint64_t i = 0; i < N; i++) {
        check(k->a.flags[i] == k->in[i], "key %llu: found %u, not %u", (unsigned long long)i,
              k->a.flags[i], k->in[i]);
        count += k->in[i];
        if (!k->in[i] || b->ops->value_bits == 0) continue;
        const uint64_t value = value_of(k->a.values, i, b->ops->value_bits);
        check(value == narrow(k->values[i], b->ops->value_bits), "key %llu has another value",
              (unsigned long long)i);
    }
    assert_int_equal(census.keys, count);
}

/* Few keys in an empty table are where a search looks first; nothing is moved, no mark is left. */
static void few_keys(const test_case *c, uint32_t hashes)
{
    known *k = calloc(1, sizeof *k);
    bare b = bare_create(c, c->ops, 2 * N / 3, hashes);
    const uint64_t few = b.slots / b.ops->bucket / 8;
    const bool looks_at_all = b.ops->scheme == HEDDLE_SCHEME_CUCKOO;
    assert_non_null(k);
    assert_int_equal(settle(c, &b, 0, few, HEDDLE_POLICY_ADD, 4, k), few);
    /* Of buckets of one slot a few keys have the same. */
    if (b.ops->bucket > 1) {
        assert_int_equal(k->a.counts.at[HD_EVICTIONS], 0);
        assert_int_equal(k->a.counts.at[HD_PROBES], few * (looks_at_all ? b.view.hashes : 1));
    }
    note(&b, 0, few, k);
    compare(c, &b, k);
    const hd_census census = inspect(c, b.ops, &b);
    if (census.full == 0 && b.ops->bucket > 1) {
        assert_int_equal(census.marks, 0);
        assert_int_equal(census.probes[0], few);
    }
    bare_destroy(&b);
    free(k);
}

/* By the one way or the other, and what follows from it; how many keys had room. */
static uint64_t put(const test_case *c, bare *b, uint64_t first, uint64_t n, uint32_t kicks,
                    bool by_fill, known *k)
{
    const uint64_t room = by_fill ? fill_on(c, b, first, n, kicks, k)
                                  : settle(c, b, first, n, HEDDLE_POLICY_ADD, kicks, k);
    note(b, first, n, k);
    compare(c, b, k);
    return room;
}

/* More and more keys, until there are more than slots; then all of them again, among gaps. */
static void more_and_more(const test_case *c, uint32_t hashes, uint32_t kicks, bool by_fill)
{
    known *k = calloc(1, sizeof *k);
    bare b = bare_create(c, c->ops, 2 * N / 3, hashes);
    uint64_t failed = 0;
    assert_non_null(k);
    for (uint64_t first = 0; first < N; first += N / 6)
        failed += N / 6 - put(c, &b, first, N / 6, kicks, by_fill, k);
    assert_true(failed >= (N > b.slots ? N - b.slots : 0));
    look_up(c, b.ops, &b, ERASE, N / 4, N / 8, &k->a);
    memset(k->in + N / 4, 0, N / 8 * sizeof *k->in);
    compare(c, &b, k);
    put(c, &b, 0, N, kicks, by_fill, k);
    bare_destroy(&b);
    free(k);
}

static void keys_settle(const test_case *c)
{
    static const uint32_t kicks[] = {1, 2, 9};
    if (strcmp(c->device_name, "cpu:1") != 0) return;
    fill_batches(c->ops, KEYS_RANDOM);
    for (uint32_t hashes = 2; hashes <= 4; hashes++) {
        case_note("hashes %u", hashes);
        few_keys(c, hashes);
        for (uint32_t i = 0; i < sizeof kicks / sizeof *kicks; i++) {
            case_note("hashes %u, %u evictions", hashes, kicks[i]);
            more_and_more(c, hashes, kicks[i], false);
            more_and_more(c, hashes, kicks[i], true);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OVER_INSTANCES(keys_settle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
