/*
 * compact.h: compaction on a GPU. What slab_compact of scheme/slab_whole.h does, and with the same result, but by a
 * tile for every list, so that a slab is read and written by all lanes at once. Tiles of a warp go together. Most lists
 * are one slab, and have a way of their own. Or only lists of several slabs are made shorter, as slab_shorten does: these
 * are found by way of the pool.
 */
#ifndef HD_CUDA_SLAB_COMPACT_H
#define HD_CUDA_SLAB_COMPACT_H

#include "cuda/slabs/batch.h"

/* The slot that is filled as the n-th, counted from 0. */
HD_FN uint32_t slab_nth_slot(uint32_t n)
{
    uint32_t bit = n;
    if ((slab_slot_bits() & (slab_slot_bits() + 1)) == 0) return slab_slot(n); /* no gaps */
    while (hd_popcount32(slab_slot_bits() & bits_before(bit)) < n ||
           (slab_slot_bits() >> bit & 1) == 0)
        bit++;
    return slab_slot(bit);
}

/* A slab as a tile has read it: this lane's slots, and which of all are taken and LIVE. */
typedef struct slab_read {
    hd_pair pairs[HD_SLAB_LANE_SLOTS]; /* `lean` with its state */
    uint32_t taken, live;              /* bits as in a look */
    uint32_t next;
} slab_read;

HD_FN slab_read slab_read_all(hd_slab_tile t, char *slab)
{
    slab_read r = {};
    HD_UNROLL
    for (uint32_t j = 0; j < HD_SLAB_LANE_SLOTS; j++) {
        const uint32_t slot = slab_lane_slot(t.lane, j);
        if (slot < HD_SLAB_SLOTS) {
            r.pairs[j].lean = *slab_key_at(slab, slot);
#if HD_VALUE_BITS != 0
            r.pairs[j].value = *slab_value_at(slab, slot);
#endif
        }
        const hd_key key = r.pairs[j].lean;
        r.taken |= slab_vote(t, key != 0) << j * HD_SLAB_LANES;
        r.live |= slab_vote(t, (key & HD_STATE_MASK) == HD_STATE_LIVE) << j * HD_SLAB_LANES;
    }
    r.next = *slab_next_at(slab);
    return r;
}

/* Where the pairs of a list go: behind `count` others of a slab. */
typedef struct slab_target {
    char *slab;
    uint32_t address; /* HD_SLAB_NONE in the base slab */
    uint32_t count;
} slab_target;

/* Each lane writes the live pairs that it has read; those that do not fit go to the slab after it. */
HD_FN void slab_move(hd_slab_tile t, const slab_read *r, const slab_target *to, char *after)
{
    HD_UNROLL
    for (uint32_t j = 0; j < HD_SLAB_LANE_SLOTS; j++) {
        const uint32_t bit = j * HD_SLAB_LANES + t.lane;
        if ((r->live >> bit & 1) == 0) continue;
        uint32_t n = to->count + hd_popcount32(r->live & bits_before(bit));
        char *const slab = n < HD_SLAB_SLOTS ? to->slab : after;
        n = slab_nth_slot(n < HD_SLAB_SLOTS ? n : n - HD_SLAB_SLOTS);
        *slab_key_at(slab, n) = r->pairs[j].lean;
#if HD_VALUE_BITS != 0
        *slab_value_at(slab, n) = r->pairs[j].value;
#endif
    }
}

/* The slots behind the last pair of a list become vacant. */
HD_FN void slab_clear_rest(hd_slab_tile t, const slab_target *to)
{
    HD_UNROLL
    for (uint32_t j = 0; j < HD_SLAB_LANE_SLOTS; j++) {
        const uint32_t bit = j * HD_SLAB_LANES + t.lane, slot = slab_slot(bit);
        if (slot >= HD_SLAB_SLOTS) continue;
        if (hd_popcount32(slab_slot_bits() & bits_before(bit)) < to->count) continue;
        *slab_key_at(to->slab, slot) = 0;
#if HD_VALUE_BITS != 0
        *slab_value_at(to->slab, slot) = 0;
#endif
    }
}

/* Each lane its bytes of a slab. */
HD_FN void slab_clear_lane(hd_slab_tile t, char *slab)
{
    HD_UNROLL
    for (uint32_t i = 0; i < HD_SLAB_PIECES; i++)
        ((uint4 *)(void *)slab)[i * HD_SLAB_LANES + t.lane] = make_uint4(0, 0, 0, 0);
}

