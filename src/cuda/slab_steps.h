/*
 * slab_steps.h: the steps of scheme/slab.h as tiles take them in batches on tables that have no key twice: the
 * lane that sees a slot also acts on it, so nobody needs to be told which slot it was. What is done, and in
 * which order, is what slab_step does. Lanes look at different moments, so two of them may see the key, in the slot
 * of which it was erased and in that where it came again: one of them acts, after all have looked. Of two such slots of a
 * lane it keeps the later one, where the key came again.
 *
 * Tiles of a warp go together; those that are not active do nothing. HD_SLAB_ON and HD_SLAB_AGAIN: not at an end yet.
 */
#ifndef HD_CUDA_SLAB_STEPS_H
#define HD_CUDA_SLAB_STEPS_H

#include "scheme/slab_whole.h"

#define WARP_LANES 32
#define WHOLE_WARP 0xffffffffu

/* Of lanes, or of slots in a look. */
HD_FN uint32_t bits_before(uint32_t bit) { return (1u << bit) - 1; }

/* What the operations of a thread came to. */
typedef struct slab_sums {
    uint32_t placed, updated, spent, asked, found, erased, looks;
    uint32_t revived; /* of those that were placed: into slots that were DEAD */
} slab_sums;

/* What this lane sees of a slab. */
typedef struct slab_sight {
    bool here;      /* one of its slots holds the key */
    uint32_t slot;  /* that one */
    hd_value value; /* its value, where it was seen together with the key */
    bool pending;   /* one is about to hold it */
    uint32_t next;  /* the address of the slab after it, if it is in this lane's bytes */
    hd_key keys[HD_SLAB_LANE_SLOTS];
} slab_sight;

/* Also gives the lane's bytes. */
HD_FN slab_sight slab_see(hd_slab_tile t, const hd_slab_walk *walk, hd_slab_bytes *bytes)
{
    slab_sight s;
    *bytes = slab_load_lane(t, walk->slab);
    s.here = false;
    s.slot = 0;
    s.value = 0;
    s.pending = false;
    HD_UNROLL
    for (uint32_t j = 0; j < HD_SLAB_LANE_SLOTS; j++) {
        const uint32_t slot = slab_lane_slot(t.lane, j);
        const hd_key key = slab_lane_key(bytes, j);
        s.keys[j] =
            slot < HD_SLAB_SLOTS ? key : HD_STATE_DEAD; /* which is neither vacant nor any key's */
        s.pending |= s.keys[j] == (slab_lean(walk) | HD_STATE_PENDING);
        if (s.keys[j] != (slab_lean(walk) | HD_STATE_LIVE)) continue;
        s.here = true;
        s.slot = slot;
#if HD_SLAB_IN_ONE && HD_VALUE_BITS != 0
        s.value = bytes->words[j * 2 + 1];
#endif
    }
    s.next = slab_lane_next(bytes);
    return s;
}

/* Whether this lane is the first of its tile for which `here` holds; *any: it holds for one of them. */
HD_FN bool slab_first_to_see(hd_slab_tile t, bool here, bool *any)
{
    const uint32_t lanes = slab_vote(t, here);
    *any = lanes != 0;
    return here && (lanes & bits_before(t.lane)) == 0;
}

/* The address that one lane of the tile sees. */
HD_FN uint32_t slab_told_next(hd_slab_tile t, const slab_sight *s)
{
    return __shfl_sync(WHOLE_WARP, s->next, (int)(t.shift + HD_SLAB_NEXT_LANE));
}

/* From a slab in which the key was not seen, or is no more. */
HD_FN int slab_go_on(hd_slab_tile t, const hd_slab_view *view, hd_slab_walk *walk,
                     const slab_sight *s, bool goes)
{
    const uint32_t next = slab_told_next(t, s);
    if (goes && next != HD_SLAB_NONE) walk->slab = pool_slab(&view->pool, next);
    return next != HD_SLAB_NONE ? HD_SLAB_ON : HD_SLAB_ABSENT;
}

/* A value that is found becomes values[number], unless `values` is NULL. */
HD_FN int slab_seek(hd_slab_tile t, const hd_slab_view *view, hd_slab_walk *walk, hd_value *values,
                    uint32_t number, bool active, slab_sums *sums)
{
    hd_slab_bytes bytes;
    slab_sight s = slab_see(t, walk, &bytes);
    bool found;
    const bool here = slab_first_to_see(t, active && s.here, &found);
    sums->found += here;
    if (values != NULL && here) {
#if !(HD_SLAB_IN_ONE && HD_VALUE_BITS != 0)
        slab_seen();
        s.value = slab_value(walk->slab, s.slot);
#endif
        values[number] = s.value;
    }
    if (!__any_sync(WHOLE_WARP, active && !found)) return HD_SLAB_PRESENT;
    const int absent = slab_go_on(t, view, walk, &s, active && !found);
    return found ? (int)HD_SLAB_PRESENT : absent;
}

