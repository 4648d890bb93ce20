/*
 * fill.h: filling an empty slab hash from pairs that are sorted by region, a block a region. Nobody else is at
 * the region's lists, so nothing has to be looked for and no slot claimed:
 *
 *   1. the pairs of every list are counted
 *   2. lists get the slabs that these need, linked as they will be
 *   3. every pair takes the next slot of its list, by a counter
 *   4. equal keys of a list are brought together by the policy: the first of them stays, the slots of the others are
 *      as those of erased keys. Of multimaps they all stay
 *
 * Pairs are read twice, the second time mostly from the second-level cache, where the region's slabs are, too. Lists
 * with many more pairs than their share, which come from few keys if there is one for each, are left to
 * insertion, as are those for which the pool has no slabs: their pairs are listed (hd_sorted.failed).
 */
#ifndef HD_CUDA_SLAB_FILL_H
#define HD_CUDA_SLAB_FILL_H

#include "cuda/partition/sorted_pair.h"
#include "cuda/slabs/compact.h"
#include "model/partition.h"

#ifndef SLAB_FILL_BLOCK
#define SLAB_FILL_BLOCK 512
#endif
#ifndef SLAB_FILL_CHAINED
#define SLAB_FILL_CHAINED 12288 /* slabs that the lists of a region can get */
#endif
#define SLAB_FILL_BLOCKS 3                          /* that a processor holds */
#define SLAB_FILL_PAIRS (HD_PAIR_WORDS > 2 ? 2 : 4) /* that a thread has in flight */
#define SLAB_FILL_LONGEST 8 /* slabs of a list whose keys are held against each other */
#define SLAB_FIRST_NONE UINT32_MAX

/* A block's shared memory. */
typedef struct slab_plan {
    uint32_t *counts; /* the pairs of every list; later: those that have come */
    uint32_t *rooms;  /* how many of them it takes */
    uint32_t *chains; /* where its slabs begin in `slabs` */
    uint32_t *slabs;  /* addresses */
    uint32_t *total;  /* slabs that are needed */
} slab_plan;

HD_BOTH uint64_t slab_plan_bytes(const hd_slab_view *view)
{
    return (3 * (uint64_t)view->buckets.region_buckets + SLAB_FILL_CHAINED + 1) * sizeof(uint32_t);
}

HD_FN slab_plan slab_plan_lay(const hd_slab_view *view)
{
    slab_plan plan;
    plan.counts = (uint32_t *)block_memory();
    plan.rooms = plan.counts + view->buckets.region_buckets;
    plan.chains = plan.rooms + view->buckets.region_buckets;
    plan.slabs = plan.chains + view->buckets.region_buckets;
    plan.total = plan.slabs + SLAB_FILL_CHAINED;
    return plan;
}

/* What a thread has done. */
typedef struct slab_filled {
    uint32_t placed, folded, listed;
} slab_filled;

/* A region at work. */
typedef struct slab_region {
    uint32_t number;
    char *base;           /* its first base slab */
    const uint32_t *from; /* its sorted pairs */
    uint32_t pairs;
} slab_region;

/* ------------------------------------------------------------------------------------- 1. and 2. */

/* The pairs that a thread has in flight: all are loaded before the first is looked at. */
typedef struct slab_flight {
    hd_sorted_pair pairs[SLAB_FILL_PAIRS];
} slab_flight;

/* Those from `first` on; behind the last one there is nothing of interest. */
HD_FN slab_flight slab_fill_load(const slab_region *r, uint32_t first)
{
    slab_flight f;
    HD_UNROLL
    for (uint32_t k = 0; k < SLAB_FILL_PAIRS; k++) {
        const uint32_t i = first + k * SLAB_FILL_BLOCK + threadIdx.x;
        f.pairs[k] = sorted_load(r->from, i < r->pairs ? i : 0);
    }
    return f;
}

HD_FN void slab_fill_count(const slab_plan *plan, const hd_slab_view *view, const slab_region *r)
{
    for (uint32_t first = 0; first < r->pairs; first += SLAB_FILL_PAIRS * SLAB_FILL_BLOCK) {
        const slab_flight f = slab_fill_load(r, first);
        HD_UNROLL
        for (uint32_t k = 0; k < SLAB_FILL_PAIRS; k++) {
            if (first + k * SLAB_FILL_BLOCK + threadIdx.x >= r->pairs) break;
            atomicAdd(&plan->counts[slab_within(&view->buckets, sorted_key(f.pairs[k]))], 1u);
        }
    }
}

