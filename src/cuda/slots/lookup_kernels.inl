/*
 * lookup_kernels.inl: find, contains, locate and erase. A key belongs to a thread, its owner, which hashes it and writes
 * its answer; the looks at buckets are a tile's. So a warp has 32 keys. In HD_TILE rounds every tile looks at the
 * first bucket of one of its own threads' keys. The loads of LOOKUP_LOADS rounds are under way together, and
 * nothing waits between them. On tables that stay in the second-level cache instructions are the limit, not
 * memory; this way a key that is in its first bucket takes 5 of a warp's up to its answer. That is also why the grid
 * covers all keys instead of striding over them.
 *
 * Keys that were not in their first bucket and have been pushed past it, one in twelve at load 0.8, look on when all
 * have looked once (look_on): so the others need not wait for them in every round.
 */
#ifndef HD_CUDA_KERNELS_H
#error "included by kernels.h alone"
#endif
#ifndef HD_CUDA_LOOKUP_KERNELS_H
#define HD_CUDA_LOOKUP_KERNELS_H

enum { FIND, CONTAINS, ERASE, LOCATE };

/* Random access wants many warps; with fewer registers than 40 a lookup spills. */
#ifndef LOOKUP_BLOCKS
#define LOOKUP_BLOCKS 6
#endif
/* Of these a processor holds 8, if a thread needs no more than 32 registers; 6 with 40. */
#define ERASE_BLOCKS (HD_WIDE || HD_PIECES > 1 ? 6 : 8)
#define KERNEL_LOOKUP(name)                                                                        \
    static __global__ void __launch_bounds__(BLOCK, LOOKUP_BLOCKS) JOIN(HD_SYMBOL, name)
/* Of one lane, as registers allow: 16 bytes a load, or 32 where a lane has two pieces of a bucket. */
#ifndef LOOKUP_LOADS
#define LOOKUP_LOADS (HD_PIECES > 1 ? 2 : 4)
#endif
/* Larger buckets are too much for one thread. */
#ifndef LOOK_ALONE_BYTES
#define LOOK_ALONE_BYTES 64
#endif
static constexpr uint32_t rounds_together = HD_TILE < LOOKUP_LOADS ? HD_TILE : LOOKUP_LOADS;

typedef struct lookup_sums {
    uint32_t found, more; /* keys, and looks after the first of every key */
} lookup_sums;

/* ----------------------------------------------------------------------------- a tile goes on alone */

/* What to do with the i-th key of a batch after a step; tiles go together. Whether it was found. */
template <int OP>
HD_FN bool lookup_end(hd_tile t, const hd_view *view, const hd_batch *batch, uint32_t i,
                      bool active, int step, hd_hit hit)
{
    bool found = active && step == HD_STEP_FOUND;
    hit.here = hit.here && active;
#if HD_VALUE_BITS != 0
    if (OP == FIND) hit_deliver(t, view, hit, (hd_value *)batch->values_out + i);
#endif
    if (OP == ERASE) found = hit_erase(t, view, hit);
    if (OP == LOCATE) {
        hit_locate(t, hit, batch->slots + i);
        if (active && step == HD_STEP_ABSENT && t.lane == 0) batch->slots[i] = HEDDLE_NO_SLOT;
    }
    if (batch->found != NULL && active && step != HD_STEP_ON && t.lane == 0)
        batch->found[i] = found;
    return found;
}

template <int OP> HD_FN hd_bucket lookup_load(hd_tile t, const hd_view *view, const hd_walk *walk)
{
    return OP == ERASE ? bucket_load_shared(t, view, walk_bucket(view, walk))
                       : bucket_load(t, view, walk_bucket(view, walk));
}

/* The number of this tile in its warp. */
HD_FN uint32_t tile_number(void) { return threadIdx.x % 32 / HD_TILE; }

/* Looks for a key for each tile of a warp from where its walk is, the i-th of the batch; `on` tiles have one. */
template <int OP>
HD_FN void lookup_on(hd_tile t, const hd_view *view, const hd_batch *batch, hd_walk walk,
                     uint32_t i, bool on, lookup_sums *s)
{
    hd_bucket b = lookup_load<OP>(t, view, &walk);
    for (;;) {
        hd_hit hit;
        const int step = find_step(t, view, &walk, &b, &hit);
        s->more += on;
        s->found += lookup_end<OP>(t, view, batch, i, on, step, hit);
        on = on && step == HD_STEP_ON;
        if (!__any_sync(0xffffffffu, on)) break;
        if (on) b = lookup_load<OP>(t, view, &walk);
    }
}

