/*
 * slab_cuda_one.inl: a slab as one thread of a GPU looks at it: slower than a tile of lanes, but fit for code that
 * knows nothing of tiles. The order of slots is that of slab_cuda.inl, which includes this, so both kinds work on one table.
 */
#ifndef HD_SLAB_CUDA_H
#error "included by slab_cuda.inl alone"
#endif

typedef struct hd_slab_tile {
    char alone; /* nothing needs to be known of other threads */
} hd_slab_tile;

HD_FN hd_slab_tile slab_tile_here(void)
{
    hd_slab_tile t;
    t.alone = 1;
    return t;
}

/* Adds one slot to a look: bit `bit`, whose words begin at `words`. */
HD_FN void slab_look_slot(hd_slab_look *look, uint32_t bit, const hd_key *words, hd_key lean)
{
    const uint32_t mask = UINT32_C(1) << bit;
    if (words[0] == 0) look->vacant |= mask;
#if !HD_SLAB_IN_ONE
    if (words[0] == (lean | HD_STATE_PENDING)) look->pending |= mask;
#endif
    if (words[0] != (lean | HD_STATE_LIVE)) return;
#if HD_SLAB_IN_ONE && HD_VALUE_BITS != 0
    if ((look->live & (mask - 1)) == 0) look->value = words[1]; /* none is before it so far */
#endif
    look->live |= mask;
}

HD_FN hd_slab_look slab_look(hd_slab_tile t, char *slab, hd_key lean)
{
    hd_slab_look look;
    hd_key words[HD_SLAB_BYTES / sizeof(hd_key)];
    uint32_t tail[HD_SLAB_BYTES / 4];
    (void)t;
    memset(&look, 0, sizeof look);
    HD_UNROLL
    for (uint32_t i = 0; i < HD_SLAB_BYTES / HD_SLAB_PIECE; i++)
        load_shared<HD_SLAB_PIECE>(words + i * (HD_SLAB_PIECE / sizeof(hd_key)),
                                   slab + i * HD_SLAB_PIECE);
    HD_UNROLL
    for (uint32_t bit = 0; bit < HD_SLAB_ORDER; bit++)
        if (slab_slot(bit) < HD_SLAB_SLOTS)
            slab_look_slot(&look, bit, words + slab_slot(bit) * HD_SLAB_STEP / sizeof(hd_key),
                           lean);
    memcpy(tail, words, sizeof tail);
    look.next = tail[HD_SLAB_TAIL / 4];
    return look;
}

HD_FN uint32_t slab_pending(hd_slab_tile t, char *slab, hd_key lean)
{
    uint32_t pending = 0;
    (void)t;
    for (uint32_t bit = 0; bit < HD_SLAB_ORDER; bit++)
        if (slab_slot(bit) < HD_SLAB_SLOTS &&
            slab_key(slab, slab_slot(bit)) == (lean | HD_STATE_PENDING))
            pending |= UINT32_C(1) << bit;
    return pending;
}

HD_FN hd_value slab_tell_value(hd_slab_tile t, char *slab, const hd_slab_look *look)
{
    (void)t;
#if HD_SLAB_IN_ONE && HD_VALUE_BITS != 0
    (void)slab;
    return look->value;
#else
    slab_seen();
    return slab_value(slab, slab_slot(hd_lowest_bit(look->live)));
#endif
}

HD_FN void slab_deliver(hd_slab_tile t, char *slab, const hd_slab_look *look, hd_value *to)
{
    *to = slab_tell_value(t, slab, look);
}

HD_FN void slab_deliver_all(hd_slab_tile t, char *slab, const hd_slab_look *look, hd_value *to)
{
    (void)t;
    slab_seen();
    for (uint32_t live = look->live; live != 0; live &= live - 1)
        *to++ = slab_value(slab, slab_slot(hd_lowest_bit(live)));
}

HD_FN bool slab_tile_acts(hd_slab_tile t)
{
    (void)t;
    return true;
}

HD_FN void slab_tile_meet(hd_slab_tile t)
{
    (void)t;
    __syncwarp(1u << threadIdx.x % 32);
}

/*
 * Whom it tells is the thread itself. What it did before is done by then, as with a shuffle among lanes: a compiler
 * may not put the end of a claim behind the loop in which others wait for it.
 */
HD_FN int slab_tile_tell(hd_slab_tile t, int number)
{
    slab_tile_meet(t);
    return number;
}

HD_FN uint32_t slab_own(hd_slab_tile t)
{
    (void)t;
    return (UINT32_C(2) << (HD_SLAB_ORDER - 1)) - 1;
}
