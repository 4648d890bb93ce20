/*
 * lists.c: lists of values on the CPU, for values of one width. Built once for each width, by a generated
 * stub that defines HD_VALUE_BITS and HD_SYMBOL. Exports HD_SYMBOL alone.
 *
 * Runs and lists are of very different lengths, so copies and fetches are shared among threads by values.
 */
#include <sched.h>
#include <string.h>

#include "cpu/columns/columns.h"
#include "scheme/list_census.h"

#define AHEAD 16 /* records on their way to the caches while others are worked on */

/* -------------------------------------------------------------------------------------- inserting */

static heddle_status measure(hd_site on, const hd_list_pool *pool, const hd_list_runs *runs)
{
    const int threads = hd_cpu_team(on.device, runs->count);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (uint64_t g = 0; g < runs->count; g++) {
        const uint64_t ahead = g + AHEAD < runs->count ? runs->numbers[g + AHEAD] : HD_LIST_NONE;
        if (ahead < runs->fresh) __builtin_prefetch(&pool->records[ahead]);
        const hd_list_plan plan = list_plan(pool, runs->numbers[g], runs->fresh,
                                            runs->starts[g + 1] - runs->starts[g], runs->tight);
        runs->units[g] = plan_units(&plan);
    }
    return HEDDLE_OK;
}

static heddle_status flag_fresh(hd_site on, const hd_list_runs *runs, uint8_t *flags)
{
#pragma omp parallel for schedule(static) num_threads(hd_cpu_team(on.device, runs->count))
    for (uint64_t g = 0; g < runs->count; g++) flags[g] = run_is_fresh(runs, g);
    return HEDDLE_OK;
}

static heddle_status flag_empty(hd_site on, const hd_list_pool *pool, hd_list_numbers lists,
                                uint8_t *flags)
{
    const uint64_t *numbers = lists.numbers, n = lists.n;
#pragma omp parallel for schedule(static) num_threads(hd_cpu_team(on.device, n))
    for (uint64_t i = 0; i < n; i++)
        flags[i] = numbers[i] != HD_LIST_NONE && list_length(pool, numbers[i]) == 0;
    return HEDDLE_OK;
}

static heddle_status number(hd_site on, const hd_list_runs *runs, const uint8_t *flags,
                            const uint64_t *ranks, uint64_t base)
{
    uint64_t *numbers = runs->numbers;
    const uint64_t n = runs->count;
#pragma omp parallel for schedule(static) num_threads(hd_cpu_team(on.device, n))
    for (uint64_t i = 0; i < n; i++)
        if (flags[i] != 0) numbers[i] = base + ranks[i];
    return HEDDLE_OK;
}

static heddle_status claim(hd_site on, const hd_list_pool *pool, const hd_list_runs *runs,
                           hd_list_place *places, uint64_t *granted)
{
    uint64_t sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)                                       \
    num_threads(hd_cpu_team(on.device, runs->count))
    for (uint64_t g = 0; g < runs->count; g++) {
        const uint64_t ahead = g + AHEAD < runs->count ? runs->numbers[g + AHEAD] : HD_LIST_NONE;
        if (ahead != HD_LIST_NONE) __builtin_prefetch(&pool->records[ahead], 1);
        places[g] = run_claim(pool, runs, g);
        sum += places[g].granted;
    }
    *granted += sum;
    return HEDDLE_OK;
}

/* Rows [begin, end) of all runs; `row_bits` 0: in order. A constant, so that the loop has no branch for it. */
HD_FN void copy_share(const hd_list_runs *runs, const hd_list_place *places,
                      const hd_list_rows *rows, uint32_t row_bits, hd_share share)
{
    const hd_grouped grouped = {NULL, 0, rows->n, runs->starts, runs->count, NULL, NULL};
    const hd_value *values = (const hd_value *)rows->values;
    uint64_t i = share.begin;
    if (i == share.end) return;
    for (uint64_t g = hd_group_at(&grouped, i); i < share.end; g++) {
        const uint64_t begin = runs->starts[g];
        const uint64_t end = runs->starts[g + 1] < share.end ? runs->starts[g + 1] : share.end;
        const hd_list_place place = places[g];
        for (; i < end; i++) {
            const uint64_t ahead = i + HD_ROWS_AHEAD < rows->n ? i + HD_ROWS_AHEAD : i;
            const uint64_t row = row_bits != 0 ? hd_row_at(rows->rows, row_bits, i) : i;
            hd_value *to = place_of(&place, i - begin);
            if (row_bits != 0) __builtin_prefetch(values + hd_row_at(rows->rows, row_bits, ahead));
            if (to != NULL) *to = values[row];
            if (rows->outcomes != NULL)
                rows->outcomes[row] = to != NULL ? HEDDLE_OUTCOME_INSERTED : HEDDLE_OUTCOME_FAILED;
        }
    }
}

