/*
 * test_stop_rule.c: the two ways of the CPU to look for keys end at the same bucket.
 *
 * Finds are a stream (cpu/slots/lookup_stream.inl), which looks at first buckets without the scheme's step; `locate`
 * walks step by step as the scheme says (scheme/walk.inl: find_step). Over the same tables, of every scheme, width and
 * tile, both find the same keys and values and look at the same number of buckets, for a batch and for a single key:
 * after insertions that evict, after erasures, which leave marks behind, after more insertions, and after a fill by
 * regions, which does not use the scheme either.
 */
#include "bare.h"

#define SINGLE 64 /* keys that are looked for one by one */

typedef struct looks {
    answers stream;
    answers walk;
    answers pairs;
    uint64_t slots[N];
} looks;

/* Finds by the stream of one tile and step by step with the scalar one. */
static void compare(const test_case *c, const hd_table_ops *tile, bare *b, uint64_t first,
                    uint64_t n, looks *x)
{
    hd_batch walk = batch_of(b, first, n, &x->walk);
    hd_batch pairs = batch_of(b, first, n, &x->pairs);
    const uint32_t value_bytes = b->ops->value_bits / 8;
    look_up(c, tile, b, value_bytes != 0 ? FIND : CONTAINS, first, n, &x->stream);
    walk.found = x->walk.flags;
    walk.slots = pairs.slots = x->slots;
    check_ok(b->ops->locate(c->device, &b->view, &walk, NULL));
    check_ok(b->ops->at(c->device, &b->view, &pairs, NULL));
    check(memcmp(x->stream.flags, x->walk.flags, n) == 0, "the ways find different keys");
    check(x->stream.counts.at[HD_PROBES] == x->walk.counts.at[HD_PROBES],
          "%llu keys: the stream looks at %llu buckets, the walk at %llu", (unsigned long long)n,
          (unsigned long long)x->stream.counts.at[HD_PROBES],
          (unsigned long long)x->walk.counts.at[HD_PROBES]);
    if (value_bytes != 0)
        check(memcmp(x->stream.values, x->pairs.values, n * value_bytes) == 0,
              "the ways find different values");
}

static void compare_all(const test_case *c, const hd_table_ops *tile, bare *b, looks *x)
{
    const hd_census census = inspect(c, b->ops, b);
    assert_int_equal(census.misplaced + hd_census_unmet(&census) + census.twice + census.busy, 0);
    compare(c, tile, b, 0, N, x);
    for (uint64_t i = 0; i < SINGLE; i++) compare(c, tile, b, i * (N / SINGLE), 1, x);
}

static void run(const test_case *c, const hd_table_ops *scalar, const hd_table_ops *tile,
                uint32_t hashes)
{
    looks *x = malloc(sizeof *x);
    bare b = bare_create(c, scalar, 2 * N / 3, hashes);
    assert_non_null(x);
    insert(c, scalar, &b, 0, N / 2, HEDDLE_POLICY_KEEP, &x->walk);
    compare_all(c, tile, &b, x);
    insert(c, scalar, &b, 0, N, HEDDLE_POLICY_ADD, &x->walk); /* more than fits */
    compare_all(c, tile, &b, x);
    look_up(c, scalar, &b, ERASE, N / 8, N / 2, &x->walk);
    compare_all(c, tile, &b, x);
    insert(c, scalar, &b, 1, N - 1, HEDDLE_POLICY_MIN, &x->walk);
    compare_all(c, tile, &b, x);
    fill(c, &b, N / 2, HEDDLE_POLICY_ADD, &x->walk);
    compare_all(c, tile, &b, x);
    fill(c, &b, N, HEDDLE_POLICY_ADD, &x->walk);
    compare_all(c, tile, &b, x);
    bare_destroy(&b);
    free(x);
}

static void ways_end_alike(const test_case *c)
{
    static const char *const tiles[] = {"scalar", "avx2", "avx512", "neon"};
    static const key_set sets[] = {KEYS_RANDOM, KEYS_EDGES, KEYS_TWICE};
    if (strcmp(c->device_name, "cpu:1") != 0) return;
    const hd_table_ops *scalar = instance_of("scalar", c->ops->name);
    assert_non_null(scalar);
    for (uint32_t t = 0; t < 4; t++) {
        const hd_table_ops *tile = instance_of(tiles[t], c->ops->name);
        for (uint32_t s = 0; tile != NULL && s < 3; s++) {
            fill_batches(scalar, sets[s]);
            for (uint32_t hashes = 2; hashes <= 4; hashes += 2) {
                case_note("%s, keys %s, hashes %u", tiles[t], keys_name(sets[s]), hashes);
                run(c, scalar, tile, hashes);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OVER_INSTANCES(ways_end_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
