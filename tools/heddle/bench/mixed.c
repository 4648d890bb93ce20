/*
 * mixed.c: `heddle bench mixed`: slab hashes under batches of everything at once, and filled by small batches:
 * what the slab hash paper shows in its figures 6 and 7; and their pool by itself.
 *
 * The table holds the keys numbered [first, first + n). A batch inserts the keys behind them, erases the oldest, and
 * looks up others, half of them keys that nobody touches, half keys that were never there. So every outcome is known,
 * and the table is as full after it as before. BATCHES of them are timed together: lists are compacted in some of them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/array.h"
#include "bench/line.h"
#include "progress.h"
#include "tool.h"

#define GB 1e9
#define BATCHES 4
#define SLAB_BYTES 128

typedef struct mixed_bench {
    bench *b;
    bench_keys keys;   /* of the table */
    bench_keys places; /* the order of operations in a batch */
    uint64_t n, batch,
        changes;    /* keys; operations of a batch; insertions of it, and as many erasures */
    uint64_t first; /* the oldest key */
    heddle_table *table;
    void *fill_keys, *fill_values;                        /* n of them */
    void *operations, *numbers, *values, *out, *outcomes; /* BATCHES * batch of them */
} mixed_bench;

/* ------------------------------------------------------------------------------------- operations */

/* An operation of a batch. */
typedef struct planned {
    uint8_t operation, outcome;
    uint64_t number; /* of the key */
    bool missing;    /* it is one of those that are never there */
} planned;

static planned plan(const mixed_bench *m, uint64_t at)
{
    const uint64_t first = m->first + at / m->batch * m->changes;
    const uint64_t place = bench_shuffled(&m->places, at % m->batch);
    planned p = {HEDDLE_OPERATION_FIND, HEDDLE_OUTCOME_FOUND, 0, false};
    if (place < m->changes) {
        p.operation = HEDDLE_OPERATION_INSERT;
        p.outcome = HEDDLE_OUTCOME_INSERTED;
        p.number = first + m->n + place;
    } else if (place < 2 * m->changes) {
        p.operation = HEDDLE_OPERATION_ERASE;
        p.number = first + place - m->changes;
    } else {
        p.missing = place % 2 != 0;
        p.outcome = p.missing ? HEDDLE_OUTCOME_ABSENT : HEDDLE_OUTCOME_FOUND;
        p.number = p.missing ? bench_random(at) % m->n
                             : first + m->changes + bench_random(at) % (m->n - m->changes);
    }
    return p;
}

static uint64_t operation_at(const void *context, uint64_t at)
{
    return plan((const mixed_bench *)context, at).operation;
}

static uint64_t key_at(const void *context, uint64_t at)
{
    const mixed_bench *m = (const mixed_bench *)context;
    const planned p = plan(m, at);
    return bench_key_at(&m->keys, p.number, p.missing);
}

static uint64_t value_at(const void *context, uint64_t at)
{
    return bench_value(&((const mixed_bench *)context)->keys, key_at(context, at));
}

static uint64_t fill_key_at(const void *context, uint64_t at)
{
    return bench_key_at(&((const mixed_bench *)context)->keys, at, false);
}

static uint64_t fill_value_at(const void *context, uint64_t at)
{
    return bench_value(&((const mixed_bench *)context)->keys, fill_key_at(context, at));
}

/* ---------------------------------------------------------------------------------- arrays, table */

static void drop(mixed_bench *m)
{
    void *const arrays[] = {m->fill_keys, m->fill_values, m->operations, m->numbers,
                            m->values,    m->out,         m->outcomes};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        (void)heddle_memory_free(m->b->device, arrays[i]);
    heddle_table_destroy(m->table);
    m->fill_keys = m->fill_values = m->operations = m->numbers = m->values = m->out = m->outcomes =
        NULL;
    m->table = NULL;
}

static int make_arrays(mixed_bench *m)
{
    const bench_options *o = &m->b->options;
    const uint64_t all = BATCHES * m->batch;
    const struct {
        void **array;
        uint32_t bits;
        uint64_t count;
    } arrays[] = {{&m->operations, 8, all},
                  {&m->numbers, o->key_bits, all},
                  {&m->values, o->value_bits, all},
                  {&m->outcomes, 8, all},
                  {&m->out, o->value_bits, all > m->n ? all : m->n}};
    int status = bench_array_make(m->b, o->key_bits, m->n, fill_key_at, m, &m->fill_keys);
    if (status == TOOL_OK)
        status = bench_array_make(m->b, o->value_bits, m->n, fill_value_at, m, &m->fill_values);
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0] && status == TOOL_OK; i++)
        status = bench_array_take(m->b, arrays[i].bits, arrays[i].count, arrays[i].array);
    return status;
}

