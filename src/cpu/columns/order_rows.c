/*
 * order_rows.c: rows in the order of their groups on the CPU, where the group of every row is known by
 * number. Every thread counts the rows of each group in its share; that tells where each thread's rows of
 * each group go, and every thread puts them there. As shares ascend, so do the rows of a group.
 *
 * Rows of few groups are gathered in a line for every group and written a whole line at a time, past the
 * caches: else every row would have a line fetched first. More groups than that would need more lines
 * than the second-level cache holds.
 */
#include <string.h>

#include "cpu/columns/columns.h"

#define LINE 64
#define LINED_GROUPS 4096
#define LINED_ROWS 16 /* of a group, at least, on average in a thread's share */

/* One thread's part of the work. */
typedef struct order_work {
    char *lines;      /* of every group, where groups are few */
    uint64_t *places; /* by group: rows of the share, and then where the next one goes */
    uint64_t *firsts; /* by group, with lines: where the first one went */
} order_work;

static uint64_t with_lines(uint64_t groups)
{
    return groups * (LINE + 2 * sizeof(uint64_t)) + LINE;
}

static bool is_lined(uint64_t n, uint64_t groups, uint64_t threads)
{
    return groups <= LINED_GROUPS && groups * threads * LINED_ROWS <= n;
}

uint64_t hd_order_cpu_work(heddle_device *device, uint64_t n)
{
    const uint64_t threads = (uint64_t)hd_cpu_threads(device, n);
    const uint64_t all = threads * HD_NUMBERED_MOST, worth = n / 4;
    const uint64_t one = n < HD_NUMBERED_MOST ? n : HD_NUMBERED_MOST;
    const uint64_t shared = all < worth ? all : worth;
    const uint64_t plain = (one > shared ? one : shared) * sizeof(uint64_t);
    const uint64_t most = n / LINED_ROWS < LINED_GROUPS ? n / LINED_ROWS : LINED_GROUPS;
    const uint64_t lined = threads * with_lines(most) + LINE;
    return plain > lined ? plain : lined;
}

static order_work work_of(void *work, uint64_t groups, bool lined, uint64_t thread)
{
    order_work w = {NULL, NULL, NULL};
    if (lined) {
        const uint64_t bytes = with_lines(groups) / LINE * LINE;
        w.lines = (char *)(((uintptr_t)work + LINE - 1) / LINE * LINE) + thread * bytes;
        w.places = (uint64_t *)(void *)(w.lines + groups * LINE);
        w.firsts = w.places + groups;
    } else {
        w.places = (uint64_t *)work + thread * groups;
    }
    return w;
}

/* Turns the counts of all threads into the places of their first rows; `starts` those of groups. */
static void find_places(const hd_grouped *grouped, void *work, bool lined, int threads,
                        uint64_t *starts)
{
    uint64_t at = 0;
    for (uint64_t g = 0; g < grouped->groups; g++) {
        starts[g] = at;
        for (int t = 0; t < threads; t++) {
            uint64_t *place = &work_of(work, grouped->groups, lined, (uint64_t)t).places[g];
            const uint64_t count = *place;
            *place = at;
            at += count;
        }
    }
    starts[grouped->groups] = at;
}

HD_FN void put_rows(const uint32_t *numbers, uint32_t row_bits, hd_share share, const order_work *w,
                    void *rows)
{
    uint64_t *places = w->places;
    for (uint64_t i = share.begin; i < share.end; i++) {
        const uint64_t ahead = i + HD_ROWS_AHEAD < share.end ? i + HD_ROWS_AHEAD : i;
        __builtin_prefetch((char *)rows + places[numbers[ahead]] * (row_bits / 8), 1);
        hd_row_set(rows, row_bits, places[numbers[i]]++, i);
    }
}

/* Writes the line of rows whose last is before `end`; those before `first` are not ours. */
HD_FN void flush(void *rows, uint32_t row_bits, const char *line, uint64_t first, uint64_t end)
{
    const uint64_t rows_of = LINE * 8 / row_bits, begin = (end - 1) / rows_of * rows_of;
    char *out = (char *)rows + begin * (row_bits / 8);
    if (begin >= first && end - begin == rows_of && (uintptr_t)out % LINE == 0) {
        for (int i = 0; i < LINE; i += 16) hd_stream_16(out + i, line + i);
        return;
    }
    for (uint64_t i = begin > first ? begin : first; i < end; i++)
        hd_row_set(rows, row_bits, i, hd_row_at(line, row_bits, i - begin));
}

HD_FN void put_lines(const uint32_t *numbers, uint32_t row_bits, hd_share share, uint64_t groups,
                     const order_work *w, void *rows)
{
    const uint64_t rows_of = LINE * 8 / row_bits;
    memcpy(w->firsts, w->places, groups * sizeof *w->firsts);
    for (uint64_t i = share.begin; i < share.end; i++) {
        const uint32_t g = numbers[i];
        const uint64_t place = w->places[g];
        char *line = w->lines + (uint64_t)g * LINE;
        hd_row_set(line, row_bits, place % rows_of, i);
        w->places[g] = place + 1;
        if ((place + 1) % rows_of == 0) flush(rows, row_bits, line, w->firsts[g], place + 1);
    }
    for (uint64_t g = 0; g < groups; g++)
        if (w->places[g] % rows_of != 0 && w->places[g] != w->firsts[g])
            flush(rows, row_bits, w->lines + g * LINE, w->firsts[g], w->places[g]);
    hd_stream_end();
}

static void put_share(const hd_grouped *grouped, hd_share share, const order_work *w, void *rows)
{
    const uint32_t *numbers = grouped->numbers;
    if (w->lines != NULL && grouped->row_bits == 32)
        put_lines(numbers, 32, share, grouped->groups, w, rows);
    else if (w->lines != NULL) put_lines(numbers, 64, share, grouped->groups, w, rows);
    else if (grouped->row_bits == 32) put_rows(numbers, 32, share, w, rows);
    else put_rows(numbers, 64, share, w, rows);
}

heddle_status hd_order_cpu(hd_site on, const hd_grouped *grouped, uint64_t *starts, void *rows)
{
    const uint64_t groups = grouped->groups;
    const int wanted = hd_numbered_threads(on.device, grouped->n, groups);
    const bool lined = is_lined(grouped->n, groups, (uint64_t)wanted);
#pragma omp parallel num_threads(hd_cpu_team_of(wanted, grouped->n))
    {
        const hd_share share = hd_share_of(grouped->n);
        const order_work w = work_of(on.work, groups, lined, (uint64_t)omp_get_thread_num());
        memset(w.places, 0, groups * sizeof *w.places);
        for (uint64_t i = share.begin; i < share.end; i++) w.places[grouped->numbers[i]]++;
#pragma omp barrier
#pragma omp single
        find_places(grouped, on.work, lined, omp_get_num_threads(), starts);
        put_share(grouped, share, &w, rows);
    }
    return HEDDLE_OK;
}
