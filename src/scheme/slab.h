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
 *           A batch of insertions alone may take DEAD slots too (hd_slab_task.reuses). Slots are then
 *           free, or LIVE and stay so. An insertion walks to the end of the list, so that the key is nowhere,
 *           and takes the first slot that it has seen free, by a CAS from what it saw there. Two insertions of a key
 *           cannot both: if they are about to take different slots, the one with the later slot has seen the
 *           other's slot LIVE. So either the other takes it no more, or it had, and the key was seen there.
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
 * Hints: who links a slab then writes its address into the base slab of the list. All slabs before it are full,
 * so an insertion into a multimap, which need not look for its key, goes on there: the list of a key with very many
 * pairs is not walked for each of them. A hint that another overwrites with an older one is right too.
 *
 * A step looks at one slab and never waits. HD_SLAB_AGAIN and HD_SLAB_ON say that it is to be taken again. Who
 * waits for a PENDING value does so by that. In a warp all tiles take their steps together, and what a step
 * begins it ends, so nobody waits for a tile that waits for it. In kernels of a user's own each tile goes its own way.
 * There too a slot is PENDING only while its owner is between two instructions of slab_claim, with neither a vote nor
 * a loop between them, and before the tile's own vote at the end of the step. So the owner waits for nobody, and will
 * go on, since a GPU gives every thread of a warp its turn, whatever the others do (from compute capability 7.0 on).
 */
#ifndef HD_SLAB_H
#define HD_SLAB_H

#include "pool/slab_pool.h"
#include "tile/slab_tile.h"

/* The ends of an operation, and not yet. */
enum {
    HD_SLAB_PLACED,  /* inserted */
    HD_SLAB_REVIVED, /* inserted, into a slot that was DEAD */
    HD_SLAB_PRESENT, /* the key was there: kept, updated, found, erased */
    HD_SLAB_ABSENT,
    HD_SLAB_SPENT, /* no slab is left in the pool, nothing changed */
    HD_SLAB_AGAIN, /* the same slab is to be looked at once more */
    HD_SLAB_ON     /* the next one */
};

/* A slot that was seen free. */
typedef struct hd_slab_free {
    char *slab; /* NULL: none was */
    uint32_t slot;
    hd_slab_word word; /* what it held, and holds as long as it is free */
} hd_slab_free;

/* Where an operation is. */
typedef struct hd_slab_walk {
    hd_key mixed;
    char *slab;
    hd_slab_free free; /* where slots are reused: the first one in the slabs that it has left */
} hd_slab_walk;

/* The bits of its key that a slot has, and those two that it lacks. */
HD_FN hd_key slab_lean(const hd_slab_walk *walk) { return walk->mixed & ~HD_STATE_MASK; }
HD_FN uint32_t slab_quarter(const hd_slab_walk *walk)
{
    return (uint32_t)(walk->mixed >> HD_STATE_SHIFT);
}

/* The number of its list in the region. */
HD_FN uint32_t slab_within(const hd_view *view, hd_key mixed)
{
    return hd_mulhi32(chain_start(lean_key(view, mixed)), view->region_buckets);
}

HD_FN uint64_t slab_bucket(const hd_view *view, hd_key mixed)
{
    return (uint64_t)region_of(view, mixed) * view->region_buckets + slab_within(view, mixed);
}

HD_FN char *base_slab(const hd_view *view, uint64_t bucket)
{
    return (char *)view->slots + bucket * HD_SLAB_BYTES;
}

/* Where its list begins. */
HD_FN char *slab_base(const hd_slab_view *view, const hd_slab_walk *walk)
{
    return base_slab(&view->buckets, slab_bucket(&view->buckets, walk->mixed));
}

HD_FN hd_slab_walk slab_walk_start(const hd_slab_view *view, hd_key key)
{
    hd_slab_walk walk;
    walk.mixed = mix_key(&view->buckets.mix, key);
    walk.slab = slab_base(view, &walk);
    walk.free.slab = NULL;
    walk.free.slot = 0;
    walk.free.word = 0;
    return walk;
}

