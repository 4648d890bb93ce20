/*
 * pair_sort.h: what it takes to sort the pairs of a table by region (model/partition.h): the job, the parts of its
 * scratch memory, and the way back from sorted pairs to keys and values.
 */
#ifndef HD_PAIR_SORT_H
#define HD_PAIR_SORT_H

#include "host/scratch.h"
#include "table/table.h"

/* The sorted pairs first, then, as offsets from the beginning, room for as many, the starts and the engine's work. */
typedef struct hd_sort_layout {
    uint64_t spare, starts, work, bytes;
} hd_sort_layout;

/* A job for n pairs of the table, of regions as `view` has them; without arrays and memory. */
hd_partition hd_sort_job(const heddle_table *table, const hd_view *view, uint64_t n);
/* `spare_elsewhere`: the caller has the room for as many pairs. */
hd_sort_layout hd_sort_layout_of(const heddle_table *table, const hd_partition *job,
                                 bool spare_elsewhere);
/* Gives the job its memory; `spare` where that is elsewhere, else NULL. */
void hd_sort_lay(hd_partition *job, const hd_sort_layout *l, char *memory, void *spare);
/* Copies of n sorted pairs as keys and values, the latter NULL in a set, in memory of `scratch`. */
heddle_status hd_sort_split(const heddle_table *table, const hd_mix *mix, const void *pairs,
                            uint64_t n, hd_scratch *scratch, void **keys, void **values,
                            void *stream);

#endif
