/*
 * kernels.h: the device code of one compiled table; instance.cu launches it. Apart from the host code
 * so that tests/cuda_on_cpu can run these very kernels on a CPU.
 *
 * Kernels that write fill the machine once and stride over the batch. The tiles of a warp go together,
 * round by round: load a bucket each, look, and go on while any has to. What hides the latency is the
 * number of warps, so a kernel that needs few registers beats one with more keys a tile. Lookups have a thread for
 * every key (lookup_kernels.inl).
 */
#ifndef HD_CUDA_KERNELS_H
#define HD_CUDA_KERNELS_H

#include "cuda/count.h"
#include "cuda/partition/sorted_pair.h"
#include "engine/engine.h"
#include "scheme/marks.h"
#include "scheme/scheme.h"

#define JOIN_(a, b) a##_##b
#define JOIN(a, b) JOIN_(a, b)
/* A profiler shows the instance in the name. */
#define KERNEL(name) static __global__ void __launch_bounds__(BLOCK) JOIN(HD_SYMBOL, name)
#define KERNEL_PLACE(name)                                                                         \
    static __global__ void __launch_bounds__(BLOCK, PLACE_BLOCKS) JOIN(HD_SYMBOL, name)

#define BLOCK 256
/* 48 or 40 registers: with fewer an insertion spills. */
#define PLACE_BLOCKS (HD_WIDE || HD_PIECES > 1 ? 5 : 6)
#define WARP_TILES (32 / HD_TILE)
#define LAUNCH_KEYS (UINT64_C(1) << 30) /* keys of one launch: their numbers stay 32 bits wide */
#define SETTLE_BLOCK 128
#define SETTLE_GATHER 32 /* deferred pairs that a tile takes off its list at a time */