static heddle_status copy(hd_site on, const hd_list_runs *runs, const hd_list_place *places,
                          const hd_list_rows *rows)
{
#pragma omp parallel num_threads(hd_cpu_team(on.device, rows->n))
    {
        const hd_share share = hd_share_of(rows->n);
        if (rows->rows == NULL) copy_share(runs, places, rows, 0, share);
        else if (rows->row_bits == 32) copy_share(runs, places, rows, 32, share);
        else copy_share(runs, places, rows, 64, share);
    }
    return HEDDLE_OK;
}

static heddle_status append(hd_site on, const hd_list_pool *pool, const hd_list_appends *appends,
                            uint64_t *granted)
{
    const uint64_t *numbers = appends->numbers, n = appends->n;
    const hd_value *values = (const hd_value *)appends->values;
    uint8_t *left = appends->left;
    uint64_t sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum) num_threads(hd_cpu_team(on.device, n))
    for (uint64_t i = 0; i < n; i++) {
        const hd_value value = values[i];
        int result = numbers[i] != HD_LIST_NONE ? HD_LIST_AGAIN : HD_LIST_OUT;
        for (uint32_t tries = 1; result == HD_LIST_AGAIN; tries++) {
            result = list_append_step(pool, numbers[i], value);
            if (tries % 64 == 0) sched_yield(); /* who blocks the list may not be running */
        }
        sum += result == HD_LIST_DONE;
        left[i] = result != HD_LIST_DONE;
    }
    *granted += sum;
    return HEDDLE_OK;
}

/* ---------------------------------------------------------------------------------------- reading */

static heddle_status lengths(hd_site on, const hd_list_pool *pool, hd_list_numbers lists,
                             uint64_t *out)
{
    const uint64_t *numbers = lists.numbers, n = lists.n;
#pragma omp parallel for schedule(static) num_threads(hd_cpu_team(on.device, n))
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t ahead = i + AHEAD < n ? numbers[i + AHEAD] : HD_LIST_NONE;
        if (ahead != HD_LIST_NONE) __builtin_prefetch(&pool->records[ahead]);
        out[i] = list_length(pool, numbers[i]);
    }
    return HEDDLE_OK;
}

static heddle_status first(hd_site on, const hd_list_pool *pool, hd_list_numbers lists,
                           void *values)
{
    const uint64_t *numbers = lists.numbers, n = lists.n;
#pragma omp parallel for schedule(static) num_threads(hd_cpu_team(on.device, n))
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t ahead = i + AHEAD < n ? numbers[i + AHEAD] : HD_LIST_NONE;
        const uint64_t soon = i + AHEAD / 2 < n ? numbers[i + AHEAD / 2] : HD_LIST_NONE;
        if (ahead != HD_LIST_NONE) __builtin_prefetch(&pool->records[ahead]);
        if (soon != HD_LIST_NONE)
            __builtin_prefetch(bucket_values(pool, pool->records[soon].bucket));
        if (numbers[i] != HD_LIST_NONE)
            ((hd_value *)values)[i] = bucket_values(pool, pool->records[numbers[i]].bucket)[0];
    }
    return HEDDLE_OK;
}

/* Values [from, to) of a list. */
static void fetch_list(const hd_list_pool *pool, uint64_t number, uint64_t from, uint64_t to,
                       hd_value *out)
{
    uint64_t bucket = pool->records[number].bucket, end = to;
    while (end > from) {
        uint64_t begin;
        bucket = bucket_at(pool, bucket, end - 1, &begin);
        const uint64_t low = begin > from ? begin : from;
        memcpy(out + (low - from), bucket_values(pool, bucket) + (low - begin),
               (end - low) * sizeof *out);
        end = low;
    }
}

