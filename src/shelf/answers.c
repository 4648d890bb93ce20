/* answers.c: the answers to sorted rows, and how they come into the order of the batch; see sorting.h. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/team.h"
#include "shelf/sorting.h"

#define PAGES_SHARE 8 /* of the memory may be pages of files that answers are delivered from */

heddle_status hd_answers_make(hd_sorting *s, void *user, uint32_t width, bool needed,
                              hd_answers *answers)
{
    memset(answers, 0, sizeof *answers);
    answers->spill.file = -1;
    answers->width = width;
    answers->user = (char *)user;
    if (width == 0 || (user == NULL && !needed)) return HEDDLE_OK;
    if (s->direct && user != NULL) {
        answers->memory = answers->user;
        return HEDDLE_OK;
    }
    HD_TRY(hd_spill_make(s->shelf, s->n * width, s->in_files, &answers->spill));
    answers->memory = answers->spill.memory;
    return HEDDLE_OK;
}

void hd_answers_free(hd_answers *answers)
{
    hd_spill_free(&answers->spill);
    answers->memory = NULL;
}

/* ---------------------------------------------------------------------------------------- runs */

/* The runs of one slice, whose places are worked on by several threads. */
static void take_slice(hd_sorting *s, uint64_t number, uint64_t *at, const hd_run_walk *walk)
{
    const uint32_t *runs = hd_sorting_lengths(s, number);
    const uint32_t *rows = (const uint32_t *)(const void *)s->rows.memory;
    const int threads = s->slice > 1 << 14 ? hd_team(s->shelf->threads) : 1;
#pragma omp parallel for schedule(dynamic, 16) num_threads(threads)
    for (uint32_t i = 0; i < s->place_count; i++) {
        const hd_run run = {number * s->slice, rows + at[i], at[i], runs[i], i};
        if (runs[i] != 0) walk->take(walk->context, &run);
        at[i] += runs[i];
    }
}

/* A slice reads a little of every place, so that all pages are in use for as long; now and then all are given up. */
static void give_up(const hd_sorting *s, const hd_run_walk *walk)
{
    hd_spill_done(&s->rows, 0, s->rows.bytes);
    hd_spill_done(&s->runs, 0, s->runs.bytes);
    for (uint32_t i = 0; i < 2; i++) hd_spill_done(walk->read[i], 0, walk->read[i]->bytes);
}

heddle_status hd_sorting_runs(hd_sorting *s, const hd_run_walk *walk)
{
    const uint64_t most = s->shelf->memory / PAGES_SHARE;
    uint64_t *at HD_FREED = (uint64_t *)hd_allocate((s->place_count + UINT64_C(1)) * sizeof *at);
    uint64_t touched = 0;
    if (at == NULL) return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory to deliver answers");
    for (uint32_t i = 0; i < s->place_count; i++) at[i] = s->places[i].at;
    for (uint64_t i = 0; i < s->slices; i++) {
        HD_TRY(hd_shelf_progress(s->shelf, HEDDLE_SHELF_DELIVER, i * s->slice, s->n));
        take_slice(s, i, at, walk);
        touched += s->slice * (walk->row_bytes + sizeof(uint32_t));
        if (touched <= most) continue;
        give_up(s, walk);
        touched = 0;
    }
    give_up(s, walk);
    return hd_shelf_progress(s->shelf, HEDDLE_SHELF_DELIVER, s->n, s->n);
}

/* -------------------------------------------------------------------------------------- deliver */

typedef struct delivering {
    const hd_answers *flags, *masked;
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

heddle_status hd_answers_deliver(hd_sorting *s, const hd_answers *flags, const hd_answers *masked)
{
    delivering d = {flags, masked};
    const hd_run_walk walk = {
        deliver_run, &d, {&flags->spill, &masked->spill}, flags->width + masked->width};
    if (s->direct || (flags->user == NULL && masked->user == NULL)) return HEDDLE_OK;
    return hd_sorting_runs(s, &walk);
}