/* -------------------------------------------------------------------------------- all keys look once */

/* What the owner of a key knows of it. */
typedef struct owned_key {
    hd_walk walk;
    uint64_t bucket; /* that the walk is at */
    bool found;
    bool on;           /* to be looked for in further buckets */
    hd_value value;    /* where it was found, unless values lie apart */
    uint32_t position; /* of its slot in the bucket; locate, and where values lie apart */
} owned_key;

/* What a lane brings to a look of its tile. */
typedef struct lane_look {
    bool here; /* it holds the key */
    hd_value value;
    uint32_t position;
} lane_look;

/* A number of a lane of the tile to the whole of it. */
template <class T> HD_FN T tile_share(T mine, uint32_t lane)
{
    return HD_TILE == 1 ? mine : __shfl_sync(0xffffffffu, mine, lane, HD_TILE);
}

/* A table that is NEAR has less than 2^32 buckets. */
template <bool NEAR> HD_FN uint64_t tile_share_bucket(uint64_t mine, uint32_t lane)
{
    const uint32_t low = tile_share((uint32_t)mine, lane);
    return NEAR ? low : (uint64_t)tile_share((uint32_t)(mine >> 32), lane) << 32 | low;
}

template <int OP>
HD_FN lane_look look_here(hd_tile t, const hd_view *view, const hd_bucket *b, hd_key lean)
{
    lane_look look;
    hd_word word = b->words[0];
    uint32_t slot = 0;
    look.here = false;
    HD_UNROLL
    for (uint32_t i = 0; i < HD_LANE_SLOTS; i++) {
        if (!key_is(view, word_key(b->words[i]), lean)) continue;
        look.here = true;
        word = b->words[i];
        slot = i;
    }
    look.value = OP == FIND && !HD_APART && HD_HAS_VALUES ? word_value(view, 0, word) : 0;
    look.position = lane_position(t.lane, slot);
    return look;
}

/* Whether this lane holds the mark of a key, and it says that the key may have been pushed past the bucket. */
HD_FN bool look_passed(hd_tile t, const hd_view *view, const hd_bucket *b, hd_key lean)
{
    const hd_mark mark = mark_of(view, lean);
    return t.lane == mark.number / HD_LANE_SLOTS &&
           key_is_marked(lane_key(b, mark.number % HD_LANE_SLOTS), mark);
}

/*
 * A few rounds, from the `round`-th on: the loads of all, then a vote for each. In the votes every owner reads what the
 * lanes of its tile have seen for its key, and takes the value from the lane that has it.
 */
template <int OP, bool NEAR>
HD_FN void look_together(hd_tile t, const hd_view *view, uint32_t round, owned_key *key)
{
    const uint32_t all = 0xffffffffu;
    hd_bucket b[rounds_together];
    hd_key lean[rounds_together];
    lane_look look[rounds_together];
    uint32_t holders = 0, passed = 0;
    HD_UNROLL
    for (uint32_t g = 0; g < rounds_together; g++) {
        lean[g] = tile_share(key->walk.lean, round + g);
        b[g] = bucket_load(t, view, tile_share_bucket<NEAR>(key->bucket, round + g));
    }
    HD_UNROLL
    for (uint32_t g = 0; g < rounds_together; g++) {
        look[g] = look_here<OP>(t, view, &b[g], lean[g]);
        const uint32_t votes = __ballot_sync(all, look[g].here);
        const uint32_t marks = NEAR ? 0 : __ballot_sync(all, look_passed(t, view, &b[g], lean[g]));
        if (t.lane == round + g) holders = votes, passed = marks;
    }
    holders &= t.mask;
    const uint32_t holder = 31 - (uint32_t)__clz((int)holders);
    const bool mine = t.lane - round < rounds_together;
    if (mine) key->found = holders != 0;
    if (mine) key->on = NEAR ? holders == 0 : !find_ends(holders != 0, (passed & t.mask) != 0);
    HD_UNROLL
    for (uint32_t g = 0; g < rounds_together; g++) {
        if (OP == FIND && HD_HAS_VALUES && !HD_APART) {
            const hd_value value = __shfl_sync(all, look[g].value, holder);
            if (t.lane == round + g) key->value = value;
        }
        if (OP == LOCATE || (OP == FIND && HD_APART)) {
            const uint32_t position = __shfl_sync(all, look[g].position, holder);
            if (t.lane == round + g) key->position = position;
        }
    }
}

