/*
 * write.c: build and insert. The steps:
 *
 *   check_write          refuses what a part would refuse
 *   hd_sorting_run       sorts the batch by places, which come in the order of the hash (sorting.h)
 *   write_part           for every part: it stays, is filled anew or gets rows (fill.h)
 *   hd_answers_deliver   outcomes into the order of the batch (answers.c)
 *   hd_parts_commit      all parts that change are new files, which count from here on (commit.c)
 */
#include <string.h>

#include "base/error.h"
#include "host/public_struct.h"
#include "shelf/fill.h"
#include "table/check.h"

/* All places of one part. */
static heddle_status write_part(hd_writing *w, uint32_t first, uint32_t end)
{
    const hd_place *places = w->sorting.places;
    hd_shelf_part *part = w->sorting.fresh ? NULL : &w->shelf->parts.at[places[first].part];
    const uint64_t rows = places[end - 1].at + places[end - 1].rows - places[first].at;
    HD_TRY(hd_shelf_progress(w->shelf, HEDDLE_SHELF_WORK, places[first].at, w->sorting.n));
    w->first = places[first].first;
    if (part != NULL && rows == 0) return hd_parts_keep(&w->made, part);
    if (part != NULL && part->count != 0) return hd_fill_part(w, part, first, end);
    return hd_fill_new(w, first, end);
}

static heddle_status write_parts(hd_writing *w)
{
    const hd_sorting *s = &w->sorting;
    for (uint32_t first = 0, end; first < s->place_count; first = end) {
        for (end = first + 1; end < s->place_count && s->places[end].part == s->places[first].part;)
            end++;
        HD_TRY(write_part(w, first, end));
    }
    return hd_shelf_progress(w->shelf, HEDDLE_SHELF_WORK, s->n, s->n);
}

/* The new parts are in w->made. */
static heddle_status write_batch(hd_writing *w, uint8_t *outcomes)
{
    const hd_answers none = {.spill = HD_SPILL_NONE};
    HD_TRY(hd_sorting_run(&w->sorting, outcomes != NULL));
    HD_TRY(hd_answers_make(&w->sorting, outcomes, 1, false, &w->outcomes));
    HD_TRY(write_parts(w));
    return hd_answers_deliver(&w->sorting, &w->outcomes, &none);
}

/* ------------------------------------------------------------------------------------ the calls */

/* Refuses what a part would refuse, before anything is done. */
static heddle_status check_write(heddle_shelf *shelf, const hd_request *request, const char *what)
{
    const uint64_t n = request->n;
    HD_TRY(hd_check_insertion(&shelf->options, request, NULL, what));
    HD_TRY(hd_shelf_check(shelf, request->keys, n, hd_shelf_key_width(shelf), "keys"));
    if (request->values != NULL)
        HD_TRY(hd_shelf_check(shelf, request->values, n, hd_shelf_value_width(shelf), "values"));
    if (request->options.outcomes != NULL)
        HD_TRY(hd_shelf_check(shelf, request->options.outcomes, n, 1, "outcomes"));
    return HEDDLE_OK;
}

/* The lock is held. */
static heddle_status write_shelf(heddle_shelf *shelf, bool builds, const hd_request *request,
                                 heddle_totals *totals)
{
    hd_writing w;
    heddle_status status;
    HD_TRY(check_write(shelf, request, builds ? "build" : "insert"));
    memset(&w, 0, sizeof w);
    w.shelf = shelf;
    w.options = request->options;
    w.options.failed = NULL; /* no key fails: memory that runs out ends the call */
    w.options.failed_capacity = 0;
    w.outcomes.spill.file = -1;
    hd_sorting_begin(&w.sorting, shelf, request->keys, request->values, request->n);
    w.sorting.divides = true;
    w.sorting.fresh = builds;
    status = write_batch(&w, request->options.outcomes);
    heddle_table_destroy(w.table);
    hd_answers_free(&w.outcomes);
    hd_sorting_end(&w.sorting);
    if (status == HEDDLE_OK) status = hd_parts_commit(shelf, &w.made);
    else hd_parts_discard(shelf, &w.made);
    if (status == HEDDLE_OK && totals != NULL) hd_write_totals(totals, &w.totals);
    return status;
}

heddle_status heddle_shelf_insert(heddle_shelf *shelf, const void *keys, const void *values,
                                  uint64_t n, const heddle_insert_options *options,
                                  heddle_totals *totals)
{
    hd_request request = {
        .keys = keys, .values = values, .n = n, .options = HEDDLE_INSERT_OPTIONS_INIT};
    HD_TRY(hd_check_totals(totals));
    HD_TRY(hd_read_struct(&request.options, options, &hd_insert_options_kind));
    HD_TRY(hd_shelf_enter(shelf, true, "insert"));
    return hd_shelf_leave(shelf, write_shelf(shelf, false, &request, totals));
}

heddle_status heddle_shelf_build(heddle_shelf *shelf, const void *keys, const void *values,
                                 uint64_t n, const heddle_insert_options *options,
                                 heddle_totals *totals)
{
    hd_request request = {
        .keys = keys, .values = values, .n = n, .options = HEDDLE_INSERT_OPTIONS_INIT};
    HD_TRY(hd_check_totals(totals));
    HD_TRY(hd_read_struct(&request.options, options, &hd_insert_options_kind));
    HD_TRY(hd_shelf_enter(shelf, true, "build"));
    return hd_shelf_leave(shelf, write_shelf(shelf, true, &request, totals));
}
