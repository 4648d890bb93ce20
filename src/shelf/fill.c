/* fill.c: see fill.h. */
#include "shelf/fill.h"

#include <string.h>

#include "base/error.h"
#include "shelf/sorted_pairs.h"
#include "table/totals.h"

/* Places that are filled into parts. */
typedef struct stretch {
    const hd_sorted_pairs *pairs; /* that were in the shelf before; NULL: none */
    uint32_t first, end;          /* places */
    uint32_t done;                /* the rows of places below this one are inserted already */
} stretch;

/* ------------------------------------------------------------------------------- a table at work */

static heddle_status open_table(hd_writing *w, uint64_t capacity)
{
    if (w->table != NULL) return HEDDLE_OK;
    w->size = 0;
    return hd_part_create(w->shelf, capacity < w->shelf->limit ? capacity : w->shelf->limit,
                          &w->table);
}

/* Makes a part of the table, up to bin `next`, where the next part begins. */
static heddle_status close_table(hd_writing *w, uint32_t next)
{
    hd_shelf_part part;
    heddle_table *table = w->table;
    memset(&part, 0, sizeof part);
    part.first = w->first;
    w->table = NULL;
    w->first = next;
    w->size = 0;
    if (table != NULL) HD_TRY(hd_part_save(w->shelf, part.first, table, &part));
    return hd_parts_add(w->shelf, &w->made, &part);
}

/* Inserts rows of the batch that are one call. */
static heddle_status insert_piece(hd_writing *w, uint64_t at, uint64_t n)
{
    const hd_sorting *s = &w->sorting;
    heddle_insert_options options = w->options;
    heddle_totals totals = HEDDLE_TOTALS_INIT;
    if (w->outcomes.memory != NULL) options.outcomes = (uint8_t *)w->outcomes.memory + at;
    HD_TRY(hd_shelf_progress(w->shelf, HEDDLE_SHELF_WORK, at, s->n));
    HD_TRY(heddle_table_insert(w->table, hd_sorting_keys(s, at), hd_sorting_values(s, at), n,
                               &options, &totals, NULL));
    hd_totals_sum(&w->totals, &totals);
    return HEDDLE_OK;
}

/* Inserts sorted rows of the batch, in pieces that there is memory for. */
static heddle_status insert_rows(hd_writing *w, uint64_t at, uint64_t rows)
{
    const uint64_t piece = w->shelf->limit < 4096 ? 4096 : w->shelf->limit;
    for (uint64_t done = 0; done < rows; done += piece)
        HD_TRY(insert_piece(w, at + done, rows - done < piece ? rows - done : piece));
    hd_sorting_done(&w->sorting, at, rows);
    hd_spill_done(&w->outcomes.spill, at, rows);
    return heddle_table_size(w->table, &w->size, NULL);
}

/* Inserts pairs that were in the shelf before. */
static heddle_status insert_pairs(hd_writing *w, const hd_sorted_pairs *p, uint32_t first,
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

/* Pairs and rows of a place that are still to be inserted. */
static uint64_t left_of(const hd_writing *w, const stretch *s, uint32_t place)
{
    const hd_sorted_pairs *p = s->pairs;
    const uint64_t pairs =
        p != NULL ? p->starts[place + 1 - p->first] - p->starts[place - p->first] : 0;
    return pairs + (place < s->done ? 0 : w->sorting.places[place].rows);
}

/* The end of the places from `place` on that are sure to fit into the table, at least one; and what they have. */
static uint32_t sure_to_fit(const hd_writing *w, const stretch *s, uint32_t place, uint64_t *count)
{
    uint32_t to = place;
    *count = 0;
    do *count += left_of(w, s, to++);
    while (to < s->end && w->size + *count + left_of(w, s, to) <= w->shelf->limit);
    return to;
}

/* Whether the part had better end before the next place. */
static bool is_full(const hd_writing *w, uint64_t next)
{
    return w->size > w->shelf->limit / 2 && w->size + next > w->shelf->limit;
}

/* What is left of places [from, to), `count` in all, into the table. */
static heddle_status fill_table(hd_writing *w, const stretch *s, uint32_t from, uint32_t to,
                                uint64_t count)
{
    const hd_place *places = w->sorting.places;
    const uint32_t rest = from > s->done ? from : s->done;
    HD_TRY(open_table(w, w->size + count));
    if (s->pairs != NULL) HD_TRY(insert_pairs(w, s->pairs, from, to));
    if (to <= rest) return HEDDLE_OK;
    return insert_rows(w, places[rest].at,
                       places[to - 1].at + places[to - 1].rows - places[rest].at);
}

static heddle_status fill_parts(hd_writing *w, const stretch *s)
{
    const hd_place *places = w->sorting.places;
    for (uint32_t place = s->first, to; place < s->end; place = to) {
        uint64_t count = 0;
        if (is_full(w, left_of(w, s, place))) {
            HD_TRY(close_table(w, places[place].first));
            if (s->pairs != NULL) w->shelf->divided++;
        }
        to = sure_to_fit(w, s, place, &count);
        if (count != 0) HD_TRY(fill_table(w, s, place, to, count));
    }
    return close_table(w, places[s->end - 1].end);
}

heddle_status hd_fill_new(hd_writing *w, uint32_t first, uint32_t end)
{
    const stretch all = {NULL, first, end, 0};
    return fill_parts(w, &all);
}

/* ------------------------------------------------------------------------------------ dividing */

/* Takes the pairs out of the table, which is gone then, and sorts them by places. */
static heddle_status take_out(hd_writing *w, const stretch *s, hd_sorted_pairs *p)
{
    uint64_t n = w->size;
    heddle_status status = hd_sorted_pairs_make(&w->sorting, s->first, s->end, n, p);
    if (status == HEDDLE_OK)
        status = heddle_table_export(
            w->table, p->keys, hd_shelf_value_width(w->shelf) != 0 ? p->values : NULL, n, &n, NULL);
    heddle_table_destroy(w->table);
    w->table = NULL;
    w->size = 0;
    return status == HEDDLE_OK ? hd_sorted_pairs_sort(&w->sorting, s->end, n, p) : status;
}

/* Fills new parts with the pairs of the table and with the rows that are left. */
static heddle_status divide(hd_writing *w, uint32_t first, uint32_t end, uint32_t done)
{
    hd_sorted_pairs pairs;
    const stretch all = {&pairs, first, end, done};
    heddle_status status = take_out(w, &all, &pairs);
    if (status == HEDDLE_OK) status = fill_parts(w, &all);
    hd_sorted_pairs_free(&pairs);
    return status;
}

heddle_status hd_fill_part(hd_writing *w, hd_shelf_part *part, uint32_t first, uint32_t end)
{
    const hd_place *places = w->sorting.places;
    const stretch all = {NULL, first, end, 0};
    const uint64_t rows = places[end - 1].at + places[end - 1].rows - places[first].at;
    const uint64_t room = w->shelf->limit > part->count ? w->shelf->limit - part->count : 0;
    HD_TRY(hd_part_load(w->shelf, part, rows < room ? rows : room));
    hd_sorting_read_ahead(&w->sorting, end - 1);
    w->size = part->count;
    w->table = hd_part_take_table(w->shelf, part);
    for (uint32_t place = first, to; place < end; place = to) {
        uint64_t count = 0;
        if (end - first > 1 && is_full(w, places[place].rows)) return divide(w, first, end, place);
        to = sure_to_fit(w, &all, place, &count);
        if (count != 0) HD_TRY(insert_rows(w, places[place].at, count));
    }
    return close_table(w, places[end - 1].end);
}
