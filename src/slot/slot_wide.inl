/*
 * slot_wide.inl: 64-bit key and value side by side. With a 128-bit CAS a slot is claimed in one step;
 * without, the key goes through BUSY (slot.h), and whoever meets a BUSY key looks again.
 */
#ifndef HD_SLOT_H
#error "included by slot.h alone"
#endif
typedef struct HD_ALIGN_16 {
    uint64_t key;
    uint64_t value;
} hd_word;

HD_FN hd_word word_nothing(void)
{
    hd_word word;
    word.key = word.value = 0;
    return word;
}
HD_FN hd_key word_key(hd_word word) { return word.key; }
HD_FN hd_value word_value(const hd_view *view, uint64_t slot, hd_word word)
{
    (void)view, (void)slot;
    return word.value;
}
HD_FN hd_key *slot_key_at(const hd_view *view, uint64_t slot)
{
    return &((hd_word *)view->slots)[slot].key;
}
HD_FN hd_value *slot_value_at(const hd_view *view, uint64_t slot)
{
    return &((hd_word *)view->slots)[slot].value;
}

/* The key alone: where the whole word is compared, the tile has loaded it itself. */
HD_FN hd_word slot_load(const hd_view *view, uint64_t slot)
{
    hd_word word;
    word.key = load_acquire_64(slot_key_at(view, slot));
    word.value = 0;
    return word;
}

HD_FN bool slot_claim_by_key(const hd_view *view, uint64_t slot, hd_key seen, hd_pair pair);

HD_FN bool slot_claim(const hd_view *view, uint64_t slot, hd_word seen, hd_pair pair)
{
#if defined(HD_HAS_CAS_128)
    hd_word to;
    to.key = key_with_marks(view, pair.lean, seen.key);
    to.value = pair.value;
    return cas_128((hd_word *)view->slots + slot, seen, to);
#else
    return slot_claim_by_key(view, slot, seen.key, pair);
#endif
}

HD_FN bool slot_vacate(const hd_view *view, uint64_t slot, hd_word seen)
{
    return cas_64(slot_key_at(view, slot), seen.key, key_with_marks(view, HD_KEY_EMPTY, seen.key));
}

HD_FN void slot_put(const hd_view *view, uint64_t slot, hd_pair pair, hd_key marks)
{
    hd_word word;
    word.key = pair.lean | marks;
    word.value = pair.value;
    ((hd_word *)view->slots)[slot] = word;
}
