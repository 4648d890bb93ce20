/*
 * steps.h: the steps of scheme/slab.h as a warp takes them in batches: every lane has an operation of its own, and
 * looks at its slab with the other lanes of its tile. A tile lets the slabs of all its lanes be loaded, then goes
 * through them one after the other. What follows from a look the lane does whose operation it is, all 32 at once.
 * So a warp has 32 slabs on their way, and changing a slot, which takes more instructions than looking at it, costs
 * a warp's instructions once for 32 operations.
 *
 * Of a slab an operation needs to know but one slot: that with its key, else, to insert it, the first that is free.
 */
#ifndef HD_CUDA_SLAB_STEPS_H
#define HD_CUDA_SLAB_STEPS_H

#include "scheme/slab_whole.h"

#define WARP_LANES 32
#define WHOLE_WARP 0xffffffffu
#define WARP_SLAB_TILES (WARP_LANES / HD_SLAB_LANES)
#define TILE_FIRSTS (WHOLE_WARP / ((1u << HD_SLAB_LANES) - 1)) /* the first lane of every tile */

/* Of lanes, or of slots in a look. */
HD_FN uint32_t bits_before(uint32_t bit) { return (1u << bit) - 1; }

/* The bits of a look that stand for slots. */
HD_FN uint32_t slab_slot_bits(void)
{
    uint32_t bits = 0;
    HD_UNROLL
    for (uint32_t bit = 0; bit < HD_SLAB_ORDER; bit++)
        bits |= (uint32_t)(slab_slot(bit) < HD_SLAB_SLOTS) << bit;
    return bits;
}

/* What a slot is to an operation, plus its bit in a look: the least is the one that matters. */
enum { SIGHT_LIVE = 0, SIGHT_PENDING = 32, SIGHT_FREE = 64, SIGHT_NONE = 96 };

/* What is seen of a slab, by a lane and then by its tile. */
typedef struct slab_sight {
    uint32_t first;    /* SIGHT_*, and the bit */
    hd_slab_word word; /* what that slot holds, where a DEAD one may be taken */
    hd_value value;    /* beside the key, where both are seen together */
    uint32_t next;     /* the address of the slab after it */
} slab_sight;

/* Whether the j-th slot of a lane is one. */
HD_FN bool slab_lane_has(hd_slab_tile t, uint32_t j)
{
    return slab_lane_slot(HD_SLAB_LANES - 1, j) < HD_SLAB_SLOTS ||
           slab_lane_slot(t.lane, j) < HD_SLAB_SLOTS;
}

/* The j-th slot of a lane as it was seen. */
HD_FN hd_slab_word slab_lane_word(const hd_slab_bytes *bytes, uint32_t j)
{
#if HD_SLAB_IN_ONE && HD_VALUE_BITS != 0
    return (hd_slab_word)bytes->words[j * 2 + 1] << 32 | slab_lane_key(bytes, j);
#else
    return slab_lane_key(bytes, j);
#endif
}

/* REUSES: slots that are DEAD are free too. The states of slots that hold a key or will have the topmost bit. */
template <bool REUSES> HD_FN bool slab_is_free(hd_key key)
{
    return REUSES ? key >> (HD_KEY_BITS - 1) == 0 : key == 0;
}

/* What one lane sees. Last slots come first, and those with the key at the end, so that the one that matters stays. */
template <int OPERATION, bool MULTI, bool REUSES>
HD_FN slab_sight slab_lane_sight(hd_slab_tile t, const hd_slab_bytes *bytes, hd_key lean)
{
    const bool inserts = OPERATION == HD_SLAB_INSERT;
    slab_sight s = {SIGHT_NONE, 0, 0, slab_lane_next(bytes)};
    HD_UNROLL
    for (uint32_t j = HD_SLAB_LANE_SLOTS; inserts && j-- > 0;)
        if (slab_lane_has(t, j) && slab_is_free<REUSES>(slab_lane_key(bytes, j))) {
            s.first = SIGHT_FREE + j * HD_SLAB_LANES;
            if (REUSES) s.word = slab_lane_word(bytes, j);
        }
#if !HD_SLAB_IN_ONE
    HD_UNROLL
    for (uint32_t j = HD_SLAB_LANE_SLOTS; inserts && !MULTI && j-- > 0;)
        if (slab_lane_has(t, j) && slab_lane_key(bytes, j) == (lean | HD_STATE_PENDING))
            s.first = SIGHT_PENDING + j * HD_SLAB_LANES;
#endif
    HD_UNROLL
    for (uint32_t j = HD_SLAB_LANE_SLOTS; !(inserts && MULTI) && j-- > 0;)
        if (slab_lane_has(t, j) && slab_lane_key(bytes, j) == (lean | HD_STATE_LIVE)) {
            s.first = SIGHT_LIVE + j * HD_SLAB_LANES;
#if HD_SLAB_IN_ONE && HD_VALUE_BITS != 0
            s.value = bytes->words[j * 2 + 1];
#endif
        }
    s.first += t.lane;
    return s;
}

