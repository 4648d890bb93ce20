/*
 * test_slab_batch.c: batches on slab hashes by several threads of the CPU (cpu/slabs/batch.h): everything at once,
 * on few keys and on many, with pools that are ample and that run out. What every key went through must be explained by
 * some order. Compiled for several widths of keys and values, and for every tile (slab.cmake).
 */
#include <stdlib.h>
#include <string.h>

#include "support/cases.h"
#include "support/keys.h"
#include "table/slots/geometry.h"
#include "tile_here.h"

#include "cpu/slabs/batch.h"
#include "cpu/slabs/repack.h"

#define BLOCKS 4
#define N 4000
#define THREADS 4
#define POOL_BYTES ((size_t)BLOCKS * HD_SLAB_UNITS * HD_SLAB_BYTES)
#define TAKEN_BYTES ((size_t)BLOCKS * HD_SLAB_BLOCK_WORDS * sizeof(uint32_t))

typedef struct slabs {
    hd_slab_view view;
    hd_slab_super super;
    uint64_t buckets;
    uint32_t spent;
    uint32_t spare; /* slabs that could be had at first */
} slabs;

static void slabs_make(slabs *s, uint32_t region_buckets, uint32_t spare, uint64_t seed)
{
    hd_view *v = &s->view.buckets;
    memset(s, 0, sizeof *s);
    v->region_bits = 2;
    v->region_buckets = region_buckets;
    v->mark_bits = 1;
    v->key_mask = (hd_key) ~((hd_key)1 << (HD_KEY_BITS - 2));
    hd_mix_init(&v->mix, seed);
    s->buckets = 4 * (uint64_t)region_buckets;
    v->slots = aligned_alloc(HD_SLAB_BYTES, s->buckets * HD_SLAB_BYTES);
    s->super = (hd_slab_super){
        aligned_alloc(HD_SLAB_BYTES, (size_t)BLOCKS * HD_SLAB_UNITS * HD_SLAB_BYTES), 0, BLOCKS};
    s->view.pool = (hd_slab_pool){
        s->super.slabs, &s->super, 1, BLOCKS, calloc(BLOCKS * HD_SLAB_BLOCK_WORDS, 4), &s->spent};
    assert_true(v->slots != NULL && s->super.slabs != NULL && s->view.pool.taken != NULL);
    memset(v->slots, 0, s->buckets * HD_SLAB_BYTES);
    memset(s->super.slabs, 0, (size_t)BLOCKS * HD_SLAB_UNITS * HD_SLAB_BYTES);
    s->spare = spare;
    for (uint32_t i = 0; i < BLOCKS * HD_SLAB_UNITS; i++)
        if (i == 0 || i > spare) s->view.pool.taken[i / 32] |= UINT32_C(1) << i % 32;
}

static size_t memory_bytes(const slabs *s)
{
    return s->buckets * HD_SLAB_BYTES + POOL_BYTES + TAKEN_BYTES;
}

static void slabs_free(slabs *s)
{
    free(s->view.buckets.slots);
    free(s->super.slabs);
    free(s->view.pool.taken);
}

/* A batch, and what the threads made of it. */
typedef struct work {
    hd_slab_batch batch;
    hd_key keys[N];
    hd_value values[N], out[N];
    uint8_t operations[N], outcomes[N];
    hd_counts counts;
    uint64_t born, died, revived;
} work;

static void work_run(slabs *s, work *w)
{
    w->batch.keys = w->keys;
    w->batch.values = HD_VALUE_BITS != 0 ? w->values : NULL;
    w->batch.values_out = HD_VALUE_BITS != 0 ? w->out : NULL;
    w->batch.outcomes = w->outcomes;
    w->batch.n = N;
    w->batch.counts = &w->counts;
    w->batch.born = &w->born;
    w->batch.died = &w->died;
    w->batch.revived = &w->revived; /* where there are but insertions */
    memset(&w->counts, 0, sizeof w->counts);
    s->spent = 0;
    slab_batch(THREADS, &s->view, &w->batch);
}

/* HD_SLAB_PLACED to HD_SLAB_SPENT, of an outcome that operation and policy can have. */
static int end_of(const work *w, uint32_t i)
{
    const bool keeps = w->batch.policy == HEDDLE_POLICY_KEEP;
    const uint8_t outcome = w->outcomes[i];
    if (w->operations[i] != HD_SLAB_INSERT) {
        assert_true(outcome == HEDDLE_OUTCOME_FOUND || outcome == HEDDLE_OUTCOME_ABSENT);
        return outcome == HEDDLE_OUTCOME_FOUND ? HD_SLAB_PRESENT : HD_SLAB_ABSENT;
    }
    if (outcome == HEDDLE_OUTCOME_INSERTED) return HD_SLAB_PLACED;
    if (outcome == HEDDLE_OUTCOME_FAILED) return HD_SLAB_SPENT;
    assert_int_equal(outcome, keeps ? HEDDLE_OUTCOME_KEPT : HEDDLE_OUTCOME_UPDATED);
    return HD_SLAB_PRESENT;
}

