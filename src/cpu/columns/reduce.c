/*
 * reduce.c: aggregates of a column by group on the CPU.
 *
 * Every thread has an equal share of the grouped rows, wherever groups begin and end, so that one large
 * group is shared like many small ones. Groups that lie in one share are done there. The sums of the
 * group at each end of a share are kept, and brought together when all threads are through.
 *
 * Few large groups are another matter: the rows of each are spread over the whole column, so that every
 * line of it would be fetched for many groups. There a thread has a share of the column instead, and takes
 * it in blocks that stay in the second-level cache: for each block the rows of all groups in it.
 */
#include "cpu/columns/reduce_value.h"

/* What a thread leaves of the groups that it shares with others. */
typedef struct ends {
    partial first, last;
    char apart[16];
} ends;

#define FEW_GROUPS 4096
#define BLOCK_BYTES (UINT64_C(1) << 19) /* of a column */
#define BLOCK_GROUP 16 /* rows of a group in a block, at least, so that blocks are worth it */

/* What a thread has of few groups, whose rows from `next` on it has not seen yet. */
typedef struct few {
    partial sums[FEW_GROUPS];
    uint64_t next[FEW_GROUPS];
} few;

uint64_t hd_reduce_cpu_work(int threads)
{
    return (uint64_t)threads * (sizeof(few) > sizeof(ends) ? sizeof(few) : sizeof(ends));
}

/* The values of grouped rows [begin, end). `limit` bounds what may be fetched ahead. */
HD_FN partial reduce_rows(shape s, const hd_grouped *grouped, const hd_reduce *r, uint64_t begin,
                          uint64_t end, uint64_t limit)
{
    const bool values = s.aggregate != HEDDLE_AGGREGATE_COUNT;
    const uint32_t width = width_of(s.type);
    partial p = {nothing(s), s.nulls ? 0 : end - begin, 0};
    if (!values && !s.nulls) return p;
    for (uint64_t i = begin; i < end; i++) {
        const uint64_t row = hd_row_at(grouped->rows, s.row_bits, i);
        const uint64_t next =
            hd_row_at(grouped->rows, s.row_bits, i + HD_ROWS_AHEAD < limit ? i + HD_ROWS_AHEAD : i);
        if (values) __builtin_prefetch((const char *)r->column + next * width);
        if (s.nulls) {
            __builtin_prefetch(r->valid + next);
            if (r->valid[row] == 0) continue;
            p.count++;
        }
        if (!values) continue;
        p.sum = take(s, p.sum, value_to_take(s, r->column, row));
    }
    return p;
}

/* One thread's share: whole groups are finished, the others kept in `mine`. */
HD_FN void reduce_share(shape s, const hd_grouped *grouped, const hd_reduce *r, hd_share share,
                        ends *mine)
{
    const uint64_t *starts = grouped->starts;
    uint64_t g = hd_group_at(grouped, share.begin);
    uint64_t begin = share.begin;
    for (; begin < share.end; g++) {
        const uint64_t end = starts[g + 1] < share.end ? starts[g + 1] : share.end;
        partial p = reduce_rows(s, grouped, r, begin, end, share.end);
        p.group = g;
        if (begin != starts[g]) mine->first = p;
        else if (end != starts[g + 1]) mine->last = p;
        else result_set(s, r, g, &p);
        begin = end;
    }
}

/* ----------------------------------------------------------------------------- few large groups */

static uint64_t block_rows(uint32_t type) { return BLOCK_BYTES / width_of(type); }

static bool is_few(const shape *s, const hd_grouped *grouped)
{
    const uint64_t block = block_rows(s->type);
    return s->aggregate != HEDDLE_AGGREGATE_COUNT && grouped->groups <= FEW_GROUPS &&
           grouped->groups * BLOCK_GROUP <= block && grouped->n > 4 * block &&
           grouped->groups > 1; /* one group goes through the column in order anyway */
}