static int make_table(mixed_bench *m, double load, uint64_t keys)
{
    const bench_options *o = &m->b->options;
    heddle_table_options options = HEDDLE_TABLE_OPTIONS_INIT;
    options.scheme = HEDDLE_SCHEME_SLAB;
    options.key_bits = o->key_bits;
    options.value_bits = o->value_bits;
    options.capacity = keys;
    options.load = load;
    options.seed = o->seed;
    /* A fixed one has room for a quarter more keys, among them those that were erased and not compacted away. */
    options.flags = m->changes > keys / 8 ? 0 : HEDDLE_FLAG_FIXED;
    heddle_table_destroy(m->table);
    m->table = NULL;
    const heddle_status created = heddle_table_create(m->b->device, &options, &m->table);
    if (created == HEDDLE_ERROR_INVALID || created == HEDDLE_ERROR_UNSUPPORTED)
        return tool_refuse("bench: %s", heddle_last_error());
    return tool_try(created, "making the table");
}

/* ------------------------------------------------------------------------------------ what is timed */

static int prepare_mixed(void *context, bool last)
{
    mixed_bench *m = (mixed_bench *)context;
    const bench_options *o = &m->b->options;
    const uint64_t all = BATCHES * m->batch;
    (void)last;
    int status = bench_array_fill(m->b, 8, all, operation_at, m, m->operations);
    if (status == TOOL_OK) status = bench_array_fill(m->b, o->key_bits, all, key_at, m, m->numbers);
    if (status == TOOL_OK)
        status = bench_array_fill(m->b, o->value_bits, all, value_at, m, m->values);
    if (status == TOOL_OK)
        status = tool_try(
            heddle_memory_fill(m->b->device, m->out, BENCH_POISON, all * o->value_bits / 8, NULL),
            "filling the answers");
    m->first += BATCHES * m->changes; /* as it will be */
    return status;
}

static heddle_status call_mixed(void *context)
{
    mixed_bench *m = (mixed_bench *)context;
    const bench_options *o = &m->b->options;
    heddle_insert_options insert = HEDDLE_INSERT_OPTIONS_INIT;
    heddle_status status = HEDDLE_OK;
    for (uint64_t i = 0; i < BATCHES && status == HEDDLE_OK; i++) {
        const uint64_t at = i * m->batch;
        insert.outcomes = (uint8_t *)m->outcomes + at;
        status = heddle_table_mixed(m->table, (uint8_t *)m->operations + at,
                                    (char *)m->numbers + at * o->key_bits / 8,
                                    (char *)m->values + at * o->value_bits / 8, m->batch,
                                    (char *)m->out + at * o->value_bits / 8, &insert, NULL, NULL);
    }
    return status;
}

static int prepare_grow(void *context, bool last)
{
    mixed_bench *m = (mixed_bench *)context;
    (void)last;
    return tool_try(heddle_table_clear(m->table, NULL), "clear");
}

/* All keys, a batch at a time. */
static heddle_status call_grow(void *context)
{
    mixed_bench *m = (mixed_bench *)context;
    const bench_options *o = &m->b->options;
    heddle_status status = HEDDLE_OK;
    for (uint64_t at = 0; at < m->n && status == HEDDLE_OK; at += m->batch)
        status = heddle_table_insert(m->table, (char *)m->fill_keys + at * o->key_bits / 8,
                                     (char *)m->fill_values + at * o->value_bits / 8,
                                     m->n - at < m->batch ? m->n - at : m->batch, NULL, NULL, NULL);
    return status;
}

/* ------------------------------------------------------------------------------------ verification */

static void say_wrong(const mixed_bench *m, uint64_t wrong, uint64_t of, bool *right)
{
    if (wrong != 0)
        tool_say("%s: %llu of %llu answers are wrong", m->b->op, (unsigned long long)wrong,
                 (unsigned long long)of);
    *right &= wrong == 0;
}

static uint64_t poison(uint32_t bits)
{
    const uint64_t pattern = UINT64_C(0x0101010101010101) * BENCH_POISON;
    return bits == 64 ? pattern : (uint32_t)pattern;
}

