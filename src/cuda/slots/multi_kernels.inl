/*
 * multi_kernels.inl: the device code of a compiled table as a multimap (scheme/multi.inl). The tiles of a warp
 * go together, as in kernels.h, which includes this.
 */
#ifndef HD_CUDA_KERNELS_H
#error "included by kernels.h alone"
#endif
#ifndef HD_CUDA_MULTI_KERNELS_H
#define HD_CUDA_MULTI_KERNELS_H

enum { COUNT = ERASE + 1, RETRIEVE };

/* Of the kernels that look keys up: a trail needs a register or two more than a walk. */
#define MULTI_BLOCKS 6
#define KERNEL_MULTI(name)                                                                         \
    static __global__ void __launch_bounds__(BLOCK, MULTI_BLOCKS) JOIN(HD_SYMBOL, name)

#ifndef APPEND_BLOCKS
#define APPEND_BLOCKS PLACE_BLOCKS /* with one less it does not spill, and has fewer warps */
#endif
#define KERNEL_APPEND(name)                                                                        \
    static __global__ void __launch_bounds__(BLOCK, APPEND_BLOCKS) JOIN(HD_SYMBOL, name)

/* ------------------------------------------------------------------------------ looking keys up */

typedef struct multi_sums {
    uint32_t found, probes, erased; /* the last is the lane's own, the others are the tile's */
} multi_sums;

/* What a tile keeps of a search besides its trail. */
typedef struct search {
    uint32_t matches;
    hd_hit first; /* erase: the first pair, which goes last */
    bool has_first;
} search;

/* One look at a window, which is loaded as `b`. Whether pairs of the key were met. */
template <int OP>
HD_FN bool search_look(hd_tile t, const hd_view *view, const hd_batch *batch, hd_key lean,
                       const hd_bucket *b, hd_value *to, search *look, bool on, multi_sums *s)
{
    if (OP == FIND || OP == CONTAINS) {
        hd_hit hit;
        look->matches = bucket_lookup(t, view, b, lean, &hit);
        hit.here = hit.here && on;
        if (OP == FIND) {
            /* Of several lanes with a hit the lowest delivers. */
            const uint32_t lanes = __ballot_sync(t.sync, hit.here) & t.mask;
            hit.here = hit.here && (lanes & (0u - lanes)) == 1u << threadIdx.x % 32;
            hit_deliver(t, view, hit, to);
        }
        return look->matches != 0;
    }
    if (OP == ERASE) {
        s->erased += bucket_vacate(t, view, b, lean, &look->first, &look->has_first, on);
        return look->has_first; /* others may be erasing the same key: on, as far as marks go */
    }
    const uint32_t met = OP == RETRIEVE ? bucket_deliver(t, view, b, lean, to + look->matches, on)
                                        : bucket_matches(t, view, b, lean);
    look->matches += met;
    return met != 0;
}

/* The search of a tile has ended: the i-th key of the batch. Tiles go together. */
template <int OP>
HD_FN void search_end(hd_tile t, const hd_view *view, const hd_batch *batch, uint32_t i,
                      search *look, bool on, multi_sums *s)
{
    bool found = on && look->matches != 0;
    if (OP == ERASE) {
        /*
         * Of several tiles that erase the same key one is said to have found it: the one that erases the
         * first pair. All others are gone by then, so a tile that does not meet it any more finds nothing.
         */
        __threadfence();
        const bool mine =
            on && look->first.here && slot_vacate(view, look->first.slot, look->first.word);
        s->erased += mine;
        found = tile_any(t, mine);
    }
    s->found += found;
    if (!on || t.lane != 0) return;
    if (OP == COUNT) batch->matches[i] = look->matches;
    if (batch->found != NULL) batch->found[i] = found;
}

