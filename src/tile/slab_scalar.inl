/*
 * slab_scalar.inl: plain C with atomic loads, slot by slot up to the first that is vacant, for any machine; what the
 * vector looks must agree with.
 */
#ifndef HD_SLAB_THREAD_H
#error "included by slab_thread.inl alone"
#endif
HD_FN hd_slab_look slab_look(hd_slab_tile t, char *slab, hd_key lean)
{
    hd_slab_look look = {0, 0, 0, 0, HD_SLAB_NONE};
    (void)t;
    for (uint32_t i = 0; i < HD_SLAB_SLOTS; i++) {
        const hd_key key = slab_key(slab, i);
        look.live |= (uint32_t)(key == (lean | HD_STATE_LIVE)) << i;
        look.pending |= (uint32_t)(key == (lean | HD_STATE_PENDING)) << i;
        look.dead |= (uint32_t)((key & HD_STATE_MASK) == HD_STATE_DEAD) << i;
        if (key == 0) {
            look.vacant = UINT32_C(1) << i;
            return look; /* those behind it are vacant too */
        }
    }
    look.next = load_acquire_32(slab_next_at(slab));
    return look;
}
