/*
 * ask.c: find, contains, count and erase: the batch is sorted by parts, every part that keys belong to is
 * loaded and asked, and the answers are delivered.
 *
 * An erasure makes new parts beside the old ones and commits them in the end, as an insertion does.
 */
#include "shelf/ask.h"

#include <string.h>

#include "base/error.h"
#include "host/public_struct.h"
#include "table/table.h"
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
    heddle_table *table = part->table;
    hd_shelf_part made;
    heddle_status status;
    a->shelf->loaded -= part->loaded; /* the table is the part's no more */
    part->table = NULL;
    part->loaded = 0;
    status = ask_rows(a, table, place->at, place->rows);
    if (status == HEDDLE_OK && a->totals.found == erased) {
        part->table = table;
        hd_part_release(a->shelf, part);
        return hd_parts_keep(&a->made, part);
    }
    if (status != HEDDLE_OK) {
        heddle_table_destroy(table);
        return status;
    }
    status = hd_part_save(a->shelf, part->first, table, &made);
    return status == HEDDLE_OK ? hd_parts_add(a->shelf, &a->made, &made) : status;
}

static heddle_status ask_place(hd_asking *a, uint32_t number)
{
    const hd_place *place = &a->sorting.places[number];
    hd_shelf_part *part = &a->shelf->parts.at[place->part];
    const bool erases = a->kind == HD_SHELF_ERASE;
    heddle_status status;
    if (place->rows == 0 || part->count == 0) {
        ask_nothing(a, place->at, place->rows);
        return erases ? hd_parts_keep(&a->made, part) : HEDDLE_OK;
    }
    status = hd_shelf_progress(a->shelf, HEDDLE_SHELF_WORK, place->at, a->sorting.n);
    if (status == HEDDLE_OK) status = hd_part_load(a->shelf, part, 0);
    if (status == HEDDLE_OK) hd_sorting_expect(&a->sorting, number);
    if (status == HEDDLE_OK)
        status =
            erases ? erase_rows(a, part, place) : ask_rows(a, part->table, place->at, place->rows);
    if (!erases) hd_part_release(a->shelf, part);
    hd_sorting_done(&a->sorting, place->at, place->rows);
    hd_spill_done(&a->found.spill, place->at, place->rows);
    hd_spill_done(&a->values.spill, place->at * a->values.width, place->rows * a->values.width);
    return status;
}

heddle_status hd_ask_sorted(hd_asking *a, const void *keys, uint64_t n, void *values,
                            uint32_t width, uint8_t *found)
{
    const bool flags = a->kind == HD_SHELF_FIND; /* values are delivered by them */
    hd_sorting_begin(&a->sorting, a->shelf, keys, NULL, n);
    HD_TRY(hd_sorting_run(&a->sorting, width + 1));
    HD_TRY(hd_replies_make(&a->sorting, found, 1, flags && !a->sorting.direct, &a->found));
    HD_TRY(hd_replies_make(&a->sorting, values, width, false, &a->values));
    for (uint32_t i = 0; i < a->sorting.place_count; i++) HD_TRY(ask_place(a, i));
    return hd_shelf_progress(a->shelf, HEDDLE_SHELF_WORK, n, n);
}

void hd_asking_begin(hd_asking *a, heddle_shelf *shelf, uint32_t kind)
{
    memset(a, 0, sizeof *a);
    a->shelf = shelf;
    a->kind = kind;
    a->found.spill.file = a->values.spill.file = -1;
    hd_sorting_begin(&a->sorting, shelf, NULL, NULL, 0);
}

void hd_asking_end(hd_asking *a)
{
    hd_replies_free(&a->found);
    hd_replies_free(&a->values);
    hd_sorting_end(&a->sorting);
}

/* ------------------------------------------------------------------------------------ the calls */

static heddle_status check_ask(heddle_shelf *shelf, const void *keys, uint64_t n,
                               const void *values, uint32_t width, const char *values_name,
                               const void *found)
{
    HD_TRY(hd_shelf_check(shelf, keys, n, hd_shelf_key_width(shelf), "keys"));
    if (width != 0) HD_TRY(hd_shelf_check(shelf, values, n, width, values_name));
    if (found != NULL) HD_TRY(hd_shelf_check(shelf, found, n, 1, "flags"));
    return HEDDLE_OK;
}

/* The lock is held. */
static heddle_status ask(hd_asking *a, const void *keys, uint64_t n, void *values, uint32_t width,
                         uint8_t *found, heddle_totals *totals)
{
    HD_TRY(hd_check_totals(totals));
    heddle_status status = check_ask(a->shelf, keys, n, values, width,
                                     a->kind == HD_SHELF_MATCHES ? "matches" : "values", found);
    if (status != HEDDLE_OK) return status;
    status = hd_ask_sorted(a, keys, n, values, width, found);
    if (status == HEDDLE_OK) status = hd_replies_deliver(&a->sorting, &a->found, &a->values);
    hd_asking_end(a);
    if (a->kind == HD_SHELF_ERASE) {
        if (status != HEDDLE_OK || a->totals.found == 0) hd_parts_discard(a->shelf, &a->made);
        else status = hd_parts_commit(a->shelf, &a->made);
    }
    if (status == HEDDLE_OK && totals != NULL) hd_write_totals(totals, &a->totals);
    return status;
}

heddle_status heddle_shelf_find(heddle_shelf *shelf, const void *keys, uint64_t n, void *values,
                                uint8_t *found, heddle_totals *totals)
{
    hd_asking a;
    heddle_status status = hd_shelf_enter(shelf, false, "find");
    if (status != HEDDLE_OK) return status;
    hd_asking_begin(&a, shelf, HD_SHELF_FIND);
    if (hd_shelf_value_width(shelf) == 0)
        status = hd_fail(HEDDLE_ERROR_INVALID,
                         "find: a set has no values to find; use heddle_shelf_contains");
    else status = ask(&a, keys, n, values, hd_shelf_value_width(shelf), found, totals);
    return hd_shelf_leave(shelf, status);
}

static heddle_status ask_plain(heddle_shelf *shelf, uint32_t kind, const char *what,
                               const void *keys, uint64_t n, void *values, uint32_t width,
                               uint8_t *found, heddle_totals *totals)
{
    hd_asking a;
    HD_TRY(hd_shelf_enter(shelf, kind == HD_SHELF_ERASE, what));
    hd_asking_begin(&a, shelf, kind);
    return hd_shelf_leave(shelf, ask(&a, keys, n, values, width, found, totals));
}

heddle_status heddle_shelf_contains(heddle_shelf *shelf, const void *keys, uint64_t n,
                                    uint8_t *found, heddle_totals *totals)
{
    return ask_plain(shelf, HD_SHELF_CONTAINS, "contains", keys, n, NULL, 0, found, totals);
}

heddle_status heddle_shelf_count(heddle_shelf *shelf, const void *keys, uint64_t n,
                                 uint64_t *matches, heddle_totals *totals)
{
    return ask_plain(shelf, HD_SHELF_MATCHES, "count", keys, n, matches, sizeof *matches, NULL,
                     totals);
}

heddle_status heddle_shelf_erase(heddle_shelf *shelf, const void *keys, uint64_t n, uint8_t *found,
                                 heddle_totals *totals)
{
    return ask_plain(shelf, HD_SHELF_ERASE, "erase", keys, n, NULL, 0, found, totals);
}
