/*
 * census.h: counts and checks one slot of a table whose scheme has walks (walk.inl). Written for one thread
 * at a time with plain loads, since it runs while nobody writes; both engines go through all slots with it.
 */
#ifndef HD_CENSUS_H
#define HD_CENSUS_H

#include "scheme/scheme.h"

HD_FN hd_key census_key(const hd_view *view, uint64_t slot)
{
    return word_key(((const hd_word *)view->slots)[slot]);
}

/* Whether a search for `lean` goes on behind this bucket. */
HD_FN bool census_is_passed(const hd_view *view, uint64_t bucket, hd_key lean)
{
    const hd_mark mark = mark_of(view, lean);
    return key_is_marked(census_key(view, tile_slot(bucket, mark.number)), mark);
}

/* How often `lean` stands in a bucket. */
HD_FN uint32_t census_copies(const hd_view *view, uint64_t bucket, hd_key lean)
{
    uint32_t copies = 0;
    for (uint32_t i = 0; i < HD_BUCKET; i++)
        copies += key_is(view, census_key(view, bucket * HD_BUCKET + i), lean);
    return copies;
}

/* Whether the walk has been at the bucket where it is before: two candidates may be the same. */
HD_FN bool census_repeats(const hd_view *view, const hd_walk *walk)
{
#if HD_EVICTS
    hd_walk before = walk_start_lean(walk->region, walk->lean);
    for (; before.step < walk->step; walk_advance(view, &before))
        if (walk_bucket(view, &before) == walk_bucket(view, walk)) return true;
#else
    (void)view, (void)walk;
#endif
    return false;
}

/*
 * Checks a live key that stands in `home`. Its equals are looked for as far as a search would go: one
 * that lies behind is unreachable, which its own slot will tell.
 */
HD_FN void census_live(const hd_view *view, uint64_t home, hd_key lean, hd_census *census)
{
    hd_walk walk = walk_start_lean((uint32_t)(home / view->region_buckets), lean);
    uint32_t copies = 0, probes = 0;
    bool reached = false, stopped = false, cut_off = false;
    do {
        const uint64_t bucket = walk_bucket(view, &walk);
        if (!stopped && !census_repeats(view, &walk)) copies += census_copies(view, bucket, lean);
        if (!reached) {
            probes++;
            reached = bucket == home;
            cut_off = stopped;
        }
        stopped = stopped || !census_is_passed(view, bucket, lean);
    } while (!(reached && stopped) && walk_advance(view, &walk));
    census->keys++;
    if (!reached) census->misplaced++;
    else if (cut_off) census->unreachable++;
    else census->probes[(probes < HEDDLE_PROBES_MAX ? probes : HEDDLE_PROBES_MAX) - 1]++;
    if (copies != 1 && !cut_off) census->twice++;
}

HD_FN bool census_is_full(const hd_view *view, uint64_t bucket)
{
    bool vacant = false;
    for (uint32_t i = 0; i < HD_BUCKET; i++)
        vacant = vacant || key_is_vacant(census_key(view, bucket * HD_BUCKET + i));
    return !vacant;
}

HD_FN void census_slot(const hd_view *view, uint64_t slot, hd_census *census)
{
    const uint64_t bucket = slot / HD_BUCKET;
    const hd_key key = census_key(view, slot);
    hd_key cleared = key_marks(view, ~key);
    for (; cleared != 0; cleared &= cleared - 1) census->marks++;
    if (slot % HD_BUCKET == 0 && census_is_full(view, bucket)) census->full++;
    if (!key_is_vacant(key)) census_live(view, bucket, key_bare(view, key), census);
    else if (!key_is(view, key, HD_KEY_EMPTY)) census->busy++;
}

#endif
