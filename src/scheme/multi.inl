/*
 * multi.inl: multimaps by open addressing (Juenger et al., WarpCore): every pair has a slot of its own,
 * equal ones too, in the windows of scheme/open.h. An insertion does not look for its key; it takes the
 * first vacancy on its key's trail.
 *
 * The windows of a region are taken by double hashing, as in open.h, but with many more strides.
 *
 * A trail is a walk that may leave its region, since a key may have more pairs than a region has slots.
 * The bits of a key that its slot does not hold are the leading 1 + mark_bits bits of the mixed key
 * (hash.h), so a pair may lie in any region whose number begins with these: a zone. The trail goes
 * through HD_LEG windows of its own region, then through as many of the next region of the zone, in a
 * circle, and when it is back through the next HD_LEG windows of each. In the end it has met every window
 * of the zone once. Frequent keys are spread over many regions so, and fill none.
 *
 * The invariant that lets a search stop: a pair that lies behind a window on its trail has cleared its
 * mark there (walk.inl), and fewer than view->hashes windows in a row before it hold no pair of its key.
 * Erasing takes all pairs of a key at once, so no such row gets longer while a pair lies behind it.
 */
#ifndef HD_SCHEME_ID
#error "included by a scheme: cuckoo.h, open.h, iceberg.h"
#endif
#ifndef HD_MULTI_H
#define HD_MULTI_H

#include "scheme/walk.inl"

#include "tile/tile_multi.h"

#define HD_LEG_BITS 5
#define HD_LEG (UINT32_C(1) << HD_LEG_BITS)

typedef struct hd_trail {
    hd_key lean;
    uint32_t region; /* where it begins */
    uint32_t number; /* windows already left behind */
    uint32_t alone;  /* how many of these, the last in a row, hold no pair of the key */
} hd_trail;

HD_FN uint32_t zone_bits(const hd_view *view) { return view->region_bits - 1 - view->mark_bits; }

HD_FN uint64_t zone_windows(const hd_view *view)
{
    return (uint64_t)view->region_buckets << zone_bits(view);
}

/* The trail of the key that a slot of `region`, anywhere in its zone, holds as `lean`. */
HD_FN hd_trail trail_start_lean(const hd_view *view, uint32_t region, hd_key lean)
{
    hd_trail trail;
    trail.lean = lean;
    trail.region = region_of(view, mixed_from_lean(view, region, lean));
    trail.number = 0;
    trail.alone = 0;
    return trail;
}

HD_FN hd_trail trail_start_mixed(const hd_view *view, hd_key mixed)
{
    hd_trail trail;
    trail.lean = lean_key(view, mixed);
    trail.region = region_of(view, mixed);
    trail.number = 0;
    trail.alone = 0;
    return trail;
}

HD_FN hd_trail trail_start(const hd_view *view, hd_key key)
{
    return trail_start_mixed(view, mix_key(&view->mix, key));
}

/*
 * A region has a prime number of windows, so any stride leads through all of them. There are that many
 * strides because a key with many pairs fills a row of windows: another one with the same stride, or a
 * small multiple of it, that comes upon this row goes all along it. In another region it begins elsewhere.
 */
HD_FN uint32_t trail_stride(uint32_t chain, uint32_t windows)
{
    return 1 + hd_mulhi32(chain_next(chain), windows - 1);
}

/* The window that the trail is at. The last legs of a region may be shorter than the others. */
HD_FN uint64_t trail_bucket(const hd_view *view, const hd_trail *trail)
{
    const uint32_t chain = chain_start(trail->lean), windows = view->region_buckets;
    uint32_t region = trail->region, window = hd_mulhi32(chain, windows);
    if (trail->number != 0) {
        const uint32_t bits = zone_bits(view), last = (UINT32_C(1) << bits) - 1;
        const uint32_t lap = trail->number >> HD_LEG_BITS >> bits;
        const uint32_t within = trail->number - (lap << bits << HD_LEG_BITS);
        const uint32_t rest = windows - lap * HD_LEG;
        const uint32_t leg = rest < HD_LEG ? rest : HD_LEG;
        const uint32_t ahead = leg == HD_LEG ? within >> HD_LEG_BITS : within / leg;
        const uint32_t step = lap * HD_LEG + within - ahead * leg;
        if (ahead != 0) window = hd_mulhi32(chain_next(chain + ahead), windows);
        window = (window + step * trail_stride(chain, windows)) % windows;
        region = (region & ~last) | ((region + ahead) & last);
    }
    return (uint64_t)region * windows + window;
}

/* Leaves a window behind, in which a pair of the key was `met` or not; false where the trail ends. */
HD_FN bool trail_pass(const hd_view *view, hd_trail *trail, bool met)
{
    trail->alone = met ? 0 : trail->alone + 1;
    trail->number++;
    return trail->alone < view->hashes && trail->number < zone_windows(view) &&
           trail->number != UINT32_MAX;
}

/* Windows in a row that an insertion looks at in vain in a zone where another has found no room. */
#define HD_WEARY 128

/*
 * One look of an insertion at the window that the trail is at, beside other tiles that do the same. Tiles
 * may go together. *full_zones has a bit for every zone where this tile has found no room before.
 * HD_PLACED, HD_NO_ROOM or HD_GOES_ON.
 */