/* Whether the key may have been pushed past its first bucket, asked by its owner: the bucket is near by now. */
HD_FN bool owner_is_passed(const hd_view *view, const owned_key *key)
{
    const hd_mark mark = mark_of(view, key->walk.lean);
    hd_word word;
    load_frozen<HD_WORD_BYTES>(&word, (const char *)view->slots +
                                          tile_slot(key->bucket, mark.number) * HD_WORD_BYTES);
    return key_is_marked(word_key(word), mark);
}

/* The answer for the i-th key of the batch, unless it has to be looked for in further buckets. */
template <int OP>
HD_FN void owner_answer(const hd_view *view, const hd_batch *batch, uint32_t i,
                        const owned_key *key)
{
    if (key->on) return;
    const uint64_t slot = key->bucket * HD_BUCKET + key->position;
    (void)view, (void)slot;
#if HD_VALUE_BITS != 0
    if (OP == FIND && key->found) {
#if HD_APART
        hd_word none = {};
        ((hd_value *)batch->values_out)[i] = word_value(view, slot, none);
#else
        ((hd_value *)batch->values_out)[i] = key->value;
#endif
    }
#endif
    if (OP == LOCATE) batch->slots[i] = key->found ? slot : HEDDLE_NO_SLOT;
    if (batch->found != NULL) batch->found[i] = key->found;
}

#if HD_BUCKET_BYTES <= LOOK_ALONE_BYTES

/* A bucket, by one thread: up to 64 bytes at a time. */
template <int OP> HD_FN void look_alone(const hd_view *view, owned_key *key)
{
    const char *at = (const char *)view->slots + key->bucket * HD_BUCKET_BYTES;
    const uint32_t together = HD_BUCKET_BYTES < 64 ? HD_BUCKET : 64 / HD_WORD_BYTES;
    key->found = false;
#pragma unroll 1
    for (uint32_t first = 0; first < HD_BUCKET; first += together) {
        hd_word words[together];
        HD_UNROLL
        for (uint32_t i = 0; i < together; i += HD_PIECE_SLOTS)
            load_frozen<HD_PIECE_BYTES>(&words[i], at + (first + i) * HD_WORD_BYTES);
        HD_UNROLL
        for (uint32_t i = 0; i < together; i++) {
            if (!key_is(view, word_key(words[i]), key->walk.lean)) continue;
            key->found = true;
            key->position = first + i;
            if (OP == FIND && HD_HAS_VALUES && !HD_APART)
                key->value = word_value(view, 0, words[i]);
        }
        if (key->found) break;
    }
}

/* The owners of keys that have to look on do so alone. They are few, and most of them need one look. */
template <int OP>
HD_FN void look_on(hd_tile t, const hd_view *view, const hd_batch *batch, uint32_t base,
                   owned_key *key, lookup_sums *s)
{
    (void)t;
    if (!key->on) return;
    do {
        key->bucket = walk_bucket(view, &key->walk);
        look_alone<OP>(view, key);
        s->more++;
        key->on = !find_ends(key->found, key->found || owner_is_passed(view, key)) &&
                  walk_advance(view, &key->walk);
    } while (key->on);
    owner_answer<OP>(view, batch, base + threadIdx.x % 32, key);
}

#else

/* The keys that have to look on, as many at a time as the warp has tiles. */
template <int OP>
HD_FN void look_on(hd_tile t, const hd_view *view, const hd_batch *batch, uint32_t base,
                   const owned_key *key, lookup_sums *s)
{
    uint32_t left = __ballot_sync(0xffffffffu, key->on);
    while (left != 0) { /* the same in all lanes */
        uint32_t mine = left;
        HD_UNROLL
        for (uint32_t i = 1; i < WARP_TILES; i++) {
            if (i <= tile_number()) mine &= mine - 1;
            left &= left - 1;
        }
        left &= left - 1;
        const uint32_t number = mine != 0 ? hd_lowest_bit(mine) : 0;
        hd_walk walk = walk_start_lean(__shfl_sync(0xffffffffu, key->walk.region, number),
                                       __shfl_sync(0xffffffffu, key->walk.lean, number));
        walk_advance(view, &walk);
        lookup_on<OP>(t, view, batch, walk, base + number, mine != 0, s);
    }
    if (t.lane != 0) s->found = s->more = 0; /* all threads of a tile have counted */
}