/* Takes `count` slabs of the pool, or none where there are not so many. */
HD_FN bool slab_take_chain(const hd_slab_pool *pool, hd_slab_taker *taker, uint32_t count,
                           uint32_t *slabs)
{
    for (uint32_t i = 0; i < count; i++) {
        slabs[i] = slab_take(pool, taker);
        if (slabs[i] != HD_SLAB_NONE) continue;
        const bool some = i != 0;
        while (i-- > 0) slab_return(pool, slabs[i]);
        if (some) store_relaxed_32(pool->spent, 0);
        return false;
    }
    return true;
}

/* Links slabs behind a base slab. */
HD_FN void slab_link_chain(const hd_slab_view *view, const slab_region *r, char *base,
                           uint32_t count, const uint32_t *slabs)
{
    char *slab = base;
    for (uint32_t i = 0; i < count; i++) {
        *slab_next_at(slab) = slabs[i];
        slab = pool_slab(&view->pool, slabs[i]);
        *slab_quarter_at(slab) = r->number >> (view->buckets.region_bits - 2);
    }
    if (count != 0) *slab_hint_at(base) = slabs[count - 1];
}

/* Gives every list its slabs, a thread a list; the counts are 0 then. */
template <bool MULTI>
HD_FN void slab_fill_plan(const slab_plan *plan, const hd_slab_view *view, const slab_region *r,
                          hd_slab_taker *taker)
{
    for (uint32_t list = threadIdx.x; list < view->buckets.region_buckets;
         list += SLAB_FILL_BLOCK) {
        const uint32_t slabs = (plan->counts[list] + HD_SLAB_SLOTS - 1) / HD_SLAB_SLOTS;
        const uint32_t chained = slabs > 1 ? slabs - 1 : 0;
        const bool fits = (MULTI || slabs <= SLAB_FILL_LONGEST) && chained <= SLAB_FILL_CHAINED;
        const uint32_t at = fits && chained != 0 ? atomicAdd(plan->total, chained) : 0;
        plan->counts[list] = 0;
        plan->chains[list] = at;
        plan->rooms[list] = 0;
        if (!fits) continue;
        plan->rooms[list] = HD_SLAB_SLOTS; /* the base slab at least */
        if (at > SLAB_FILL_CHAINED - chained ||
            !slab_take_chain(&view->pool, taker, chained, plan->slabs + at))
            continue;
        plan->rooms[list] = (1 + chained) * HD_SLAB_SLOTS;
        slab_link_chain(view, r, r->base + (uint64_t)list * HD_SLAB_BYTES, chained,
                        plan->slabs + at);
    }
}

/* ------------------------------------------------------------------------------------------- 3. */

/* The slab of a list with this number, from 0, the base slab's, on. */
HD_FN char *slab_of_list(const slab_plan *plan, const hd_slab_view *view, const slab_region *r,
                         uint32_t list, uint32_t number)
{
    return number == 0 ? r->base + (uint64_t)list * HD_SLAB_BYTES
                       : pool_slab(&view->pool, plan->slabs[plan->chains[list] + number - 1]);
}

HD_FN void slab_place_pair(const slab_plan *plan, const hd_slab_view *view, const slab_region *r,
                           const hd_sorted *sorted, const hd_sorted_pair &pair, slab_filled *done)
{
    const uint32_t list = slab_within(&view->buckets, sorted_key(pair));
    const uint32_t at = atomicAdd(&plan->counts[list], 1u);
    if (at >= plan->rooms[list]) {
        done->listed++;
        sorted_store((uint32_t *)sorted->failed, fetch_add_relaxed_64(sorted->failed_count, 1),
                     pair);
        return;
    }
    char *const slab = slab_of_list(plan, view, r, list, at / HD_SLAB_SLOTS);
    const uint32_t slot = slab_nth_slot(at % HD_SLAB_SLOTS);
    const hd_key word = (sorted_key(pair) & ~HD_STATE_MASK) | HD_STATE_LIVE;
    done->placed++;
#if HD_SLAB_IN_ONE && HD_VALUE_BITS != 0
    const hd_pair both = {word, (hd_value)sorted_value(pair)};
    *(hd_word *)(void *)slab_key_at(slab, slot) = word_make(both);
#else
    *slab_key_at(slab, slot) = word;
#if HD_VALUE_BITS != 0
    *slab_value_at(slab, slot) = (hd_value)sorted_value(pair);
#endif
#endif
}

