/* slab_thread.h: a slab as one thread looks at it; see slab_tile.h. */
#ifndef HD_SLAB_THREAD_H
#define HD_SLAB_THREAD_H

#define HD_SLAB_ORDER HD_SLAB_SLOTS /* bits of a look */

typedef struct hd_slab_tile {
    char alone; /* a thread needs to know nothing of others */
} hd_slab_tile;

HD_FN hd_slab_tile slab_tile_here(void)
{
    hd_slab_tile t;
    t.alone = 1;
    return t;
}

HD_FN hd_slab_look slab_look(hd_slab_tile t, char *slab, hd_key lean)
{
    hd_slab_look look = {0, 0, 0, HD_SLAB_NONE};
    (void)t;
    for (uint32_t i = 0; i < HD_SLAB_SLOTS; i++) {
        const hd_key key = slab_key(slab, i);
        look.live |= (uint32_t)(key == (lean | HD_STATE_LIVE)) << i;
        look.pending |= (uint32_t)(key == (lean | HD_STATE_PENDING)) << i;
        if (key == 0) {
            look.vacant = UINT32_C(1) << i;
            return look; /* those behind it are vacant too */
        }
    }
    look.next = load_acquire_32(slab_next_at(slab));
    return look;
}

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

HD_FN void slab_deliver_all(hd_slab_tile t, char *slab, const hd_slab_look *look, hd_value *to)
{
    (void)t;
    for (uint32_t live = look->live; live != 0; live &= live - 1)
        *to++ = slab_value(slab, hd_lowest_bit(live));
}

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