/* Looks keys up when nobody writes; there[k] and values[k]. */
static void read_keys(slabs *s, const hd_key *keys, uint32_t count, bool *there, hd_value *values)
{
    for (uint32_t k = 0; k < count; k++) {
        const hd_slab_task task = {HD_SLAB_FIND, 0, false, 0, false};
        hd_slab_walk walk = slab_walk_start(&s->view, keys[k]);
        int end;
        values[k] = 0;
        do end = slab_step(slab_tile_here(), &s->view, &walk, &task, &values[k], true, NULL);
        while (end == HD_SLAB_ON);
        there[k] = end == HD_SLAB_PRESENT;
    }
}

static hd_slab_census census_of(slabs *s, bool unique)
{
    hd_slab_census census;
    uint32_t *seen = calloc(BLOCKS * HD_SLAB_BLOCK_WORDS, 4), taken = 0;
    memset(&census, 0, sizeof census);
    for (uint64_t i = 0; i < s->buckets; i++) slab_inspect(&s->view, i, unique, seen, &census);
    assert_int_equal(census.pending + census.gaps + census.misplaced + census.astray + census.twice,
                     0);
    for (uint32_t i = 0; i < BLOCKS * HD_SLAB_BLOCK_WORDS; i++)
        taken += hd_popcount32(s->view.pool.taken[i]);
    assert_int_equal(taken, BLOCKS * HD_SLAB_UNITS - s->spare + census.chained);
    free(seen);
    return census;
}

/* One of the keys in a batch of a unique table, from before to after. */
static void check_key(const work *w, hd_key key, bool was, hd_value old, bool is, hd_value now)
{
    uint64_t placed = 0, updated = 0, erased = 0, found = 0, absent = 0;
    hd_value sum = was ? old : 0;
    bool possible = was && now == old;
    for (uint32_t i = 0; i < N; i++) {
        if (w->keys[i] != key) continue;
        const int end = end_of(w, i);
        const bool inserts = w->operations[i] == HD_SLAB_INSERT;
        placed += end == HD_SLAB_PLACED;
        updated += inserts && end == HD_SLAB_PRESENT;
        erased += w->operations[i] == HD_SLAB_ERASE && end == HD_SLAB_PRESENT;
        found += w->operations[i] == HD_SLAB_FIND && end == HD_SLAB_PRESENT;
        absent += end == HD_SLAB_ABSENT;
        if (inserts && end <= HD_SLAB_PRESENT) sum += w->values[i];
        if (inserts && end <= HD_SLAB_PRESENT && w->values[i] == now) possible = true;
    }
    check(was + placed == is + erased, "%d there, %llu inserted, %llu erased, then %d", was,
          (unsigned long long)placed, (unsigned long long)erased, is);
    check(was || placed != 0 || updated + found == 0, "a key was found that was never there");
    check(!was || erased != 0 || absent == 0, "a key was missed that was there all the while");
    if (HD_VALUE_BITS == 0 || !is) return;
    if (w->batch.policy != HEDDLE_POLICY_ADD) check(possible, "a value from nowhere is there");
    else if (erased == 0) check(now == sum, "the sum is wrong");
}

/* All memory of the table, to be freed. */
static char *copy_of(const slabs *s)
{
    char *copy = malloc(memory_bytes(s));
    assert_non_null(copy);
    memcpy(copy, s->view.buckets.slots, s->buckets * HD_SLAB_BYTES);
    memcpy(copy + s->buckets * HD_SLAB_BYTES, s->super.slabs, POOL_BYTES);
    memcpy(copy + s->buckets * HD_SLAB_BYTES + POOL_BYTES, s->view.pool.taken, TAKEN_BYTES);
    return copy;
}

static void copy_back(slabs *s, const char *copy)
{
    memcpy(s->view.buckets.slots, copy, s->buckets * HD_SLAB_BYTES);
    memcpy(s->super.slabs, copy + s->buckets * HD_SLAB_BYTES, POOL_BYTES);
    memcpy(s->view.pool.taken, copy + s->buckets * HD_SLAB_BYTES + POOL_BYTES, TAKEN_BYTES);
}

/* The engine's way and the one that specifies it leave the same bits. */
static void compact_both_ways(slabs *s)
{
    uint64_t dead = 0, given = 0, repacked_dead = 0, repacked_given = 0;
    char *before = copy_of(s), *after, *repacked;
    for (uint64_t i = 0; i < s->buckets; i++) {
        const hd_slab_compacted done = slab_compact(&s->view, i);
        dead += done.dead;
        given += done.given;
    }
    after = copy_of(s);
    copy_back(s, before);
    slab_repack_lists(&s->view, 0, s->buckets, false, &repacked_dead, &repacked_given);
    repacked = copy_of(s);
    assert_memory_equal(repacked, after, memory_bytes(s));
    check(dead == repacked_dead && given == repacked_given, "the two ways count differently");
    free(before);
    free(after);
    free(repacked);
}