/* Outcomes and values of the last batches; `first` is as before them. */
static int check_mixed(mixed_bench *m, bool *right)
{
    const uint32_t bits = m->b->options.value_bits;
    const uint64_t all = BATCHES * m->batch;
    const void *outcomes = NULL, *out = NULL;
    uint64_t wrong = 0;
    int status = bench_array_view(m->b, 8, all, m->outcomes, &outcomes);
    if (status == TOOL_OK) status = bench_array_view(m->b, bits, all, m->out, &out);
    if (status == TOOL_OK) {
#pragma omp parallel for schedule(static) reduction(+ : wrong)
        for (uint64_t i = 0; i < all; i++) {
            const planned p = plan(m, i);
            const bool finds = p.operation == HEDDLE_OPERATION_FIND && !p.missing;
            wrong += ((const uint8_t *)outcomes)[i] != p.outcome ||
                     bench_at(out, bits, i) != (finds ? value_at(m, i) : poison(bits));
        }
        say_wrong(m, wrong, all, right);
    }
    bench_array_leave(m->b, outcomes);
    bench_array_leave(m->b, out);
    return status;
}

/* All keys have their values after they were inserted in batches. */
static int check_grown(mixed_bench *m, bool *right)
{
    const bench_options *o = &m->b->options;
    const void *out = NULL;
    uint64_t wrong = 0;
    int status = tool_try(
        heddle_memory_fill(m->b->device, m->out, BENCH_POISON, m->n * o->value_bits / 8, NULL),
        "filling the answers");
    if (status == TOOL_OK)
        status = tool_try(heddle_table_find(m->table, m->fill_keys, m->n, m->out, NULL, NULL, NULL),
                          "find");
    if (status == TOOL_OK) status = bench_array_view(m->b, o->value_bits, m->n, m->out, &out);
    if (status == TOOL_OK) {
#pragma omp parallel for schedule(static) reduction(+ : wrong)
        for (uint64_t i = 0; i < m->n; i++)
            wrong += bench_at(out, o->value_bits, i) != fill_value_at(m, i);
        say_wrong(m, wrong, m->n, right);
    }
    bench_array_leave(m->b, out);
    return status;
}

static int check_table(mixed_bench *m, bool *right)
{
    uint64_t size = 0;
    const int status = tool_try(heddle_table_size(m->table, &size, NULL), "size");
    if (status != TOOL_OK) return status;
    if (size != m->n)
        tool_say("%s: the table then has %llu keys, not %llu", m->b->op, (unsigned long long)size,
                 (unsigned long long)m->n);
    *right &= size == m->n;
    const heddle_status valid = heddle_table_validate(m->table, NULL);
    if (valid == HEDDLE_OK) return TOOL_OK;
    *right = false;
    (void)tool_try(valid, "validate");
    return valid == HEDDLE_ERROR_CORRUPT ? TOOL_OK : TOOL_FAILED;
}

/* ------------------------------------------------------------------------------------ slabs alone */

/* A pool without memory behind its slabs, which nobody reads. */
typedef struct pool_bench {
    bench *b;
    const hd_slab_ops *ops;
    hd_slab_pool pool;
    uint64_t n;
    uint32_t *addresses;
} pool_bench;

static int make_pool(pool_bench *p)
{
    const uint64_t blocks = 2 * p->n / HD_SLAB_UNITS + 1;
    const hd_slab_super super = {NULL, 0, (uint32_t)blocks};
    void *memory[4] = {NULL};
    const uint64_t bytes[4] = {blocks * HD_SLAB_BLOCK_WORDS * 4, sizeof super, sizeof(uint32_t),
                               p->n * sizeof(uint32_t)};
    int status = TOOL_OK;
    for (int i = 0; i < 4 && status == TOOL_OK; i++)
        status = tool_try(heddle_memory_allocate(p->b->device, bytes[i], &memory[i]),
                          "allocating a pool");
    p->pool.taken = (uint32_t *)memory[0];
    p->pool.supers = (const hd_slab_super *)memory[1];
    p->pool.spent = (uint32_t *)memory[2];
    p->addresses = (uint32_t *)memory[3];
    p->pool.super_count = 1;
    p->pool.blocks = (uint32_t)blocks;
    if (status == TOOL_OK)
        status = tool_try(heddle_memory_copy(p->b->device, memory[1], &super, sizeof super, NULL),
                          "copying to the device");
    return status;
}

static void drop_pool(pool_bench *p)
{
    void *const memory[] = {p->pool.taken, (void *)(uintptr_t)p->pool.supers, p->pool.spent,
                            p->addresses};
    for (int i = 0; i < 4; i++) (void)heddle_memory_free(p->b->device, memory[i]);
}

