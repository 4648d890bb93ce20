/*
 * tile_multi_cuda.inl: what a tile of several lanes does for multimaps; see tile_multi.h. Tiles may go together.
 */
#ifndef HD_TILE_MULTI_H
#error "included by tile_multi.h alone"
#endif
#ifndef HD_TILE_MULTI_CUDA_H
#define HD_TILE_MULTI_CUDA_H

/*
 * Which vacancy is taken does not matter, so that tiles which come to the same window at the same time
 * begin to look at different lanes.
 */
HD_FN int bucket_room(hd_tile t, const hd_view *view, const hd_bucket *b, hd_vacancy *v)
{
    bool mine = false, busy = false;
    v->slot = 0;
    v->seen = word_nothing();
    HD_UNROLL
    for (int j = HD_LANE_SLOTS - 1; j >= 0; j--) {
        const hd_key key = word_key(b->words[j]);
        const bool free =
            key_is_vacant(key) && !((HD_APART || HD_WIDE) && key_is(view, key, HD_KEY_BUSY));
        busy = busy || (key_is_vacant(key) && !free);
        if (free) {
            mine = true;
            v->slot = b->index * HD_BUCKET + lane_position(t.lane, (uint32_t)j);
            v->seen = b->words[j];
        }
    }
    const uint32_t lanes = __ballot_sync(t.sync, mine) & t.mask;
    const uint32_t here = 1u << threadIdx.x % 32;
    const uint32_t turn = (here >> t.lane) << threadIdx.x / HD_TILE % HD_TILE;
    const uint32_t later = lanes & ~(turn - 1); /* those from the tile's turn on */
    const uint32_t among = later != 0 ? later : lanes;
    v->here = mine && (among & (0u - among)) == here;
#if HD_APART || HD_WIDE
    busy = tile_any(t, busy);
#endif
    if (lanes != 0) return HD_ROOM_FREE;
    return busy ? HD_ROOM_BUSY : HD_ROOM_NONE;
}

HD_FN uint32_t bucket_matches(hd_tile t, const hd_view *view, const hd_bucket *b, hd_key lean)
{
    uint32_t count = 0;
    HD_UNROLL
    for (int j = 0; j < HD_LANE_SLOTS; j++)
        count += (uint32_t)__popc(__ballot_sync(t.sync, key_is(view, word_key(b->words[j]), lean)) &
                                  t.mask);
    return count;
}

HD_FN uint32_t bucket_deliver(hd_tile t, const hd_view *view, const hd_bucket *b, hd_key lean,
                              hd_value *to, bool active)
{
    const uint32_t before = t.mask & ((1u << threadIdx.x % 32) - 1);
    uint32_t count = 0;
    HD_UNROLL
    for (int j = 0; j < HD_LANE_SLOTS; j++) {
        const bool mine = active && key_is(view, word_key(b->words[j]), lean);
        const uint32_t lanes = __ballot_sync(t.sync, mine);
        if (mine)
            to[count + (uint32_t)__popc(lanes & before)] = word_value(
                view, b->index * HD_BUCKET + lane_position(t.lane, (uint32_t)j), b->words[j]);
        count += (uint32_t)__popc(lanes & t.mask);
    }
    return count;
}

HD_FN uint32_t bucket_vacate(hd_tile t, const hd_view *view, const hd_bucket *b, hd_key lean,
                             hd_hit *first, bool *has_first, bool active)
{
    hd_hit hit;
    hit.here = false;
    HD_UNROLL
    for (int j = HD_LANE_SLOTS - 1; j >= 0; j--) {
        if (!key_is(view, word_key(b->words[j]), lean)) continue;
        hit.here = true;
        hit.slot = b->index * HD_BUCKET + lane_position(t.lane, (uint32_t)j);
        hit.word = b->words[j];
    }
    const uint32_t lanes = __ballot_sync(t.sync, hit.here) & t.mask;
    /*
     * The lane that keeps the first one, and keeps it until the end. It is the first in the order of slots, so
     * that tiles of any number of lanes which erase the same key mean the same one.
     */
    const bool keeps =
        active && !*has_first && hit.here && (lanes & (0u - lanes)) == 1u << threadIdx.x % 32;
    uint32_t count = 0;
    HD_UNROLL
    for (int j = 0; j < HD_LANE_SLOTS; j++) {
        const uint64_t slot = b->index * HD_BUCKET + lane_position(t.lane, (uint32_t)j);
        if (active && key_is(view, word_key(b->words[j]), lean) && !(keeps && slot == hit.slot))
            count += slot_vacate(view, slot, b->words[j]);
    }
    if (keeps) *first = hit;
    *has_first = *has_first || (active && lanes != 0);
    return count;
}

#endif
