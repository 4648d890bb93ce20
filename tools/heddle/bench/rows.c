/* rows.c: keys that repeat, drawn by row. */
#include "bench/rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tool.h"

#define ORDER_STEP UINT64_C(0x100000000) /* between the seeds of two orders */

uint64_t bench_rows_distinct(double n, double copies)
{
    const double distinct = ceil(n / copies);
    return distinct < 1 ? 1 : (uint64_t)distinct;
}

bench_rows bench_rows_of(const bench_options *options, uint64_t n, uint64_t distinct, double skew,
                         uint32_t order)
{
    bench_rows rows;
    rows.keys = bench_keys_of(n, options->seed + order * ORDER_STEP, options->key_bits,
                              options->value_bits);
    rows.keys.start = bench_keys_of(1, options->seed, options->key_bits, 0).start;
    rows.distinct = isinf(skew) ? 1 : distinct;
    rows.skew = skew;
    rows.keys.plain = skew == BENCH_SEQUENCE;
    rows.hit = 100;
    return rows;
}

bool bench_row_hits(const bench_rows *rows, uint64_t row)
{
    const bench_query query = {true, rows->hit};
    return bench_query_present(&rows->keys, &query, row);
}

/* The inverse of the distribution function of a continuous x^-skew from 1 to distinct + 1. */
static uint64_t zipf_number(const bench_rows *rows, uint64_t row)
{
    const double uniform = (double)(bench_random(row ^ rows->keys.draw) >> 11) * 0x1p-53;
    const double top = (double)rows->distinct + 1, power = 1 - rows->skew;
    const double x = fabs(power) < 1e-9 ? exp(uniform * log(top))
                                        : pow(1 - uniform * (1 - pow(top, power)), 1 / power);
    const uint64_t number = x < 1 ? 0 : (uint64_t)(x - 1);
    return number < rows->distinct ? number : rows->distinct - 1;
}

/* The first numbers have one row more where the rows cannot be shared out evenly. */
static uint64_t sequence_number(const bench_rows *rows, uint64_t row)
{
    const uint64_t least = rows->keys.n / rows->distinct, more = rows->keys.n % rows->distinct;
    if (row < more * (least + 1)) return row / (least + 1);
    return more + (row - more * (least + 1)) / least;
}

uint64_t bench_row_number(const bench_rows *rows, uint64_t row)
{
    if (isinf(rows->skew)) return 0;
    if (rows->skew == BENCH_SEQUENCE) return sequence_number(rows, row);
    if (rows->skew > 0) return zipf_number(rows, row);
    return bench_shuffled(&rows->keys, row) % rows->distinct;
}

uint64_t bench_row_key(const bench_rows *rows, uint64_t row)
{
    return bench_key_at(&rows->keys, bench_row_number(rows, row), !bench_row_hits(rows, row));
}

uint64_t *bench_rows_count(const bench_rows *rows)
{
    const uint64_t n = rows->keys.n;
    uint64_t *counts = (uint64_t *)calloc(rows->distinct, sizeof *counts);
    if (counts == NULL) {
        tool_say("no host memory for %llu counts", (unsigned long long)rows->distinct);
        return NULL;
    }
    if (rows->distinct == 1 && rows->hit == 100) {
        counts[0] = n;
        return counts;
    }
#pragma omp parallel for schedule(static)
    for (uint64_t row = 0; row < n; row++)
        if (bench_row_hits(rows, row))
            (void)__atomic_fetch_add(&counts[bench_row_number(rows, row)], 1, __ATOMIC_RELAXED);
    return counts;
}

void bench_skew_name(double skew, char name[BENCH_SKEW_NAME])
{
    if (isinf(skew)) (void)snprintf(name, BENCH_SKEW_NAME, "equal");
    else if (skew > 0) (void)snprintf(name, BENCH_SKEW_NAME, "zipf:%g", skew);
    else if (skew == BENCH_SEQUENCE) (void)snprintf(name, BENCH_SKEW_NAME, "sequence");
    else (void)snprintf(name, BENCH_SKEW_NAME, "uniform");
}
