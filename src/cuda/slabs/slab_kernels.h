/*
 * slab_kernels.h: the device code of slab hashes; apart from the host code so that tests/cuda_on_cpu can run
 * these kernels on a CPU. The files:
 *
 *     slabs.cu    launches the kernels
 *     steps.h     the steps of scheme/slab.h as a warp takes them
 *     batch.h     batches of insertions, of erasures or of lookups
 *     mixed.h     batches of any mixture; select.h large ones that have no key twice
 *     compact.h   compaction
 *     fill.h      an empty table filled from sorted pairs
 */
#ifndef HD_CUDA_SLAB_KERNELS_H
#define HD_CUDA_SLAB_KERNELS_H

#include "cuda/slabs/batch.h"
#include "cuda/slabs/compact.h"
#include "cuda/slabs/fill.h"
#include "cuda/slabs/mixed.h"
#include "cuda/slabs/select.h"

/* COUNT, RETRIEVE, CLAIM or ERASE_ALL for every key of a batch. A claim counts nothing: erasing does. */
template <int OPERATION>
static __global__ void __launch_bounds__(SLAB_BLOCK)
    slab_batch_all(const hd_slab_view view, const hd_slab_batch batch)
{
    const bool claims = OPERATION == HD_SLAB_CLAIM, erases = OPERATION == HD_SLAB_ERASE_ALL;
    const hd_slab_tile t = slab_tile_here();
    const uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x, n = (uint32_t)batch.n;
    const uint32_t stride = gridDim.x * blockDim.x / HD_SLAB_LANES;
    const hd_key *keys = (const hd_key *)batch.keys;
    uint32_t found = 0, looks = 0;
    uint64_t pairs = 0;
    for (uint32_t i = thread / HD_SLAB_LANES; __any_sync(0xffffffffu, i < n);
         i = n - i > stride ? i + stride : n) {
        bool active = i < n && (!erases || batch.found[i] != 0);
        uint64_t matches = 0;
        int end = HD_SLAB_ABSENT;
        hd_slab_walk walk = slab_walk_start(&view, active ? keys[i] : 0);
        hd_value *to = NULL;
        if (OPERATION == HD_SLAB_RETRIEVE && active)
            to = (hd_value *)batch.values_out + batch.places[i];
        while (__any_sync(0xffffffffu, active)) {
            const int came_to =
                claims ? slab_claim_step(t, &view, &walk, active)
                       : slab_all_step(t, &view, &walk, OPERATION, to, active, &matches);
            looks += active;
            if (active) end = came_to;
            active = active && (end == HD_SLAB_ON || end == HD_SLAB_AGAIN);
        }
        if (i >= n) i = n;
        else if (slab_tile_acts(t)) {
            if (claims) batch.found[i] = end == HD_SLAB_PRESENT;
            if (!claims && batch.matches != NULL) batch.matches[i] = matches;
            found += matches != 0;
            pairs += matches;
        }
    }
    const uint64_t one = slab_tile_acts(t);
    uint64_t *const at = batch.counts->at;
    uint64_t *const sum_to[] = {at + HD_ASKED, at + HD_FOUND, at + HD_PROBES, batch.died};
    const uint64_t mine[] = {thread == 0 && !claims ? batch.n : 0, found, one * looks,
                             erases ? pairs : 0};
    block_add(sum_to, mine);
}

/* Where this thread of a warp appends `count` things: the cursor moves on once for all of them. */
HD_FN uint64_t warp_append(uint64_t *cursor, uint32_t count)
{
    const uint32_t lane = threadIdx.x % 32;
    uint32_t up_to = count; /* of this thread and those before it */
    for (uint32_t offset = 1; offset < 32; offset *= 2) {
        const uint32_t before = __shfl_up_sync(0xffffffffu, up_to, offset);
        if (lane >= offset) up_to += before;
    }
    const uint32_t all = __shfl_sync(0xffffffffu, up_to, 31);
    unsigned long long first = 0;
    if (lane == 0 && all != 0) first = fetch_add_relaxed_64(cursor, all);
    return __shfl_sync(0xffffffffu, first, 0) + up_to - count;
}

/* Appends the pairs of slabs [first, first + n) at the cursor, a slab a tile, all of a warp in one go. */
static __global__ void __launch_bounds__(SLAB_BLOCK)
    slab_collect_all(const hd_slab_view view, uint64_t first, uint64_t n, hd_key *keys,
                     hd_value *values, uint64_t *cursor)
{
    const hd_slab_tile t = slab_tile_here();
    const uint64_t stride = (uint64_t)gridDim.x * blockDim.x / HD_SLAB_LANES;
    const uint64_t tile = ((uint64_t)blockIdx.x * blockDim.x + threadIdx.x) / HD_SLAB_LANES;
    for (uint64_t i = tile; __any_sync(0xffffffffu, i < n); i += stride) {
        hd_slab_at at = {NULL, 0};
        if (i < n) at = slab_by_number(&view, first + i);
        uint32_t mine = 0; /* a bit for every pair of this lane */
        for (uint32_t j = 0; at.slab != NULL && j < HD_SLAB_LANE_SLOTS; j++) {
            const uint32_t slot = slab_lane_slot(t.lane, j);
            if (slot >= HD_SLAB_SLOTS) break;
            const hd_key word = *slab_key_at(at.slab, slot);
            mine |= (uint32_t)((word & HD_STATE_MASK) == HD_STATE_LIVE) << j;
        }
        uint64_t place = warp_append(cursor, hd_popcount32(mine));
        for (; mine != 0; mine &= mine - 1, place++) {
            const uint32_t slot = slab_lane_slot(t.lane, hd_lowest_bit(mine));
            const hd_key word = *slab_key_at(at.slab, slot);
            keys[place] = key_from_lean(&view.buckets, at.region, word & ~HD_STATE_MASK);
            if (values != NULL) values[place] = slab_value(at.slab, slot);
        }
    }
}

/* Takes n slabs, each thread its own. */
static __global__ void __launch_bounds__(SLAB_BLOCK)
    slab_take_all(const hd_slab_pool pool, uint64_t n, uint32_t *addresses)
{
    const uint64_t thread = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    hd_slab_taker taker = taker_start(&pool, (uint32_t)thread);
    for (uint64_t i = thread; i < n; i += (uint64_t)gridDim.x * blockDim.x)
        addresses[i] = slab_take(&pool, &taker);
}

/* Counts and checks all lists; *census and `seen` are 0 before. */
static __global__ void __launch_bounds__(SLAB_BLOCK)
    slab_inspect_all(const hd_slab_view view, bool unique, uint32_t *seen, hd_slab_census *census)
{
    const uint64_t thread = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    hd_slab_census mine;
    memset(&mine, 0, sizeof mine);
    for (uint64_t i = thread; i < slab_lists(&view); i += (uint64_t)gridDim.x * blockDim.x)
        slab_inspect(&view, i, unique, seen, &mine);
    enum { WORDS = sizeof mine / sizeof(uint64_t) };
    for (int i = 0; i < WORDS; i++)
        if (((const uint64_t *)&mine)[i] != 0)
            add_relaxed_64((uint64_t *)census + i, ((const uint64_t *)&mine)[i]);
}

#endif
