/*
 * slab_cuda.inl: a slab as the lanes of a tile look at it, two pieces of 16 bytes each; see slab_tile.h. Four lanes
 * rather than eight: a warp then has twice as many slabs on their way, for the same instructions. The tiles of a
 * warp go together: no branch may part them around a look. With HD_SLAB_ALONE every tile goes its own way, as
 * in kernels of a user's own; votes cost more then, since their voters have to be gathered. With HD_ONE_LANE a tile
 * is one thread (slab_cuda_one.inl).
 *
 * Bit 4 * j + l of a look is the j-th slot of lane l, so the bits of a ballot stay as they are. Slots and the
 * address behind them are read in no order, which is right: see scheme/slab.h. A lane reads past the first-level
 * cache; what another tile has written is seen, and what follows from it is an access to the same slab or to
 * one that was all 0 before.
 */
#ifndef HD_SLAB_TILE_H
#error "included by slab_tile.h alone"
#endif
#ifndef HD_SLAB_CUDA_H
#define HD_SLAB_CUDA_H

#include "tile/load_cuda.h"

#define HD_SLAB_LANES 4
#define HD_SLAB_PIECE 16
#define HD_SLAB_PIECES (HD_SLAB_BYTES / HD_SLAB_PIECE / HD_SLAB_LANES) /* of a lane */
/* Bytes from one key word to the next; key words of a lane. */
#define HD_SLAB_STEP (HD_APART ? HD_KEY_BITS / 8 : HD_SLAB_PAIR_BYTES)
#define HD_SLAB_PIECE_SLOTS (HD_SLAB_PIECE / HD_SLAB_STEP)
#define HD_SLAB_LANE_SLOTS (HD_SLAB_PIECES * HD_SLAB_PIECE_SLOTS)
/* The lane that has the address of the next slab, and which of its 32-bit words that is. */
#define HD_SLAB_NEXT_LANE (HD_SLAB_TAIL / HD_SLAB_PIECE % HD_SLAB_LANES)
#define HD_SLAB_NEXT_WORD                                                                          \
    (HD_SLAB_TAIL / HD_SLAB_PIECE / HD_SLAB_LANES * (HD_SLAB_PIECE / 4) +                          \
     HD_SLAB_TAIL % HD_SLAB_PIECE / 4)
#define HD_SLAB_ORDER                                                                              \
    (HD_SLAB_LANES * HD_SLAB_LANE_SLOTS) /* bits of a look, not all of them slots */

/* The j-th slot of a lane: neighbouring lanes have neighbouring pieces, so that they are read together. */
HD_FN uint32_t slab_lane_slot(uint32_t lane, uint32_t j)
{
    return (j / HD_SLAB_PIECE_SLOTS * HD_SLAB_LANES + lane) * HD_SLAB_PIECE_SLOTS +
           j % HD_SLAB_PIECE_SLOTS;
}

HD_FN uint32_t slab_slot(uint32_t bit)
{
    return slab_lane_slot(bit % HD_SLAB_LANES, bit / HD_SLAB_LANES);
}

/* Where key and value change together there is nothing to wait for. */
HD_FN void slab_seen(void)
{
#if !HD_SLAB_IN_ONE
    __threadfence();
#endif
}

HD_FN hd_slab_word slab_dead_word(char *slab, uint32_t slot, const hd_slab_look *look)
{
    (void)slab, (void)slot;
    return look->word;
}

#ifdef HD_ONE_LANE
#include "tile/slab_cuda_one.inl"
#else

/* Who takes part in a vote or a shuffle. */
#ifdef HD_SLAB_ALONE
#define HD_SLAB_VOTERS(t) (((1u << HD_SLAB_LANES) - 1) << (t).shift)
#else
#define HD_SLAB_VOTERS(t) 0xffffffffu
#endif

typedef struct hd_slab_tile {
    uint32_t shift; /* of its lanes within the warp */
    uint32_t lane;  /* this thread within the tile */
} hd_slab_tile;

HD_FN hd_slab_tile slab_tile_here(void)
{
    hd_slab_tile t;
    t.lane = threadIdx.x % HD_SLAB_LANES;
    t.shift = threadIdx.x % 32 - t.lane;
    return t;
}

HD_FN uint32_t slab_vote(hd_slab_tile t, bool mine)
{
    return __ballot_sync(HD_SLAB_VOTERS(t), mine) >> t.shift & ((1u << HD_SLAB_LANES) - 1);
}

/* The bytes of a lane. The j-th key word is words[j * HD_SLAB_STEP / sizeof(hd_key)]. */
typedef struct hd_slab_bytes {
    hd_key words[HD_SLAB_PIECES * HD_SLAB_PIECE / sizeof(hd_key)];
} hd_slab_bytes;

HD_FN hd_slab_bytes slab_load_lane(hd_slab_tile t, const char *slab)
{
    hd_slab_bytes b;
    HD_UNROLL
    for (uint32_t i = 0; i < HD_SLAB_PIECES; i++)
        load_slab_16(b.words + i * (HD_SLAB_PIECE / sizeof(hd_key)),
                     slab + (i * HD_SLAB_LANES + t.lane) * HD_SLAB_PIECE);
    return b;
}