HD_FN void slab_fill_place(const slab_plan *plan, const hd_slab_view *view, const slab_region *r,
                           const hd_sorted *sorted, slab_filled *done)
{
    for (uint32_t first = 0; first < r->pairs; first += SLAB_FILL_PAIRS * SLAB_FILL_BLOCK) {
        const slab_flight f = slab_fill_load(r, first);
        HD_UNROLL
        for (uint32_t k = 0; k < SLAB_FILL_PAIRS; k++) {
            if (first + k * SLAB_FILL_BLOCK + threadIdx.x >= r->pairs) break;
            slab_place_pair(plan, view, r, sorted, f.pairs[k], done);
        }
    }
}

/* ------------------------------------------------------------------------------------------- 4. */

/* The LIVE keys of this lane in a slab; 0 where there is none. */
typedef struct slab_keys {
    hd_key at[HD_SLAB_LANE_SLOTS];
} slab_keys;

HD_FN slab_keys slab_read_keys(hd_slab_tile t, const char *slab, bool on)
{
    const hd_slab_bytes bytes = slab_load_lane(t, slab);
    slab_keys keys;
    HD_UNROLL
    for (uint32_t j = 0; j < HD_SLAB_LANE_SLOTS; j++) {
        const hd_key word = slab_lane_key(&bytes, j);
        const bool live =
            slab_lane_slot(t.lane, j) < HD_SLAB_SLOTS && (word & HD_STATE_MASK) == HD_STATE_LIVE;
        keys.at[j] = on && live ? word : 0;
    }
    return keys;
}

/* A place in a list: slab and slot. Of equal keys the one with the least stays. */
HD_FN uint32_t slab_rank(uint32_t slab, uint32_t lane, uint32_t j)
{
    return slab * 32 + slab_lane_slot(lane, j);
}

/* Holds this lane's keys of slab `mine` against all of slab `theirs`, which is no later; keeps the first equals. */
HD_FN void slab_hold_against(hd_slab_tile t, const slab_keys *own, uint32_t mine,
                             const slab_keys *other, uint32_t theirs,
                             uint32_t (&first)[HD_SLAB_LANE_SLOTS])
{
    HD_UNROLL
    for (uint32_t turn = 0; turn < HD_SLAB_LANES; turn++) {
        const uint32_t lane = (t.lane + turn) % HD_SLAB_LANES;
        HD_UNROLL
        for (uint32_t k = 0; k < HD_SLAB_LANE_SLOTS; k++) {
            const hd_key key = __shfl_sync(WHOLE_WARP, other->at[k], (int)(t.shift + lane));
            const uint32_t rank = slab_rank(theirs, lane, k);
            HD_UNROLL
            for (uint32_t j = 0; j < HD_SLAB_LANE_SLOTS; j++)
                if (own->at[j] == key && rank < slab_rank(mine, t.lane, j) && rank < first[j])
                    first[j] = rank;
        }
    }
}

/*
 * Brings equal keys of a list together, of whose first slab the keys are known; tiles of a warp go together, `on` ones
 * have a list.
 */