/* Looks up a key for each tile of a warp, the i-th of the batch; `on` tiles have one. */
template <int OP>
HD_FN void search_warp(hd_tile t, const hd_view *view, const hd_batch *batch, uint32_t i,
                       const bool on, multi_sums *s)
{
    const uint32_t safe = on ? i : 0;
    hd_trail trail = trail_start(view, __ldg((const hd_key *)batch->keys + safe));
    hd_value *const to = (hd_value *)batch->values_out + (OP == RETRIEVE ? batch->places[safe]
                                                          : OP == FIND   ? safe
                                                                         : 0);
    search look;
    look.matches = 0;
    look.first.here = look.has_first = false;
    bool going = on;
    hd_bucket b = {};
    while (__any_sync(0xffffffffu, going)) {
        if (going)
            b = OP == ERASE ? bucket_load_shared(t, view, trail_bucket(view, &trail))
                            : bucket_load(t, view, trail_bucket(view, &trail));
        s->probes += going;
        /* A tile that is done keeps what it has found. */
        search now = look;
        const bool met = search_look<OP>(t, view, batch, trail.lean, &b, to, &now, going, s);
        const bool passed = bucket_is_passed(t, view, &b, trail.lean);
        if (going) look = now;
        going = going && !((OP == FIND || OP == CONTAINS) && met) &&
                search_pass(view, &trail, passed, met);
    }
    search_end<OP>(t, view, batch, i, &look, on, s);
}

template <int OP> HD_FN void search_kernel(const hd_view *view, const hd_batch *batch)
{
    const hd_tile t = tile_together();
    const uint32_t n = (uint32_t)batch->n, stride = warps_in_all() * WARP_TILES;
    multi_sums s = {0, 0, 0};
    for (uint32_t base = warp_here() * WARP_TILES; base < n; base += stride) {
        const uint32_t i = base + threadIdx.x % 32 / HD_TILE;
        search_warp<OP>(t, view, batch, i, i < n, &s);
    }
    const uint32_t one = t.lane == 0; /* counts are the tile's */
    uint64_t *const at = batch->counts->at;
    uint64_t *const to[] = {at + HD_FOUND, at + HD_PROBES, at + HD_ASKED, batch->tally};
    const uint32_t asked = thread_here() == 0 ? (uint32_t)batch->n : 0;
    const uint32_t mine[] = {one * s.found, one * s.probes, asked, OP == ERASE ? s.erased : 0};
    block_add(to, mine);
}

KERNEL_MULTI(multi_find)(hd_view view, hd_batch batch) { search_kernel<FIND>(&view, &batch); }
KERNEL_MULTI(multi_contains)(hd_view view, hd_batch batch)
{
    search_kernel<CONTAINS>(&view, &batch);
}
KERNEL_MULTI(multi_erase)(hd_view view, hd_batch batch) { search_kernel<ERASE>(&view, &batch); }
KERNEL_MULTI(multi_count)(hd_view view, hd_batch batch) { search_kernel<COUNT>(&view, &batch); }
KERNEL_MULTI(multi_retrieve)(hd_view view, hd_batch batch)
{
    search_kernel<RETRIEVE>(&view, &batch);
}

/* ------------------------------------------------------------------------------------ inserting */

/*
 * The order in which warps take sorted pairs. All pairs of one region at once would make tiles fight for
 * its windows, a region for every block would be more windows than the second-level cache holds: so the
 * pairs are cut into strips of neighbouring regions, and warp after warp takes the next few pairs of the
 * next strip.
 */
#define APPEND_STRIPS 128
#define APPEND_UNIT (4 * WARP_TILES)

/* Where the pairs come from, by number. */
enum { FROM_BATCH, FROM_SORTED, FROM_SLOTS };
typedef struct append_source {
    hd_sorted sorted;
    hd_view from;
    uint64_t first; /* slot */
} append_source;

