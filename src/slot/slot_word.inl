/*
 * slot_word.inl: slots of one word, which one CAS moves as a whole: keys of sets, and 32-bit pairs
 * with the key in the lower half.
 */
#ifndef HD_SLOT_H
#error "included by slot.h alone"
#endif
#if HD_KEY_BITS == 32 && HD_VALUE_BITS == 0
typedef uint32_t hd_word;
#else
typedef uint64_t hd_word;
#endif

HD_FN hd_word word_nothing(void) { return 0; }

#if HD_VALUE_BITS == 32

HD_FN hd_key word_key(hd_word word) { return (hd_key)word; }
HD_FN hd_word word_make(hd_pair pair) { return (hd_word)pair.value << 32 | pair.lean; }
HD_FN hd_value *slot_value_at(const hd_view *view, uint64_t slot)
{
    return (hd_value *)((hd_word *)view->slots + slot) + 1;
}
HD_FN hd_value word_value(const hd_view *view, uint64_t slot, hd_word word)
{
    (void)view, (void)slot;
    return (hd_value)(word >> 32);
}

#else

HD_FN hd_key word_key(hd_word word) { return word; }
HD_FN hd_word word_make(hd_pair pair) { return pair.lean; }
HD_FN hd_value word_value(const hd_view *view, uint64_t slot, hd_word word)
{
    (void)view, (void)slot, (void)word;
    return 0;
}

#endif

HD_FN hd_key *slot_key_at(const hd_view *view,
                          uint64_t slot) /* little-endian: the lower half comes first */
{
    return (hd_key *)((hd_word *)view->slots + slot);
}

HD_FN bool word_cas(hd_word *word, hd_word from, hd_word to)
{
#if HD_KEY_BITS == 32 && HD_VALUE_BITS == 0
    return cas_32(word, from, to);
#else
    return cas_64(word, from, to);
#endif
}

HD_FN hd_word slot_load(const hd_view *view, uint64_t slot)
{
#if HD_KEY_BITS == 32 && HD_VALUE_BITS == 0
    return load_acquire_32((hd_word *)view->slots + slot);
#else
    return load_acquire_64((hd_word *)view->slots + slot);
#endif
}

/* Puts `pair` into a vacant slot last seen as `seen`; false when another tile was faster. */
HD_FN bool slot_claim(const hd_view *view, uint64_t slot, hd_word seen, hd_pair pair)
{
    pair.lean = key_with_marks(view, pair.lean, word_key(seen));
    return word_cas((hd_word *)view->slots + slot, seen, word_make(pair));
}

/* Empties a live slot last seen as `seen`; false when another tile was faster. */
HD_FN bool slot_vacate(const hd_view *view, uint64_t slot, hd_word seen)
{
    hd_pair nothing;
    nothing.lean = key_with_marks(view, HD_KEY_EMPTY, word_key(seen));
    nothing.value = 0;
    return word_cas((hd_word *)view->slots + slot, seen, word_make(nothing));
}

/* Plain write by a tile that has the region to itself, into a slot with these marks. */
HD_FN void slot_put(const hd_view *view, uint64_t slot, hd_pair pair, hd_key marks)
{
    pair.lean |= marks;
    ((hd_word *)view->slots)[slot] = word_make(pair);
}
