/*
 * deliver.c: the CPU's step that brings lists into the order of the questions (engine/columns.h), and the one that
 * says in numbers of the asking side what answers are about.
 */
#include <string.h>

#include "cpu/columns/columns.h"

/* The list that holds the element `at`, or that begins behind it. */
static uint64_t list_at(const hd_answer_lists *l, uint64_t at)
{
    uint64_t low = 0, high = l->n; /* starts[low] <= at < starts[high] */
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;
        if (l->starts[middle] <= at) low = middle;
        else high = middle;
    }
    return low;
}

/* A share of the elements, not of the lists: one of them may be longer than all others together. */
heddle_status hd_deliver_lists_cpu(hd_site on, const hd_answer_lists *lists)
{
    if (lists->elements == 0) return HEDDLE_OK;
#pragma omp parallel num_threads(hd_cpu_team(on.device, lists->elements))
    {
        const hd_share share = hd_share_of(lists->elements);
        uint64_t at = share.begin;
        for (uint64_t i = at < share.end ? list_at(lists, at) : 0; at < share.end; i++) {
            const uint64_t begin = lists->starts[i], stop = lists->starts[i + 1];
            const uint64_t end = stop < share.end ? stop : share.end;
            if (end <= at) continue;
            const uint64_t to = lists->places[i] - lists->base + (at - begin);
            memcpy((char *)lists->out + to * lists->width,
                   (const char *)lists->from + at * lists->width, (end - at) * lists->width);
            at = end;
        }
    }
    return HEDDLE_OK;
}

/* ------------------------------------------------------------------------------------ renumber */

/* A thread's share; the numbers of bits are constants. */
HD_FN void renumber_share(hd_row_numbers from, uint32_t row_bits, hd_names to, uint32_t out_bits,
                          void *out)
{
    const hd_share share = hd_share_of(from.n);
    const void *rows = from.numbers, *names = to.names;
    const uint64_t base = to.base;
    const uint64_t none = row_bits == 32 ? UINT32_MAX : UINT64_MAX;
    for (uint64_t i = share.begin; i < share.end; i++) {
        const uint64_t row = hd_row_at(rows, row_bits, i);
        if (names != NULL && i + HD_ROWS_AHEAD < share.end) {
            const uint64_t ahead = hd_row_at(rows, row_bits, i + HD_ROWS_AHEAD);
            if (ahead != none) __builtin_prefetch((const char *)names + ahead * (out_bits / 8));
        }
        hd_row_set(out, out_bits, i,
                   row == none     ? UINT64_MAX
                   : names == NULL ? base + row
                                   : base + hd_row_at(names, out_bits, row));
    }
}

heddle_status hd_renumber_cpu(hd_site on, hd_row_numbers rows, hd_names names, void *out)
{
#pragma omp parallel num_threads(hd_cpu_team(on.device, rows.n))
    {
        if (rows.bits == 32 && names.bits == 32) renumber_share(rows, 32, names, 32, out);
        else if (rows.bits == 32) renumber_share(rows, 32, names, 64, out);
        else if (names.bits == 32) renumber_share(rows, 64, names, 32, out);
        else renumber_share(rows, 64, names, 64, out);
    }
    return HEDDLE_OK;
}
