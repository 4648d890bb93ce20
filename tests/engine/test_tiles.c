/*
 * test_tiles.c: every vector tile against the scalar tile, which is the specification.
 *
 * Two copies of one table in plain memory: what one tile wrote the other must read, and after every
 * operation both give the same answers, the same counts and the same census.
 */
#include <stdlib.h>
#include <string.h>

#include "cpu/device/engine.h"
#include "support/cases.h"
#include "support/keys.h"
#include "table/slots/geometry.h"

#define N 6000 /* keys at hand; the table is made for two thirds of them */

/* A table without the API around it. */
typedef struct bare {
    const hd_table_ops *ops;
    hd_view view;
    uint64_t slots;
    uint64_t inserted; /* keys that went in, and keys that went out again */
    uint64_t erased;
    uint32_t *heads;
} bare;

/* What a call gave. */
typedef struct answers {
    hd_counts counts;
    uint8_t flags[N];
    uint64_t values[N];
} answers;

/* Keys and values in the widths of the instance, shared by all. */
static uint64_t keys[N];
static uint64_t values[N];
static uint32_t next[N];

static void *allocate(uint64_t bytes)
{
    void *memory = aligned_alloc(256, (bytes + 511) / 256 * 256);
    assert_non_null(memory);
    return memory;
}

static bare bare_create(const test_case *c, const hd_table_ops *ops, uint64_t capacity,
                        uint32_t hashes)
{
    bare b = {.ops = ops};
    memset(&b.view, 0, sizeof b.view);
    check_ok(hd_geometry_init(&b.view, ops, capacity, 0.95, hashes, 4242));
    b.slots = hd_geometry_slots(&b.view, ops);
    b.view.slots = allocate(b.slots * ops->slot_bytes);
    if (ops->value_bytes != 0) {
        b.view.values = allocate(b.slots * ops->value_bytes);
        memset(b.view.values, 0, b.slots * ops->value_bytes);
    }
    if (hd_geometry_locks(&b.view, ops) != 0) {
        b.view.threshold = hd_geometry_threshold(ops, 0.8);
        b.view.locks = allocate(hd_geometry_locks(&b.view, ops) * sizeof(uint32_t));
        memset(b.view.locks, 0, hd_geometry_locks(&b.view, ops) * sizeof(uint32_t));
    }
    b.heads = allocate(sizeof *b.heads << b.view.region_bits);
    memset(b.heads, 0xff, sizeof *b.heads << b.view.region_bits);
    check_ok(ops->clear(c->device, &b.view, NULL));
    return b;
}

static void bare_destroy(bare *b)
{
    free(b->view.slots);
    free(b->view.values);
    free(b->view.locks);
    free(b->heads);
}

/* The i-th element on of keys and values. */
static const void *at(const uint64_t *array, uint64_t i, uint32_t bits)
{
    return (const char *)array + i * bits / 8;
}

static hd_batch batch_of(bare *b, uint64_t first, uint64_t n, answers *a)
{
    hd_batch batch;
    memset(&batch, 0, sizeof batch);
    memset(a, 0, sizeof *a);
    memset(a->flags, 0xee, sizeof a->flags);
    batch.keys = at(keys, first, b->ops->key_bits);
    batch.values = b->ops->value_bits != 0 ? at(values, first, b->ops->value_bits) : NULL;
    batch.values_out = a->values;
    batch.n = n;
    batch.counts = &a->counts;
    batch.heads = b->heads;
    batch.next = next;
    return batch;
}

/* Each of these makes one call by the operations `ops` on the memory of `b`. */
static void insert(const test_case *c, const hd_table_ops *ops, bare *b, uint64_t first, uint64_t n,
                   uint32_t policy, answers *a)
{
    hd_batch batch = batch_of(b, first, n, a);
    batch.policy = policy;
    batch.outcomes = a->flags;
    batch.tally = &b->inserted;
    check_ok(ops->place(c->device, &b->view, &batch, NULL));
    check_ok(ops->settle(c->device, &b->view, &batch, NULL, 0, NULL));
    for (uint64_t i = 0; i < UINT64_C(1) << b->view.region_bits; i++)
        check(b->heads[i] == HD_NO_KEY, "settle left keys in the list of region %llu",
              (unsigned long long)i);
}