/* What the lanes of a tile see together. */
template <int OPERATION, bool REUSES>
HD_FN slab_sight slab_sight_of_tile(hd_slab_tile t, slab_sight s)
{
    HD_UNROLL
    for (uint32_t apart = 1; apart < HD_SLAB_LANES; apart *= 2) {
        const uint32_t other = __shfl_xor_sync(WHOLE_WARP, s.first, (int)apart);
        if (other < s.first) s.first = other;
    }
    const int lane = (int)(t.shift + s.first % HD_SLAB_LANES);
    if (REUSES) s.word = __shfl_sync(WHOLE_WARP, s.word, lane);
    if (OPERATION != HD_SLAB_INSERT && OPERATION != HD_SLAB_ERASE && HD_SLAB_IN_ONE &&
        HD_VALUE_BITS != 0)
        s.value = __shfl_sync(WHOLE_WARP, s.value, lane);
    s.next = __shfl_sync(WHOLE_WARP, s.next, (int)(t.shift + HD_SLAB_NEXT_LANE));
    return s;
}

/* The same as a look, in which bits of slots that do not matter may be missing. Behind a VACANT slot all are. */
template <bool REUSES> HD_FN hd_slab_look slab_look_of(const slab_sight *s)
{
    hd_slab_look look;
    const uint32_t bit = 1u << s->first % 32;
    memset(&look, 0, sizeof look);
    if (s->first < SIGHT_PENDING) look.live = bit;
    else if (s->first < SIGHT_FREE) look.pending = bit;
    else if (s->first < SIGHT_NONE && REUSES && s->word != 0) look.dead = bit;
    else if (s->first < SIGHT_NONE) look.vacant = ~(bit - 1) & slab_slot_bits();
    look.next = s->next;
    look.word = s->word;
#if HD_SLAB_IN_ONE && HD_VALUE_BITS != 0
    look.value = s->value;
#endif
    return look;
}

/* A look of every lane that is busy at its own slab. `busy` is the same for all lanes of the warp. */
template <int OPERATION, bool MULTI, bool REUSES>
HD_FN hd_slab_look slab_look_each(hd_slab_tile t, const hd_slab_walk *walk, uint32_t busy)
{
    hd_slab_bytes bytes[HD_SLAB_LANES]; /* of each lane's slab */
    slab_sight mine = {SIGHT_NONE, 0, 0, HD_SLAB_NONE};
    HD_UNROLL
    for (uint32_t i = 0; i < HD_SLAB_LANES; i++) {
        if ((busy & TILE_FIRSTS << i) == 0) continue;
        const uint64_t slab =
            __shfl_sync(WHOLE_WARP, (unsigned long long)(uintptr_t)walk->slab, (int)(t.shift + i));
        bytes[i] = slab_load_lane(t, (const char *)(uintptr_t)slab);
    }
    HD_UNROLL
    for (uint32_t i = 0; i < HD_SLAB_LANES; i++) {
        if ((busy & TILE_FIRSTS << i) == 0) continue;
        const hd_key lean = __shfl_sync(WHOLE_WARP, slab_lean(walk), (int)(t.shift + i));
        const slab_sight s = slab_sight_of_tile<OPERATION, REUSES>(
            t, slab_lane_sight<OPERATION, MULTI, REUSES>(t, &bytes[i], lean));
        if (t.lane == i) mine = s;
    }
#if !HD_SLAB_IN_ONE
    __syncwarp(); /* what a lane does from here on comes after what its neighbours saw */
#endif
    return slab_look_of<REUSES>(&mine);
}

#endif
