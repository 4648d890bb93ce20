/*
 * write.c: build and insert.
 *
 * The rows of the batch are sorted by places (sorting.h), which come in the order of the hash. A part is filled
 * from place to place until the next might make it too large; it then ends there and the next begins. So
 * parts are as full as their rows and duplicates have it, without anybody having to know beforehand how many
 * keys are different.
 *
 *   a new part           takes places one after the other, as many at a time as are sure to fit;
 *   a part with pairs    is loaded and takes its places likewise. If the next place may not fit, its pairs are
 *                        taken out and sorted by places in memory, and new parts are filled from these and
 *                        from the rows that are left.
 *
 * All parts that change are new files, which count when all of them are there (hd_parts_commit).
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "host/public_struct.h"
#include "shelf/sorted_pairs.h"
#include "table/table.h"
#include "table/totals.h"

typedef struct writing {
    heddle_shelf *shelf;
    hd_sorting sorting;
    hd_replies outcomes, none;
    heddle_insert_options options;
    heddle_totals totals;
    hd_shelf_parts made;
    heddle_table *table; /* being filled; NULL: none */
    uint32_t first;      /* its first bin */
    uint64_t size;       /* its pairs */
} writing;

/* ------------------------------------------------------------------------------- a table at work */

static heddle_status open_table(writing *w, uint64_t capacity)
{
    if (w->table != NULL) return HEDDLE_OK;
    w->size = 0;
    return hd_part_create(w->shelf, capacity < w->shelf->limit ? capacity : w->shelf->limit,
                          &w->table);
}

/* Makes a part of the table, up to bin `next`, where the next part begins. */
static heddle_status close_table(writing *w, uint32_t next)
{
    hd_shelf_part part;
    heddle_table *table = w->table;
    heddle_status status = HEDDLE_OK;
    memset(&part, 0, sizeof part);
    part.first = w->first;
    w->table = NULL;
    if (table != NULL) status = hd_part_save(w->shelf, w->first, table, &part);
    if (status == HEDDLE_OK) status = hd_parts_add(w->shelf, &w->made, &part);
    w->first = next;
    w->size = 0;
    return status;
}

/* Inserts sorted rows of the batch, in pieces that there is memory for. */
static heddle_status insert_rows(writing *w, uint64_t at, uint64_t rows)
{
    const uint64_t piece = w->shelf->limit < 4096 ? 4096 : w->shelf->limit;
    heddle_status status = HEDDLE_OK;
    for (uint64_t done = 0; done < rows && status == HEDDLE_OK; done += piece) {
        const uint64_t n = rows - done < piece ? rows - done : piece;
        heddle_insert_options options = w->options;
        heddle_totals totals = HEDDLE_TOTALS_INIT;
        if (w->outcomes.memory != NULL)
            options.outcomes = (uint8_t *)w->outcomes.memory + at + done;
        status = hd_shelf_progress(w->shelf, HEDDLE_SHELF_WORK, at + done, w->sorting.n);
        if (status == HEDDLE_OK)
            status = heddle_table_insert(w->table, hd_sorting_keys(&w->sorting, at + done),
                                         hd_sorting_values(&w->sorting, at + done), n, &options,
                                         &totals, NULL);
        if (status == HEDDLE_OK) hd_totals_sum(&w->totals, &totals);
    }
    hd_sorting_done(&w->sorting, at, rows);
    hd_spill_done(&w->outcomes.spill, at, rows);
    return status == HEDDLE_OK ? heddle_table_size(w->table, &w->size, NULL) : status;
}

/* Inserts pairs that were in the shelf before. */
static heddle_status insert_pairs(writing *w, const hd_sorted_pairs *p, uint32_t first,
                                  uint32_t end)
{
    const uint32_t kw = hd_shelf_key_width(w->shelf), vw = hd_shelf_value_width(w->shelf);
    const uint64_t at = p->starts[first - p->first], n = p->starts[end - p->first] - at;
    if (n == 0) return HEDDLE_OK;
    HD_TRY(heddle_table_insert(w->table, p->keys + at * kw, vw != 0 ? p->values + at * vw : NULL, n,
                               NULL, NULL, NULL));
    return heddle_table_size(w->table, &w->size, NULL);
}