#endif

/*
 * Adds up what the threads of a block have counted, each its own. It costs a quarter of a find in the cache; to add up by
 * warp, without a barrier, costs more.
 */
HD_FN void lookup_count(const hd_batch *batch, const lookup_sums *s)
{
    hd_counts *const counts = batch->counts;
    hd_count_share *const share =
        batch->shares != NULL ? &batch->shares[blockIdx.x % HD_COUNT_SHARES] : NULL;
    uint64_t *const to[] = {share != NULL ? &share->found : &counts->at[HD_FOUND],
                            share != NULL ? &share->more : &counts->at[HD_PROBES]};
    const uint32_t mine[] = {s->found, s->more};
    block_add(to, mine);
    if (thread_here() != 0) return;
    atomicAdd((unsigned long long *)&counts->at[HD_ASKED], (unsigned long long)batch->n);
    atomicAdd((unsigned long long *)&counts->at[HD_PROBES], (unsigned long long)batch->n);
}

/*
 * NEAR: the table stays in the second-level cache. Whether a key has been pushed past its first bucket is asked for
 * those alone then that were not in it: that saves all others a vote, and costs these a second access.
 */
template <int OP, bool NEAR> HD_FN void lookup_kernel(const hd_view *view, const hd_batch *batch)
{
    const hd_tile t = tile_together();
    const uint32_t n = (uint32_t)batch->n, base = warp_here() * 32, i = base + threadIdx.x % 32;
    lookup_sums s = {0, 0};
    owned_key key;
    key.walk = walk_start(view, __ldcs((const hd_key *)batch->keys + (i < n ? i : n - 1)));
    key.bucket = walk_bucket(view, &key.walk);
    key.found = key.on = false;
    key.value = 0;
    key.position = 0;
    HD_UNROLL
    for (uint32_t round = 0; round < HD_TILE; round += rounds_together)
        look_together<OP, NEAR>(t, view, round, &key);
    if (NEAR) key.on = key.on && owner_is_passed(view, &key);
    key.on = key.on && i < n && walk_advance(view, &key.walk);
    key.found = key.found && i < n;
    if (i < n) owner_answer<OP>(view, batch, i, &key);
    look_on<OP>(t, view, batch, base, &key, &s);
    s.found += key.found;
    lookup_count(batch, &s);
}

KERNEL_LOOKUP(find)(hd_view view, hd_batch batch) { lookup_kernel<FIND, false>(&view, &batch); }
KERNEL_LOOKUP(find_near)(hd_view view, hd_batch batch) { lookup_kernel<FIND, true>(&view, &batch); }
KERNEL_LOOKUP(contains)(hd_view view, hd_batch batch)
{
    lookup_kernel<CONTAINS, false>(&view, &batch);
}
KERNEL_LOOKUP(contains_near)(hd_view view, hd_batch batch)
{
    lookup_kernel<CONTAINS, true>(&view, &batch);
}
KERNEL_LOOKUP(locate)(hd_view view, hd_batch batch) { lookup_kernel<LOCATE, false>(&view, &batch); }

/* -------------------------------------------------------------------------------------- erasing */

/* Erasures write to the table and need more registers, so a tile goes all the way with one key after the other. */
static __global__ void __launch_bounds__(BLOCK, ERASE_BLOCKS)
    JOIN(HD_SYMBOL, erase)(hd_view view, hd_batch batch)
{
    const hd_tile t = tile_together();
    const uint32_t n = (uint32_t)batch.n, stride = warps_in_all() * WARP_TILES;
    lookup_sums s = {0, 0};
    for (uint32_t base = warp_here() * WARP_TILES; base < n; base += stride) {
        const uint32_t i = base + tile_number();
        const bool on = i < n;
        const hd_walk walk = walk_start(&view, __ldg((const hd_key *)batch.keys + (on ? i : 0)));
        lookup_on<ERASE>(t, &view, &batch, walk, i, on, &s);
        s.more -= on; /* the first look of the key */
    }
    uint64_t *const at = batch.counts->at;
    uint64_t *const to[] = {at + HD_FOUND, at + HD_PROBES, at + HD_ASKED, batch.tally};
    const uint32_t one = t.lane == 0,
                   asked = thread_here() == 0 ? n : 0; /* counts are the tile's */
    const uint32_t mine[] = {one * s.found, one * s.more + asked, asked, one * s.found};
    block_add(to, mine);
}

#endif
