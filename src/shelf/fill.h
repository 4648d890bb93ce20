/*
 * fill.h: parts are filled with the rows of places: what write.c does with one part after the other.
 *
 * A part is filled from place to place until the next might make it too large; it then ends there and the next
 * begins. So parts are as full as their rows and duplicates have it, without anybody having to know beforehand how
 * many keys are different.
 *
 *   a new part           takes places one after the other, as many at a time as are sure to fit;
 *   a part with pairs    is loaded and takes its places likewise. If the next place may not fit, its pairs are
 *                        taken out and sorted by places in memory (sorted_pairs.c), and new parts are filled from
 *                        these and from the rows that are left.
 */
#ifndef HD_SHELF_FILL_H
#define HD_SHELF_FILL_H

#include "shelf/sorting.h"

/* A batch that is written. */
typedef struct hd_writing {
    heddle_shelf *shelf;
    hd_sorting sorting;
    hd_answers outcomes;
    heddle_insert_options options; /* of the insertions into tables */
    heddle_totals totals;
    hd_shelf_parts made;
    heddle_table *table; /* being filled; NULL: none */
    uint32_t first;      /* its first bin */
    uint64_t size;       /* its pairs */
} hd_writing;

/* Fills new parts with the rows of places [first, end), which are all of one part. */
heddle_status hd_fill_new(hd_writing *w, uint32_t first, uint32_t end);
/* Adds the rows of places [first, end) to the part that they belong to, which holds pairs. */
heddle_status hd_fill_part(hd_writing *w, hd_shelf_part *part, uint32_t first, uint32_t end);

#endif
