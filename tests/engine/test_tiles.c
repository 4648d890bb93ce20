/*
 * test_tiles.c: every vector tile against the scalar tile, which is the specification.
 *
 * Two copies of one table in plain memory (bare.h): what one tile wrote the other must read, and after every
 * operation both give the same answers, the same counts and the same census.
 */
#include "bare.h"

/* Two tiles and a table written by each; `one` by the first, `two` by the second. */
typedef struct contest {
    const test_case *c;
    bare one;
    bare two;
    answers a;
    answers b;
} contest;

static void same_answers(const contest *x, const char *what)
{
    check(memcmp(&x->a.counts, &x->b.counts, sizeof x->a.counts) == 0,
          "%s: the tiles count differently", what);
    check(memcmp(x->a.flags, x->b.flags, sizeof x->a.flags) == 0,
          "%s: the tiles give different flags", what);
    check(memcmp(x->a.values, x->b.values, sizeof x->a.values) == 0,
          "%s: the tiles give different values", what);
}

/* Both tiles read both tables; all four answers agree, and the census finds nothing wrong. */
static void compare_reading(contest *x, reading op, uint64_t first, uint64_t n)
{
    const hd_table_ops *ops[] = {x->one.ops, x->two.ops};
    bare *tables[] = {&x->one, &x->two};
    look_up(x->c, ops[0], tables[0], op, first, n, &x->a);
    for (int i = 1; i < 4; i++) {
        look_up(x->c, ops[i / 2], tables[i % 2], op, first, n, &x->b);
        same_answers(x, op == FIND ? "find" : "contains");
    }
}

static void compare_census(contest *x)
{
    const hd_census a = inspect(x->c, x->one.ops, &x->one);
    const hd_census b = inspect(x->c, x->two.ops, &x->two);
    const hd_census crossed = inspect(x->c, x->one.ops, &x->two);
    check(memcmp(&a, &b, sizeof a) == 0, "the two tables have a different census");
    check(memcmp(&b, &crossed, sizeof b) == 0, "the two tiles take a different census");
    assert_int_equal(a.misplaced + hd_census_unmet(&a) + a.twice + a.busy, 0);
    assert_int_equal(a.keys, x->one.inserted - x->one.erased);
    assert_int_equal(b.keys, x->two.inserted - x->two.erased);
}

/* Each tile inserts into its own table. */
static void compare_insert(contest *x, uint64_t first, uint64_t n, uint32_t policy)
{
    insert(x->c, x->one.ops, &x->one, first, n, policy, &x->a);
    insert(x->c, x->two.ops, &x->two, first, n, policy, &x->b);
    same_answers(x, "insert");
    compare_census(x);
}

/* Each tile erases from the table that the other wrote. */
static void compare_erase(contest *x, uint64_t first, uint64_t n)
{
    look_up(x->c, x->two.ops, &x->one, ERASE, first, n, &x->a);
    look_up(x->c, x->one.ops, &x->two, ERASE, first, n, &x->b);
    same_answers(x, "erase");
    compare_census(x);
}

/* Each tile fills its own table: every slot is the same then, in all its bits. */
static void compare_fill(contest *x, uint64_t n, uint32_t policy)
{
    fill(x->c, &x->one, n, policy, &x->a);
    fill(x->c, &x->two, n, policy, &x->b);
    same_answers(x, "fill");
    compare_census(x);
    check(memcmp(x->one.view.slots, x->two.view.slots, x->one.slots * x->one.ops->slot_bytes) == 0,
          "the tiles fill differently");
}

static void run_contest(const test_case *c, const hd_table_ops *one, const hd_table_ops *two,
                        uint32_t hashes)
{
    contest *x = malloc(sizeof *x);
    assert_non_null(x);
    x->c = c;
    x->one = bare_create(c, one, 2 * N / 3, hashes);
    x->two = bare_create(c, two, 2 * N / 3, hashes);
    compare_insert(x, 0, N / 2, HEDDLE_POLICY_KEEP);
    compare_reading(x, CONTAINS, N / 4, N / 2);
    compare_insert(x, 0, N, HEDDLE_POLICY_ADD); /* more than fits */
    compare_reading(x, CONTAINS, 0, N);
    compare_erase(x, N / 8, N / 2);
    compare_reading(x, CONTAINS, 0, N);
    compare_insert(x, 1, N - 1, HEDDLE_POLICY_MIN);
    if (one->value_bits != 0) compare_reading(x, FIND, 0, N);
    for (uint32_t policy = 0; policy <= HEDDLE_POLICY_MAX; policy++) {
        compare_fill(x, policy == HEDDLE_POLICY_ADD ? N : N / 2, policy); /* N: more than fits */
        compare_reading(x, one->value_bits != 0 ? FIND : CONTAINS, 0, N);
    }
    bare_destroy(&x->one);
    bare_destroy(&x->two);
    free(x);
}

/* One thread, so that both tables are written in the same order. */
static void vector_tiles_equal_scalar(const test_case *c)
{
    static const char *const vectors[] = {"avx2", "avx512", "neon"};
    static const key_set sets[] = {KEYS_RANDOM, KEYS_EDGES, KEYS_SEQUENCE, KEYS_ZIPF, KEYS_TWICE};
    if (strcmp(c->device_name, "cpu:1") != 0) return;
    const hd_table_ops *scalar = instance_of("scalar", c->ops->name);
    assert_non_null(scalar);
    for (uint32_t v = 0; v < 3; v++) {
        const hd_table_ops *vector = instance_of(vectors[v], c->ops->name);
        for (uint32_t s = 0; vector != NULL && s < 5; s++) {
            fill_batches(scalar, sets[s]);
            for (uint32_t hashes = 2; hashes <= 4; hashes++) {
                case_note("%s, keys %s, hashes %u", vectors[v], keys_name(sets[s]), hashes);
                run_contest(c, scalar, vector, hashes);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        OVER_INSTANCES(vector_tiles_equal_scalar),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