/* No list of two slabs is left whose pairs are fewer than the slots of one, and all is counted. */
static void shorten(slabs *s, const hd_slab_census *before)
{
    uint64_t dead = 0, given = 0;
    slab_repack_lists(&s->view, 0, s->buckets, true, &dead, &given);
    const hd_slab_census after = census_of(s, true);
    assert_int_equal(after.live, before->live);
    assert_int_equal(after.dead + dead, before->dead);
    assert_int_equal(after.chained + given, before->chained);
    for (uint64_t i = 0; i < s->buckets; i++) {
        char *const base = base_slab(&s->view.buckets, i);
        if (*slab_next_at(base) == HD_SLAB_NONE) continue;
        char *const second = pool_slab(&s->view.pool, *slab_next_at(base));
        assert_true(slab_used(base).live + slab_used(second).live > HD_SLAB_SLOTS);
    }
}

static void run(uint32_t distinct, uint32_t region_buckets, uint32_t spare)
{
    static work w;
    static hd_key keys[N];
    static bool was[N], is[N];
    static hd_value old[N], now[N];
    uint64_t state = distinct + spare, size = 0, dead = 0, revived = 0;
    slabs s;
    slabs_make(&s, region_buckets, spare, state);
    for (uint32_t k = 0; k < distinct; k++) keys[k] = (hd_key)(k * UINT64_C(0x9e3779b97f4a7c15));
    read_keys(&s, keys, distinct, was, old);
    memset(&w, 0, sizeof w);
    for (uint32_t round = 0; round < 12; round++) {
        const uint64_t before = size;
        const bool alone = round % 3 == 0;
        for (uint32_t i = 0; i < N; i++) {
            w.keys[i] = keys[keys_below(&state, distinct)];
            w.values[i] = (hd_value)keys_below(&state, UINT64_MAX);
            w.operations[i] = (uint8_t)(alone ? HD_SLAB_INSERT : keys_below(&state, 3));
        }
        w.batch.operations = alone ? NULL : w.operations;
        w.batch.operation = HD_SLAB_INSERT;
        w.batch.policy = round % 3; /* KEEP, REPLACE, ADD */
        w.born = w.died = w.revived = 0;
        work_run(&s, &w);
        read_keys(&s, keys, distinct, is, now);
        size = 0;
        for (uint32_t k = 0; k < distinct; k++) {
            check_key(&w, keys[k], was[k], old[k], is[k], now[k]);
            size += is[k];
        }
        assert_int_equal(size, before + w.born - w.died);
        const hd_slab_census census = census_of(&s, true);
        assert_int_equal(census.live, size);
        assert_int_equal(census.dead + w.revived, dead + w.died);
        assert_true(alone || w.revived == 0);
        revived += w.revived;
        assert_true(w.counts.at[HD_FAILED] == 0 || s.spent != 0);
        if (round % 4 == 1) shorten(&s, &census);
        if (round % 4 == 3) compact_both_ways(&s);
        dead = census_of(&s, true).dead;
        assert_true(round % 4 != 3 || dead == 0);
        if (round % 2 == 1) {
            read_keys(&s, keys, distinct, was, old);
            assert_memory_equal(was, is, distinct * sizeof *is);
            assert_memory_equal(old, now, distinct * sizeof *now);
        }
        memcpy(was, is, sizeof was);
        memcpy(old, now, sizeof old);
    }
    assert_true(revived != 0);
    slabs_free(&s);
}

static void few_keys(void **state)
{
    (void)state;
    run(2, 1, 1000);
    run(60, 1, 1000);
}

static void many_keys(void **state)
{
    (void)state;
    run(1500, 5, 1000);
}

/* Slabs run out; the host gives more and has the rest done. */
static void pools_that_run_out(void **state)
{
    static work w;
    slabs s;
    uint64_t failed;
    (void)state;
    run(1500, 1, 20);
    memset(&w, 0, sizeof w);
    slabs_make(&s, 1, 3, 5);
    for (uint32_t i = 0; i < N; i++) {
        w.keys[i] = (hd_key)(i * UINT64_C(0x9e3779b97f4a7c15));
        w.values[i] = (hd_value)i;
    }
    w.batch.operation = HD_SLAB_INSERT;
    work_run(&s, &w);
    failed = w.counts.at[HD_FAILED];
    assert_true(failed != 0 && w.born + failed == N && s.spent == 1);
    for (uint32_t i = s.spare + 1; i < BLOCKS * HD_SLAB_UNITS; i++)
        s.view.pool.taken[i / 32] &= ~(UINT32_C(1) << i % 32);
    s.spare = BLOCKS * HD_SLAB_UNITS - 1;
    w.batch.retry = true;
    work_run(&s, &w);
    assert_int_equal(w.counts.at[HD_FAILED], 0);
    assert_int_equal(w.counts.at[HD_INSERTED], failed);
    assert_int_equal(w.born, N);
    assert_int_equal(census_of(&s, true).live, N);
    slabs_free(&s);
}