/* What an operation is. */
typedef struct hd_slab_task {
    uint32_t operation; /* HD_SLAB_INSERT, HD_SLAB_ERASE or HD_SLAB_FIND */
    uint32_t policy;    /* of an insertion whose key is there */
    bool multi;         /* insertions put pairs of equal keys beside each other */
    hd_value value;     /* to insert */
    bool reuses;        /* insertions may take DEAD slots: not in multimaps */
} hd_slab_task;

/* Puts a slab behind one that is full, to be found there at the next look. */
HD_FN int slab_extend(const hd_slab_view *view, const hd_slab_walk *walk, hd_slab_taker *taker)
{
    uint32_t *const next = slab_next_at(walk->slab);
    const uint32_t fresh = slab_take(&view->pool, taker);
    if (fresh == HD_SLAB_NONE)
        return load_acquire_32(next) != HD_SLAB_NONE ? HD_SLAB_AGAIN : HD_SLAB_SPENT;
    if (!cas_32(next, HD_SLAB_NONE, fresh)) {
        slab_return(&view->pool, fresh);
        return HD_SLAB_AGAIN;
    }
    store_relaxed_32(slab_quarter_at(pool_slab(&view->pool, fresh)), slab_quarter(walk));
    store_relaxed_32(slab_hint_at(slab_base(view, walk)), fresh);
    return HD_SLAB_AGAIN;
}

/* What a claim came to of a slot that was `from`, and was `before` when it was claimed. */
HD_FN int slab_claimed(hd_slab_word from, hd_slab_word before)
{
    if (before != from) return HD_SLAB_AGAIN;
    return from == 0 ? HD_SLAB_PLACED : HD_SLAB_REVIVED;
}

/* What a slot that a look has shown free holds. If the look did not show that: holds now, it may be free no more. */
HD_FN hd_slab_word slab_free_word(const hd_slab_walk *walk, const hd_slab_look *look, uint32_t bit)
{
    return look->vacant >> bit & 1 ? 0 : slab_dead_word(walk->slab, slab_slot(bit), look);
}

/*
 * Takes the first of the slots in `free`, which are VACANT or DEAD. If that has got another key meanwhile, it has been
 * seen now, as a look would have shown it, and the next one is the first.
 */
HD_FN int slab_take_slot(const hd_slab_walk *walk, const hd_slab_look *look, uint32_t free,
                         const hd_slab_task *task)
{
    hd_pair pair;
    pair.lean = slab_lean(walk);
    pair.value = task->value;
    for (; free != 0; free &= free - 1) {
        const uint32_t bit = hd_lowest_bit(free);
        const hd_slab_word from = slab_free_word(walk, look, bit);
        if (from != 0 && !slab_word_is_dead(from)) return HD_SLAB_AGAIN;
        const hd_slab_word before = slab_claim(walk->slab, slab_slot(bit), from, pair);
        if (before == from) return slab_claimed(from, before);
        if (!task->multi && slab_word_is_of(before, pair.lean)) return HD_SLAB_AGAIN;
    }
    return HD_SLAB_AGAIN;
}

/*
 * Leaves a slab for the next one, but keeps the first of the slots in `free` in mind, if there was none before it. If
 * that is free no more the slab is to be looked at again.
 */
HD_FN int slab_keep_free(hd_slab_walk *walk, const hd_slab_look *look, uint32_t free)
{
    if (free == 0 || walk->free.slab != NULL) return HD_SLAB_ON;
    const uint32_t bit = hd_lowest_bit(free);
    const hd_slab_word word = slab_free_word(walk, look, bit);
    if (word != 0 && !slab_word_is_dead(word)) return HD_SLAB_AGAIN;
    walk->free.slab = walk->slab;
    walk->free.slot = slab_slot(bit);
    walk->free.word = word;
    return HD_SLAB_ON;
}

