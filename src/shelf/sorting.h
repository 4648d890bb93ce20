/*
 * sorting.h: a batch, sorted by where its keys belong.
 *
 * A place is a range of bins to which rows are sorted. A question has a place for every part. An insertion
 * divides a part that may become too large into several places, so that what follows can cut it between any two
 * (fill.c). The rows of a place lie together, and places in the order of the hash, so that the rows of
 * neighbouring places are one array. The steps of hd_sorting_run:
 *
 *   hd_places_choose   counts the rows of every bin and takes bins together to places (places.c)
 *   sort_rows          slice by slice: the engine sorts (route/route.h), and the rows are appended to their
 *                      places (sorting.c) in arrays that may lie in files (spill.c)
 *
 * With a key goes the number of its row in the slice. The lengths of what every slice brought are kept: by them
 * hd_answers_deliver brings answers back, again slice by slice (answers.c), and no array is ever walked through in
 * the order of another. A batch with one place is not sorted at all: the caller's arrays are taken as they are.
 */
#ifndef HD_SORTING_H
#define HD_SORTING_H

#include "host/conveyor.h"
#include "route/route.h"
#include "shelf/spill.h"

typedef struct hd_place {
    uint32_t first, end; /* bins */
    uint32_t part;       /* of the shelf */
    uint64_t at, rows;   /* in the sorted arrays */
} hd_place;

typedef struct hd_sorting {
    heddle_shelf *shelf;
    /* the batch */
    const char *keys, *values;
    uint64_t n;
    bool divides; /* parts that may become too large get several places */
    bool fresh;   /* all is one part, which is empty: as for a build */
    /* sorted */
    bool direct; /* one place: not sorted */
    hd_place *places;
    uint32_t place_count;
    uint32_t bits;          /* bins are counted by so many of HD_SHELF_BITS */
    uint64_t slice, slices; /* rows */
    bool in_files;
    hd_spill sorted_keys, sorted_values, rows; /* rows: of 32 bits, in their slice */
    hd_spill runs;        /* slice by slice: how many rows went to every place, in 32 bits */
    hd_conveyor conveyor; /* to a device with memory of its own, and back */
    hd_spread spread;     /* places, as the owners of bins */
} hd_sorting;

/* Says what is to be sorted. hd_sorting_end frees it, whatever has become of it. */
void hd_sorting_begin(hd_sorting *s, heddle_shelf *shelf, const void *keys, const void *values,
                      uint64_t n);
/* Sorts the batch. `answer_bytes` for every row are going to be taken beside it (hd_answers_make). */
heddle_status hd_sorting_run(hd_sorting *s, uint32_t answer_bytes);
void hd_sorting_end(hd_sorting *s);

/* Keys and values of the sorted rows from `at` on; NULL where there are no values. */
const void *hd_sorting_keys(const hd_sorting *s, uint64_t at);
const void *hd_sorting_values(const hd_sorting *s, uint64_t at);
/* How many rows of a slice went to every place. */
static inline uint32_t *hd_sorting_lengths(const hd_sorting *s, uint64_t slice)
{
    return (uint32_t *)(void *)s->runs.memory + slice * s->place_count;
}
/* The next part after that of `place` that rows are for will be needed soon. */
void hd_sorting_read_ahead(const hd_sorting *s, uint32_t place);
/* The sorted rows [at, at + rows) have been dealt with. */
void hd_sorting_done(const hd_sorting *s, uint64_t at, uint64_t rows);

/* Where the device can read the `bytes` at `array` of the host: there, or in a copy in the buffer. */
heddle_status hd_sorting_stage(hd_sorting *s, const void *array, uint64_t bytes, hd_buffer *buffer,
                               const void **staged);
/* From the device's memory to the host's. Waits. */
heddle_status hd_sorting_fetch(hd_sorting *s, void *to, const void *from, uint64_t bytes);
/* The places as the owners of bins: from then on hd_sorting_route sorts by them. */
heddle_status hd_sorting_spread(hd_sorting *s, const hd_place *places, uint32_t count,
                                uint32_t bits);
/* hd_router_begin by them; with `numbers` row numbers go with the keys. */
heddle_status hd_sorting_route(hd_sorting *s, uint32_t value_bits, bool numbers, uint64_t slice,
                               hd_router *router);
/* The bits of a bin's number that the borders between parts need. */
uint32_t hd_parts_bits(const hd_shelf_parts *parts);

/* ---------------------------------------------------------------------------------- places.c */

/* Whether all rows belong to one place, so that there is nothing to sort; and that place. */
bool hd_places_are_one(const hd_sorting *s);
heddle_status hd_places_take_one(hd_sorting *s);
/* Counts the rows; sets places, bits, slice and spread. */
heddle_status hd_places_choose(hd_sorting *s);

/* --------------------------------------------------------------------------------- answers.c */

/* Room for the answers to n rows; in a direct batch the caller's array, which may be NULL. */
typedef struct hd_answers {
    char *memory;
    uint32_t width;
    hd_spill spill;
    char *user;
} hd_answers;
heddle_status hd_answers_make(hd_sorting *s, void *user, uint32_t width, bool needed,
                              hd_answers *answers);
void hd_answers_free(hd_answers *answers);
/*
 * Brings answers to the caller's arrays in the order of the batch; those of `masked` only where a flag of `flags`
 * is set. Either may be without memory.
 */
heddle_status hd_answers_deliver(hd_sorting *s, const hd_answers *flags, const hd_answers *masked);

/* Goes through the batch slice by slice: what is done with the run of one place. */
typedef struct hd_run {
    uint64_t base;        /* the slice's first row in the batch */
    const uint32_t *rows; /* from there */
    uint64_t at;          /* where the run begins in the sorted arrays */
    uint64_t count;
    uint32_t place;
} hd_run;
typedef void (*hd_run_take)(void *context, const hd_run *run);
typedef struct hd_run_walk {
    hd_run_take take;
    void *context;
    const hd_spill *
        read[2]; /* arrays that `take` reads beside the rows: their pages are given up on the way */
    uint32_t row_bytes; /* of these arrays, for every row */
} hd_run_walk;
heddle_status hd_sorting_runs(hd_sorting *s, const hd_run_walk *walk);

#endif
