/*
 * multi_image.inl: the device code that fills an empty multimap (scheme/multi.inl) from pairs sorted by region.
 * A block takes a region, makes an image of it in shared memory (image.inl) and writes that out in order.
 * Included by multi_kernels.inl.
 *
 * A counter for each window gives out its slots, so nothing is ever searched or compared: all slots below
 * the counter are taken, and a window whose counter has come to the end is full for good. Hence the words
 * of an image begin as 0, and a mark may come to a word before its key does.
 *
 * All pairs try the first window of their trail before any tries another. Then those that came too late go on
 * along the first leg of their trails, and no further than trails may go that meet no pair of their
 * key: as far as that no two pairs need to know of each other. A pair that finds no room so far is left
 * over, to be inserted into the finished table from the beginning of its trail.
 */
#ifndef HD_CUDA_KERNELS_H
#error "included by kernels.h alone"
#endif
#ifndef HD_CUDA_MULTI_IMAGE_H
#define HD_CUDA_MULTI_IMAGE_H

#define MULTI_FLIGHT 4 /* pairs that a thread has in flight when they try their first window */
#ifndef MULTI_PAIRS_MAX
#define MULTI_PAIRS_MAX 60000 /* that try to come into an image: a counter has 16 bits */
#endif

/* A region at work. */
typedef struct multi_region {
    image im;
    const hd_view *view;
    const hd_sorted *sorted;
    uint32_t number;
    uint64_t base; /* its first slot */
} multi_region;

/* Whether a region can be filled this way by a block with so much shared memory. */
HD_BOTH bool multi_image_fits(const hd_view *view, uint64_t shared_bytes)
{
    return (view->region_buckets + 1) / 2 <= SCRATCH_WORDS && image_bytes(view) <= shared_bytes;
}

HD_FN void multi_leave(const multi_region *r, hd_pair pair)
{
    const hd_trail trail = trail_start_lean(r->view, r->number, pair.lean);
    note_failed(r->sorted, r->view, &trail, pair.value);
}

/* The pairs [begin, end) are left over without a try. */
HD_FN void multi_leave_all(const multi_region *r, uint64_t begin, uint64_t end)
{
    const uint32_t lane = threadIdx.x % 32;
    for (uint64_t i = begin + threadIdx.x - lane; i < end; i += FILL_BLOCK) {
        const uint32_t length = end - i < 32 ? (uint32_t)(end - i) : 32;
        unsigned long long at = 0;
        if (lane == 0)
            at = atomicAdd((unsigned long long *)r->sorted->failed_count,
                           (unsigned long long)length);
        at = __shfl_sync(0xffffffffu, at, 0);
        if (lane < length)
            sorted_store((uint32_t *)r->sorted->failed, at + lane,
                         sorted_load((const uint32_t *)r->sorted->pairs, i + lane));
    }
}

/* Lets a pair wait that came to a full window: in the region's own slots, which are written at the end. */
HD_FN void multi_wait(const multi_region *r, hd_pair pair)
{
    const uint32_t at = atomicAdd(&r->im.scratch->waiting, 1);
    if (at < r->im.slots) slot_put(r->view, r->base + at, pair, 0);
    else multi_leave(r, pair);
}

/* The `count` pairs from `from` on try the first window of their trails. No word has a mark yet. */
HD_FN void multi_first(const multi_region *r, const uint32_t *from, uint32_t count, insert_sums *s)
{
    for (uint32_t first = threadIdx.x; first < count; first += MULTI_FLIGHT * FILL_BLOCK) {
        hd_pair pairs[MULTI_FLIGHT];
        uint32_t windows[MULTI_FLIGHT], at[MULTI_FLIGHT];
        HD_UNROLL
        for (uint32_t k = 0; k < MULTI_FLIGHT; k++) {
            const uint32_t i = first + k * FILL_BLOCK;
            const hd_sorted_pair pair = sorted_load(from, i < count ? i : first);
            pairs[k].lean = lean_key(r->view, sorted_key(pair));
            pairs[k].value = (hd_value)sorted_value(pair);
        }
        HD_UNROLL
        for (uint32_t k = 0; k < MULTI_FLIGHT; k++) {
            windows[k] = hd_mulhi32(chain_start(pairs[k].lean), r->view->region_buckets);
            if (first + k * FILL_BLOCK < count) at[k] = image_count(&r->im, windows[k]);
        }
        HD_UNROLL
        for (uint32_t k = 0; k < MULTI_FLIGHT; k++) {
            if (first + k * FILL_BLOCK >= count) continue;
            const uint32_t slot = windows[k] * HD_BUCKET + at[k];
            s->probes++;
            if (at[k] >= HD_BUCKET) {
                multi_wait(r, pairs[k]);
                continue;
            }
            r->im.keys[slot] = pairs[k].lean;
            r->im.values[slot] = pairs[k].value;
            s->inserted++;
        }
    }
}

/* How many slots of a window are taken; HD_BUCKET or more when it is full. */
HD_FN uint32_t multi_taken(const image *im, uint32_t window)
{
    const volatile uint32_t *const counts = im->scratch->counts;
    return counts[window / 2] >> window % 2 * 16 & 0xffff;
}

HD_FN void multi_or(hd_key *at, hd_key with)
{
#if HD_KEY_BITS == 32
    or_relaxed_32(at, with);
#else
    or_relaxed_64(at, with);
#endif
}

/* Marks a full window as passed; mostly another pair of the key has done so. */
HD_FN void multi_mark(const multi_region *r, uint32_t window, hd_key lean)
{
    const hd_mark mark = mark_of(r->view, lean);
    hd_key *const at = r->im.keys + tile_slot(window, mark.number);
    if ((*(const volatile hd_key *)at & mark_bit(mark)) == 0) multi_or(at, mark_bit(mark));
}

