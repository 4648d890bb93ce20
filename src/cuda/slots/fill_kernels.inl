/*
 * fill_kernels.inl: the device code that fills a table from pairs sorted by region. A block takes a
 * region, makes an image of it in shared memory (image.inl) and writes that out in order.
 */
#ifndef HD_CUDA_KERNELS_H
#error "included by kernels.h alone"
#endif
#ifndef HD_CUDA_FILL_KERNELS_H
#define HD_CUDA_FILL_KERNELS_H

#include "cuda/partition/sorted_pair.h"
#include "cuda/slots/image.inl"
#if HD_EVICTS || HD_CHOOSES
#include "cuda/slots/image_deferred.inl"
#endif

#define FILL_PAIRS_MAX (UINT32_MAX / 2) /* of a region; no folded region has so many */
#define FILL_KEYS 2                     /* that a thread has in flight when it looks */
#define KERNEL_FILL(name)                                                                          \
    static __global__ void __launch_bounds__(FILL_BLOCK, FILL_BLOCKS) JOIN(HD_SYMBOL, name)

/*
 * Lets a pair wait whose first `step` candidates are full: in the region's own slots, which are
 * written only at the end. When so many wait that there is no room, it walks on at once.
 */
HD_FN void fill_wait(const image *im, const hd_view *view, uint64_t base, hd_pair pair,
                     uint32_t step, uint32_t policy, insert_sums *s)
{
    const uint32_t at = atomicAdd(&im->scratch->waiting, 1);
    int result = HD_GOES_ON;
    if (at < im->slots) slot_put(view, base + at, pair, 0);
    else if (step < view->hashes) result = image_walk(im, view, pair, step, policy, &s->probes);
    else result = HD_DEFERRED;
    s->inserted += result == HD_PLACED;
    s->present += result == HD_PRESENT;
    if (result == HD_DEFERRED) image_fail(im, view, pair, s);
}

/* The pairs that a thread tries to bring in at the same time. */
typedef struct fill_flight {
    hd_pair pairs[FILL_KEYS];
    uint32_t buckets[FILL_KEYS];
    image_look looks[FILL_KEYS];
    uint32_t slots[FILL_KEYS];
    hd_key before[FILL_KEYS];
} fill_flight;

/* Takes slots for all of them; as image_take. */
HD_FN void flight_take(const image *im, const hd_view *view, fill_flight *f)
{
    bool going[FILL_KEYS], any = false;
    HD_UNROLL
    for (uint32_t k = 0; k < FILL_KEYS; k++) {
        f->slots[k] = first_vacancy(f->buckets[k], f->looks[k]);
        f->before[k] = HD_KEY_BUSY;
        going[k] = f->slots[k] < f->buckets[k] * HD_BUCKET + first_room(view);
        any = any || going[k];
    }
    while (any) {
        HD_UNROLL
        for (uint32_t k = 0; k < FILL_KEYS; k++)
            if (going[k])
                f->before[k] = image_cas(im->keys + f->slots[k], HD_KEY_EMPTY, f->pairs[k].lean);
        any = false;
        HD_UNROLL
        for (uint32_t k = 0; k < FILL_KEYS; k++) {
            const bool next = going[k] && f->before[k] != HD_KEY_EMPTY &&
                              !key_is(view, f->before[k], f->pairs[k].lean);
            f->slots[k] += next;
            going[k] = next && f->slots[k] < f->buckets[k] * HD_BUCKET + first_room(view);
            any = any || going[k];
        }
    }
}

/*
 * All pairs, `count` from `from` on, try their first bucket, FILL_KEYS a thread at a time; the next are loaded while these are
 * at work. Without MARKED the image has no marks, and gets none here: each pair has room to wait. The
 * threads of a warp stay together: where their luck parts them, they wait for each other.
 */
