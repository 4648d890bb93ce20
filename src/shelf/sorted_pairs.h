/* sorted_pairs.h: the pairs of a part that is to be divided, in host memory, sorted by the places of a batch. */
#ifndef HD_SORTED_PAIRS_H
#define HD_SORTED_PAIRS_H

#include "shelf/sorting.h"

typedef struct hd_sorted_pairs {
    char *keys, *values;
    uint64_t *starts; /* of every place, from that of `first` on; and where the last one ends */
    uint32_t first;
} hd_sorted_pairs;

/* Room for n pairs of places [first, end). hd_sorted_pairs_free frees it, also after a failure. */
heddle_status hd_sorted_pairs_make(const hd_sorting *s, uint32_t first, uint32_t end, uint64_t n,
                                   hd_sorted_pairs *pairs);
/* Sorts the n pairs that have been put there; all belong to places [pairs->first, end). */
heddle_status hd_sorted_pairs_sort(hd_sorting *s, uint32_t end, uint64_t n, hd_sorted_pairs *pairs);
void hd_sorted_pairs_free(hd_sorted_pairs *pairs);

#endif
