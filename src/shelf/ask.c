/*
 * ask.c: find, contains, count and erase: the batch is sorted by parts, every part that keys belong to is
 * loaded and asked, and the answers are delivered; ask.h has the steps.
 *
 * An erasure makes new parts beside the old ones and commits them in the end, as an insertion does.
 */
#include "shelf/ask.h"

#include <string.h>

#include "base/error.h"
#include "host/public_struct.h"
#include "table/totals.h"

#define PIECE_MAX (UINT64_C(1) << 24) /* rows between two calls of the progress function */
#define PIECE_MIN 1024
#define PIECE_SHARE 8 /* of the memory: some kinds of tables copy a batch to their device whole */

/* Asks the part's table about the sorted rows [at, at + n). */
static heddle_status ask_table(hd_asking *a, heddle_table *table, uint64_t at, uint64_t n,
                               heddle_totals *totals)
{
    const void *keys = hd_sorting_keys(&a->sorting, at);
    uint8_t *found = a->found.memory != NULL ? (uint8_t *)a->found.memory + at : NULL;
    char *values = a->values.memory != NULL ? a->values.memory + at * a->values.width : NULL;
    switch (a->kind) {
    case HD_SHELF_ERASE: return heddle_table_erase(table, keys, n, found, totals, NULL);
    case HD_SHELF_MATCHES:
        return heddle_table_count(table, keys, n, (uint64_t *)(void *)values, totals, NULL);
    default:
        return values == NULL ? heddle_table_contains(table, keys, n, found, totals, NULL)
                              : heddle_table_find(table, keys, n, values, found, totals, NULL);
    }
}

/* What a part without pairs says. */
static void ask_nothing(hd_asking *a, uint64_t at, uint64_t n)
{
    if (n == 0) return;
    if (a->found.memory != NULL) memset(a->found.memory + at, 0, n);
    if (a->kind == HD_SHELF_MATCHES) memset(a->values.memory + at * 8, 0, n * 8);
    a->totals.absent += n;
}

static uint64_t piece_rows(const hd_asking *a)
{
    const uint64_t row = hd_shelf_key_width(a->shelf) + a->values.width + 9;
    const uint64_t rows = a->shelf->memory / PIECE_SHARE / row;
    return rows < PIECE_MIN ? PIECE_MIN : rows > PIECE_MAX ? PIECE_MAX : rows;
}

static heddle_status ask_rows(hd_asking *a, heddle_table *table, uint64_t at, uint64_t n)
{
    const uint64_t piece = piece_rows(a);
    for (uint64_t first = 0; first < n; first += piece) {
        const uint64_t length = n - first < piece ? n - first : piece;
        heddle_totals totals = HEDDLE_TOTALS_INIT;
        HD_TRY(hd_shelf_progress(a->shelf, HEDDLE_SHELF_WORK, at + first, a->sorting.n));
        HD_TRY(ask_table(a, table, at + first, length, &totals));
        hd_totals_sum(&a->totals, &totals);
    }
    return HEDDLE_OK;
}

/* Erases from a part's table, and makes a new part of it if anything was. */
static heddle_status erase_rows(hd_asking *a, hd_shelf_part *part, const hd_place *place)
{
    const uint64_t erased = a->totals.found;
    heddle_table *table = hd_part_take_table(a->shelf, part);
    hd_shelf_part made;
    const heddle_status status = ask_rows(a, table, place->at, place->rows);
    if (status == HEDDLE_OK && a->totals.found == erased) {
        part->table = table;
        hd_part_release(a->shelf, part);
        return hd_parts_keep(&a->made, part);
    }
    if (status != HEDDLE_OK) {
        heddle_table_destroy(table);
        return status;
    }
    HD_TRY(hd_part_save(a->shelf, part->first, table, &made));
    return hd_parts_add(a->shelf, &a->made, &made);
}

/* Loads the part of a place and asks its table. */
static heddle_status ask_part(hd_asking *a, hd_shelf_part *part, uint32_t number)
{
    const hd_place *place = &a->sorting.places[number];
    HD_TRY(hd_shelf_progress(a->shelf, HEDDLE_SHELF_WORK, place->at, a->sorting.n));
    HD_TRY(hd_part_load(a->shelf, part, 0));
    hd_sorting_read_ahead(&a->sorting, number);
    return a->kind == HD_SHELF_ERASE ? erase_rows(a, part, place)
                                     : ask_rows(a, part->table, place->at, place->rows);
}

static heddle_status ask_place(hd_asking *a, uint32_t number)
{
    const hd_place *place = &a->sorting.places[number];
    hd_shelf_part *part = &a->shelf->parts.at[place->part];
    const bool erases = a->kind == HD_SHELF_ERASE;
    if (place->rows == 0 || part->count == 0) {
        ask_nothing(a, place->at, place->rows);
        return erases ? hd_parts_keep(&a->made, part) : HEDDLE_OK;
    }
    const heddle_status status = ask_part(a, part, number);
    if (!erases) hd_part_release(a->shelf, part);
    hd_sorting_done(&a->sorting, place->at, place->rows);
    hd_spill_done(&a->found.spill, place->at, place->rows);
    hd_spill_done(&a->values.spill, place->at * a->values.width, place->rows * a->values.width);
    return status;
}