/* slabs_give by a tile; tiles that have nothing to give say HD_SLAB_NONE. */
HD_FN uint32_t slabs_give_together(hd_slab_tile t, const hd_slab_pool *pool, uint32_t address)
{
    uint32_t given = 0;
    while (__any_sync(WHOLE_WARP, address != HD_SLAB_NONE)) {
        const bool any = address != HD_SLAB_NONE;
        char *const slab = any ? pool_slab(pool, address) : NULL;
        const uint32_t next = any ? *slab_next_at(slab) : HD_SLAB_NONE;
        __syncwarp(); /* all have read it */
        if (any) slab_clear_lane(t, slab);
        __syncwarp();
        if (any && slab_tile_acts(t)) slab_return(pool, address);
        given += any;
        address = next;
    }
    return given;
}

/* slab_compact by a tile, of the list of a base slab; `on` tiles have one. */
HD_FN hd_slab_compacted slab_compact_together(hd_slab_tile t, const hd_slab_view *view, char *base,
                                              bool on)
{
    slab_target to = {base, HD_SLAB_NONE, 0};
    hd_slab_compacted done = {0, 0};
    char *from = base;
    bool more = on;
    while (__any_sync(WHOLE_WARP, more)) {
        const slab_read r = slab_read_all(t, from);
        const uint32_t live = hd_popcount32(r.live), end = to.count + live;
        const uint32_t behind = more && end > HD_SLAB_SLOTS ? *slab_next_at(to.slab) : HD_SLAB_NONE;
        char *const after = behind != HD_SLAB_NONE ? pool_slab(&view->pool, behind) : NULL;
        __syncwarp(); /* all have read it */
        if (more) {
            done.dead += hd_popcount32(r.taken) - live;
            if (done.dead != 0) slab_move(t, &r, &to, after);
            to.count = after != NULL ? end - HD_SLAB_SLOTS : end;
            if (after != NULL) to.address = behind;
            if (after != NULL) to.slab = after;
            more = r.next != HD_SLAB_NONE;
            if (more) from = pool_slab(&view->pool, r.next);
        }
        __syncwarp();
    }
    const bool changed = on && done.dead != 0;
    const uint32_t rest = changed ? *slab_next_at(to.slab) : HD_SLAB_NONE;
    __syncwarp();
    if (changed) slab_clear_rest(t, &to);
    done.given = slabs_give_together(t, &view->pool, rest);
    if (changed && slab_tile_acts(t)) {
        *slab_next_at(to.slab) = HD_SLAB_NONE;
        *slab_hint_at(base) = to.address;
    }
    return done;
}

/* ------------------------------------------------------------------------------- lists of one slab */

/* Which slots are taken, or LIVE: bits as in a look. */
HD_FN void lane_states(hd_slab_tile t, const hd_slab_bytes *b, uint32_t *taken, uint32_t *live)
{
    *taken = *live = 0;
    HD_UNROLL
    for (uint32_t j = 0; j < HD_SLAB_LANE_SLOTS; j++) {
        const hd_key key = slab_lane_key(b, j);
        const bool slot = slab_lane_slot(t.lane, j) < HD_SLAB_SLOTS;
        *taken |= slab_vote(t, slot && key != 0) << j * HD_SLAB_LANES;
        *live |= slab_vote(t, slot && (key & HD_STATE_MASK) == HD_STATE_LIVE) << j * HD_SLAB_LANES;
    }
}

/*
 * Moves the live pairs of a list of one slab together, in shared memory, so that the slab is written by whole
 * pieces; `on` tiles have one. Such a slab has neither a slab behind it nor a hint.
 */
HD_FN void slab_compact_one(hd_slab_tile t, char *slab, const hd_slab_bytes *b, uint32_t live,
                            char *stage, bool on)
{
    slab_clear_lane(t, stage);
    __syncwarp();
    HD_UNROLL
    for (uint32_t j = 0; j < HD_SLAB_LANE_SLOTS; j++) {
        const uint32_t bit = j * HD_SLAB_LANES + t.lane;
        if ((live >> bit & 1) == 0) continue;
        const uint32_t to = slab_nth_slot(hd_popcount32(live & bits_before(bit)));
        *slab_key_at(stage, to) = slab_lane_key(b, j);
#if HD_VALUE_BITS != 0
        *slab_value_at(stage, to) = *slab_value_at(slab, slab_slot(bit));
#endif
    }
    __syncwarp(); /* all have read the slab, and the stage is whole */
    HD_UNROLL
    for (uint32_t i = 0; on && i < HD_SLAB_PIECES; i++)
        ((uint4 *)(void *)slab)[i * HD_SLAB_LANES + t.lane] =
            ((const uint4 *)(const void *)stage)[i * HD_SLAB_LANES + t.lane];
    __syncwarp(); /* the stage is used again */
}

/* --------------------------------------------------------------------------------------- kernels */