HD_FN uint64_t thread_here(void) { return (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; }
HD_FN uint64_t threads_in_all(void) { return (uint64_t)gridDim.x * blockDim.x; }
HD_FN uint32_t warp_here(void) { return (blockIdx.x * blockDim.x + threadIdx.x) / 32; }
HD_FN uint32_t warps_in_all(void) { return gridDim.x * blockDim.x / 32; }

#include "cuda/slots/lookup_kernels.inl"

/* ------------------------------------------------------------------------------------ inserting */

HD_FN hd_value batch_value(const hd_batch *batch, uint64_t i)
{
#if HD_VALUE_BITS != 0
    return batch->values != NULL ? __ldg((const hd_value *)batch->values + i) : 1;
#else
    (void)batch, (void)i;
    return 0;
#endif
}

typedef struct insert_sums {
    uint32_t inserted, present, failed, probes, evictions;
} insert_sums;

HD_FN void insert_end(hd_tile t, const hd_batch *batch, uint64_t i, int result, insert_sums *s)
{
    s->inserted += result == HD_PLACED;
    s->present += result == HD_PRESENT;
    s->failed += result == HD_NO_ROOM;
    if (batch->outcomes != NULL && t.lane == 0)
        batch->outcomes[i] = outcome_of(result, batch->policy);
}

/* Adds the sums of the threads for which `one` is 1; for the others it is 0. */
HD_FN void sums_add_all(const insert_sums *s, const hd_batch *batch, uint32_t one)
{
    uint64_t *const at = batch->counts->at;
    uint64_t *const present = at + (batch->policy == HEDDLE_POLICY_KEEP ? HD_KEPT : HD_UPDATED);
    uint64_t *const to[] = {at + HD_INSERTED, present,           at + HD_FAILED,
                            at + HD_PROBES,   at + HD_EVICTIONS, batch->tally};
    const uint32_t mine[] = {one * s->inserted,  one * s->present,
                             one * s->failed,    one * s->probes,
                             one * s->evictions, batch->tally != NULL ? one * s->inserted : 0};
    block_add(to, mine);
}

/* A tile's threads all have the tile's sums. */
HD_FN void sums_add(const insert_sums *s, const hd_batch *batch)
{
    sums_add_all(s, batch, threadIdx.x % HD_TILE == 0);
}

HD_FN void place_end(hd_tile t, const hd_batch *batch, const hd_walk walk, uint64_t i, int result,
                     insert_sums *s)
{
    if (result != HD_DEFERRED) insert_end(t, batch, i, result, s);
    else if (t.lane == 0)
        batch->next[i] = exchange_relaxed_32(&batch->heads[walk.region], (uint32_t)i);
}

/* Inserts a pair for each tile of a warp, all going together; `active` tiles have one. */
HD_FN void place_warp(hd_tile t, const hd_view *view, const hd_batch *batch, hd_walk walk,
                      hd_value value, uint32_t i, bool active, insert_sums *s)
{
    hd_aim aim = aim_start();
    while (__any_sync(0xffffffffu, active)) {
        const hd_bucket b = bucket_load_shared(t, view, walk_bucket(view, &walk));
        const int result = place_step(t, view, &walk, &aim, &b, value, batch->policy, active);
        if (active) {
            s->probes++;
            if (result != HD_GOES_ON) place_end(t, batch, walk, i, result, s);
        }
        active = active && result == HD_GOES_ON;
    }
}

/* The pairs of a batch; of those that are listed the device alone knows how many there are. */
HD_FN uint32_t batch_pairs(const hd_batch *batch)
{
    return (uint32_t)(batch->listed != NULL ? *batch->listed_count : batch->n);
}

/* The i-th of them. */
HD_FN hd_walk batch_walk(const hd_view *view, const hd_batch *batch, uint32_t i, hd_value *value)
{
    if (batch->listed == NULL) {
        *value = batch_value(batch, i);
        return walk_start(view, __ldg((const hd_key *)batch->keys + i));
    }
    const hd_sorted_pair pair = sorted_load((const uint32_t *)batch->listed, i);
    const hd_key mixed = sorted_key(pair);
    *value = (hd_value)sorted_value(pair);
    return walk_start_lean(region_of(view, mixed), lean_key(view, mixed));
}

KERNEL_PLACE(place)(hd_view view, hd_batch batch)
{
    const hd_tile t = tile_together();
    const uint32_t n = batch_pairs(&batch), stride = warps_in_all() * WARP_TILES;
    insert_sums s = {0, 0, 0, 0, 0};
    for (uint32_t base = warp_here() * WARP_TILES; base < n; base += stride) {
        const uint32_t i = base + threadIdx.x % 32 / HD_TILE, safe = i < n ? i : n - 1;
        const bool active =
            i < n && !(batch.retry && batch.outcomes[safe] != HEDDLE_OUTCOME_FAILED);
        hd_value value;
        const hd_walk walk = batch_walk(&view, &batch, safe, &value);
        place_warp(t, &view, &batch, walk, value, i, active, &s);
    }
    sums_add(&s, &batch);
}

/* The pair in a slot of another table as a walk in `view`; false when there is none. */
HD_FN bool slot_walk(const hd_view *from, uint64_t slot, const hd_view *view, hd_walk *walk,
                     hd_value *value)
{
    hd_word word;
    load_frozen<HD_WORD_BYTES>(&word, (const char *)from->slots + slot * HD_WORD_BYTES);
    const uint32_t region = (uint32_t)(slot / HD_BUCKET / from->region_buckets);
    if (key_is_vacant(word_key(word))) return false;
    *walk = walk_start(view, key_from_lean(from, region, key_bare(from, word_key(word))));
    *value = word_value(from, slot, word);
    return true;
}

KERNEL_PLACE(rehome)(hd_view view, hd_batch batch, hd_view from, uint64_t first)
{
    const hd_tile t = tile_together();
    const uint32_t n = (uint32_t)batch.n, stride = warps_in_all() * WARP_TILES;
    insert_sums s = {0, 0, 0, 0, 0};
    for (uint32_t base = warp_here() * WARP_TILES; base < n; base += stride) {
        const uint32_t i = base + threadIdx.x % 32 / HD_TILE;
        hd_walk walk = walk_start_lean(0, 0);
        hd_value value = 0;
        const bool active =
            slot_walk(&from, first + (i < n ? i : n - 1), &view, &walk, &value) && i < n;
        place_warp(t, &view, &batch, walk, value, i, active, &s);
    }
    sums_add(&s, &batch);
}

/* The i-th pair of the batch, or of the slots that are being moved. */
HD_FN void source_get(const hd_batch *batch, const hd_view *from, uint64_t first,
                      const hd_view *view, uint32_t i, hd_walk *walk, hd_value *value)
{
    if (from->slots != NULL) slot_walk(from, first + i, view, walk, value);
    else *walk = batch_walk(view, batch, i, value);
}

/* What a tile of the settle kernel keeps in shared memory: some of its region's deferred pairs, and a path. */
typedef struct settle_scratch {
    uint32_t path[HD_KICKS_MAX];
    uint32_t index[SETTLE_GATHER];
    hd_key lean[SETTLE_GATHER];
    hd_value value[SETTLE_GATHER];
} settle_scratch;

/* Takes up to SETTLE_GATHER keys off a list; *head is what is left of it. Their buckets are then under way. */
HD_FN uint32_t settle_gather(hd_tile t, const hd_view *view, const hd_batch *batch,
                             const hd_view *from, uint64_t first, uint32_t *head,
                             settle_scratch *scratch)
{
    uint32_t count = 0;
    for (; count < SETTLE_GATHER && *head != HD_NO_KEY; count++) {
        if (t.lane == 0) scratch->index[count] = *head;
        *head = batch->next[*head];
    }
    __syncwarp(t.mask);
    for (uint32_t i = t.lane; i < count; i += HD_TILE) {
        hd_walk walk = walk_start_lean(0, 0);
        source_get(batch, from, first, view, scratch->index[i], &walk, &scratch->value[i]);
        scratch->lean[i] = walk.lean;
        walk_prefetch(view, walk);
    }
    __syncwarp(t.mask);
    return count;
}

/* One tile works through the deferred keys of a region. */
HD_FN void settle_region(hd_tile t, const hd_view *view, const hd_batch *batch, const hd_view *from,
                         uint64_t first, uint32_t region, uint32_t head, settle_scratch *scratch,
                         insert_sums *s)
{
    uint32_t kicks = view->kicks;
    while (head != HD_NO_KEY) {
        const uint32_t count = settle_gather(t, view, batch, from, first, &head, scratch);
#pragma unroll 1
        for (uint32_t i = 0; i < count; i++) {
            const int result =
                scheme_settle(t, view, walk_start_lean(region, scratch->lean[i]), scratch->value[i],
                              batch->policy, kicks, scratch->path, &s->probes, &s->evictions);
            insert_end(t, batch, scratch->index[i], result, s);
            /* A full region stays full: long chains are not worth trying again and again. */
            if (result == HD_NO_ROOM && kicks > 4) kicks /= 2;
        }
        __syncwarp(t.mask); /* all have read the scratch before it is used again */
    }
}

/*
 * A warp a region, of which only one tile works: tiles of one warp that go their own ways would
 * wait for each other's memory, one after the other.
 */
KERNEL(settle)(hd_view view, hd_batch batch, hd_view from, uint64_t first)
{
    __shared__ settle_scratch scratches[SETTLE_BLOCK / 32];
    const hd_tile t = tile_here();
    insert_sums s = {0, 0, 0, 0, 0};
    for (uint32_t r = warp_here(); r < UINT32_C(1) << view.region_bits; r += warps_in_all()) {
        const uint32_t head = batch.heads[r];
        __syncwarp(); /* all have read it */
        if (head == HD_NO_KEY || threadIdx.x % 32 >= HD_TILE) continue;
        if (t.lane == 0) batch.heads[r] = HD_NO_KEY;
        settle_region(t, &view, &batch, &from, first, r, head, &scratches[threadIdx.x / 32], &s);
    }
    __syncwarp();
    sums_add(&s, &batch);
}

#include "cuda/slots/fill_kernels.inl"

/* -------------------------------------------------------------------------------- whole tables */

HD_FN uint64_t slots_of(const hd_view *view)
{
    return ((uint64_t)view->region_buckets << view->region_bits) * HD_BUCKET;
}

/* A thread a slot that is asked for. */
KERNEL(at)(hd_view view, hd_batch batch)
{
    const uint64_t slots = slots_of(&view);
    for (uint64_t i = thread_here(); i < batch.n; i += threads_in_all()) {
        const uint64_t slot = batch.slots[i];
        hd_word word = word_nothing();
        if (slot < slots)
            load_frozen<HD_WORD_BYTES>(&word, (const char *)view.slots + slot * HD_WORD_BYTES);
        const bool found = slot < slots && !key_is_vacant(word_key(word));
        if (batch.found != NULL) batch.found[i] = found;
        if (found && batch.keys_out != NULL)
            ((hd_key *)batch.keys_out)[i] =
                key_from_lean(&view, (uint32_t)(slot / HD_BUCKET / view.region_buckets),
                              key_bare(&view, word_key(word)));
        if (HD_HAS_VALUES && found && batch.values_out != NULL)
            ((hd_value *)batch.values_out)[i] = word_value(&view, slot, word);
    }
}

/* A thread a slot; each warp takes its places in the output with one atomic. */
KERNEL(collect)
(hd_view view, uint64_t first, uint64_t n, hd_key *keys, hd_value *values, uint64_t *cursor)
{
    const uint64_t rounded = (n + 31) / 32 * 32;
    for (uint64_t i = thread_here(); i < rounded; i += threads_in_all()) {
        const uint64_t slot = first + (i < n ? i : n - 1);
        const hd_word word = ((const hd_word *)view.slots)[slot];
        const bool live = i < n && !key_is_vacant(word_key(word));
        const uint32_t lanes = __ballot_sync(0xffffffffu, live);
        const uint32_t before = __popc(lanes & ((1u << threadIdx.x % 32) - 1));
        unsigned long long at = 0;
        if (threadIdx.x % 32 == 0 && lanes != 0)
            at = atomicAdd((unsigned long long *)cursor, __popc(lanes));
        at = __shfl_sync(0xffffffffu, at, 0) + before;
        if (!live) continue;
        keys[at] = key_from_lean(&view, (uint32_t)(slot / HD_BUCKET / view.region_buckets),
                                 key_bare(&view, word_key(word)));
        if (HD_HAS_VALUES && values != NULL) values[at] = word_value(&view, slot, word);
    }
}

/* Adds what the threads have counted; each warp stays together. */
HD_FN void census_add(const hd_census *own, hd_census *census)
{
    uint64_t *const to = (uint64_t *)census;
    const uint64_t *const mine = (const uint64_t *)own;
    for (int i = 0; i < (int)(sizeof *own / sizeof(uint64_t)); i++) {
        const uint32_t sum = warp_sum((uint32_t)mine[i]);
        if (threadIdx.x % 32 == 0 && sum != 0)
            atomicAdd((unsigned long long *)to + i, (unsigned long long)sum);
    }
}

KERNEL(inspect)(hd_view view, hd_census *census)
{
    hd_census own = {};
    for (uint64_t i = thread_here(); i < slots_of(&view); i += threads_in_all())
        census_slot(&view, i, &own);
    census_add(&own, census);
}

/* A block a region. */
KERNEL(renew_marks)(hd_view view)
{
    const uint32_t regions = 1u << view.region_bits;
    const uint64_t slots = (uint64_t)view.region_buckets * HD_BUCKET;
    for (uint32_t region = blockIdx.x; region < regions; region += gridDim.x) {
        const uint64_t first = region * slots;
        for (uint64_t i = threadIdx.x; i < slots; i += blockDim.x) marks_set(&view, first + i);
        __syncthreads();
        for (uint64_t i = threadIdx.x; i < slots; i += blockDim.x)
            marks_clear_before(&view, region, first + i);
    }
}

#if defined(HD_MULTI) && HD_MULTI
#include "cuda/slots/multi_kernels.inl"
#endif

#endif