/* The caller's array for what comes with every key beside a flag, and the bytes of an element; NULL: none. */
static void *values_of(const hd_asking *a, uint32_t *width)
{
    *width = 0;
    if (a->kind == HD_SHELF_FIND) *width = hd_shelf_value_width(a->shelf);
    if (a->kind == HD_SHELF_MATCHES) *width = sizeof *a->request->matches;
    return a->kind == HD_SHELF_MATCHES ? a->request->matches : a->request->values_out;
}

heddle_status hd_ask_sorted(hd_asking *a)
{
    const hd_request *request = a->request;
    const bool flags = a->kind == HD_SHELF_FIND; /* values are delivered by them */
    uint32_t width = 0;
    void *values = values_of(a, &width);
    hd_sorting_begin(&a->sorting, a->shelf, request->keys, NULL, request->n);
    HD_TRY(hd_sorting_run(&a->sorting, width + 1));
    HD_TRY(hd_answers_make(&a->sorting, request->found, 1, flags && !a->sorting.direct, &a->found));
    HD_TRY(hd_answers_make(&a->sorting, values, width, false, &a->values));
    for (uint32_t i = 0; i < a->sorting.place_count; i++) HD_TRY(ask_place(a, i));
    return hd_shelf_progress(a->shelf, HEDDLE_SHELF_WORK, request->n, request->n);
}

void hd_asking_begin(hd_asking *a, heddle_shelf *shelf, uint32_t kind, const hd_request *request)
{
    memset(a, 0, sizeof *a);
    a->shelf = shelf;
    a->kind = kind;
    a->request = request;
    a->found.spill.file = a->values.spill.file = -1;
    hd_sorting_begin(&a->sorting, shelf, NULL, NULL, 0);
}

void hd_asking_end(hd_asking *a)
{
    hd_answers_free(&a->found);
    hd_answers_free(&a->values);
    hd_sorting_end(&a->sorting);
}

/* ------------------------------------------------------------------------------------ the calls */

static heddle_status check_ask(const hd_asking *a)
{
    const hd_request *request = a->request;
    uint32_t width = 0;
    const void *values = values_of(a, &width);
    if (a->kind == HD_SHELF_FIND && width == 0)
        return hd_fail(HEDDLE_ERROR_INVALID,
                       "find: a set has no values to find; use heddle_shelf_contains");
    HD_TRY(
        hd_shelf_check(a->shelf, request->keys, request->n, hd_shelf_key_width(a->shelf), "keys"));
    if (width != 0)
        HD_TRY(hd_shelf_check(a->shelf, values, request->n, width,
                              a->kind == HD_SHELF_MATCHES ? "matches" : "values"));
    if (request->found != NULL)
        HD_TRY(hd_shelf_check(a->shelf, request->found, request->n, 1, "flags"));
    return HEDDLE_OK;
}

static heddle_status ask_batch(hd_asking *a)
{
    HD_TRY(check_ask(a));
    HD_TRY(hd_ask_sorted(a));
    return hd_answers_deliver(&a->sorting, &a->found, &a->values);
}

/* What was erased counts from here on. */
static heddle_status end_erasure(hd_asking *a, heddle_status status)
{
    if (status == HEDDLE_OK && a->totals.found != 0) return hd_parts_commit(a->shelf, &a->made);
    hd_parts_discard(a->shelf, &a->made);
    return status;
}

/* The lock is held. */
static heddle_status ask(heddle_shelf *shelf, uint32_t kind, const hd_request *request,
                         heddle_totals *totals)
{
    hd_asking a;
    heddle_status status;
    HD_TRY(hd_check_totals(totals));
    hd_asking_begin(&a, shelf, kind, request);
    status = ask_batch(&a);
    hd_asking_end(&a);
    if (kind == HD_SHELF_ERASE) status = end_erasure(&a, status);
    if (status == HEDDLE_OK && totals != NULL) hd_write_totals(totals, &a.totals);
    return status;
}

static heddle_status call(heddle_shelf *shelf, uint32_t kind, const hd_request *request,
                          heddle_totals *totals)
{
    static const char *const names[] = {"find", "contains", "count", "erase"};
    HD_TRY(hd_shelf_enter(shelf, kind == HD_SHELF_ERASE, names[kind]));
    return hd_shelf_leave(shelf, ask(shelf, kind, request, totals));
}

heddle_status heddle_shelf_find(heddle_shelf *shelf, const void *keys, uint64_t n, void *values,
                                uint8_t *found, heddle_totals *totals)
{
    const hd_request request = {.keys = keys, .n = n, .values_out = values, .found = found};
    return call(shelf, HD_SHELF_FIND, &request, totals);
}

heddle_status heddle_shelf_contains(heddle_shelf *shelf, const void *keys, uint64_t n,
                                    uint8_t *found, heddle_totals *totals)
{
    const hd_request request = {.keys = keys, .n = n, .found = found};
    return call(shelf, HD_SHELF_CONTAINS, &request, totals);
}

heddle_status heddle_shelf_count(heddle_shelf *shelf, const void *keys, uint64_t n,
                                 uint64_t *matches, heddle_totals *totals)
{
    const hd_request request = {.keys = keys, .n = n, .matches = matches};
    return call(shelf, HD_SHELF_MATCHES, &request, totals);
}

heddle_status heddle_shelf_erase(heddle_shelf *shelf, const void *keys, uint64_t n, uint8_t *found,
                                 heddle_totals *totals)
{
    const hd_request request = {.keys = keys, .n = n, .found = found};
    return call(shelf, HD_SHELF_ERASE, &request, totals);
}
