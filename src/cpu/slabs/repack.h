/*
 * repack.h: compacting a list of slabs on a CPU. It leaves what slab_compact (scheme/slab_whole.h) leaves, bit by
 * bit, but without a branch on the state of a slot, which nobody can foresee: every slot is written behind the live
 * ones, and only a live one moves that place on. Nothing else may run beside it on this list.
 */
#ifndef HD_CPU_SLAB_REPACK_H
#define HD_CPU_SLAB_REPACK_H

#include "scheme/slab_whole.h"

#define REPACK_LISTS 1024 /* that a thread takes at a time */
#define REPACK_AHEAD 8    /* lists, whose second slab is asked for; the first of as many more */

/* Live pairs on their way to a slab, and room for those of one slab more. */
typedef struct repack_pairs {
    hd_key keys[2 * HD_SLAB_SLOTS];
    hd_value values[2 * HD_SLAB_SLOTS];
    uint32_t count;
} repack_pairs;

/* Adds the live pairs of a slab; how many of its slots are dead. */
static inline uint32_t repack_take(repack_pairs *pairs, char *slab)
{
    uint32_t count = pairs->count, used = 0;
    for (uint32_t i = 0; i < HD_SLAB_SLOTS; i++) {
        const hd_key key = *slab_key_at(slab, i);
        pairs->keys[count] = key;
#if HD_VALUE_BITS != 0
        pairs->values[count] = *slab_value_at(slab, i);
#endif
        used += key != 0;
        count += (key & HD_STATE_MASK) == HD_STATE_LIVE;
    }
    used -= count - pairs->count;
    pairs->count = count;
    return used;
}

/* Writes the first pairs, as many as there are, to a slab; the rest of it is vacant. */
static inline void repack_write(const repack_pairs *pairs, char *slab)
{
    for (uint32_t i = 0; i < HD_SLAB_SLOTS; i++) {
        *slab_key_at(slab, i) = i < pairs->count ? pairs->keys[i] : 0;
#if HD_VALUE_BITS != 0
        *slab_value_at(slab, i) = i < pairs->count ? pairs->values[i] : 0;
#endif
    }
}

static inline void repack_drop(repack_pairs *pairs)
{
    pairs->count -= HD_SLAB_SLOTS;
    memcpy(pairs->keys, pairs->keys + HD_SLAB_SLOTS, HD_SLAB_SLOTS * sizeof *pairs->keys);
    memcpy(pairs->values, pairs->values + HD_SLAB_SLOTS, HD_SLAB_SLOTS * sizeof *pairs->values);
}

/* The slab that is written is never behind the one that is read, and a full one is written when more pairs come. */
static inline hd_slab_compacted slab_repack(const hd_slab_view *view, uint64_t bucket)
{
    char *const base = base_slab(&view->buckets, bucket), *from = base, *to = base;
    uint32_t to_address = HD_SLAB_NONE; /* of the base slab, as a hint has it */
    hd_slab_compacted done = {0, 0};
    repack_pairs pairs;
    pairs.count = 0;
    for (;;) {
        const uint32_t next = *slab_next_at(from);
        done.dead += repack_take(&pairs, from);
        if (pairs.count > HD_SLAB_SLOTS) {
            if (done.dead != 0) repack_write(&pairs, to);
            repack_drop(&pairs);
            to_address = *slab_next_at(to);
            to = pool_slab(&view->pool, to_address);
        }
        if (next == HD_SLAB_NONE) break;
        from = pool_slab(&view->pool, next);
    }
    if (done.dead == 0) return done; /* nothing has moved */
    repack_write(&pairs, to);
    done.given = slabs_give(&view->pool, *slab_next_at(to));
    *slab_next_at(to) = HD_SLAB_NONE;
    *slab_hint_at(base) = to_address;
    return done;
}

static inline void repack_ask(const char *slab)
{
    __builtin_prefetch(slab, 1);
    __builtin_prefetch(slab + HD_SLAB_BYTES / 2, 1);
}

/* While the lists before `end` are gone through in order: asks for what of them is due soon. */
static inline void repack_prefetch(const hd_slab_view *view, uint64_t bucket, uint64_t end)
{
    uint32_t next;
    if (end - bucket <= 2 * REPACK_AHEAD) return;
    repack_ask(base_slab(&view->buckets, bucket + 2 * REPACK_AHEAD));
    next = *slab_next_at(base_slab(&view->buckets, bucket + REPACK_AHEAD));
    if (next != HD_SLAB_NONE) repack_ask(pool_slab(&view->pool, next));
}

/*
 * Lists [first, end): compacts them, or makes those of several slabs shorter. They are this thread's alone: it also
 * looks ahead in them, not beyond.
 */
static inline void slab_repack_lists(const hd_slab_view *view, uint64_t first, uint64_t end,
                                     bool long_lists, uint64_t *dead, uint64_t *given)
{
    for (uint64_t i = first; i < end; i++) {
        repack_prefetch(view, i, end);
        const hd_slab_compacted done = long_lists ? slab_shorten(view, i) : slab_repack(view, i);
        *dead += done.dead;
        *given += done.given;
    }
}

#endif