template <int FROM>
HD_FN bool append_get(const append_source *src, const hd_view *view, const hd_batch *batch,
                      uint64_t i, hd_trail *trail, hd_value *value)
{
    if (FROM == FROM_SORTED) {
        const hd_sorted_pair pair = sorted_load((const uint32_t *)src->sorted.pairs, i);
        *trail = trail_start_mixed(view, sorted_key(pair));
        *value = (hd_value)sorted_value(pair);
        return true;
    }
    if (FROM == FROM_SLOTS) {
        const hd_view *from = &src->from;
        const uint64_t slot = src->first + i;
        hd_word word;
        load_frozen<HD_WORD_BYTES>(&word, (const char *)from->slots + slot * HD_WORD_BYTES);
        const uint32_t region = (uint32_t)(slot / HD_BUCKET / from->region_buckets);
        *trail = trail_start(view, key_from_lean(from, region, key_bare(from, word_key(word))));
        *value = word_value(from, slot, word);
        return !key_is_vacant(word_key(word));
    }
    *trail = trail_start(view, __ldg((const hd_key *)batch->keys + i));
    *value = batch_value(batch, i);
    return !(batch->retry && batch->outcomes[i] != HEDDLE_OUTCOME_FAILED);
}

/* Keeps a pair that found no room, as a sorted one again. */
HD_FN void note_failed(const hd_sorted *sorted, const hd_view *view, const hd_trail *trail,
                       hd_value value)
{
    const unsigned long long at =
        atomicAdd((unsigned long long *)sorted->failed_count, (unsigned long long)1);
    sorted_store((uint32_t *)sorted->failed, at,
                 sorted_make(mixed_from_lean(view, trail->region, trail->lean), value));
}

/*
 * How far the trails of frequent keys lead through full windows, so that the next pair of such a key need
 * not look at them again: k pairs of one key would take k * k looks. An entry belongs to the first key that
 * claims it in a launch. It lies in the memory for the links of deferred pairs, of which there are none.
 */
#define HINTS 4096 /* 64 KB: less than a slice has */
#define HINT_AT 8  /* windows after which a trail asks, and leaves a hint */
typedef struct hint {
    unsigned long long key;  /* mixed */
    unsigned long long ends; /* number << 32 | alone of a trail; 0: none yet */
} hint;
#define HINT_FREE (~0ull)

HD_FN hint *hint_of(const hd_batch *batch, const hd_trail *trail)
{
    return (hint *)batch->next + (chain_start(trail->lean) ^ trail->region * 0x9e3779b1u) % HINTS;
}

/* Takes the trails of the tiles that want it forward. Tiles go together. False: no room for the key. */
HD_FN bool hint_follow(hd_tile t, const hd_view *view, const hd_batch *batch, hd_trail *trail,
                       bool wants)
{
    unsigned long long ends = 0;
    if (wants && t.lane == 0) {
        const hint *at = hint_of(batch, trail);
        if (*(const volatile unsigned long long *)&at->key ==
            mixed_from_lean(view, trail->region, trail->lean))
            ends = *(const volatile unsigned long long *)&at->ends;
    }
    ends = __shfl_sync(t.sync, ends, 0, HD_TILE);
    if (wants && (uint32_t)(ends >> 32) > trail->number) {
        trail->number = (uint32_t)(ends >> 32);
        trail->alone = (uint32_t)ends;
        return trail->number != UINT32_MAX;
    }
    return true;
}

/* One lane notes where a pair was placed, or that there is no room for more. */
HD_FN void hint_leave(const hd_view *view, const hd_batch *batch, const hd_trail *trail, bool full)
{
    const unsigned long long key = mixed_from_lean(view, trail->region, trail->lean);
    const unsigned long long ends =
        full ? HINT_FREE : (unsigned long long)trail->number << 32 | trail->alone;
    hint *const at = hint_of(batch, trail);
    unsigned long long owner = *(volatile unsigned long long *)&at->key;
    if (key == HINT_FREE) return;
    if (owner == HINT_FREE) {
        owner = atomicCAS(&at->key, HINT_FREE, key);
        if (owner == HINT_FREE) owner = key;
    }
    if (owner == key && *(volatile unsigned long long *)&at->ends < ends)
        atomicMax(&at->ends, ends);
}

/*
 * Inserts a pair for each tile of a warp, all going together; `active` tiles have one. `sorted` is NULL
 * where nobody asks for the pairs that find no room.
 */
