/*
 * retrieve.c: all values of every key of a batch.
 *
 * The parts are gone through twice. First they count (ask.c); the sums of the counts, in the order of the
 * batch, are the offsets. Then, with the batch sorted as it is, every part gives the lists of its rows, which
 * are laid one after the other in an array of values; and slice by slice lists go from there to where the
 * offsets say.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "shelf/ask.h"

#define LIST_SHARE 8 /* values are fetched with this share of the memory */

typedef struct retrieving {
    hd_asking asking;
    uint64_t *offsets; /* the caller's */
    char *values;      /* the caller's */
    hd_spill lists;    /* the values of all sorted rows */
    uint64_t *starts;  /* of the values of every place */
    uint64_t at;       /* values that are there so far */
    uint32_t width;
    uint64_t *cursors; /* while they are delivered: the next value of every place */
} retrieving;

/* Counts of sorted rows; of a direct batch they are in the caller's order already. */
static const uint64_t *counts_of(const retrieving *r)
{
    return (const uint64_t *)(const void *)r->asking.values.memory;
}

/* ----------------------------------------------------------------------------------------- lists */

/* Fetches the lists of some rows, which have `sum` values. */
static heddle_status fetch_lists(retrieving *r, heddle_table *table, uint64_t row, uint64_t n,
                                 uint64_t sum)
{
    uint64_t *offsets = (uint64_t *)hd_allocate((n + 1) * sizeof *offsets);
    char *to = r->asking.sorting.direct ? r->values : r->lists.memory;
    uint64_t count = 0;
    heddle_status status =
        offsets == NULL ? hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for the offsets of lists")
                        : heddle_table_retrieve(table, hd_sorting_keys(&r->asking.sorting, row), n,
                                                offsets, to + r->at * r->width, sum, &count, NULL);
    free(offsets);
    if (status == HEDDLE_OK && count != sum)
        status = hd_fail(HEDDLE_ERROR_CORRUPT, "a part has other values than it has counted");
    r->at += sum;
    return status;
}

/* The lists of a part's rows, in stretches of as many values as there is memory for, or of one key. */
static heddle_status fetch_place(retrieving *r, uint32_t number)
{
    heddle_shelf *shelf = r->asking.shelf;
    const hd_place *place = &r->asking.sorting.places[number];
    const uint64_t most = shelf->memory / LIST_SHARE / (r->width + 16) + 1;
    const uint64_t *counts = counts_of(r) + place->at;
    hd_shelf_part *part = &shelf->parts.at[place->part];
    heddle_status status = HEDDLE_OK;
    r->starts[number] = r->at;
    if (place->rows == 0 || part->count == 0) return HEDDLE_OK;
    status = hd_part_load(shelf, part, 0);
    if (status == HEDDLE_OK) hd_sorting_expect(&r->asking.sorting, number);
    for (uint64_t row = 0, end; row < place->rows && status == HEDDLE_OK; row = end) {
        uint64_t sum = counts[row];
        for (end = row + 1; end < place->rows && end - row < most && sum + counts[end] <= most;)
            sum += counts[end++];
        status = hd_shelf_progress(shelf, HEDDLE_SHELF_WORK, place->at + row, r->asking.sorting.n);
        if (status == HEDDLE_OK && sum != 0)
            status = fetch_lists(r, part->table, place->at + row, end - row, sum);
    }
    hd_part_release(shelf, part);
    hd_sorting_done(&r->asking.sorting, place->at, place->rows);
    hd_spill_done(&r->lists, r->starts[number] * r->width, (r->at - r->starts[number]) * r->width);
    return status;
}

/* -------------------------------------------------------------------------------------- deliver */

/* hd_run_take: the lists of a run follow each other. */
static void deliver_lists(void *context, const hd_run *run)
{
    retrieving *r = (retrieving *)context;
    const uint64_t *counts = counts_of(r) + run->at;
    for (uint64_t i = 0; i < run->count; i++) {
        const uint64_t to = r->offsets[run->base + run->rows[i]];
        memcpy(r->values + to * r->width, r->lists.memory + r->cursors[run->place] * r->width,
               counts[i] * r->width);
        r->cursors[run->place] += counts[i];
    }
}

