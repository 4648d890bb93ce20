/* tile_scalar.inl: plain C with atomic loads, for any machine; what the vector tiles must agree with. */
#ifndef HD_TILE_THREAD_H
#error "included by tile_thread.inl alone"
#endif

HD_FN hd_key word_key_acquire(const hd_word *word)
{
#if HD_KEY_BITS == 32
    return load_acquire_32((const uint32_t *)word); /* little-endian: the key comes first */
#else
    return load_acquire_64((const uint64_t *)word);
#endif
}

HD_FN uint64_t words_equal(const hd_word *words, hd_key lean, hd_key key_mask)
{
    uint64_t mask = 0;
    for (int i = 0; i < HD_BUCKET; i++)
        mask |= (uint64_t)((word_key_acquire(words + i) & key_mask) == lean) << i * HD_STRIDE;
    return mask;
}

HD_FN uint64_t words_vacant(const hd_word *words)
{
    uint64_t mask = 0;
    for (int i = 0; i < HD_BUCKET; i++)
        mask |= (uint64_t)key_is_vacant(word_key_acquire(words + i)) << i * HD_STRIDE;
    return mask;
}
