/*
 * reduce_numbered.c: aggregates by group on the CPU where the group of every row is known by number.
 *
 * Every thread goes through its share of the rows as they lie and has a cell for every group; the cells
 * of all threads are brought together in the end. A cell holds what the aggregate needs: a sum, a count of
 * values, or both. Groups without a row do not exist, so that sums need no count where there are no nulls.
 * Nulls go to a cell behind those of the groups, so that no branch has to guess where they are. Of very few
 * groups a thread has several sets of cells and takes turns, so that a row seldom waits for the one before.
 */
#include <string.h>

#include "cpu/columns/reduce_value.h"

#define LANES 4          /* sets of cells of a thread */
#define LANED_GROUPS 255 /* at most: their cells stay in the first-level cache */
#define LINE (64 / sizeof(number))

uint64_t hd_numbered_cpu_work(heddle_device *device, uint64_t n)
{
    const uint64_t threads = (uint64_t)hd_cpu_threads(device, n);
    const uint64_t all = threads * HD_NUMBERED_MOST, worth = n / 4;
    const uint64_t one = n < HD_NUMBERED_MOST ? n : HD_NUMBERED_MOST;
    const uint64_t shared = all < worth ? all : worth;
    const uint64_t laned = threads * LANES * (LANED_GROUPS + 1);
    const uint64_t sets = threads * LANES * 2 * LINE;
    return (2 * ((one > shared ? one : shared) + laned) + sets) * sizeof(number);
}

HD_FN bool has_sum(shape s) { return s.aggregate != HEDDLE_AGGREGATE_COUNT; }
HD_FN bool has_count(shape s)
{
    return s.nulls || s.aggregate == HEDDLE_AGGREGATE_COUNT || s.aggregate == HEDDLE_AGGREGATE_MEAN;
}
HD_FN uint32_t cell_width(shape s) { return has_sum(s) && has_count(s) ? 2 : 1; }

static uint32_t lanes_of(const hd_grouped *grouped)
{
    return grouped->groups <= LANED_GROUPS ? LANES : 1;
}

/* A set of cells, a line apart from the next, so that no line is two threads'. */
HD_FN uint64_t set_size(shape s, const hd_grouped *grouped)
{
    return ((grouped->groups + 1) * cell_width(s) + LINE - 1) / LINE * LINE + LINE;
}

HD_FN void add_row(shape s, const hd_grouped *grouped, const hd_reduce *r, uint64_t i,
                   number *cells)
{
    const uint64_t there = s.nulls ? 0 - (uint64_t)(r->valid[i] != 0) : UINT64_MAX;
    const uint64_t g = (grouped->numbers[i] & there) | (grouped->groups & ~there);
    number *cell = cells + g * cell_width(s);
    if (has_count(s)) cell[cell_width(s) - 1].u++;
    if (has_sum(s)) cell[0] = take(s, cell[0], value_to_take(s, r->column, i));
}

/* A thread's share of the rows, to its sets of cells. */
HD_FN void add_rows(shape s, const hd_grouped *grouped, const hd_reduce *r, hd_share share,
                    number *cells)
{
    const hd_grouped local = *grouped; /* nobody writes there, but cells could be anywhere */
    const hd_reduce reduce = *r;
    const uint32_t lanes = lanes_of(grouped), width = cell_width(s);
    const uint64_t apart = lanes == 1 ? 0 : set_size(s, grouped);
    uint64_t i = share.begin;
    for (uint32_t lane = 0; lane < lanes; lane++)
        for (uint64_t g = 0; g <= local.groups; g++) {
            number *cell = cells + lane * apart + g * width;
            if (has_sum(s)) cell[0] = nothing(s);
            if (has_count(s)) cell[width - 1].u = 0;
        }
    for (; i + LANES <= share.end; i += LANES)
        for (uint64_t lane = 0; lane < LANES; lane++)
            add_row(s, &local, &reduce, i + lane, cells + lane * apart);
    for (; i < share.end; i++) add_row(s, &local, &reduce, i, cells);
}

/* Groups [share) of all sets of cells. */
HD_FN void finish_groups(shape s, const hd_grouped *grouped, const hd_reduce *r, hd_share share,
                         const number *cells, uint64_t sets)
{
    const uint32_t width = cell_width(s);
    const uint64_t size = set_size(s, grouped);
    for (uint64_t g = share.begin; g < share.end; g++) {
        partial all = {nothing(s), 0, g};
        for (uint64_t i = 0; i < sets; i++) {
            const number *cell = cells + i * size + g * width;
            /* Without counts, a set that has no value of the group has a sum that changes nothing. */
            const partial p = {cell[0], has_count(s) ? cell[width - 1].u : 1, g};
            partial_add(s, &all, &p);
        }
        result_set(s, r, g, &all);
    }
}

/* ------------------------------------------------- one compiled loop for each shape that matters */

typedef struct numbered_loop {
    void (*add)(const hd_grouped *, const hd_reduce *, hd_share, number *);
    void (*finish)(const hd_grouped *, const hd_reduce *, hd_share, const number *, uint64_t);
} numbered_loop;

#define LOOP(name, aggregate, type, nulls)                                                         \
    static void name##_add(const hd_grouped *g, const hd_reduce *r, hd_share h, number *cells)     \
    {                                                                                              \
        const shape s = {aggregate, type, 32, nulls};                                              \
        add_rows(s, g, r, h, cells);                                                               \
    }
#define FINISH(name, aggregate, type, nulls)                                                       \
    static void name##_finish(const hd_grouped *g, const hd_reduce *r, hd_share h,                 \
                              const number *cells, uint64_t sets)                                  \
    {                                                                                              \
        const shape s = {aggregate, type, 32, nulls};                                              \
        finish_groups(s, g, r, h, cells, sets);                                                    \
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

heddle_status hd_reduce_numbered_cpu(hd_site on, const hd_grouped *grouped, const hd_reduce *reduce)
{
    const shape s = {reduce->aggregate, reduce->type, 32, reduce->valid != NULL};
    const numbered_loop loop = choose(&s);
    number *cells = (number *)on.work;
    const int most = hd_numbered_threads(on.device, grouped->n, grouped->groups);
    const int threads = hd_cpu_team_of(most, grouped->n);
#pragma omp parallel num_threads(threads)
    {
        const uint64_t lanes = lanes_of(grouped), me = (uint64_t)omp_get_thread_num();
        loop.add(grouped, reduce, hd_share_of(grouped->n),
                 cells + me * lanes * set_size(s, grouped));
#pragma omp barrier
        loop.finish(grouped, reduce, hd_share_of(grouped->groups), cells,
                    lanes * (uint64_t)omp_get_num_threads());
    }
    return HEDDLE_OK;
}
