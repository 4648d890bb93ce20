/*
 * reduce_numbered.c: aggregates by group on the CPU where the group of every row is known by number, and
 * the rows of groups in order.
 *
 * Every thread goes through its share of the rows as they lie and has a cell for every group; the cells
 * of all threads are brought together in the end. A cell holds what the aggregate needs: a sum, a count of
 * values, or both. Groups without a row do not exist, so that sums need no count where there are no nulls.
 * Nulls go to a cell behind those of the groups, so that no branch has to guess where they are.
 */
#include <string.h>

#include "cpu/reduce_value.h"

uint64_t hd_numbered_cpu_work(heddle_device *device, uint64_t n)
{
    const uint64_t threads = (uint64_t)hd_cpu_threads(device, n);
    const uint64_t all = threads * HD_NUMBERED_MOST, worth = n / 4;
    const uint64_t one = n < HD_NUMBERED_MOST ? n : HD_NUMBERED_MOST;
    const uint64_t shared = all < worth ? all : worth;
    return ((one > shared ? one : shared) + threads) * 2 * sizeof(number);
}

HD_FN bool has_sum(shape s) { return s.aggregate != HEDDLE_AGGREGATE_COUNT; }
HD_FN bool has_count(shape s)
{
    return s.nulls || s.aggregate == HEDDLE_AGGREGATE_COUNT || s.aggregate == HEDDLE_AGGREGATE_MEAN;
}
HD_FN uint32_t cell_width(shape s) { return has_sum(s) && has_count(s) ? 2 : 1; }
/* Where a thread's cells are. */
HD_FN uint64_t cells_at(shape s, const hd_grouped *grouped, int thread)
{
    return (uint64_t)thread * (grouped->groups + 1) * cell_width(s);
}

HD_FN void add_rows(shape s, const hd_grouped *grouped, const hd_reduce *r, hd_share share,
                    number *cells)
{
    const uint32_t width = cell_width(s), count_at = width - 1;
    const uint32_t *numbers = grouped->numbers;
    for (uint64_t g = 0; g <= grouped->groups; g++) {
        if (has_sum(s)) cells[g * width] = nothing(s);
        if (has_count(s)) cells[g * width + count_at].u = 0;
    }
    for (uint64_t i = share.begin; i < share.end; i++) {
        const uint64_t there = s.nulls ? 0 - (uint64_t)(r->valid[i] != 0) : UINT64_MAX;
        const uint64_t g = (numbers[i] & there) | (grouped->groups & ~there);
        number *cell = cells + g * width;
        if (has_count(s)) cell[count_at].u++;
        if (has_sum(s)) cell[0] = take(s, cell[0], value_to_take(s, r->column, i));
    }
}

/* Groups [share) of all threads' cells. */
HD_FN void finish_groups(shape s, const hd_grouped *grouped, const hd_reduce *r, hd_share share,
                         const number *cells, int threads)
{
    const uint32_t width = cell_width(s);
    for (uint64_t g = share.begin; g < share.end; g++) {
        partial all = {nothing(s), 0, g};
        for (int t = 0; t < threads; t++) {
            const number *cell = cells + cells_at(s, grouped, t) + g * width;
            /* Without counts, a thread that has no value of the group has a sum that changes nothing. */
            const partial p = {cell[0], has_count(s) ? cell[width - 1].u : 1, g};
            partial_add(s, &all, &p);
        }
        result_set(s, r, g, &all);
    }
}

/* ------------------------------------------------- one compiled loop for each shape that matters */

typedef struct numbered_loop {
    void (*add)(const hd_grouped *, const hd_reduce *, hd_share, number *);
    void (*finish)(const hd_grouped *, const hd_reduce *, hd_share, const number *, int);
} numbered_loop;

#define LOOP(name, aggregate, type, nulls)                                                         \
    static void name##_add(const hd_grouped *g, const hd_reduce *r, hd_share h, number *cells)     \
    {                                                                                              \
        const shape s = {aggregate, type, 32, nulls};                                              \
        add_rows(s, g, r, h, cells);                                                               \
    }
#define FINISH(name, aggregate, type, nulls)                                                       \
    static void name##_finish(const hd_grouped *g, const hd_reduce *r, hd_share h,                 \
                              const number *cells, int threads)                                    \
    {                                                                                              \
        const shape s = {aggregate, type, 32, nulls};                                              \
        finish_groups(s, g, r, h, cells, threads);                                                 \
    }
