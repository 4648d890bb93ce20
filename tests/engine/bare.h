/*
 * bare.h: a table in plain memory without the API around it, and the calls of one compiled table's operations on it:
 * what one tile of the CPU wrote another one may read.
 */
#ifndef TEST_ENGINE_BARE_H
#define TEST_ENGINE_BARE_H

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
static inline void insert(const test_case *c, const hd_table_ops *ops, bare *b, uint64_t first,
                          uint64_t n, uint32_t policy, answers *a)
{
    hd_batch batch = batch_of(b, first, n, a);
    batch.policy = policy;
    batch.outcomes = a->flags;
    batch.tally = &b->inserted;
    check_ok(ops->place(c->device, &b->view, &batch, NULL));
    check_ok(ops->settle(c->device, &b->view, &batch, NULL));
    for (uint64_t i = 0; i < UINT64_C(1) << b->view.region_bits; i++)
        check(b->heads[i] == HD_NO_KEY, "settle left keys in the list of region %llu",
              (unsigned long long)i);
}

/* The same by regions, into a fresh table or on; the device sorts the pairs. */
static void fill_from(const test_case *c, bare *b, uint64_t first, uint64_t n, uint32_t policy,
                      bool fresh, answers *a)
{
    const uint64_t regions = UINT64_C(1) << b->view.region_bits;
    const uint64_t pair_bytes = hd_pair_bytes(b->ops->key_bits, b->ops->value_bits);
    hd_batch batch = batch_of(b, first, n, a);
    hd_partition job;
    memset(&job, 0, sizeof job);
    job.key_bits = b->ops->key_bits;
    job.value_bits = b->ops->value_bits;
    job.region_bits = b->view.region_bits;
    job.mix = b->view.mix;
    job.keys = batch.keys;
    job.values = batch.values;
    job.n = n;
    job.pairs = allocate(n * pair_bytes);
    job.spare = allocate(n * pair_bytes);
    job.starts = allocate((regions + 1) * sizeof *job.starts);
    job.work = allocate(c->device->engine->partition_work(c->device, &job));
    check_ok(c->device->engine->partition(c->device, &job, NULL));
    const hd_sorted sorted = {
        job.pairs, job.starts, job.starts + 1, NULL, 0, UINT64_MAX, NULL, NULL, 0, 0, NULL, false};
    batch.policy = policy;
    batch.tally = &b->inserted;
    check_ok(b->ops->fill(c->device, &b->view, &batch, &sorted, fresh, NULL));
    free(job.pairs);
    free(job.spare);
    free(job.starts);
    free(job.work);
}

static inline void fill(const test_case *c, bare *b, uint64_t n, uint32_t policy, answers *a)
{
    b->inserted = b->erased = 0;
    fill_from(c, b, 0, n, policy, true, a);
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

/* The keys of a set and values, in the widths of the instance. */
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

/* A compiled table of another tile; NULL where this machine does not run it. */
static inline const hd_table_ops *instance_of(const char *tile, const char *name)
{
    uint32_t count = 0;
    const hd_table_ops *const *tables = hd_cpu_tables(tile, &count);
    for (uint32_t i = 0; tables != NULL && i < count; i++) {
        if (strcmp(tables[i]->name, name) == 0) return tables[i];
    }
    return NULL;
}

#endif
