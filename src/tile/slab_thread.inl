/*
 * slab_thread.inl: a slab as one thread looks at it; see slab_tile.h. Where there are vectors, a look asks of
 * slab_{avx2,avx512,neon}.inl
 *
 *   hd_slab_keys slab_keys(slab)              the key words of all slots, each of them read once
 *   uint32_t slab_equal(&keys, word)          bit i: the key word of slot i is this
 *   hd_slab_keys slab_states(&keys)           the same words, of which only the state is left
 *
 * Slots are aligned, so that a lane of a vector is never half of an old word and half of a new one. Vector loads of
 * what others CAS are confined to those files; slab_scalar.inl uses atomic loads and is the specification.
 */
#ifndef HD_SLAB_TILE_H
#error "included by slab_tile.h alone"
#endif
#ifndef HD_SLAB_THREAD_H
#define HD_SLAB_THREAD_H

#define HD_SLAB_ORDER HD_SLAB_SLOTS /* bits of a look */
#define HD_SLAB_ALL ((UINT32_C(1) << HD_SLAB_SLOTS) - 1)

typedef struct hd_slab_tile {
    char alone; /* a thread needs to know nothing of others */
} hd_slab_tile;

HD_FN hd_slab_tile slab_tile_here(void)
{
    hd_slab_tile t;
    t.alone = 1;
    return t;
}

#if defined(HD_TILE_AVX512)
#include "tile/slab_avx512.inl"
#define HD_SLAB_IN_VECTORS 1
#elif defined(HD_TILE_AVX2)
#include "tile/slab_avx2.inl"
#define HD_SLAB_IN_VECTORS 1
#elif defined(HD_TILE_NEON)
#include "tile/slab_neon.inl"
#define HD_SLAB_IN_VECTORS 1
#else
#include "tile/slab_scalar.inl"
#define HD_SLAB_IN_VECTORS 0
#endif

#if HD_SLAB_IN_VECTORS
/* All slots at once, and the address behind them, in no order (see scheme/slab.h); each of them is read once. */
HD_FN hd_slab_look slab_look(hd_slab_tile t, char *slab, hd_key lean)
{
    const hd_slab_keys keys = slab_keys(slab);
    const hd_slab_keys states = slab_states(&keys);
    hd_slab_look look = {0, 0, 0, 0, HD_SLAB_NONE};
    (void)t;
    look.live = slab_equal(&keys, lean | HD_STATE_LIVE);
#if !HD_SLAB_IN_ONE
    look.pending = slab_equal(&keys, lean | HD_STATE_PENDING);
#endif
    look.vacant = slab_equal(&keys, 0);
    look.dead = slab_equal(&states, HD_STATE_DEAD);
    look.next = load_acquire_32(slab_next_at(slab));
    __atomic_thread_fence(__ATOMIC_ACQUIRE); /* values are looked at after the keys */
    return look;
}
#endif

HD_FN uint32_t slab_pending(hd_slab_tile t, char *slab, hd_key lean)
{
    uint32_t pending = 0;
    (void)t;
    for (uint32_t i = 0; i < HD_SLAB_SLOTS; i++)
        pending |= (uint32_t)(slab_key(slab, i) == (lean | HD_STATE_PENDING)) << i;
    return pending;
}

HD_FN void slab_deliver(hd_slab_tile t, char *slab, const hd_slab_look *look, hd_value *to)
{
    (void)t;
    *to = slab_value(slab, hd_lowest_bit(look->live));
}

HD_FN uint32_t slab_slot(uint32_t bit) { return bit; }

HD_FN hd_slab_word slab_dead_word(char *slab, uint32_t slot, const hd_slab_look *look)
{
    (void)look;
    return slab_word(slab, slot);
}

HD_FN void slab_deliver_all(hd_slab_tile t, char *slab, const hd_slab_look *look, hd_value *to)
{
    (void)t;
    for (uint32_t live = look->live; live != 0; live &= live - 1)
        *to++ = slab_value(slab, hd_lowest_bit(live));
}

HD_FN void slab_seen(void) {} /* a look loads keys with acquire */

HD_FN bool slab_tile_acts(hd_slab_tile t)
{
    (void)t;
    return true;
}

HD_FN int slab_tile_tell(hd_slab_tile t, int number)
{
    (void)t;
    return number;
}

#endif