/* The first position from `low` to `high` whose row is not less than `row`. */
static uint64_t position_of(const hd_grouped *grouped, uint64_t low, uint64_t high, uint64_t row)
{
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (hd_row_at(grouped->rows, grouped->row_bits, middle) < row) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* Rows of one group up to `limit`, a row of the column. */
HD_FN void reduce_block(shape s, const hd_grouped *grouped, const hd_reduce *r, uint64_t end,
                        uint64_t limit, uint64_t *next, partial *p)
{
    uint64_t i = *next, count = p->count;
    number sum = p->sum;
    for (; i < end; i++) {
        const uint64_t row = hd_row_at(grouped->rows, s.row_bits, i);
        if (row >= limit) break;
        if (s.nulls && r->valid[row] == 0) continue;
        count++;
        sum = take(s, sum, value_to_take(s, r->column, row));
    }
    *next = i;
    p->sum = sum;
    p->count = count;
}

/* All groups' rows in a share of the column. */
HD_FN void reduce_few(shape s, const hd_grouped *grouped, const hd_reduce *r, hd_share share,
                      few *mine)
{
    const uint64_t *starts = grouped->starts, block = BLOCK_BYTES / width_of(s.type);
    for (uint64_t g = 0; g < grouped->groups; g++) {
        const partial none = {nothing(s), 0, g};
        mine->sums[g] = none;
        mine->next[g] = position_of(grouped, starts[g], starts[g + 1], share.begin);
    }
    for (uint64_t at = share.begin; at < share.end; at += block) {
        const uint64_t limit = share.end - at < block ? share.end : at + block;
        for (uint64_t g = 0; g < grouped->groups; g++)
            reduce_block(s, grouped, r, starts[g + 1], limit, &mine->next[g], &mine->sums[g]);
    }
}

/* ------------------------------------------------------------------------ bringing shares together */

/* Adds what one thread has of a group to what those before it have; a new group ends the one before. */
static void add_partial(const shape *s, const hd_reduce *r, partial *all, const partial *p)
{
    if (p->group == UINT64_MAX) return;
    if (all->group == p->group) {
        partial_add(*s, all, p);
    } else {
        if (all->group != UINT64_MAX) result_set(*s, r, all->group, all);
        *all = *p;
    }
}

/* ------------------------------------------------- one compiled loop for each shape that matters */

/* `few` is NULL where groups are many. */
typedef void (*share_function)(const hd_grouped *, const hd_reduce *, hd_share, ends *, few *);

#define SHARE(name, aggregate, type, bits, nulls)                                                  \
    static void name(const hd_grouped *grouped, const hd_reduce *r, hd_share share, ends *mine,    \
                     few *some)                                                                    \
    {                                                                                              \
        const shape s = {aggregate, type, bits, nulls};                                            \
        if (some != NULL) reduce_few(s, grouped, r, share, some);                                  \
        else reduce_share(s, grouped, r, share, mine);                                             \
    }
#define SHARES(name, aggregate, type)                                                              \
    SHARE(name##_32, aggregate, type, 32, false)                                                   \
    SHARE(name##_64, aggregate, type, 64, false)                                                   \
    SHARE(name##_32_nulls, aggregate, type, 32, true)                                              \
    SHARE(name##_64_nulls, aggregate, type, 64, true)
#define SHARES_OF_TYPE(name, type)                                                                 \
    SHARES(sum_##name, HEDDLE_AGGREGATE_SUM, type)                                                 \
    SHARES(min_##name, HEDDLE_AGGREGATE_MIN, type)                                                 \
    SHARES(max_##name, HEDDLE_AGGREGATE_MAX, type)                                                 \
    SHARES(mean_##name, HEDDLE_AGGREGATE_MEAN, type)

SHARES_OF_TYPE(u32, HEDDLE_TYPE_U32)
SHARES_OF_TYPE(i32, HEDDLE_TYPE_I32)
SHARES_OF_TYPE(f32, HEDDLE_TYPE_F32)
SHARES_OF_TYPE(u64, HEDDLE_TYPE_U64)
SHARES_OF_TYPE(i64, HEDDLE_TYPE_I64)
SHARES_OF_TYPE(f64, HEDDLE_TYPE_F64)
SHARES(count, HEDDLE_AGGREGATE_COUNT, HEDDLE_TYPE_U64) /* does not look at values */

static share_function choose(const shape *s)
{
#define FOUR(name)                                                                                 \
    {                                                                                              \
        name##_32, name##_32_nulls, name##_64, name##_64_nulls                                     \
    }
#define OF_TYPE(name)                                                                              \
    {                                                                                              \
        FOUR(sum_##name), FOUR(min_##name), FOUR(max_##name), FOUR(mean_##name)                    \
    }
    static const share_function by_type[6][4][4] = {OF_TYPE(u32), OF_TYPE(i32), OF_TYPE(f32),
                                                    OF_TYPE(u64), OF_TYPE(i64), OF_TYPE(f64)};
    static const share_function counts[4] = FOUR(count);
    const int of_four = (s->row_bits == 64 ? 2 : 0) + (s->nulls ? 1 : 0);
    if (s->aggregate == HEDDLE_AGGREGATE_COUNT) return counts[of_four];
    return by_type[s->type - HEDDLE_TYPE_U32][s->aggregate - HEDDLE_AGGREGATE_SUM][of_four];
}

/* Calls `reduce_mine` for every thread; returns how many there were. */
static int reduce_shares(heddle_device *device, const hd_grouped *grouped, const hd_reduce *reduce,
                         share_function reduce_mine, ends *all, few *some)
{
    int threads = 1;
#pragma omp parallel num_threads(hd_cpu_team(device, grouped->n))
    {
        const int me = omp_get_thread_num();
        const hd_share share = hd_share_of(grouped->n);
        if (some == NULL) all[me].first.group = all[me].last.group = UINT64_MAX;
#pragma omp single nowait
        threads = omp_get_num_threads();
        if (share.begin < share.end)
            reduce_mine(grouped, reduce, share, some == NULL ? &all[me] : NULL,
                        some == NULL ? NULL : &some[me]);
    }
    return threads;
}

heddle_status hd_reduce_cpu(hd_site on, const hd_grouped *grouped, const hd_reduce *reduce)
{
    const shape s = {reduce->aggregate, reduce->type, grouped->row_bits, reduce->valid != NULL};
    few *some = is_few(&s, grouped) ? (few *)on.work : NULL;
    ends *all = (ends *)on.work;
    partial sum = {{0}, 0, UINT64_MAX};
    int threads;
    if (grouped->numbers != NULL) return hd_reduce_numbered_cpu(on, grouped, reduce);
    threads = reduce_shares(on.device, grouped, reduce, choose(&s), all, some);
    for (uint64_t g = 0; some != NULL && g < grouped->groups; g++)
        for (int t = 0; t < threads; t++) add_partial(&s, reduce, &sum, &some[t].sums[g]);
    for (int t = 0; some == NULL && t < threads; t++) {
        add_partial(&s, reduce, &sum, &all[t].first);
        add_partial(&s, reduce, &sum, &all[t].last);
    }
    if (sum.group != UINT64_MAX) result_set(s, reduce, sum.group, &sum);
    return HEDDLE_OK;
}
