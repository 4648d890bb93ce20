/* slot_apart.inl: the word is the key; the value has the same index in view->values. */
#ifndef HD_SLOT_H
#error "included by slot.h alone"
#endif
typedef hd_key hd_word;

HD_FN hd_word word_nothing(void) { return 0; }
HD_FN hd_key word_key(hd_word word) { return word; }
HD_FN hd_key *slot_key_at(const hd_view *view, uint64_t slot)
{
    return (hd_key *)view->slots + slot;
}
HD_FN hd_value *slot_value_at(const hd_view *view, uint64_t slot)
{
    return (hd_value *)view->values + slot;
}
HD_FN hd_value word_value(const hd_view *view, uint64_t slot, hd_word word)
{
    (void)word;
    return *slot_value_at(view, slot);
}

HD_FN hd_word slot_load(const hd_view *view, uint64_t slot)
{
#if HD_KEY_BITS == 32
    return load_acquire_32(slot_key_at(view, slot));
#else
    return load_acquire_64(slot_key_at(view, slot));
#endif
}

HD_FN bool slot_claim_by_key(const hd_view *view, uint64_t slot, hd_key seen, hd_pair pair);

HD_FN bool slot_claim(const hd_view *view, uint64_t slot, hd_word seen, hd_pair pair)
{
    return slot_claim_by_key(view, slot, seen, pair);
}

HD_FN bool slot_vacate(const hd_view *view, uint64_t slot, hd_word seen)
{
#if HD_KEY_BITS == 32
    return cas_32(slot_key_at(view, slot), seen, key_with_marks(view, HD_KEY_EMPTY, seen));
#else
    return cas_64(slot_key_at(view, slot), seen, key_with_marks(view, HD_KEY_EMPTY, seen));
#endif
}

HD_FN void slot_put(const hd_view *view, uint64_t slot, hd_pair pair, hd_key marks)
{
    *slot_key_at(view, slot) = pair.lean | marks;
    *slot_value_at(view, slot) = pair.value;
}
