/* grouped.c: the CPU's steps that walk over rows in groups: numbers of groups for rows, and the rows
 * and sizes of groups. */
#include "cpu/columns/columns.h"

HD_FN void number_share(const hd_grouped *grouped, uint32_t row_bits, const void *names,
                        hd_share share, void *out)
{
    uint64_t g = hd_group_at(grouped, share.begin), i = share.begin;
    const uint32_t width = row_bits / 8;
    while (i < share.end) {
        const uint64_t stop =
            grouped->starts[g + 1] < share.end ? grouped->starts[g + 1] : share.end;
        const uint64_t name = names != NULL ? hd_row_at(names, row_bits, g) : g;
        for (; i < stop; i++) {
            const uint64_t ahead = i + HD_ROWS_AHEAD < share.end ? i + HD_ROWS_AHEAD : i;
            __builtin_prefetch((char *)out + hd_row_at(grouped->rows, row_bits, ahead) * width, 1);
            hd_row_set(out, row_bits, hd_row_at(grouped->rows, row_bits, i), name);
        }
        g++;
    }
}

/* Groups known by number: rows as they come. */
HD_FN void copy_share(const uint32_t *numbers, uint32_t row_bits, const void *names, hd_share share,
                      void *out)
{
    for (uint64_t i = share.begin; i < share.end; i++)
        hd_row_set(out, row_bits, i,
                   names != NULL ? hd_row_at(names, row_bits, numbers[i]) : numbers[i]);
}

heddle_status hd_number_cpu(hd_site on, const hd_grouped *grouped, const void *names, void *out)
{
#pragma omp parallel num_threads(hd_cpu_team(on.device, grouped->n))
    {
        const hd_share share = hd_share_of(grouped->n);
        if (share.begin == share.end) {
        } else if (grouped->numbers != NULL) {
            if (grouped->row_bits == 32) copy_share(grouped->numbers, 32, names, share, out);
            else copy_share(grouped->numbers, 64, names, share, out);
        } else if (grouped->row_bits == 32) number_share(grouped, 32, names, share, out);
        else number_share(grouped, 64, names, share, out);
    }
    return HEDDLE_OK;
}

heddle_status hd_describe_cpu(hd_site on, const hd_grouped *grouped, void *firsts, void *lasts,
                              uint64_t *counts)
{
    const uint32_t bits = grouped->row_bits;
    const uint64_t *starts = grouped->starts;
#pragma omp parallel for schedule(static) num_threads(hd_cpu_team(on.device, grouped->groups))
    for (uint64_t g = 0; g < grouped->groups; g++) {
        if (firsts != NULL)
            hd_row_set(firsts, bits, g,
                       grouped->firsts != NULL ? hd_row_at(grouped->firsts, bits, g)
                                               : hd_row_at(grouped->rows, bits, starts[g]));
        if (lasts != NULL)
            hd_row_set(lasts, bits, g, hd_row_at(grouped->rows, bits, starts[g + 1] - 1));
        if (counts != NULL) counts[g] = starts[g + 1] - starts[g];
    }
    return HEDDLE_OK;
}