template <bool MARKED>
HD_FN void fill_first(const image *im, const hd_view *view, const hd_batch *batch,
                      const uint32_t *from, uint32_t count, uint64_t base, insert_sums *s)
{
    hd_sorted_pair next[FILL_KEYS];
    uint32_t all = 0, others = 0; /* pairs, and those that were present or had to wait */
    HD_UNROLL
    for (uint32_t k = 0; k < FILL_KEYS; k++) {
        const uint32_t i = k * FILL_BLOCK + threadIdx.x;
        next[k] = i < count ? sorted_load(from, i) : sorted_make(0, 0);
    }
    for (uint32_t first = 0; first < count; first += FILL_KEYS * FILL_BLOCK) {
        fill_flight f;
        HD_UNROLL
        for (uint32_t k = 0; k < FILL_KEYS; k++) {
            f.pairs[k].lean = lean_key(view, sorted_key(next[k]));
            f.pairs[k].value = (hd_value)sorted_value(next[k]);
            f.buckets[k] = hd_mulhi32(chain_start(f.pairs[k].lean), view->region_buckets);
            f.looks[k] = image_look_at<MARKED>(im, view, f.buckets[k], f.pairs[k].lean);
            f.looks[k].vacant =
                first + k * FILL_BLOCK + threadIdx.x < count ? f.looks[k].vacant : 0;
        }
        HD_UNROLL
        for (uint32_t k = 0; k < FILL_KEYS; k++) {
            const uint32_t later = first + (FILL_KEYS + k) * FILL_BLOCK + threadIdx.x;
            if (later < count) next[k] = sorted_load(from, later);
        }
        flight_take(im, view, &f);
        __syncwarp();
        HD_UNROLL
        for (uint32_t k = 0; k < FILL_KEYS; k++) {
            if (first + k * FILL_BLOCK + threadIdx.x < count) {
                const int result =
                    image_taken(im, view, f.buckets[k], f.looks[k], f.slots[k], f.before[k],
                                first_room(view), f.pairs[k], batch->policy);
                all++;
                if (result != HD_PLACED) {
                    others++;
                    s->present += result == HD_PRESENT;
                    if (result == HD_DEFERRED)
                        fill_wait(im, view, base, f.pairs[k], 1, batch->policy, s);
                }
            }
            __syncwarp();
        }
    }
    s->inserted += all - others;
    s->probes += all;
}

/*
 * The same without looking: each key is put into its first bucket at the place that a counter tells.
 * Afterwards equal keys are brought together, bucket by bucket. Keys that came to a full bucket wait,
 * and have to try it again, since their equals may be there or may have left room. Only for regions
 * whose pairs can all wait.
 */
HD_FN void fill_quick(const image *im, const hd_view *view, const hd_batch *batch,
                      const uint32_t *from, uint32_t count, uint64_t base, insert_sums *s)
{
#pragma unroll 4
    for (uint32_t i = threadIdx.x; i < count; i += FILL_BLOCK) {
        const hd_sorted_pair sorted_pair = sorted_load(from, i);
        hd_pair pair;
        pair.lean = lean_key(view, sorted_key(sorted_pair));
        pair.value = (hd_value)sorted_value(sorted_pair);
        const uint32_t bucket = hd_mulhi32(chain_start(pair.lean), view->region_buckets);
        const uint32_t at = image_count(im, bucket);
        if (at < first_room(view)) {
            im->keys[bucket * HD_BUCKET + at] = pair.lean;
            if (HD_HAS_VALUES) im->values[bucket * HD_BUCKET + at] = pair.value;
        } else {
            slot_put(view, base + atomicAdd(&im->scratch->waiting, 1), pair, 0);
        }
    }
    __syncthreads();
    for (uint32_t b = threadIdx.x; b < view->region_buckets; b += FILL_BLOCK) {
        const uint32_t keys = image_counted(im, view, b);
        uint32_t gone = 0;
        if (keys > 1 && image_has_equals(im, b, keys))
            gone = image_fold(im, b, keys, batch->policy);
        s->probes += keys;
        s->inserted += keys - gone;
        s->present += gone;
    }
}

HD_FN hd_pair waiting_pair(const hd_view *view, uint64_t slot)
{
    const hd_word word = ((const hd_word *)view->slots)[slot];
    hd_pair pair;
    pair.lean = word_key(word);
    pair.value = word_value(view, slot, word);
    return pair;
}

/* How many pairs have come to wait; none comes before all threads know. */
HD_FN uint32_t waiting_count(const image *im)
{
    __syncthreads();
    const uint32_t waiting = im->scratch->waiting < im->slots ? im->scratch->waiting : im->slots;
    __syncthreads();
    return waiting;
}

/* Those that wait, `count` of them, try their candidates from the `step`-th on, or wait again. */
HD_FN void fill_again(const image *im, const hd_view *view, const hd_batch *batch, uint32_t count,
                      uint32_t step, uint64_t base, insert_sums *s)
{
    for (uint32_t first = 0; first < count; first += FILL_BLOCK) {
        const uint32_t i = first + spread_thread();
        int result = HD_GOES_ON;
        if (i < count) {
            const hd_pair pair = waiting_pair(view, base + i);
            result = image_walk(im, view, pair, step, batch->policy, &s->probes);
            if (result == HD_DEFERRED) {
                if (HD_EVICTS) fill_wait(im, view, base, pair, view->hashes, batch->policy, s);
                else image_fail(im, view, pair, s);
            }
        }
        s->inserted += result == HD_PLACED;
        s->present += result == HD_PRESENT;
        __syncwarp();
    }
}

