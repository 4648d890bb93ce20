/*
 * marks.h: taking back the marks (hash.h) that nobody needs any more, in place. Erasures leave cleared marks
 * behind, and so do evictions; searches go on at these in vain. Since a walk stays in its region, a region is
 * done at a time: first all its marks are set, then every key clears those of the buckets it lies behind, as
 * if it had just come. No pair moves. Runs while nobody else uses the table; between the two steps a search
 * would miss keys.
 */
#ifndef HD_MARKS_H
#define HD_MARKS_H

#include "scheme/census.h"

HD_FN void marks_set(const hd_view *view, uint64_t slot)
{
    *slot_key_at(view, slot) |= ~(hd_key)view->key_mask;
}

/* For the key in a slot of `region`, beside others that do the same. Nearly all are in their first bucket. */
HD_FN void marks_clear_before(const hd_view *view, uint32_t region, uint64_t slot)
{
    const hd_key key = census_key(view, slot), lean = key_bare(view, key);
    hd_walk walk = walk_start_lean(region, lean);
    if (key_is_vacant(key) || walk_bucket(view, &walk) == slot / HD_BUCKET) return;
    const hd_mark mark = mark_of(view, lean);
    do slot_mark(view, tile_slot(walk_bucket(view, &walk), mark.number), mark_bit(mark));
    while (walk_advance(view, &walk) && walk_bucket(view, &walk) != slot / HD_BUCKET);
}

#endif