#define LOOPS(name, aggregate, type)                                                               \
    LOOP(name, aggregate, type, false)                                                             \
    FINISH(name, aggregate, type, false)                                                           \
    LOOP(name##_nulls, aggregate, type, true)                                                      \
    FINISH(name##_nulls, aggregate, type, true)
#define LOOPS_OF_TYPE(name, type)                                                                  \
    LOOPS(sum_##name, HEDDLE_AGGREGATE_SUM, type)                                                  \
    LOOPS(min_##name, HEDDLE_AGGREGATE_MIN, type)                                                  \
    LOOPS(max_##name, HEDDLE_AGGREGATE_MAX, type)                                                  \
    LOOPS(mean_##name, HEDDLE_AGGREGATE_MEAN, type)

LOOPS_OF_TYPE(u32, HEDDLE_TYPE_U32)
LOOPS_OF_TYPE(i32, HEDDLE_TYPE_I32)
LOOPS_OF_TYPE(f32, HEDDLE_TYPE_F32)
LOOPS_OF_TYPE(u64, HEDDLE_TYPE_U64)
LOOPS_OF_TYPE(i64, HEDDLE_TYPE_I64)
LOOPS_OF_TYPE(f64, HEDDLE_TYPE_F64)
LOOPS(count, HEDDLE_AGGREGATE_COUNT, HEDDLE_TYPE_U64) /* does not look at values */

static numbered_loop choose(const shape *s)
{
#define TWO(name)                                                                                  \
    {                                                                                              \
        {name##_add, name##_finish}, { name##_nulls_add, name##_nulls_finish }                     \
    }
#define OF_TYPE(name)                                                                              \
    {                                                                                              \
        TWO(sum_##name), TWO(min_##name), TWO(max_##name), TWO(mean_##name)                        \
    }
    static const numbered_loop by_type[6][4][2] = {OF_TYPE(u32), OF_TYPE(i32), OF_TYPE(f32),
                                                   OF_TYPE(u64), OF_TYPE(i64), OF_TYPE(f64)};
    static const numbered_loop counts[2] = TWO(count);
    if (s->aggregate == HEDDLE_AGGREGATE_COUNT) return counts[s->nulls];
    return by_type[s->type - HEDDLE_TYPE_U32][s->aggregate - HEDDLE_AGGREGATE_SUM][s->nulls];
}

heddle_status hd_reduce_numbered_cpu(heddle_device *device, const hd_grouped *grouped,
                                     const hd_reduce *reduce, void *work)
{
    const shape s = {reduce->aggregate, reduce->type, 32, reduce->valid != NULL};
    const numbered_loop loop = choose(&s);
    number *cells = (number *)work;
#pragma omp parallel num_threads(hd_numbered_threads(device, grouped->n, grouped->groups))
    {
        loop.add(grouped, reduce, hd_share_of(grouped->n),
                 cells + cells_at(s, grouped, omp_get_thread_num()));
#pragma omp barrier
        loop.finish(grouped, reduce, hd_share_of(grouped->groups), cells, omp_get_num_threads());
    }
    return HEDDLE_OK;
}

/* ---------------------------------------------------------------------------------- rows in order */

HD_FN void order_share(const uint32_t *numbers, uint32_t row_bits, hd_share share, uint64_t *places,
                       void *rows)
{
    for (uint64_t i = share.begin; i < share.end; i++)
        hd_row_set(rows, row_bits, places[numbers[i]]++, i);
}

/* Turns the counts of all threads into the places of their first rows, for a share of the groups. */
static void find_places(const hd_grouped *grouped, hd_share share, uint64_t *counts, int threads)
{
    for (uint64_t g = share.begin; g < share.end; g++) {
        uint64_t at = grouped->starts[g];
        for (int t = 0; t < threads; t++) {
            uint64_t *place = &counts[(uint64_t)t * grouped->groups + g];
            const uint64_t count = *place;
            *place = at;
            at += count;
        }
    }
}

heddle_status hd_order_cpu(heddle_device *device, const hd_grouped *grouped, void *rows, void *work,
                           void *stream)
{
    uint64_t *counts = (uint64_t *)work;
    (void)stream;
#pragma omp parallel num_threads(hd_numbered_threads(device, grouped->n, grouped->groups))
    {
        const hd_share share = hd_share_of(grouped->n);
        uint64_t *mine = counts + (uint64_t)omp_get_thread_num() * grouped->groups;
        memset(mine, 0, grouped->groups * sizeof *mine);
        for (uint64_t i = share.begin; i < share.end; i++) mine[grouped->numbers[i]]++;
#pragma omp barrier
        find_places(grouped, hd_share_of(grouped->groups), counts, omp_get_num_threads());
#pragma omp barrier
        if (grouped->row_bits == 32) order_share(grouped->numbers, 32, share, mine, rows);
        else order_share(grouped->numbers, 64, share, mine, rows);
    }
    return HEDDLE_OK;
}
