/*
 * success.c: how full a table can be made. The BGHT paper calls a load reached when 99 % of
 * 200 builds with fresh hash functions place every key.
 *
 * The table keeps its size and takes as many of the same keys as make the load: the library gives
 * small and very full tables more slots than the load asked for, so only the slots that are there
 * say what was reached. A build is one insertion into the empty table, since heddle_table_build
 * would try further seeds.
 *
 * The search looks at loads in steps of 1/GRID. The first seed alone brings it near by bisection.
 * From there it goes down to the first load that passes, or up to the last one: the load it reports
 * passes, and the next one does not. A load fails as soon as too many seeds have failed.
 */
#include "bench/table/table.h"
#include "progress.h"
#include "tool.h"

#define GRID BENCH_SUCCESS_GRID
#define TABLE_LOAD 0.99 /* the most that a table can be made for */

/* One load, in keys, and the seeds that went well there. */
typedef struct trial {
    uint64_t keys;
    uint32_t runs, successes;
} trial;

/* Leaves the table in place for the report; the next build drops it. */
static int build_once(bench *b, bench_point point, uint64_t keys, uint32_t run, bool *fits)
{
    /* Far apart, so that runs with neighbouring --seed share none. */
    if (point.seed != 0) point.seed += (uint64_t)run << 40;
    bench_table_drop(b);
    const int status = bench_table_make(b, &point);
    if (status != TOOL_OK) return status;
    heddle_totals totals =
        HEDDLE_TOTALS_INIT; /* asking for them makes a queued insertion wait and report */
    const heddle_status inserted =
        heddle_table_insert(b->table, b->table_keys, b->table_values, keys, NULL, &totals, NULL);
    *fits = inserted == HEDDLE_OK;
    return inserted == HEDDLE_ERROR_FULL ? TOOL_OK : tool_try(inserted, "insert");
}

/* Builds with one seed after the other, until more than `failures_max` have failed. */
static int run_seeds(bench *b, const bench_point *point, uint32_t failures_max, trial *t)
{
    const uint32_t seeds = b->options.seeds;
    int status = TOOL_OK;
    t->successes = 0;
    for (t->runs = 0; t->runs < seeds && status == TOOL_OK; t->runs++) {
        bool fits = false;
        if (t->runs - t->successes > failures_max) break;
        progress_label("seed %u of %u with %llu keys, bucket %u, %u hashes", t->runs + 1, seeds,
                       (unsigned long long)t->keys, b->bucket, b->hashes);
        status = build_once(b, *point, t->keys, t->runs, &fits);
        t->successes += fits;
        progress_part((double)(t->runs + 1) / (double)seeds);
    }
    return status;
}

static uint32_t failures_allowed(const bench *b) { return b->options.seeds / 100; }

static bool passes(const bench *b, const trial *t)
{
    return t->successes + failures_allowed(b) >= b->options.seeds;
}

static int try_step(bench *b, const bench_point *point, uint64_t slots, uint32_t step, trial *t)
{
    t->keys = slots * step / GRID;
    return run_seeds(b, point, failures_allowed(b), t);
}

/* The highest step at which the first seed places all keys; at least 1. */
static int bisect(bench *b, const bench_point *point, uint64_t slots, uint32_t *step)
{
    uint32_t high = GRID + 1;
    *step = 1;
    while (high - *step > 1) {
        const uint32_t middle = *step + (high - *step) / 2;
        bool fits = false;
        const int status = build_once(b, *point, slots * middle / GRID, 0, &fits);
        if (status != TOOL_OK) return status;
        if (fits) *step = middle;
        else high = middle;
    }
    return TOOL_OK;
}

/* *t is the highest load that passes, or the lowest of all when none does. */
static int search(bench *b, const bench_point *point, uint64_t slots, trial *t)
{
    uint32_t step = 0;
    trial next;
    int status = bisect(b, point, slots, &step);
    if (status == TOOL_OK) status = try_step(b, point, slots, step, t);
    if (status != TOOL_OK || !passes(b, t)) {
        while (status == TOOL_OK && !passes(b, t) && step > 1)
            status = try_step(b, point, slots, --step, t);
        return status;
    }
    while (step < GRID) {
        status = try_step(b, point, slots, ++step, &next);
        if (status != TOOL_OK || !passes(b, &next)) break;
        *t = next;
    }
    return status;
}

static void report(bench *b, const trial *t, uint64_t slots)
{
    const bench_success success = {t->keys, (double)t->keys / (double)slots, t->runs, t->successes};
    progress_hide();
    bench_report_success(b, &success);
}

/* The rows of one kind of table: one, or one for each load that was named. */
static int run_table(bench *b, const bench_point *point, const bench_list *loads)
{
    trial t;
    heddle_table_options made = HEDDLE_TABLE_OPTIONS_INIT;
    int status = bench_table_make(b, point);
    if (status != TOOL_OK) return status;
    status = tool_try(heddle_table_get_options(b->table, &made), "asking for the table's slots");
    if (status == TOOL_OK) status = bench_data_make(b, made.capacity);
    for (uint32_t i = 0; i < loads->count && status == TOOL_OK; i++) {
        progress_step("success at load %g", loads->at[i]);
        t.keys = (uint64_t)(loads->at[i] * (double)made.capacity);
        status = run_seeds(b, point, b->options.seeds, &t);
        if (status == TOOL_OK) report(b, &t, made.capacity);
    }
    if (loads->count == 0 && status == TOOL_OK) {
        progress_step("success");
        status = search(b, point, made.capacity, &t);
        if (status == TOOL_OK) report(b, &t, made.capacity);
    }
    bench_table_drop(b);
    return status;
}

int bench_success_run(bench *b, const bench_axes *axes)
{
    const bench_list *sizes = &axes->list[BENCH_AXIS_KEYS];
    const bench_list *buckets = &axes->list[BENCH_AXIS_BUCKET];
    const bench_list *hashes = &axes->list[BENCH_AXIS_HASHES];
    int status = TOOL_OK;
    for (uint32_t i = 0; i < sizes->count; i++)
        for (uint32_t j = 0; j < buckets->count; j++)
            for (uint32_t k = 0; k < hashes->count && status == TOOL_OK; k++) {
                const bench_point point = {(uint64_t)sizes->at[i], (uint32_t)buckets->at[j],
                                           (uint32_t)hashes->at[k], TABLE_LOAD, b->options.seed};
                status = run_table(b, &point, &axes->list[BENCH_AXIS_LOAD]);
            }
    return status;
}

uint32_t bench_success_steps(const bench_axes *axes)
{
    const uint32_t loads = axes->list[BENCH_AXIS_LOAD].count;
    return axes->list[BENCH_AXIS_KEYS].count * axes->list[BENCH_AXIS_BUCKET].count *
           (BENCH_DATA_STEPS + axes->list[BENCH_AXIS_HASHES].count * (loads != 0 ? loads : 1));
}

int bench_success_check(bench *b, const bench_axes *axes)
{
    bench_axes roomy = *axes;
    /* There are more slots than keys were asked for, and arrays as long: this counts enough. */
    (void)bench_axes_read(&roomy, BENCH_AXIS_LOAD, "0.5");
    return bench_grid_check(b, &roomy);
}
