/*
 * tile_cuda.inl: a tile is HD_TILE neighbouring threads of a warp.
 *
 * A bucket is read in 16-byte pieces, piece l * HD_TILE + lane by each lane, so that every load
 * instruction of a tile is contiguous; 64 bytes by 4 lanes cost no more than 16 bytes by one. The
 * order of positions in a bucket goes lane by lane: all slots of lane 0, then those of lane 1.
 * Inside a lane everything is done in registers; one ballot tells the tile.
 *
 * With HD_ONE_LANE a tile is one thread that reads the whole bucket: slower, but fit for code that knows
 * nothing of tiles. The order of positions is the same, so both kinds work on one table.
 */
#ifndef HD_TILE_H
#error "included by tile.h alone"
#endif
#ifndef HD_TILE_CUDA_H
#define HD_TILE_CUDA_H

#include "tile/load_cuda.h"

#define HD_WORD_BYTES (HD_STRIDE * HD_KEY_BITS / 8)
#define HD_BUCKET_BYTES (HD_BUCKET * HD_WORD_BYTES)
#define HD_PIECE_BYTES (HD_BUCKET_BYTES < 16 ? HD_BUCKET_BYTES : 16)
#define HD_PIECE_SLOTS (HD_PIECE_BYTES / HD_WORD_BYTES)

/* One piece a lane up to 64 bytes; beyond that two, which needs fewer shuffles than more lanes. */
#if HD_BUCKET_BYTES <= 64
#define HD_ORDER_LANES (HD_BUCKET_BYTES / HD_PIECE_BYTES)
#else
#define HD_ORDER_LANES (HD_BUCKET_BYTES / 32)
#endif
#define HD_ORDER_PIECES (HD_BUCKET_BYTES / HD_PIECE_BYTES / HD_ORDER_LANES)
#ifdef HD_ONE_LANE
#define HD_TILE 1
#else
#define HD_TILE HD_ORDER_LANES
#endif
#define HD_PIECES (HD_BUCKET_BYTES / HD_PIECE_BYTES / HD_TILE) /* pieces a lane holds */
#define HD_LANE_SLOTS (HD_PIECES * HD_PIECE_SLOTS)

typedef struct hd_tile {
    uint32_t mask; /* its lanes within the warp */
    uint32_t sync; /* the lanes that vote together: its own, or the whole warp */
    uint32_t lane; /* this thread within the tile */
} hd_tile;

typedef struct hd_bucket {
    uint64_t index;
    hd_word words[HD_LANE_SLOTS]; /* this lane's slots */
} hd_bucket;

typedef struct hd_hit {
    bool here;     /* this lane holds it */
    uint64_t slot; /* valid where `here` */
    hd_word word;
} hd_hit;

typedef struct hd_vacancy {
    bool here;
    uint64_t slot;
    hd_word seen;
} hd_vacancy;

/* A tile that goes its own way. */
HD_FN hd_tile tile_here(void)
{
    hd_tile t;
    t.lane = threadIdx.x % HD_TILE;
    t.mask = (HD_TILE == 32 ? 0xffffffffu : (1u << HD_TILE % 32) - 1)
             << (threadIdx.x % 32 - t.lane);
    t.sync = t.mask;
    return t;
}

/*
 * A tile that takes every step together with the other tiles of its warp. Votes are cheaper then,
 * since the compiler need not gather the voters; but no branch around a vote may part the tiles.
 */
HD_FN hd_tile tile_together(void)
{
    hd_tile t = tile_here();
    t.sync = 0xffffffffu;
    return t;
}

HD_FN bool tile_any(hd_tile t, bool mine)
{
#if HD_TILE == 1
    return mine;
#else
    return (__ballot_sync(t.sync, mine) & t.mask) != 0;
#endif
}

/* Never taken for granted: the code is the same for tiles that go together. */
HD_FN bool tile_is_alone(hd_tile t)
{
    (void)t;
    return false;
}

HD_FN bool tiles_any(hd_tile t, bool mine) { return __any_sync(t.sync, mine); }

/* The number of the lane's j-th slot in a bucket. */
HD_FN uint32_t lane_position(uint32_t lane, uint32_t j)
{
#ifdef HD_ONE_LANE
    lane = j / (HD_ORDER_PIECES * HD_PIECE_SLOTS);
    j %= HD_ORDER_PIECES * HD_PIECE_SLOTS;
#endif
    return (j / HD_PIECE_SLOTS * HD_ORDER_LANES + lane) * HD_PIECE_SLOTS + j % HD_PIECE_SLOTS;
}

/* The number-th slot of a bucket, lane by lane. */
HD_FN uint64_t tile_slot(uint64_t index, uint32_t number)
{
    return index * HD_BUCKET + lane_position(number / HD_LANE_SLOTS, number % HD_LANE_SLOTS);
}

/* The j-th of these is at j * HD_PIECE_SLOTS in `words`. */
HD_FN const char *piece_at(hd_tile t, const hd_view *view, uint64_t index, uint32_t j)
{
#ifdef HD_ONE_LANE
    const uint32_t piece = j % HD_ORDER_PIECES * HD_ORDER_LANES + j / HD_ORDER_PIECES;
#else
    const uint32_t piece = j * HD_ORDER_LANES + t.lane;
#endif
    return (const char *)view->slots + index * HD_BUCKET_BYTES + piece * HD_PIECE_BYTES;
}