/* At the end of the list: takes the slot that was kept in mind, or begins again if it has got a key. */
HD_FN int slab_take_kept(const hd_slab_view *view, hd_slab_walk *walk, const hd_slab_task *task)
{
    hd_pair pair;
    pair.lean = slab_lean(walk);
    pair.value = task->value;
    const int end = slab_claimed(
        walk->free.word, slab_claim(walk->free.slab, walk->free.slot, walk->free.word, pair));
    if (end != HD_SLAB_AGAIN) return end;
    walk->free.slab = NULL;
    walk->slab = slab_base(view, walk);
    return HD_SLAB_AGAIN;
}

/* What one thread of the tile does for an insertion after a look. One that reuses slots is a tile of its own. */
HD_FN int slab_insert(const hd_slab_view *view, hd_slab_walk *walk, const hd_slab_look *look,
                      const hd_slab_task *task, hd_slab_taker *taker)
{
    const uint32_t free = look->vacant | (task->reuses ? look->dead : 0);
    if (!task->multi && look->live != 0) {
        slab_seen();
        slab_update(walk->slab, slab_slot(hd_lowest_bit(look->live)), task->policy, task->value);
        return HD_SLAB_PRESENT;
    }
    /* It is not there yet, but no other may take its place. */
    if (!task->multi && look->pending != 0) return HD_SLAB_AGAIN;
    if (task->reuses && look->next != HD_SLAB_NONE) return slab_keep_free(walk, look, free);
    if (task->reuses && walk->free.slab != NULL) return slab_take_kept(view, walk, task);
    if (free != 0) return slab_take_slot(walk, look, free, task);
    return look->next != HD_SLAB_NONE ? HD_SLAB_ON : slab_extend(view, walk, taker);
}

/* Where an insertion that need not look for its key goes on from a slab without vacancies. */
HD_FN uint32_t slab_skip(const hd_slab_view *view, const hd_slab_walk *walk, uint32_t next)
{
    if (walk->slab != slab_base(view, walk)) return next;
    const uint32_t hint = load_acquire_32(slab_hint_at(walk->slab));
    return hint != HD_SLAB_NONE ? hint : next;
}

/* The same for an erasure: in a multimap the pair that was inserted first. */
HD_FN int slab_erase(const hd_slab_walk *walk, const hd_slab_look *look)
{
    if (look->live != 0)
        return slab_bury(walk->slab, slab_slot(hd_lowest_bit(look->live)), slab_lean(walk))
                   ? HD_SLAB_PRESENT
                   : HD_SLAB_AGAIN;
    return look->next != HD_SLAB_NONE ? HD_SLAB_ON : HD_SLAB_ABSENT;
}

/* What a look at a slab is for a lookup. */
HD_FN int slab_find(const hd_slab_look *look)
{
    if (look->live != 0) return HD_SLAB_PRESENT;
    return look->next != HD_SLAB_NONE ? HD_SLAB_ON : HD_SLAB_ABSENT;
}

/*
 * One look of an operation, and what follows from it. A value that is found, in a multimap the one that was
 * inserted first, goes to *to unless that is NULL. Tiles go together; those that are not active do nothing.
 */
HD_FN int slab_step(hd_slab_tile t, const hd_slab_view *view, hd_slab_walk *walk,
                    const hd_slab_task *task, hd_value *to, bool active, hd_slab_taker *taker)
{
    const hd_slab_look look = slab_look(t, walk->slab, slab_lean(walk));
    int end = HD_SLAB_ON;
    if (task->operation == HD_SLAB_FIND) {
        end = slab_find(&look);
        if (active && end == HD_SLAB_PRESENT && to != NULL) slab_deliver(t, walk->slab, &look, to);
    } else if (active && slab_tile_acts(t)) {
        end = task->operation == HD_SLAB_INSERT ? slab_insert(view, walk, &look, task, taker)
                                                : slab_erase(walk, &look);
    }
    end = slab_tile_tell(t, end);
    uint32_t next = look.next;
    if (task->multi) { /* in all tiles or in none */
        if (active && end == HD_SLAB_ON && task->operation == HD_SLAB_INSERT && slab_tile_acts(t))
            next = slab_skip(view, walk, next);
        next = (uint32_t)slab_tile_tell(t, (int)next);
    }
    if (active && end == HD_SLAB_ON) walk->slab = pool_slab(&view->pool, next);
    return end;
}

