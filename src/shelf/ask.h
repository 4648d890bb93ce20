/*
 * ask.h: questions to a shelf: find, contains, count and erase, and what retrieve is made of. The steps:
 *
 *   heddle_shelf_find, ...   make a request of the caller's arrays (ask.c)
 *   check_ask                refuses what cannot be used
 *   hd_sorting_run           sorts the batch by parts (sorting.h)
 *   ask_place                loads a part and asks its table; an erasure makes a new part of the table
 *   hd_answers_deliver       brings the answers into the order of the batch (answers.c)
 *   hd_parts_commit          an erasure's parts become those of the shelf (commit.c)
 *
 * retrieve.c asks for the counts first and then goes through the parts again, for the values.
 */
#ifndef HD_SHELF_ASK_H
#define HD_SHELF_ASK_H

#include "shelf/sorting.h"
#include "table/request.h"

enum { HD_SHELF_FIND, HD_SHELF_CONTAINS, HD_SHELF_MATCHES, HD_SHELF_ERASE };

typedef struct hd_asking {
    heddle_shelf *shelf;
    uint32_t kind;
    const hd_request *request; /* keys, n; values_out, matches, found: where answers go */
    hd_sorting sorting;
    hd_answers found, values; /* values: matches of a count */
    heddle_totals totals;
    hd_shelf_parts made; /* by an erasure */
} hd_asking;

/* hd_asking_end frees it; the parts of an erasure are the caller's to commit or discard. */
void hd_asking_begin(hd_asking *a, heddle_shelf *shelf, uint32_t kind, const hd_request *request);
/* Sorts the batch and asks all parts. The answers are there, in the order of the sorted rows. */
heddle_status hd_ask_sorted(hd_asking *a);
void hd_asking_end(hd_asking *a);

#endif