HD_FN void append_warp(hd_tile t, const hd_view *view, const hd_batch *batch, hd_trail trail,
                       hd_value value, uint64_t i, bool active, uint32_t *full_zones,
                       const hd_sorted *sorted, insert_sums *s)
{
    while (__any_sync(0xffffffffu, active)) {
        const hd_bucket b = bucket_load_shared(t, view, trail_bucket(view, &trail));
        const uint32_t before = trail.number;
        int result = append_step(t, view, &trail, &b, value, active, full_zones);
        const bool asks = active && result == HD_GOES_ON && trail.number != before &&
                          trail.number == HINT_AT && batch->next != NULL;
        if (tiles_any(t, asks) && !hint_follow(t, view, batch, &trail, asks)) result = HD_NO_ROOM;
        if (active && result != HD_GOES_ON && before >= HINT_AT && batch->next != NULL &&
            t.lane == 0)
            hint_leave(view, batch, &trail, result == HD_NO_ROOM);
        if (active) {
            s->probes++;
            if (result != HD_GOES_ON) insert_end(t, batch, i, result, s);
            if (result == HD_NO_ROOM && sorted != NULL && sorted->failed != NULL && t.lane == 0)
                note_failed(sorted, view, &trail, value);
        }
        active = active && result == HD_GOES_ON;
    }
}

template <int FROM>
HD_FN void append_kernel(const hd_view *view, const hd_batch *batch, const append_source *src,
                         uint64_t n)
{
    const hd_tile t = tile_together();
    const uint64_t strips = FROM == FROM_SORTED ? APPEND_STRIPS : 1;
    const uint64_t units = (n + APPEND_UNIT - 1) / APPEND_UNIT;
    const uint64_t length = (units + strips - 1) / strips; /* units of a strip */
    insert_sums s = {0, 0, 0, 0, 0};
    uint32_t full_zones = 0;
    for (uint64_t u = warp_here(); u < length * strips; u += warps_in_all()) {
        const uint64_t unit = u % strips * length + u / strips;
        for (uint32_t k = 0; k < APPEND_UNIT; k += WARP_TILES) {
            const uint64_t i = unit * APPEND_UNIT + k + threadIdx.x % 32 / HD_TILE;
            hd_trail trail;
            hd_value value;
            const bool there =
                append_get<FROM>(src, view, batch, i < n ? i : n - 1, &trail, &value);
            append_warp(t, view, batch, trail, value, i, there && i < n, &full_zones,
                        FROM == FROM_SORTED ? &src->sorted : NULL, &s);
        }
    }
    sums_add(&s, batch);
}

KERNEL(multi_clear_hints)(hint *hints)
{
    for (uint64_t i = thread_here(); i < HINTS; i += threads_in_all()) {
        hints[i].key = HINT_FREE;
        hints[i].ends = 0;
    }
}

KERNEL_APPEND(multi_append)(hd_view view, hd_batch batch)
{
    append_kernel<FROM_BATCH>(&view, &batch, NULL, batch.n);
}

/* The pairs of all regions, batch.n of them. */
KERNEL_APPEND(multi_fill)(hd_view view, hd_batch batch, hd_sorted sorted)
{
    append_source src = {};
    src.sorted = sorted;
    append_kernel<FROM_SORTED>(&view, &batch, &src, batch.n);
}

#include "cuda/slots/multi_image.inl"

KERNEL_APPEND(multi_rehome)(hd_view view, hd_batch batch, hd_view from, uint64_t first)
{
    append_source src = {};
    src.from = from;
    src.first = first;
    append_kernel<FROM_SLOTS>(&view, &batch, &src, batch.n);
}

/* -------------------------------------------------------------------------------- whole tables */

KERNEL(multi_inspect)(hd_view view, hd_census *census)
{
    hd_census own = {};
    for (uint64_t i = thread_here(); i < slots_of(&view); i += threads_in_all())
        multi_census(&view, i, &own);
    census_add(&own, census);
}

#endif