/* HEDDLE_OUTCOME_* of an operation that has come to its end. */
HD_FN uint8_t slab_outcome(const hd_slab_task *task, int end)
{
    if (end == HD_SLAB_PLACED || end == HD_SLAB_REVIVED) return HEDDLE_OUTCOME_INSERTED;
    if (end == HD_SLAB_SPENT) return HEDDLE_OUTCOME_FAILED;
    if (task->operation == HD_SLAB_INSERT)
        return task->policy == HEDDLE_POLICY_KEEP ? HEDDLE_OUTCOME_KEPT : HEDDLE_OUTCOME_UPDATED;
    return end == HD_SLAB_PRESENT ? HEDDLE_OUTCOME_FOUND : HEDDLE_OUTCOME_ABSENT;
}

/* ------------------------------------------------------------------------------ all pairs of a key */

/* Erases the pairs of a key in one slab, of which `reserved` is the one that a claim has marked. */
HD_FN int slab_bury_all(const hd_slab_walk *walk, uint32_t live, uint32_t reserved)
{
    const hd_key lean = slab_lean(walk);
    for (uint32_t left = live | reserved; left != 0; left &= left - 1) {
        const uint32_t bit = hd_lowest_bit(left);
        const hd_key state = live >> bit & 1 ? HD_STATE_LIVE : HD_STATE_PENDING;
        (void)slab_key_cas(walk->slab, slab_slot(bit), lean | state, lean | HD_STATE_DEAD);
    }
    return (int)hd_popcount32(live | reserved);
}

/*
 * One look of an operation on all pairs of a key: counts them, writes their values to to[*matches] and on, or
 * erases them. *matches is added to. HD_SLAB_ON, or HD_SLAB_ABSENT where no more can come. Tiles go together.
 */
HD_FN int slab_all_step(hd_slab_tile t, const hd_slab_view *view, hd_slab_walk *walk,
                        uint32_t operation, hd_value *to, bool active, uint64_t *matches)
{
    const hd_slab_look look = slab_look(t, walk->slab, slab_lean(walk));
    int count = (int)hd_popcount32(look.live);
    if (operation == HD_SLAB_RETRIEVE && active)
        slab_deliver_all(t, walk->slab, &look, to + *matches);
    if (operation == HD_SLAB_ERASE_ALL) {
        const uint32_t reserved = slab_pending(t, walk->slab, slab_lean(walk));
        if (active && slab_tile_acts(t)) count = slab_bury_all(walk, look.live, reserved);
        count = slab_tile_tell(t, count);
    }
    if (!active) return HD_SLAB_ABSENT;
    *matches += (uint32_t)count;
    if (look.next == HD_SLAB_NONE) return HD_SLAB_ABSENT;
    walk->slab = pool_slab(&view->pool, look.next);
    return HD_SLAB_ON;
}

/*
 * One look of a claim: of equal keys of a batch the one that makes the first pair PENDING will erase them all.
 * Nothing else may run beside claims, so the first pair stays what it is until it is claimed, and the others never
 * go past it: pending is read after live, and a pair that one of them does not see as LIVE it sees as PENDING.
 */
HD_FN int slab_claim_step(hd_slab_tile t, const hd_slab_view *view, hd_slab_walk *walk, bool active)
{
    const hd_slab_look look = slab_look(t, walk->slab, slab_lean(walk));
    const uint32_t pending = slab_pending(t, walk->slab, slab_lean(walk));
    int end = HD_SLAB_ON;
    if (pending != 0) end = HD_SLAB_ABSENT;
    else if (look.live == 0 && look.next == HD_SLAB_NONE) end = HD_SLAB_ABSENT;
    else if (look.live != 0 && active && slab_tile_acts(t))
        end = slab_reserve(walk->slab, slab_slot(hd_lowest_bit(look.live)), slab_lean(walk))
                  ? HD_SLAB_PRESENT
                  : HD_SLAB_AGAIN;
    end = slab_tile_tell(t, end);
    if (active && end == HD_SLAB_ON) walk->slab = pool_slab(&view->pool, look.next);
    return end;
}

#endif
