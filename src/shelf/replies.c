/* replies.c: the answers to sorted rows, and how they come into the order of the batch; see sorting.h. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "shelf/sorting.h"

#define PAGES_SHARE 8 /* of the memory may be pages of files that answers are delivered from */

heddle_status hd_replies_make(hd_sorting *s, void *user, uint32_t width, bool needed,
                              hd_replies *answers)
{
    heddle_status status;
    memset(answers, 0, sizeof *answers);
    answers->spill.file = -1;
    answers->width = width;
    answers->user = (char *)user;
    if (width == 0 || (user == NULL && !needed)) return HEDDLE_OK;
    if (s->direct && user != NULL) {
        answers->memory = answers->user;
        return HEDDLE_OK;
    }
    status = hd_spill_make(s->shelf, s->n * width, s->in_files, &answers->spill);
    answers->memory = answers->spill.memory;
    return status;
}

void hd_replies_free(hd_replies *answers)
{
    hd_spill_free(&answers->spill);
    answers->memory = NULL;
}

/* ---------------------------------------------------------------------------------------- runs */

/* The runs of one slice, whose places are worked on by several threads. */
static void take_slice(hd_sorting *s, uint64_t number, uint64_t *at, hd_run_take take,
                       void *context)
{
    const uint32_t *runs = hd_sorting_lengths(s, number);
    const uint32_t *rows = (const uint32_t *)(const void *)s->rows.memory;
#pragma omp parallel for schedule(dynamic, 16) if (s->slice > 1 << 14)                             \
    num_threads(s->shelf->threads)
    for (uint32_t i = 0; i < s->place_count; i++) {
        const hd_run run = {number * s->slice, rows + at[i], at[i], runs[i], i};
        if (runs[i] != 0) take(context, &run);
        at[i] += runs[i];
    }
}

/* A slice reads a little of every place, so that all pages are in use for as long; now and then all are given up. */
static void give_up(const hd_sorting *s, const hd_spill *const *read, uint32_t count)
{
    hd_spill_done(&s->rows, 0, s->rows.bytes);
    hd_spill_done(&s->runs, 0, s->runs.bytes);
    for (uint32_t i = 0; i < count; i++) hd_spill_done(read[i], 0, read[i]->bytes);
}

heddle_status hd_sorting_runs(hd_sorting *s, hd_run_take take, void *context,
                              const hd_spill *const *read, uint32_t count, uint32_t row_bytes)
{
    const uint64_t most = s->shelf->memory / PAGES_SHARE;
    uint64_t touched = 0, *at;
    heddle_status status = HEDDLE_OK;
    at = (uint64_t *)hd_allocate((s->place_count + UINT64_C(1)) * sizeof *at);
    if (at == NULL) return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory to deliver answers");
    for (uint32_t i = 0; i < s->place_count; i++) at[i] = s->places[i].at;
    for (uint64_t i = 0; i < s->slices && status == HEDDLE_OK; i++) {
        status = hd_shelf_progress(s->shelf, HEDDLE_SHELF_DELIVER, i * s->slice, s->n);
        if (status == HEDDLE_OK) take_slice(s, i, at, take, context);
        touched += s->slice * (row_bytes + sizeof(uint32_t));
        if (touched <= most) continue;
        give_up(s, read, count);
        touched = 0;
    }
    give_up(s, read, count);
    if (status == HEDDLE_OK) status = hd_shelf_progress(s->shelf, HEDDLE_SHELF_DELIVER, s->n, s->n);
    free(at);
    return status;
}

/* -------------------------------------------------------------------------------------- deliver */

typedef struct delivering {
    const hd_replies *flags, *masked;
} delivering;

/* hd_run_take. */
static void deliver_run(void *context, const hd_run *run)
{
    const delivering *d = (const delivering *)context;
    const uint8_t *flags = (const uint8_t *)d->flags->memory;
    if (d->flags->user != NULL)
        for (uint64_t i = 0; i < run->count; i++)
            ((uint8_t *)d->flags->user)[run->base + run->rows[i]] = flags[run->at + i];
    if (d->masked->user == NULL) return;
    if (d->masked->width == 4) {
        uint32_t *to = (uint32_t *)(void *)d->masked->user + run->base;
        const uint32_t *from = (const uint32_t *)(const void *)d->masked->memory + run->at;
        for (uint64_t i = 0; i < run->count; i++)
            if (flags == NULL || flags[run->at + i] != 0) to[run->rows[i]] = from[i];
    } else {
        uint64_t *to = (uint64_t *)(void *)d->masked->user + run->base;
        const uint64_t *from = (const uint64_t *)(const void *)d->masked->memory + run->at;
        for (uint64_t i = 0; i < run->count; i++)
            if (flags == NULL || flags[run->at + i] != 0) to[run->rows[i]] = from[i];
    }
}

heddle_status hd_replies_deliver(hd_sorting *s, const hd_replies *flags, const hd_replies *masked)
{
    const hd_spill *const read[] = {&flags->spill, &masked->spill};
    delivering d = {flags, masked};
    if (s->direct || (flags->user == NULL && masked->user == NULL)) return HEDDLE_OK;
    return hd_sorting_runs(s, deliver_run, &d, read, 2, flags->width + masked->width);
}