HD_FN int append_step(hd_tile t, const hd_view *view, hd_trail *trail, const hd_bucket *b,
                      hd_value value, bool active, uint32_t *full_zones)
{
    hd_vacancy room;
    hd_pair pair;
    pair.lean = trail->lean;
    pair.value = value;
    const int state = bucket_room(t, view, b, &room);
    const bool placed = vacancy_claim(t, view, room, pair, active && state == HD_ROOM_FREE);
    const bool full = active && state == HD_ROOM_NONE;
    bool goes_on = true;
    if (tiles_any(t, full)) {
        hd_hit hit;
        const bool met = bucket_lookup(t, view, b, trail->lean, &hit);
        bucket_mark(t, view, b, trail->lean, full); /* nobody erases now: it stays full */
        if (full) {
            const uint32_t zone = UINT32_C(1) << (trail->region >> zone_bits(view));
            goes_on = trail_pass(view, trail, met) &&
                      !(trail->alone >= HD_WEARY && (*full_zones & zone) != 0);
            if (!goes_on) *full_zones |= zone;
        }
    }
    if (placed) return HD_PLACED;
    return goes_on ? HD_GOES_ON : HD_NO_ROOM;
}

/* Where a search goes from a window with or without pairs of its key; whether it goes anywhere. */
HD_FN bool search_pass(const hd_view *view, hd_trail *trail, bool passed, bool met)
{
    return passed && trail_pass(view, trail, met);
}

/* ------------------------------------------------------------------------------------- census */

HD_FN hd_key multi_key(const hd_view *view, uint64_t slot)
{
    return word_key(((const hd_word *)view->slots)[slot]);
}

/* How many slots of a bucket hold `lean`, and which of them is the first. */
HD_FN uint32_t multi_copies(const hd_view *view, uint64_t bucket, hd_key lean, uint64_t *first)
{
    uint32_t copies = 0;
    for (uint32_t i = HD_BUCKET; i-- > 0;) {
        const uint64_t slot = bucket * HD_BUCKET + i;
        if (!key_is(view, multi_key(view, slot), lean)) continue;
        *first = slot;
        copies++;
    }
    return copies;
}

/* Follows a key's trail as a search does, and counts the pairs that it meets. */
HD_FN void multi_search(const hd_view *view, hd_trail trail, hd_census *census)
{
    const hd_mark mark = mark_of(view, trail.lean);
    bool goes_on = true;
    while (goes_on) {
        const uint64_t bucket = trail_bucket(view, &trail);
        const bool passed = key_is_marked(multi_key(view, tile_slot(bucket, mark.number)), mark);
        uint64_t first;
        const uint32_t copies = multi_copies(view, bucket, trail.lean, &first);
        const uint32_t at = trail.number < HEDDLE_PROBES_MAX ? trail.number : HEDDLE_PROBES_MAX - 1;
        census->probes[at] += copies;
        goes_on = search_pass(view, &trail, passed, copies != 0);
    }
}

/*
 * Checks the pairs of a key in a bucket, in the name of the first of them. A search is made once for a key, in the name of
 * the first window on its trail that has a pair of it: k pairs would take k * k looks otherwise. What no search has met is
 * not counted here: hd_census says how it is known.
 */
HD_FN void multi_live(const hd_view *view, uint64_t home, hd_key lean, uint32_t copies,
                      hd_census *census)
{
    const hd_trail start = trail_start_lean(view, (uint32_t)(home / view->region_buckets), lean);
    const hd_mark mark = mark_of(view, lean);
    hd_trail trail = start;
    uint64_t bucket = trail_bucket(view, &trail), first;
    bool cut_off = false, goes_on = true;
    while (goes_on && bucket != home && multi_copies(view, bucket, lean, &first) == 0) {
        cut_off = cut_off || !key_is_marked(multi_key(view, tile_slot(bucket, mark.number)), mark);
        goes_on = trail_pass(view, &trail, false);
        bucket = trail_bucket(view, &trail);
    }
    census->keys += copies;
    if (!goes_on) census->misplaced += copies;
    else if (bucket == home && !cut_off) multi_search(view, start, census);
}

/* Counts and checks one slot of a multimap, as census.h does for other tables. */
HD_FN void multi_census(const hd_view *view, uint64_t slot, hd_census *census)
{
    const uint64_t bucket = slot / HD_BUCKET;
    const hd_key key = multi_key(view, slot);
    hd_key cleared = key_marks(view, ~key);
    uint64_t first = 0;
    for (; cleared != 0; cleared &= cleared - 1) census->marks++;
    if (slot % HD_BUCKET == 0) {
        bool vacant = false;
        for (uint32_t i = 0; i < HD_BUCKET; i++)
            vacant = vacant || key_is_vacant(multi_key(view, slot + i));
        census->full += !vacant;
    }
    if (!key_is_vacant(key)) {
        const uint32_t copies = multi_copies(view, bucket, key_bare(view, key), &first);
        if (first == slot) multi_live(view, bucket, key_bare(view, key), copies, census);
    } else if (!key_is(view, key, HD_KEY_EMPTY)) {
        census->busy++;
    }
}

#endif
