/*
 * spread.h: which member of a cluster a key lives on.
 *
 * The keys are mixed (hash.h) under a seed that all members share, and the leading bits of the mixed key
 * name one of 2^bits bins. Every bin has one owner. The bins of an owner are neighbours, a range of the
 * hash, but for heavy bins, which go where there is room.
 *
 * This mix is not that of the tables of the members. Each of them has keys of some bins only: under the
 * same mix all its keys would have the same leading bits, which name the region, and most regions of the
 * table would stay empty while a few overflow.
 */
#ifndef HD_SPREAD_H
#define HD_SPREAD_H

#include <stdbool.h>

#include "model/view.h"
#include <heddle/heddle.h>

/* Bins are not divided: the more a member has, the more alike are the members. So it has at least 64. */
#define HD_BIN_BITS_MIN 8
#define HD_BIN_BITS_MAX 16 /* enough for all members that a cluster may have */
#define HD_BINS_A_MEMBER 64

/* Neighbouring bins with one owner. */
typedef struct hd_bin_run {
    uint32_t first, end;
    uint32_t owner;
} hd_bin_run;

#define HD_OWNER_ALL (UINT32_MAX - 1) /* rows of this bin go to every member */

typedef struct hd_spread {
    hd_mix mix;
    uint32_t bits;
    uint32_t members;
    uint32_t *owners; /* of every bin; NULL: the runs alone say it */
    uint32_t run_count;
    hd_bin_run *
        runs; /* all bins, by owner and within an owner ascending; a bin of all is in those of each */
} hd_spread;

/* The bits of a cluster's bins. */
static inline uint32_t hd_spread_bits(uint32_t members)
{
    uint32_t bits = HD_BIN_BITS_MIN;
    while (bits < HD_BIN_BITS_MAX && UINT32_C(1) << bits < members * HD_BINS_A_MEMBER) bits++;
    return bits;
}

/* Bins in equal ranges: keys that differ spread evenly over the members. */
heddle_status hd_spread_init(hd_spread *spread, uint32_t members, uint64_t seed);
void hd_spread_free(hd_spread *spread);
/*
 * The same mix and bins with other owners: so that every member has as many of the rows counted, by bin. `loads`
 * are rows that every member has besides; NULL: none. `grows`: more rows will come later.
 */
heddle_status hd_spread_balanced(const hd_spread *like, const uint64_t *counts,
                                 const uint64_t *loads, bool grows, hd_spread *spread);
/* The same, but for the bins whose number in `owners` is not HD_OWNER_AS_IS: they get that owner, or all. */
heddle_status hd_spread_changed(const hd_spread *like, const uint32_t *owners, hd_spread *spread);
#define HD_OWNER_AS_IS UINT32_MAX
/* How many of the rows counted a member owns. */
uint64_t hd_spread_load(const hd_spread *spread, const uint64_t *counts, uint32_t member);

static inline uint32_t hd_spread_bins(const hd_spread *spread)
{
    return UINT32_C(1) << spread->bits;
}

#endif
