/*
 * test_slab_pool.c: slabs taken from a pool and given back by many threads at once (pool/slab_pool.h). No slab
 * is anybody else's, a pool is spent only when all of its slabs are taken, and what is not taken cannot be
 * given back.
 */
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "support/cases.h"

#include "pool/slab_pool.h"

typedef struct pool_model {
    hd_slab_pool pool;
    hd_slab_super supers[4];
    uint32_t spent;
    uint32_t slabs;   /* that can be had */
    uint8_t *holders; /* by address of the first super block and on: how many hold it */
} pool_model;

/* Super blocks of so many blocks, 0 where there is none. Nothing is ever written to a slab here. */
static void pool_make(pool_model *m, const uint32_t *blocks, uint32_t count)
{
    memset(m, 0, sizeof *m);
    for (uint32_t i = 0; i < count; i++) {
        m->supers[i].before = m->pool.blocks;
        m->supers[i].blocks = blocks[i];
        m->supers[i].slabs = (char *)(uintptr_t)((uint64_t)(i + 1) << 40);
        m->pool.blocks += blocks[i];
    }
    m->pool.supers = m->supers;
    m->pool.super_count = count;
    m->pool.light = count == 1 ? m->supers[0].slabs : NULL;
    m->pool.spent = &m->spent;
    m->pool.taken = calloc(m->pool.blocks * HD_SLAB_BLOCK_WORDS, sizeof *m->pool.taken);
    m->holders = calloc(m->pool.blocks, HD_SLAB_UNITS);
    m->slabs = m->pool.blocks * HD_SLAB_UNITS - 1;
    assert_true(m->pool.taken != NULL && m->holders != NULL);
    m->pool.taken[0] = 1; /* HD_SLAB_NONE */
}

static void pool_free(pool_model *m)
{
    free(m->pool.taken);
    free(m->holders);
}

static uint8_t *holder(const pool_model *m, uint32_t address)
{
    const uint64_t word = (uint64_t)(pool_word(&m->pool, address) - m->pool.taken);
    return &m->holders[word * 32 + address % 32];
}

/* Holds a slab, in the model too; HD_SLAB_NONE where there is none. */
static uint32_t take(pool_model *m, hd_slab_taker *taker, uint32_t *wrong)
{
    const uint32_t address = slab_take(&m->pool, taker);
    if (address == HD_SLAB_NONE) return address;
    if (!pool_has(&m->pool, address)) (*wrong)++;
    else if (__atomic_fetch_add(holder(m, address), 1, __ATOMIC_RELAXED) != 0) (*wrong)++;
    return address;
}

static void give(pool_model *m, uint32_t address, uint32_t *wrong)
{
    __atomic_fetch_sub(holder(m, address), 1, __ATOMIC_RELAXED);
    *wrong += !slab_give(&m->pool, address);
}

/* Everything is taken, by four threads, and nothing more can be had. Then all is given back. */
static void all_of_it(pool_model *m)
{
    uint32_t *mine = calloc(m->slabs + 4, sizeof *mine), count = 0, wrong = 0;
    assert_non_null(mine);
#pragma omp parallel num_threads(4)
    {
        hd_slab_taker taker = taker_start(&m->pool, (uint32_t)omp_get_thread_num());
        uint32_t odd = 0;
        for (uint32_t address; (address = take(m, &taker, &odd)) != HD_SLAB_NONE;)
            mine[__atomic_fetch_add(&count, 1, __ATOMIC_RELAXED)] = address;
        __atomic_fetch_add(&wrong, odd, __ATOMIC_RELAXED);
    }
    assert_int_equal(wrong, 0);
    assert_int_equal(count, m->slabs);
    assert_int_equal(m->spent, 1);
    for (uint32_t i = 0; i < count; i++)
        assert_ptr_equal(pool_slab(&m->pool, mine[i]),
                         m->supers[mine[i] >> 24].slabs + (uint64_t)(mine[i] & 0xffffff) * 128);
    m->spent = 0;
    for (uint32_t i = 0; i < count; i++) give(m, mine[i], &wrong);
    assert_int_equal(wrong, 0);
    assert_false(slab_give(&m->pool, mine[0])); /* twice */
    assert_int_equal(m->pool.taken[0], 1);
    for (uint32_t i = 1; i < m->pool.blocks * HD_SLAB_BLOCK_WORDS; i++)
        assert_int_equal(m->pool.taken[i], 0);
    free(mine);
}

/* Threads that take and give all the time. While some is free all along, nobody is refused. */
static void back_and_forth(pool_model *m)
{
    enum { THREADS = 4 };
    const uint32_t share = m->slabs / THREADS / 2;
    uint32_t wrong = 0, refused = 0;
#pragma omp parallel num_threads(THREADS)
    {
        hd_slab_taker taker = taker_start(&m->pool, 100 + (uint32_t)omp_get_thread_num());
        uint32_t *mine = calloc(share, sizeof *mine), odd = 0, none = 0, held = 0;
        uint32_t state = (uint32_t)omp_get_thread_num() + 1;
        for (uint32_t i = 0; mine != NULL && i < 20 * share; i++) {
            state = state * 1664525u + 1013904223u;
            if (held < share && (held == 0 || state >> 30 != 0)) {
                mine[held] = take(m, &taker, &odd);
                if (mine[held] != HD_SLAB_NONE) held++;
                else none++;
            } else {
                const uint32_t at = (state >> 8) % held;
                give(m, mine[at], &odd);
                mine[at] = mine[--held];
            }
        }
        while (held != 0) give(m, mine[--held], &odd);
        free(mine);
        __atomic_fetch_add(&wrong, odd, __ATOMIC_RELAXED);
        __atomic_fetch_add(&refused, none, __ATOMIC_RELAXED);
    }
    assert_int_equal(wrong, 0);
    assert_int_equal(refused, 0);
}

static void pools(void **state)
{
    static const uint32_t sizes[][3] = {{1, 0, 0}, {5, 0, 0}, {1, 2, 4}, {3, 1, 0}};
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        pool_model m;
        uint32_t count = 0;
        while (count < 3 && sizes[i][count] != 0) count++;
        pool_make(&m, sizes[i], count);
        all_of_it(&m);
        back_and_forth(&m);
        all_of_it(&m);
        pool_free(&m);
    }
}

/* Addresses that no pool has given, or not this one. */
static void strangers(void **state)
{
    static const uint32_t blocks[] = {2, 3};
    pool_model m;
    (void)state;
    pool_make(&m, blocks, 2);
    assert_false(slab_give(&m.pool, HD_SLAB_NONE));
    assert_false(slab_give(&m.pool, 2 * HD_SLAB_UNITS)); /* no such block */
    assert_false(slab_give(&m.pool, UINT32_C(2) << 24)); /* no such super block */
    assert_false(slab_give(&m.pool, UINT32_C(1) << 24)); /* not taken */
    assert_false(pool_has(&m.pool, UINT32_C(1) << 24 | 3 * HD_SLAB_UNITS));
    assert_true(pool_has(&m.pool, UINT32_C(1) << 24 | (3 * HD_SLAB_UNITS - 1)));
    assert_int_equal(m.pool.taken[0], 1);
    pool_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pools),
        cmocka_unit_test(strangers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