/* ------------------------------------------------------------------------------------- filling */

static uint64_t pairs_of(const hd_sorted_pairs *p, uint32_t place)
{
    return p != NULL ? p->starts[place + 1 - p->first] - p->starts[place - p->first] : 0;
}

/* Rows of a place that are still to be inserted; places below `done` have been. */
static uint64_t rows_of(const writing *w, uint32_t place, uint32_t done)
{
    return place < done ? 0 : w->sorting.places[place].rows;
}

/* The places from `place` on that are sure to fit into the table; at least one. */
static uint32_t sure_to_fit(const writing *w, const hd_sorted_pairs *p, uint32_t place,
                            uint32_t end, uint32_t done, uint64_t *count)
{
    uint32_t to = place;
    *count = 0;
    do {
        *count += pairs_of(p, to) + rows_of(w, to, done);
        to++;
    } while (to < end &&
             w->size + *count + pairs_of(p, to) + rows_of(w, to, done) <= w->shelf->limit);
    return to;
}

/* Whether the part had better end before the next place. */
static bool is_full(const writing *w, uint64_t next)
{
    return w->size > w->shelf->limit / 2 && w->size + next > w->shelf->limit;
}

/* Fills new parts with the pairs (NULL: none) and the rows of places [first, end). */
static heddle_status fill(writing *w, const hd_sorted_pairs *p, uint32_t first, uint32_t end,
                          uint32_t done)
{
    const hd_place *places = w->sorting.places;
    heddle_status status = HEDDLE_OK;
    uint32_t parts = 0;
    for (uint32_t place = first, to; place < end && status == HEDDLE_OK; place = to) {
        const uint32_t rest = place > done ? place : done;
        uint64_t count = 0;
        if (is_full(w, pairs_of(p, place) + rows_of(w, place, done))) {
            status = close_table(w, places[place].first);
            parts++;
        }
        if (status != HEDDLE_OK) return status;
        to = sure_to_fit(w, p, place, end, done, &count);
        if (count == 0) continue;
        status = open_table(w, w->size + count);
        if (status == HEDDLE_OK && p != NULL) status = insert_pairs(w, p, place, to);
        if (status == HEDDLE_OK && to > rest)
            status = insert_rows(w, places[rest].at,
                                 places[to - 1].at + places[to - 1].rows - places[rest].at);
    }
    if (p != NULL) w->shelf->divided += parts;
    return status == HEDDLE_OK ? close_table(w, places[end - 1].end) : status;
}

/* ------------------------------------------------------------------------------------ dividing */

/* Takes the pairs out of the table, which is gone then, and fills new parts with them and with what is left. */
static heddle_status divide(writing *w, uint32_t first, uint32_t end, uint32_t done)
{
    uint64_t n = w->size;
    hd_sorted_pairs p;
    heddle_status status = hd_sorted_pairs_make(&w->sorting, first, end, n, &p);
    if (status == HEDDLE_OK)
        status = heddle_table_export(
            w->table, p.keys, hd_shelf_value_width(w->shelf) != 0 ? p.values : NULL, n, &n, NULL);
    heddle_table_destroy(w->table);
    w->table = NULL;
    w->size = 0;
    if (status == HEDDLE_OK) status = hd_sorted_pairs_sort(&w->sorting, end, n, &p);
    if (status == HEDDLE_OK) status = fill(w, &p, first, end, done);
    hd_sorted_pairs_free(&p);
    return status;
}

/* --------------------------------------------------------------------------------------- parts */