HD_FN hd_key slab_lane_key(const hd_slab_bytes *b, uint32_t j)
{
    return b->words[j * HD_SLAB_STEP / sizeof(hd_key)];
}

/* What the lane has where HD_SLAB_NEXT_LANE has the address of the next slab. */
HD_FN uint32_t slab_lane_next(const hd_slab_bytes *b)
{
    uint32_t tail[HD_SLAB_PIECES * HD_SLAB_PIECE / 4];
    memcpy(tail, b->words, sizeof tail);
    return tail[HD_SLAB_NEXT_WORD];
}

HD_FN hd_slab_look slab_look(hd_slab_tile t, char *slab, hd_key lean)
{
    hd_slab_look look;
    const hd_slab_bytes bytes = slab_load_lane(t, slab);
    memset(&look, 0, sizeof look);
    HD_UNROLL
    for (uint32_t j = HD_SLAB_LANE_SLOTS; j-- > 0;) { /* so that the first of its values stays */
        const hd_key key = slab_lane_key(&bytes, j);
        const bool slot = slab_lane_slot(t.lane, j) < HD_SLAB_SLOTS;
        look.live |= slab_vote(t, slot && key == (lean | HD_STATE_LIVE)) << j * HD_SLAB_LANES;
#if HD_SLAB_IN_ONE && HD_VALUE_BITS != 0
        if (slot && key == (lean | HD_STATE_LIVE)) look.value = bytes.words[j * 2 + 1];
#endif
#if !HD_SLAB_IN_ONE
        look.pending |= slab_vote(t, slot && key == (lean | HD_STATE_PENDING)) << j * HD_SLAB_LANES;
#endif
        look.vacant |= slab_vote(t, slot && key == 0) << j * HD_SLAB_LANES;
    }
    look.next =
        __shfl_sync(HD_SLAB_VOTERS(t), slab_lane_next(&bytes), (int)(t.shift + HD_SLAB_NEXT_LANE));
    return look;
}

HD_FN uint32_t slab_pending(hd_slab_tile t, char *slab, hd_key lean)
{
    const hd_slab_bytes bytes = slab_load_lane(t, slab);
    uint32_t pending = 0;
    HD_UNROLL
    for (uint32_t j = 0; j < HD_SLAB_LANE_SLOTS; j++) {
        const hd_key key = slab_lane_key(&bytes, j);
        const bool slot = slab_lane_slot(t.lane, j) < HD_SLAB_SLOTS;
        pending |= slab_vote(t, slot && key == (lean | HD_STATE_PENDING)) << j * HD_SLAB_LANES;
    }
    return pending;
}

/* The lane that saw the pair has its value, unless that is a word of its own: then it is read after the key. */
HD_FN void slab_deliver(hd_slab_tile t, char *slab, const hd_slab_look *look, hd_value *to)
{
    const uint32_t bit = hd_lowest_bit(look->live);
    if (t.lane != bit % HD_SLAB_LANES) return;
#if HD_SLAB_IN_ONE && HD_VALUE_BITS != 0
    (void)slab;
    *to = look->value;
#else
    slab_seen();
    *to = slab_value(slab, slab_slot(bit));
#endif
}

/* Every lane those of its own slots. */
HD_FN void slab_deliver_all(hd_slab_tile t, char *slab, const hd_slab_look *look, hd_value *to)
{
    slab_seen();
    HD_UNROLL
    for (uint32_t j = 0; j < HD_SLAB_LANE_SLOTS; j++) {
        const uint32_t bit = j * HD_SLAB_LANES + t.lane;
        if ((look->live >> bit & 1) != 0)
            to[hd_popcount32(look->live & ((1u << bit) - 1))] = slab_value(slab, slab_slot(bit));
    }
}

HD_FN bool slab_tile_acts(hd_slab_tile t) { return t.lane == 0; }

HD_FN int slab_tile_tell(hd_slab_tile t, int number)
{
    return __shfl_sync(HD_SLAB_VOTERS(t), number, (int)t.shift);
}

HD_FN uint32_t slab_own(hd_slab_tile t)
{
    uint32_t bits = 0;
    HD_UNROLL
    for (uint32_t j = 0; j < HD_SLAB_LANE_SLOTS; j++) bits |= UINT32_C(1) << j * HD_SLAB_LANES;
    return bits << t.lane;
}

HD_FN hd_value slab_tell_value(hd_slab_tile t, char *slab, const hd_slab_look *look)
{
    const uint32_t lane = hd_lowest_bit(look->live) % HD_SLAB_LANES;
    hd_value value = 0;
    slab_deliver(t, slab, look, &value);
    return __shfl_sync(HD_SLAB_VOTERS(t), value, (int)(t.shift + lane));
}

HD_FN void slab_tile_meet(hd_slab_tile t)
{
    __syncwarp(HD_SLAB_VOTERS(t));
    (void)t;
}

#endif
#endif