HD_FN hd_bucket bucket_load(hd_tile t, const hd_view *view, uint64_t index)
{
    hd_bucket b;
    b.index = index;
    HD_UNROLL
    for (uint32_t j = 0; j < HD_PIECES; j++)
        load_frozen<HD_PIECE_BYTES>(&b.words[j * HD_PIECE_SLOTS], piece_at(t, view, index, j));
    return b;
}

HD_FN hd_bucket bucket_load_shared(hd_tile t, const hd_view *view, uint64_t index)
{
    hd_bucket b;
    b.index = index;
    HD_UNROLL
    for (uint32_t j = 0; j < HD_PIECES; j++)
        load_shared<HD_PIECE_BYTES>(&b.words[j * HD_PIECE_SLOTS], piece_at(t, view, index, j));
    return b;
}

HD_FN bool bucket_lookup(hd_tile t, const hd_view *view, const hd_bucket *b, hd_key lean,
                         hd_hit *hit)
{
    hit->here = false;
    HD_UNROLL
    for (uint32_t j = 0; j < HD_LANE_SLOTS; j++) {
        if (key_is(view, word_key(b->words[j]), lean)) {
            hit->here = true;
            hit->slot = b->index * HD_BUCKET + lane_position(t.lane, j);
            hit->word = b->words[j];
        }
    }
    return tile_any(t, hit->here);
}

/* The key word of the lane's j-th slot, where j is not known to the compiler. */
HD_FN hd_key lane_key(const hd_bucket *b, uint32_t j)
{
    hd_key key = word_key(b->words[0]);
    HD_UNROLL
    for (uint32_t i = 1; i < HD_LANE_SLOTS; i++)
        if (j == i) key = word_key(b->words[i]);
    return key;
}

HD_FN bool bucket_is_passed(hd_tile t, const hd_view *view, const hd_bucket *b, hd_key lean)
{
    const hd_mark mark = mark_of(view, lean);
    const bool mine = t.lane == mark.number / HD_LANE_SLOTS;
    return tile_any(t, mine && key_is_marked(lane_key(b, mark.number % HD_LANE_SLOTS), mark));
}

HD_FN void bucket_mark(hd_tile t, const hd_view *view, const hd_bucket *b, hd_key lean, bool active)
{
    const hd_mark mark = mark_of(view, lean);
    const uint32_t j = mark.number % HD_LANE_SLOTS;
    if (active && t.lane == mark.number / HD_LANE_SLOTS && !key_is_marked(lane_key(b, j), mark))
        slot_mark(view, b->index * HD_BUCKET + lane_position(t.lane, j), mark_bit(mark));
    __syncwarp(t.sync);
}

HD_FN bool bucket_vacancy(hd_tile t, const hd_view *view, const hd_bucket *b, hd_vacancy *v)
{
    bool mine = false;
    (void)view;
    v->slot = 0;
    v->seen = word_nothing();
    HD_UNROLL
    for (int j = HD_LANE_SLOTS - 1; j >= 0; j--) {
        if (key_is_vacant(word_key(b->words[j]))) {
            mine = true;
            v->slot = b->index * HD_BUCKET + lane_position(t.lane, (uint32_t)j);
            v->seen = b->words[j];
        }
    }
#if HD_TILE == 1
    v->here = mine;
    return mine;
#else
    const uint32_t lanes = __ballot_sync(t.sync, mine) & t.mask;
    v->here = mine && (lanes & (1u << threadIdx.x % 32) - 1) == 0;
    return lanes != 0;
#endif
}

HD_FN bool vacancy_is_busy(hd_tile t, const hd_view *view, hd_vacancy v)
{
#if HD_APART || HD_WIDE
    return tile_any(t, v.here && key_is(view, word_key(v.seen), HD_KEY_BUSY));
#else
    (void)t, (void)view, (void)v;
    return false; /* such slots go from vacant to taken in one step */
#endif
}

HD_FN bool vacancy_is_before(hd_tile t, hd_vacancy v, uint32_t number)
{
    const uint32_t position = (uint32_t)v.slot % HD_BUCKET;
    const uint32_t j =
        position / (HD_PIECE_SLOTS * HD_ORDER_LANES) * HD_PIECE_SLOTS + position % HD_PIECE_SLOTS;
#ifdef HD_ONE_LANE
    const uint32_t lane = position / HD_PIECE_SLOTS % HD_ORDER_LANES;
    (void)t;
    return v.here && lane * HD_ORDER_PIECES * HD_PIECE_SLOTS + j < number;
#else
    return tile_any(t, v.here && t.lane * HD_LANE_SLOTS + j < number);
#endif
}

HD_FN uint32_t bucket_keys(hd_tile t, const hd_bucket *b)
{
    uint32_t keys = 0;
    HD_UNROLL
    for (uint32_t j = 0; j < HD_LANE_SLOTS; j++)
        keys += __popc(__ballot_sync(t.sync, !key_is_vacant(word_key(b->words[j]))) & t.mask);
    return keys;
}

