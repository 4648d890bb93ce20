/* ask.h: questions to a shelf, for operations that are made of them. */
#ifndef HD_SHELF_ASK_H
#define HD_SHELF_ASK_H

#include "shelf/sorting.h"

enum { HD_SHELF_FIND, HD_SHELF_CONTAINS, HD_SHELF_MATCHES, HD_SHELF_ERASE };

typedef struct hd_asking {
    heddle_shelf *shelf;
    uint32_t kind;
    hd_sorting sorting;
    hd_replies found, values; /* values: matches of a count */
    heddle_totals totals;
    hd_shelf_parts made; /* by an erasure */
} hd_asking;

/* hd_asking_end frees it; the parts of an erasure are the caller's to commit or discard. */
void hd_asking_begin(hd_asking *a, heddle_shelf *shelf, uint32_t kind);
/* Sorts the batch and asks all parts. The answers are there, in the order of the sorted rows. */
heddle_status hd_ask_sorted(hd_asking *a, const void *keys, uint64_t n, void *values,
                            uint32_t width, uint8_t *found);
void hd_asking_end(hd_asking *a);

#endif