static int empty_pool(void *context, bool last)
{
    pool_bench *p = (pool_bench *)context;
    const uint64_t bytes = (uint64_t)p->pool.blocks * HD_SLAB_BLOCK_WORDS * 4;
    (void)last;
    int status = tool_try(heddle_memory_fill(p->b->device, p->pool.taken, 0, bytes, NULL), "clear");
    if (status == TOOL_OK) /* the first is never given away */
        status = tool_try(heddle_memory_fill(p->b->device, p->pool.taken, 1, 1, NULL), "clear");
    if (status == TOOL_OK)
        status = tool_try(heddle_memory_fill(p->b->device, p->pool.spent, 0, 4, NULL), "clear");
    return status;
}

static heddle_status call_take(void *context)
{
    pool_bench *p = (pool_bench *)context;
    return p->ops->take(p->b->device, &p->pool, p->n, p->addresses, NULL);
}

/* Every slab was given away once. */
static int check_taken(pool_bench *p, bool *right)
{
    const void *addresses = NULL;
    uint64_t wrong = 0;
    const uint64_t slabs = (uint64_t)p->pool.blocks * HD_SLAB_UNITS;
    uint8_t *seen = (uint8_t *)calloc(slabs, 1);
    int status = seen != NULL ? TOOL_OK : TOOL_FAILED;
    if (status == TOOL_OK) status = bench_array_view(p->b, 32, p->n, p->addresses, &addresses);
    for (uint64_t i = 0; i < p->n && status == TOOL_OK; i++) {
        const uint64_t slab = bench_at(addresses, 32, i);
        wrong += slab == HD_SLAB_NONE || slab >= slabs || seen[slab] != 0;
        if (slab < slabs) seen[slab] = 1;
    }
    if (wrong != 0)
        tool_say("take: %llu of %llu slabs are wrong", (unsigned long long)wrong,
                 (unsigned long long)p->n);
    *right &= wrong == 0;
    bench_array_leave(p->b, addresses);
    free(seen);
    return status;
}

/* ------------------------------------------------------------------------------------- measurement */

static void print_line(mixed_bench *m, const bench_walk *walk, const heddle_table_stats *stats,
                       double looks, const bench_result *result)
{
    bench_line line;
    bench_line_begin(m->b, &line);
    bench_line_word(&line, "op", m->b->op);
    bench_line_number(&line, "n", "%.0f", (double)m->n);
    bench_line_number(&line, "batch", "%.0f", (double)m->batch);
    bench_line_number(&line, "updates", "%.0f",
                      walk->at[BENCH_AXIS_OP] == BENCH_MIXED ? walk->at[BENCH_AXIS_UPDATES] : 100);
    bench_line_number(&line, "load", "%g", walk->at[BENCH_AXIS_LOAD]);
    bench_line_number(&line, "memory_use", "%.3f", stats->memory_use);
    bench_line_number(&line, "key_bits", "%.0f", m->b->options.key_bits);
    bench_line_number(&line, "value_bits", "%.0f", m->b->options.value_bits);
    bench_line_number(&line, "looks", "%.3f", looks);
    bench_line_end(m->b, &line, result);
}

/* Looks of an operation, in all that was done since this was last asked. */
static int count_looks(mixed_bench *m, double *looks)
{
    heddle_totals t = HEDDLE_TOTALS_INIT;
    const int status = tool_try(heddle_table_take_totals(m->table, &t, NULL), "totals");
    if (status == TOOL_OK)
        *looks = (double)t.probes /
                 (double)(t.inserted + t.updated + t.kept + t.failed + t.found + t.absent);
    return status;
}

static int measure_point(mixed_bench *m, const bench_walk *walk)
{
    const bool grows = walk->at[BENCH_AXIS_OP] == BENCH_GROW;
    bench_timed timed = {grows ? prepare_grow : prepare_mixed, grows ? call_grow : call_mixed, m};
    bench_result result = {0, (double)(grows ? m->n : BATCHES * m->batch), 0, true};
    heddle_table_stats stats = HEDDLE_TABLE_STATS_INIT;
    heddle_totals ignored = HEDDLE_TOTALS_INIT;
    double looks = 0;
    int status = grows ? TOOL_OK
                       : tool_try(heddle_table_build(m->table, m->fill_keys, m->fill_values, m->n,
                                                     NULL, &ignored, NULL),
                                  "build");
    m->first = 0;
    progress_label("%s", m->b->op);
    if (status == TOOL_OK) status = bench_time(m->b, &timed, &result.seconds);
    if (status == TOOL_OK) status = count_looks(m, &looks);
    if (status == TOOL_OK)
        status = tool_try(heddle_table_get_stats(m->table, &stats, NULL), "statistics");
    progress_label("verifying %s", m->b->op);
    if (!grows) m->first -= BATCHES * m->changes;
    if (status == TOOL_OK && m->b->options.verify)
        status = grows ? check_grown(m, &result.right) : check_mixed(m, &result.right);
    if (status == TOOL_OK && m->b->options.verify) status = check_table(m, &result.right);
    if (status == TOOL_OK)
        status =
            bench_roof_measure(m->b, grows ? HD_ROOF_CAS : HD_ROOF_GATHER, grows ? 8 : SLAB_BYTES,
                               stats.bytes_slots, m->batch, &result.roof);
    if (status == TOOL_OK) print_line(m, walk, &stats, looks, &result);
    return status;
}

