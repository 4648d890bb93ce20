/*
 * slab.h: the slab hash (Ashkiani, Farach-Colton, Owens, "A Dynamic Hash Table for the GPU", 2018): every bucket
 * is a list of slabs of 128 bytes, to which slabs are added and which nothing ever leaves while a batch runs.
 * Insertions, erasures and lookups may go on at the same time.
 *
 * What makes that right, without locks:
 *
 *   order   The slots of a list are filled one after the other. An insertion takes the first one that is
 *           VACANT, by a CAS, and a slab is linked only behind one without vacancies. An erased slot is DEAD
 *           and stays so until the list is compacted, alone. So a slot that was seen with another key, or DEAD,
 *           will never hold this key, and whoever has reached a VACANT slot has seen all slots before it.
 *   unique  Hence two insertions of a key meet at the same slot, and the CAS of one of them fails: it looks
 *           again and finds the key there.
 *   atomic  Every operation takes effect at one step: the CAS that claims or buries a slot, or for a pair of
 *           several words the store that makes it LIVE; an update at the change of the value, or, if the slot
 *           has been buried since it was seen LIVE, just before that; a lookup at the load of the LIVE key.
 *           A lookup or erasure in vain: at a moment when every slot seen held another key or was DEAD and
 *           the first one behind was VACANT. Since a key that is there is in one slot all the while, and it
 *           would have been seen there, such a moment lay between.
 *
 * The memory orders: a key is loaded with acquire, as is the address of a slab, so that the value read after it
 * is the one that belongs to it, or a later one. Claims are release by their CAS, or by the store of LIVE.
 * Slabs of the pool are 0 from before the batch, so linking one publishes nothing but its address.
 *
 * Steps: each function looks at one slab and never waits. HD_SLAB_AGAIN and HD_SLAB_ON say that it is to be
 * called again. Who waits for a PENDING value does so by that. In a warp all tiles take their steps together,
 * and what a step begins it ends, so nobody waits for a tile that waits for it.
 */
#ifndef HD_SLAB_H
#define HD_SLAB_H

#include "pool/slab_pool.h"
#include "tile/slab_tile.h"

/* The ends of an operation, and not yet. */
enum {
    HD_SLAB_PLACED,  /* inserted */
    HD_SLAB_PRESENT, /* the key was there: kept, updated, found, erased */
    HD_SLAB_ABSENT,
    HD_SLAB_SPENT, /* no slab is left in the pool, nothing changed */
    HD_SLAB_AGAIN, /* the same slab is to be looked at once more */
    HD_SLAB_ON     /* the next one */
};

/* Where an operation is. */
typedef struct hd_slab_walk {
    hd_key lean;
    char *slab;
} hd_slab_walk;

HD_FN uint64_t slab_bucket(const hd_view *view, hd_key mixed)
{
    const uint32_t within = hd_mulhi32(chain_start(lean_key(view, mixed)), view->region_buckets);
    return (uint64_t)region_of(view, mixed) * view->region_buckets + within;
}

HD_FN char *base_slab(const hd_view *view, uint64_t bucket)
{
    return (char *)view->slots + bucket * HD_SLAB_BYTES;
}

HD_FN hd_slab_walk slab_walk_start(const hd_slab_view *view, hd_key key)
{
    const hd_key mixed = mix_key(&view->buckets.mix, key);
    hd_slab_walk walk;
    walk.lean = lean_key(&view->buckets, mixed);
    walk.slab = base_slab(&view->buckets, slab_bucket(&view->buckets, mixed));
    return walk;
}

/* On to the next slab, or nowhere. */
HD_FN int slab_advance(const hd_slab_view *view, hd_slab_walk *walk, const hd_slab_look *look)
{
    if (look->next == HD_SLAB_NONE) return HD_SLAB_ABSENT;
    walk->slab = pool_slab(&view->pool, look->next);
    return HD_SLAB_ON;
}

/* Puts a slab behind one that is full. */
HD_FN int slab_extend(const hd_slab_view *view, hd_slab_walk *walk, hd_slab_taker *taker)
{
    const uint32_t fresh = slab_take(&view->pool, taker);
    if (fresh == HD_SLAB_NONE)
        return load_acquire_32(slab_next_at(walk->slab)) != HD_SLAB_NONE ? HD_SLAB_AGAIN
                                                                         : HD_SLAB_SPENT;
    if (cas_32(slab_next_at(walk->slab), HD_SLAB_NONE, fresh))
        walk->slab = pool_slab(&view->pool, fresh);
    else (void)slab_give(&view->pool, fresh);
    return HD_SLAB_AGAIN;
}

/* Inserts a pair whose key may be there; then the policy decides. */
HD_FN int slab_insert_step(hd_slab_tile t, const hd_slab_view *view, hd_slab_walk *walk,
                           hd_value value, uint32_t policy, hd_slab_taker *taker)
{
    const hd_slab_look look = slab_look(t, walk->slab, walk->lean);
    hd_pair pair;
    pair.lean = walk->lean;
    pair.value = value;
    if (look.live != 0) {
        slab_update(walk->slab, hd_lowest_bit(look.live), policy, value);
        return HD_SLAB_PRESENT;
    }
    if (look.pending != 0) return HD_SLAB_AGAIN; /* it is not there yet, but nobody else may come */
    if (look.vacant != HD_SLAB_SLOTS)
        return slab_claim(walk->slab, look.vacant, pair) ? HD_SLAB_PLACED : HD_SLAB_AGAIN;
    return slab_advance(view, walk, &look) == HD_SLAB_ON ? HD_SLAB_ON
                                                         : slab_extend(view, walk, taker);
}

/* Inserts a pair beside those of the same key. */
HD_FN int slab_append_step(hd_slab_tile t, const hd_slab_view *view, hd_slab_walk *walk,
                           hd_value value, hd_slab_taker *taker)
{
    const hd_slab_look look = slab_look(t, walk->slab, walk->lean);
    hd_pair pair;
    pair.lean = walk->lean;
    pair.value = value;
    if (look.vacant != HD_SLAB_SLOTS)
        return slab_claim(walk->slab, look.vacant, pair) ? HD_SLAB_PLACED : HD_SLAB_AGAIN;
    return slab_advance(view, walk, &look) == HD_SLAB_ON ? HD_SLAB_ON
                                                         : slab_extend(view, walk, taker);
}

/* Finds a key, in a multimap the pair that was inserted first; *value is its value. */
HD_FN int slab_find_step(hd_slab_tile t, const hd_slab_view *view, hd_slab_walk *walk,
                         hd_value *value)
{
    const hd_slab_look look = slab_look(t, walk->slab, walk->lean);
    if (look.live != 0) {
        *value = slab_value(walk->slab, hd_lowest_bit(look.live));
        return HD_SLAB_PRESENT;
    }
    return slab_advance(view, walk, &look);
}

/* Erases a key, in a multimap the pair that was inserted first. */
HD_FN int slab_erase_step(hd_slab_tile t, const hd_slab_view *view, hd_slab_walk *walk)
{
    const hd_slab_look look = slab_look(t, walk->slab, walk->lean);
    if (look.live != 0)
        return slab_bury(walk->slab, hd_lowest_bit(look.live), walk->lean) ? HD_SLAB_PRESENT
                                                                           : HD_SLAB_AGAIN;
    return slab_advance(view, walk, &look);
}

#endif
