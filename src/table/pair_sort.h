/*
 * pair_sort.h: what it takes to sort the pairs of a table by region (model/partition.h): the job,
 * the parts of its scratch memory, and the way back from sorted pairs to keys and values. For
 * slots, slabs and graphs.
 */
#ifndef HD_PAIR_SORT_H
#define HD_PAIR_SORT_H

#include "host/scratch.h"
#include "table/table.h"

/* Parts of scratch memory begin at such places. */
#define HD_ALIGNMENT UINT64_C(256)
static inline uint64_t hd_aligned(uint64_t bytes)
{
    return (bytes + HD_ALIGNMENT - 1) / HD_ALIGNMENT * HD_ALIGNMENT;
}

/* The sorted pairs first; as offsets, room for as many, the starts, the engine's work. */
typedef struct hd_sort_layout {
    uint64_t spare, starts, work, bytes;
} hd_sort_layout;

/* A job for n pairs of the table, of so many regions; without arrays and memory. */
hd_partition hd_sort_job(const heddle_table *table, uint32_t region_bits, const hd_mix *mix,
                         uint64_t n);
/* `spare_elsewhere`: the caller has the room for as many pairs. */
hd_sort_layout hd_sort_layout_of(const heddle_table *table, const hd_partition *job,
                                 bool spare_elsewhere);
/* Gives the job its memory; `spare` where that is elsewhere, else NULL. */
void hd_sort_lay(hd_partition *job, const hd_sort_layout *l, char *memory, void *spare);
/*
 * Makes the n pairs that the job's spare room holds, those that found no place, the keys and values
 * of `rest`: copies in `scratch`, made on the stream of `rest`.
 */
heddle_status hd_sort_split(const heddle_table *table, const hd_partition *job, uint64_t n,
                            hd_scratch *scratch, hd_request *rest);

#endif
