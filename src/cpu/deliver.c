/*
 * deliver.c: the CPU's steps that bring answers into the order of the questions (engine/columns.h). Batches
 * go in slices whose answers stay in the cache, so these are plain scatters.
 */
#include <string.h>

#include "cpu/columns_cpu.h"

/* The places of a slice are written in random order: its lines are better there before. */
#define LINE 64
#define AHEAD_MAX (UINT64_C(1) << 20) /* bytes that fit the cache */

static void bring_near(const char *memory, uint64_t bytes)
{
    if (bytes > AHEAD_MAX) return;
    for (uint64_t at = 0; at < bytes; at += LINE) __builtin_prefetch(memory + at, 1);
}

/* `width` and `flags` are constants: the copy is then one move. */
HD_FN void deliver_share(const hd_answers *a, uint32_t width, bool flags, hd_share share)
{
    char *out = (char *)a->values_out;
    const char *values = (const char *)a->values;
    for (uint64_t i = share.begin; i < share.end; i++) {
        const uint64_t row = a->rows[i];
        const uint8_t found = a->found[i];
        if (flags) a->found_out[row] = found;
        if (width != 0 && found != 0) memcpy(out + row * width, values + i * width, width);
    }
}

static void deliver_any(const hd_answers *a, hd_share share)
{
    const uint32_t width = a->values_out != NULL ? a->width : 0;
    const bool flags = a->found_out != NULL;
    if (width == 4 && flags) deliver_share(a, 4, true, share);
    else if (width == 4) deliver_share(a, 4, false, share);
    else if (width == 8 && flags) deliver_share(a, 8, true, share);
    else if (width == 8) deliver_share(a, 8, false, share);
    else if (flags) deliver_share(a, 0, true, share);
}

heddle_status hd_deliver_cpu(heddle_device *device, const hd_answers *answers, void *stream)
{
    const int threads = hd_cpu_threads(device, answers->n);
    (void)stream;
    if (threads == 1 && answers->values_out != NULL)
        bring_near((const char *)answers->values_out, answers->n * answers->width);
    if (threads == 1 && answers->found_out != NULL)
        bring_near((const char *)answers->found_out, answers->n);
#pragma omp parallel num_threads(threads)
    deliver_any(answers, hd_share_of(answers->n));
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