/* Whether there is need. By one block, so that all blocks that follow agree. */
static __global__ void __launch_bounds__(SLAB_BLOCK)
    slab_decide(const hd_slab_pool pool, hd_slab_words *words, const uint64_t *died,
                const hd_slab_need need)
{
    __shared__ uint32_t taken, looked_at;
    const uint64_t dead = *died - words->revived, counts = slab_dead_for(&need, words, dead);
    const uint32_t step = pool_sample_step(&pool);
    uint32_t bits = 0, of = 0;
    if (threadIdx.x == 0) taken = looked_at = 0;
    __syncthreads();
    if (dead >= need.dead_crowded && counts < need.dead) {
#pragma unroll 8
        for (uint32_t i = threadIdx.x * step; i < pool.blocks * HD_SLAB_BLOCK_WORDS;
             i += SLAB_BLOCK * step, of++)
            bits += hd_popcount32(load_relaxed_32(pool.taken + i));
    }
    atomicAdd(&taken, bits);
    atomicAdd(&looked_at, of);
    __syncthreads();
    if (threadIdx.x != 0) return;
    words->decided = HD_COMPACT_NONE;
    if (counts < need.dead && (looked_at == 0 || !pool_is_crowded(taken, looked_at))) return;
    words->decided = need.long_lists ? HD_COMPACT_LONG : HD_COMPACT_ALL;
    words->found = dead;
    words->cleared = 0;
    words->spent = 0;
}

/* What the lists of a thread's tile came to; of a tile one thread counts. */
typedef struct slab_cleared {
    uint64_t dead, given;
} slab_cleared;

HD_FN void slab_clear_count(hd_slab_tile t, slab_cleared *sums, uint32_t dead, uint32_t given)
{
    if (!slab_tile_acts(t)) return;
    sums->dead += dead;
    sums->given += given;
}

/* All lists, each by one tile. */
HD_FN slab_cleared slab_compact_each(const hd_slab_view *view, uint4 *stage)
{
    const hd_slab_tile t = slab_tile_here();
    const uint64_t lists = slab_lists(view);
    const uint64_t stride = (uint64_t)gridDim.x * blockDim.x / HD_SLAB_LANES;
    uint64_t i = ((uint64_t)blockIdx.x * blockDim.x + threadIdx.x) / HD_SLAB_LANES;
    slab_cleared sums = {0, 0};
    hd_slab_bytes next = slab_load_lane(t, base_slab(&view->buckets, i < lists ? i : 0));
    for (; __any_sync(WHOLE_WARP, i < lists); i += stride) {
        char *const base = base_slab(&view->buckets, i < lists ? i : 0);
        const hd_slab_bytes bytes = next; /* the next list is on its way */
        next = slab_load_lane(t, base_slab(&view->buckets, i + stride < lists ? i + stride : 0));
        uint32_t taken, live;
        lane_states(t, &bytes, &taken, &live);
        const uint32_t dead = hd_popcount32(taken) - hd_popcount32(live);
        const bool is_long = __shfl_sync(WHOLE_WARP, slab_lane_next(&bytes),
                                         (int)(t.shift + HD_SLAB_NEXT_LANE)) != HD_SLAB_NONE;
        const bool short_one = i < lists && !is_long && dead != 0;
        if (__any_sync(WHOLE_WARP, short_one))
            slab_compact_one(t, base, &bytes, live, (char *)stage, short_one);
        slab_clear_count(t, &sums, short_one ? dead : 0, 0);
        if (!__any_sync(WHOLE_WARP, i < lists && is_long)) continue;
        const hd_slab_compacted done = slab_compact_together(t, view, base, i < lists && is_long);
        slab_clear_count(t, &sums, done.dead, done.given);
    }
    return sums;
}

/* ------------------------------------------------------------------------- lists of several slabs */

/* The n-th bit that is set, counted from 0. */
HD_FN uint32_t nth_bit(uint32_t bits, uint32_t n)
{
    for (; n != 0; n--) bits &= bits - 1;
    return hd_lowest_bit(bits);
}

/* Each lane writes the live pairs of its slots of the second slab into dead slots of the first. */
HD_FN void slab_move_back(hd_slab_tile t, char *base, uint32_t dead, char *second, uint32_t live)
{
    HD_UNROLL
    for (uint32_t j = 0; j < HD_SLAB_LANE_SLOTS; j++) {
        const uint32_t bit = j * HD_SLAB_LANES + t.lane;
        if ((live >> bit & 1) == 0) continue;
        const uint32_t to = slab_slot(nth_bit(dead, hd_popcount32(live & bits_before(bit))));
        *slab_key_at(base, to) = *slab_key_at(second, slab_slot(bit));
#if HD_VALUE_BITS != 0
        *slab_value_at(base, to) = *slab_value_at(second, slab_slot(bit));
#endif
    }
}