/* A pair on its way, at a full window. */
typedef struct multi_walk {
    hd_pair pair;
    uint32_t window, stride, step;
} multi_walk;

HD_FN multi_walk multi_walk_start(const hd_view *view, hd_pair pair)
{
    const uint32_t chain = chain_start(pair.lean);
    multi_walk walk;
    walk.pair = pair;
    walk.window = hd_mulhi32(chain, view->region_buckets);
    walk.stride = trail_stride(chain, view->region_buckets);
    walk.step = 0;
    return walk;
}

/* Leaves a full window behind, and tries the next; false when the walk has ended there. */
HD_FN bool multi_walk_on(const multi_region *r, multi_walk *walk, uint32_t limit, insert_sums *s)
{
    multi_mark(r, walk->window, walk->pair.lean);
    if (++walk->step >= limit) {
        multi_leave(r, walk->pair);
        return false;
    }
    walk->window += walk->stride;
    if (walk->window >= r->view->region_buckets) walk->window -= r->view->region_buckets;
    s->probes++;
    if (multi_taken(&r->im, walk->window) >= HD_BUCKET) return true;
    const uint32_t at = image_count(&r->im, walk->window);
    if (at >= HD_BUCKET) return true;
    multi_or(r->im.keys + walk->window * HD_BUCKET + at, walk->pair.lean);
    r->im.values[walk->window * HD_BUCKET + at] = walk->pair.value;
    s->inserted++;
    return false;
}

/*
 * The pairs that wait go on. A thread takes the next as soon as it is done with one, one window at a turn, so
 * that the threads of a warp need not wait for the longest walk among each 32.
 */
HD_FN void multi_others(const multi_region *r, uint32_t waiting, insert_sums *s)
{
    const hd_view *const view = r->view;
    uint32_t limit = view->region_buckets < HD_LEG ? view->region_buckets : HD_LEG;
    if (view->hashes < limit) limit = view->hashes;
    uint32_t i = threadIdx.x;
    hd_pair next = {};
    multi_walk walk = {};
    bool going = false;
    if (i < waiting) next = waiting_pair(view, r->base + i);
    while (going || i < waiting) {
        if (!going) {
            walk = multi_walk_start(view, next);
            i += FILL_BLOCK;
            if (i < waiting) next = waiting_pair(view, r->base + i);
        }
        going = multi_walk_on(r, &walk, limit, s);
    }
}

HD_FN void multi_store(const multi_region *r)
{
#pragma unroll 4
    for (uint32_t i = threadIdx.x; i < r->im.slots; i += FILL_BLOCK) {
        const bool taken = i % HD_BUCKET < multi_taken(&r->im, i / HD_BUCKET);
        hd_pair pair;
        pair.lean = taken ? r->im.keys[i] ^ mark_mask(r->view) : HD_KEY_EMPTY;
        pair.value = taken ? r->im.values[i] : (hd_value) ~(hd_value)0;
        slot_put(r->view, r->base + i, pair, 0);
    }
}

HD_FN void multi_fill_region(const multi_region *r, insert_sums *s)
{
    const uint64_t begin = r->sorted->starts[r->number], end = r->sorted->ends[r->number];
    const uint32_t count =
        end - begin < MULTI_PAIRS_MAX ? (uint32_t)(end - begin) : MULTI_PAIRS_MAX;
    fill_words(r->im.keys, r->im.slots * sizeof(hd_key), 0);
    image_counts_clear(r->view, &r->im);
    if (threadIdx.x == 0) r->im.scratch->waiting = 0;
    __syncthreads();
    multi_first(r, (const uint32_t *)r->sorted->pairs + begin * HD_PAIR_WORDS, count, s);
    multi_leave_all(r, begin + count, end);
    multi_others(r, waiting_count(&r->im), s);
    __syncthreads(); /* nobody waits any more where it is written now */
    multi_store(r);
    __syncthreads(); /* the memory is used again */
}

/* All regions. Pairs that are left over are listed, and not counted. */
KERNEL_FILL(multi_fill_fresh)(hd_view view, hd_batch batch, hd_sorted sorted)
{
    multi_region r;
    insert_sums s = {0, 0, 0, 0, 0};
    r.im = image_make(&view, block_memory());
    r.view = &view;
    r.sorted = &sorted;
    for (r.number = blockIdx.x; r.number < 1u << view.region_bits; r.number += gridDim.x) {
        r.base = (uint64_t)r.number * r.im.slots;
        multi_fill_region(&r, &s);
    }
    fill_sums(&s, &batch, 0);
}

/*
 * Inserts the pairs that were left over. The sorted pairs have served: those that find no room are listed in
 * their place, and counted where region 0 begins, which is at 0.
 */
KERNEL_APPEND(multi_fill_rest)(hd_view view, hd_batch batch, hd_sorted sorted)
{
    append_source src = {};
    src.sorted.pairs = sorted.failed;
    src.sorted.failed = (void *)sorted.pairs;
    src.sorted.failed_count = (uint64_t *)sorted.starts;
    append_kernel<FROM_SORTED>(&view, &batch, &src, *sorted.failed_count);
}

/* Brings the list of these to where the caller expects it. */
KERNEL(multi_fill_end)(hd_sorted sorted)
{
    const uint64_t n = sorted.starts[0];
    for (uint64_t i = thread_here(); i < n; i += threads_in_all())
        sorted_store((uint32_t *)sorted.failed, i, sorted_load((const uint32_t *)sorted.pairs, i));
    if (thread_here() == 0) *sorted.failed_count = n;
}

#endif