/* The same by regions, into a fresh table; the device sorts the pairs. */
static void fill(const test_case *c, bare *b, uint64_t n, uint32_t policy, answers *a)
{
    const uint64_t regions = UINT64_C(1) << b->view.region_bits;
    const uint64_t pair_bytes = hd_pair_bytes(b->ops->key_bits, b->ops->value_bits);
    hd_batch batch = batch_of(b, 0, n, a);
    hd_partition job;
    memset(&job, 0, sizeof job);
    job.key_bits = b->ops->key_bits;
    job.value_bits = b->ops->value_bits;
    job.region_bits = b->view.region_bits;
    job.mix = b->view.mix;
    job.keys = keys;
    job.values = batch.values;
    job.n = n;
    job.pairs = allocate(n * pair_bytes);
    job.spare = allocate(n * pair_bytes);
    job.starts = allocate((regions + 1) * sizeof *job.starts);
    job.work = allocate(c->device->engine->partition_work(c->device, &job));
    check_ok(c->device->engine->partition(c->device, &job, NULL));
    const hd_sorted sorted = {job.pairs,  job.starts, job.starts + 1, NULL, 0,
                              UINT64_MAX, NULL,       NULL,           0};
    batch.policy = policy;
    batch.tally = &b->inserted;
    b->inserted = b->erased = 0;
    check_ok(b->ops->fill(c->device, &b->view, &batch, &sorted, true, NULL));
    free(job.pairs);
    free(job.spare);
    free(job.starts);
    free(job.work);
}

typedef enum reading { FIND, CONTAINS, ERASE } reading;

static void look_up(const test_case *c, const hd_table_ops *ops, bare *b, reading op,
                    uint64_t first, uint64_t n, answers *a)
{
    hd_batch batch = batch_of(b, first, n, a);
    batch.found = a->flags;
    batch.tally = op == ERASE ? &b->erased : NULL;
    if (op == FIND) check_ok(ops->find(c->device, &b->view, &batch, NULL));
    else if (op == CONTAINS) check_ok(ops->contains(c->device, &b->view, &batch, NULL));
    else check_ok(ops->erase(c->device, &b->view, &batch, NULL));
}

static hd_census inspect(const test_case *c, const hd_table_ops *ops, bare *b)
{
    hd_census census;
    memset(&census, 0, sizeof census);
    check_ok(ops->inspect(c->device, &b->view, &census, NULL));
    return census;
}

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
    assert_int_equal(a.misplaced + a.unreachable + a.twice + a.busy, 0);
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

static void fill_batches(const hd_table_ops *ops, key_set set)
{
    uint64_t numbers[N];
    uint64_t given[N];
    keys_fill(numbers, N, set, ops->key_bits, 223);
    keys_fill_values(given, N, 223);
    for (uint64_t i = 0; i < N; i++) {
        if (ops->key_bits == 32) ((uint32_t *)(void *)keys)[i] = (uint32_t)numbers[i];
        else keys[i] = numbers[i];
        if (ops->value_bits == 32) ((uint32_t *)(void *)values)[i] = (uint32_t)given[i];
        else values[i] = given[i];
    }
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

static const hd_table_ops *instance_of(const char *tile, const char *name)
{
    uint32_t count = 0;
    const hd_table_ops *const *tables = hd_cpu_tables(tile, &count);
    for (uint32_t i = 0; tables != NULL && i < count; i++) {
        if (strcmp(tables[i]->name, name) == 0) return tables[i];
    }
    return NULL;
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