/* slab_shorten by a tile, of a list with the slab `address` behind its base; `on` tiles have one. */
HD_FN hd_slab_compacted slab_shorten_together(hd_slab_tile t, const hd_slab_view *view, char *base,
                                              uint32_t address, bool on)
{
    char *const second = on ? pool_slab(&view->pool, address) : base;
    const hd_slab_bytes a = slab_load_lane(t, base), b = slab_load_lane(t, second);
    uint32_t taken, live, taken_behind, live_behind;
    lane_states(t, &a, &taken, &live);
    lane_states(t, &b, &taken_behind, &live_behind);
    const uint32_t next =
        __shfl_sync(WHOLE_WARP, slab_lane_next(&b), (int)(t.shift + HD_SLAB_NEXT_LANE));
    const bool longer = on && next != HD_SLAB_NONE;
    const bool fits =
        on && !longer && hd_popcount32(live) + hd_popcount32(live_behind) <= HD_SLAB_SLOTS;
    hd_slab_compacted done = {0, 0};
    if (fits) slab_move_back(t, base, taken & ~live, second, live_behind);
    __syncwarp(); /* all have read it */
    if (fits) slab_clear_lane(t, second);
    __syncwarp();
    if (fits) {
        done.dead = hd_popcount32(taken_behind);
        done.given = 1;
        if (slab_tile_acts(t)) {
            *slab_next_at(base) = HD_SLAB_NONE;
            *slab_hint_at(base) = HD_SLAB_NONE;
            slab_return(&view->pool, address);
        }
    }
    if (!__any_sync(WHOLE_WARP, longer)) return done;
    const hd_slab_compacted more = slab_compact_together(t, view, base, longer);
    return longer ? more : done;
}

/* The lists of a warp's lanes, those of `lanes`, each by a tile. */
HD_FN slab_cleared slab_shorten_these(hd_slab_tile t, const hd_slab_view *view, hd_slab_long list,
                                      uint32_t lanes)
{
    slab_cleared sums = {0, 0};
    while (lanes != 0) {
        const uint32_t number = t.shift / HD_SLAB_LANES; /* of the tile */
        const bool on = number < hd_popcount32(lanes);
        const int lane = on ? (int)nth_bit(lanes, number) : 0;
        const uint32_t bucket = __shfl_sync(WHOLE_WARP, list.bucket, lane);
        const uint32_t address = __shfl_sync(WHOLE_WARP, list.address, lane);
        const hd_slab_compacted done =
            slab_shorten_together(t, view, base_slab(&view->buckets, on ? bucket : 0), address, on);
        slab_clear_count(t, &sums, done.dead, done.given);
        for (uint32_t i = 0; i < WARP_SLAB_TILES; i++) lanes &= lanes - 1;
    }
    return sums;
}

/* All lists of several slabs. Lanes go through the pool: most lists have no slab there. */
HD_FN slab_cleared slab_shorten_all(const hd_slab_view *view)
{
    const hd_slab_tile t = slab_tile_here();
    const uint64_t slabs = (uint64_t)view->pool.blocks * HD_SLAB_UNITS;
    const uint64_t stride = (uint64_t)gridDim.x * blockDim.x;
    uint64_t number = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    slab_cleared sums = {0, 0};
    for (; __any_sync(WHOLE_WARP, number < slabs); number += stride) {
        hd_slab_long list = {0, HD_SLAB_NONE};
        const bool mine = number < slabs && slab_second_of(view, number, &list);
        const slab_cleared done =
            slab_shorten_these(t, view, list, __ballot_sync(WHOLE_WARP, mine));
        sums.dead += done.dead;
        sums.given += done.given;
    }
    return sums;
}

/* Compacts lists as it was decided. */
static __global__ void __launch_bounds__(SLAB_BLOCK)
    slab_compact_all(const hd_slab_view view, hd_slab_words *words)
{
    __shared__ uint4 stages[SLAB_BLOCK / HD_SLAB_LANES][HD_SLAB_BYTES / sizeof(uint4)];
    if (words->decided == HD_COMPACT_NONE) return;
    const slab_cleared sums = words->decided == HD_COMPACT_LONG
                                  ? slab_shorten_all(&view)
                                  : slab_compact_each(&view, stages[threadIdx.x / HD_SLAB_LANES]);
    uint64_t *const to[] = {&words->revived, &words->cleared, &words->given};
    const uint64_t mine[] = {sums.dead, sums.dead, sums.given};
    block_add(to, mine);
}

#endif