static heddle_status fetch_all(retrieving *r, uint64_t count)
{
    hd_sorting *s = &r->asking.sorting;
    const hd_spill *const read[] = {&r->lists, &r->asking.values.spill};
    const uint64_t a_row = s->n != 0 ? count * r->width / s->n + sizeof(uint64_t) : 0;
    heddle_status status = HEDDLE_OK;
    if (!s->direct) {
        const bool in_file = count * r->width > r->asking.shelf->memory / LIST_SHARE;
        status = hd_spill_make(r->asking.shelf, count * r->width, in_file, &r->lists);
    }
    for (uint32_t i = 0; i < s->place_count && status == HEDDLE_OK; i++) status = fetch_place(r, i);
    if (status == HEDDLE_OK)
        status = hd_shelf_progress(r->asking.shelf, HEDDLE_SHELF_WORK, s->n, s->n);
    r->cursors = r->starts;
    if (status == HEDDLE_OK && !s->direct)
        status = hd_sorting_runs(s, deliver_lists, r, read, 2, (uint32_t)a_row);
    return status;
}

/* --------------------------------------------------------------------------------------- offsets */

/* Counts become offsets, from the back: offsets[i] holds the count of key i. */
static uint64_t sum_up(uint64_t *offsets, uint64_t n)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t count = offsets[i];
        offsets[i] = sum;
        sum += count;
    }
    offsets[n] = sum;
    return sum;
}

/* The counts of a direct batch lie in the caller's array, where the offsets come to be: they are copied. */
static heddle_status keep_counts(retrieving *r)
{
    hd_asking *a = &r->asking;
    const uint64_t bytes = a->sorting.n * sizeof *r->offsets;
    if (!a->sorting.direct || a->sorting.n == 0) return HEDDLE_OK;
    HD_TRY(hd_spill_make(a->shelf, bytes, bytes > a->shelf->memory / LIST_SHARE, &a->values.spill));
    memcpy(a->values.spill.memory, r->offsets, bytes);
    a->values.memory = a->values.spill.memory;
    return HEDDLE_OK;
}

/* The lock is held. */
static heddle_status retrieve(retrieving *r, const void *keys, uint64_t n, uint64_t capacity,
                              uint64_t *count)
{
    hd_asking *a = &r->asking;
    HD_TRY(hd_ask_sorted(a, keys, n, r->offsets, sizeof *r->offsets, NULL));
    HD_TRY(hd_replies_deliver(&a->sorting, &a->found, &a->values));
    if (r->values != NULL) HD_TRY(keep_counts(r));
    *count = sum_up(r->offsets, n);
    if (r->values == NULL) return HEDDLE_OK;
    if (*count > capacity)
        return hd_fail(HEDDLE_ERROR_TOO_SMALL,
                       "retrieve: there is room for %llu values, not for %llu",
                       (unsigned long long)capacity, (unsigned long long)*count);
    r->starts =
        (uint64_t *)hd_allocate_zeroed((size_t)a->sorting.place_count + 1, sizeof *r->starts);
    if (r->starts == NULL) return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for lists");
    return fetch_all(r, *count);
}

static heddle_status check_retrieve(heddle_shelf *shelf, const void *keys, uint64_t n,
                                    const uint64_t *offsets, const void *values, uint64_t capacity,
                                    const uint64_t *count)
{
    if (hd_shelf_value_width(shelf) == 0)
        return hd_fail(HEDDLE_ERROR_INVALID, "retrieve: a set has no values");
    if (count == NULL)
        return hd_fail(HEDDLE_ERROR_INVALID, "retrieve: there is no place for the count");
    HD_TRY(hd_shelf_check(shelf, keys, n, hd_shelf_key_width(shelf), "keys"));
    HD_TRY(hd_shelf_check(shelf, offsets, n + 1, sizeof *offsets, "offsets"));
    if (values != NULL)
        HD_TRY(hd_shelf_check(shelf, values, capacity, hd_shelf_value_width(shelf), "values"));
    return HEDDLE_OK;
}

heddle_status heddle_shelf_retrieve(heddle_shelf *shelf, const void *keys, uint64_t n,
                                    uint64_t *offsets, void *values, uint64_t capacity,
                                    uint64_t *count)
{
    retrieving r;
    heddle_status status = hd_shelf_enter(shelf, false, "retrieve");
    if (status != HEDDLE_OK) return status;
    status = check_retrieve(shelf, keys, n, offsets, values, capacity, count);
    if (status != HEDDLE_OK) return hd_shelf_leave(shelf, status);
    memset(&r, 0, sizeof r);
    hd_asking_begin(&r.asking, shelf, HD_SHELF_MATCHES);
    r.lists.file = -1;
    r.offsets = offsets;
    r.values = (char *)values;
    r.width = hd_shelf_value_width(shelf);
    status = retrieve(&r, keys, n, capacity, count);
    hd_spill_free(&r.lists);
    free(r.starts);
    hd_asking_end(&r.asking);
    return hd_shelf_leave(shelf, status);
}
