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
    uint64_t *offsets HD_FREED = (uint64_t *)hd_allocate((n + 1) * sizeof *offsets);
    char *to = r->asking.sorting.direct ? r->values : r->lists.memory;
    uint64_t count = 0;
    if (offsets == NULL)
        return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for the offsets of lists");
    HD_TRY(heddle_table_retrieve(table, hd_sorting_keys(&r->asking.sorting, row), n, offsets,
                                 to + r->at * r->width, sum, &count, NULL));
    if (count != sum)
        return hd_fail(HEDDLE_ERROR_CORRUPT, "a part has other values than it has counted");
    r->at += sum;
    return HEDDLE_OK;
}

/* In stretches of as many values as there is memory for, or of one key. */
static heddle_status fetch_rows(retrieving *r, heddle_table *table, const hd_place *place)
{
    heddle_shelf *shelf = r->asking.shelf;
    const uint64_t most = shelf->memory / LIST_SHARE / (r->width + 16) + 1;
    const uint64_t *counts = counts_of(r) + place->at;
    for (uint64_t row = 0, end; row < place->rows; row = end) {
        uint64_t sum = counts[row];
        for (end = row + 1; end < place->rows && end - row < most && sum + counts[end] <= most;)
            sum += counts[end++];
        HD_TRY(hd_shelf_progress(shelf, HEDDLE_SHELF_WORK, place->at + row, r->asking.sorting.n));
        if (sum != 0) HD_TRY(fetch_lists(r, table, place->at + row, end - row, sum));
    }
    return HEDDLE_OK;
}

static heddle_status fetch_part(retrieving *r, hd_shelf_part *part, uint32_t number)
{
    HD_TRY(hd_part_load(r->asking.shelf, part, 0));
    hd_sorting_read_ahead(&r->asking.sorting, number);
    return fetch_rows(r, part->table, &r->asking.sorting.places[number]);
}

/* The lists of a place's rows. */
static heddle_status fetch_place(retrieving *r, uint32_t number)
{
    heddle_shelf *shelf = r->asking.shelf;
    const hd_place *place = &r->asking.sorting.places[number];
    hd_shelf_part *part = &shelf->parts.at[place->part];
    r->starts[number] = r->at;
    if (place->rows == 0 || part->count == 0) return HEDDLE_OK;
    const heddle_status status = fetch_part(r, part, number);
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
        if (counts[i] == 0) continue;
        memcpy(r->values + to * r->width, r->lists.memory + r->cursors[run->place] * r->width,
               counts[i] * r->width);
        r->cursors[run->place] += counts[i];
    }
}

static heddle_status fetch_all(retrieving *r, uint64_t count)
{
    heddle_shelf *shelf = r->asking.shelf;
    hd_sorting *s = &r->asking.sorting;
    const uint64_t a_row = s->n != 0 ? count * r->width / s->n + sizeof(uint64_t) : 0;
    const hd_run_walk walk = {
        deliver_lists, r, {&r->lists, &r->asking.values.spill}, (uint32_t)a_row};
    const bool in_file = count * r->width > shelf->memory / LIST_SHARE;
    if (!s->direct) HD_TRY(hd_spill_make(shelf, count * r->width, in_file, &r->lists));
    for (uint32_t i = 0; i < s->place_count; i++) HD_TRY(fetch_place(r, i));
    HD_TRY(hd_shelf_progress(shelf, HEDDLE_SHELF_WORK, s->n, s->n));
    r->cursors = r->starts;
    return s->direct ? HEDDLE_OK : hd_sorting_runs(s, &walk);
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

/* Counts, makes offsets of the counts, and fetches the values if they are wanted. */
static heddle_status retrieve(retrieving *r)
{
    hd_asking *a = &r->asking;
    const hd_request *request = a->request;
    HD_TRY(hd_ask_sorted(a));
    HD_TRY(hd_answers_deliver(&a->sorting, &a->found, &a->values));
    if (r->values != NULL) HD_TRY(keep_counts(r));
    *request->count = sum_up(r->offsets, request->n);
    if (r->values == NULL) return HEDDLE_OK;
    if (*request->count > request->capacity)
        return hd_fail(HEDDLE_ERROR_TOO_SMALL,
                       "retrieve: there is room for %llu values, not for %llu",
                       (unsigned long long)request->capacity, (unsigned long long)*request->count);
    r->starts =
        (uint64_t *)hd_allocate_zeroed((size_t)a->sorting.place_count + 1, sizeof *r->starts);
    if (r->starts == NULL) return hd_fail(HEDDLE_ERROR_NO_MEMORY, "no memory for lists");
    return fetch_all(r, *request->count);
}

static heddle_status check_retrieve(heddle_shelf *shelf, const hd_request *request)
{
    const uint32_t kw = hd_shelf_key_width(shelf), vw = hd_shelf_value_width(shelf);
    if (vw == 0) return hd_fail(HEDDLE_ERROR_INVALID, "retrieve: a set has no values");
    if (request->count == NULL)
        return hd_fail(HEDDLE_ERROR_INVALID, "retrieve: there is no place for the count");
    HD_TRY(hd_shelf_check(shelf, request->keys, request->n, kw, "keys"));
    HD_TRY(hd_shelf_check(shelf, request->offsets, request->n + 1, sizeof *request->offsets,
                          "offsets"));
    if (request->values_out != NULL)
        HD_TRY(hd_shelf_check(shelf, request->values_out, request->capacity, vw, "values"));
    return HEDDLE_OK;
}

/* The lock is held. The offsets take the counts first. */
static heddle_status call(heddle_shelf *shelf, hd_request *request)
{
    retrieving r;
    heddle_status status;
    HD_TRY(check_retrieve(shelf, request));
    memset(&r, 0, sizeof r);
    request->matches = request->offsets;
    hd_asking_begin(&r.asking, shelf, HD_SHELF_MATCHES, request);
    r.lists.file = -1;
    r.offsets = request->offsets;
    r.values = (char *)request->values_out;
    r.width = hd_shelf_value_width(shelf);
    status = retrieve(&r);
    hd_spill_free(&r.lists);
    free(r.starts);
    hd_asking_end(&r.asking);
    return status;
}

heddle_status heddle_shelf_retrieve(heddle_shelf *shelf, const void *keys, uint64_t n,
                                    uint64_t *offsets, void *values, uint64_t capacity,
                                    uint64_t *count)
{
    hd_request request = {.keys = keys,
                          .n = n,
                          .values_out = values,
                          .offsets = offsets,
                          .capacity = capacity,
                          .count = count};
    HD_TRY(hd_shelf_enter(shelf, false, "retrieve"));
    return hd_shelf_leave(shelf, call(shelf, &request));
}