#if HD_EVICTS || HD_CHOOSES
/* Those that wait from the `begin`-th on are brought in, whatever it takes; `known`: none of them is in. */
HD_FN void fill_settle(const image *im, const hd_view *view, const hd_batch *batch, uint32_t begin,
                       uint32_t end, bool known, uint64_t base, insert_sums *s)
{
    for (uint32_t first = begin; first < end; first += FILL_BLOCK) {
        const uint32_t i = first + threadIdx.x;
        const hd_pair pair = waiting_pair(view, base + (i < end ? i : first));
        image_settle(im, view, pair, i < end, batch->policy, known && first == begin, s);
    }
}
#endif

#if HD_CHOOSES
/*
 * Pairs whose keys are in the region meet them, wherever they are; others go to their first buckets, or wait, for
 * which there is room.
 */
HD_FN void fill_meet(const image *im, const hd_view *view, const hd_batch *batch,
                     const uint32_t *from, uint32_t count, uint64_t base, insert_sums *s)
{
    for (uint32_t i = threadIdx.x; i < count; i += FILL_BLOCK) {
        const hd_sorted_pair sorted_pair = sorted_load(from, i);
        hd_pair pair;
        pair.lean = lean_key(view, sorted_key(sorted_pair));
        pair.value = (hd_value)sorted_value(sorted_pair);
        s->probes++;
        int result = HD_PRESENT;
        if (!image_has(im, view, pair, batch->policy))
            result = image_bring_home(im, view, pair, batch->policy);
        s->present += result == HD_PRESENT;
        s->inserted += result == HD_PLACED;
        if (result == HD_DEFERRED)
            slot_put(view, base + atomicAdd(&im->scratch->waiting, 1), pair, 0);
    }
}

/*
 * In pieces that can all wait, since no pair can go past its first bucket while others with the same key
 * may be on their way. Where keys were before, they may lie in any bucket, as the slots of the first fill up in
 * another order elsewhere, and some may have been erased.
 */
template <bool FRESH>
HD_FN void fill_pairs(const image *im, const hd_view *view, const hd_batch *batch,
                      const uint32_t *from, uint32_t count, uint64_t base, insert_sums *s)
{
    for (uint32_t done = 0; done < count; done += im->slots) {
        const uint32_t piece = count - done < im->slots ? count - done : im->slots;
        const uint32_t *const pairs = from + (uint64_t)done * HD_PAIR_WORDS;
        const bool quick = FRESH && done == 0 && image_can_count(view);
        if (quick) fill_quick(im, view, batch, pairs, piece, base, s);
        else if (FRESH) fill_first<false>(im, view, batch, pairs, piece, base, s);
        else fill_meet(im, view, batch, pairs, piece, base, s);
        const uint32_t waiting = waiting_count(im);
        if (threadIdx.x == 0) im->scratch->waiting = 0;
        fill_settle(im, view, batch, 0, waiting, false, base, s);
        __syncthreads();
    }
    image_mark_all(im, view);
}
#else
template <bool FRESH>
HD_FN void fill_pairs(const image *im, const hd_view *view, const hd_batch *batch,
                      const uint32_t *from, uint32_t count, uint64_t base, insert_sums *s)
{
    const bool all_can_wait = count <= im->slots;
    const bool quick = FRESH && all_can_wait && image_can_count(view);
    if (quick) fill_quick(im, view, batch, from, count, base, s);
    else if (FRESH && all_can_wait) fill_first<false>(im, view, batch, from, count, base, s);
    else fill_first<true>(im, view, batch, from, count, base, s);
    const uint32_t full_once = waiting_count(im);
    fill_again(im, view, batch, full_once, quick ? 0 : 1, base, s);
    const uint32_t full_ever = waiting_count(im);
#if HD_EVICTS
    fill_settle(im, view, batch, full_once, full_ever, true, base, s);
#else
    (void)full_ever;
#endif
}
#endif

/* The pairs of a region that are to be filled in. */
HD_FN uint64_t sorted_count(const hd_sorted *sorted, uint32_t number)
{
    const uint64_t pairs = sorted->ends[number] - sorted->starts[number];
    return sorted->room != 0 && pairs > sorted->room ? sorted->room : pairs;
}