static int measure_pool(mixed_bench *m, const bench_walk *walk)
{
    const bench_options *o = &m->b->options;
    pool_bench p = {m->b, NULL, {0}, (uint64_t)walk->at[BENCH_AXIS_BATCH], NULL};
    bench_timed timed = {empty_pool, call_take, &p};
    bench_result result = {0, (double)p.n, 0, true};
    const heddle_table_stats none = HEDDLE_TABLE_STATS_INIT;
    p.ops = m->b->device->engine->slabs(o->key_bits, o->value_bits);
    m->n = m->batch = p.n;
    int status = make_pool(&p);
    if (status == TOOL_OK) status = bench_time(m->b, &timed, &result.seconds);
    if (status == TOOL_OK && o->verify) status = check_taken(&p, &result.right);
    if (status == TOOL_OK)
        status = bench_roof_measure(m->b, HD_ROOF_CAS, 8, p.n, p.n, &result.roof);
    if (status == TOOL_OK) print_line(m, walk, &none, 0, &result);
    drop_pool(&p);
    return status;
}

static int run_point(mixed_bench *m, const bench_walk *walk)
{
    const bench_options *o = &m->b->options;
    const uint32_t op = (uint32_t)walk->at[BENCH_AXIS_OP];
    (void)snprintf(m->b->op, sizeof m->b->op, "%s", bench_op_names[op]);
    progress_step("%s", m->b->op);
    if (op != BENCH_MIXED && walk->index[BENCH_AXIS_UPDATES] != 0) return TOOL_OK; /* it has none */
    if (op == BENCH_TAKE)
        return walk->index[BENCH_AXIS_LOAD] == 0 ? measure_pool(m, walk) : TOOL_OK;
    m->n = (uint64_t)walk->at[BENCH_AXIS_KEYS];
    m->batch = (uint64_t)walk->at[BENCH_AXIS_BATCH];
    m->changes = (uint64_t)((double)m->batch * walk->at[BENCH_AXIS_UPDATES] / 200);
    m->first = 0;
    m->keys = bench_keys_of(m->n, o->seed, o->key_bits, o->value_bits);
    m->places = bench_keys_of(m->batch, o->seed + 1, 64, 64);
    int status = make_arrays(m);
    if (status == TOOL_OK) status = make_table(m, walk->at[BENCH_AXIS_LOAD], m->n);
    if (status == TOOL_OK) status = measure_point(m, walk);
    drop(m);
    return status;
}

int bench_mixed_run(bench *b)
{
    bench_walk walk = bench_walk_begin(&b->options.axes);
    mixed_bench m;
    int status = TOOL_OK;
    memset(&m, 0, sizeof m);
    m.b = b;
    do status = run_point(&m, &walk);
    while (status == TOOL_OK && bench_walk_next(&walk));
    return status;
}

int bench_mixed_check(bench *b)
{
    const bench_options *o = &b->options;
    const double n = bench_list_most(&o->axes.list[BENCH_AXIS_KEYS]);
    const double batch = bench_list_most(&o->axes.list[BENCH_AXIS_BATCH]);
    const double pair = (o->key_bits + o->value_bits) / 8, value = o->value_bits / 8;
    const double need = n * (3 * pair + value) + BATCHES * batch * (pair + value + 2);
    mixed_bench m;
    if (need > (double)b->info.memory_free)
        return tool_refuse("bench: this needs %.1f GB, but %s has %.1f GB free", need / GB,
                           b->device_name, (double)b->info.memory_free / GB);
    memset(&m, 0, sizeof m);
    m.b = b;
    const int status = make_table(&m, o->axes.list[BENCH_AXIS_LOAD].at[0], 1);
    heddle_table_destroy(m.table);
    return status;
}