HD_FN int slab_remove(hd_slab_tile t, const hd_slab_view *view, hd_slab_walk *walk, bool active,
                      slab_sums *sums)
{
    hd_slab_bytes bytes;
    const slab_sight s = slab_see(t, walk, &bytes);
    bool found;
    const bool here = slab_first_to_see(t, active && s.here, &found);
    const bool mine = here && slab_bury(walk->slab, s.slot, slab_lean(walk));
    const bool buried = slab_vote(t, mine) != 0;
    sums->found += mine;
    sums->erased += mine;
    if (!__any_sync(WHOLE_WARP, active && !found)) return buried ? HD_SLAB_PRESENT : HD_SLAB_AGAIN;
    const int absent = slab_go_on(t, view, walk, &s, active && !found);
    return buried ? (int)HD_SLAB_PRESENT : found ? (int)HD_SLAB_AGAIN : absent;
}

/* A slab without vacancies and without the key is left for the next one, or gets one behind it. */
HD_FN int slab_put_on(hd_slab_tile t, const hd_slab_view *view, hd_slab_walk *walk,
                      const slab_sight *s, bool goes, hd_slab_taker *taker)
{
    int end = slab_go_on(t, view, walk, s, goes);
    if (goes && end == HD_SLAB_ABSENT && slab_tile_acts(t)) end = slab_extend(view, walk, taker);
    return slab_tile_tell(t, end);
}

/* The bits of VACANT slots of a slab; where insertions reuse slots of those that are VACANT or DEAD. */
template <bool REUSES> HD_FN uint32_t slab_free_bits(hd_slab_tile t, const slab_sight *s)
{
    uint32_t free = 0;
    HD_UNROLL
    for (uint32_t j = HD_SLAB_LANE_SLOTS; j-- > 0;) {
        /* The states of slots that are neither LIVE nor about to be are those without the topmost bit. */
        const bool mine = REUSES ? slab_lane_slot(t.lane, j) < HD_SLAB_SLOTS &&
                                       s->keys[j] >> (HD_KEY_BITS - 1) == 0
                                 : s->keys[j] == 0;
        free |= slab_vote(t, mine) << j * HD_SLAB_LANES;
    }
    return free;
}

/* What was seen in the j-th slot of this lane. */
HD_FN hd_slab_word slab_lane_word(const hd_slab_bytes *bytes, uint32_t j)
{
    hd_slab_word word = 0;
    HD_UNROLL
    for (uint32_t i = 0; i < HD_SLAB_LANE_SLOTS; i++) {
#if HD_SLAB_IN_ONE && HD_VALUE_BITS != 0
        if (i == j) word = (hd_slab_word)bytes->words[i * 2 + 1] << 32 | slab_lane_key(bytes, i);
#else
        if (i == j) word = slab_lane_key(bytes, i);
#endif
    }
    return word;
}

/* REUSES: nothing but insertions is under way, and they may take DEAD slots. */
template <bool REUSES>
HD_FN int slab_put(hd_slab_tile t, const hd_slab_view *view, hd_slab_walk *walk,
                   const hd_slab_task *task, bool active, hd_slab_taker *taker, slab_sums *sums)
{
    hd_slab_bytes bytes;
    const slab_sight s = slab_see(t, walk, &bytes);
    bool mine = false, waits = false, again = false, found;
    const bool here = slab_first_to_see(t, active && s.here, &found);
    const uint32_t next = REUSES ? slab_told_next(t, &s) : HD_SLAB_NONE;
    const uint32_t free = slab_free_bits<REUSES>(t, &s);
    hd_slab_word from = 0;
#if !HD_SLAB_IN_ONE
    waits = slab_vote(t, s.pending) !=
            0; /* no other may take the place of a key that is about to come */
#endif
    const bool takes = free != 0 && slab_may_take(walk, REUSES, next);
    if (here) {
        slab_seen();
        slab_update(walk->slab, s.slot, task->policy, task->value);
    } else if (active && !found && !waits && takes &&
               hd_lowest_bit(free) % HD_SLAB_LANES == t.lane) {
        const hd_pair pair = {slab_lean(walk), task->value};
        if (REUSES) from = slab_lane_word(&bytes, hd_lowest_bit(free) / HD_SLAB_LANES);
        mine = slab_claim(walk->slab, slab_slot(hd_lowest_bit(free)), from, pair);
    }
    const bool placed = slab_vote(t, mine) != 0, stuck = active && !takes && !found && !waits;
    sums->updated += here;
    sums->placed += mine;
    if (REUSES) sums->revived += mine && from != 0;
    int end = found ? HD_SLAB_PRESENT : placed ? HD_SLAB_PLACED : HD_SLAB_AGAIN;
    if (!__any_sync(WHOLE_WARP, stuck)) return end;
    if (REUSES && stuck) again = slab_begins_again(view, walk, free != 0, next);
    const int on = slab_put_on(t, view, walk, &s, stuck && !again, taker);
    if (stuck) end = again ? (int)HD_SLAB_AGAIN : on;
    sums->spent += active && end == HD_SLAB_SPENT && slab_tile_acts(t);
    return end;
}

#endif