template <bool FRESH>
HD_FN void fill_region(image *im, const hd_view *view, const hd_batch *batch,
                       const hd_sorted *sorted, uint32_t number, insert_sums *s)
{
    const uint32_t region = sorted->regions != NULL ? sorted->regions[number] : number;
    const uint64_t base = (uint64_t)region * im->slots;
    im->region = region;
    const uint64_t begin = sorted->starts[number];
    image_clear(im, batch->policy);
    if (FRESH && image_can_count(view)) image_counts_clear(view, im);
    __syncthreads();
    if (!FRESH) {
        if (HD_CHOOSES) fill_words(im->placed, im->slots / 8 + 4, 0);
        image_load(view, im, base);
        __syncthreads(); /* all is loaded before pairs wait where it was */
    }
    fill_pairs<FRESH>(im, view, batch, (const uint32_t *)sorted->pairs + begin * HD_PAIR_WORDS,
                      (uint32_t)sorted_count(sorted, number), base, s);
    image_store(im, view, base);
    __syncthreads(); /* the memory is used again */
}

HD_FN void fill_sums(const insert_sums *s, const hd_batch *batch, uint64_t later)
{
    sums_add_all(s, batch, 1);
    if (threadIdx.x == 0 && later != 0)
        atomicAdd((unsigned long long *)&batch->counts->at[HD_LATER], (unsigned long long)later);
}

template <bool FRESH>
HD_FN void fill_regions(const hd_view &view, const hd_batch &batch, const hd_sorted &sorted,
                        uint32_t count)
{
    image im = image_make(&view, block_memory());
    insert_sums s = {0, 0, 0, 0, 0};
    uint64_t later = 0;
    if (sorted.unless != NULL && *sorted.unless != 0) return;
    im.failed = (uint32_t *)sorted.failed;
    im.failed_count = (unsigned long long *)sorted.failed_count;
    im.all_may_fail = FRESH;
    for (uint32_t i = blockIdx.x; i < count; i += gridDim.x) {
        const uint64_t pairs = sorted_count(&sorted, i);
        if (!FRESH && pairs <= sorted.least) continue;
        if (pairs > sorted.limit) later += pairs;
        else if (pairs > FILL_PAIRS_MAX) s.failed++;
        else fill_region<FRESH>(&im, &view, &batch, &sorted, i, &s);
    }
    if (sorted.retried) s.failed = 0;
    fill_sums(&s, &batch, later);
}

KERNEL_FILL(fill_fresh)(hd_view view, hd_batch batch, hd_sorted sorted, uint32_t count)
{
    fill_regions<true>(view, batch, sorted, count);
}

KERNEL_FILL(fill_more)(hd_view view, hd_batch batch, hd_sorted sorted, uint32_t count)
{
    fill_regions<false>(view, batch, sorted, count);
}

/* -------------------------------------------------------------------------------------- folding */

/* Appends the image's pairs at a cursor, with one atomic a warp. */
HD_FN void fold_append(const image *im, const hd_view *view, uint32_t region, uint32_t *pairs,
                       unsigned long long *cursor)
{
    for (uint32_t i = threadIdx.x; i < (im->slots + 31) / 32 * 32; i += FILL_BLOCK) {
        const hd_key key = i < im->slots ? im->keys[i] : HD_KEY_EMPTY;
        const uint32_t lanes = __ballot_sync(0xffffffffu, !key_is_vacant(key));
        unsigned long long at = 0;
        if (threadIdx.x % 32 == 0 && lanes != 0) at = atomicAdd(cursor, __popc(lanes));
        at = __shfl_sync(0xffffffffu, at, 0) + __popc(lanes & ((1u << threadIdx.x % 32) - 1));
        if (!key_is_vacant(key))
            sorted_store(pairs, at,
                         sorted_make(mixed_from_lean(view, region, key_bare(view, key)),
                                     HD_HAS_VALUES ? im->values[i] : 0));
    }
}

/* Pairs that find no room in the image go on as they are. */
KERNEL_FILL(fold)
(hd_view view, hd_batch batch, const uint32_t *source, const hd_fold_task *tasks, uint32_t *pairs,
 unsigned long long *cursors)
{
    const image im = image_make(&view, block_memory());
    const hd_fold_task task = tasks[blockIdx.x];
    unsigned long long *const cursor = &cursors[task.cursor];
    insert_sums s = {0, 0, 0, 0, 0};
    image_clear(&im, batch.policy);
    __syncthreads();
    for (uint64_t i = task.begin + threadIdx.x; i < task.end; i += FILL_BLOCK) {
        const hd_sorted_pair pair = sorted_load(source, i);
        hd_pair lean;
        lean.lean = lean_key(&view, sorted_key(pair));
        lean.value = (hd_value)sorted_value(pair);
        const int result = image_walk(&im, &view, lean, 0, batch.policy, &s.probes);
        s.present += result == HD_PRESENT;
        if (result == HD_DEFERRED) sorted_store(pairs, atomicAdd(cursor, 1ull), pair);
    }
    __syncthreads();
    fold_append(&im, &view, region_of(&view, sorted_key(sorted_load(source, task.begin))), pairs,
                cursor);
    fill_sums(&s, &batch, 0);
}

#endif