/* How many of N pairs the first `keys` of seven keys have. */
static uint64_t left_of(uint32_t keys)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < N; i++) sum += i % 7 < keys;
    return sum;
}

/* Counted, retrieved and exported; then all those of two of the seven keys are erased. */
static void check_all_pairs(slabs *s, const work *given)
{
    static hd_key keys[7] = {0, 1, 2, 3, 4, 5, 6}, keys_out[N];
    static uint64_t matches[7], places[8];
    static hd_value values[N], values_out[N];
    static hd_key doomed[N];
    static uint8_t found[N];
    uint64_t finders[2] = {0, 0};
    hd_counts counts;
    uint64_t died = 0, cursor = 0, sums[2][7] = {{0}}, expected[7] = {0};
    hd_slab_batch batch;
    memset(&batch, 0, sizeof batch);
    memset(&counts, 0, sizeof counts);
    batch.keys = keys;
    batch.n = 7;
    batch.counts = &counts;
    batch.matches = matches;
    batch.places = places;
    batch.values_out = values;
    batch.died = &died;
    slab_batch_all(HD_SLAB_COUNT, THREADS, &s->view, &batch);
    for (uint32_t k = 0; k < 7; k++) {
        assert_int_equal(matches[k], left_of(k + 1) - left_of(k));
        places[k + 1] = places[k] + matches[k];
    }
    batch.matches = NULL;
    slab_batch_all(HD_SLAB_RETRIEVE, THREADS, &s->view, &batch);
    for (uint64_t i = 0; i < s->buckets + BLOCKS * HD_SLAB_UNITS; i++)
        cursor += slab_pairs(&s->view, i, keys_out + cursor, values_out + cursor);
    assert_int_equal(cursor, N);
    for (uint32_t i = 0; i < N; i++) {
        expected[given->keys[i]] += HD_VALUE_BITS != 0 ? given->values[i] : 0;
        sums[1][keys_out[i]] += HD_VALUE_BITS != 0 ? values_out[i] : 0;
    }
    for (uint32_t k = 0; k < 7; k++)
        for (uint64_t i = places[k]; i < places[k + 1]; i++)
            sums[0][k] += HD_VALUE_BITS != 0 ? values[i] : 0;
    assert_memory_equal(sums[0], expected, sizeof expected);
    assert_memory_equal(sums[1], expected, sizeof expected);
    for (uint32_t i = 0; i < N; i++) doomed[i] = 5 + i % 2;
    batch.keys = doomed;
    batch.found = found;
    batch.n = N;
    slab_batch_all(HD_SLAB_CLAIM, THREADS, &s->view, &batch);
    slab_batch_all(HD_SLAB_ERASE_ALL, THREADS, &s->view, &batch);
    for (uint32_t i = 0; i < N; i++) finders[i % 2] += found[i];
    assert_int_equal(finders[0], 1);
    assert_int_equal(finders[1], 1);
    assert_int_equal(died, N - left_of(5));
    assert_int_equal(census_of(s, false).live, left_of(5));
}

/* Pairs of equal keys beside each other: all of them are there. */
static void pairs_of_equal_keys(void **state)
{
    static work w;
    slabs s;
    (void)state;
    memset(&w, 0, sizeof w);
    slabs_make(&s, 2, 2000, 9);
    for (uint32_t i = 0; i < N; i++) {
        w.keys[i] = (hd_key)(i % 7);
        w.values[i] = (hd_value)i;
    }
    w.batch.operation = HD_SLAB_INSERT;
    w.batch.multi = true;
    work_run(&s, &w);
    assert_int_equal(w.born, N);
    assert_int_equal(census_of(&s, false).live, N);
    check_all_pairs(&s, &w);
    for (uint32_t i = 0; i < N; i++) w.operations[i] = HD_SLAB_ERASE;
    w.batch.operations = w.operations;
    work_run(&s, &w);
    assert_int_equal(w.counts.at[HD_FOUND], left_of(5));
    assert_int_equal(census_of(&s, false).live, 0);
    slabs_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_keys),
        cmocka_unit_test(many_keys),
        cmocka_unit_test(pools_that_run_out),
        cmocka_unit_test(pairs_of_equal_keys),
    };
    if (!tile_runs_here()) return TILE_SKIPPED;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