/* The rows of places [first, end) into the part that they belong to, which holds pairs. */
static heddle_status add_to_part(writing *w, hd_shelf_part *part, uint32_t first, uint32_t end)
{
    const hd_place *places = w->sorting.places;
    const uint64_t rows = places[end - 1].at + places[end - 1].rows - places[first].at;
    const uint64_t room = w->shelf->limit > part->count ? w->shelf->limit - part->count : 0;
    HD_TRY(hd_part_load(w->shelf, part, rows < room ? rows : room));
    hd_sorting_expect(&w->sorting, end - 1);
    w->table = part->table; /* it is the part's no more */
    w->size = part->count;
    w->shelf->loaded -= part->loaded;
    part->table = NULL;
    part->loaded = 0;
    for (uint32_t place = first, to; place < end; place = to) {
        uint64_t count = 0;
        if (end - first > 1 && is_full(w, places[place].rows)) return divide(w, first, end, place);
        to = sure_to_fit(w, NULL, place, end, 0, &count);
        if (count != 0) HD_TRY(insert_rows(w, places[place].at, count));
    }
    return close_table(w, places[end - 1].end);
}

/* All places of one part, which begin with `first`. */
static heddle_status write_part(writing *w, uint32_t first, uint32_t end)
{
    const hd_place *places = w->sorting.places;
    hd_shelf_part *part = w->sorting.fresh ? NULL : &w->shelf->parts.at[places[first].part];
    const uint64_t rows = places[end - 1].at + places[end - 1].rows - places[first].at;
    HD_TRY(hd_shelf_progress(w->shelf, HEDDLE_SHELF_WORK, places[first].at, w->sorting.n));
    w->first = places[first].first;
    if (part != NULL && rows == 0) return hd_parts_keep(&w->made, part);
    if (part != NULL && part->count != 0) return add_to_part(w, part, first, end);
    return fill(w, NULL, first, end, 0);
}

static heddle_status write_parts(writing *w)
{
    const hd_sorting *s = &w->sorting;
    for (uint32_t first = 0, end; first < s->place_count; first = end) {
        for (end = first + 1; end < s->place_count && s->places[end].part == s->places[first].part;)
            end++;
        HD_TRY(write_part(w, first, end));
    }
    return hd_shelf_progress(w->shelf, HEDDLE_SHELF_WORK, s->n, s->n);
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
static heddle_status write_batch(heddle_shelf *shelf, bool builds, const void *keys,
                                 const void *values, uint64_t n, const heddle_insert_options *given,
                                 heddle_totals *totals)
{
    hd_request request = {
        .keys = keys, .values = values, .n = n, .options = HEDDLE_INSERT_OPTIONS_INIT};
    writing w;
    HD_TRY(hd_check_totals(totals));
    HD_TRY(hd_read_struct(&request.options, given, &hd_insert_options_kind));
    heddle_status status = check_write(shelf, &request, builds ? "build" : "insert");
    if (status != HEDDLE_OK) return status;
    memset(&w, 0, sizeof w);
    w.shelf = shelf;
    w.options = request.options;
    w.options.failed = NULL; /* no key fails: memory that runs out ends the call */
    w.options.failed_capacity = 0;
    w.outcomes.spill.file = w.none.spill.file = -1;
    hd_sorting_begin(&w.sorting, shelf, keys, values, n);
    w.sorting.divides = true;
    w.sorting.fresh = builds;
    status = hd_sorting_run(&w.sorting, w.options.outcomes != NULL);
    if (status == HEDDLE_OK)
        status = hd_replies_make(&w.sorting, w.options.outcomes, 1, false, &w.outcomes);
    if (status == HEDDLE_OK) status = write_parts(&w);
    if (status == HEDDLE_OK) status = hd_replies_deliver(&w.sorting, &w.outcomes, &w.none);
    heddle_table_destroy(w.table);
    hd_replies_free(&w.outcomes);
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
    HD_TRY(hd_shelf_enter(shelf, true, "insert"));
    return hd_shelf_leave(shelf, write_batch(shelf, false, keys, values, n, options, totals));
}

heddle_status heddle_shelf_build(heddle_shelf *shelf, const void *keys, const void *values,
                                 uint64_t n, const heddle_insert_options *options,
                                 heddle_totals *totals)
{
    HD_TRY(hd_shelf_enter(shelf, true, "build"));
    return hd_shelf_leave(shelf, write_batch(shelf, true, keys, values, n, options, totals));
}