HD_FN void slab_fold(hd_slab_tile t, const slab_plan *plan, const hd_slab_view *view,
                     const slab_region *r, uint32_t list, slab_keys known, bool on, uint32_t policy,
                     slab_filled *done)
{
    const uint32_t all = plan->counts[list], room = plan->rooms[list];
    const uint32_t pairs = all < room ? all : room;
    const uint32_t slabs = on && pairs > 1 ? (pairs + HD_SLAB_SLOTS - 1) / HD_SLAB_SLOTS : 0;
    for (uint32_t mine = 0; __any_sync(WHOLE_WARP, mine < slabs); mine++) {
        const bool has = mine < slabs;
        char *const slab = slab_of_list(plan, view, r, list, has ? mine : 0);
        const slab_keys own = mine == 0 && has ? known : slab_read_keys(t, slab, has);
        uint32_t first[HD_SLAB_LANE_SLOTS];
        HD_UNROLL
        for (uint32_t j = 0; j < HD_SLAB_LANE_SLOTS; j++) first[j] = SLAB_FIRST_NONE;
        for (uint32_t theirs = 0; theirs < mine; theirs++) {
            const slab_keys other =
                slab_read_keys(t, slab_of_list(plan, view, r, list, has ? theirs : 0), has);
            slab_hold_against(t, &own, mine, &other, theirs, first);
        }
        slab_hold_against(t, &own, mine, &own, mine, first);
        HD_UNROLL
        for (uint32_t j = 0; j < HD_SLAB_LANE_SLOTS; j++) {
            if (own.at[j] == 0 || first[j] == SLAB_FIRST_NONE) continue;
            const uint32_t slot = slab_lane_slot(t.lane, j);
            slab_update(slab_of_list(plan, view, r, list, first[j] / 32), first[j] % 32, policy,
                        slab_value(slab, slot));
            *slab_key_at(slab, slot) = own.at[j] ^ (HD_STATE_LIVE ^ HD_STATE_DEAD);
            done->folded++;
        }
        __syncwarp();
    }
}

/* The next list's first slab is on its way while one is at work. */
HD_FN void slab_fill_fold(const slab_plan *plan, const hd_slab_view *view, const slab_region *r,
                          uint32_t policy, slab_filled *done)
{
    const hd_slab_tile t = slab_tile_here();
    const uint32_t lists = view->buckets.region_buckets, step = SLAB_FILL_BLOCK / HD_SLAB_LANES;
    uint32_t list = threadIdx.x / HD_SLAB_LANES;
    slab_keys next = slab_read_keys(
        t, r->base + (uint64_t)(list < lists ? list : 0) * HD_SLAB_BYTES, list < lists);
    for (; __any_sync(WHOLE_WARP, list < lists); list += step) {
        const slab_keys keys = next;
        const uint32_t after = list + step < lists ? list + step : 0;
        next = slab_read_keys(t, r->base + (uint64_t)after * HD_SLAB_BYTES, after != 0);
        slab_fold(t, plan, view, r, list < lists ? list : 0, keys, list < lists, policy, done);
    }
}

/* ------------------------------------------------------------------------------------- the whole */

template <bool MULTI>
static __global__ void __launch_bounds__(SLAB_FILL_BLOCK, SLAB_FILL_BLOCKS)
    slab_fill_all(const hd_slab_view view, const hd_slab_batch batch, const hd_sorted sorted)
{
    const slab_plan plan = slab_plan_lay(&view);
    const uint32_t lists = view.buckets.region_buckets, regions = 1u << view.buckets.region_bits;
    hd_slab_taker taker = taker_start(&view.pool, blockIdx.x * SLAB_FILL_BLOCK + threadIdx.x);
    slab_filled done = {0, 0, 0};
    for (uint32_t region = blockIdx.x; region < regions; region += gridDim.x) {
        const uint64_t begin = sorted.starts[region];
        const slab_region r = {region, base_slab(&view.buckets, (uint64_t)region * lists),
                               (const uint32_t *)sorted.pairs + begin * HD_PAIR_WORDS,
                               (uint32_t)(sorted.ends[region] - begin)};
        for (uint32_t i = threadIdx.x; i < lists; i += SLAB_FILL_BLOCK) plan.counts[i] = 0;
        if (threadIdx.x == 0) *plan.total = 0;
        __syncthreads();
        slab_fill_count(&plan, &view, &r);
        __syncthreads();
        slab_fill_plan<MULTI>(&plan, &view, &r, &taker);
        __syncthreads();
        slab_fill_place(&plan, &view, &r, &sorted, &done);
        __syncthreads();
        if (!MULTI) slab_fill_fold(&plan, &view, &r, batch.policy, &done);
        __syncthreads(); /* the plan is used again */
    }
    uint64_t *const at = batch.counts->at;
    uint64_t *const to[] = {at + HD_INSERTED, slab_present_at(&batch),
                            at + HD_FAILED,   at + HD_PROBES,
                            batch.born,       batch.died};
    /* A thread may have folded more than it has placed: 64 bits, of which the sums are right. */
    const uint64_t mine[] = {(uint64_t)done.placed - done.folded,
                             done.folded,
                             done.listed,
                             done.placed,
                             done.placed,
                             done.folded};
    block_add(to, mine);
}

#endif
