/* tile_multi_thread.inl: what a tile of one thread does for multimaps; see tile_multi.h. */
#ifndef HD_TILE_MULTI_H
#error "included by tile_multi.h alone"
#endif
#ifndef HD_TILE_MULTI_THREAD_H
#define HD_TILE_MULTI_THREAD_H

HD_FN int bucket_room(hd_tile t, const hd_view *view, const hd_bucket *b, hd_vacancy *v)
{
    uint64_t left = b->vacant;
    (void)t;
    v->slot = 0;
    v->seen = word_nothing();
    for (; left != 0; left &= left - 1) {
        v->slot = b->first + hd_lowest_bit(left) / HD_STRIDE;
        v->seen = slot_load(view, v->slot);
        if (key_is_vacant(word_key(v->seen)) && !key_is(view, word_key(v->seen), HD_KEY_BUSY))
            return HD_ROOM_FREE;
    }
    return b->vacant != 0 ? HD_ROOM_BUSY : HD_ROOM_NONE;
}

HD_FN uint64_t bucket_equal(const hd_view *view, const hd_bucket *b, hd_key lean)
{
    return words_equal(bucket_words(view, b), lean, (hd_key)view->key_mask);
}

HD_FN uint32_t bucket_matches(hd_tile t, const hd_view *view, const hd_bucket *b, hd_key lean)
{
    (void)t;
    return (uint32_t)__builtin_popcountll(bucket_equal(view, b, lean));
}

HD_FN uint32_t bucket_deliver(hd_tile t, const hd_view *view, const hd_bucket *b, hd_key lean,
                              hd_value *to, bool active)
{
    uint32_t count = 0;
    (void)t;
    if (!active) return 0;
    for (uint64_t left = bucket_equal(view, b, lean); left != 0; left &= left - 1) {
        const uint64_t slot = b->first + hd_lowest_bit(left) / HD_STRIDE;
        to[count++] = word_value(view, slot, ((const hd_word *)view->slots)[slot]);
    }
    return count;
}

HD_FN uint32_t bucket_vacate(hd_tile t, const hd_view *view, const hd_bucket *b, hd_key lean,
                             hd_hit *first, bool *has_first, bool active)
{
    uint32_t count = 0;
    if (!active) return 0;
    for (uint64_t left = bucket_equal(view, b, lean); left != 0; left &= left - 1) {
        hd_hit hit;
        hit.slot = b->first + hd_lowest_bit(left) / HD_STRIDE;
        if (*has_first) count += hit_erase(t, view, hit);
        else *first = hit;
        *has_first = true;
    }
    return count;
}

#endif