/* One lane asks for all; each of them then has its own loads behind a fence. */
HD_FN bool bucket_lock(hd_tile t, const hd_view *view, uint64_t index, bool active)
{
    const uint32_t bit = 1u << index % 32;
    const bool got =
        active && t.lane == 0 && (or_acquire_32(view->locks + index / 32, bit) & bit) == 0;
    const bool all = tile_any(t, got);
    if (all) __threadfence();
    return all;
}

/* What any lane has written is there before the bit goes. */
HD_FN void bucket_unlock(hd_tile t, const hd_view *view, uint64_t index, bool active)
{
    if (active) __threadfence();
    __syncwarp(t.sync);
    if (active && t.lane == 0) and_release_32(view->locks + index / 32, ~(1u << index % 32));
    __syncwarp(t.sync);
}

HD_FN bool vacancy_claim(hd_tile t, const hd_view *view, hd_vacancy v, hd_pair pair, bool active)
{
    return tile_any(t, active && v.here && slot_claim(view, v.slot, v.seen, pair));
}

HD_FN void vacancy_fill(hd_tile t, const hd_view *view, hd_vacancy v, hd_pair pair)
{
    if (v.here) slot_put(view, v.slot, pair, key_marks(view, word_key(v.seen)));
    __syncwarp(t.mask);
}

HD_FN void hit_deliver(hd_tile t, const hd_view *view, const hd_hit hit, hd_value *to)
{
    (void)t;
    if (hit.here) *to = word_value(view, hit.slot, hit.word);
}

HD_FN void hit_locate(hd_tile t, const hd_hit hit, uint64_t *to)
{
    (void)t;
    if (hit.here) *to = hit.slot;
}

HD_FN void hit_update(hd_tile t, const hd_view *view, const hd_hit hit, uint32_t policy,
                      hd_value value, bool active)
{
    if (active && hit.here) {
#if HD_APART || HD_WIDE
        __threadfence(); /* the key was seen, so the value written before it is to be seen too */
#endif
        slot_update(view, hit.slot, policy, value);
    }
    __syncwarp(t.sync);
}

HD_FN bool hit_erase(hd_tile t, const hd_view *view, const hd_hit hit)
{
    return tile_any(t, hit.here && slot_vacate(view, hit.slot, hit.word));
}

/* Single slots: every lane reads the same address, lane 0 writes. */
HD_FN hd_pair tile_get(hd_tile t, const hd_view *view, uint64_t slot, hd_key *marks)
{
    hd_word word;
    hd_pair pair;
    load_shared<HD_WORD_BYTES>(&word, (const char *)view->slots + slot * HD_WORD_BYTES);
    *marks = key_marks(view, word_key(word));
    pair.lean = key_bare(view, word_key(word));
#if HD_APART
    load_shared<sizeof(hd_value)>(&pair.value, (const char *)slot_value_at(view, slot));
#else
    pair.value = word_value(view, slot, word);
#endif
    __syncwarp(t.mask); /* all have read before one of them writes */
    return pair;
}

HD_FN void tile_put(hd_tile t, const hd_view *view, uint64_t slot, hd_pair pair, hd_key marks)
{
    if (t.lane == 0) slot_put(view, slot, pair, marks);
    __syncwarp(t.mask);
}

HD_FN uint64_t bucket_slot(hd_tile t, const hd_bucket *b, uint32_t number)
{
    (void)t;
    return tile_slot(b->index, number);
}

/* From the lane's registers: memory need not be asked again, but for a value that lies apart. */
HD_FN hd_pair bucket_pair(hd_tile t, const hd_view *view, const hd_bucket *b, uint32_t number,
                          hd_key *marks)
{
#if HD_APART
    return tile_get(t, view, bucket_slot(t, b, number), marks);
#else
    const uint32_t lane = number / HD_LANE_SLOTS;
    hd_word word = b->words[0];
    hd_pair pair;
    HD_UNROLL
    for (uint32_t j = 1; j < HD_LANE_SLOTS; j++)
        if (number % HD_LANE_SLOTS == j) word = b->words[j];
    const hd_key key = __shfl_sync(t.mask, word_key(word), lane, HD_TILE);
    *marks = key_marks(view, key);
    pair.lean = key_bare(view, key);
    pair.value = __shfl_sync(t.mask, word_value(view, 0, word), lane, HD_TILE);
    return pair;
#endif
}

HD_FN void bucket_prefetch(const hd_view *view, uint64_t index)
{
    const char *at = (const char *)view->slots + index * HD_BUCKET_BYTES;
    HD_UNROLL
    for (int i = 0; i < HD_BUCKET_BYTES; i += 128) prefetch_l2(at + i);
}

HD_FN void path_set(hd_tile t, uint32_t *path, uint32_t i, uint32_t step)
{
    if (t.lane == 0) path[i] = step;
    __syncwarp(t.mask);
}

HD_FN uint32_t path_get(hd_tile t, const uint32_t *path, uint32_t i)
{
    (void)t;
    return path[i];
}

#endif
