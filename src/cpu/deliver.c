/*
 * deliver.c: the CPU's steps that bring answers into the order of the questions (engine/columns.h). Batches
 * go in slices whose answers stay in the cache, so these are plain scatters.
 */
#include <string.h>

#include "cpu/columns_cpu.h"

/* `width` is a constant: the copy is then one move. */
HD_FN void deliver_share(const hd_answers *a, uint32_t width, hd_share share)
{
    char *out = (char *)a->values_out;
    const char *values = (const char *)a->values;
    for (uint64_t i = share.begin; i < share.end; i++) {
        const uint64_t row = a->rows[i];
        if (a->found[i] != 0) memcpy(out + row * width, values + i * width, width);
    }
}

static void deliver_flags(const hd_answers *a, hd_share share)
{
    for (uint64_t i = share.begin; i < share.end; i++) a->found_out[a->rows[i]] = a->found[i];
}

heddle_status hd_deliver_cpu(heddle_device *device, const hd_answers *answers, void *stream)
{
    (void)stream;
#pragma omp parallel num_threads(hd_cpu_threads(device, answers->n))
    {
        const hd_share share = hd_share_of(answers->n);
        if (answers->values_out != NULL && answers->width == 4) deliver_share(answers, 4, share);
        else if (answers->values_out != NULL) deliver_share(answers, 8, share);
        if (answers->found_out != NULL) deliver_flags(answers, share);
    }
    return HEDDLE_OK;
}

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
heddle_status hd_deliver_lists_cpu(heddle_device *device, const hd_answer_lists *lists,
                                   void *stream)
{
    (void)stream;
    if (lists->elements == 0) return HEDDLE_OK;
#pragma omp parallel num_threads(hd_cpu_threads(device, lists->elements))
    {
        const hd_share share = hd_share_of(lists->elements);
        uint64_t at = share.begin;
        for (uint64_t i = at < share.end ? list_at(lists, at) : 0; at < share.end; i++) {
            const uint64_t begin = lists->starts[i], stop = lists->starts[i + 1];
            const uint64_t end = stop < share.end ? stop : share.end;
            if (end <= at) continue;
            const uint64_t to = lists->places[lists->rows[i]] - lists->base + (at - begin);
            memcpy((char *)lists->out + to * lists->width,
                   (const char *)lists->from + at * lists->width, (end - at) * lists->width);
            at = end;
        }
    }
    return HEDDLE_OK;
}