static void fetch_keys(const hd_list_fetch *f, uint64_t list, uint64_t at, uint64_t count)
{
    if (f->key_width == 4) {
        const uint32_t key = ((const uint32_t *)f->keys)[list];
        for (uint64_t i = 0; i < count; i++) ((uint32_t *)f->keys_out)[at + i] = key;
    } else {
        const uint64_t key = ((const uint64_t *)f->keys)[list];
        for (uint64_t i = 0; i < count; i++) ((uint64_t *)f->keys_out)[at + i] = key;
    }
}

static void fetch_share(const hd_list_pool *pool, const hd_list_fetch *f, hd_share share)
{
    const hd_grouped grouped = {NULL, 0, f->n, f->offsets, f->count, NULL, NULL};
    uint64_t i = f->first + share.begin;
    const uint64_t last = f->first + share.end;
    if (share.begin == share.end) return;
    for (uint64_t g = hd_group_at(&grouped, i); i < last; g++) {
        const uint64_t begin = f->offsets[g];
        const uint64_t end = f->offsets[g + 1] < last ? f->offsets[g + 1] : last;
        const uint64_t ahead = g + AHEAD < f->count ? f->numbers[g + AHEAD] : HD_LIST_NONE;
        const uint64_t soon = g + AHEAD / 2 < f->count ? f->numbers[g + AHEAD / 2] : HD_LIST_NONE;
        if (ahead != HD_LIST_NONE) __builtin_prefetch(&pool->records[ahead]);
        if (soon != HD_LIST_NONE)
            __builtin_prefetch(bucket_values(pool, pool->records[soon].bucket));
        if (i >= end) continue;
        if (f->values != NULL)
            fetch_list(pool, f->numbers[g], i - begin, end - begin,
                       (hd_value *)f->values + (i - f->first));
        if (f->keys != NULL) fetch_keys(f, g, i - f->first, end - i);
        i = end;
    }
}

static heddle_status fetch(hd_site on, const hd_list_pool *pool, const hd_list_fetch *job)
{
#pragma omp parallel num_threads(hd_cpu_team(on.device, job->n))
    fetch_share(pool, job, hd_share_of(job->n));
    return HEDDLE_OK;
}

/* ------------------------------------------------------------------------------- erasing, checking */

static heddle_status bury(hd_site on, const hd_list_pool *pool, hd_list_numbers lists,
                          const uint8_t *flags, uint64_t *sums)
{
    uint64_t values = 0, units = 0;
    const uint64_t *numbers = lists.numbers, n = lists.n;
#pragma omp parallel for schedule(static) reduction(+ : values, units)                             \
    num_threads(hd_cpu_team(on.device, n))
    for (uint64_t i = 0; i < n; i++) {
        uint64_t had = 0;
        if (flags[i] == 0) continue;
        units += list_bury(pool, numbers[i], &had);
        values += had;
    }
    sums[0] += values;
    sums[1] += units;
    return HEDDLE_OK;
}

static heddle_status inspect(hd_site on, const hd_list_pool *pool, const hd_list_bounds *bounds,
                             hd_list_numbers lists, hd_list_census *census)
{
    const uint64_t *numbers = lists.numbers, n = lists.n;
#pragma omp parallel num_threads(hd_cpu_team(on.device, n))
    {
        hd_list_census own;
        memset(&own, 0, sizeof own);
#pragma omp for schedule(static) nowait
        for (uint64_t i = 0; i < n; i++) census_list(pool, bounds, numbers[i], &own);
        for (size_t i = 0; i < sizeof own / sizeof(uint64_t); i++)
            __atomic_fetch_add((uint64_t *)census + i, ((uint64_t *)&own)[i], __ATOMIC_RELAXED);
    }
    return HEDDLE_OK;
}

extern const hd_list_ops HD_SYMBOL;
const hd_list_ops HD_SYMBOL = {
    HD_VALUE_BITS, measure, flag_fresh, flag_empty, number, claim,   copy,
    append,        lengths, first,      fetch,      bury,   inspect,
};
